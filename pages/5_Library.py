"""Library: saved entries and their history."""

from replicalab.ui import frame
from replicalab.ui.library_page import entries

frame.page("Library", lambda _: entries.draw())
