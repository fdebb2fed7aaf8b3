"""The calendar and the money of the lab: start date, weekends, currency, staff price, overhead."""

import re
from datetime import date

import streamlit as st

from replicalab.lexicon import shortened
from replicalab.scenarios import Lab
from replicalab.scenarios.calendar import FIRST_YEAR, LAST_YEAR
from replicalab.scenarios.fields import CURRENCY
from replicalab.ui import state
from replicalab.ui.controls import button, complain
from replicalab.ui.lab.fields import draw_numbers, override, redraw, stamp
from replicalab.views.lab import MONEY


def draw() -> None:
    """Draw the folded part; until it is unfolded its fields are not worked out."""
    now, written = state.analysis().yours.pack.lab, state.written().lab
    place = st.expander("Calendar and money", key="lab_calendar", on_change="rerun")
    if place.open:
        with place:
            _draw_calendar(now, written)
            draw_numbers("rates", MONEY, now.cost_model, written.cost_model)


def _draw_calendar(now: Lab, written: Lab) -> None:
    """Draw the start date and the currency, and whether weekends count."""
    left, right = st.columns(2)
    start, currency, weekends = (
        f"lab_{name}_{stamp()}" for name in ("start_date", "currency", "weekends")
    )
    with left:
        st.date_input(
            "Start date",
            now.start_date,
            key=start,
            min_value=date(FIRST_YEAR, 1, 1),
            max_value=date(LAST_YEAR, 12, 31),
            format="YYYY-MM-DD",
            on_change=lambda: _state("start_date", st.session_state[start], written.start_date),
        )
        _draw_back("start_date", str(written.start_date or "no date"))
    with right:
        st.text_input(
            "Currency",
            now.currency,
            key=currency,
            on_change=lambda: _take_currency(st.session_state[currency], written),
            help="What a unit of cost is called. Amounts are not converted.",
        )
        typed = str(st.session_state[currency]).strip()
        if typed and not re.fullmatch(CURRENCY, typed):
            quoted = f"“{shortened(typed)}” is no currency, so the lab keeps {now.currency}"
            complain(f"{quoted}. Type 1 to 8 letters or €, £ or ¥, such as EUR.")
        _draw_back("currency", written.currency)
    st.toggle(
        "Weekends count as days",
        now.weekends,
        key=weekends,
        on_change=lambda: _state("weekends", st.session_state[weekends], written.weekends),
        help="Where they do not, plans and bookings skip Saturdays and Sundays.",
    )


def _take_currency(typed: str, written: Lab) -> None:
    """Use a currency that is one; an empty field is the study's."""
    if not typed.strip() or re.fullmatch(CURRENCY, typed.strip()):
        _state("currency", typed.strip() or None, written.currency)


def _state(name: str, value: object, written: object) -> None:
    """State something of the lab; the study's own leaves it to the study."""
    changed = {name: None if value == written else value}
    override(state.case().own_lab.model_copy(update=changed))


def _draw_back(name: str, written: str) -> None:
    """Draw the way back to what the study says, where the lab says something else."""
    if getattr(state.case().own_lab, name) is None:
        return

    def back() -> None:
        _state(name, None, None)
        redraw()

    label = f"The study’s: {written}"
    button(label, "undo", back, key=f"back_{name}_{stamp()}", type="tertiary")
