"""The comparison tray: cases that were kept beside the open one, one click away."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import count
from string import ascii_uppercase
from typing import Final, NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.case import MOST_SIDES, Case
from replicalab.ui import state
from replicalab.ui.controls import button, page_link
from replicalab.ui.words import escaped
from replicalab.ui.workspace import LONGEST_NAME, Beside, Workspace

PAGE: Final = "pages/4_Compare.py"
_CHOICE: Final = "beside_choice"
_NAME: Final = "beside_name"


class Wanted(NamedTuple):
    """A case for the tray: its name, the case, and whether its run is to be compared."""

    name: str
    case: Case
    run: bool = False


def place_of(case: Case, *, run: bool | None = None) -> int | None:
    """Return where a case stands in the tray; None where it does not.

    Args:
        case: what is looked for.
        run: whether as a run; None is either.
    """
    wanted = {run} if run is not None else {True, False}
    kept = enumerate(state.workspace().beside)
    return next((n for n, each in kept if each.case == case and each.is_run in wanted), None)


def has_room() -> bool:
    """Return whether the tray has room for one more."""
    return len(state.workspace().beside) < MOST_SIDES


def keep(wanted: Wanted) -> None:
    """Put a case into the tray, under a free name; where there is room."""
    beside = state.workspace().beside
    if has_room():
        state.set_beside((*beside, named(wanted, beside)))


def keep_and_tell(*, run: bool) -> None:
    """Put the open plan, or its run, into the tray, and say so where no line shows it."""
    work = state.workspace()
    run = work.case.is_run or (run and work.case.has_run)
    if place_of(work.case, run=run) is None and has_room():
        keep(Wanted("", work.case, run))
        told = f"Kept beside as {escaped(state.workspace().beside[-1].name)}: see Compare."
    else:
        told = _help(work, run=run)
    st.toast(told, icon=":material/splitscreen_right:")


def keep_only(found: Iterable[Wanted]) -> None:
    """Put these into the tray in place of what is there."""
    beside: tuple[Beside, ...] = ()
    for wanted in found:
        beside = (*beside, named(wanted, beside))
    state.set_beside(beside[:MOST_SIDES])


def named(wanted: Wanted, others: Iterable[Beside]) -> Beside:
    """Return a case under a name that none of the others has."""
    taken, name = {each.name for each in others}, wanted.name
    noun = "Run" if wanted.run else "Plan"
    names = [name] if name else [f"{noun} {letter}" for letter in ascii_uppercase]
    again = (f"{name[: LONGEST_NAME - 4]} {number}" for number in count(2))
    free = (each for many in (names, again) for each in many if each not in taken)
    return Beside(name=next(free)[:LONGEST_NAME], case=wanted.case, run=wanted.run)


def drop(at: int) -> None:
    """Remove one case from the tray; what is open stays open."""
    beside = state.workspace().beside
    state.set_beside((*beside[:at], *beside[at + 1 :]))


def rename(at: int, name: str) -> None:
    """Give a case in the tray another name; an empty one leaves it as it is."""
    beside = state.workspace().beside
    if name := " ".join(name.split())[:LONGEST_NAME]:
        others = (*beside[:at], *beside[at + 1 :])
        new = named(Wanted(name, beside[at].case, beside[at].run), others)
        state.set_beside((*beside[:at], new, *beside[at + 1 :]))


def load(at: int) -> None:
    """Open a case of the tray, which stays as it is."""
    beside = state.workspace().beside
    state.open_workspace(Workspace(case=beside[at].case, beside=beside))


# --- on the workbench -----------------------------------------------------------------------


def draw_button() -> None:
    """Draw the button that puts the open plan into the tray."""
    work = state.workspace()
    button(
        "Keep beside",
        "splitscreen_right",
        partial(keep, Wanted("", work.case, work.case.is_run)),
        disabled=not has_room() or place_of(work.case, run=work.case.is_run) is not None,
        help=_help(work, run=work.case.is_run),
        width="stretch",
    )


def _help(work: Workspace, *, run: bool) -> str:
    if (at := place_of(work.case, run=run)) is not None:
        return f"It is beside already: {escaped(work.beside[at].name)}."
    if not has_room():
        return f"{MOST_SIDES} are beside, the most; remove one."
    return "Puts this plan, in this lab, next to others, to compare them."


def draw_line(*, linked: bool = True) -> None:
    """Draw the tray, if anything is in it: a click opens a case; the open one has its name there.

    Args:
        linked: whether a link to the comparison stands there too.
    """
    work = state.workspace()
    if not work.beside:
        return
    at = place_of(work.case)
    st.session_state[_CHOICE] = at
    with st.container(horizontal=True, vertical_alignment="center", key="beside"):
        st.segmented_control(
            "Beside",
            range(len(work.beside)),
            format_func=lambda place: escaped(work.beside[place].name),
            key=_CHOICE,
            on_change=_load,
            label_visibility="collapsed",
        )
        if at is not None:
            draw_name(at)
        if linked:
            page_link(PAGE, "Compare", "compare_arrows")


def draw_name(at: int) -> None:
    """Draw the name of a case in the tray, to be changed, and the way to remove it."""
    name = state.workspace().beside[at].name
    key = f"{_NAME}_{at}_{crc32(name.encode('utf-8', 'surrogatepass')):08x}"
    st.text_input(
        "Name",
        name,
        max_chars=LONGEST_NAME,
        key=key,
        on_change=lambda: rename(at, st.session_state[key]),
        label_visibility="collapsed",
        width=180,
    )
    button("Remove it", "close", partial(drop, at), key=f"beside_drop_{at}")


def _load() -> None:
    if (at := st.session_state[_CHOICE]) is not None:
        load(at)
