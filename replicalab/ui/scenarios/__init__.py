"""The Scenarios page, the front door: what this is, stories, gallery, your lab, and a form."""

import streamlit as st

from replicalab.ui import state, study_form
from replicalab.ui.scenarios import gallery, survey


def draw() -> None:
    """Draw the page; what this is stands above the gallery alone."""
    request = state.workspace().survey  # the address opens and leaves the table of all studies
    if request != (st.session_state.get(gallery.TABS) == survey.IN_YOUR_LAB):
        st.session_state[gallery.TABS] = survey.IN_YOUR_LAB if request else gallery.ALL_STUDIES
    is_gallery = st.session_state.get(gallery.TABS, gallery.ALL_STUDIES) == gallery.ALL_STUDIES
    if is_gallery:
        gallery.draw_idea()
    names = [gallery.ALL_STUDIES, survey.IN_YOUR_LAB, gallery.MAKE]
    studies, lab, yours = st.tabs(names, key=gallery.TABS, on_change=_note_tab)
    if yours.open:
        with yours:
            study_form.draw()
    elif lab.open:
        with lab:
            survey.draw()
    else:
        with studies:
            gallery.draw_gallery()


def _note_tab() -> None:
    state.show(survey=st.session_state[gallery.TABS] == survey.IN_YOUR_LAB)
