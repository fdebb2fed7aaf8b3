"""What the library keeps, put beside: a plan, a lab around the open plan, or a run."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.case import read_case
from replicalab.characters import on_one_line
from replicalab.documents import DOCUMENTS, KEPT
from replicalab.errors import LibraryContentError, LibraryError, ReplicaLabError, TraceError
from replicalab.library import Entry, EntryKind
from replicalab.negotiation import load, replay
from replicalab.scenarios import read_lab
from replicalab.ui import notices, own_studies, state, tray
from replicalab.ui.controls import button
from replicalab.ui.library.cases import case_here, case_of_run
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.negotiation.table import with_moves
from replicalab.ui.tray import TrayCandidate
from replicalab.ui.words import escaped

_PLACE: Final = "compare_library"
_CHOSEN: Final = "compare_chosen"


def draw() -> None:
    """Draw the way to put something beside that is kept; the list once it is unfolded."""
    place = st.popover(
        "From the library", icon=":material/bookmarks:", key=_PLACE, on_change="rerun"
    )
    if place.open:
        with place:
            _draw_list()


def _draw_list() -> None:
    try:
        kept = shelf().entries(owner())
        found = {e.id: e for e in kept if DOCUMENTS[KEPT[e.kind]].is_compared}
    except LibraryError as error:
        st.error(
            f"The library cannot be used. {escaped(str(error))}.", icon=":material/folder_off:"
        )
        return
    if not found:
        st.caption("Nothing is kept yet: Keep, above on every page, keeps the plan that you have.")
        return
    st.selectbox(
        "A plan, a lab or a run",
        list(found),
        format_func=lambda key: f"{on_one_line(found[key].name)} ({found[key].kind})",
        key=_CHOSEN,
    )
    button("Put it beside", "splitscreen_right", lambda: _put(found), disabled=not tray.has_room())


def _put(found: dict[str, Entry]) -> None:
    entry = found[st.session_state[_CHOSEN]]
    try:
        wanted = side_of(entry.kind, entry.name, shelf().read(owner(), entry.id).content)
    except ReplicaLabError as error:
        problem = str(error).removesuffix(".")
        notices.leave_problem(f"Not put beside: {problem}.", icon="block")
        return
    tray.keep(wanted)


def side_of(kind: EntryKind, name: str, content: str) -> TrayCandidate:
    """Return what is kept as something to compare.

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
    if again.differences:
        raise TraceError(again.differences[0].message.removesuffix("."))
    if case := with_moves(again.negotiation, base):
        return TrayCandidate(name, case, run=True)
    plan = again.negotiation.final_plan
    last = base.with_plan(plan.plan if plan else None, own_studies.find)
    return TrayCandidate(f"{name}: its last plan", last)
