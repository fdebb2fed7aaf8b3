"""A study of one's own, as its page lets one change it: its name, and all else in the form."""

from functools import partial
from typing import Final

import streamlit as st

from replicalab.drafts import longest_name
from replicalab.ui import notices, own_studies, state, study_form
from replicalab.ui.controls import button
from replicalab.ui.study_cache import OwnStudy

_PLACE: Final = "study_own"
_OPEN: Final = "study_rename"


def draw() -> None:
    """Draw the ways to change the open study, where it is this visitor's."""
    own = own_studies.kept().get(state.case().study)
    if own is None or own.key != state.case().own:
        return
    with st.container(horizontal=True, key=_PLACE):
        place = st.popover("Rename", icon=":material/edit:", key=_OPEN, on_change="rerun")
        if place.open:
            with place:
                _draw_name(own)
        if st.button("Edit", icon=":material/edit_document:", key="study_edit"):
            study_form.edit(own)
            st.switch_page("app.py", query_params=state.address())
    notices.draw(_PLACE)


def _draw_name(own: OwnStudy) -> None:
    key = f"study_name_{own.study.scenario_id}"
    longest = longest_name(own.study)
    st.text_input("Name of the study", own.study.paper.name, key=key, max_chars=longest)
    button("Rename it", "check", partial(_rename, own, key), type="primary")


def _rename(own: OwnStudy, key: str) -> None:
    """Give the study the name that was typed; why it cannot have it stands below."""
    name = " ".join(str(st.session_state.get(key, own.study.paper.name)).split())
    if not name:
        refused = "A study needs a name. Type one, then press Rename it."
    else:
        refused = own_studies.rename(own, name)
    if refused:
        notices.leave_problem(refused, _PLACE)
        return
    st.session_state[_OPEN] = False
    notices.leave(f"It is called {name} now.", _PLACE)
