"""Compare: plans, runs, forks or labs side by side; and many negotiations at once."""

from replicalab.ui import compare_page, frame

frame.page("Compare", compare_page.draw)
