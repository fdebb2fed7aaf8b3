"""A study of one's own on the front door: where it is made, edited and taken away."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.ui import own_studies, state, study_form
from replicalab.ui.study_cache import OwnStudy
from replicalab.ui.study_form import record
from replicalab.ui.workspace import Workspace

ALL_STUDIES: Final = "All studies"
MAKE: Final = "Make a study"
TABS: Final = "door"


def edit(own: OwnStudy) -> None:
    """Put a study into the form, and show it."""
    st.session_state[TABS] = MAKE
    record.write(own.text)
    study_form.show(study_form.FIRST)


def take_away(own: OwnStudy) -> None:
    """Forget one of the visitor's studies; it goes into the form, so nothing is lost."""
    edit(own)
    own_studies.remove(own.study.scenario_id)
    if state.case().own == own.key:
        state.open_workspace(Workspace())
