"""A study that was asked for and is not here: what is gone, and a way to open its file."""

from typing import Final

import streamlit as st

from replicalab.documents import STUDY_MB, STUDY_SUFFIXES
from replicalab.errors import Fault, ReplicaLabError, ScenarioError
from replicalab.scenarios import readable_text
from replicalab.ui import notices, own_studies, state
from replicalab.ui.files import upload
from replicalab.ui.words import escaped

_FILE: Final = "missing_study_file"


def draw() -> None:
    """Say which study is missing and take its file; nothing where none is."""
    missing = state.current().missing
    if missing is None:
        return
    name, stands_in = escaped(missing.case.study), escaped(state.case().study)
    with st.container(border=True, key="missing_study"):
        st.warning(
            f"The study '{name}' is not on this server: the server was restarted, the link comes "
            "from another one, or the study was removed. Open its file to go on: the link's lab "
            f"and plan come back with it. Until then '{stands_in}' stands in for it.",
            icon=":material/link_off:",
        )
        upload(f"The file of '{name}'", _FILE, _take, STUDY_SUFFIXES, most_mb=STUDY_MB, stays=True)
        st.button("Dismiss", key="dismiss_missing", on_click=_dismiss)


def _take(data: bytes, name: str) -> None:
    text = readable_text(data, name)
    study = own_studies.usable_study(text, name)
    if missing := state.current().missing:
        if study.scenario_id != (wanted := missing.case.study):
            fault = Fault(
                "scenario_id",
                f"this is the file of '{study.scenario_id}'",
                f"open the file of '{wanted}', or bring this one under Make a study on Scenarios",
            )
            raise ScenarioError(name, [fault])
        if refused := state.bring(text, study):
            raise ReplicaLabError(refused)


def _dismiss() -> None:
    notices.clear(_FILE)
    state.current().missing = None
