"""Trade-offs: the plans that nothing beats, the balanced one, and what the effect does to them."""

from __future__ import annotations

import math
from typing import Final

import streamlit as st

from replicalab.agents import check_feasibility
from replicalab.concessions import price
from replicalab.evidence import planned_evidence
from replicalab.figures import BALANCED, CONFIG, LEAST_LOSS, YOUR_PLAN, PlanMark, frontier_figure
from replicalab.lexicon import amount_text
from replicalab.planner import FrontierPlan
from replicalab.sentences import (
    Verdict,
    balance_text,
    given_up_text,
    priced_size_text,
    standing_verdict,
)
from replicalab.ui import point_view
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.tradeoff_choices import effect_label
from replicalab.ui.tradeoff_numbers import (
    Best,
    Outlook,
    best_of,
    effects_of,
    frontier_lines,
    frontier_title,
    measure_of,
)
from replicalab.ui.tradeoffs_view import draw_table
from replicalab.ui.words import escaped

_TITLES: Final = {YOUR_PLAN: "Your plan", LEAST_LOSS: "Least-loss plan"}


def draw_frontier(view: Outlook) -> None:
    """Draw the plans that nothing beats, where the plan stands to them, and the balanced one."""
    best = best_of(view)
    check = check_feasibility(view.plan, view.pack)
    verdict = standing_verdict(view.plan, check, best.frontier, view.least, view.pack)
    if not best.lines:
        _draw_words(best, view, verdict)
        return
    chart, words = st.columns([3, 2], gap="large")
    with words:
        _draw_words(best, view, verdict)
    with chart:
        _draw_frontier_chart(best, view, frontier_title(verdict))


def _draw_words(best: Best, view: Outlook, verdict: Verdict) -> None:
    draw_verdict(verdict)
    _draw_balance(best, view)


def _draw_balance(best: Best, view: Outlook) -> None:
    st.markdown(f"**The balance.** {escaped(balance_text(best.balanced, view.plan, view.pack))}")
    if best.balanced is not None:
        st.caption(
            "By Nash’s rule: the plan at which the two gains, multiplied, are largest; a plan that "
            "gives up some of the study counts for less."
        )
        st.button(
            "Load the balanced plan into the editor",
            icon=":material/balance:",
            key="load_balanced",
            on_click=point_view.load,
            args=(best.balanced.plan(view.plan), "balanced"),
            disabled=best.balanced.plan(view.plan) == view.plan,
        )
    point_view.draw_loaded("balanced")


def _draw_frontier_chart(best: Best, view: Outlook, title: str) -> None:
    measure, evidence = measure_of(view), planned_evidence(view.plan, view.pack)
    levels = {evidence.target: "target", evidence.floor: "floor"}
    if evidence.target == evidence.floor:
        levels = {evidence.target: "target"}
    figure = frontier_figure(
        frontier_lines(best, measure),
        _plan_marks(best, view),
        budget=view.pack.lab.budget,
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
        "One line for each fidelity loss: the sum of what is given up of the study, up to 3 for a "
        "substitution and 1 for a dropped control."
        + ("" if best.all_on_lines else
           " A plan that nothing beats only because it takes fewer days is not drawn.")
    )  # fmt: skip
    _draw_frontier_table(best, view)


def _plan_marks(best: Best, view: Outlook) -> list[PlanMark]:
    plans = {name: view.plans[name] for name in (YOUR_PLAN, LEAST_LOSS) if name in view.plans}
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
    with st.expander("The same as a table"):
        rows = [_frontier_row(each, view, best) for each in best.listed]
        draw_table(("Plan", "Evidence", "Fidelity loss", "Given up"), rows)
        if len(best.listed) < len(best.frontier.plans):
            st.caption(
                f"{len(best.listed)} of {amount_text(len(best.frontier.plans))} plans: of each "
                "line the cheapest, the dearest, and some between them, evenly spaced by credits."
            )


def _frontier_row(each: FrontierPlan, view: Outlook, best: Best) -> tuple[str, ...]:
    return (
        f"{priced_size_text(each.samples, each.days, each.credits)}"
        f"{f' ({BALANCED})' if each is best.balanced else ''}",
        planned_evidence(view.plan, view.pack).amount(each.value),
        str(each.loss),
        given_up_text(each.plan(view.plan), view.pack),
    )


# --- the assumed effects --------------------------------------------------------------------


def draw_effects(view: Outlook) -> None:
    """Draw what the plan and the least-loss plan are worth at every effect worth assuming."""
    effects = effects_of(view.pack)
    if not effects:
        st.caption("This study’s evidence does not rest on an assumed effect that could be off.")
        return
    plans = {name: view.plans[name] for name in (YOUR_PLAN, LEAST_LOSS) if name in view.plans}
    rows = [
        (
            effect_label(each),
            *(planned_evidence(plan, view.pack, each.effect).text for plan in plans.values()),
        )
        for each in effects
    ]
    with st.container(key="effects"):
        draw_table(("Effect assumed", *(_TITLES[name] for name in plans)), rows)
