"""Trade-offs: the lab's levers, and one point of the region, which can become the plan."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import assess
from replicalab.facts import blocks
from replicalab.facts.blocks import facts_table
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
_REACH: Final = 1.25  # of a lever, as a multiple of the plans' needs
_FIELDS: Final = ("days", "samples")


class _Lever(NamedTuple):
    """A lever: the field of the overrides, and the lab's own value."""

    field: str
    label: str
    real: int
    low: int
    high: int
    step: int = 1


def draw_levers(view: Outlook) -> None:
    """Draw the three levers, and the overrides of the lab."""
    for lever in _levers(view):
        _draw_lever(lever)
    text = own_text(view.real, view.pack)
    panel.draw(blocks.sentences_panel(["The levers change your lab on every page.", text]))
    if text:
        lab.draw_way_back("reset_lab")


def extras(view: Outlook) -> blocks.Group:
    """Return the smallest useful increase of each amount, from the plan with the least loss."""
    planned = ", at the planned effect" if view.effect is not None else ""
    text = "your plan" if view.options.least.plan == view.yours.plan else "the least-loss plan"
    title = f"Cheapest improvement of {text}{planned}"
    heading = blocks.Heading(title, 2, part=True)
    return blocks.group(heading, facts_table(title, extra_facts(view.options)))


def _levers(view: Outlook) -> Iterator[_Lever]:
    """Yield the levers: each reaches twice the study's amount, and beyond two plans' needs."""
    real, means = view.real, view.real.lab
    plans = [view.yours, assess(view.pack.reference_protocol, view.pack)]
    budget, step = max(1, round(means.budget)), _BUDGET_STEP
    below = budget // 2 // step * step
    missing = math.ceil(max(plan.cost for plan in plans) * _REACH) - budget
    above = max(step, budget // step * step, -(-missing // step) * step)
    label = f"Budget, {view.pack.lab.currency}"
    yield _Lever("budget", label, budget, budget - below, budget + above, step)
    days = means.days
    longest = max(plan.plan.duration_days for plan in plans) + view.pack.lab.start_day - 1
    needed = max(real.min_days, math.ceil(longest * _REACH))
    yield _Lever("days", "Days", days, 1, max(2 * days, needed))
    staff = means.staff
    limit = max(real.staff_model.base + _STAFF_STEPS, *(plan.staff + 1 for plan in plans))
    yield _Lever("staff", "Staff units", staff, min(1, staff), max(staff + 1, limit))


def _draw_lever(lever: _Lever) -> None:
    typed = getattr(state.case().own_lab, lever.field)
    value = lever.real if typed is None else typed
    reach = lever.high - lever.real
    # An address, the drawer or a pull to the end may exceed the reach: there is always more.
    while lever.real + reach <= value:
        reach *= 2
    key = f"lever_{lever.field}"
    st.session_state[key] = value

    def pull() -> None:
        pulled = st.session_state[key]
        changed = {lever.field: None if pulled == lever.real else pulled}
        state.change_lab(state.case().own_lab.model_copy(update=changed))

    st.slider(
        lever.label,
        min(lever.low, value),
        min(MOST, lever.real + reach),
        step=lever.step,
        format="localized",
        key=key,
        on_change=pull,
    )


def draw_point(view: Outlook) -> None:
    """Draw the chosen point: its two numbers, its plan's evidence, and a button to load it."""
    with st.container(horizontal=True):
        for name, value in zip(_FIELDS, view.place, strict=True):
            st.number_input(
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
    """Choose the typed point; a number that the browser did not send stays as shown.

    A browser may send replaced fields once more: their key is no longer that of the choice.
    """
    if key != chosen().key:
        return
    days, samples = (
        st.session_state.get(f"point_{name}_{key}", value)
        for name, value in zip(_FIELDS, shown, strict=True)
    )
    choose(point=(days, samples))


def load(plan: Protocol, place: str) -> None:
    """Load a plan into the editor; it becomes the chosen point, with a message at its place."""
    text = loaded_text(state.plan(), plan)
    state.replace_plan(plan)
    choose(point=(plan.duration_days, plan.sample_size), loaded=Loaded(place, text, plan))


def draw_loaded(place: str, view: Outlook) -> None:
    """Draw the message of a loaded plan, undo and the way on, until the plan changes again."""
    loaded = view.choice.loaded
    if loaded is None or (loaded.place, loaded.plan) != (place, view.yours.plan):
        return
    with st.container(horizontal=True, key=f"loaded_{place}"):
        button("Undo", "undo", state.undo, key=f"undo_{place}")
        page_link("pages/1_Protocol.py", "See it on Protocol", "tune")
    verdict = blocks.Verdict(blocks.Status.PASS, "Loaded", loaded.text)
    panel.draw(blocks.sentences_panel([loaded.text], verdict=verdict))
