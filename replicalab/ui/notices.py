"""Notices: what is said of the last act, left by the act and shown by the run that follows it."""

from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st

from replicalab.errors import ReplicaLabError
from replicalab.ui.controls import button
from replicalab.ui.words import as_list, escaped

_PAGE: Final = "page"  # The place of a page that has one for all its notices


class _Notice(NamedTuple):
    text: str
    icon: str
    is_problem: bool
    undo: Callable[[], None] | None


def leave_problem(text: str, place: str = _PAGE, icon: str = "error") -> None:
    """Leave what is wrong, in a sentence or a list; an empty text leaves nothing."""
    if text:
        _at(place).append(_Notice(text, icon, is_problem=True, undo=None))


def leave(text: str, place: str = _PAGE, undo: Callable[[], None] | None = None) -> None:
    """Leave what was done, and how it is undone where it can be."""
    _at(place).append(_Notice(text, "check_circle", is_problem=False, undo=undo))


def clear(place: str) -> None:
    """Take back what was left for a place."""
    _at(place).clear()


def attempt(act: Callable[[], object], place: str = _PAGE) -> bool:
    """Do something; where it cannot be done, leave why, and return False."""
    try:
        act()
    except ReplicaLabError as error:
        leave_problem(str(error), place)
        return False
    return True


def draw(place: str = _PAGE, *, stays: bool = False) -> None:
    """Draw what was left for a place, once; what ``stays`` in every run until it is cleared."""
    for number, notice in enumerate(notices := _at(place)):
        icon = f":material/{notice.icon}:"
        if notice.is_problem:
            st.error(as_list(notice.text), icon=icon)
        elif notice.undo is None:
            st.success(escaped(notice.text), icon=icon)
        else:
            with st.container(horizontal=True, vertical_alignment="center", key=f"said_{number}"):
                st.markdown(f"{icon} {escaped(notice.text)}", width="content")
                button("Undo", "undo", notice.undo)
    if not stays:
        notices.clear()


def _at(place: str) -> list[_Notice]:
    """Return what was left for a place and is not shown yet."""
    notices: dict[str, list[_Notice]] = st.session_state.setdefault("notices", {})
    return notices.setdefault(place, [])
