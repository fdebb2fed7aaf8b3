"""Compare: plans, runs, forks or labs side by side; and many negotiations at once."""

from replicalab.ui import compare, frame

with frame.page("Compare") as analysis:
    compare.draw(analysis)
