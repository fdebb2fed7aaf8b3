"""A person's move: what is on the table, and the ways to answer it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.models import (
    ACCEPT_ACTION,
    ScientistAction,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation import AUTOMATIC, Attempt, Turn
from replicalab.negotiation.players import FOR_THE_MODEL
from replicalab.scenarios import Pack
from replicalab.sentences import move_text, on_the_table
from replicalab.ui import session
from replicalab.ui.negotiation import table
from replicalab.ui.negotiation.plan_form import Form, draw_fields, draw_preview
from replicalab.ui.negotiation.talks import Place, Talks
from replicalab.ui.words import escaped

_LONGEST_QUESTION: Final = 500


def draw(
    place: Place,
    talks: Talks,
    pack: Pack,
    attempts: tuple[Attempt, ...] = (),
) -> None:
    """Draw the move: what is on the table, a plan to put forward, a question, and the ways out.

    Args:
        place: where the turn is played.
        talks: the negotiation; finished, it can only be taken back.
        pack: the study in its lab.
        attempts: those of the model in whose place the person acts.
    """
    if talks.finished:
        _draw_after_the_end(place, talks, pack)
        return
    move = _Move(place, talks, pack, attempts)
    st.header(move_text(talks.state))
    _draw_table(talks, pack)
    move.draw_ways_out()
    fields, preview = st.columns([3, 2], gap="large")
    with fields:
        st.markdown("**Or put another plan forward**" if talks.state.plan else "**Your plan**")
        plan = draw_fields(move.form, pack)
    with preview:
        st.markdown("**What you are about to send**")
        draw_preview(plan, pack)
        move.draw_send()
        move.draw_question()


def _draw_after_the_end(place: Place, talks: Talks, pack: Pack) -> None:
    if talks.trace.setup.scientist in AUTOMATIC:
        return
    with st.container(horizontal=True, key=f"{place}_after_the_end"):
        _draw_undo(place, talks, pack)
        if place is Place.TABLE and table.opened_one() is None:
            st.button(
                "Start again",
                icon=":material/replay:",
                on_click=table.start_again,
                args=(talks, pack),
            )


def _draw_undo(place: Place, talks: Talks, pack: Pack) -> None:
    forked = talks.trace.setup.forked_at
    least = 0 if forked is None else forked + 1
    st.button(
        "Undo last round",
        icon=":material/undo:",
        key=f"{place}_undo",
        on_click=table.undo,
        args=(place, talks, pack),
        disabled=len(talks.trace.rounds) <= least,
    )


def _draw_table(talks: Talks, pack: Pack) -> None:
    state = talks.state
    if state.plan is None:
        st.markdown(
            "Nothing is on the table yet. The fields start from the plan of the Protocol page; "
            "change what you like and put it forward, or ask the lab a question first."
        )
        return
    st.markdown(f"**On the table:** {escaped(on_the_table(state.plan, pack))}.")
    if state.offer is not None:
        st.markdown(f"**The Lab Manager's offer:** {escaped(on_the_table(state.offer, pack))}.")
    else:
        st.markdown("**The Lab Manager's offer:** none stands.")


class _Move:
    """The widgets of one move, and what they hand in."""

    def __init__(
        self,
        place: Place,
        talks: Talks,
        pack: Pack,
        attempts: tuple[Attempt, ...],
    ) -> None:
        self._place = place
        self._talks = talks
        self._pack = pack
        self._attempts = attempts
        state = talks.state
        start = state.offer or state.plan or session.plan()
        digest = hash((table.origin_of(talks), start.model_dump_json()))
        self.form = Form(f"{place}_{state.round_number}_{digest:x}", start)

    def draw_ways_out(self) -> None:
        """Draw accepting, walking away and taking the last round back."""
        state = self._talks.state
        with st.container(horizontal=True, key=f"{self._place}_ways_out"):
            st.button(
                "Accept the offer" if state.offer else "Accept the plan",
                icon=":material/handshake:",
                key=f"{self._place}_accept",
                on_click=self._act,
                args=(ACCEPT_ACTION,),
                disabled=state.plan is None,
            )
            st.button(
                "Walk away",
                icon=":material/logout:",
                key=f"{self._place}_leave",
                on_click=self._act,
                args=(None,),
            )
            _draw_undo(self._place, self._talks, self._pack)

    def draw_send(self) -> None:
        """Draw the button that puts the plan of the fields forward."""
        st.button(
            "Put this plan forward",
            type="primary",
            icon=":material/send:",
            key=f"{self._place}_send",
            on_click=self._send,
        )

    def draw_question(self) -> None:
        """Draw a question to the lab."""
        st.text_input(
            "Or ask the lab a question",
            key=self.form.key("question"),
            max_chars=_LONGEST_QUESTION,
            placeholder="Which instruments are free, and from which day?",
        )
        st.button("Ask", icon=":material/help:", key=f"{self._place}_ask", on_click=self._ask)

    def _send(self) -> None:
        """Put forward what the fields hold at the moment of the press."""
        plan = self.form.read()
        if plan is None:
            return
        first = self._talks.state.plan is None
        kind = (
            ScientistActionType.PROPOSE_PROTOCOL if first else ScientistActionType.REVISE_PROTOCOL
        )
        self._act(plan_action(kind, plan))

    def _ask(self) -> None:
        question = st.session_state[self.form.key("question")].strip()
        if question:
            asks = {"action_type": ScientistActionType.REQUEST_INFO, "questions": [question]}
            self._act(ScientistAction.model_validate({**ACCEPT_ACTION.model_dump(), **asks}))

    def _act(self, action: ScientistAction | None) -> None:
        reason = FOR_THE_MODEL if self._attempts else ""
        turn = Turn(action=action, reason=reason, attempts=self._attempts)
        table.play(self._place, self._talks, turn, self._pack)
