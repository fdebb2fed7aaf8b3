"""Library: saved entries and their history."""

from replicalab.ui import frame
from replicalab.ui.library import page

frame.page("Library", lambda _: page.draw())
