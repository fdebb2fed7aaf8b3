"""The one workspace that all pages share: kept in the session, written into the address.

The address is read when a session starts. Later it is ours to write, and it is read again only
when the browser's Back or Forward brings an older one back.
"""

from __future__ import annotations

import time
from typing import Final, NamedTuple

import streamlit as st

from replicalab.agents import FeasibilityCheckResult, check_feasibility
from replicalab.errors import ScenarioError
from replicalab.evidence import Evidence, planned_evidence
from replicalab.links import from_query, to_query
from replicalab.models import Protocol
from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.scenarios import Pack, list_scenarios
from replicalab.stories import Story
from replicalab.ui import own_studies
from replicalab.workspace import Workspace, supposed_lab

_WORKSPACE: Final = "workspace"
_PAST: Final = "past"
_FUTURE: Final = "future"
_WRITTEN: Final = "written_address"
_WRITTEN_AT: Final = "address_written_at"
_TOUCHED: Final = "touched_in_this_run"
_PROBLEMS: Final = "link_problems"
_VERSION: Final = "editor_version"
_STORY: Final = "story"
_REMEMBERED: Final = 200
_SETTLED_AFTER: Final = 1.0
"""Seconds after which the browser surely shows the address that we wrote last."""


def begin() -> None:
    """Read the address at the start of a session, or when Back has changed it."""
    touched = st.session_state.pop(_TOUCHED, False)
    query = st.query_params.to_dict()
    own_studies.begin(query.get(own_studies.ADDRESS_KEY))
    if _WORKSPACE not in st.session_state:
        _adopt(query)
        st.session_state[_PAST], st.session_state[_FUTURE] = [], []
    elif query and not touched and query != st.session_state[_WRITTEN]:
        _follow_the_browser(query)
    _leave_a_broken_study()


def _leave_a_broken_study() -> None:
    """Open another study when the open one's file has become unreadable, and say so."""
    try:
        _pack()
    except ScenarioError as error:
        usable = list_scenarios()
        if not usable:
            raise
        st.session_state[_PROBLEMS] = [*str(error).splitlines(), "Another study is open instead."]
        _remember()
        _set(Workspace(scenario_id=usable[0].scenario_id))
        _redraw_editor()


def _follow_the_browser(query: dict[str, str]) -> None:
    """Open what Back brought; too soon after an edit, write the address again instead."""
    if time.monotonic() - st.session_state[_WRITTEN_AT] > _SETTLED_AFTER:
        _remember()
        _adopt(query)
    else:
        st.session_state[_WRITTEN] = {}


def _adopt(query: dict[str, str]) -> None:
    reading = from_query(query, own_studies.find)
    st.session_state[_WORKSPACE] = reading.workspace
    st.session_state[_PROBLEMS] = reading.problems
    st.session_state[_WRITTEN] = {} if reading.problems else query
    st.session_state[_WRITTEN_AT] = time.monotonic()
    _redraw_editor()


def write_address() -> None:
    """Write the workspace into the address, if it is not there already."""
    query = address()
    if query != st.session_state[_WRITTEN]:
        st.query_params.from_dict(query)
        st.session_state[_WRITTEN] = query
        st.session_state[_WRITTEN_AT] = time.monotonic()


def address() -> dict[str, str]:
    """Return the query string that opens what is on the screen."""
    return {**to_query(workspace()), **own_studies.address()}


def workspace() -> Workspace:
    """Return the workspace."""
    found: Workspace = st.session_state[_WORKSPACE]
    return found


class Here(NamedTuple):
    """What a page shows: the study in its lab, the plan, its check and its planned evidence."""

    pack: Pack
    plan: Protocol
    check: FeasibilityCheckResult
    evidence: Evidence


def here() -> Here:
    """Return what the workspace points at, checked."""
    pack, protocol = _pack(), plan()
    return Here(pack, protocol, check_feasibility(protocol, pack), planned_evidence(protocol, pack))


def supposed() -> Pack:
    """Return the study in the lab that the Trade-offs page supposes."""
    return supposed_lab(_pack(), workspace().levers)


def plan() -> Protocol:
    """Return the plan that is being edited."""
    return workspace().plan(own_studies.find)


def _pack() -> Pack:
    return workspace().pack(own_studies.find)


def link_problems() -> list[str]:
    """Return what could not be read of the address, until it is dismissed."""
    problems: list[str] = st.session_state[_PROBLEMS]
    return problems


