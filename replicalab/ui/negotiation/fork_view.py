"""Fork here: another plan in a round of the past, and both branches side by side."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

import streamlit as st

from replicalab.negotiation import Round, Trace
from replicalab.scenarios import Pack
from replicalab.sentences import ANSWER_TITLES, round_summary, turn_title
from replicalab.ui import session
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.negotiation import person_view, table
from replicalab.ui.negotiation.plan_form import Form, draw_fields, draw_preview
from replicalab.ui.negotiation.table import Branch, shown_round
from replicalab.ui.negotiation.talks import Place, Talks
from replicalab.ui.words import escaped

_WIDTH: Final = 1200
"""Pixels: a table with a width of its own scrolls in its own box, and the keyboard can reach it."""


def draw(talks: Talks, pack: Pack) -> None:
    """Draw the way to fork at the round on show, and the branch beside the original."""
    forking = table.forking_at(talks)
    if forking is None:
        at = shown_round(talks)
        st.button(
            "Fork here",
            icon=":material/call_split:",
            on_click=table.begin_fork,
            args=(talks, at),
            help=f"Put another plan forward in round {at + 1}, and compare what follows.",
        )
    else:
        _draw_form(talks, forking, pack)
    branch = table.branch_of(talks)
    if branch is not None:
        _draw_branches(talks, branch, pack)


def _draw_form(talks: Talks, at: int, pack: Pack) -> None:
    start = talks.trace.rounds[at].plan or session.plan()
    form = Form(f"fork_{hash(table.origin_of(talks)):x}_{at}", start)
    with st.container(border=True, key="forking"):
        st.header(f"What if round {at + 1} had gone differently?")
        st.caption("The fields hold the plan of that round. Change it, then go on from there.")
        fields, preview = st.columns([3, 2], gap="large")
        with fields:
            plan = draw_fields(form, pack)
        with preview:
            draw_preview(plan, pack)
            with st.container(horizontal=True, key="forking_buttons"):
                st.button(
                    "Continue from here",
                    type="primary",
                    icon=":material/call_split:",
                    on_click=_branch_off,
                    args=(talks, at, form, pack),
                )
                st.button("Cancel", on_click=table.leave_fork)


def _branch_off(talks: Talks, at: int, form: Form, pack: Pack) -> None:
    """Fork with what the fields hold at the moment of the press."""
    plan = form.read()
    if plan is not None:
        table.branch_off(talks, at, plan, pack)


def _draw_branches(talks: Talks, branch: Branch, pack: Pack) -> None:
    st.header(f"Two branches from round {branch.at + 1}")
    before, after = st.columns(2, gap="large")
    with before:
        st.markdown("**As it was**")
        draw_verdict(talks.verdict)
    with after:
        st.markdown("**Your branch**")
        draw_verdict(branch.talks.verdict)
    _draw_differences(talks.trace, branch.talks.trace, branch.at, pack)
    with st.container(horizontal=True, key="branch_buttons"):
        st.button(
            "Keep the branch",
            icon=":material/check:",
            on_click=table.keep_branch,
            args=(branch,),
            help="Shows the branch in place of the original; closing it brings that back.",
        )
        st.button("Drop the branch", icon=":material/delete:", on_click=table.drop_branch)
    person_view.draw(Place.BRANCH, branch.talks, pack)


def _draw_differences(before: Trace, after: Trace, at: int, pack: Pack) -> None:
    pairs = list(zip_longest(before.rounds[at:], after.rounds[at:]))
    with st.container(key="branches"):
        st.table(
            {
                "Round": [str(number) for number in range(at + 1, at + 1 + len(pairs))],
                "As it was": [_plan(old, pack) for old, _ in pairs],
                "Answer": [_answer(old) for old, _ in pairs],
                "Your branch": [_plan(new, pack) for _, new in pairs],
                "Answer to it": [_answer(new) for _, new in pairs],
            },
            hide_index=True,
            border="horizontal",
            width=_WIDTH,
            alt="Both branches round by round",
        )


def _plan(done: Round | None, pack: Pack) -> str:
    if done is None:
        return "\u2013"
    return f"{turn_title(done)}: {escaped(round_summary(done, pack))}"


def _answer(done: Round | None) -> str:
    answer = done.lab_manager_action if done else None
    return ANSWER_TITLES[answer.action_type] if answer else "\u2013"
