"""The Scenarios page, the front door: what this is, stories, gallery, your lab, and a form."""

from __future__ import annotations

import streamlit as st

from replicalab.ui import state, study_form
from replicalab.ui.scenarios import gallery, own, survey


def draw() -> None:
    """Draw the page; what this is stands above the gallery alone."""
    _follow_the_address()
    is_gallery = st.session_state.get(own.TABS, own.ALL_STUDIES) == own.ALL_STUDIES
    named = is_gallery and gallery.draw_idea()
    names = [own.ALL_STUDIES, survey.IN_YOUR_LAB, own.MAKE]
    studies, lab, yours = st.tabs(names, key=own.TABS, on_change=_say)
    if yours.open:
        with yours:
            study_form.draw()
    elif lab.open:
        with lab:
            survey.draw()
    else:
        with studies:
            gallery.draw_gallery(named=named)


def _follow_the_address() -> None:
    """Open or leave the table of all studies as the address says."""
    asked = state.workspace().survey
    if asked != (st.session_state.get(own.TABS) == survey.IN_YOUR_LAB):
        st.session_state[own.TABS] = survey.IN_YOUR_LAB if asked else own.ALL_STUDIES


def _say() -> None:
    state.show(survey=st.session_state[own.TABS] == survey.IN_YOUR_LAB)
