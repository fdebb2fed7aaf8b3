"""Handing over: what leaves with a workspace, and opening it again, from every page."""

from replicalab.ui.handing.drawer import draw_if_open, open_drawer, open_opening

__all__ = ["draw_if_open", "open_drawer", "open_opening"]
