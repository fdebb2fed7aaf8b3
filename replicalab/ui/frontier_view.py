"""Trade-offs: the plans that nothing beats, the balanced one, and what the effect does to them."""

from __future__ import annotations

import math

import streamlit as st

from replicalab.agents import check_feasibility
from replicalab.concessions import price
from replicalab.evidence import planned_evidence
from replicalab.figures import BALANCED, CONFIG, LEAST_LOSS, YOUR_PLAN, PlanMark, frontier_figure
from replicalab.sentences import balance_text, effect_text, priced_size_text, standing_verdict
from replicalab.ui import session
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.tradeoff_numbers import (
    Best,
    Outlook,
    best_of,
    effects_of,
    frontier_points,
    frontier_title,
    measure_of,
)
from replicalab.ui.tradeoffs_view import draw_table
from replicalab.ui.words import escaped


def draw_frontier(view: Outlook) -> None:
    """Draw the plans that nothing beats, where the plan stands to them, and the balanced one."""
    best = best_of(view)
    check = check_feasibility(view.plan, view.pack)
    verdict = standing_verdict(view.plan, check, best.frontier, view.pack)
    chart, words = st.columns([3, 2], gap="large")
    with words:
        draw_verdict(verdict)
        _draw_balance(best, view)
    with chart:
        if best.shown:
            _draw_frontier_chart(best, view, frontier_title(best, verdict))


def _draw_balance(best: Best, view: Outlook) -> None:
    st.markdown(f"**The balance.** {escaped(balance_text(best.balanced, view.pack))}")
    if best.balanced is not None:
        st.caption(
            "By Nash’s rule: the plan at which the two gains, multiplied, are largest; a plan that "
            "gives up some of the study counts for less."
        )
        st.button(
            "Load the balanced plan into the editor",
            icon=":material/balance:",
            key="load_balanced",
            on_click=session.replace_plan,
            args=(best.balanced.plan(view.plan),),
        )


def _draw_frontier_chart(best: Best, view: Outlook, title: str) -> None:
    measure, evidence = measure_of(view), planned_evidence(view.plan, view.pack)
    levels = {evidence.target: "target", evidence.floor: "floor"}
    if evidence.target == evidence.floor:
        levels = {evidence.target: "target"}
    figure = frontier_figure(
        frontier_points(best, measure),
        _plan_marks(best, view),
        budget=view.pack.lab.budget_remaining,
        levels=[(f"{name} {evidence.amount(value)}", value) for value, name in levels.items()],
        measure=measure,
        title=title,
    )
    st.plotly_chart(
        figure,
        key="frontier_chart",
        config=CONFIG,
        alt=f"{title}. Credits against evidence; the same stands in the table below.",
    )
    st.caption(
        "Fidelity loss: what is given up of the study, up to 3 for a substitution and 1 for a "
        "dropped control."
    )
    left_out = len(best.frontier.plans) - len(best.shown)
    if left_out:
        st.caption(
            f"{len(best.shown)} of {len(best.frontier.plans)} plans are shown, evenly spaced."
        )
    _draw_frontier_table(best, view)


def _plan_marks(best: Best, view: Outlook) -> list[PlanMark]:
    plans = {YOUR_PLAN: view.plan, LEAST_LOSS: view.least.plan}
    worst = measure_of(view).highest if measure_of(view).lower_is_better else 0.0
    marks = []
    for name, plan in plans.items():
        priced = price(plan, view.pack)
        value = priced.evidence.value
        marks.append(PlanMark(name, priced.credits, value if math.isfinite(value) else worst))
    if best.balanced is not None:
        marks.append(PlanMark(BALANCED, best.balanced.credits, best.balanced.value))
    return marks


def _draw_frontier_table(best: Best, view: Outlook) -> None:
    amount = planned_evidence(view.plan, view.pack).amount
    with st.expander("The same as a table"):
        rows = [
            (
                f"{priced_size_text(each.samples, each.days, each.credits)}"
                f"{f' ({BALANCED})' if each is best.balanced else ''}",
                amount(each.value),
                str(each.loss),
            )
            for each in best.shown
        ]
        draw_table(("Plan", "Evidence", "Fidelity loss"), rows)


# --- the assumed effects --------------------------------------------------------------------


def draw_effects(view: Outlook) -> None:
    """Draw what the plan and the least-loss plan are worth at every effect worth assuming."""
    effects = effects_of(view.pack)
    if not effects:
        st.caption("This study’s evidence does not rest on an assumed effect that could be off.")
        return
    rows = [
        (
            f"{label} ({effect_text(effect)})",
            planned_evidence(view.plan, view.pack, effect).text,
            planned_evidence(view.least.plan, view.pack, effect).text,
        )
        for label, effect in effects
    ]
    with st.container(key="effects"):
        draw_table(("Effect assumed", YOUR_PLAN.capitalize(), "Least-loss plan"), rows)
