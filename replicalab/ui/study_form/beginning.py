"""What a study begins with: a power analysis, an empty form, a copy, or a file."""

from typing import Final

import streamlit as st

from replicalab import scenarios
from replicalab.documents import STUDY_MB, STUDY_SUFFIXES
from replicalab.drafts import Draft, new_study
from replicalab.ui import notices
from replicalab.ui.controls import button
from replicalab.ui.files import upload
from replicalab.ui.study_form import analysis, record

_EMPTY: Final = "an empty form"
_TEMPLATE: Final = "the template"
_SOURCE: Final = "own_source"
_UPLOAD: Final = "own_upload"
_LONGEST_ID: Final = 64


def draw() -> None:
    """Draw the ways to begin, the shortest first."""
    with st.container(border=True, key="analysis"):
        st.markdown("**I have a power analysis**")
        analysis.draw()
    form, file = st.columns(2, gap="large")
    with form:
        names = {each.scenario_id: each.name for each in scenarios.list_scenarios()}
        st.selectbox(
            "Start from",
            [_EMPTY, _TEMPLATE, *names],
            format_func=lambda each: names.get(each, each),
            key=_SOURCE,
        )
        with st.container(horizontal=True):
            button("Start the form", "edit_note", _start)
            if record.current().begun:
                button("Back to the form", "arrow_back", _go_back, type="tertiary")
    with file:
        upload(
            "Or upload a file",
            _UPLOAD,
            lambda data, name: record.write(scenarios.readable_text(data, name)),
            STUDY_SUFFIXES,
            most_mb=STUDY_MB,
            stays=True,
            refused="{error}. What you had is kept.",
        )


# --- the other ways -------------------------------------------------------------------------


def _start() -> None:
    chosen = st.session_state.get(_SOURCE, _EMPTY)  # a browser may send the click alone
    notices.clear(_UPLOAD)
    if chosen == _EMPTY:
        record.begin(Draft(new_study(record.new_id(), name=record.free_name())))
    elif chosen == _TEMPLATE:
        record.write(scenarios.template_text())
    else:
        text = scenarios.copy_text(chosen, f"my_{chosen}"[:_LONGEST_ID])
        record.write(record.with_free_name(text))


def _go_back() -> None:
    record.current().choosing = False
