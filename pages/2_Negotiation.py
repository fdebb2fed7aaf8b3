"""Negotiation: the outcome, then every round of it, one step at a time."""

from replicalab.ui import frame, negotiation

with frame.page("Negotiation") as analysis:
    running = negotiation.draw(analysis)
negotiation.carry_on(running)
