"""A person's move: a plan put forward by hand, a question, and the ways out."""

from __future__ import annotations

from functools import partial

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.models import ACCEPT_ACTION, LONGEST_QUESTION, ScientistAction
from replicalab.negotiation import AUTOMATIC, Negotiation, Turn, put_forward, question
from replicalab.text.negotiation import asking_cost
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.editor import Form, draw_fields, draw_preview
from replicalab.ui.negotiation import table
from replicalab.ui.negotiation.table import Kept


def draw(kept: Kept, place: str = "table") -> None:
    """Draw the move: what is on the table, a plan to put forward, a question, and the ways out.

    Args:
        kept: the negotiation; finished, it can only be taken back.
        place: names its widgets; ``table``, or ``branch`` beside another.
    """
    negotiation = kept.negotiation
    if negotiation.ending is not None:
        _draw_after_the_end(kept, place)
        return
    st.header("Your move")
    if negotiation.state.plan is None:
        st.caption("The fields start from the plan of the Protocol page.")
    _draw_ways_out(kept, place)
    now = negotiation.state
    form = form_of(f"{place}_{now.round_number}", negotiation, now.offer or now.plan)
    fields, preview = st.columns([3, 2], gap="large")
    with fields:
        st.markdown("**Or put another plan forward**" if now.plan else "**Your plan**")
        draw_fields(form, negotiation.pack)
    with preview:
        st.markdown("**What you are about to send**")
        draw_preview(form, negotiation.pack)
        button(
            "Put this plan forward",
            "send",
            partial(_send, kept, len(negotiation.rounds), form),
            type="primary",
            key=f"{place}_send",
        )
        _draw_question(kept, place, form.key("question"))


def form_of(name: str, negotiation: Negotiation, start: Assessment | None) -> Form:
    """Return a form that starts from a plan, or else from that of the Protocol page.

    Its name tells it from that of another negotiation, or of another course of the same.
    """
    plan = start.plan if start else state.plan()
    told_by = hash((negotiation.setup.digest, plan.model_dump_json()))
    return Form(f"{name}_{told_by:x}", plan)


def _draw_after_the_end(kept: Kept, place: str) -> None:
    if kept.negotiation.setup.scientist in AUTOMATIC:
        return
    with st.container(horizontal=True, key=f"{place}_after_the_end"):
        _draw_undo(kept, place)
        if place == "table" and not kept.source:
            button("Start again", "replay", table.start_again)


def _draw_undo(kept: Kept, place: str) -> None:
    """Draw taking the last round back; the round of a fork stays."""
    forked, played = kept.negotiation.setup.forked_at, len(kept.negotiation.rounds)
    button(
        "Undo last round",
        "undo",
        partial(table.back_to, kept, played - 1),
        key=f"{place}_undo",
        disabled=played <= (0 if forked is None else forked + 1),
    )


def _draw_ways_out(kept: Kept, place: str) -> None:
    """Draw accepting, walking away and taking the last round back."""
    now, number = kept.negotiation.state, len(kept.negotiation.rounds)
    with st.container(horizontal=True, key=f"{place}_ways_out"):
        button(
            "Accept the offer" if now.offer else "Accept the plan",
            "handshake",
            partial(_act, kept, number, ACCEPT_ACTION),
            key=f"{place}_accept",
            disabled=now.plan is None,
        )
        button("Walk away", "logout", partial(_act, kept, number, None), key=f"{place}_leave")
        _draw_undo(kept, place)


def _draw_question(kept: Kept, place: str, key: str) -> None:
    st.text_input(
        "Or ask the lab a question",
        key=key,
        max_chars=LONGEST_QUESTION,
        placeholder="Which instruments are free, and from which day?",
    )
    number, most = len(kept.negotiation.rounds), kept.negotiation.setup.max_rounds
    with st.container(horizontal=True, vertical_alignment="center", key=f"{place}_asking"):
        button("Ask", "help", partial(_ask, kept, number, key), key=f"{place}_ask")
        st.caption(asking_cost(number, most), width="content")


def _send(kept: Kept, number: int, form: Form) -> None:
    """Put forward what the fields hold at the moment of the press."""
    plan = form.read()
    if plan is not None:
        _act(kept, number, put_forward(kept.negotiation.state_before(number), plan))


def _ask(kept: Kept, number: int, key: str) -> None:
    text = st.session_state[key].strip()
    if text:
        _act(kept, number, question(text))


def _act(kept: Kept, number: int, action: ScientistAction | None) -> None:
    """Play the person's turn; where a model failed before, what it said is kept with it."""
    outputs = kept.failure.outputs if kept.failure and kept.acting else ()
    table.play(kept, number, Turn(action=action, outputs=outputs))
