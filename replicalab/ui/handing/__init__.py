"""Handing over: one drawer, opened from every page, of what leaves with a workspace."""

from replicalab.ui.handing.drawer import draw_if_open, open_drawer

__all__ = ["draw_if_open", "open_drawer"]
