"""Protocol: edit the plan, see the check, choose what to change, and see what it would take."""

from replicalab.ui import frame, protocol

with frame.page("Protocol") as analysis:
    protocol.draw(analysis)
