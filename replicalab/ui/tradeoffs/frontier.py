"""Trade-offs: the plans that nothing beats, the balanced one, and what the effect does to them."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from replicalab.figures import BALANCED, CONFIG, LEAST_LOSS, YOUR_PLAN, frontier_figure
from replicalab.lexicon import amount_text
from replicalab.planner import FrontierPlan
from replicalab.text.tradeoffs import (
    balance_text,
    effect_label,
    frontier_title,
    given_up_text,
    priced_size_text,
    standing_verdict,
)
from replicalab.ui.controls import button
from replicalab.ui.tradeoffs.outlook import Outlook
from replicalab.ui.tradeoffs.point import draw_loaded, load
from replicalab.ui.words import draw_table, draw_verdict, escaped

_TITLES: Final = {YOUR_PLAN: "Your plan", LEAST_LOSS: "Least-loss plan"}


def draw_frontier(view: Outlook) -> None:
    """Draw the plans that nothing beats, where the plan stands to them, and the balanced one."""
    verdict = standing_verdict(view.options)
    if not view.options.frontier.plans:
        draw_verdict(verdict)
        _draw_balance(view)
        return
    chart, words = st.columns([3, 2], gap="large")
    with words:
        draw_verdict(verdict)
        _draw_balance(view)
    with chart:
        _draw_chart(view, frontier_title(verdict))
        with st.expander("The same as a table"):
            _draw_table(view)


def _draw_balance(view: Outlook) -> None:
    balanced = view.options.balanced
    st.markdown(f"**The balance.** {escaped(balance_text(view.options))}")
    if balanced is not None:
        st.caption(
            "By Nash’s rule: the plan at which the two gains, multiplied, are largest; a plan that "
            "gives up some of the study counts for less."
        )
        button(
            "Load the balanced plan into the editor",
            "balance",
            partial(load, balanced.plan, "balanced"),
            key="load_balanced",
            disabled=balanced.plan == view.yours.plan,
        )
    draw_loaded("balanced", view)


def _draw_chart(view: Outlook, title: str) -> None:
    found, balanced = view.options.frontier, view.options.balanced
    plans = view.compared | ({} if balanced is None else {BALANCED: balanced})
    st.plotly_chart(
        frontier_figure(found, plans, title),
        key="frontier_chart",
        config=CONFIG,
        alt=f"{title}. Credits against evidence; the same stands in the table below.",
    )
    left_out = sum(len(line.plans) for line in found.lines) < len(found.plans)
    st.caption(
        "One line for each fidelity loss: the sum of what is given up of the study, up to 3 for a "
        "substitution and 1 for a dropped control."
        + (" A plan that nothing beats only because it takes fewer days is not drawn."
           if left_out else "")
    )  # fmt: skip


def _draw_table(view: Outlook) -> None:
    found = view.options.frontier
    rows = [_row(each, view) for each in found.listed]
    draw_table(("Plan", "Evidence", "Fidelity loss", "Given up"), rows)
    if len(found.listed) < len(found.plans):
        st.caption(
            f"{len(found.listed)} of {amount_text(len(found.plans))} plans: of each "
            "line the cheapest, the dearest, and some between them, evenly spaced by credits."
        )


def _row(each: FrontierPlan, view: Outlook) -> tuple[str, ...]:
    balanced = f" ({BALANCED})" if each is view.options.frontier.balanced else ""
    return (
        f"{priced_size_text(each)}{balanced}",
        view.yours.evidence.amount(each.value),
        str(each.loss),
        given_up_text(view.options.judged(each.plan(view.yours.plan, view.pack))),
    )


# --- the assumed effects --------------------------------------------------------------------


def draw_effects(view: Outlook) -> None:
    """Draw what the plan and the least-loss plan are worth at every effect worth assuming."""
    if not view.effects:
        st.caption("This study’s evidence does not rest on an assumed effect that could be off.")
        return
    plans = view.compared
    rows = [
        (effect_label(each), *(plan.evidence_at(each.effect).text for plan in plans.values()))
        for each in view.effects
    ]
    with st.container(key="effects"):
        draw_table(("Effect assumed", *(_TITLES[name] for name in plans)), rows)
