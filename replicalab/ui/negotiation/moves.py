"""A plan put forward by hand: a person's move, and another plan in a round of the past."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment, assess
from replicalab.models import ACCEPT_ACTION, ScientistAction, ScientistActionType
from replicalab.negotiation import AUTOMATIC, Negotiation, Round, Turn
from replicalab.negotiation.games import put_forward
from replicalab.scenarios import Pack
from replicalab.text.negotiation import (
    move_text,
    on_the_table,
    outcome_verdict,
    round_summary,
    turn_title,
)
from replicalab.text.verdicts import ANSWERS
from replicalab.ui import state
from replicalab.ui.editor import Form, draw_fields, draw_preview
from replicalab.ui.negotiation import table
from replicalab.ui.negotiation.table import Branch, Kept, shown_round
from replicalab.ui.words import draw_verdict, escaped

_LONGEST_QUESTION: Final = 500
_WIDTH: Final = 1200
"""Pixels: a table with a width of its own scrolls in its own box, and the keyboard can reach it."""


# --- a person's move --------------------------------------------------------------------------


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
    st.header(move_text(negotiation))
    _draw_table(negotiation)
    _draw_ways_out(kept, place)
    now = negotiation.state
    start = now.offer or now.plan
    form = _form(f"{place}_{now.round_number}", negotiation, start)
    fields, preview = st.columns([3, 2], gap="large")
    with fields:
        st.markdown("**Or put another plan forward**" if now.plan else "**Your plan**")
        draw_fields(form, negotiation.pack)
    with preview:
        st.markdown("**What you are about to send**")
        _draw_preview(form, negotiation.pack)
        st.button(
            "Put this plan forward",
            type="primary",
            icon=":material/send:",
            key=f"{place}_send",
            on_click=_send,
            args=(kept, len(negotiation.rounds), form),
        )
        _draw_question(kept, place, form.key("question"))


def _form(name: str, negotiation: Negotiation, start: Assessment | None) -> Form:
    """Return a form that starts from a plan, or else from that of the Protocol page.

    Its name tells it from that of another negotiation, or of another course of the same.
    """
    plan = start.plan if start else state.plan()
    told_by = hash((negotiation.setup.digest, plan.model_dump_json()))
    return Form(f"{name}_{told_by:x}", plan)


def _draw_preview(form: Form, pack: Pack) -> None:
    plan = form.read()
    draw_preview(assess(plan, pack) if plan else None)


def _draw_after_the_end(kept: Kept, place: str) -> None:
    if kept.negotiation.setup.scientist in AUTOMATIC:
        return
    with st.container(horizontal=True, key=f"{place}_after_the_end"):
        _draw_undo(kept, place)
        if place == "table" and not kept.source:
            st.button(
                "Start again",
                icon=":material/replay:",
                on_click=table.back_to,
                args=(kept, 0),
            )


def _draw_undo(kept: Kept, place: str) -> None:
    """Draw taking the last round back; the round of a fork stays."""
    forked, played = kept.negotiation.setup.forked_at, len(kept.negotiation.rounds)
    st.button(
        "Undo last round",
        icon=":material/undo:",
        key=f"{place}_undo",
        on_click=table.back_to,
        args=(kept, played - 1),
        disabled=played <= (0 if forked is None else forked + 1),
    )


def _draw_table(negotiation: Negotiation) -> None:
    now = negotiation.state
    if now.plan is None:
        st.markdown(
            "Nothing is on the table yet. The fields start from the plan of the Protocol page; "
            "change what you like and put it forward, or ask the lab a question first."
        )
        return
    offer = escaped(on_the_table(now.offer)) if now.offer else "none stands"
    st.markdown(f"**On the table:** {escaped(on_the_table(now.plan))}.")
    st.markdown(f"**The Lab Manager's offer:** {offer}.")


def _draw_ways_out(kept: Kept, place: str) -> None:
    """Draw accepting, walking away and taking the last round back."""
    now, number = kept.negotiation.state, len(kept.negotiation.rounds)
    with st.container(horizontal=True, key=f"{place}_ways_out"):
        st.button(
            "Accept the offer" if now.offer else "Accept the plan",
            icon=":material/handshake:",
            key=f"{place}_accept",
            on_click=_act,
            args=(kept, number, ACCEPT_ACTION),
            disabled=now.plan is None,
        )
        st.button(
            "Walk away",
            icon=":material/logout:",
            key=f"{place}_leave",
            on_click=_act,
            args=(kept, number, None),
        )
        _draw_undo(kept, place)


def _draw_question(kept: Kept, place: str, key: str) -> None:
    st.text_input(
        "Or ask the lab a question",
        key=key,
        max_chars=_LONGEST_QUESTION,
        placeholder="Which instruments are free, and from which day?",
    )
    st.button(
        "Ask",
        icon=":material/help:",
        key=f"{place}_ask",
        on_click=_ask,
        args=(kept, len(kept.negotiation.rounds), key),
    )


def _send(kept: Kept, number: int, form: Form) -> None:
    """Put forward what the fields hold at the moment of the press."""
    plan = form.read()
    if plan is not None:
        _act(kept, number, put_forward(kept.negotiation.state_before(number), plan))


def _ask(kept: Kept, number: int, key: str) -> None:
    question = st.session_state[key].strip()
    if question:
        asks = {"action_type": ScientistActionType.REQUEST_INFO, "questions": [question]}
        action = ScientistAction.model_validate({**ACCEPT_ACTION.model_dump(), **asks})
        _act(kept, number, action)


def _act(kept: Kept, number: int, action: ScientistAction | None) -> None:
    """Play the person's turn; where a model failed before, what it said is kept with it."""
    outputs = kept.failure.outputs if kept.failure and kept.acting else ()
    table.play(kept, number, Turn(action=action, outputs=outputs))


