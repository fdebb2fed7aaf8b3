"""Every smallest combination of means that reaches a goal, for prices of one's own."""

from collections.abc import Iterator
from typing import Final

import streamlit as st

from replicalab.lexicon import capitalised
from replicalab.planner import Aim, Goal, MeansPrices, PlanAnalysis
from replicalab.scenarios.fields import Rate
from replicalab.ui import panel
from replicalab.ui.controls import NumberField, between, bounds_of, complain
from replicalab.views.combinations import GOALS, PRICES, TITLE, combinations_panel

PLACE: Final = "combinations"
GOAL: Final = "combinations_goal"
_PRICE: Final = "combinations_price_"
_HINT: Final = "What it is worth to you, in {0}. Left empty, it is not weighed against {0}."


def draw(options: PlanAnalysis) -> None:
    """Draw the place; while it is closed nothing is searched or sent."""
    place = st.expander(TITLE, key=PLACE, on_change="rerun")
    if not place.open:
        return
    with place:
        goal: Goal = st.radio(
            "What is to be reached",
            [*Goal],
            format_func=GOALS.__getitem__,
            horizontal=True,
            key=GOAL,
            persist_state="session",
        )
        fields, currency = dict(_fields()), options.yours.pack.lab.currency
        with st.container(horizontal=True, vertical_alignment="bottom", key="combinations_prices"):
            for each in fields.values():
                each.draw(placeholder="None", help=_HINT.format(currency), persist_state="session")
        complain(*(each.problem for each in fields.values()))
        panel.draw(combinations_panel(options, Aim(goal, prices())))


def prices() -> MeansPrices:
    """Return the prices as they stand in their fields, those that can be."""
    typed = {name: each.typed for name, each in _fields() if not each.problem}
    return MeansPrices.model_validate(typed)


def _fields() -> Iterator[tuple[str, NumberField]]:
    """Yield the field of each price, by its name."""
    for name, what in PRICES.items():
        label = f"Price of {what}"
        why_not = between(capitalised(label), bounds_of(Rate), "it is not weighed")
        yield name, NumberField(label, f"{_PRICE}{name}", None, why_not=why_not, step=0.01)
