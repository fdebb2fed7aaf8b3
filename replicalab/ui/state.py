"""The session of a visitor: its workspace, the address, and undo.

The address is read at the start, and again when the browser's Back or Forward brings an older one.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

import streamlit as st

from replicalab import errors, models, planner, scenarios, server
from replicalab.assessment import assess
from replicalab.negotiation.case import Case
from replicalab.ui import own_studies
from replicalab.ui.library_page import drafting
from replicalab.ui.workspace import DEFAULT_STUDY, TrayCase, Workspace, to_query

if TYPE_CHECKING:
    from replicalab.ui.workspace import Story

HANDED: Final = "challenge_handed"  # session key: the study and lab, and the plan handed in
_STATE: Final = "state"
_MOST_STEPS: Final = 200  # limit of undo steps
_MOST_STEP_BYTES: Final = 2**20  # limit of the plans in them
_SETTLED_AFTER: Final = 1.0  # seconds until the browser shows the last address


class HistoryStep(NamedTuple):
    """A step of undo or redo; a ``whole`` one includes players, rounds and moves."""

    workspace: Workspace
    whole: bool = False


@dataclass
class Session:
    """The state of one visitor."""

    workspace: Workspace
    past: list[HistoryStep] = field(default_factory=list)
    future: list[HistoryStep] = field(default_factory=list)
    chosen: bool = False  # whether a study was chosen; until then the default one is open
    # In the keys of the plan's widgets: it changes when code sets the plan, which redraws them. It
    # starts at random, so that an old tab's typed values do not match after a restart.
    version: int = field(default_factory=partial(secrets.randbelow, 2**32))
    problems: list[str] = field(default_factory=list)
    story: Story | None = None
    tab: drafting.Tab = field(default_factory=drafting.Tab)
    notice: drafting.SaveNotice | None = None
    offered: drafting.DraftOffer | None = None
    address: dict[str, str] = field(default_factory=dict)  # the last one written
    written_at: float = 0.0
    query: tuple[Workspace, dict[str, str], bool] | None = None  # input, query, whether complete
    touched: bool = False
    packs: dict[tuple[str, str, int], scenarios.Pack] = field(default_factory=dict)
    analysed: planner.PlanAnalysis | None = None


def current() -> Session:
    session: Session = st.session_state[_STATE]
    return session


def workspace() -> Workspace:
    return current().workspace


def case() -> Case:
    return workspace().case


def plan() -> models.Protocol:
    return case().protocol(_find)


def author_pack() -> scenarios.Pack:
    """Return the study in its lab as its author wrote both."""
    return case().author_pack(_find)


def _find(scenario_id: str, difficulty: str, seed: int, own: str | None) -> scenarios.Pack:
    if own is not None:
        return own_studies.find(scenario_id, difficulty, seed, own)
    packs, key = current().packs, (scenario_id, difficulty, seed)
    if key not in packs:  # a run reads a file once
        packs[key] = own_studies.find(*key, None)
    return packs[key]


def analysis() -> planner.PlanAnalysis:
    pack, last = case().pack(_find), current().analysed
    if last is None or last.yours.plan != plan() or last.yours.pack != pack:
        last = current().analysed = planner.PlanAnalysis(assess(plan(), pack))
    return last


def begin() -> None:
    """Read the address at the start of a session, or when Back has changed it."""
    query = st.query_params.to_dict()
    own_studies.studies()  # renews their last use, so that they are not dropped
    if _STATE not in st.session_state:
        st.session_state[_STATE] = Session(Workspace())
        is_returning = not server.is_new_visitor()
        if is_returning:
            own_studies.load_saved()
        _read_query(query)
        if is_returning and not query:
            current().offered = drafting.latest_draft()
    elif query and not current().touched and query != current().address:
        if time.monotonic() - current().written_at > _SETTLED_AFTER:
            _remember()
            _read_query(query)
        else:  # the browser still shows an older address: write it again
            current().address = {}
    current().touched = False
    current().packs.clear()
    _replace_missing()


def _read_query(query: dict[str, str]) -> None:
    session, first = current(), Workspace()
    reading = drafting.read(query, session.tab)
    session.workspace, session.problems = reading.workspace, reading.problems
    # An address with only a lab or the survey chooses no study.
    other = reading.workspace.replace(survey=False, own_lab=first.case.own_lab) != first
    session.chosen = session.chosen or bool(reading.problems) or "study" in query or other
    session.address, session.written_at = query, time.monotonic()
    session.version += 1


def _replace_missing() -> None:
    try:
        case().pack(_find)
    except errors.ScenarioError as error:
        usable = [summary.scenario_id for summary in scenarios.list_scenarios()]
        if not usable:
            raise
        session = current()
        other = DEFAULT_STUDY if DEFAULT_STUDY in usable else usable[0]
        # Not a step: undo would lead back to the lost study.
        session.tab = drafting.leave_tab(session.tab, case())
        session.workspace = Workspace().replace(study=other)
        session.version += 1
        session.problems = [*str(error).splitlines(), "Another study is open instead."]


def address() -> dict[str, str]:
    """Return the query string of the screen; it names a draft if the workspace is too long."""
    query, is_whole = _query()
    if not current().chosen:
        query = {key: value for key, value in query.items() if key not in {"study", "lab"}}
    return query | drafting.names_of(current().tab, workspace(), is_whole=is_whole)


def _query() -> tuple[dict[str, str], bool]:
    session, work = current(), workspace()
    if session.query is None or session.query[0] is not work:
        try:
            query, is_whole = to_query(work), True
        except errors.LinkError:
            opened = work.case
            bare = Case(study=opened.study, own=opened.own, lab=opened.lab, seed=opened.seed)
            query, is_whole = to_query(work.replace(case=bare, tray=())), False
        session.query = work, query, is_whole
    return session.query[1:]


def is_too_long() -> bool:
    return not _query()[1]


def write_address() -> None:
    """Write the address if it has changed, and have the draft saved."""
    session, query = current(), address()
    drafting.note(session.tab, session.workspace, soon="draft" in query)
    if query != session.address:
        st.query_params.from_dict(query)
        session.address, session.written_at = query, time.monotonic()


def _set(changed: Workspace) -> None:
    current().workspace = changed
    current().touched = True
    current().notice = None


def _remember(*, whole: bool = False) -> None:
    session = current()
    steps = [*session.past, HistoryStep(session.workspace, whole)][-_MOST_STEPS:]
    plans = (step.workspace.case.plan for step in reversed(steps))
    sizes = accumulate(models.text_bytes(plan) if plan else 0 for plan in plans)
    dropped = len(steps) - sum(total <= _MOST_STEP_BYTES for total in sizes)
    session.past, session.future = steps[dropped:], []


def _step(changed: Workspace, *, whole: bool = False) -> None:
    _remember(whole=whole)
    _set(changed)


def edit(protocol: models.Protocol) -> None:
    """Set the plan; an equal plan adds no undo step."""
    if protocol != plan():
        _step(workspace().with_case(case().with_plan(protocol, _find)))


def open_workspace(target: Workspace, *, whole: bool = False) -> None:
    """Open a workspace; undo of a ``whole`` step restores a negotiation too."""
    _step(target, whole=whole)
    current().chosen = True
    current().version += 1


def open_case(target: Case, *, whole: bool = False) -> None:
    open_workspace(workspace().with_case(target), whole=whole)


def change_lab(own_lab: scenarios.LabOverrides) -> None:
    """Change the visitor's lab; an equal lab adds no undo step."""
    if own_lab != case().own_lab:
        _step(workspace().with_case(case().with_own(own_lab=own_lab)))


