"""The questions of a reviewer, above the report."""

from functools import partial
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from replicalab.features.critique import PROTOCOL, Place, critique
from replicalab.features.critique.views import TITLE, critique_panel
from replicalab.planner import PlanAnalysis
from replicalab.ui import panel as blocks
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.export.documents import TABS

_PAGES: Final = {PROTOCOL: "Protocol"}
"""The address of each page that a place names; all others are drawers, or no page."""


def panel(_: str, plan: PlanAnalysis) -> None:
    """Draw the questions, folded; nothing is judged before that is opened."""
    place = st.expander(TITLE, icon=":material/rate_review:", key="critique", on_change="rerun")
    if place.open:
        with place:
            remarks = critique(plan.yours, state.case().registration)
            query = urlencode(state.address())
            blocks.draw(critique_panel(remarks, partial(_link, query)))
            button("Answer on the form", "edit_note", _open_form, key="critique_to_form")


def _open_form() -> None:
    st.session_state[TABS] = "Registration"


def _link(query: str, place: Place) -> str:
    page = _PAGES.get(place.page)
    return f"{page}?{query}" if page else ""
