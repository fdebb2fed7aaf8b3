"""Library: what is kept by name, with its history."""

from replicalab.ui import frame
from replicalab.ui.library import page

with frame.page("Library"):
    page.draw()
