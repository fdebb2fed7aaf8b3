"""The check of a plan: the verdict, seven tiles, the reasons, and the cost against the budget."""

from __future__ import annotations

import streamlit as st

from replicalab.costs import amount_text, cost_terms, counts_of
from replicalab.figures import CONFIG, cost_chart
from replicalab.margins import Margin, cliffs, margins, tightest
from replicalab.sentences import Status, Verdict, plan_verdict
from replicalab.ui.session import Here
from replicalab.ui.words import DIMENSION_LABELS, ICONS, coloured, escaped, pass_or_fail


def draw_verdict(verdict: Verdict) -> None:
    """Draw a verdict sentence in its colour, with its symbol."""
    box = {Status.PASS: st.success, Status.CAUTION: st.warning, Status.FAIL: st.error}
    box[verdict.status](escaped(verdict.text), icon=ICONS[verdict.status])


def draw_plan_verdict(here: Here) -> None:
    """Draw what the plan is worth, in one sentence."""
    draw_verdict(plan_verdict(here.check, here.evidence))


def draw(here: Here) -> None:
    """Draw the whole check of the plan: tiles, reasons, cliffs, cost."""
    found = margins(here.plan, here.check, here.pack)
    _draw_tiles(found)
    _draw_reasons(found, here)
    _draw_cost(here)


def _draw_tiles(found: tuple[Margin, ...]) -> None:
    binding = tightest(found)
    with st.grid("auto", min_column_width=150, key="tiles"):
        for margin in found:
            _draw_tile(margin, margin.dimension is binding)


def _draw_tile(margin: Margin, binds: bool) -> None:
    word = "pass" if margin.ok else "fail"
    label = DIMENSION_LABELS[margin.dimension]
    with st.container(border=True, gap=None, height="stretch", key=f"tile_{margin.dimension}"):
        st.markdown(f"**{label}** {coloured(pass_or_fail(margin.ok), word)}")
        st.markdown(margin.text)
        st.caption(f"slack {margin.slack_text}{' · binding' if binds else ''}")


def _draw_reasons(found: tuple[Margin, ...], here: Here) -> None:
    lines = [
        f"- {coloured(Status.FAIL, DIMENSION_LABELS[margin.dimension])}: {escaped(reason)}"
        for margin in found
        for reason in margin.reasons
    ]
    lines += [
        f"- {coloured(Status.CAUTION, 'Note')}: {escaped(issue.message)}"
        for issue in here.check.validation_result.paper_warnings
    ]
    lines += [f"- {coloured(Status.CAUTION, 'Cliff')}: {c}" for c in cliffs(here.plan, here.pack)]
    if lines:
        st.markdown("\n".join(lines))


def _draw_cost(here: Here) -> None:
    """Draw the five cost terms against the budget, as a chart and as a table."""
    total, budget = here.check.estimated_cost, here.pack.lab.budget_remaining
    terms = cost_terms(counts_of(here.plan), here.pack.cost_model)
    figure = cost_chart(terms, total, budget)
    st.plotly_chart(
        figure, key="cost_chart", config=CONFIG, alt="Cost by term against the budget, in credits"
    )
    with st.expander("The same as a table"):
        rows = [(t.label, f"{amount_text(t.number)} {t.unit} × {amount_text(t.rate)}",
                 amount_text(t.credits)) for t in terms]  # fmt: skip
        rows.append(("Total", "", amount_text(total)))
        rows.append(("Budget", "", amount_text(budget)))
        st.table(
            {name: list(column) for name, column in
             zip(("Term", "Units × rate", "Credits"), zip(*rows, strict=True), strict=True)},
            hide_index=True,
        )  # fmt: skip