def change_assumptions(question: scenarios.EvidenceAssumptions) -> None:
    """Change the assumptions of the evidence; equal ones add no undo step.

    Raises ScenarioError if they do not fit the study; nothing has changed then.
    """
    new_case = case().with_own(question=question)
    new_case.pack(_find)
    if question != case().question:
        _step(workspace().with_case(new_case))


def set_tray(tray: tuple[TrayCase, ...]) -> None:
    """Set the comparison tray; an equal tray adds no undo step."""
    if tray != workspace().tray:
        _step(workspace().replace(tray=tray))


def replace_plan(protocol: models.Protocol | None) -> None:
    """Open another plan: a suggestion, or the reference for None."""
    open_case(case().with_plan(protocol, _find))


def open_study(
    scenario_id: str, own: str | None = None, lab: scenarios.Difficulty | None = None
) -> None:
    """Open a study with its reference protocol, in ``lab`` or else in the open one."""
    opened = case().with_study(scenario_id, own)
    if lab is not None:
        opened = opened.replace(lab=lab, seed=0)
    open_workspace(workspace().with_case(opened).replace(challenge=False))


def open_own_study(text: str, study: scenarios.Study) -> str:
    """Keep a visitor's study and open it, or return the problem; an open study keeps its plan."""
    if refused := own_studies.keep(text, study):
        return refused
    own_key = own_studies.key_of(study.scenario_id)
    if case().own != own_key:
        open_study(study.scenario_id, own_key)
        return ""
    work = workspace().with_case(case().with_own())
    try:
        work.case.pack(_find)
    except errors.ScenarioError as error:  # the assumptions do not fit the changed study
        current().problems = [f"{error}; the study's own assumptions are used."]
        work = work.replace(question=scenarios.EvidenceAssumptions())
    open_workspace(work)
    return ""


def undo() -> None:
    _restore(current().past, current().future)


def redo() -> None:
    _restore(current().future, current().past)


def _restore(source: list[HistoryStep], target: list[HistoryStep]) -> None:
    if source:
        step, now = source.pop(), workspace()
        target.append(HistoryStep(now, step.whole))
        _set(step.workspace if step.whole else step.workspace.stepped_from(now))
        current().version += 1


def next_case(steps: list[HistoryStep]) -> Case | None:
    """Return the case that undo or redo restores from its steps; None if in another study."""
    now, other = case(), steps[-1].workspace.case if steps else None
    is_same = other is not None and (other.study, other.own) == (now.study, now.own)
    return other if is_same else None


def is_hidden() -> bool:
    """Return whether checks and best plan are hidden until a plan is handed in."""
    where, _ = st.session_state.get(HANDED, (None, None))
    return workspace().challenge and where != case().where


def leave_challenge() -> None:
    update(challenge=False)


def update(**changes: object) -> None:
    """Change fields of the workspace or its case; not a step of undo."""
    _set(workspace().replace(**changes))


def open_story() -> Story | None:
    """Return the story that was opened last, if its case is still open, whatever the lab."""
    story = current().story
    if story is None:
        return None
    opened = story.workspace
    return story if case().replace(own_lab=opened.case.own_lab) == opened.case else None
