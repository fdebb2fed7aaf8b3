"""Trade-offs: other plans in this lab, or in one with a little more."""

from replicalab.ui import frame, tradeoffs

with frame.page("Trade-offs") as analysis:
    tradeoffs.draw(analysis)
