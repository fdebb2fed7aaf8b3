"""Negotiation: the outcome, then every round of it, one step at a time."""

from replicalab.ui import frame, negotiation

with frame.page("Negotiation") as here:
    running = negotiation.draw(here)
negotiation.carry_on(running)
