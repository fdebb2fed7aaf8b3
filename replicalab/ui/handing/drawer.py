"""The drawer from which a workspace is handed over, a part for each form; one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from replicalab.ui import panel
from replicalab.ui.handing import link

_OPEN: Final = "handing_is_open"
_TABS: Final = "handing_part"
_PARTS: Final[dict[str, Callable[[], None]]] = {"Link": link.draw}


def open_drawer() -> None:
    """Open the drawer in the run that follows."""
    st.session_state[_OPEN] = True


def draw_if_open() -> None:
    """Draw the drawer where it was just asked for."""
    if st.session_state.pop(_OPEN, False):
        _draw()


@st.dialog("Hand over", position="right", width="medium", on_dismiss="rerun")
def _draw() -> None:
    panel.draw_scheme()
    parts = st.tabs(list(_PARTS), key=_TABS, on_change="rerun")
    for part, draw in zip(parts, _PARTS.values(), strict=True):
        if part.open:
            with part:
                draw()
