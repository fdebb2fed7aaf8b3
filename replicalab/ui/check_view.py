"""The check of a plan: the verdict, seven tiles, the reasons, and the cost against the budget."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.concessions import Concession
from replicalab.costs import cost_terms, counts_of
from replicalab.figures import CONFIG, CostStep, cost_chart
from replicalab.lexicon import amount_text
from replicalab.margins import (
    Margin,
    cliffs,
    margins,
    reasons_once,
    tightest,
    unmet_durations,
)
from replicalab.sentences import (
    Options,
    Status,
    Verdict,
    dropped_cautions,
    plan_verdict,
    what_to_do,
)
from replicalab.ui.session import Here
from replicalab.ui.suggestion_view import Ticked
from replicalab.ui.words import DIMENSION_LABELS, ICONS, coloured, escaped, pass_or_fail

_BINDING: Final = "Slack is what is left of a limit. Binding is the resource used most."
_TILE_WIDTH: Final = 140
"""In CSS pixels: seven tiles stand side by side on a projector, two on a phone."""


def draw_verdict(verdict: Verdict) -> None:
    """Draw a verdict sentence in its colour, with its symbol."""
    box = {Status.PASS: st.success, Status.CAUTION: st.warning, Status.FAIL: st.error}
    box[verdict.status](escaped(verdict.text), icon=ICONS[verdict.status])


def draw_plan_verdict(here: Here, options: Options) -> None:
    """Draw what the plan is worth, in one sentence, and what to do about it, in another."""
    draw_verdict(plan_verdict(here.check, here.evidence))
    st.markdown(
        f"**What to do:** {escaped(what_to_do(options, here.pack))} "
        "[See what to change](#what-to-change)"
    )


def draw_tiles(here: Here) -> None:
    """Draw the seven dimensions in numbers, the binding one marked."""
    found = margins(here.plan, here.check, here.pack)
    binding = tightest(found)
    with st.grid("auto", min_column_width=_TILE_WIDTH, gap="xsmall", key="tiles"):
        for margin in found:
            _draw_tile(margin, margin.dimension is binding)


def _draw_tile(margin: Margin, binds: bool) -> None:
    word = "pass" if margin.ok else "fail"
    label = DIMENSION_LABELS[margin.dimension]
    with st.container(border=True, gap=None, height="stretch", key=f"tile_{margin.dimension}"):
        st.markdown(
            f"**{label}** {coloured(pass_or_fail(margin.ok), word)}",
            help=_BINDING if binds else None,
        )
        st.markdown(margin.text)
        if margin.has_slack:
            st.caption(f"slack {margin.slack_text}{' · binding' if binds else ''}")


def draw_reasons(here: Here) -> None:
    """Draw why dimensions fail, what the study loses by what the plan lacks, notes and cliffs."""
    lines = [
        f"- {coloured(Status.FAIL, DIMENSION_LABELS[dimension])}: {escaped(reason)}"
        for dimension, reason in reasons_once(here.check)
    ]
    cautions = dropped_cautions(here.plan, here.pack)
    notes = [issue.message for issue in here.check.validation_result.paper_warnings]
    notes += unmet_durations(here.plan.duration_days, here.pack, checked=False)
    steps = cliffs(here.plan, here.pack)
    for name, texts in (("Caution", cautions), ("Note", notes), ("Close to a step", steps)):
        lines += [f"- {coloured(Status.CAUTION, name)}: {escaped(text)}" for text in texts]
    if lines:
        st.markdown("\n".join(lines))


def draw_cost(here: Here, found: Ticked) -> None:
    """Draw the cost against the budget, before and after the ticked changes."""
    total, budget = here.check.estimated_cost, here.pack.lab.budget
    terms = cost_terms(counts_of(here.plan), here.pack.cost_model)
    steps = [CostStep(step.label, step.old.credits, step.new.credits) for step in found.taken]
    after = found.result.check.estimated_cost
    alt = f"Cost by term: {amount_text(total)} of a budget of {amount_text(budget)} credits"
    st.plotly_chart(
        cost_chart(terms, total, budget, steps),
        key="cost_chart",
        config=CONFIG,
        alt=f"{alt}; {amount_text(after)} as ticked" if steps else alt,
    )
    with st.expander("The cost as a table"):
        rows = [(t.label, f"{amount_text(t.number)} {t.unit} × {amount_text(t.rate)}",
                 amount_text(t.credits)) for t in terms]  # fmt: skip
        rows.append(("Total", "", amount_text(total)))
        rows += [_step_row(number, step) for number, step in enumerate(found.taken, start=1)]
        rows += [("As ticked", "", amount_text(after))] if steps else []
        rows.append(("Budget", "", amount_text(budget)))
        st.table(
            {name: list(column) for name, column in
             zip(("Term", "Units × rate", "Credits"), zip(*rows, strict=True), strict=True)},
            hide_index=True,
        )  # fmt: skip


def _step_row(number: int, step: Concession) -> tuple[str, str, str]:
    """Return a change as a row: its name, from → to, and the signed credits."""
    sign = "\u2212" if step.credits_saved > 0 else "+" if step.credits_saved < 0 else "±"
    change = f"{escaped(step.before)} → {escaped(step.after)}"
    return f"{number}. {step.label}", change, f"{sign}{amount_text(abs(step.credits_saved))}"
