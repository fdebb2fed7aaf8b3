"""Protocol: edit the plan, see its check, and choose changes."""

from replicalab.ui import frame, protocol_page

frame.page("Protocol", protocol_page.draw)
