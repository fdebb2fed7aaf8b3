"""Trade-offs: the region of days and samples, and what to know before looking at it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.figures import CONFIG, LEAST_LOSS, OFFER, POINT, YOUR_PLAN, region_figure
from replicalab.lexicon import amount_text, count_text
from replicalab.text.tradeoffs import (
    apart_text,
    effect_label,
    limit_texts,
    no_evidence_text,
    outside_text,
    priced_size_text,
    region_title,
    worded_text,
)
from replicalab.ui.tradeoffs.outlook import Outlook, choose, chosen
from replicalab.ui.words import draw_table, escaped

_CHART: Final = "region_chart"
_MARKS: Final = {
    YOUR_PLAN: "○ your plan",
    OFFER: "□ the Lab Manager’s offer",
    LEAST_LOSS: "◇ least loss: the plan for this lab that gives up the least of the study",
}
_LEGEND: Final = (
    "× the point you chose (its fields stand beside or below the chart). Hatched: does not fit. "
    "Dotted: fits, but samples that cannot count, or the study’s endpoint, are lost. Click "
    "anywhere to choose a point."
)


def draw_lead(view: Outlook) -> None:
    """Draw that the study should not be run in this lab, where no plan has evidence."""
    text = no_evidence_text(view.options)
    if text:
        st.error(escaped(text), icon=":material/block:")


def draw_region(view: Outlook) -> None:
    """Draw the region of days and samples, the choices that it depends on, and its tables."""
    with st.container(key="region"):
        _draw_chart(view)
        _draw_notes(view)
    _draw_wording_choice(view)
    _draw_effect_choice(view)
    with st.expander("The same as a table"):
        _draw_tables(view)


def _draw_chart(view: Outlook) -> None:
    title = region_title(view.region)
    st.plotly_chart(
        region_figure(
            view.region,
            _marks(view),
            {limit: text.label for limit, text in limit_texts(view.pack).items()},
            title,
        ),
        key=_CHART,
        config=CONFIG,
        on_select=_take_click,
        selection_mode="points",
        alt=f"{title}. Days against samples, with the planned evidence and each limit; "
        "the same stands in the table below.",
    )


def _marks(view: Outlook) -> dict[str, Assessment]:
    places = [(plan.counts.days, plan.counts.samples) for plan in view.plans.values()]
    return view.plans if view.place in places else {**view.plans, POINT: view.point}


def _take_click() -> None:
    """Choose the point that was clicked in the chart."""
    event: Mapping[str, Any] = st.session_state[_CHART]
    points = event["selection"]["points"]
    if points:
        place = int(points[-1]["x"]), int(points[-1]["y"])
        choose(point=place, clicks=chosen().clicks + 1)


def _draw_notes(view: Outlook) -> None:
    """Draw for which plan the region is drawn, what lies outside it, and what its marks mean."""
    texts = [worded_text(view.drawn)]
    if view.least_worded is not None and not view.choice.as_least:
        texts.append(apart_text(view.least_worded))
    if any(texts):
        st.info(escaped(" ".join(filter(None, texts))), icon=":material/swap_horiz:")
    outside = outside_text(view.region.outside(view.plans))
    marks = " · ".join(_MARKS[name] for name in view.plans)
    st.caption(f"{f'{escaped(outside)} ' if outside else ''}{marks} · {_LEGEND}")


# --- choices --------------------------------------------------------------------------------


def _draw_wording_choice(view: Outlook) -> None:
    """Draw the choice of the plan that the region is drawn for, where there are two."""
    if view.least_worded is None:
        return
    key = f"drawn_for_{view.choice.study}_{view.choice.version}"
    st.radio(
        "Region drawn for",
        [YOUR_PLAN, LEAST_LOSS],
        index=int(view.choice.as_least),
        format_func={YOUR_PLAN: "your plan", LEAST_LOSS: "the least-loss plan"}.__getitem__,
        horizontal=True,
        key=key,
        on_change=lambda: choose(as_least=st.session_state[key] == LEAST_LOSS),
    )


def _draw_effect_choice(view: Outlook) -> None:
    """Draw the choice of the assumed effect, where the evidence assumes one."""
    if not view.effects:
        return
    key = f"effect_choice_{view.choice.study}"
    st.radio(
        "Effect that the evidence assumes",
        range(len(view.effects)),
        index=view.effect_place,
        format_func=lambda place: effect_label(view.effects[place]),
        horizontal=True,
        key=key,
        on_change=lambda: choose(effect=st.session_state[key]),
    )


# --- tables ---------------------------------------------------------------------------------


def _draw_tables(view: Outlook) -> None:
    rows = [_plan_row(name, plan, view.effect) for name, plan in view.plans.items()]
    draw_table(("Plan", "What it takes", "Evidence", "Fits"), rows)
    limits = limit_texts(view.pack)
    draw_table(
        ("Limit", "What it allows"), [(name.value, text.meaning) for name, text in limits.items()]
    )
    columns = zip(
        view.region.days.tolist(),
        view.region.most_feasible.tolist(),
        view.region.most_useful.tolist(),
        strict=True,
    )
    draw_table(
        ("Days", "Most fit", "and count", "Evidence"),
        [_column_row(view, *column) for column in columns],
    )


def _plan_row(name: str, plan: Assessment, effect: float | None) -> tuple[str, ...]:
    return (
        name,
        f"{priced_size_text(plan)}, {count_text(plan.staff, 'staff unit')}",
        plan.evidence_at(effect).text,
        "yes" if plan.feasible else f"no: {', '.join(plan.causes)}",
    )


def _column_row(view: Outlook, days: int, fits: int, useful: int) -> tuple[str, ...]:
    worth = "–" if useful < 0 else view.drawn.at(days, useful).evidence_at(view.effect).text
    most = ("none" if number < 0 else amount_text(number) for number in (fits, useful))
    return (amount_text(days), *most, worth)
