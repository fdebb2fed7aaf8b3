"""The Scenarios page, the front door: what this is, the stories, the gallery, your own study."""

from __future__ import annotations

import streamlit as st

from replicalab.ui.scenarios import gallery, own

__all__ = ["draw"]


def draw() -> None:
    """Draw the page."""
    named = gallery.draw_idea()
    studies, yours = st.tabs([own.ALL_STUDIES, own.BRING], key=own.TABS, on_change="rerun")
    if yours.open:
        with yours:
            own.draw()
    else:
        with studies:
            gallery.draw_gallery(named=named)
