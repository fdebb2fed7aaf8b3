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
    number: int = st.session_state.setdefault(_STAMP, 0)
    return number


def redraw() -> None:
    """Start the widgets again with the values of the lab."""
    st.session_state[_STAMP] = stamp() + 1


def override(own_lab: LabOverrides) -> None:
    """Use other overrides; the page behind the drawer draws its fields again."""
    state.suppose(own_lab)
    state.current().version += 1


def go_back() -> None:
    """Take every override of the lab back."""
    override(LabOverrides())
    redraw()


def draw_back(name: str, written: str, back: Callable[[], None]) -> None:
    """Draw the button that takes one value back to the study's."""

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
    # Only a study's own budget may be other than whole.
    minimum = bounds_of(amount.bounds)[0]
    visible = float(now) if amount.part == "rates" else max(int(minimum), int(now))
    field = NumberField(
        pack.study.term(amount.label_in(pack.lab.currency)),
        f"lab_{amount.key}_{stamp()}",
        visible,
        take=lambda typed: _put(amount, None if typed == written else typed),
        why_not=_out_of_bounds(amount, pack.lab.currency, f"the lab keeps {amount_text(now)}"),
        step=0.01 if amount.part == "rates" else 1,
    )
    field.draw(help=amount.help)
    complain(field.problem)
    if now != written:
        draw_back(amount.key, amount_text(written), partial(_put, amount, None))
    elif now != visible:
        st.caption(f"The study’s: {amount_text(written)}")


def _out_of_bounds(amount: LabAmount, currency: str, kept: str) -> Callable[[float | None], str]:
    return between(amount.label_in(currency), bounds_of(amount.bounds), kept)


def _put(amount: LabAmount, value: float | None) -> None:
    override(state.case().own_lab.with_amount(amount, value))


def draw_means_everywhere() -> list[str]:
    """Draw budget, days and staff for every study; return the problems of what was typed.

    They are empty if every study has its own.
    """
    problems = []
    for amount in (row for row in AMOUNTS.values() if row.is_shared):
        overrides = state.case().own_lab
        now, currency = getattr(overrides, amount.key), overrides.currency or CREDITS
        text = "each study keeps its own" if now is None else f"the lab keeps {amount_text(now)}"
        field = NumberField(
            amount.label_in(currency),
            f"said_{amount.key}",
            None,
            take=partial(_put, amount),
            why_not=_out_of_bounds(amount, currency, text),
        )
        problems.append(field.problem)
        if not field.problem:  # the drawer, undo and a link change the same numbers
            st.session_state[field.key] = now
        field.draw(placeholder="study’s own", help=amount.help)
    return problems


# --- calendar and currency ----------------------------------------------------------------------


def _draw_calendar() -> None:
    now, written = state.analysis().yours.pack.lab, state.written().lab
    start, currency, weekends = (
        f"lab_{name}_{stamp()}" for name in ("start_date", "currency", "weekends")
    )
    generator, right = st.columns(2)
    with generator:
        st.date_input(
            "Start date",
            now.start_date,
            key=start,
            min_value=date(FIRST_YEAR, 1, 1),
            max_value=date(LAST_YEAR, 12, 31),
            format="YYYY-MM-DD",
            on_change=lambda: _state("start_date", st.session_state[start]),
        )
        if state.case().own_lab.start_date is not None:
            text = str(written.start_date or "no date")
            draw_back("start_date", text, partial(_state, "start_date", None))
    with right:
        st.text_input(
            "Currency",
            now.currency,
            key=currency,
            on_change=lambda: _take_currency(st.session_state[currency].strip()),
            help="What a unit of cost is called. Amounts are not converted.",
        )
        typed = str(st.session_state[currency]).strip()
        if typed and not re.fullmatch(CURRENCY, typed):
            quoted = f"“{shortened(typed)}” is no currency, so the lab keeps {now.currency}"
            complain(f"{quoted}. Type 1 to 8 letters or €, £ or ¥, such as EUR.")
        if state.case().own_lab.currency is not None:
            draw_back("currency", written.currency, partial(_state, "currency", None))
    st.toggle(
        "Weekends count as days",
        now.weekends,
        key=weekends,
        on_change=lambda: _state("weekends", st.session_state[weekends]),
        help="If not, plans and bookings skip Saturdays and Sundays.",
    )


def _take_currency(typed: str) -> None:
    if not typed or re.fullmatch(CURRENCY, typed):
        _state("currency", typed or None)


def _state(name: str, value: object) -> None:
    """Set a field of the lab; the study's own value leaves it to the study."""
    same = value == getattr(state.written().lab, name)
    override(state.case().own_lab.model_copy(update={name: None if same else value}))
