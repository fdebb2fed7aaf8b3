"""Your lab: one form, opened from every page, of what is said in place of the study's."""

from replicalab.ui.lab.form import draw_if_open, draw_way_back, open_form
from replicalab.ui.lab.means import draw_said_means

__all__ = ["draw_if_open", "draw_said_means", "draw_way_back", "open_form"]
