"""Opening what was handed over, whatever it is: worked out anew, and held against the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st

from replicalab import library
from replicalab.errors import Fault, ReplicaLabError, ScenarioError
from replicalab.models import PROTOCOL_FIELDS
from replicalab.panels import header_panel
from replicalab.report import Opened, open_bundle
from replicalab.report.bundle import MOST_BYTES
from replicalab.scenarios import Study, list_scenarios, read_lab, readable_text
from replicalab.scenarios.plan_file import read_plan
from replicalab.scenarios.writing import study_yaml
from replicalab.ui import own_studies, panel, state
from replicalab.ui.controls import button, page_link
from replicalab.ui.library.work import workspace_of
from replicalab.ui.negotiation import files, table
from replicalab.ui.words import as_list, escaped
from replicalab.ui.workspace import LARGEST_SEED, Workspace

_FILE: Final = "handed_file"
_TOLD: Final = "handed_told"
_MOST_MB: Final = 6
_MINE: Final = "among your own"
_TYPES: Final = ("json", "yaml", "yml")


class _Told(NamedTuple):
    """What came of the last file: what was opened, or why not.

    Attributes:
        text: in a sentence or a list.
        differences: where it parts from what was saved; None where nothing was opened.
    """

    text: str
    differences: tuple[str, ...] | None = None


def draw() -> None:
    """Draw where a file is handed in, and what came of the last one."""
    st.file_uploader(
        "A bundle, a negotiation, a plan, a lab (JSON), or a study (YAML)",
        type=_TYPES,
        key=_key(),
        max_upload_size=_MOST_MB,
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
    if name.lower().endswith((".yaml", ".yml")):
        return _open_study(data, name)
    keys = _keys(readable_text(data, name, MOST_BYTES))
    for named, reader in _READERS:
        if keys is None or keys & named:  # of no JSON the first tells where it breaks off
            return reader(data, name)
    fault = Fault("", "it is no bundle, negotiation, plan or lab", "choose one saved here")
    raise ScenarioError(name, [fault])


def _keys(text: str) -> frozenset[str] | None:
    """Return the names of a file's values; None where it is no JSON."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return frozenset(held) if isinstance(held, dict) else frozenset()


# --- each kind ------------------------------------------------------------------------------


def _open_bundle(data: bytes, name: str) -> _Told:
    opened = open_bundle(data)
    work = _workspace_of(opened)
    if opened.run is None:
        state.open_workspace(work)
        played = ""
    else:
        files.open_played(opened.run, work, name, opened.recording, opened.differences)
        played = ", and the negotiation plays round by round,"
    return _Told(f"Verified: the plan is judged{played} as in the file.", opened.differences)


def _workspace_of(opened: Opened) -> Workspace:
    """Return the workspace of a bundle; its study is kept, where it is on no shelf.

    Raises:
        ReplicaLabError: it cannot be shown here, or its study cannot be kept.
    """
    pack, study = opened.options.yours.pack, opened.written.study
    if pack.seed > LARGEST_SEED:
        most = f"at most {LARGEST_SEED:,} can be shown here"
        raise ScenarioError("the bundle", [Fault("seed", f"{pack.seed:,} is too large", most)])
    if opened.run is not None:
        files.must_be_shown(opened.run.setup)
    own = _key_of(study, opened)
    work = Workspace(
        scenario_id=study.scenario_id,
        own=own,
        difficulty=pack.difficulty,
        seed=pack.seed,
        own_lab=pack.own_lab,
        question=pack.question,
    ).with_plan(opened.options.yours.plan, own_studies.find)
    if (run := opened.run) is not None:
        players = {"lab_manager": run.setup.lab_manager, "max_rounds": run.setup.max_rounds}
        work = work.changed(**players)
    return work


def _key_of(study: Study, opened: Opened) -> str | None:
    """Return by which key a bundle's study is found here, None for one on the shelf.

    Raises:
        ScenarioError: another study of that id is on the shelf.
        LibraryError: there is no room for it.
    """
    name, pack = study.scenario_id, opened.written
    if any(name == summary.scenario_id for summary in list_scenarios()):
        there = own_studies.find(name, pack.difficulty, pack.seed, None).study
        _require_same(study, there, "on the shelf", "the bundle")
        return None
    return own_studies.at_hand(study_yaml(study), study)


def _require_same(study: Study, there: Study, where: str, source: str) -> None:
    if study != there:
        problem = f"another study of the id '{study.scenario_id}' is {where}"
        remedy = "give this one another id in its file; it then opens beside that one"
        raise ScenarioError(source, [Fault("scenario_id", problem, remedy)])


def _open_negotiation(data: bytes, name: str) -> _Told:
    files.open_text(readable_text(data, name, MOST_BYTES), name)
    kept = table.table().opened
    return _Told(
        "Verified: it plays round by round as in the file.", kept.differences if kept else ()
    )


def _open_kept_plan(data: bytes, name: str) -> _Told:
    state.open_workspace(workspace_of(library.read_plan(readable_text(data, name, MOST_BYTES))))
    return _Told("The plan is open, in the study and the lab that it was kept with.", ())


def _open_plan(data: bytes, name: str) -> _Told:
    state.replace_plan(read_plan(data, name))
    return _Told("The plan is open, judged in the lab that was.", ())


def _open_lab(data: bytes, name: str) -> _Told:
    state.suppose(read_lab(data, name))
    return _Told("The lab is in use, for the plan that was.", ())


def _open_study(data: bytes, name: str) -> _Told:
    text = readable_text(data, name)
    study = own_studies.usable_study(text, name)
    if (mine := own_studies.kept().get(study.scenario_id)) is not None:
        _require_same(study, mine.study, _MINE, name)
    if refused := state.bring(text, study):
        raise ReplicaLabError(refused)
    return _Told("The study is open, with its reference protocol.", ())


_READERS: Final[tuple[tuple[frozenset[str], Callable[[bytes, str], _Told]], ...]] = (
    (frozenset({"decided", "input_hash"}), _open_bundle),
    (frozenset({"setup", "turns"}), _open_negotiation),
    (frozenset({"study"}), _open_kept_plan),
    (frozenset({"lab"}), _open_lab),
    (frozenset(PROTOCOL_FIELDS), _open_plan),
)
"""By which of a file's values it is known what it holds, the largest first."""
