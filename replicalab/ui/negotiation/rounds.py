"""The rounds: from one to the next, the one on show, and the whole run in matrix and chart."""

from __future__ import annotations

import time
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from replicalab.assessment import Assessment
from replicalab.negotiation import Negotiation
from replicalab.render.figures import CONFIG, convergence_chart
from replicalab.ui import panel, state
from replicalab.ui.negotiation import model
from replicalab.ui.negotiation.model import PendingCall
from replicalab.ui.negotiation.table import Task, last_round, shown_round, table
from replicalab.views.rounds import judge_panel, ledger_panel, matrix_panel, round_panel

_SECONDS_PER_ROUND: Final = 2.0
# With more rounds than this the matrix and the chart stand one below the other.
_MOST_SIDE_BY_SIDE: Final = 6


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


def draw(negotiation: Negotiation, task: Task | None, *, confirmed: bool) -> PendingCall | None:
    """Draw the round on show: what each side did, and the plan on the table after it.

    Return the answer in other words, if that is what the model is to be asked for.
    """
    at = shown_round(negotiation)
    done = negotiation.rounds[at]
    reworded = model.reworded(done)
    panel.draw(round_panel(negotiation, at, confirmed=confirmed, reworded=reworded))
    return model.draw_rewording(done, task) if confirmed and not reworded else None


# --- the whole run ----------------------------------------------------------------------------


def draw_run(negotiation: Negotiation) -> None:
    """Draw matrix and convergence, side by side or in turn when there are many rounds."""
    few = len(negotiation.rounds) <= _MOST_SIDE_BY_SIDE
    matrix, chart = st.columns(2, gap="large") if few else (st.container(), st.container())
    with matrix:
        draw_matrix(negotiation)
    with chart:
        draw_convergence(negotiation)


def draw_matrix(negotiation: Negotiation) -> None:
    """Draw the seven dimensions by round, and each round's plan in numbers."""
    panel.draw(matrix_panel(negotiation, shown_round(negotiation)))


def draw_convergence(negotiation: Negotiation) -> None:
    """Draw what each round's plan uses and would show."""
    plans = plans_by_round(negotiation)
    if not plans:
        st.caption("No plan has been put forward yet, so there is nothing to compare.")
        return
    st.plotly_chart(
        convergence_chart(plans),
        key="convergence",
        config=CONFIG,
        theme=None,
        alt="Use of budget, days and staff by round, and below it the evidence by round",
    )


def plans_by_round(negotiation: Negotiation) -> list[tuple[int, Assessment]]:
    """Return the plans of the rounds that have one, by the round's number."""
    return [(done.number + 1, done.plan) for done in negotiation.rounds if done.plan is not None]


def draw_end(negotiation: Negotiation) -> None:
    """Draw who gave what, and after the end what a judge makes of it, who knows the reference."""
    judged = [judge_panel(negotiation)] if negotiation.ending is not None else []
    panel.draw(ledger_panel(negotiation), *judged)
