"""Your lab: a drawer, opened from every page, in which a visitor's lab is filled in.

A drawer is a fragment: a field runs the drawer alone, and the page behind it is drawn anew once it
is closed.
"""

from collections.abc import Callable
from typing import Final

import streamlit as st

from replicalab.facts.check import header_panel
from replicalab.facts.lab import own_values
from replicalab.ui import panel, state
from replicalab.ui.controls import button, open_tab
from replicalab.ui.lab import fields, keeping

_OPEN: Final = "lab_is_open"


def _draw_means() -> None:
    fields.draw_means()
    fields.draw_money()


_PARTS: Final[dict[str, Callable[[], None]]] = {
    "Means": _draw_means,
    "Items": fields.draw_items,
    "Rates and staff": fields.draw_rates,
    "Save": keeping.draw,
}


def open_form() -> None:
    """Open the drawer in the run that follows."""
    st.session_state[_OPEN] = True
    fields.redraw()


def draw_if_open() -> None:
    """Draw the drawer where it was just asked for."""
    if st.session_state.pop(_OPEN, False):
        _draw()


def draw_way_back(key: str) -> None:
    """Draw the button that takes every override of the lab back."""
    button("Back to the study’s lab", "restart_alt", fields.go_back, key=key, type="tertiary")


@st.dialog("Your lab", position="right", width="medium", on_dismiss="rerun")
def _draw() -> None:
    panel.draw_scheme()
    panel.draw(header_panel(state.analysis().yours, yours=state.case().plan is not None))
    if own_values(state.written(), state.analysis().yours.pack):
        draw_way_back("lab_back")
    with open_tab(_PARTS, "lab_part") as name:
        _PARTS[name]()
    state.write_address()  # the page does so when it is drawn, and it may be reloaded before