# --- another plan in a round of the past ------------------------------------------------------


def draw_fork(kept: Kept) -> None:
    """Draw the way to fork at the round on show, and the branch beside the original."""
    forking = table.forking_at(kept)
    if forking is None:
        at = shown_round(kept.negotiation)
        st.button(
            "Fork here",
            icon=":material/call_split:",
            on_click=table.begin_fork,
            args=(kept, at),
            help=f"Put another plan forward in round {at + 1}, and compare what follows.",
        )
    else:
        _draw_form(kept, forking)
    branch = table.branch_of(kept)
    if branch is not None:
        _draw_branches(branch)


def _draw_form(kept: Kept, at: int) -> None:
    negotiation = kept.negotiation
    form = _form(f"fork_{at}", negotiation, negotiation.rounds[at].plan)
    with st.container(border=True, key="forking"):
        st.header(f"What if round {at + 1} had gone differently?")
        st.caption("The fields hold the plan of that round. Change it, then go on from there.")
        fields, preview = st.columns([3, 2], gap="large")
        with fields:
            draw_fields(form, negotiation.pack)
        with preview:
            _draw_preview(form, negotiation.pack)
            with st.container(horizontal=True, key="forking_buttons"):
                st.button(
                    "Continue from here",
                    type="primary",
                    icon=":material/call_split:",
                    on_click=_branch_off,
                    args=(kept, at, form),
                )
                st.button("Cancel", on_click=table.leave_fork)


def _branch_off(kept: Kept, at: int, form: Form) -> None:
    """Fork with what the fields hold at the moment of the press."""
    plan = form.read()
    if plan is not None:
        table.branch_off(kept, at, plan)


def _draw_branches(branch: Branch) -> None:
    original, other = branch.origin.negotiation, branch.kept.negotiation
    st.header(f"Two branches from round {branch.at + 1}")
    before, after = st.columns(2, gap="large")
    with before:
        st.markdown("**As it was**")
        draw_verdict(outcome_verdict(original))
    with after:
        st.markdown("**Your branch**")
        draw_verdict(outcome_verdict(other))
    pairs = list(zip_longest(original.rounds, other.rounds))
    _draw_differences(pairs[branch.at :], branch.at + 1)
    with st.container(horizontal=True, key="branch_buttons"):
        st.button(
            "Keep the branch",
            icon=":material/check:",
            on_click=table.keep_branch,
            args=(branch,),
            help="Shows the branch in place of the original; closing it brings that back.",
        )
        st.button("Drop the branch", icon=":material/delete:", on_click=table.drop_branch)
    draw(branch.kept, "branch")


def _draw_differences(pairs: list[tuple[Round | None, Round | None]], first: int) -> None:
    with st.container(key="branches"):
        st.table(
            {
                "Round": [str(number) for number, _ in enumerate(pairs, start=first)],
                "As it was": [_plan(old) for old, _ in pairs],
                "Answer": [_answer(old) for old, _ in pairs],
                "Your branch": [_plan(new) for _, new in pairs],
                "Answer to it": [_answer(new) for _, new in pairs],
            },
            hide_index=True,
            border="horizontal",
            width=_WIDTH,
            alt="Both branches round by round",
        )


def _plan(done: Round | None) -> str:
    return f"{turn_title(done)}: {escaped(round_summary(done))}" if done else "\u2013"


def _answer(done: Round | None) -> str:
    return ANSWERS[done.answer.action_type].title if done and done.answer else "\u2013"
