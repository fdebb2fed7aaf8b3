"""Keep beside: what is put next to the plan on the workbench, to be compared, one click away."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import count
from string import ascii_uppercase
from typing import Final, NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.comparison import MOST_SIDES
from replicalab.ui import state
from replicalab.ui.controls import button, page_link
from replicalab.ui.words import escaped
from replicalab.ui.workspace import LONGEST_NAME, Beside, Workspace

PAGE: Final = "pages/4_Compare.py"
_CHOICE: Final = "beside_choice"
_NAME: Final = "beside_name"


class Wanted(NamedTuple):
    """What is to be kept beside: its name, its workspace, and whether its run is to be compared."""

    name: str
    work: Workspace
    run: bool = False


def place_of(work: Workspace, *, run: bool | None = None) -> int | None:
    """Return where a workspace stands among what is beside; None where it is none of it.

    Args:
        work: with what is beside it.
        run: whether as a run; None is either.
    """
    alone, wanted = work.alone, {run} if run is not None else {True, False}
    kept = enumerate(work.beside)
    return next((at for at, each in kept if each.work == alone and each.is_run in wanted), None)


def has_room() -> bool:
    """Return whether one more can be kept beside."""
    return len(state.workspace().beside) < MOST_SIDES


def keep(wanted: Wanted) -> None:
    """Keep something beside, under a name that is free; where there is room."""
    beside = state.workspace().beside
    if has_room():
        state.set_beside((*beside, named(wanted, beside)))


def keep_and_tell(*, run: bool) -> None:
    """Keep the open plan beside, or its run, and tell so where no line shows it."""
    work = state.workspace()
    run = work.is_run or (run and work.has_run)
    if place_of(work, run=run) is None and has_room():
        keep(Wanted("", work, run))
        told = f"Kept beside as {escaped(state.workspace().beside[-1].name)}: see Compare."
    else:
        told = _help(work, run=run)
    st.toast(told, icon=":material/splitscreen_right:")


def keep_only(found: Iterable[Wanted]) -> None:
    """Keep these beside, and nothing else."""
    beside: tuple[Beside, ...] = ()
    for wanted in found:
        beside = (*beside, named(wanted, beside))
    state.set_beside(beside[:MOST_SIDES])


def named(wanted: Wanted, others: Iterable[Beside]) -> Beside:
    """Return something under a name that none of the others has."""
    taken, name = {each.name for each in others}, wanted.name
    noun = "Run" if wanted.run else "Plan"
    names = [name] if name else [f"{noun} {letter}" for letter in ascii_uppercase]
    again = (f"{name[: LONGEST_NAME - 4]} {number}" for number in count(2))
    free = (each for many in (names, again) for each in many if each not in taken)
    return Beside(name=next(free)[:LONGEST_NAME], work=wanted.work.alone, run=wanted.run)


def drop(at: int) -> None:
    """Let what stands at that place no longer be beside; the plan itself stays open."""
    beside = state.workspace().beside
    state.set_beside((*beside[:at], *beside[at + 1 :]))


def rename(at: int, name: str) -> None:
    """Give what stands at that place another name; none leaves it as it is."""
    beside = state.workspace().beside
    if name := " ".join(name.split())[:LONGEST_NAME]:
        others = (*beside[:at], *beside[at + 1 :])
        new = named(Wanted(name, beside[at].work, beside[at].run), others)
        state.set_beside((*beside[:at], new, *beside[at + 1 :]))


def load(at: int) -> None:
    """Open what stands at that place; all stays beside."""
    beside = state.workspace().beside
    state.open_workspace(beside[at].work.changed(beside=beside))


# --- on the workbench -----------------------------------------------------------------------


def draw_button() -> None:
    """Draw the button that keeps the open plan beside."""
    work = state.workspace()
    button(
        "Keep beside",
        "splitscreen_right",
        partial(keep, Wanted("", work, work.is_run)),
        disabled=not has_room() or place_of(work, run=work.is_run) is not None,
        help=_help(work, run=work.is_run),
        width="stretch",
    )


def _help(work: Workspace, *, run: bool) -> str:
    if (at := place_of(work, run=run)) is not None:
        return f"It is beside already: {escaped(work.beside[at].name)}."
    if not has_room():
        return f"{MOST_SIDES} are beside, the most; remove one."
    return "Puts this plan, in this lab, next to others, to compare them."


def draw_line(*, linked: bool = True) -> None:
    """Draw what is beside, if anything: a click loads it; what is open can be named or removed.

    Args:
        linked: whether a link to the comparison stands there too.
    """
    work = state.workspace()
    if not work.beside:
        return
    at = place_of(work)
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
    """Draw the name of what stands at that place, to be changed, and the way to remove it."""
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
