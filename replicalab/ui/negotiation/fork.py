"""Another plan in a round of the past, and what follows from it beside the original."""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import Final

import streamlit as st

from replicalab.negotiation import Round, fork
from replicalab.text.negotiation import outcome_verdict, round_summary, turn_title
from replicalab.text.verdicts import ANSWERS
from replicalab.ui.controls import button
from replicalab.ui.editor import Form, draw_fields, draw_preview
from replicalab.ui.negotiation import moves
from replicalab.ui.negotiation.table import (
    Branch,
    Kept,
    is_full,
    keep_branch,
    shown_round,
    table,
)
from replicalab.ui.words import draw_verdict, escaped

_WIDTH: Final = 1200
"""Pixels: a table with a width of its own scrolls in its own box, and the keyboard can reach it."""


def draw(kept: Kept) -> None:
    """Draw the way to fork at the round on show, and the branch beside the original."""
    asked, at = table().forking or (None, 0)
    if asked is kept and at < len(kept.negotiation.rounds):
        _draw_form(kept, at)
    else:
        at = shown_round(kept.negotiation)
        button(
            "Fork here",
            "call_split",
            partial(_ask, (kept, at)),
            help=f"Put another plan forward in round {at + 1}, and compare what follows.",
        )
    branch = branch_of(kept)
    if branch is not None:
        _draw_branches(branch)


def branch_of(kept: Kept) -> Branch | None:
    """Return the branch of this negotiation, None where there is none."""
    found = table().branch
    return found if found is not None and found.origin is kept else None


def _ask(forking: tuple[Kept, int] | None) -> None:
    """Ask for another plan in a round of a negotiation; None asks for none."""
    table().forking = forking


def _draw_form(kept: Kept, at: int) -> None:
    negotiation = kept.negotiation
    form = moves.form_of(f"fork_{at}", negotiation, negotiation.rounds[at].plan)
    with st.container(border=True, key="forking"):
        st.header(f"What if round {at + 1} had gone differently?")
        st.caption("The fields hold the plan of that round. Change it, then go on from there.")
        fields, preview = st.columns([3, 2], gap="large")
        with fields:
            draw_fields(form, negotiation.pack)
        with preview:
            draw_preview(form, negotiation.pack)
            with st.container(horizontal=True, key="forking_buttons"):
                button(
                    "Continue from here",
                    "call_split",
                    partial(_branch_off, kept, at, form),
                    type="primary",
                )
                st.button("Cancel", on_click=_ask, args=(None,))


def _branch_off(kept: Kept, at: int, form: Form) -> None:
    """Fork with what the fields hold at the moment of the press, and keep both courses."""
    plan = form.read()
    if plan is not None and not is_full():
        table().branch = Branch(kept, at, Kept(fork(kept.negotiation, at, plan)))
        table().forking = None


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
    pairs = list(zip_longest(original.rounds, other.rounds))[branch.at :]
    with st.container(key="branches"):
        st.table(
            {
                "Round": [str(number) for number, _ in enumerate(pairs, start=branch.at + 1)],
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
    with st.container(horizontal=True, key="branch_buttons"):
        button(
            "Keep the branch",
            "check",
            partial(keep_branch, branch),
            help="Shows the branch in place of the original. A button brings that back.",
        )
        button("Drop the branch", "delete", drop)
    moves.draw(branch.kept, "branch")


def drop() -> None:
    """Forget the branch."""
    table().branch = None


def _plan(done: Round | None) -> str:
    return f"{turn_title(done)}: {escaped(round_summary(done))}" if done else "\u2013"


def _answer(done: Round | None) -> str:
    return ANSWERS[done.answer.action_type].title if done and done.answer else "\u2013"
