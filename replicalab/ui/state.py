"""What one visitor has before them: a single record in the session, written into the address.

The address is read when a session starts. Later it is ours to write, and it is read again only
when the browser's Back or Forward brings an older one back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import streamlit as st

from replicalab.assessment import Assessment, assess
from replicalab.errors import ScenarioError
from replicalab.models import Protocol
from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.planner import Options, options_of
from replicalab.scenarios import Pack, list_scenarios
from replicalab.ui import own_studies
from replicalab.ui.address import from_query, to_query
from replicalab.ui.workspace import Workspace

if TYPE_CHECKING:
    from replicalab.ui.stories import Story

_STATE: Final = "state"
_REMEMBERED: Final = 200
_SETTLED_AFTER: Final = 1.0
"""Seconds after which the browser surely shows the address that we wrote last."""


@dataclass
class State:
    """What one visitor has before them.

    Attributes:
        workspace: the study in its lab, the plan, the round.
        past, future: what undo and redo bring back, the next one last.
        version: changes whenever the plan changes from outside its editor.
        problems: what could not be read of the address, until it is dismissed.
        story: the story that was opened last.
        address: the one that we wrote last, or that the visitor came with.
        written_at: when; in seconds of `time.monotonic`.
        touched: whether this run comes from a change of the workspace.
    """

    workspace: Workspace
    past: list[Workspace] = field(default_factory=list)
    future: list[Workspace] = field(default_factory=list)
    version: int = 0
    problems: list[str] = field(default_factory=list)
    story: Story | None = None
    address: dict[str, str] = field(default_factory=dict)
    written_at: float = 0.0
    touched: bool = False


@dataclass(frozen=True)
class Here:
    """What a page is about: the plan in its lab, and what may be done about it."""

    options: Options

    @property
    def yours(self) -> Assessment:
        """The plan in its lab."""
        return self.options.yours

    @property
    def pack(self) -> Pack:
        """The study in its lab."""
        return self.yours.pack

    @property
    def plan(self) -> Protocol:
        """The plan."""
        return self.yours.plan


def _state() -> State:
    found: State = st.session_state[_STATE]
    return found


def workspace() -> Workspace:
    """Return the workspace."""
    return _state().workspace


def plan() -> Protocol:
    """Return the plan that is being edited."""
    return workspace().plan(own_studies.find)


def _pack() -> Pack:
    return workspace().pack(own_studies.find)


def here() -> Here:
    """Return what the workspace points at."""
    return Here(options_of(assess(plan(), _pack())))


# --- the address ----------------------------------------------------------------------------


def begin() -> None:
    """Read the address at the start of a session, or when Back has changed it."""
    query = st.query_params.to_dict()
    own_studies.begin(query.get(own_studies.ADDRESS_KEY))
    if _STATE not in st.session_state:
        st.session_state[_STATE] = State(Workspace())
        _adopt(query)
    elif query and not _state().touched and query != _state().address:
        _follow_the_browser(query)
    _state().touched = False
    _leave_a_broken_study()


def _adopt(query: dict[str, str]) -> None:
    state, reading = _state(), from_query(query, own_studies.find)
    state.workspace, state.problems = reading.workspace, reading.problems
    state.address = {} if reading.problems else query
    state.written_at = time.monotonic()
    state.version += 1


def _follow_the_browser(query: dict[str, str]) -> None:
    """Open what Back brought; too soon after an edit, write the address again instead."""
    if time.monotonic() - _state().written_at > _SETTLED_AFTER:
        _remember()
        _adopt(query)
    else:
        _state().address = {}


def _leave_a_broken_study() -> None:
    """Open another study when the open one's file has become unreadable, and say so."""
    try:
        _pack()
    except ScenarioError as error:
        usable = list_scenarios()
        if not usable:
            raise
        _state().problems = [*str(error).splitlines(), "Another study is open instead."]
        open_workspace(Workspace(scenario_id=usable[0].scenario_id))


def address() -> dict[str, str]:
    """Return the query string that opens what is on the screen."""
    return {**to_query(workspace()), **own_studies.address()}


def write_address() -> None:
    """Write the workspace into the address, if it is not there already."""
    state, query = _state(), address()
    if query != state.address:
        st.query_params.from_dict(query)
        state.address = query
        state.written_at = time.monotonic()


