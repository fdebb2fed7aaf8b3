"""Trade-offs: the region of days and samples, and a point in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from replicalab.agents import check_feasibility
from replicalab.concessions import price
from replicalab.costs import amount_text
from replicalab.evidence import planned_evidence
from replicalab.figures import (
    CONFIG,
    FIX,
    LEAST_LOSS,
    POINT,
    YOUR_PLAN,
    Level,
    Mark,
    region_figure,
)
from replicalab.labels import count_text
from replicalab.models import Protocol
from replicalab.regions import Region
from replicalab.sentences import (
    apart_text,
    effect_text,
    limit_labels,
    limit_meanings,
    plan_verdict,
    priced_size_text,
    region_title,
    worded_text,
)
from replicalab.tradeoffs import Worded
from replicalab.ui import session
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.tradeoff_numbers import (
    Outlook,
    Point,
    drawn_of,
    effects_of,
    measure_of,
    outlook,
    point_of,
    region_of,
)
from replicalab.ui.words import escaped
from replicalab.workspace import LARGEST_PLANNED

_CHART: Final = "region_chart"
_PICKED: Final = "picked_point"
_CLICKS: Final = "points_clicked"
_EFFECT: Final = "effect_choice"
_LEGEND: Final = (
    "○ your plan · □ Lab Manager’s fix · ◇ least loss: the plan for this lab that gives up the "
    "least of the study · × the point below. Hatched: does not fit. Dotted: fits, but samples "
    "that cannot count, or the study’s endpoint, are lost. Click anywhere to choose a point."
)


def look(session_lab: session.Here) -> Outlook:
    """Return the plan in the lab that the levers suppose, with the plans beside it."""
    return outlook(session.supposed(), session_lab.plan)


# --- the region -----------------------------------------------------------------------------


def draw_region(view: Outlook) -> None:
    """Draw the region of days and samples, with its table."""
    chart = st.container(key="region")
    _draw_wording_choice(view)
    found = region_of(view, _draw_effect_choice(view), as_least=_as_least(view))
    with chart:
        _draw_region_chart(view, found)
    _draw_region_table(view, found)


def _draw_region_chart(view: Outlook, found: Region) -> None:
    title = region_title(
        found.days.tolist(), found.most_useful.tolist(), found.most_feasible.tolist()
    )
    figure = region_figure(
        found,
        _marks(view),
        limits=limit_labels(view.pack),
        levels=_levels(view, found),
        measure=measure_of(view),
        title=title,
    )
    st.plotly_chart(
        figure,
        key=_CHART,
        config=CONFIG,
        on_select=_take_click,
        selection_mode="points",
        alt=f"{title}. Days against samples, with the planned evidence and each limit; "
        "the same stands in the table below.",
    )
    drawn = _drawn(view)
    texts = [worded_text(drawn)]
    if view.least_worded is not None and drawn is view.worded:
        texts.append(apart_text(view.least_worded))
    if any(texts):
        st.info(escaped(" ".join(filter(None, texts))), icon=":material/swap_horiz:")
    st.caption(_LEGEND)


def _draw_wording_choice(view: Outlook) -> None:
    """Draw the choice of the plan that the region is drawn for, where there are two."""
    if view.least_worded is not None:
        st.radio(
            "Region drawn for",
            [YOUR_PLAN, LEAST_LOSS],
            format_func={YOUR_PLAN: "your plan", LEAST_LOSS: "the least-loss plan"}.__getitem__,
            horizontal=True,
            key=_wording_key(view),
        )


def _wording_key(view: Outlook) -> str:
    return f"drawn_for_{view.pack.scenario_id}_{session.editor_version()}"


def _as_least(view: Outlook) -> bool:
    return st.session_state.get(_wording_key(view)) == LEAST_LOSS


def _drawn(view: Outlook) -> Worded:
    return drawn_of(view, as_least=_as_least(view))


def _draw_effect_choice(view: Outlook) -> float | None:
    """Draw the choice of the assumed effect and return it, None for the planning effect."""
    effects = effects_of(view.pack)
    if not effects:
        return None
    chosen = st.radio(
        "Effect that the evidence assumes",
        range(len(effects)),
        format_func=lambda i: f"{effects[i].label} ({effect_text(effects[i].effect)})",
        horizontal=True,
        key=f"{_EFFECT}_{view.pack.scenario_id}",
    )
    return None if not chosen else effects[chosen].effect


def _marks(view: Outlook) -> list[Mark]:
    days, samples = _picked(view)
    plans = {YOUR_PLAN: view.plan, FIX: view.fix, LEAST_LOSS: view.least.plan}
    marks = [
        Mark(name, plan.duration_days, plan.sample_size)
        for name, plan in plans.items()
        if plan is not None
    ]
    at_a_mark = any((mark.days, mark.samples) == (days, samples) for mark in marks)
    return marks if at_a_mark else [*marks, Mark(POINT, days, samples)]


def _levels(view: Outlook, found: Region) -> list[Level]:
    evidence = planned_evidence(view.plan, view.pack)
    levels = [("target", evidence.target, found.to_target)]
    if evidence.floor != evidence.target:
        levels.append(("floor", evidence.floor, found.to_floor))
    return [
        Level(f"{name} {evidence.amount(value)}", samples)
        for name, value, samples in levels
        if samples is not None
    ]


def _draw_region_table(view: Outlook, found: Region) -> None:
    with st.expander("The same as a table"):
        plans = {YOUR_PLAN: view.plan, FIX: view.fix, LEAST_LOSS: view.least.plan}
        rows = [_plan_row(name, plan, view) for name, plan in plans.items() if plan is not None]
        draw_table(("Plan", "What it takes", "Evidence", "Fits"), rows)
        limits = limit_meanings(view.pack)
        draw_table(
            ("Limit", "What it allows"), [(name.value, text) for name, text in limits.items()]
        )
        draw_table(
            ("Days", "Most fit", "and count", "Evidence"),
            [_column_row(view, found, place) for place in range(len(found.days))],
        )


def draw_table(names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Draw rows of text under these names."""
    columns = zip(*rows, strict=True)
    st.table(
        {name: [escaped(cell) for cell in column]
         for name, column in zip(names, columns, strict=True)},
        hide_index=True,
    )  # fmt: skip


