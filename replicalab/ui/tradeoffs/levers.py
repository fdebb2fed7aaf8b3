"""Trade-offs: the lab's levers, and one point of the region, which may be taken as the plan."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import assess
from replicalab.facts import blocks
from replicalab.facts.fact import facts_table
from replicalab.facts.frontier import extra_facts
from replicalab.facts.lab import own_text
from replicalab.facts.region import loaded_text, point_facts
from replicalab.facts.verdicts import plan_verdict
from replicalab.limits import LARGEST_PLANNED
from replicalab.models import Protocol
from replicalab.scenarios import MOST
from replicalab.ui import lab, panel, state
from replicalab.ui.controls import button, page_link
from replicalab.ui.tradeoffs.outlook import Loaded, Outlook, choose, chosen

_BUDGET_STEP: Final = 10
_STAFF_STEPS: Final = 4
_MORE: Final = 1.25  # So much of what the plans need a lever reaches at least


class _Lever(NamedTuple):
    """One lever: the workspace's field, its label, the lab's own value, and how far it goes."""

    field: str
    label: str
    real: int
    low: int
    high: int
    step: int = 1


def draw_levers(view: Outlook) -> None:
    """Draw the three levers, and what is supposed."""
    for lever in _levers(view):
        _draw_lever(lever)
    if text := own_text(view.real, view.pack):
        panel.draw(blocks.sentences_panel([text]))
        lab.draw_way_back("reset_lab")


def extras(view: Outlook) -> blocks.Group:
    """Return the smallest step beyond each amount of the lab that buys something.

    It is measured from the plan that gives up the least, which need not be the one that is open.
    """
    planned = ", at the planned effect" if view.effect is not None else ""
    text = "your plan" if view.options.least.plan == view.yours.plan else "the least-loss plan"
    title = f"Cheapest improvement of {text}{planned}"
    return blocks.group(
        blocks.Heading(title, 2, part=True), facts_table(title, extra_facts(view.options))
    )


def _levers(view: Outlook) -> Iterator[_Lever]:
    """Yield the levers: each reaches to twice what the study's lab has, and beyond what plans need.

    The plans are the open one and the study's reference protocol.
    """
    real, means = view.real, view.real.lab
    plans = [view.yours, assess(view.pack.reference_protocol, view.pack)]
    budget = max(1, round(means.budget))
    below = budget // 2 // _BUDGET_STEP * _BUDGET_STEP
    above = max(_BUDGET_STEP, budget // _BUDGET_STEP * _BUDGET_STEP)
    missing = math.ceil(max(plan.cost for plan in plans) * _MORE) - budget
    above = max(above, -(-missing // _BUDGET_STEP) * _BUDGET_STEP)
    label = f"Budget, {view.pack.lab.currency}"
    yield _Lever("budget", label, budget, budget - below, budget + above, _BUDGET_STEP)
    days = means.days
    longest = max(plan.plan.duration_days for plan in plans) + view.pack.lab.start_day - 1
    needed = max(real.min_days, math.ceil(longest * _MORE))
    yield _Lever("days", "Days", days, 1, max(2 * days, needed))
    staff = means.staff
    limit = max(real.staff_model.base + _STAFF_STEPS, *(plan.staff + 1 for plan in plans))
    yield _Lever("staff", "Staff units", staff, min(1, staff), max(staff + 1, limit))


def _draw_lever(lever: _Lever) -> None:
    text = getattr(state.case().own_lab, lever.field)
    value = lever.real if text is None else text
    reach = lever.high - lever.real
    # An address, the drawer or a pull to the end may state as much as the lever reaches, or more:
    # there is always more to pull.
    while lever.real + reach <= value:
        reach *= 2
    key = f"lever_{lever.field}"
    st.session_state[key] = value
    st.slider(
        lever.label,
        min(lever.low, value),
        min(MOST, lever.real + reach),
        step=lever.step,
        format="localized",
        key=key,
        on_change=_pull,
        args=(lever, key),
    )


def _pull(lever: _Lever, key: str) -> None:
    value = st.session_state[key]
    changed = {lever.field: None if value == lever.real else value}
    state.suppose(state.case().own_lab.model_copy(update=changed))


# --- one point of the region ------------------------------------------------------------------

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
    verdict, facts = plan_verdict(view.point), point_facts(view.point, view.effect)
    panel.draw(blocks.Sentence("", verdict.title, verdict.status), facts_table("The point", facts))
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
    """Load a plan into the editor; it becomes the chosen point, and its place says so."""
    text = loaded_text(state.plan(), plan)
    state.replace_plan(plan)
    choose(point=(plan.duration_days, plan.sample_size), loaded=Loaded(place, text, plan))


def draw_loaded(place: str, view: Outlook) -> None:
    """Draw what was loaded from here, with undo and the way on, until the plan changes again."""
    loaded = view.choice.loaded
    if loaded is None or (loaded.place, loaded.plan) != (place, view.yours.plan):
        return
    panel.draw(
        blocks.sentences_panel(
            [loaded.text], verdict=blocks.Verdict(blocks.Status.PASS, "Loaded", loaded.text)
        )
    )
    with st.container(horizontal=True, key=f"loaded_{place}"):
        button("Undo", "undo", state.undo, key=f"undo_{place}")
        page_link("pages/1_Protocol.py", "See it on Protocol", "tune")
