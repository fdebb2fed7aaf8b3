"""Trade-offs: the region of days and samples, and what to know before looking at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

from replicalab.assessment import Assessment
from replicalab.lexicon import amount_text, capitalised, count_text
from replicalab.planner import RegionLimit
from replicalab.render.figures import (
    CONFIG,
    Mark,
    labelled_region,
    over_panel,
    region_figure,
    spotted,
)
from replicalab.ui import panel
from replicalab.ui.tradeoffs.outlook import Outlook, choose, chosen
from replicalab.views.blocks import Group, Table, plain_table, sentences_panel
from replicalab.views.check import effects_panel
from replicalab.views.frontier import fits_text, priced_size_text
from replicalab.views.plan import effect_label
from replicalab.views.region import (
    apart_text,
    fillings_text,
    limit_texts,
    means_text,
    one_effect_text,
    outside_text,
    own_items_text,
    region_title,
    worded_text,
)

_CHART: Final = "region_chart"
_READING: Final = ". Click to choose a point ✕."
_LOST_READING: Final = "Dotted: fits, but samples, or the study’s endpoint, are lost."
_UNCOUNTED_READING: Final = "Dotted: fits, but samples are lost."
_LEAST_READING: Final = (
    "Least loss ranks by failing checks, evidence tier, fidelity lost, shortfall to the target, "
    "changes, days short of the endpoint and cost, not by wishes."
)


def draw_region(view: Outlook) -> None:
    """Draw the region of days and samples, its layers, and its tables."""
    with st.container(key="region", gap=None):
        _draw_chart(view)
    with st.container(horizontal=True, key="layers"):
        _draw_layers(view)
    _draw_effect(view)
    panel.draw(sentences_panel(_notes(view), quiet=True))
    panel.draw_tables(lambda: _tables(view))


def _draw_chart(view: Outlook) -> None:
    """Draw the region, and over it its labels and the point: it need not be drawn anew for that."""
    title = region_title(view.region)
    given = view.region, _marks(view), _limits(view), (title, "")  # the levers say for which lab
    chart = labelled_region(*given, lost=view.choice.lost)
    st.plotly_chart(
        chart.figure,
        key=_CHART,
        config=CONFIG,
        theme=None,
        on_select=_take_click,
        selection_mode="points",
        alt=f"{title} {means_text(view.pack)}. Days against samples, with the planned evidence "
        "and each limit; the same stands in the table below.",
    )
    panel.draw(over_panel(chart, _spot(view)))


def region_chart(view: Outlook, title: tuple[str, str] | None, **how: Any) -> go.Figure:
    """Return the region as it is chosen to be seen; `region_figure` takes the rest."""
    given = view.region, _marks(view), _limits(view), title
    return region_figure(*given, lost=view.choice.lost, **how)


def _limits(view: Outlook) -> dict[RegionLimit, str]:
    return {limit: text.label for limit, text in limit_texts(view.pack).items()}


def _marks(view: Outlook) -> list[Mark]:
    """Return your plan, and the others that are points of this region."""
    noted = own_items_text(view.drawn, view.yours, view.effect)
    return [
        Mark(
            name,
            plan,
            f"{name}*" if noted and plan is view.yours else name,
            plan.evidence_at(view.effect).number,
        )
        for name, plan in view.plans.items()
        if plan is view.yours or view.drawn.holds(plan)
    ]


def _spot(view: Outlook) -> tuple[float, float] | None:
    """Return where the chosen point lies, None where a plan is marked there."""
    plans = [(plan.counts.days, plan.counts.samples) for plan in view.plans.values()]
    return None if view.place in plans else spotted(view.region, *view.place)


def _take_click() -> None:
    """Choose the point that was clicked in the chart; a second click on it chooses it again."""
    event: Mapping[str, Any] = st.session_state[_CHART]
    points, now = event["selection"]["points"], chosen()
    place = (int(points[-1]["x"]), int(points[-1]["y"])) if points else now.clicked
    if place is not None:
        choose(point=place, clicked=place, clicks=now.clicks + 1)


def _draw_layers(view: Outlook) -> None:
    """Draw the switches of what is shown only when asked for."""
    _draw_layer("Samples that cannot count", "lost", on=view.choice.lost, view=view)
    if view.least_to_draw is not None:
        _draw_layer("The least-loss plan’s items", "as_least", on=view.choice.as_least, view=view)


def _draw_layer(label: str, name: str, *, on: bool, view: Outlook) -> None:
    key = f"{name}_{view.choice.study}_{view.choice.version}"
    st.toggle(label, value=on, key=key, on_change=lambda: choose(**{name: st.session_state[key]}))


def _notes(view: Outlook) -> Iterator[str]:
    """Yield for which plan the region is drawn, what lies outside it, and how to read it."""
    yield worded_text(view.drawn)
    yield own_items_text(view.drawn, view.yours, view.effect)
    if view.least_to_draw is not None and not view.choice.as_least:
        yield apart_text(view.least_to_draw)
    yield outside_text(view.region.outside({mark.name: mark.plan for mark in _marks(view)}))
    shade = capitalised(fillings_text(view.region.plan.evidence))
    lost = _LOST_READING if view.pack.min_days > 1 else _UNCOUNTED_READING
    yield f"{shade}{_READING} {lost if view.choice.lost else ''}"
    if any(plan is not view.yours and view.drawn.holds(plan) for plan in view.compared.values()):
        yield _LEAST_READING


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


def all_effects(view: Outlook) -> Group:
    """Return what the plan and the least-loss plan are worth at every effect worth assuming."""
    if view.effects:
        return effects_panel(view.effects, view.compared)
    return sentences_panel([one_effect_text(view.yours)])


# --- tables ---------------------------------------------------------------------------------


def _tables(view: Outlook) -> list[Table]:
    limits = limit_texts(view.pack)
    return [
        plain_table(
            "The plans",
            ("Plan", "What it takes", "Evidence", "Fits"),
            [_plan_row(name, plan, view.effect) for name, plan in view.plans.items()],
        ),
        plain_table(
            "The limits",
            ("Limit", "What it allows"),
            [(name.value, text.meaning) for name, text in limits.items()],
        ),
        plain_table(
            "The region",
            ("Days", "Most fit", "and count", "Evidence"),
            list(_columns(view)),
        ),
    ]


def _plan_row(name: str, plan: Assessment, effect: float | None) -> tuple[str, ...]:
    return (
        name,
        f"{priced_size_text(plan)}, {count_text(plan.staff, 'staff unit')}",
        plan.evidence_at(effect).text,
        fits_text(plan),
    )


def _columns(view: Outlook) -> Iterator[tuple[str, ...]]:
    """Yield what fits on each day and what of it counts; days that are the same share a row.

    Between days that are further apart nothing is known, so each has its own.
    """
    region = view.region.deep
    most = region.most_feasible.tolist(), region.most_useful.tolist()
    columns = zip(region.days.tolist(), *most, strict=True)
    apart = region.days[1] - region.days[0] > 1
    for (_, fits, useful), alike in groupby(columns, key=lambda row: (apart and row[0], *row[1:])):
        days = [day for day, *_ in alike]
        worth = "–" if useful < 0 else view.drawn.at(days[0], useful).evidence_at(view.effect).text
        counts = ("none" if number < 0 else amount_text(number) for number in (fits, useful))
        yield ("–".join(map(amount_text, sorted({days[0], days[-1]}))), *counts, worth)
