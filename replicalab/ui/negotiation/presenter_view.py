"""The presenter's view: the story large, a caption for each round, and a way out."""

from __future__ import annotations

import streamlit as st

from replicalab.models import LabManagerActionType, Protocol
from replicalab.negotiation import Round
from replicalab.scenarios import Pack
from replicalab.sentences import (
    answer_verdict,
    on_the_table,
    round_caption,
    turn_title,
)
from replicalab.ui import session
from replicalab.ui.negotiation import run_view, stepping_view
from replicalab.ui.negotiation.players_view import set_presenting
from replicalab.ui.negotiation.table import shown_round
from replicalab.ui.negotiation.talks import Talks
from replicalab.ui.words import coloured, escaped, verdict_badge


def is_on() -> bool:
    """Return whether the page is being presented."""
    return session.workspace().presenting


def draw(talks: Talks, pack: Pack) -> None:
    """Draw the story: how it ended, the round on show in one line, both sides, the lines."""
    verdict = talks.verdict
    _draw_top(pack)
    st.title(coloured(verdict.status, escaped(verdict.text)))
    if not talks.trace.rounds:
        return
    stepping_view.draw(talks)
    at = shown_round(talks)
    st.header(escaped(round_caption(talks.trace, at, pack)))
    sides, chart = st.columns([2, 3], gap="large")
    with sides:
        _draw_sides(talks.trace.rounds[at], pack)
    with chart:
        run_view.draw_convergence(talks, pack)
    run_view.draw_matrix(talks)


def _draw_top(pack: Pack) -> None:
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
        key="presenting",
    ):
        st.caption(f"{escaped(pack.paper.title)} · {pack.difficulty} lab", width="content")
        draw_way_out()


def draw_way_out() -> None:
    """Draw the button that brings the controls back."""
    st.button(
        "Leave the presentation",
        icon=":material/close_fullscreen:",
        on_click=set_presenting,
        kwargs={"on": False},
    )


def _draw_sides(done: Round, pack: Pack) -> None:
    st.subheader(f"Scientist: {turn_title(done).lower()}")
    st.markdown(_in_numbers(done.plan, pack))
    answer, verdict = done.lab_manager_action, answer_verdict(done)
    if answer is None or verdict is None:
        st.subheader("Lab Manager: nothing to answer")
        return
    st.subheader(f"Lab Manager: {verdict_badge(verdict)}")
    offer = done.suggestion.revised_protocol if done.suggestion else None
    suggests = answer.action_type is LabManagerActionType.SUGGEST_ALTERNATIVE
    st.markdown(f"Offers {_in_numbers(offer, pack)}" if suggests else verdict.text)


def _in_numbers(plan: Protocol | None, pack: Pack) -> str:
    if plan is None:
        return "No plan is on the table yet."
    return f"{escaped(on_the_table(plan, pack))}."
