"""Your lab: a drawer on every page for the values of a visitor's lab.

A drawer is a fragment: a field runs the drawer alone, and the page is drawn again on closing.
"""

from typing import Final

import streamlit as st

from replicalab.facts.check import header_panel
from replicalab.facts.lab import own_values
from replicalab.ui import panel, state
from replicalab.ui.controls import button, open_tab
from replicalab.ui.lab import fields, items, keeping

_OPEN: Final = "lab_is_open"
_PARTS: Final = {
    "Means": fields.draw_means,
    "Items": items.draw,
    "Rates and staff": fields.draw_rates,
    "Save": keeping.draw,
}


def open_form() -> None:
    """Open the drawer in the next run."""
    st.session_state[_OPEN] = True
    fields.redraw()


def draw_if_open() -> None:
    """Draw the drawer if it was just opened."""
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
    state.write_address()  # a reload may come before the page writes it
