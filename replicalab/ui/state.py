"""What one visitor has before them: a single record in the session, written into the address.

The address is read when a session starts. Later it is ours to write, and it is read again only
when the browser's Back or Forward brings an older one back.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import streamlit as st

from replicalab import server
from replicalab.assessment import assess
from replicalab.case import Case
from replicalab.errors import LinkError, ScenarioError
from replicalab.models import Protocol, text_bytes
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    LabOverrides,
    Pack,
    Study,
    list_scenarios,
)
from replicalab.ui import own_studies
from replicalab.ui.address import to_query
from replicalab.ui.library import drafting
from replicalab.ui.library.drafting import DraftOffer, Tab
from replicalab.ui.workspace import DEFAULT_STUDY, TrayCase, Workspace

if TYPE_CHECKING:
    from replicalab.ui.library.keeping import SaveNotice
    from replicalab.ui.stories import Story

_STATE: Final = "state"
_REMEMBERED: Final = 200
# What can be undone: so many steps, and so many bytes of plans, or of a study's files.
_REMEMBERED_BYTES: Final = 2**20
_Step = TypeVar("_Step")
# Seconds after which the browser surely shows the address that we wrote last.
_SETTLED_AFTER: Final = 1.0


class HistoryStep(NamedTuple):
    """What undo or redo brings back; where it is ``whole``, its players, rounds and moves too."""

    workspace: Workspace
    whole: bool = False


@dataclass
class Session:
    """What one visitor has before them.

    Attributes:
        past, future: what undo and redo bring back, the next one last.
        chosen: whether a study was chosen; the default one is open before.
        version: changes whenever the plan changes from outside its editor; the editor's widgets
            carry it in their keys, so that new ones show the plan and not what was typed before. It
            starts anywhere: a tab that outlived its server still holds what was typed there.
        problems: what could not be read of the address, until it is dismissed.
        notice: what came of keeping something last, until the workspace changes.
        offered: the last draft, for whoever comes without an address, until it is chosen or not.
        address: the one that we wrote last, or that the visitor came with.
        worked_out: the workspace whose address was worked out last, that address, and whether it
            carries all.
        written_at: when; in seconds of `time.monotonic`.
        touched: whether this run comes from a change of the workspace.
        shelved: the studies on the shelf that this run has asked for, each in its lab.
        analysed: what `analysis` answered last; the next run does not judge the same plan again.
    """

    workspace: Workspace
    past: list[HistoryStep] = field(default_factory=list)
    future: list[HistoryStep] = field(default_factory=list)
    chosen: bool = False
    version: int = field(default_factory=partial(secrets.randbelow, 2**32))
    problems: list[str] = field(default_factory=list)
    story: Story | None = None
    tab: Tab = field(default_factory=Tab)
    notice: SaveNotice | None = None
    offered: DraftOffer | None = None
    address: dict[str, str] = field(default_factory=dict)
    worked_out: tuple[Workspace, dict[str, str], bool] | None = None
    written_at: float = 0.0
    touched: bool = False
    shelved: dict[tuple[str, str, int], Pack] = field(default_factory=dict)
    analysed: PlanAnalysis | None = None


def current() -> Session:
    """Return what this visitor has before them."""
    found: Session = st.session_state[_STATE]
    return found


def workspace() -> Workspace:
    """Return the workspace."""
    return current().workspace


def case() -> Case:
    """Return what is open."""
    return workspace().case


def is_chosen() -> bool:
    """Return whether a study was chosen. The default one is open before."""
    return current().chosen


def plan() -> Protocol:
    """Return the plan that is being edited."""
    return case().protocol(_find)


def written() -> Pack:
    """Return the study in its lab as its author wrote both."""
    return case().written(_find)


def _find(scenario_id: str, difficulty: str, seed: int, own: str | None) -> Pack:
    """Return a study in its lab; a run looks for one on the shelf, which is files, once.

    Raises:
        ScenarioError: it is not there.
    """
    if own is not None:
        return own_studies.find(scenario_id, difficulty, seed, own)
    shelved, where = current().shelved, (scenario_id, difficulty, seed)
    if where not in shelved:
        shelved[where] = own_studies.find(*where, None)
    return shelved[where]


def analysis() -> PlanAnalysis:
    """Return the plan in its lab, and what may be done about it."""
    pack, last = case().pack(_find), current().analysed
    if last is None or last.yours.plan != plan() or last.yours.pack != pack:
        last = current().analysed = PlanAnalysis(assess(plan(), pack))
    return last


# --- the address ----------------------------------------------------------------------------


def begin() -> None:
    """Read the address at the start of a session, or when Back has changed it.

    Too soon after an edit the browser may still show an older one: ours is written again instead.
    """
    query = st.query_params.to_dict()
    own_studies.kept()  # which are in use as long as their owner looks at a page
    if _STATE not in st.session_state:
        st.session_state[_STATE] = Session(Workspace())
        may_have_kept = not server.is_new_visitor()
        if may_have_kept:
            own_studies.restock()
        _adopt(query)
        if may_have_kept and not query:
            current().offered = drafting.latest()
    elif query and not current().touched and query != current().address:
        if time.monotonic() - current().written_at > _SETTLED_AFTER:
            _remember()
            _adopt(query)
        else:
            current().address = {}
    current().touched = False
    current().shelved.clear()
    _leave_a_lost_study()


def _adopt(query: dict[str, str]) -> None:
    found = current()
    reading = drafting.read(query, found.tab)
    found.workspace, found.problems = reading.workspace, reading.problems
    found.chosen = found.chosen or bool(reading.problems) or _chooses(query, found.workspace)
    found.address = query
    found.written_at = time.monotonic()
    found.version += 1


def _chooses(query: dict[str, str], found: Workspace) -> bool:
    """Return whether an address says more than a lab and a view of the front door."""
    first = Workspace()
    return "study" in query or found.changed(survey=False, own_lab=first.case.own_lab) != first


def _leave_a_lost_study() -> None:
    """Open another study when the open one is gone or its file is unreadable, and say so."""
    try:
        case().pack(_find)
    except ScenarioError as error:
        usable = [summary.scenario_id for summary in list_scenarios()]
        if not usable:
            raise
        found, lost = current(), case()
        other = DEFAULT_STUDY if DEFAULT_STUDY in usable else usable[0]
        # No step: undo would lead back to the lost study.
        found.tab = drafting.left(found.tab, lost)
        found.workspace = Workspace().changed(study=other)
        found.version += 1
        found.problems = [*str(error).splitlines(), "Another study is open instead."]


def address() -> dict[str, str]:
    """Return the query string that opens what is on the screen.

    A workspace that is too long for it is in the tab's draft, which the address then names.
    """
    query, is_whole = _worked_out()
    if not is_chosen():
        query = {key: value for key, value in query.items() if key not in {"study", "lab"}}
    return query | drafting.named(current().tab, workspace(), is_whole=is_whole)


def _worked_out() -> tuple[dict[str, str], bool]:
    found, work = current(), workspace()
    if found.worked_out is None or found.worked_out[0] is not work:
        try:
            query, is_whole = to_query(work), True
        except LinkError:
            query, is_whole = to_query(drafting.without_contents(work)), False
        found.worked_out = work, query, is_whole
    return found.worked_out[1:]


def is_too_long() -> bool:
    """Return whether the workspace is too long for a link."""
    return not _worked_out()[1]


def write_address() -> None:
    """Write that into the address, if it is not there already, and have the draft saved."""
    found, query = current(), address()
    drafting.note(found.tab, found.workspace, soon="draft" in query)
    if query != found.address:
        st.query_params.from_dict(query)
        found.address, found.written_at = query, time.monotonic()


# --- steps that can be undone ---------------------------------------------------------------


def _set(changed: Workspace) -> None:
    current().workspace = changed
    current().touched = True
    current().notice = None


def _remember(*, whole: bool = False) -> None:
    found = current()
    found.past = latest([*found.past, HistoryStep(found.workspace, whole)], _REMEMBERED, _size)
    found.future = []


def latest(steps: list[_Step], most: int, size: Callable[[_Step], int]) -> list[_Step]:
    """Return the latest steps that undo keeps: at most so many, and a mebibyte by their size.

    The next one that undo brings back is the last.
    """
    steps = steps[-most:]
    sizes = accumulate(size(step) for step in reversed(steps))
    return steps[len(steps) - sum(total <= _REMEMBERED_BYTES for total in sizes) :]


def _size(step: HistoryStep) -> int:
    plan = step.workspace.case.plan
    return text_bytes(plan) if plan else 0


def edit(protocol: Protocol) -> None:
    """Take the plan that the editor's widgets now show; the same plan is no step."""
    if protocol != plan():
        _remember()
        _set(workspace().with_case(case().with_plan(protocol, _find)))


