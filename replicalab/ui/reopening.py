"""A study that was asked for and is not here: what is gone, and a way to open its file."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.errors import Fault, ScenarioError
from replicalab.scenarios import readable_text
from replicalab.ui import own_studies, state
from replicalab.ui.words import as_list, escaped

_FILE: Final = "missing_study_file"
_FAULT: Final = "missing_study_fault"


def draw() -> None:
    """Say which study is missing and take its file; nothing where none is."""
    missing = state.current().missing
    if missing is None:
        return
    name, stands_in = escaped(missing.scenario_id), escaped(state.workspace().scenario_id)
    with st.container(border=True, key="missing_study"):
        st.warning(
            f"The study '{name}' is not on this server: the server was restarted, the link comes "
            "from another one, or the study was removed. Open its file to go on: the link's lab "
            f"and plan come back with it. Until then '{stands_in}' stands in for it.",
            icon=":material/link_off:",
        )
        st.file_uploader(
            f"The file of '{name}'",
            type=["yaml", "yml"],
            key=_FILE,
            max_upload_size=1,
            on_change=_take,
        )
        if fault := st.session_state.get(_FAULT):
            st.error(as_list(fault), icon=":material/upload_file:")
        st.button("Dismiss", key="dismiss_missing", on_click=_dismiss)


def _take() -> None:
    """Open the file that was handed over, or remember why it cannot be."""
    upload, missing = st.session_state[_FILE], state.current().missing
    st.session_state[_FAULT] = ""
    if upload is None or missing is None:
        return
    try:
        text = readable_text(upload.getvalue(), upload.name)
        study = own_studies.usable_study(text, upload.name)
        _require_id(study.scenario_id, missing.scenario_id, upload.name)
    except ScenarioError as error:
        st.session_state[_FAULT] = str(error)
        return
    st.session_state[_FAULT] = state.bring(text, study)


def _require_id(found: str, wanted: str, name: str) -> None:
    if found != wanted:
        fault = Fault(
            "scenario_id",
            f"this is the file of '{found}'",
            f"open the file of '{wanted}', or bring this one under Make a study on Scenarios",
        )
        raise ScenarioError(name, [fault])


def _dismiss() -> None:
    st.session_state[_FAULT] = ""
    state.current().missing = None
