"""The Trade-offs page: the region of days and samples, the frontier, and the lab's levers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from replicalab.facts import blocks, frontier, region, texts
from replicalab.facts.blocks import facts_table
from replicalab.facts.check import effects_panel
from replicalab.facts.plan import effect_label
from replicalab.facts.region import points_of, unbeaten_shown
from replicalab.lexicon import CREDITS, count_text
from replicalab.planner import PlanAnalysis, RegionLimit
from replicalab.render import figures
from replicalab.ui import panel
from replicalab.ui.controls import button, chosen_from
from replicalab.ui.tradeoffs import levers
from replicalab.ui.tradeoffs.outlook import Outlook, choose, chosen, look

if TYPE_CHECKING:
    import plotly.graph_objects as go

_CHART: Final = "region_chart"
_FRONTIER: Final = "Evidence for credits"


def draw(analysis: PlanAnalysis) -> None:
    """Draw the page: one chart at a time, and the controls next to it."""
    view = look(analysis)
    if text := region.no_evidence_text(view.options):
        verdict = blocks.Verdict(blocks.Status.FAIL, "No evidence", text)
        panel.draw(blocks.sentences_panel([text], verdict=verdict))
    picture, controls = st.columns([5, 3], gap="large")
    with picture:
        chart = st.radio(
            "Show",
            ["Days and samples", _FRONTIER],
            format_func=lambda name: name.replace(CREDITS, view.pack.lab.currency),
            horizontal=True,
            key="picture",
            persist_state="session",
        )
        # The other chart is not even computed.
        (_draw_frontier if chart == _FRONTIER else _draw_region)(view)
    with controls:
        levers.draw_levers(view)
        levers.draw_point(view)
        alone = blocks.sentences_panel([region.one_effect_text(view.yours)])
        effects = effects_panel(view.effects, view.compared) if view.effects else alone
        panel.draw(levers.extras(view), effects)


def _draw_region(view: Outlook) -> None:
    with st.container(key="region", gap=None):
        _draw_region_chart(view)
    with st.container(horizontal=True, key="layers"):
        _draw_layer("Samples that cannot count", "lost", on=view.choice.lost, view=view)
        if view.least_to_draw is not None:
            on = view.choice.as_least
            _draw_layer("The least-loss plan’s items", "as_least", on=on, view=view)
    _draw_effect_choice(view)
    other = None if view.choice.as_least else view.least_to_draw
    outside = view.region.outside(points_of(view.plans, view.drawn))
    facts = [*region.region_facts(view.drawn, view.yours, view.effect, outside, other)]
    reading = region.reading_fold(view.yours.evidence, lost=view.choice.lost)
    panel.draw(*([facts_table("The region", facts)] if facts else []), reading)
    panel.draw_tables(lambda: _region_tables(view))


def _draw_region_chart(view: Outlook) -> None:
    title = region.region_title(view.region)
    # The levers say for which lab.
    chart = figures.labelled_region(*_region_parts(view, (title, "")), lost=view.choice.lost)
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
    """Return the region with the chosen layers."""
    return figures.region_figure(*_region_parts(view, title), lost=view.choice.lost)


def _region_parts(view: Outlook, title: tuple[str, str]) -> tuple[Any, ...]:
    marks = figures.region_marks(view.plans, view.drawn, view.effect)
    return view.region, marks, region.limit_labels(view.pack), title


def _take_click() -> None:
    event: Mapping[str, Any] = st.session_state[_CHART]
    points, now = event["selection"]["points"], chosen()
    place = (int(points[-1]["x"]), int(points[-1]["y"])) if points else now.clicked
    if place is not None:
        choose(point=place, clicked=place, clicks=now.clicks + 1)


def _draw_layer(label: str, name: str, *, on: bool, view: Outlook) -> None:
    key = f"{name}_{view.choice.study}_{view.choice.version}"
    st.toggle(label, value=on, key=key, on_change=lambda: choose(**{name: st.session_state[key]}))


def _draw_effect_choice(view: Outlook) -> None:
    if view.effects:
        key = f"effect_choice_{view.choice.study}"
        places = range(len(view.effects))
        st.radio(
            "Effect assumed",
            places,
            index=view.effect_place,
            format_func=lambda place: effect_label(view.effects[place]),
            horizontal=True,
            key=key,
            help="For this page only. Change the plan’s own effect on Protocol.",
            on_change=chosen_from(key, places, lambda: choose(effect=st.session_state[key])),
        )


def _region_tables(view: Outlook) -> list[blocks.Table]:
    rows = [
        (
            name,
            f"{frontier.priced_size_text(plan)}, {count_text(plan.staff, 'staff unit')}",
            plan.evidence_at(view.effect).text,
            frontier.fits_text(plan),
        )
        for name, plan in view.plans.items()
    ]
    return [
        blocks.plain_table("The plans", ("Plan", "Size", "Evidence", "Fits"), rows),
        facts_table("The limits", region.limit_facts(view.pack).values()),
        region.region_table("The region", view.region, view.drawn, view.effect),
    ]


def _draw_frontier(view: Outlook) -> None:
    options, verdict = view.options, frontier.standing_verdict(view.options)
    if options.frontier.plans:
        _draw_frontier_chart(view, frontier.frontier_title(verdict, view.pack.lab.currency))
    lines = [verdict.text, frontier.balance_text(options)]
    table = frontier.standing_table(options)
    panel.draw(blocks.sentences_panel(lines, verdict=verdict), table)
    if options.balanced is not None:
        button(
            "Load the balanced plan into the editor",
            "balance",
            partial(levers.load, options.balanced.plan, "balanced"),
            key="load_balanced",
            disabled=options.balanced.plan == view.yours.plan,
        )
    levers.draw_loaded("balanced", view)
    if options.frontier.plans:
        plans = options.frontier
        undrawn = sum(len(line.plans) for line in plans.lines) < len(plans.plans)
        reading = [texts.FRONTIER_LINES]
        reading += [texts.FRONTIER_BALANCED] if plans.balanced is not None else []
        reading += [texts.FRONTIER_DAYS] if undrawn else []
        note = blocks.sentences_panel([frontier.outside_text(options)], quiet=True)
        panel.draw(note, blocks.Fold("How to read this", (blocks.listing(reading),)))
        panel.draw_tables(lambda: [frontier.frontier_table(options)])


def _draw_frontier_chart(view: Outlook, title: str) -> None:
    plans = unbeaten_shown(view.options)
    marks = [figures.Mark(name, plan, name, plan.evidence.number) for name, plan in plans.items()]
    st.plotly_chart(
        figures.frontier_figure(view.options.frontier, marks, (title, "")),
        key="frontier_chart",
        config=figures.CONFIG,
        theme=None,
        alt=texts.FRONTIER_ALT.format(title=title, means=region.means_text(view.pack)),
    )
