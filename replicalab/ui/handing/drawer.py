"""Two drawers: what leaves with a workspace, a part for each form; and what arrives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from replicalab.ui import panel
from replicalab.ui.handing import documents, files, link, opening, pictures

_OPEN: Final = "handing_is_open"
_ARRIVING: Final = "opening_is_open"
_TABS: Final = "handing_part"
_PARTS: Final[dict[str, Callable[[], None]]] = {
    "Link": link.draw,
    "Brief": documents.draw_brief,
    "Report": documents.draw_report,
    "Tables": documents.draw_tables,
    "Pictures": pictures.draw,
    "Bundle": files.draw,
}


def open_drawer() -> None:
    """Open the drawer of what leaves in the run that follows."""
    st.session_state[_OPEN] = True


def open_opening() -> None:
    """Open the drawer of what arrives in the run that follows."""
    opening.begin()
    st.session_state[_ARRIVING] = True


def draw_if_open() -> None:
    """Draw the drawer that was just asked for."""
    if st.session_state.pop(_OPEN, False):
        _draw()
    elif st.session_state.pop(_ARRIVING, False):
        _draw_opening()


@st.dialog("Hand over", position="right", width="medium", on_dismiss="rerun")
def _draw() -> None:
    panel.draw_scheme()
    parts = st.tabs(list(_PARTS), key=_TABS, on_change="rerun")
    for part, draw in zip(parts, _PARTS.values(), strict=True):
        if part.open:
            with part:
                draw()


@st.dialog("Open a file", position="right", width="medium", on_dismiss="rerun")
def _draw_opening() -> None:
    panel.draw_scheme()
    opening.draw()