def dismiss_link_problems() -> None:
    """Forget what could not be read of the address."""
    st.session_state[_PROBLEMS] = []


# --- changing -------------------------------------------------------------------------------


def _set(changed: Workspace) -> None:
    st.session_state[_WORKSPACE] = changed
    st.session_state[_TOUCHED] = True


def _remember() -> None:
    st.session_state[_PAST] = [*st.session_state[_PAST], workspace()][-_REMEMBERED:]
    st.session_state[_FUTURE] = []


def _redraw_editor() -> None:
    """Give the editor new widgets, so that they show the plan and not what was typed before."""
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def editor_version() -> int:
    """Return a number that changes whenever the plan changes from outside the editor."""
    version: int = st.session_state[_VERSION]
    return version


def edit(protocol: Protocol) -> None:
    """Take the plan that the editor's widgets now show."""
    if protocol != plan():
        _remember()
        _set(workspace().with_plan(protocol, own_studies.find))


def replace_plan(protocol: Protocol | None) -> None:
    """Take a plan from elsewhere (a suggestion, the reference for None) and show it."""
    _remember()
    _set(workspace().with_plan(protocol, own_studies.find))
    _redraw_editor()


def open_study(scenario_id: str) -> None:
    """Open a study with its reference protocol, in the lab and with the seed now chosen."""
    if scenario_id != workspace().scenario_id:
        reopen_study(scenario_id)


def reopen_study(scenario_id: str) -> None:
    """Open a study that is new or has changed, with its reference protocol."""
    _remember()
    _set(workspace().with_study(scenario_id))
    _redraw_editor()


def leave(scenario_id: str) -> None:
    """Open the first study again if that one is open."""
    if workspace().scenario_id == scenario_id:
        open_workspace(Workspace())


def open_workspace(found: Workspace) -> None:
    """Open a whole workspace: a story, a surprise."""
    _remember()
    _set(found)
    _redraw_editor()


def open_story(story: Story) -> None:
    """Open a story's workspace, and remember that it is being told."""
    open_workspace(story.workspace)
    st.session_state[_STORY] = story


def told_story() -> Story | None:
    """Return the story that was opened last, while what it is about is still on the screen.

    The round, the presentation and what is supposed of the lab may change: it is the same story.
    """
    story: Story | None = st.session_state.get(_STORY)
    if story is None:
        return None
    opened = story.workspace
    stands = workspace().with_levers().at_round(opened.round_number)
    return story if stands.changed(presenting=opened.presenting) == opened else None


def open_lab(difficulty: str, seed: int) -> None:
    """Open another lab of the same study; the plan stays."""
    _remember()
    _set(workspace().with_lab(difficulty, seed))
    _redraw_editor()


def set_rounds(most: int) -> None:
    """Let the negotiation last at most that many rounds, and go to the first."""
    _set(workspace().with_rounds(most))


def suppose(**levers: int | None) -> None:
    """Suppose a lab of other means on the Trade-offs page; what is not named stays."""
    _set(workspace().changed(**levers))


def stop_supposing() -> None:
    """Show the lab as it is."""
    _set(workspace().with_levers())
    _redraw_editor()


def seat(scientist: ScientistKind, lab_manager: LabManagerKind) -> None:
    """Let these two play, and go to the first round; no step to undo."""
    _set(workspace().with_players(scientist, lab_manager))


def present(*, on: bool) -> None:
    """Hide the controls for a presentation, or bring them back; no step to undo."""
    _set(workspace().changed(presenting=on))


def show_round(number: int) -> None:
    """Go to a round of the negotiation, counted from 0."""
    _set(workspace().at_round(number))


def can_undo() -> bool:
    """Return whether there is a step to undo."""
    return bool(st.session_state[_PAST])


def can_redo() -> bool:
    """Return whether an undone step can be done again."""
    return bool(st.session_state[_FUTURE])


def undo() -> None:
    """Go back one step."""
    _travel(_PAST, _FUTURE)


def redo() -> None:
    """Do the last undone step again."""
    _travel(_FUTURE, _PAST)


def _travel(source: str, target: str) -> None:
    if st.session_state[source]:
        *rest, found = st.session_state[source]
        st.session_state[target] = [*st.session_state[target], workspace()]
        st.session_state[source] = rest
        _set(found.with_talks_of(workspace()).with_levers_of(workspace()))
        _redraw_editor()
