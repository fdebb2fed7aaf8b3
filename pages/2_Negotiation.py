"""Negotiation: the outcome, then every round of it, one step at a time."""

from replicalab.ui import frame, negotiation_page

frame.page("Negotiation", negotiation_page.draw)