def open_workspace(found: Workspace, *, whole: bool = False) -> None:
    """Open a workspace; undo brings back a negotiation too where ``whole`` is set."""
    _remember(whole=whole)
    _set(found)
    current().chosen = True
    current().version += 1


def open_case(found: Case, *, whole: bool = False) -> None:
    """Open a case, at the first round of its negotiation; all else that is shown stays."""
    open_workspace(workspace().with_case(found), whole=whole)


def suppose(own_lab: LabOverrides) -> None:
    """Say something else of the lab; the same is no step."""
    if own_lab != case().own_lab:
        _remember()
        _set(workspace().with_case(case().with_own(own_lab=own_lab)))


def ask(question: EvidenceAssumptions) -> None:
    """Let the evidence assume something else; the same is no step.

    Raises:
        ScenarioError: the study cannot be asked that; nothing has changed.
    """
    asked = case().with_own(question=question)
    asked.pack(_find)
    if question != case().question:
        _remember()
        _set(workspace().with_case(asked))


def set_tray(tray: tuple[TrayCase, ...]) -> None:
    """Let this be the comparison tray; the same is no step."""
    if tray != workspace().tray:
        _remember()
        _set(workspace().changed(tray=tray))


def replace_plan(protocol: Protocol | None) -> None:
    """Take a plan from elsewhere (a suggestion, the reference for None) and show it."""
    open_case(case().with_plan(protocol, _find))


