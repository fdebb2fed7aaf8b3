"""The check of a plan: the verdict, seven tiles, the reasons, and the cost against the budget."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.assessment import Assessment, Slack
from replicalab.figures import CONFIG, cost_chart
from replicalab.lexicon import amount_text, count_text, signed_text
from replicalab.models import FIELD_LABELS
from replicalab.planner import Options
from replicalab.text.options import what_to_do
from replicalab.text.plan import (
    cliff_text,
    dropped_cautions,
    reasons_once,
    slack_text,
    staff_text,
    unmet_durations,
    used_text,
)
from replicalab.text.verdicts import Status, plan_verdict
from replicalab.ui.protocol.changes import Tick, Ticked
from replicalab.ui.words import DIMENSION_LABELS, coloured, draw_verdict, escaped, pass_or_fail

_BINDING: Final = "Slack is what is left of a limit. Binding is the resource used most."
_TILE_WIDTH: Final = 140
"""In CSS pixels: seven tiles stand side by side on a projector, two on a phone."""


def draw_verdict_and_way(options: Options) -> None:
    """Draw what the plan is worth, in one sentence, and what to do about it, in another."""
    draw_verdict(plan_verdict(options.yours))
    st.markdown(
        f"**What to do:** {escaped(what_to_do(options))} [See what to change](#what-to-change)"
    )


def draw_tiles(plan: Assessment) -> None:
    """Draw the seven dimensions in numbers, the binding one marked."""
    with st.grid("auto", min_column_width=_TILE_WIDTH, gap="xsmall", key="tiles"):
        for slack in plan.slack.values():
            _draw_tile(plan, slack)


def _draw_tile(plan: Assessment, slack: Slack) -> None:
    word, binds = "pass" if slack.ok else "fail", slack.dimension is plan.binding
    label = DIMENSION_LABELS[slack.dimension]
    with st.container(border=True, gap=None, height="stretch", key=f"tile_{slack.dimension}"):
        st.markdown(
            f"**{label}** {coloured(pass_or_fail(slack.ok), word)}",
            help=_BINDING if binds else None,
        )
        st.markdown(used_text(plan, slack))
        if left := slack_text(slack):
            st.caption(f"slack {left}{' · binding' if binds else ''}")


def draw_reasons(plan: Assessment) -> None:
    """Draw why dimensions fail, what the study loses by what the plan lacks, notes and cliffs."""
    lines = [
        f"- {coloured(Status.FAIL, DIMENSION_LABELS[dimension])}: {escaped(reason)}"
        for dimension, reason in reasons_once(plan)
    ]
    notes = [issue.message for issue in plan.validation.paper_warnings]
    notes += unmet_durations(plan.counts.days, plan.pack, checked=False)
    for name, texts in (
        ("Caution", dropped_cautions(plan)),
        ("Note", notes),
        ("Close to a step", [cliff_text(cliff) for cliff in plan.cliffs]),
    ):
        lines += [f"- {coloured(Status.CAUTION, name)}: {escaped(text)}" for text in texts]
    if lines:
        st.markdown("\n".join(lines))


def draw_cost(found: Ticked) -> None:
    """Draw the cost against the budget, before and after the ticked changes, and the staff."""
    plan, after = found.yours, found.result
    total, budget = amount_text(plan.cost), amount_text(plan.pack.lab.budget)
    alt = f"Cost by term: {total} of a budget of {budget} credits"
    st.plotly_chart(
        cost_chart(plan, [tick.step for tick in found.taken]),
        key="cost_chart",
        config=CONFIG,
        alt=f"{alt}; {amount_text(after.cost)} as ticked" if found.taken else alt,
    )
    with st.expander("The cost as a table"):
        rows = [
            (t.label, f"{count_text(t.number, t.noun)} × {amount_text(t.rate)}",
             amount_text(t.credits)) for t in plan.cost_terms
        ]  # fmt: skip
        rows.append(("Total", "", total))
        rows += [_change_row(number, tick) for number, tick in enumerate(found.taken, start=1)]
        rows += [("As ticked", "", amount_text(after.cost))] if found.taken else []
        rows.append(("Budget", "", budget))
        st.table(
            {name: list(column) for name, column in
             zip(("Term", "Units × rate", "Credits"), zip(*rows, strict=True), strict=True)},
            hide_index=True,
        )  # fmt: skip
        st.caption(f"Staff: {staff_text(plan)}.")


def _change_row(number: int, tick: Tick) -> tuple[str, str, str]:
    """Return a change as a row: its name, from → to, and the signed credits."""
    change, added = tick.change, -tick.step.credits_saved
    values = f"{escaped(change.original)} → {escaped(change.revised)}"
    return f"{number}. {FIELD_LABELS[change.field]}", values, signed_text(added, "±")
