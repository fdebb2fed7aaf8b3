"""What a reviewer would ask of the plan, folded: each question, and where it is mended."""

from functools import partial
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.critique import PROTOCOL, Place, critique
from replicalab.registration import Registration
from replicalab.ui import panel, state
from replicalab.ui.controls import button
from replicalab.views.critique import TITLE, critique_panel

TABS: Final = "export_part"
"""Holds which part of the drawer is open."""
_PAGES: Final = {PROTOCOL: "Protocol"}
"""The address of each page that a place names; all others are drawers, or no page."""


def draw(plan: Assessment, said: Registration) -> None:
    """Draw the questions, folded; nothing is judged before that is opened."""
    place = st.expander(TITLE, icon=":material/rate_review:", key="critique", on_change="rerun")
    if place.open:
        with place:
            query = urlencode(state.address())
            panel.draw(critique_panel(critique(plan, said), partial(_link, query)))
            button("Answer on the form", "edit_note", _open_form, key="critique_to_form")


def _open_form() -> None:
    st.session_state[TABS] = "Registration"


def _link(query: str, place: Place) -> str:
    page = _PAGES.get(place.page)
    return f"{page}?{query}" if page else ""
