"""Negotiation: the outcome, then every round of it, one step at a time."""

from replicalab.ui import frame, negotiation

here = negotiation.open_page()
running = negotiation.draw(here)
frame.close_page()
negotiation.carry_on(here, running)
