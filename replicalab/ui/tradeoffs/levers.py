"""The lab's levers: what if it had more, or less, and which step beyond it buys something?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import streamlit as st

from replicalab.panels import listed_panel, sentences_panel
from replicalab.scenarios import MOST, Pack
from replicalab.text.lab import own_text
from replicalab.text.tradeoffs import extras_lines
from replicalab.ui import lab, panel, state
from replicalab.ui.tradeoffs.outlook import Outlook

_BUDGET_STEP: Final = 10
_MOST_STAFF_STEPS: Final = 4


class _Lever(NamedTuple):
    """One slider: the workspace's field, its label, the lab's own value, and how far it goes."""

    field: str
    label: str
    real: int
    low: int
    high: int
    step: int = 1


def draw_levers(view: Outlook) -> None:
    """Draw the three sliders, and what is supposed."""
    for lever in _levers(view.real):
        _draw_lever(lever)
    if text := own_text(view.real, view.pack):
        panel.draw(sentences_panel([text]))
        lab.draw_way_back("reset_lab")


def extras(view: Outlook) -> str:
    """Return the smallest step beyond each amount of the lab that buys something."""
    planned = ", at the planned effect" if view.effect is not None else ""
    title = f"The smallest step that buys something{planned}"
    return listed_panel(title, extras_lines(view.options))


def _levers(real: Pack) -> Iterator[_Lever]:
    means = real.lab
    budget = max(1, round(means.budget))
    below = budget // 2 // _BUDGET_STEP * _BUDGET_STEP
    above = max(_BUDGET_STEP, budget // _BUDGET_STEP * _BUDGET_STEP)
    yield _Lever("budget", "Budget, credits", budget, budget - below, budget + above, _BUDGET_STEP)
    days = means.days
    needed = max(real.min_days, real.reference_protocol.duration_days)
    yield _Lever("days", "Days", days, 1, max(2 * days, needed))
    staff = means.staff
    most = real.staff_model.base + _MOST_STAFF_STEPS
    yield _Lever("staff", "Staff units", staff, min(1, staff), max(staff + 1, most))


def _draw_lever(lever: _Lever) -> None:
    said = getattr(state.workspace().own_lab, lever.field)
    value = lever.real if said is None else said
    key = f"lever_{lever.field}_{state.current().version}"
    st.slider(
        lever.label,
        min_value=min(lever.low, value),
        max_value=min(MOST, max(lever.high, value)),
        value=value,
        step=lever.step,
        key=key,
        on_change=_pull,
        args=(lever, key),
    )


def _pull(lever: _Lever, key: str) -> None:
    value = int(st.session_state[key])
    _say(**{lever.field: None if value == lever.real else value})


def _say(**means: int | None) -> None:
    state.suppose(state.workspace().own_lab.model_copy(update=means))
