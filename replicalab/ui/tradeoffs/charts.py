"""Trade-offs: its two pictures, the region of days and samples and the plans that nothing beats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.facts import blocks, frontier, region, texts
from replicalab.facts.check import effects_panel
from replicalab.facts.fact import facts_table
from replicalab.facts.plan import effect_label
from replicalab.facts.tradeoffs import points_of, unbeaten_shown
from replicalab.lexicon import count_text
from replicalab.planner import RegionLimit
from replicalab.render import figures
from replicalab.ui import panel
from replicalab.ui.controls import button
from replicalab.ui.tradeoffs.levers import draw_loaded, load
from replicalab.ui.tradeoffs.outlook import Outlook, choose, chosen

if TYPE_CHECKING:
    import plotly.graph_objects as go

_CHART: Final = "region_chart"


def draw_region(view: Outlook) -> None:
    """Draw the region of days and samples, its layers, and its tables."""
    with st.container(key="region", gap=None):
        _draw_region_chart(view)
    with st.container(horizontal=True, key="layers"):
        _draw_layer("Samples that cannot count", "lost", on=view.choice.lost, view=view)
        if view.least_to_draw is not None:
            on = view.choice.as_least
            _draw_layer("The least-loss plan’s items", "as_least", on=on, view=view)
    _draw_effect(view)
    panel.draw(*_region_notes(view))
    panel.draw_tables(lambda: _region_tables(view))


def _draw_region_chart(view: Outlook) -> None:
    """Draw the region, and over it its labels and the point, for which it is not drawn anew."""
    title = region.region_title(view.region)
    row = view.region, _marks(view), _limits(view), (title, "")  # the levers say for which lab
    chart = figures.labelled_region(*row, lost=view.choice.lost)
    st.plotly_chart(
        chart.figure,
        key=_CHART,
        config=figures.CONFIG,
        theme=None,
        on_select=_take_click,
        selection_mode="points",
        alt=texts.REGION_ALT.format(title=title, means=region.means_text(view.pack)),
    )
    marked = [(plan.counts.days, plan.counts.samples) for plan in view.plans.values()]
    spot = None if view.place in marked else figures.spotted(view.region, *view.place)
    panel.draw(figures.over_panel(chart, spot))


def region_chart(view: Outlook, title: tuple[str, str]) -> go.Figure:
    """Return the region as it is chosen to be seen."""
    row = view.region, _marks(view), _limits(view), title
    return figures.region_figure(*row, lost=view.choice.lost)


def _limits(view: Outlook) -> dict[RegionLimit, str]:
    facts = region.limit_facts(view.pack)
    return {limit: region.LINES[limit].format(fact.shown) for limit, fact in facts.items()}


def _marks(view: Outlook) -> list[figures.Mark]:
    return figures.region_marks(view.plans, view.drawn, view.effect)


def _take_click() -> None:
    """Choose the point that was clicked in the chart; a second click on it chooses it again."""
    event: Mapping[str, Any] = st.session_state[_CHART]
    points, now = event["selection"]["points"], chosen()
    place = (int(points[-1]["x"]), int(points[-1]["y"])) if points else now.clicked
    if place is not None:
        choose(point=place, clicked=place, clicks=now.clicks + 1)


def _draw_layer(label: str, name: str, *, on: bool, view: Outlook) -> None:
    key = f"{name}_{view.choice.study}_{view.choice.version}"
    st.toggle(label, value=on, key=key, on_change=lambda: choose(**{name: st.session_state[key]}))


def _region_notes(view: Outlook) -> Iterator[blocks.Block]:
    """Yield for which plan the region is drawn, what is not in it, and how to read it."""
    draw = None if view.choice.as_least else view.least_to_draw
    outside = view.region.outside(points_of(view.plans, view.drawn))
    if facts := [*region.region_facts(view.drawn, view.yours, view.effect, outside, draw)]:
        yield facts_table("The region", facts)
    yield region.reading_fold(view.yours.evidence, lost=view.choice.lost)


# --- the effect assumed -----------------------------------------------------------------------


def _draw_effect(view: Outlook) -> None:
    """Draw the choice of the assumed effect, where the evidence assumes one."""
    if not view.effects:
        return
    key = f"effect_choice_{view.choice.study}"
    st.radio(
        "Effect assumed",
        range(len(view.effects)),
        index=view.effect_place,
        format_func=lambda place: effect_label(view.effects[place]),
        horizontal=True,
        key=key,
        help="To look at only. What the plan assumes is changed on Protocol.",
        on_change=lambda: choose(effect=st.session_state[key]),
    )


def all_effects(view: Outlook) -> blocks.Group:
    """Return what the plan and the least-loss plan are worth at every effect worth assuming."""
    if view.effects:
        return effects_panel(view.effects, view.compared)
    return blocks.sentences_panel([region.one_effect_text(view.yours)])


# --- tables ---------------------------------------------------------------------------------


def _region_tables(view: Outlook) -> list[blocks.Table]:
    return [
        blocks.plain_table(
            "The plans",
            ("Plan", "What it takes", "Evidence", "Fits"),
            [_plan_row(name, plan, view.effect) for name, plan in view.plans.items()],
        ),
        facts_table("The limits", region.limit_facts(view.pack).values()),
        region.region_table("The region", view.region, view.drawn, view.effect),
    ]


def _plan_row(name: str, plan: Assessment, effect: float | None) -> tuple[str, ...]:
    return (
        name,
        f"{frontier.priced_size_text(plan)}, {count_text(plan.staff, 'staff unit')}",
        plan.evidence_at(effect).text,
        frontier.fits_text(plan),
    )


# --- the plans that nothing beats ---------------------------------------------------------------


def draw_frontier(view: Outlook) -> None:
    """Draw the plans that nothing beats, where the plan stands to them, and the balanced one."""
    verdict = frontier.standing_verdict(view.options)
    if view.options.frontier.plans:
        _draw_frontier_chart(view, verdict)
    lines = [verdict.text, frontier.balance_text(view.options)]
    standing = frontier.standing_table(view.options)
    panel.draw(blocks.sentences_panel(lines, verdict=verdict), standing)
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
    if view.options.frontier.plans:
        outside = blocks.sentences_panel([empty_text(view)], quiet=True)
        panel.draw(outside, _frontier_fold(view))
        panel.draw_tables(lambda: [frontier.frontier_table(view.options)])


def _draw_frontier_chart(view: Outlook, verdict: blocks.Verdict) -> None:
    currency = view.pack.lab.currency
    title = frontier.frontier_title(verdict, currency)
    st.plotly_chart(
        frontier_chart(view, (title, "")),
        key="frontier_chart",
        config=figures.CONFIG,
        theme=None,
        alt=texts.FRONTIER_ALT.format(title=title, means=region.means_text(view.pack)),
    )


def frontier_chart(view: Outlook, title: tuple[str, str]) -> go.Figure:
    """Return the plans that nothing beats, and yours; the title is as `Sheet.figure` has it."""
    plans = unbeaten_shown(view.options)
    marks = [figures.Mark(name, plan, name, plan.evidence.number) for name, plan in plans.items()]
    return figures.frontier_figure(view.options.frontier, marks, title)


def empty_text(view: Outlook) -> str:
    """Return that no plan that fits lies in the picture; empty where one does."""
    result, evidence = view.options.frontier, view.yours.evidence
    return (
        ""
        if frontier.shows_a_plan(result, evidence)
        else frontier.all_outside_text(result, evidence)
    )


def _frontier_fold(view: Outlook) -> blocks.Fold:
    """Return how to read the chart of the frontier."""
    result = view.options.frontier
    undrawn = sum(len(line.plans) for line in result.lines) < len(result.plans)
    lines = [
        texts.FRONTIER_LINES,
        *([texts.FRONTIER_BALANCED] if result.balanced is not None else []),
        *([texts.FRONTIER_DAYS] if undrawn else []),
    ]
    return blocks.Fold("How to read this", (blocks.listing(lines),))
