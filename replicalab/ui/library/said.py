"""What the library's page says of the last act, and an undo of it where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st

from replicalab.errors import ReplicaLabError
from replicalab.ui.controls import button
from replicalab.ui.words import as_list, escaped

_SAID: Final = "library_said"


class _Said(NamedTuple):
    text: str
    is_problem: bool
    undo: Callable[[], None] | None


def say(text: str, *, is_problem: bool = False, undo: Callable[[], None] | None = None) -> None:
    """Have something said on the page's next run."""
    st.session_state.setdefault(_SAID, []).append(_Said(text, is_problem, undo))


def attempt(act: Callable[[], object]) -> bool:
    """Do something; where it cannot be done, have the page say why, and return False."""
    try:
        act()
    except ReplicaLabError as error:
        say(str(error), is_problem=True)
        return False
    return True


def draw_said() -> None:
    """Draw what was said since the last run."""
    for number, said in enumerate(st.session_state.pop(_SAID, [])):
        if said.is_problem:
            st.error(as_list(said.text), icon=":material/error:")
        elif said.undo is None:
            st.success(escaped(said.text), icon=":material/check_circle:")
        else:
            with st.container(horizontal=True, vertical_alignment="center", key=f"said_{number}"):
                st.markdown(f":material/check_circle: {escaped(said.text)}", width="content")
                button("Undo", "undo", said.undo)
