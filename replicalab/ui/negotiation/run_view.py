"""The whole run: the seven dimensions by round, how it converges, who gave what, and the judge."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.agents import FeasibilityCheckResult
from replicalab.concessions import Concession, price
from replicalab.figures import CONFIG, RoundUse, convergence_chart
from replicalab.lexicon import amount_text
from replicalab.margins import margins
from replicalab.models import DIMENSIONS, Dimension, Protocol, Role
from replicalab.negotiation import Trace, judge, ledger
from replicalab.scenarios import Pack
from replicalab.sentences import (
    Status,
    evidence_status,
    judge_parts,
    ledger_sentence,
    reward_formula,
    step_changes,
)
from replicalab.ui.negotiation.table import shown_round
from replicalab.ui.negotiation.talks import Talks
from replicalab.ui.words import DIMENSION_LABELS, coloured, escaped, pass_or_fail

_MOST_SIDE_BY_SIDE: Final = 6
_WIDTH: Final = 960
"""Pixels: a table with a width of its own scrolls in its own box, and the keyboard can reach it."""
_NAMES_WIDTH: Final = 110
_ROUND_WIDTH: Final = 90
_SIDES: Final = {Role.SCIENTIST: "Scientist", Role.LAB_MANAGER: "Lab Manager"}


def draw(talks: Talks, pack: Pack) -> None:
    """Draw matrix and convergence, side by side or in turn when there are many rounds."""
    st.header("The whole run")
    if is_long(talks.trace):
        draw_matrix(talks)
        draw_convergence(talks, pack)
        return
    matrix, chart = st.columns(2, gap="large")
    with matrix:
        draw_matrix(talks)
    with chart:
        draw_convergence(talks, pack)


def is_long(trace: Trace) -> bool:
    """Return whether the rounds need the whole width."""
    return len(trace.rounds) > _MOST_SIDE_BY_SIDE


# --- the matrix -------------------------------------------------------------------------------


def draw_matrix(talks: Talks) -> None:
    """Draw the seven dimensions by round, as symbols with words."""
    at, rounds = shown_round(talks), talks.trace.rounds
    table: dict[str, list[str]] = {
        "Dimension": [DIMENSION_LABELS[dimension] for dimension in DIMENSIONS]
    }
    for number, done in enumerate(rounds):
        name = str(number + 1) if is_long(talks.trace) else f"Round {number + 1}"
        table[f"**{name}**" if number == at else name] = [
            _cell(done.check, dimension) for dimension in DIMENSIONS
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


def _cell(check: FeasibilityCheckResult | None, dimension: Dimension) -> str:
    if check is None:
        return "no plan"
    ok = check.check(dimension).ok
    return coloured(pass_or_fail(ok), "pass" if ok else "fail")


# --- the convergence --------------------------------------------------------------------------


def draw_convergence(talks: Talks, pack: Pack) -> None:
    """Draw what each round's plan uses and would show, as a chart and as a table."""
    uses = round_uses(talks.trace, pack)
    if not uses:
        st.caption("No plan has been put forward yet, so there is nothing to compare.")
        return
    st.plotly_chart(
        convergence_chart(uses, shown_round(talks) + 1),
        key="convergence",
        config=CONFIG,
        alt="Use of budget, days and staff by round, and below it the evidence by round",
    )
    with st.expander("The same as a table", key="numbers"):
        _draw_numbers(talks.trace, uses, pack)


def round_uses(trace: Trace, pack: Pack) -> list[RoundUse]:
    """Return what each round with a plan uses of the lab, and what it would show."""
    return [
        _use(number, done.plan, done.check, pack)
        for number, done in enumerate(trace.rounds, start=1)
        if done.plan is not None and done.check is not None
    ]


def _use(number: int, plan: Protocol, check: FeasibilityCheckResult, pack: Pack) -> RoundUse:
    found = {margin.dimension: margin for margin in margins(plan, check, pack)}
    return RoundUse(
        number,
        found[Dimension.BUDGET].use,
        found[Dimension.SCHEDULE].use,
        found[Dimension.STAFF].use,
        price(plan, pack).evidence,
    )


