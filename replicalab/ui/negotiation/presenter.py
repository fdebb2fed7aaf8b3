"""The presenter's view: the story large, a caption for each round, and a way out."""

from __future__ import annotations

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.models import LabManagerActionType
from replicalab.negotiation import Negotiation, Round
from replicalab.text.negotiation import (
    answer_verdict,
    on_the_table,
    outcome_verdict,
    round_caption,
    turn_title,
)
from replicalab.ui import state
from replicalab.ui.negotiation import rounds, run
from replicalab.ui.negotiation.table import shown_round
from replicalab.ui.words import coloured, escaped, verdict_badge


def draw(negotiation: Negotiation | None) -> None:
    """Draw the story: how it ended, the round on show in one line, both sides, the lines."""
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
        key="presenting",
    ):
        if negotiation is not None:
            pack = negotiation.pack
            st.caption(f"{escaped(pack.paper.title)} · {pack.difficulty} lab", width="content")
        st.button(
            "Leave the presentation",
            icon=":material/close_fullscreen:",
            on_click=state.show,
            kwargs={"presenting": False},
        )
    if negotiation is None:
        return
    verdict = outcome_verdict(negotiation)
    st.title(coloured(verdict.status, escaped(verdict.text)))
    if not negotiation.rounds:
        return
    rounds.draw_scrubber(negotiation)
    at = shown_round(negotiation)
    st.header(escaped(round_caption(negotiation, at)))
    sides, chart = st.columns([2, 3], gap="large")
    with sides:
        _draw_sides(negotiation.rounds[at])
    with chart:
        run.draw_convergence(negotiation)
    run.draw_matrix(negotiation)


def _draw_sides(done: Round) -> None:
    st.subheader(f"Scientist: {turn_title(done).lower()}")
    st.markdown(_in_numbers(done.plan))
    verdict = answer_verdict(done)
    if done.answer is None or verdict is None:
        st.subheader("Lab Manager: nothing to answer")
        return
    st.subheader(f"Lab Manager: {verdict_badge(verdict)}")
    suggests = done.answer.action_type is LabManagerActionType.SUGGEST_ALTERNATIVE
    offer = done.offer.after if done.offer else None
    st.markdown(f"Offers {_in_numbers(offer)}" if suggests else verdict.text)


def _in_numbers(plan: Assessment | None) -> str:
    return f"{escaped(on_the_table(plan))}." if plan else "No plan is on the table yet."
