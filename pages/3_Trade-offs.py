"""Trade-offs: other plans in this lab, or in one with a little more."""

from replicalab.ui import frame, tradeoffs_page

frame.page("Trade-offs", tradeoffs_page.draw)