def _plan_row(name: str, plan: Protocol, view: Outlook) -> tuple[str, ...]:
    check, priced = check_feasibility(plan, view.pack), price(plan, view.pack)
    return (
        name,
        f"{priced_size_text(plan.sample_size, plan.duration_days, priced.credits)}, "
        f"{count_text(check.required_staff, 'staff unit')}",
        priced.evidence.text,
        "yes" if check.feasible else f"no: {', '.join(check.failing)}",
    )


def _column_row(view: Outlook, found: Region, place: int) -> tuple[str, ...]:
    days = int(found.days[place])
    fits, useful = int(found.most_feasible[place]), int(found.most_useful[place])
    worth = "–" if useful < 0 else point_of(view, _drawn(view), days, useful).price.evidence.text
    return (
        amount_text(days),
        "none" if fits < 0 else amount_text(fits),
        "none" if useful < 0 else amount_text(useful),
        worth,
    )


# --- a point --------------------------------------------------------------------------------


def _picked(view: Outlook) -> tuple[int, int]:
    """Return the chosen days and samples: those of a plan of this region until one is chosen."""
    version, place = st.session_state.get(_PICKED, (None, (0, 0)))
    if version != _version(view):
        plan = view.least.plan
        if view.least_worded is not None and not _as_least(view):
            plan = view.fix or view.plan
        return plan.duration_days, plan.sample_size
    days, samples = place
    return days, samples


def _version(view: Outlook) -> tuple[str, int]:
    return view.pack.scenario_id, session.editor_version()


def _take_click() -> None:
    """Take the point that was clicked in the chart."""
    event: Mapping[str, Any] = st.session_state[_CHART]
    points = event["selection"]["points"]
    if points:
        place = int(points[-1]["x"]), int(points[-1]["y"])
        version = session.workspace().scenario_id, session.editor_version()
        st.session_state[_PICKED] = (version, place)
        st.session_state[_CLICKS] = st.session_state.get(_CLICKS, 0) + 1


def draw_point(view: Outlook) -> None:
    """Draw the chosen point: its two numbers, what the plan there is worth, and loading it."""
    days, samples = _picked(view)
    clicks = st.session_state.get(_CLICKS, 0)
    key = f"{session.editor_version()}_{clicks}_{int(_as_least(view))}"
    left, right = st.columns(2)
    with left:
        _number("Point: days", days, f"point_days_{key}", view, key)
    with right:
        _number("Point: samples", samples, f"point_samples_{key}", view, key)
    _draw_worth(point_of(view, _drawn(view), days, samples))


def _number(label: str, value: int, name: str, view: Outlook, key: str) -> None:
    st.number_input(
        label,
        min_value=0,
        max_value=LARGEST_PLANNED,
        value=min(value, LARGEST_PLANNED),
        step=1,
        key=name,
        on_change=_take_typed,
        args=(_version(view), key),
    )


def _take_typed(version: tuple[str, int], key: str) -> None:
    place = (st.session_state[f"point_days_{key}"], st.session_state[f"point_samples_{key}"])
    st.session_state[_PICKED] = (version, place)


def _draw_worth(point: Point) -> None:
    draw_verdict(plan_verdict(point.check, point.price.evidence))
    with st.container(key="point_numbers"):
        st.markdown(
            f"{amount_text(point.price.credits)} credits · "
            f"{count_text(point.check.required_staff, 'staff unit')} · "
            f"{escaped(point.price.evidence.text)}"
        )
    st.button(
        "Load this point into the editor",
        icon=":material/input:",
        key="load_point",
        on_click=_load,
        args=(point.plan,),
        disabled=point.plan == session.plan(),
    )


def _load(plan: Protocol) -> None:
    """Load the plan at the chosen point into the editor; the point stays chosen."""
    session.replace_plan(plan)
    version = session.workspace().scenario_id, session.editor_version()
    st.session_state[_PICKED] = (version, (plan.duration_days, plan.sample_size))
