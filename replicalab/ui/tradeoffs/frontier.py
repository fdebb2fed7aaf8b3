"""Trade-offs: the plans that nothing beats, where yours stands to them, and the balanced one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import plotly.graph_objects as go
import streamlit as st

from replicalab.lexicon import amount_text
from replicalab.planner import FrontierPlan
from replicalab.render.figures import BALANCED, CONFIG, Mark, frontier_figure, shows_a_plan
from replicalab.ui import panel
from replicalab.ui.controls import button
from replicalab.ui.tradeoffs.levers import draw_loaded, load
from replicalab.ui.tradeoffs.outlook import Outlook
from replicalab.views.blocks import Table, Verdict, plain_table, sentences_panel
from replicalab.views.frontier import (
    all_outside_text,
    balance_text,
    frontier_title,
    lost_text,
    priced_size_text,
    standing_verdict,
)
from replicalab.views.region import means_text

_NASH: Final = (
    "Balanced, by Nash’s rule: the plan at which the two gains, multiplied, are largest; a plan "
    "that gives up some of the study counts for less."
)
_LOSSES: Final = (
    "One line for each fidelity loss: the sum of what is given up of the study, up to 3 for a "
    "substitution and 1 for a dropped control."
)
_UNDRAWN: Final = "A plan that nothing beats only because it takes fewer days is not drawn."


def draw_frontier(view: Outlook) -> None:
    """Draw the plans that nothing beats, where the plan stands to them, and the balanced one."""
    verdict = standing_verdict(view.options)
    if view.options.frontier.plans:
        _draw_chart(view, verdict)
    panel.draw(sentences_panel([verdict.text, balance_text(view.options)], verdict=verdict))
    _draw_load(view)
    if view.options.frontier.plans:
        panel.draw(sentences_panel(_notes(view), quiet=True))
        panel.draw_tables(lambda: [_table(view)])


def _draw_load(view: Outlook) -> None:
    balanced = view.options.balanced
    if balanced is not None:
        button(
            "Load the balanced plan into the editor",
            "balance",
            partial(load, balanced.plan, "balanced"),
            key="load_balanced",
            disabled=balanced.plan == view.yours.plan,
        )
    draw_loaded("balanced", view)


def _draw_chart(view: Outlook, verdict: Verdict) -> None:
    title = frontier_title(verdict)
    st.plotly_chart(
        frontier_chart(view, (title, "")),
        key="frontier_chart",
        config=CONFIG,
        theme=None,
        alt=f"{title}, {means_text(view.pack)}. Credits against evidence; the same stands in the "
        "table below.",
    )


def frontier_chart(view: Outlook, title: tuple[str, str]) -> go.Figure:
    """Return the plans that nothing beats, and yours; the title is as `Sheet.figure` has it."""
    balanced = view.options.balanced
    plans = view.compared | ({} if balanced is None else {BALANCED: balanced})
    marks = [Mark(name, plan, name, plan.evidence.number) for name, plan in plans.items()]
    return frontier_figure(view.options.frontier, marks, title)


def empty_text(view: Outlook) -> str:
    """Return that no plan that fits lies in the picture; empty where one does."""
    found, evidence = view.options.frontier, view.yours.evidence
    return "" if shows_a_plan(found, evidence) else all_outside_text(found, evidence)


def _notes(view: Outlook) -> Iterator[str]:
    found = view.options.frontier
    if told := empty_text(view):
        yield told
    yield _LOSSES
    if found.balanced is not None:
        yield _NASH
    if sum(len(line.plans) for line in found.lines) < len(found.plans):
        yield _UNDRAWN


def _table(view: Outlook) -> Table:
    found = view.options.frontier
    caption = (
        f"{len(found.listed)} of {amount_text(len(found.plans))} plans: of each line the cheapest, "
        "the dearest, and some between them, evenly spaced by credits"
    )
    names = ("Plan", "Evidence", "Fidelity loss", "Given up")
    return plain_table(caption, names, [_row(each, view) for each in found.listed])


def _row(each: FrontierPlan, view: Outlook) -> tuple[str, ...]:
    balanced = f" ({BALANCED})" if each is view.options.frontier.balanced else ""
    return (
        f"{priced_size_text(each)}{balanced}",
        view.yours.evidence.amount(each.value),
        str(each.loss),
        lost_text(view.options.judged(each.plan(view.yours.plan))),
    )
