"""Negotiation: the outcome, then every round of it, one step at a time."""

from replicalab.ui import frame, negotiation

with frame.page("Negotiation") as analysis:
    call_model = negotiation.draw(analysis)
if call_model:  # once everything is drawn
    call_model()
