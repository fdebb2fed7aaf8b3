"""Opening what was handed over, whatever it is: worked out anew, and held against the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st

from replicalab import library
from replicalab.errors import (
    Fault,
    LibraryContentError,
    LibraryError,
    ReplicaLabError,
    ScenarioError,
    TraceError,
)
from replicalab.library import Decision
from replicalab.panels import header_panel
from replicalab.report import open_bundle
from replicalab.scenarios import parse_study, read_lab, read_plan
from replicalab.scenarios.json_file import Held
from replicalab.text.plan import elsewhere_text
from replicalab.text.verdicts import Status
from replicalab.ui import own_studies, panel, state
from replicalab.ui.compare import deciding
from replicalab.ui.controls import button, page_link
from replicalab.ui.formats import MOST_MB, TYPES, Found, held_in
from replicalab.ui.library.work import plan_in, workspace_of
from replicalab.ui.negotiation import files, table
from replicalab.ui.words import ICONS, as_list, escaped

_FILE: Final = "handed_file"
_TOLD: Final = "handed_told"
_MINE: Final = "among your own"


class _Told(NamedTuple):
    """What came of the last file: what was opened, or why not.

    Attributes:
        text: in a sentence or a list.
        differences: where it parts from what was saved; None where nothing was opened.
        caution: what is to be known of what was opened; empty for nothing.
    """

    text: str
    differences: tuple[str, ...] | None = None
    caution: str = ""


def draw() -> None:
    """Draw where a file is handed in, and what came of the last one."""
    st.file_uploader(
        "A bundle, a negotiation, a plan, a lab (JSON), or a study (YAML)",
        type=TYPES,
        key=_key(),
        max_upload_size=MOST_MB,
        on_change=_take,
    )
    told: _Told | None = st.session_state.get(_TOLD)
    if told is None:
        st.caption("It takes the place of what is open, which Undo brings back.")
    elif told.differences is None:
        st.error(as_list(told.text), icon=":material/upload_file:")
    else:
        _draw_opened(told, told.differences)


def begin() -> None:
    """Forget what came of the last file."""
    st.session_state.pop(_TOLD, None)


def _draw_opened(told: _Told, differences: tuple[str, ...]) -> None:
    if differences:
        listed = "\n".join(f"- {escaped(each)}" for each in differences)
        st.error(
            f"Opened, but not verified: it is not what was saved.\n\n{listed}",
            icon=":material/gpp_bad:",
        )
    else:
        st.success(escaped(told.text), icon=":material/verified:")
    if told.caution:
        st.warning(escaped(told.caution), icon=ICONS[Status.CAUTION])
    panel.draw(header_panel(state.here().yours, yours=state.workspace().protocol is not None))
    with st.container(horizontal=True):
        page_link("pages/1_Protocol.py", "Protocol", "tune")
        page_link("pages/2_Negotiation.py", "Negotiation", "forum")
        button("Undo", "undo", _take_back, key="handed_undo", disabled=not state.current().past)


def _take_back() -> None:
    begin()
    state.undo()


def _key() -> str:
    return f"{_FILE}_{table.table().uploads}"


def _take() -> None:
    """Open the file that was handed in, or tell why it cannot be; then nothing has changed."""
    upload = st.session_state[_key()]
    if upload is None:
        return
    table.table().uploads += 1
    try:
        st.session_state[_TOLD] = _opened(upload.getvalue(), upload.name)
    except ReplicaLabError as error:
        st.session_state[_TOLD] = _Told(str(error))


def _opened(data: bytes, name: str) -> _Told:
    """Open a file by what it holds, and return what is to be told of it.

    Raises:
        ReplicaLabError: it cannot be opened; nothing has changed.
    """
    found = held_in(data, name)
    if found.held not in _READERS:
        fault = Fault("", f"it holds a {found.held}", "import it on the Library page")
        raise ScenarioError(name, [fault])
    try:
        return _READERS[found.held](found, name)
    except (LibraryContentError, TraceError) as error:  # which do not know the file's name
        raise type(error)(f"{name}: {error}") from error


# --- each kind ------------------------------------------------------------------------------


def _open_bundle(found: Found, name: str) -> _Told:
    opened = open_bundle(found.values, name)
    work, played = workspace_of(plan_in(opened, name)), ""
    if opened.run is None:
        state.open_workspace(work)
    else:
        files.open_played(opened.run, work, name, opened.recording, opened.differences)
        played = ", and the negotiation plays round by round,"
    told = f"Verified: the plan is judged{played} as in the file."
    return _Told(f"{told} {_with_decision(opened.decision)}".rstrip(), opened.differences)


def _with_decision(decision: Decision | None) -> str:
    """Keep the decision that came along; return what is to be told of it."""
    if decision is None:
        return ""
    try:
        deciding.keep(decision)
    except LibraryError as error:
        return f"Its decision could not be kept: {error}."
    return "Its decision is among yours, on Compare and in the library."


def _open_run(found: Found, name: str) -> _Told:
    files.open_text(found.text, name)
    kept = table.table().opened
    return _Told(
        "Verified: it plays round by round as in the file.", kept.differences if kept else ()
    )


def _open_kept_plan(found: Found, _: str) -> _Told:
    state.open_workspace(workspace_of(library.read_plan(found.text)))
    return _Told("The plan is open, in the study and the lab that it was kept with.", ())


def _open_plan(found: Found, name: str) -> _Told:
    saved = read_plan(found.values, name)
    state.replace_plan(saved.plan)
    caution = elsewhere_text(saved.study, state.written())
    return _Told("The plan is open, judged in the lab that was.", (), caution)


def _open_lab(found: Found, name: str) -> _Told:
    state.suppose(read_lab(found.values, name))
    return _Told("The lab is in use, for the plan that was.", ())


def _open_study(found: Found, name: str) -> _Told:
    study = parse_study(found.text, name)
    if own_studies.is_on_the_shelf(study, name):
        state.open_study(study.scenario_id)
    else:
        if (mine := own_studies.kept().get(study.scenario_id)) is not None:
            own_studies.require_same(study, mine.study, _MINE, name)
        if refused := state.bring(found.text, study):
            raise ReplicaLabError(refused)
    return _Told("The study is open, with its reference protocol.", ())


_READERS: Final[dict[Held, Callable[[Found, str], _Told]]] = {
    Held.BUNDLE: _open_bundle,
    Held.RUN: _open_run,
    Held.KEPT_PLAN: _open_kept_plan,
    Held.LAB: _open_lab,
    Held.PLAN: _open_plan,
    Held.STUDY: _open_study,
}
