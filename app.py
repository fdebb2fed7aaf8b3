"""Scenarios, the front door: pick a study and a lab, read both, and see what happens there."""

from replicalab.ui import frame, scenarios

with frame.page("Scenarios") as here:
    scenarios.draw(here)
