"""A round: the way from one to the next, who did what in it, and the answer in other words."""

from __future__ import annotations

import time
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError
from replicalab.negotiation import Negotiation, Round, reword
from replicalab.panels.negotiation import round_panel
from replicalab.ui import panel, state
from replicalab.ui.controls import button
from replicalab.ui.negotiation import settings
from replicalab.ui.negotiation.asking import Asking, draw_stop, draw_stopped, start
from replicalab.ui.negotiation.table import Task, last_round, shown_round, table
from replicalab.ui.words import escaped

_SECONDS_PER_ROUND: Final = 2.0


# --- from round to round: nothing is played anew ----------------------------------------------


def draw_scrubber(negotiation: Negotiation, name: str = "") -> DeltaGenerator:
    """Draw first, back, next, last and play, and where we are; the arrow keys do the same.

    Return the row in which they stand.

    Args:
        negotiation: with the rounds; of one that goes on there are so many so far.
        name: what it is called where another stands beside it.
    """
    at, last = shown_round(negotiation), last_round(negotiation)
    playing = table().playing_since is not None
    row = st.container(horizontal=True, vertical_alignment="center", key="scrubber")
    with row:
        for label, icon, by, shortcut in (
            ("First", "first_page", -last, None),
            ("Back", "chevron_left", -1, "Left"),
            ("Next", "chevron_right", 1, "Right"),
            ("Last", "last_page", last, None),
        ):
            if label == "Next":
                so_far = "" if negotiation.ending else " so far"
                where = f"**Round {at + 1} of {last + 1}{so_far}**"
                st.markdown(f"{name}: {where}" if name else where, width="content")
            st.button(
                label,
                icon=f":material/{icon}:",
                on_click=_go,
                args=(by, last),
                disabled=at == (0 if label in ("First", "Back") else last),
                shortcut=shortcut,
            )
        st.button(
            "Pause" if playing else "Play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            on_click=_stop if playing else _play,
            args=() if playing else (at, last),
            disabled=last == 0,
        )
    if playing:
        _advance(last)
    return row


def _go(by: int, last: int) -> None:
    """Go on by some rounds from where we are now, so that quick presses add up."""
    _stop()
    at = min(state.workspace().round_number, last)
    state.show(round_number=max(0, min(at + by, last)))


def _play(at: int, last: int) -> None:
    state.show(round_number=0 if at == last else at)
    table().playing_since = time.monotonic()


def _stop() -> None:
    table().playing_since = None


@st.fragment(run_every=_SECONDS_PER_ROUND)
def _advance(last: int) -> None:
    """Go on by one round when its time has come; the fragment runs on a timer."""
    since = table().playing_since
    if since is None or time.monotonic() - since < _SECONDS_PER_ROUND * 0.9:
        return
    at = min(state.workspace().round_number + 1, last)
    state.show(round_number=at)
    table().playing_since = None if at == last else time.monotonic()
    st.rerun()


# --- the round on show ------------------------------------------------------------------------


def draw(negotiation: Negotiation, task: Task | None, *, confirmed: bool) -> Asking | None:
    """Draw the round on show: what each side did, and the plan on the table after it.

    Return the answer in other words, if that is what the model is to be asked for.
    """
    at = shown_round(negotiation)
    done = negotiation.rounds[at]
    reworded = table().reworded.get(_wording(done), "")
    panel.draw(round_panel(negotiation, at, confirmed=confirmed, reworded=reworded))
    return _draw_rewording(done, task) if confirmed and not reworded else None


# --- in a model's words -----------------------------------------------------------------------


def _wording(done: Round) -> str:
    """Return the key of a round's answer among those in other words."""
    return f"{done.digest} {done.answer.explanation}" if done.answer else ""


def _draw_rewording(done: Round, task: Task | None) -> Asking | None:
    """Draw a button that asks for other words, where there is a text and a model is set."""
    if done.answer is None or done.plan is None or done.only_asks:
        return None
    endpoint = settings.usable_endpoint()
    if endpoint is None:
        return None
    key = _wording(done)
    if task is Task.WORDING:
        draw_stop(task)
        return Asking(st.empty(), endpoint, "Other words", partial(_reword, key, done))
    button("Let the model reword this", "translate", partial(start, Task.WORDING))
    draw_stopped(Task.WORDING)
    unworded = table().unworded
    if unworded is not None and unworded[0] == key:
        st.warning(escaped(unworded[1]), icon=":material/cloud_off:")
    return None


def _reword(key: str, done: Round, generate: GenerateFn) -> None:
    try:
        table().reworded[key] = reword(generate, done) or ""
    except ModelError as error:
        table().unworded = key, str(error)
