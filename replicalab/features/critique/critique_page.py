"""The reviewer's questions, above the report."""

from functools import partial
from urllib.parse import urlencode

import streamlit as st

from replicalab.facts.blocks import group
from replicalab.features.critique import PROTOCOL, TITLE, Place, critique, critique_blocks
from replicalab.planner import PlanAnalysis
from replicalab.ui import screen, state
from replicalab.ui.controls import button
from replicalab.ui.export import TABS


def panel(_: str, plan: PlanAnalysis) -> None:
    """Draw the questions in an expander, judged when it opens."""
    place = st.expander(TITLE, icon=":material/rate_review:", key="critique", on_change="rerun")
    if place.open:
        with place:
            remarks = critique(plan.yours, state.case().registration)
            query = urlencode(state.address())
            screen.draw(group(*critique_blocks(remarks, partial(_link, query))))
            to_form = partial(st.session_state.update, {TABS: "Registration"})
            button("Answer on the form", "edit_note", to_form, key="critique_to_form")


def _link(query: str, place: Place) -> str:
    return f"{PROTOCOL}?{query}" if place.page == PROTOCOL else ""
