"""The comparison tray: cases next to the open one."""

from collections.abc import Iterable
from functools import partial
from itertools import count
from string import ascii_uppercase
from typing import Final, NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.limits import LONGEST_NAME, MOST_SIDES
from replicalab.negotiation.case import Case
from replicalab.ui import state
from replicalab.ui.controls import button, choice_callback, escape, page_link
from replicalab.ui.workspace import TrayCase

COMPARE_PAGE: Final = "pages/4_Compare.py"
_CHOICE: Final = "tray_choice"


class TrayCandidate(NamedTuple):
    """A case for the tray, under a default name if empty; ``run`` means its negotiation."""

    name: str
    case: Case
    run: bool = False


def place_of(case: Case, *, run: bool | None = None) -> int | None:
    """Return the index of a case in the tray, as a run or not; None if missing."""
    for number, item in enumerate(state.workspace().tray):
        if item.case == case and run in {None, item.is_run}:
            return number
    return None


def has_room() -> bool:
    return len(state.workspace().tray) < MOST_SIDES


def keep(candidate: TrayCandidate) -> None:
    """Add a case under a free name, if there is room."""
    tray = state.workspace().tray
    if has_room():
        state.set_tray((*tray, name_case(candidate, tray)))


def keep_and_notify(*, run: bool) -> None:
    case = state.case()
    run = case.is_run or (run and case.has_run)
    if (at := place_of(case, run=run)) is not None:
        notice = f"Already in the comparison: {escape(state.workspace().tray[at].name)}."
    elif not has_room():
        notice = f"The comparison is full with {MOST_SIDES} cases; remove one."
    else:
        keep(TrayCandidate("", case, run))
        notice = f"Added as {escape(state.workspace().tray[-1].name)}: see Compare."
    st.toast(notice, icon=":material/compare_arrows:")


def keep_only(candidates: Iterable[TrayCandidate]) -> None:
    tray = list[TrayCase]()
    for candidate in candidates:
        tray.append(name_case(candidate, tray))
    state.set_tray(tuple(tray[:MOST_SIDES]))


def name_case(candidate: TrayCandidate, others: Iterable[TrayCase]) -> TrayCase:
    taken, name = {other.name for other in others}, candidate.name
    noun = "Run" if candidate.run else "Plan"
    names = [name] if name else [f"{noun} {letter}" for letter in ascii_uppercase]
    again = (f"{name[: LONGEST_NAME - 4]} {number}" for number in count(2))
    free = (text for many in (names, again) for text in many if text not in taken)
    return TrayCase(name=next(free)[:LONGEST_NAME], case=candidate.case, run=candidate.run)


def _replace(at: int, *new: TrayCandidate) -> None:
    tray = state.workspace().tray
    others = *tray[:at], *tray[at + 1 :]
    state.set_tray((*others[:at], *(name_case(one, others) for one in new), *others[at:]))


def draw_line(*, linked: bool = True) -> None:
    """Draw the tray, if any: a click opens a case, the open one can be renamed."""
    work = state.workspace()
    if not work.tray:
        return
    at = place_of(work.case)
    st.session_state[_CHOICE] = at
    with st.container(horizontal=True, vertical_alignment="center", key="tray"):
        st.segmented_control(
            "Comparison",
            range(len(work.tray)),
            format_func=lambda place: escape(work.tray[place].name),
            key=_CHOICE,
            on_change=choice_callback(_CHOICE, [None, *range(len(work.tray))], _open_chosen),
            label_visibility="collapsed",
        )
        if at is not None:
            _draw_name(at, work.tray[at])
        if linked:
            page_link(COMPARE_PAGE, "Compare", "compare_arrows")


def _open_chosen() -> None:
    if (at := st.session_state[_CHOICE]) is not None:
        work = state.workspace()
        state.open_workspace(work.reset_to(work.tray[at].case))


def _draw_name(at: int, case: TrayCase) -> None:
    # With the same key the field would show the typed name, not the stored one.
    key = f"tray_name_{at}_{crc32(case.name.encode('utf-8', 'surrogatepass')):08x}"

    def rename() -> None:
        if name := " ".join(st.session_state[key].split())[:LONGEST_NAME]:
            _replace(at, TrayCandidate(name, case.case, case.run))

    st.text_input("Rename", case.name, max_chars=LONGEST_NAME, key=key, on_change=rename, width=240)
    button("Remove it", "close", partial(_replace, at), key=f"tray_drop_{at}")
