"""The Scenarios page, the front door: what this is, the stories, the gallery, and a form."""

from __future__ import annotations

import streamlit as st

from replicalab.ui import making
from replicalab.ui.scenarios import gallery, own

__all__ = ["draw"]


def draw() -> None:
    """Draw the page; while a study is made, without what this is."""
    is_made = st.session_state.get(own.TABS) == own.MAKE
    named = not is_made and gallery.draw_idea()
    studies, yours = st.tabs([own.ALL_STUDIES, own.MAKE], key=own.TABS, on_change="rerun")
    if yours.open:
        with yours:
            making.draw()
    else:
        with studies:
            gallery.draw_gallery(named=named)