def open_study(scenario_id: str, own: str | None = None, lab: Difficulty | None = None) -> None:
    """Open a study with its reference protocol, in ``lab`` as written or else in the same lab."""
    opened = case().with_study(scenario_id, own)
    if lab is not None:
        opened = opened.changed(lab=lab, seed=0)
    open_workspace(workspace().with_case(opened).changed(challenge=False))


def bring(text: str, study: Study) -> str:
    """Keep a visitor's study and open it; return why not, and change nothing.

    The plan and the lab of one that is open stay.
    """
    if refused := own_studies.keep(text, study):
        return refused
    own = own_studies.key_of(study.scenario_id)
    if case().own == own:
        open_workspace(_askable(workspace().with_case(case().with_own())))
    else:
        open_study(study.scenario_id, own)
    return ""


def _askable(asked: Workspace) -> Workspace:
    """Return a workspace without the questions that its study cannot be asked."""
    try:
        asked.case.pack(_find)
    except ScenarioError as error:
        current().problems = [f"{error}; the study's own question is asked instead."]
        return asked.changed(question=EvidenceAssumptions())
    return asked


def undo() -> None:
    """Go back one step."""
    _travel(current().past, current().future)


def redo() -> None:
    """Do the last undone step again."""
    _travel(current().future, current().past)


def _travel(source: list[HistoryStep], target: list[HistoryStep]) -> None:
    if source:
        step, now = source.pop(), workspace()
        target.append(HistoryStep(now, step.whole))
        _set(step.workspace if step.whole else step.workspace.stepped_from(now))
        current().version += 1


def last_step() -> Case | None:
    """Return the case that undo brings back; None where that would be another study."""
    past, now = current().past, case()
    before = past[-1].workspace.case if past else None
    is_same = before is not None and (before.study, before.own) == (now.study, now.own)
    return before if is_same else None


def next_step() -> bool:
    """Return whether redo stays in the open study."""
    future, now = current().future, case()
    after = future[-1].workspace.case if future else None
    return after is not None and (after.study, after.own) == (now.study, now.own)


def brings_back_a_run() -> bool:
    """Return whether undo brings back a negotiation that gave way to another."""
    last = next(reversed(current().past), None)
    return last is not None and (last.whole or bool(last.workspace.case.moves and not case().moves))


# --- no steps -------------------------------------------------------------------------------


def show(**changes: object) -> None:
    """Change what is no step to undo: players, rounds, presentation."""
    _set(workspace().changed(**changes))


def open_story() -> Story | None:
    """Return the story that was opened last, while what it is about is still on the screen.

    The round, the presentation and what is said of the lab may change: it is the same story.
    """
    story = current().story
    if story is None:
        return None
    opened = story.workspace
    return story if case().changed(own_lab=opened.case.own_lab) == opened.case else None
