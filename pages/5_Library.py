"""Library: saved entries and their history."""

from replicalab.ui import frame
from replicalab.ui.library import page

with frame.page("Library"):
    page.draw()
