"""The whole run: the seven dimensions by round, how it converges, who gave what, and the judge."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.figures import CONFIG, convergence_chart
from replicalab.lexicon import amount_text
from replicalab.models import DIMENSIONS, Dimension, Role
from replicalab.negotiation import Negotiation, judge, ledger
from replicalab.text.negotiation import (
    judge_parts,
    ledger_sentence,
    reward_formula,
    signed_credits,
    step_changes,
)
from replicalab.text.plan import evidence_text
from replicalab.text.verdicts import Status, evidence_status
from replicalab.ui.negotiation.table import shown_round
from replicalab.ui.words import DIMENSION_LABELS, coloured, draw_table, escaped, pass_or_fail

_MOST_SIDE_BY_SIDE: Final = 6
_WIDTH: Final = 960
"""Pixels: a table with a width of its own scrolls in its own box, and the keyboard can reach it."""
_NAMES_WIDTH: Final = 110
_ROUND_WIDTH: Final = 90
_SIDES: Final = {Role.SCIENTIST: "Scientist", Role.LAB_MANAGER: "Lab Manager"}
_USED: Final = {
    "Budget used": Dimension.BUDGET,
    "Days used": Dimension.SCHEDULE,
    "Staff used": Dimension.STAFF,
}


def draw(negotiation: Negotiation) -> None:
    """Draw matrix and convergence, side by side or in turn when there are many rounds."""
    st.header("The whole run")
    if len(negotiation.rounds) > _MOST_SIDE_BY_SIDE:
        draw_matrix(negotiation)
        draw_convergence(negotiation)
        return
    matrix, chart = st.columns(2, gap="large")
    with matrix:
        draw_matrix(negotiation)
    with chart:
        draw_convergence(negotiation)


def draw_matrix(negotiation: Negotiation) -> None:
    """Draw the seven dimensions by round, as symbols with words."""
    at, rounds = shown_round(negotiation), negotiation.rounds
    table = {"Dimension": [DIMENSION_LABELS[dimension] for dimension in DIMENSIONS]}
    for done in rounds:
        number = str(done.number + 1)
        name = number if len(rounds) > _MOST_SIDE_BY_SIDE else f"Round {number}"
        table[f"**{name}**" if done.number == at else name] = [
            pass_or_fail(ok=dimension not in done.plan.failing) if done.plan else "no plan"
            for dimension in DIMENSIONS
        ]
    st.markdown("**The seven dimensions, round by round**")
    with st.container(key="matrix"):
        st.table(
            table,
            hide_index=True,
            border="horizontal",
            width=_NAMES_WIDTH + _ROUND_WIDTH * len(rounds),
            alt="Seven dimensions by round",
        )


def draw_convergence(negotiation: Negotiation) -> None:
    """Draw what each round's plan uses and would show, as a chart and as a table."""
    plans = [(done.number + 1, done.plan) for done in negotiation.rounds if done.plan is not None]
    if not plans:
        st.caption("No plan has been put forward yet, so there is nothing to compare.")
        return
    st.plotly_chart(
        convergence_chart(plans, shown_round(negotiation) + 1),
        key="convergence",
        config=CONFIG,
        alt="Use of budget, days and staff by round, and below it the evidence by round",
    )
    with st.expander("The same as a table", key="numbers"):
        rows = [_numbers(number, plan) for number, plan in plans]
        st.table(
            {name: [row[name] for row in rows] for name in rows[0]},
            hide_index=True,
            width=_WIDTH,
            alt="What each round's plan uses, and its evidence",
        )


def _numbers(number: int, plan: Assessment) -> dict[str, str]:
    uses = {name: plan.slack[dimension].use for name, dimension in _USED.items()}
    evidence = coloured(evidence_status(plan.evidence), escaped(plan.evidence.text))
    feasible = (Status.PASS, "feasible") if plan.feasible else (Status.FAIL, "not feasible")
    return {
        "Round": str(number),
        "Samples": amount_text(plan.counts.samples),
        "Days": str(plan.counts.days),
        "Credits": amount_text(plan.cost),
        **{name: "none to use" if use is None else f"{use:.0%}".replace("%", " %")
           for name, use in uses.items()},
        "Evidence": evidence,
        "Plan": coloured(*feasible),
    }  # fmt: skip


def draw_ledger(negotiation: Negotiation) -> None:
    """Draw who gave what in each round, with running totals of each side."""
    st.header("Who gave what")
    gifts = ledger(negotiation)
    if not gifts:
        st.caption("Nobody has moved yet: there is no second plan and no second offer.")
        return
    st.markdown(escaped(ledger_sentence(gifts)))
    with st.container(key="ledger"):
        st.table(
            {
                "Round": [str(gift.round_number + 1) for gift in gifts],
                "Who": [_SIDES[gift.who] for gift in gifts],
                "What": [escaped(step_changes(gift.step)) for gift in gifts],
                "Credits": [signed_credits(gift.step) for gift in gifts],
                "Evidence": [escaped(evidence_text(gift.step)) for gift in gifts],
                "Credits in all": [signed_credits(gift.total) for gift in gifts],
                "Evidence in all": [escaped(evidence_text(gift.total)) for gift in gifts],
            },
            hide_index=True,
            width=_WIDTH,
            alt="Concessions by round, with running totals",
        )
    st.caption(
        "Credits as the plan's cost moves: \u2212 is cheaper, + is dearer. Each side's running "
        "total counts from its own first plan or offer."
    )


def draw_judge(negotiation: Negotiation) -> None:
    """Draw what a judge, who knows the hidden reference, makes of it; only after the end."""
    if negotiation.ending is None:
        return
    with st.expander("What a judge sees (after the end)", icon=":material/gavel:"):
        found = judge(negotiation)
        if found is None:
            st.markdown("No plan was ever on the table, so there is nothing to judge.")
            return
        st.markdown(f"**{escaped(reward_formula(found))}**")
        draw_table(("Part", "Share", "Made of"), judge_parts(found))
        missing = "".join(f"\n- {escaped(element)}" for element in found.missing)
        listed = f"\n{missing}" if missing else " nothing."
        st.markdown(f"**Required, not addressed:**{listed}")
        st.caption("The agents never see this: it quotes the study's hidden reference.")