def _draw_numbers(trace: Trace, uses: list[RoundUse], pack: Pack) -> None:
    rounds = [(trace.rounds[use.number - 1], use) for use in uses]
    plans = [done.plan for done, _ in rounds if done.plan is not None]
    checks = [done.check for done, _ in rounds if done.check is not None]
    st.table(
        {
            "Round": [str(use.number) for use in uses],
            "Samples": [amount_text(plan.sample_size) for plan in plans],
            "Days": [str(plan.duration_days) for plan in plans],
            "Credits": [amount_text(check.estimated_cost) for check in checks],
            "Budget used": [_percent(use.budget) for use in uses],
            "Days used": [_percent(use.days) for use in uses],
            "Staff used": [_percent(use.staff) for use in uses],
            "Evidence": [
                coloured(evidence_status(use.evidence), escaped(use.evidence.text)) for use in uses
            ],
            "Plan": [
                coloured(
                    Status.PASS if check.feasible else Status.FAIL,
                    "feasible" if check.feasible else "not feasible",
                )
                for check in checks
            ],
        },
        hide_index=True,
        width=_WIDTH,
        alt="What each round's plan uses, and its evidence",
    )


def _percent(share: float | None) -> str:
    return "none to use" if share is None else f"{share:.0%}".replace("%", " %")


# --- the ledger -------------------------------------------------------------------------------


def draw_ledger(talks: Talks, pack: Pack) -> None:
    """Draw who gave what in each round, with running totals of each side."""
    st.header("Who gave what")
    gifts = ledger(talks.trace, pack)
    if not gifts:
        st.caption("Nobody has moved yet: there is no second plan and no second offer.")
        return
    st.markdown(escaped(ledger_sentence(gifts)))
    with st.container(key="ledger"):
        st.table(
            {
                "Round": [str(gift.round_number + 1) for gift in gifts],
                "Who": [_SIDES[gift.who] for gift in gifts],
                "What": [_what(gift.step) for gift in gifts],
                "Credits": [_signed(gift.step) for gift in gifts],
                "Evidence": [escaped(gift.step.evidence_text) for gift in gifts],
                "Credits in all": [_signed(gift.total) for gift in gifts],
                "Evidence in all": [escaped(gift.total.evidence_text) for gift in gifts],
            },
            hide_index=True,
            width=_WIDTH,
            alt="Concessions by round, with running totals",
        )
    st.caption(
        "Credits as the plan's cost moves: \u2212 is cheaper, + is dearer. Each side's running "
        "total counts from its own first plan or offer."
    )


def _what(step: Concession) -> str:
    return escaped(step_changes(step))


def _signed(step: Concession) -> str:
    saved = step.credits_saved
    sign = "\u2212" if saved > 0 else "+" if saved < 0 else "±"
    return f"{sign}{amount_text(abs(saved))}"


# --- the judge --------------------------------------------------------------------------------


def draw_judge(talks: Talks, pack: Pack) -> None:
    """Draw what a judge, who knows the hidden reference, makes of it; only after the end."""
    if not talks.finished:
        return
    with st.expander("What a judge sees (after the end)", icon=":material/gavel:"):
        found = judge(talks.trace, pack)
        if found is None:
            st.markdown("No plan was ever on the table, so there is nothing to judge.")
            return
        st.markdown(f"**{escaped(reward_formula(found))}**")
        parts = judge_parts(found)
        names, shares, made = zip(*parts, strict=True)
        st.table(
            {"Part": list(names), "Share": list(shares), "Made of": [escaped(m) for m in made]},
            hide_index=True,
        )
        missing = "".join(f"\n- {escaped(element)}" for element in found.missing)
        st.markdown(f"**Required, not addressed:**\n{missing}" if missing else
                    "**Required, not addressed:** nothing.")  # fmt: skip
        st.caption("The agents never see this: it quotes the study's hidden reference.")
