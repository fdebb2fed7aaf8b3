"""Messages about the last action: left by the action, drawn once in the next run."""

from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st

from replicalab.errors import ReplicaLabError
from replicalab.ui.controls import as_list, button, escape

_PAGE: Final = "page"  # the place of notices that belong to the whole page


class _Notice(NamedTuple):
    text: str
    icon: str
    is_problem: bool
    undo: Callable[[], None] | None


def leave_problem(text: str, place: str = _PAGE, icon: str = "error") -> None:
    """Leave a problem, as a sentence or a list; an empty text leaves nothing."""
    if text:
        _at(place).append(_Notice(text, icon, is_problem=True, undo=None))


def leave(text: str, place: str = _PAGE, undo: Callable[[], None] | None = None) -> None:
    """Leave a success, with a function that undoes it."""
    _at(place).append(_Notice(text, "check_circle", is_problem=False, undo=undo))


def clear(place: str) -> None:
    _at(place).clear()


def attempt(act: Callable[[], object], place: str = _PAGE) -> bool:
    """Call a function; if it fails, leave why and return False."""
    try:
        act()
    except ReplicaLabError as error:
        leave_problem(str(error), place)
        return False
    return True


def draw(place: str = _PAGE, *, stays: bool = False) -> None:
    """Draw the notices of a place once, or in every run if ``stays``."""
    for number, notice in enumerate(notices := _at(place)):
        icon = f":material/{notice.icon}:"
        if notice.is_problem:
            st.error(as_list(notice.text), icon=icon)
        elif notice.undo is None:
            st.success(escape(notice.text), icon=icon)
        else:
            with st.container(horizontal=True, vertical_alignment="center", key=f"said_{number}"):
                st.markdown(f"{icon} {escape(notice.text)}", width="content")
                button("Undo", "undo", notice.undo)
    if not stays:
        notices.clear()


def _at(place: str) -> list[_Notice]:
    notices: dict[str, list[_Notice]] = st.session_state.setdefault("notices", {})
    return notices.setdefault(place, [])
