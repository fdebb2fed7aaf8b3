"""Trade-offs: what the visitor has chosen there, kept in the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import streamlit as st

from replicalab.evidence import AssumedEffect
from replicalab.figures import LEAST_LOSS, YOUR_PLAN
from replicalab.sentences import effect_text
from replicalab.tradeoffs import Worded
from replicalab.ui import session
from replicalab.ui.tradeoff_numbers import Outlook, drawn_of, effects_of

CHART: Final = "region_chart"
_PICKED: Final = "picked_point"
_CLICKS: Final = "points_clicked"
_EFFECT: Final = "effect_choice"

Version = tuple[str, int]
"""For which study and which plan a choice was made; another plan makes it void."""


def draw_wording_choice(view: Outlook) -> None:
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


def as_least(view: Outlook) -> bool:
    """Return whether the region is to be drawn for the least-loss plan's wording."""
    return st.session_state.get(_wording_key(view)) == LEAST_LOSS


def drawn(view: Outlook) -> Worded:
    """Return the plan that the region is drawn for."""
    return drawn_of(view, as_least=as_least(view))


def draw_effect_choice(view: Outlook) -> float | None:
    """Draw the choice of the assumed effect and return it, None for the planning effect."""
    effects = effects_of(view.pack)
    if not effects:
        return None
    chosen = st.radio(
        "Effect that the evidence assumes",
        range(len(effects)),
        format_func=lambda i: effect_label(effects[i]),
        horizontal=True,
        key=f"{_EFFECT}_{view.pack.scenario_id}",
    )
    return None if not chosen else effects[chosen].effect


def effect_label(effect: AssumedEffect) -> str:
    """Return an assumed effect with its size: ``halved (0.0885)``."""
    return f"{effect.label} ({effect_text(effect.effect)})"


# --- the point ------------------------------------------------------------------------------


def picked(view: Outlook) -> tuple[int, int]:
    """Return the chosen days and samples: those of a plan of this region until one is chosen."""
    found, place = st.session_state.get(_PICKED, (None, (0, 0)))
    if found != version():
        return _first_point(view)
    days, samples = place
    return days, samples


def _first_point(view: Outlook) -> tuple[int, int]:
    plan = view.plans.get(LEAST_LOSS, view.plan)
    if view.least_worded is not None and not as_least(view):
        plan = view.offer or view.plan
    return plan.duration_days, plan.sample_size


def version() -> Version:
    """Return for which study and plan a choice is made now."""
    return session.workspace().scenario_id, session.editor_version()


def pick(days: int, samples: int, chosen_for: Version) -> None:
    """Choose a point."""
    st.session_state[_PICKED] = (chosen_for, (days, samples))


def take_click() -> None:
    """Choose the point that was clicked in the chart."""
    event: Mapping[str, Any] = st.session_state[CHART]
    points = event["selection"]["points"]
    if points:
        pick(int(points[-1]["x"]), int(points[-1]["y"]), version())
        st.session_state[_CLICKS] = clicks() + 1


def clicks() -> int:
    """Return how often a point was clicked."""
    found: int = st.session_state.get(_CLICKS, 0)
    return found
