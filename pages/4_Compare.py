"""Compare: plans, runs, forks or labs side by side; and many negotiations at once."""

from replicalab.ui import compare, frame

frame.page("Compare", compare.draw)
