"""Trade-offs: one point of the region, what the plan there is worth, and taking it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.lexicon import amount_text, count_text
from replicalab.models import LARGEST_PLANNED, Protocol
from replicalab.sentences import loaded_text, plan_verdict
from replicalab.ui import session, tradeoff_choices
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.tradeoff_choices import Version
from replicalab.ui.tradeoff_numbers import Outlook, Point, point_of
from replicalab.ui.words import escaped

_LOADED: Final = "loaded_here"


def draw_point(view: Outlook) -> None:
    """Draw the chosen point: its two numbers, what the plan there is worth, and loading it."""
    days, samples = tradeoff_choices.picked(view)
    least = int(tradeoff_choices.as_least(view))
    key = f"{session.editor_version()}_{tradeoff_choices.clicks()}_{least}"
    left, right = st.columns(2)
    with left:
        _number("Point: days", days, f"point_days_{key}", view, key)
    with right:
        _number("Point: samples", samples, f"point_samples_{key}", view, key)
    _draw_worth(point_of(view, tradeoff_choices.drawn(view), days, samples))
    draw_loaded("point")


def _number(label: str, value: int, name: str, view: Outlook, key: str) -> None:
    st.number_input(
        label,
        min_value=0,
        max_value=LARGEST_PLANNED,
        value=min(value, LARGEST_PLANNED),
        step=1,
        key=name,
        on_change=take_typed,
        args=(tradeoff_choices.version(), key, tradeoff_choices.picked(view)),
    )


def take_typed(chosen_for: Version, key: str, shown: tuple[int, int]) -> None:
    """Take what was typed; a number that the browser did not send stays as it was shown."""
    days = st.session_state.get(f"point_days_{key}", shown[0])
    samples = st.session_state.get(f"point_samples_{key}", shown[1])
    tradeoff_choices.pick(days, samples, chosen_for)


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
        on_click=load,
        args=(point.plan, "point"),
        disabled=point.plan == session.plan(),
    )


# --- taking a plan --------------------------------------------------------------------------


def load(plan: Protocol, place: str) -> None:
    """Load a plan into the editor; it becomes the chosen point, and its place says so.

    Args:
        plan: the plan.
        place: beside which button `draw_loaded` is to say what was loaded.
    """
    text = loaded_text(session.plan(), plan)
    session.replace_plan(plan)
    tradeoff_choices.pick(plan.duration_days, plan.sample_size, tradeoff_choices.version())
    st.session_state[_LOADED] = (place, text, tradeoff_choices.version(), plan)


def draw_loaded(place: str) -> None:
    """Draw what was loaded from here, with undo and the way on, until the plan changes again."""
    at, text, version, plan = st.session_state.get(_LOADED, (None, "", None, None))
    if (at, version, plan) != (place, tradeoff_choices.version(), session.plan()):
        return
    st.success(escaped(text), icon=":material/check_circle:")
    with st.container(horizontal=True, key=f"loaded_{place}"):
        st.button("Undo", icon=":material/undo:", on_click=session.undo, key=f"undo_{place}")
        st.page_link(
            "pages/1_Protocol.py",
            label="See it on Protocol",
            icon=":material/tune:",
            query_params=session.address(),
        )