def link_problems() -> list[str]:
    """Return what could not be read of the address, until it is dismissed."""
    return _state().problems


def dismiss_link_problems() -> None:
    """Forget what could not be read of the address."""
    _state().problems = []


# --- changing -------------------------------------------------------------------------------


def _set(changed: Workspace) -> None:
    _state().workspace = changed
    _state().touched = True


def _remember() -> None:
    state = _state()
    state.past = [*state.past, state.workspace][-_REMEMBERED:]
    state.future = []


def editor_version() -> int:
    """Return a number that changes whenever the plan changes from outside the editor.

    The editor's widgets carry it in their keys, so that new ones show the plan and not what was
    typed before.
    """
    return _state().version


def edit(protocol: Protocol) -> None:
    """Take the plan that the editor's widgets now show; the same plan is no step."""
    if protocol != plan():
        _remember()
        _set(workspace().with_plan(protocol, own_studies.find))


def open_workspace(found: Workspace) -> None:
    """Open a whole workspace, as a step that can be undone."""
    _remember()
    _set(found)
    _state().version += 1


def replace_plan(protocol: Protocol | None) -> None:
    """Take a plan from elsewhere (a suggestion, the reference for None) and show it."""
    open_workspace(workspace().with_plan(protocol, own_studies.find))


def open_study(scenario_id: str) -> None:
    """Open a study with its reference protocol, in the lab and with the seed now chosen."""
    if scenario_id != workspace().scenario_id:
        reopen_study(scenario_id)


def reopen_study(scenario_id: str) -> None:
    """Open a study that is new or has changed, with its reference protocol."""
    open_workspace(workspace().with_study(scenario_id))


def leave(scenario_id: str) -> None:
    """Open the first study again if that one is open."""
    if workspace().scenario_id == scenario_id:
        open_workspace(Workspace())


def open_lab(difficulty: str, seed: int) -> None:
    """Open another lab of the same study; the plan stays."""
    open_workspace(workspace().with_lab(difficulty, seed))


def open_story(story: Story) -> None:
    """Open a story's workspace, and remember that it is being told."""
    open_workspace(story.workspace)
    _state().story = story


def told_story() -> Story | None:
    """Return the story that was opened last, while what it is about is still on the screen.

    The round, the presentation and what is supposed of the lab may change: it is the same story.
    """
    story = _state().story
    if story is None:
        return None
    opened = story.workspace
    stands = workspace().with_levers().at_round(opened.round_number)
    return story if stands.changed(presenting=opened.presenting) == opened else None


# --- changes that are no step to undo ---


def set_rounds(most: int) -> None:
    """Let the negotiation last at most that many rounds, and go to the first."""
    _set(workspace().with_rounds(most))


def show_round(number: int) -> None:
    """Go to a round of the negotiation, counted from 0."""
    _set(workspace().at_round(number))


def seat(scientist: ScientistKind, lab_manager: LabManagerKind) -> None:
    """Let these two play, and go to the first round."""
    _set(workspace().with_players(scientist, lab_manager))


def present(*, on: bool) -> None:
    """Hide the controls for a presentation, or bring them back."""
    _set(workspace().changed(presenting=on))


def suppose(**levers: int | None) -> None:
    """Suppose a lab of other means on the Trade-offs page; what is not named stays."""
    _set(workspace().changed(**levers))


def stop_supposing() -> None:
    """Show the lab as it is."""
    _set(workspace().with_levers())
    _state().version += 1


# --- undo and redo ---


def can_undo() -> bool:
    """Return whether there is a step to undo."""
    return bool(_state().past)


def can_redo() -> bool:
    """Return whether an undone step can be done again."""
    return bool(_state().future)


def undo() -> None:
    """Go back one step."""
    _travel(_state().past, _state().future)


def redo() -> None:
    """Do the last undone step again."""
    _travel(_state().future, _state().past)


def _travel(source: list[Workspace], target: list[Workspace]) -> None:
    if source:
        target.append(workspace())
        _set(source.pop().with_talks_of(workspace()).with_levers_of(workspace()))
        _state().version += 1
