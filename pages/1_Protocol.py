"""Protocol: edit the plan, see its check, and choose changes."""

from replicalab.ui import frame, protocol

frame.page("Protocol", protocol.draw)
