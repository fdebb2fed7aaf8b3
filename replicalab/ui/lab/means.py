"""The means of the lab beside all studies: a field each, empty where every study has its own."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.lexicon import amount_text
from replicalab.scenarios import MOST
from replicalab.text.lab import MEANS
from replicalab.ui import state
from replicalab.ui.lab.fields import say
from replicalab.ui.words import escaped

_FIELDS: Final = ("budget", "days", "staff")


def draw_said_means() -> list[str]:
    """Draw what is said of budget, days and staff; return what is wrong with what was typed."""
    for field in _FIELDS:
        if not _problem(field):  # the drawer, undo and a link say the same numbers
            st.session_state[_key(field)] = getattr(state.workspace().own_lab, field)
        st.number_input(
            MEANS[field],
            value=None,
            step=1,
            key=_key(field),
            placeholder="study’s own",
            on_change=_take,
            args=(field,),
        )
    return [escaped(problem) for field in _FIELDS if (problem := _problem(field))]


def _key(field: str) -> str:
    return f"said_{field}"


def _problem(field: str) -> str:
    """Return why what a field holds cannot be; empty where it can, or is not drawn."""
    typed = st.session_state.get(_key(field))
    if typed is None or 1 <= typed <= MOST:
        return ""
    now = getattr(state.workspace().own_lab, field)
    kept = "each study keeps its own" if now is None else f"the lab keeps {amount_text(now)}"
    return f"{MEANS[field]} cannot be {amount_text(typed)}, so {kept}. Type 1 to {MOST:,}."


def _take(field: str) -> None:
    """Take what a field holds, where it can be; an empty one takes back what was said."""
    if not _problem(field):
        typed = st.session_state[_key(field)]
        say(state.workspace().own_lab.model_copy(update={field: typed}))
