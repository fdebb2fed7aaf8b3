"""What is compared: the tray's cases, judged and negotiated, and what the library has for it."""

from typing import Final, NamedTuple

import streamlit as st

from replicalab.case import read_case
from replicalab.characters import on_one_line
from replicalab.comparison import FEWEST_SIDES, Side, negotiated, recorded, side_of_run
from replicalab.documents import DOCUMENTS, KEPT
from replicalab.errors import LibraryContentError, LibraryError, ReplicaLabError
from replicalab.library import Entry, EntryKind
from replicalab.negotiation import load, replay
from replicalab.scenarios import read_lab
from replicalab.ui import notices, own_studies, state, tray
from replicalab.ui.controls import button
from replicalab.ui.library.drafting import case_here, case_of_run
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.negotiation.table import with_moves
from replicalab.ui.tray import TrayCandidate
from replicalab.ui.words import escaped
from replicalab.ui.workspace import TrayCase

_CHOSEN: Final = "compare_chosen"


class Found(NamedTuple):
    """What can be compared, its cases in the same order, and why the rest cannot be."""

    sides: list[Side]
    kept: list[TrayCase]
    problems: list[str]


def found() -> Found:
    """Return what is compared: the tray, and the open plan too where the tray has a single case."""
    work = state.workspace()
    cases, alone = list(work.tray), work.case.seated()
    if len(cases) < FEWEST_SIDES and cases and tray.place_of(alone, run=False) is None:
        cases.append(tray.named(TrayCandidate("On the workbench", alone), cases))
    sides, able, problems = [], [], []
    for item in cases:
        try:
            sides.append(_side(item))
            able.append(item)
        except ReplicaLabError as error:
            problems.append(f"{item.name}: {error}")
    return Found(sides, able, problems)


def _side(kept: TrayCase) -> Side:
    """Return a case of the tray as a side."""
    case = kept.case if kept.is_run else kept.case.changed(moves=())
    plan = case.assessed(own_studies.find)
    played = recorded(plan, case.recording) if case.recording else negotiated(plan, case)
    if kept.is_run and played:
        return side_of_run(kept.name, played)
    return Side(kept.name, plan, played)


# --- from the library -------------------------------------------------------------------------


def draw_library() -> None:
    """Draw the way to put what is kept into the tray; the list once it is unfolded."""
    icon, key = ":material/bookmarks:", "compare_library"
    place = st.popover("From the library", icon=icon, key=key, on_change="rerun")
    if place.open:
        with place:
            _draw_list()


def _draw_list() -> None:
    try:
        saved = shelf().entries(owner())
        entries = {e.id: e for e in saved if DOCUMENTS[KEPT[e.kind]].is_compared}
    except LibraryError as error:
        st.error(
            f"The library cannot be used. {escaped(str(error))}.", icon=":material/folder_off:"
        )
        return
    if not entries:
        st.caption("Nothing is saved yet: Save, above on every page, saves the plan that you have.")
        return
    st.selectbox(
        "A plan, a lab or a run",
        list(entries),
        format_func=lambda key: f"{on_one_line(entries[key].name)} ({entries[key].kind})",
        key=_CHOSEN,
    )
    full = not tray.has_room()
    button("Add it", "compare_arrows", lambda: _put(entries), disabled=full)


def _put(entries: dict[str, Entry]) -> None:
    entry = entries[st.session_state[_CHOSEN]]
    try:
        tray.keep(side_of(entry.kind, entry.name, shelf().read(owner(), entry.id).content))
    except ReplicaLabError as error:
        problem = str(error).removesuffix(".")
        notices.leave_problem(f"Not added: {problem}.", icon="block")


def side_of(kind: EntryKind, name: str, content: str) -> TrayCandidate:
    """Return what is kept as something to compare: a plan, a lab around the open plan, or a run.

    Raises:
        ReplicaLabError: it cannot be compared.
    """
    match kind:
        case EntryKind.PLAN:
            return TrayCandidate(name, case_here(read_case(content)))
        case EntryKind.LAB:
            return TrayCandidate(name, state.case().with_own(own_lab=read_lab(content.encode())))
        case EntryKind.RUN:
            return _run(name, content)
    raise LibraryContentError(f"'{name}' is a {kind}: only a plan, a lab or a run is compared")


def _run(name: str, content: str) -> TrayCandidate:
    """Return a run; of one that no rule plays again, such as a model's, its last plan."""
    transcript = load(content)
    base = case_of_run(transcript.setup, state.case())
    again = replay(transcript, base.pack(own_studies.find))
    if case := with_moves(again, base):
        return TrayCandidate(name, case, run=True)
    plan = again.final_plan
    last = base.with_plan(plan.plan if plan else None, own_studies.find)
    return TrayCandidate(f"{name}: its last plan", last)
