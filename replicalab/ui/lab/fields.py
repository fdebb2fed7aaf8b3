"""The amounts and the calendar of the lab, each with a way back to the study's value."""

import re
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Final

import streamlit as st

from replicalab.facts.blocks import sentences_panel
from replicalab.facts.plan import staff_text
from replicalab.lexicon import CREDITS, amount_text, count_text, shortened
from replicalab.scenarios import AMOUNTS, AmountGroup, LabAmount, LabOverrides, amounts_in
from replicalab.scenarios.fields import CURRENCY
from replicalab.scenarios.lab import FIRST_YEAR, LAST_YEAR
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, between, bounds_of, button, complain, places

_STAMP: Final = "lab_form"


def stamp() -> int:
    """Return the number that ends the keys of the drawer's widgets."""
    return int(st.session_state.setdefault(_STAMP, 0))


def redraw() -> None:
    """Start the widgets again with the values of the lab."""
    st.session_state[_STAMP] = stamp() + 1


def override(own_lab: LabOverrides) -> None:
    """Use other overrides; the page behind the drawer draws its fields again."""
    state.suppose(own_lab)
    state.current().version += 1


def reset() -> None:
    """Drop all overrides of the lab."""
    override(LabOverrides())
    redraw()


def draw_back(name: str, written: str, back: Callable[[], None]) -> None:
    """Draw the button that restores the study's value of one field."""

    def restore() -> None:
        back()
        redraw()

    key = f"back_{name}_{stamp()}"
    button(f"The study’s: {written}", "undo", restore, key=key, type="tertiary")


# --- amounts ----------------------------------------------------------------------------------


def draw_means() -> None:
    """Draw budget, days, start day and staff, then the calendar and the money."""
    _draw_amounts(AmountGroup.MEANS)
    lab = state.analysis().yours.pack.lab
    if lab.start_day > 1 or lab.start_date:
        first, last = (f"day {day}{lab.dated(day)}" for day in (lab.start_day, lab.days))
        st.caption(f"From {first} to {last}: {count_text(lab.days_left, 'day')} to work in.")
    folded = st.expander("Calendar and money", key="lab_calendar", on_change="rerun")
    if folded.open:
        with folded:
            _draw_calendar()
            _draw_amounts(AmountGroup.MONEY)


def draw_rates() -> None:
    """Draw the rates, and the numbers above which a plan needs one more staff unit."""
    _draw_amounts(AmountGroup.RATES, per_row=3)
    panel.draw(sentences_panel([f"Your plan’s staff: {staff_text(state.analysis().yours)}."]))
    _draw_amounts(AmountGroup.STEPS, per_row=3)


def _draw_amounts(group: AmountGroup, per_row: int = 2) -> None:
    for amount, place in zip(amounts_in(group), places(per_row), strict=False):
        with place:
            _draw_amount(amount)


def _draw_amount(amount: LabAmount) -> None:
    pack = state.analysis().yours.pack
    now, written = amount.of(pack.lab), amount.of(state.written().lab)
    bounds = bounds_of(amount.bounds)
    is_rate = amount.part == "rates"
    # Only a study's own budget may be other than whole.
    visible = float(now) if is_rate else max(int(bounds[0]), int(now))
    label = amount.label_in(pack.lab.currency)
    field = NumberField(
        pack.study.term(label),
        f"lab_{amount.key}_{stamp()}",
        visible,
        take=lambda typed: _put(amount, None if typed == written else typed),
        why_not=between(label, bounds, f"the lab keeps {amount_text(now)}"),
        step=0.01 if is_rate else 1,
    )
    field.draw(help=amount.help)
    complain(field.problem)
    if now != written:
        draw_back(amount.key, amount_text(written), partial(_put, amount, None))
    elif now != visible:
        st.caption(f"The study’s: {amount_text(written)}")


def _put(amount: LabAmount, value: float | None) -> None:
    override(state.case().own_lab.with_amount(amount, value))


def draw_means_everywhere() -> list[str]:
    """Draw budget, days and staff for every study; return the problem of each, empty if none."""
    problems = []
    for amount in (row for row in AMOUNTS.values() if row.is_shared):
        overrides = state.case().own_lab
        now, label = getattr(overrides, amount.key), amount.label_in(overrides.currency or CREDITS)
        text = "each study keeps its own" if now is None else f"the lab keeps {amount_text(now)}"
        field = NumberField(
            label,
            f"said_{amount.key}",
            None,
            take=partial(_put, amount),
            why_not=between(label, bounds_of(amount.bounds), text),
        )
        problems.append(field.problem)
        if not field.problem:  # the drawer, undo and a link change the same numbers
            st.session_state[field.key] = now
        field.draw(placeholder="study’s own", help=amount.help)
    return problems


# --- calendar and currency ----------------------------------------------------------------------


def _draw_calendar() -> None:
    left, right = st.columns(2)
    with left:
        _draw_start_date()
    with right:
        _draw_currency()
    key = f"lab_weekends_{stamp()}"
    st.toggle(
        "Weekends count as days",
        state.analysis().yours.pack.lab.weekends,
        key=key,
        on_change=lambda: _set_field("weekends", st.session_state[key]),
        help="If not, plans and bookings skip Saturdays and Sundays.",
    )


def _draw_start_date() -> None:
    key = f"lab_start_date_{stamp()}"
    st.date_input(
        "Start date",
        state.analysis().yours.pack.lab.start_date,
        key=key,
        min_value=date(FIRST_YEAR, 1, 1),
        max_value=date(LAST_YEAR, 12, 31),
        format="YYYY-MM-DD",
        on_change=lambda: _set_field("start_date", st.session_state[key]),
    )
    if state.case().own_lab.start_date is not None:
        written = str(state.written().lab.start_date or "no date")
        draw_back("start_date", written, partial(_set_field, "start_date", None))


def _draw_currency() -> None:
    now, key = state.analysis().yours.pack.lab.currency, f"lab_currency_{stamp()}"

    def typed() -> str:
        return str(st.session_state[key]).strip()

    def can_be(currency: str) -> bool:
        return not currency or re.fullmatch(CURRENCY, currency) is not None

    def take() -> None:
        if can_be(typed()):
            _set_field("currency", typed() or None)

    st.text_input(
        "Currency",
        now,
        key=key,
        on_change=take,
        help="What a unit of cost is called. Amounts are not converted.",
    )
    if not can_be(typed()):
        complain(
            f"“{shortened(typed())}” is no currency, so the lab keeps {now}. "
            "Type 1 to 8 letters or €, £ or ¥, such as EUR."
        )
    if state.case().own_lab.currency is not None:
        written = state.written().lab.currency
        draw_back("currency", written, partial(_set_field, "currency", None))


def _set_field(name: str, value: object) -> None:
    """Override a field of the lab; the study's value drops the override."""
    is_written = value == getattr(state.written().lab, name)
    changes = {name: None if is_written else value}
    override(state.case().own_lab.model_copy(update=changes))
