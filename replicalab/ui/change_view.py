"""One change of a plan, and the totals of several: what is saved, and what is lost for it."""

from __future__ import annotations

from typing import Final, NamedTuple

import streamlit as st

from replicalab.agents import FeasibilityCheckResult, SuggestionChange, check_feasibility
from replicalab.concessions import Concession, plan_concession
from replicalab.evidence import Evidence, planned_evidence
from replicalab.lexicon import amount_text
from replicalab.models import FIELD_LABELS, Protocol
from replicalab.scenarios import Pack
from replicalab.sentences import (
    failing_text,
    loss_text,
    plan_verdict,
    protection_losses,
    saved_text,
    size_text,
    total_loss_text,
    unreached_days_text,
)
from replicalab.ui.words import escaped, verdict_badge

_NUMBERS: Final = ("sample_size", "duration_days")


class Revised(NamedTuple):
    """A revised plan with its check, its evidence, and the whole step that leads to it."""

    plan: Protocol
    check: FeasibilityCheckResult
    evidence: Evidence
    step: Concession


def revised(before: Protocol, after: Protocol, pack: Pack) -> Revised:
    """Return a revised plan, checked and priced."""
    return Revised(
        after,
        check_feasibility(after, pack),
        planned_evidence(after, pack),
        plan_concession(before, after, pack),
    )


def change_title(number: int, change: SuggestionChange) -> str:
    """Return a change in one line of Markdown: its number, field, and from → to."""
    return (
        f"**{number}. {FIELD_LABELS[change.field]}:** {_value(change, change.original)} → "
        f"**{_value(change, change.revised)}**"
    )


def _value(change: SuggestionChange, value: str) -> str:
    return f"{int(value):,}" if change.field in _NUMBERS else escaped(value)


def draw_price(change: SuggestionChange, step: Concession, pack: Pack) -> None:
    """Draw why a change is made, what is lost by it, and its price in numbers."""
    price = f"{saved_text(step)} · {escaped(loss_text(step, pack))}"
    lost = f"{change.tradeoff} {_unreached(change, pack)}"
    st.markdown(
        f"**Why:** {escaped(change.reason)}  \n**What is lost:** {escaped(lost)}  \n:gray[{price}]"
    )


def _unreached(change: SuggestionChange, pack: Pack) -> str:
    if change.field != "duration_days":
        return ""
    return unreached_days_text(int(change.original), int(change.revised), pack)


def draw_totals(found: Revised, pack: Pack) -> None:
    """Draw what a revised plan comes to: its verdict, its totals, and all that it gives up."""
    cost, budget = found.check.estimated_cost, pack.lab.budget
    lines = [
        f"{verdict_badge(plan_verdict(found.check, found.evidence))} {size_text(found.plan)} · "
        f"{amount_text(cost)} of {amount_text(budget)} credits · **{found.evidence.text}**"
    ]
    if found.check.failing:
        lines.append(f"Still: {failing_text(found.check.failing)}.")
    lines.append(f"In all: {saved_text(found.step)} · {total_loss_text(found.step, pack)}")
    lines += [escaped(loss) for loss in protection_losses(found.step)]
    st.markdown("  \n".join(lines))
