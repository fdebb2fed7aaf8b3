"""Trade-offs: one point of the region, what the plan there is worth, and taking it."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from replicalab.models import LARGEST_PLANNED, Protocol
from replicalab.panels import sentences_panel
from replicalab.text.tradeoffs import loaded_text, point_lines
from replicalab.text.verdicts import Status, Verdict, plan_verdict
from replicalab.ui import panel, state
from replicalab.ui.controls import button, page_link
from replicalab.ui.tradeoffs.outlook import Loaded, Outlook, choose, chosen

_FIELDS: Final = ("days", "samples")


def draw_point(view: Outlook) -> None:
    """Draw the chosen point: its two numbers, what the plan there is worth, and loading it."""
    for column, name, value in zip(st.columns(2), _FIELDS, view.place, strict=True):
        column.number_input(
            f"Point: {name}",
            min_value=0,
            max_value=LARGEST_PLANNED,
            value=min(value, LARGEST_PLANNED),
            step=1,
            key=f"point_{name}_{view.choice.key}",
            on_change=take_typed,
            args=(view.choice.key, view.place),
        )
    lines = point_lines(view.point, view.effect)
    panel.draw(sentences_panel(lines, verdict=plan_verdict(view.point)))
    button(
        "Load this point into the editor",
        "input",
        partial(load, view.point.plan, "point"),
        key="load_point",
        disabled=view.point.plan == view.yours.plan,
    )
    draw_loaded("point", view)


def take_typed(key: str, shown: tuple[int, int]) -> None:
    """Take what was typed; a number that the browser did not send stays as it was shown.

    Fields that another choice has taken the place of may be sent once more: they are not typed in.
    """
    if key != chosen().key:
        return
    days, samples = (
        st.session_state.get(f"point_{name}_{key}", value)
        for name, value in zip(_FIELDS, shown, strict=True)
    )
    choose(point=(days, samples))


def load(plan: Protocol, place: str) -> None:
    """Load a plan into the editor; it becomes the chosen point, and its place says so.

    Args:
        plan: the plan.
        place: beside which button `draw_loaded` is to say what was loaded.
    """
    text = loaded_text(state.plan(), plan)
    state.replace_plan(plan)
    choose(point=(plan.duration_days, plan.sample_size), loaded=Loaded(place, text, plan))


def draw_loaded(place: str, view: Outlook) -> None:
    """Draw what was loaded from here, with undo and the way on, until the plan changes again."""
    found = view.choice.loaded
    if found is None or (found.place, found.plan) != (place, view.yours.plan):
        return
    panel.draw(sentences_panel([found.text], verdict=Verdict(Status.PASS, "Loaded", found.text)))
    with st.container(horizontal=True, key=f"loaded_{place}"):
        button("Undo", "undo", state.undo, key=f"undo_{place}")
        page_link("pages/1_Protocol.py", "See it on Protocol", "tune")
