"""Trade-offs: the region of days and samples, and what to know before looking at it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from replicalab.agents import check_feasibility
from replicalab.concessions import price
from replicalab.figures import CONFIG, LEAST_LOSS, OFFER, POINT, YOUR_PLAN, Mark, region_figure
from replicalab.lexicon import amount_text, count_text
from replicalab.models import Protocol
from replicalab.regions import Region
from replicalab.sentences import (
    apart_text,
    do_not_run_text,
    limit_labels,
    limit_meanings,
    outside_text,
    priced_size_text,
    region_title,
    worded_text,
)
from replicalab.ui import session, tradeoff_choices
from replicalab.ui.tradeoff_numbers import (
    Outlook,
    levels_of,
    measure_of,
    outlook,
    outside_of,
    point_of,
    region_of,
)
from replicalab.ui.words import escaped

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


def look(session_lab: session.Here) -> Outlook:
    """Return the plan in the lab that the levers suppose, with the plans beside it."""
    return outlook(session.supposed(), session_lab.plan)


def draw_lead(view: Outlook) -> None:
    """Draw that the study should not be run in this lab, where no plan has evidence."""
    text = do_not_run_text(view.least, view.pack)
    if text:
        st.error(escaped(text), icon=":material/block:")


# --- the region -----------------------------------------------------------------------------


def draw_region(view: Outlook) -> None:
    """Draw the region of days and samples, with its table."""
    chart = st.container(key="region")
    tradeoff_choices.draw_wording_choice(view)
    effect = tradeoff_choices.draw_effect_choice(view)
    found = region_of(view, effect, as_least=tradeoff_choices.as_least(view))
    with chart:
        _draw_region_chart(view, found)
        _draw_notes(view, found)
    _draw_region_table(view, found)


def _draw_region_chart(view: Outlook, found: Region) -> None:
    title = region_title(
        found.days.tolist(), found.most_useful.tolist(), found.most_feasible.tolist()
    )
    figure = region_figure(
        found,
        _marks(view),
        limits=limit_labels(view.pack),
        levels=levels_of(view, found),
        measure=measure_of(view),
        title=title,
    )
    st.plotly_chart(
        figure,
        key=tradeoff_choices.CHART,
        config=CONFIG,
        on_select=tradeoff_choices.take_click,
        selection_mode="points",
        alt=f"{title}. Days against samples, with the planned evidence and each limit; "
        "the same stands in the table below.",
    )


def _draw_notes(view: Outlook, found: Region) -> None:
    """Draw for which plan the region is drawn, what lies outside it, and what its marks mean."""
    drawn = tradeoff_choices.drawn(view)
    texts = [worded_text(drawn)]
    if view.least_worded is not None and drawn is view.worded:
        texts.append(apart_text(view.least_worded))
    if any(texts):
        st.info(escaped(" ".join(filter(None, texts))), icon=":material/swap_horiz:")
    outside = outside_text(outside_of(view, found))
    marks = " · ".join(_MARKS[name] for name in view.plans)
    st.caption(f"{f'{escaped(outside)} ' if outside else ''}{marks} · {_LEGEND}")


def _marks(view: Outlook) -> list[Mark]:
    days, samples = tradeoff_choices.picked(view)
    marks = [Mark(name, plan.duration_days, plan.sample_size) for name, plan in view.plans.items()]
    at_a_mark = any((mark.days, mark.samples) == (days, samples) for mark in marks)
    return marks if at_a_mark else [*marks, Mark(POINT, days, samples)]


def _draw_region_table(view: Outlook, found: Region) -> None:
    with st.expander("The same as a table"):
        rows = [_plan_row(name, plan, view) for name, plan in view.plans.items()]
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
    drawn = tradeoff_choices.drawn(view)
    worth = "–" if useful < 0 else point_of(view, drawn, days, useful).price.evidence.text
    return (
        amount_text(days),
        "none" if fits < 0 else amount_text(fits),
        "none" if useful < 0 else amount_text(useful),
        worth,
    )
