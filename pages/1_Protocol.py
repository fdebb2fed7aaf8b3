"""Protocol: edit the plan, see its check, and choose changes."""

from replicalab.ui import frame, protocol

with frame.page("Protocol") as analysis:
    protocol.draw(analysis)
