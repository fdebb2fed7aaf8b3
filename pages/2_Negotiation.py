"""Negotiation: the outcome, then every round of it, one step at a time."""

from replicalab.ui import frame, negotiation

frame.page("Negotiation", negotiation.draw)
