"""The break-evens and the worlds in a fold on Protocol, and on a slide."""

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.facts import blocks
from replicalab.features import break_even as feature
from replicalab.features.break_even.assumptions import TITLE, BreakEven
from replicalab.negotiation.score import Robust
from replicalab.ui import panel as ui
from replicalab.ui import state
from replicalab.ui.controls import NumberField, between, button, complain, fold

_KEPT: Final = "break_evens"
_ON_A_SLIDE: Final = 4  # rows
_CHANGED: Final = ("hopeful", "grim")


def panel(place: str, plan: Assessment) -> Mapping[str, blocks.Panel]:
    """Return the slide of a plan that passes, or draw the fold, computed when it opens."""
    if place == "folds":
        with fold(TITLE, "break_even") as is_open:
            if is_open:
                _draw(plan)
    elif plan.passes:
        shown = feature.blocks_of(plan, *_found(plan, _fields(plan)), _ON_A_SLIDE)[:-1]
        ledger = blocks.group(*shown)
        return {TITLE: blocks.panel("slide_ledger", title=TITLE, ledger=ledger, roomy=False)}
    return {}


def _draw(plan: Assessment) -> None:
    fields = _fields(plan)
    rows, robust = _found(plan, fields)
    ui.draw(*feature.blocks_of(plan, rows, robust))
    with st.container(horizontal=True, key="worlds"):
        if robust.plan.plan != plan.plan:
            take = partial(state.replace_plan, robust.plan.plan)
            button("Apply the most robust plan", "shield", take, key="apply_robust")
        with (
            st.popover("Change the worlds", icon=":material/tune:"),
            st.grid("auto", min_column_width=150, vertical_alignment="bottom"),
        ):
            for field in fields.values():
                field.draw(persist_state="session")
    complain(*(field.problem for field in fields.values()))


def _times(key: str) -> int:
    return 100 if key == "dropout" else 1  # percent


def _fields(plan: Assessment) -> dict[tuple[str, str], NumberField]:
    """Return the fields by world and assumption; a new default begins a new field."""
    fields = {}
    for (key, one), world in product(feature.ranges_of(plan).items(), _CHANGED):
        times = _times(key)
        label = f"{one.row.label}{', %' if times > 1 else ''}: {world}"
        value, bounds = one.default(world) * times, (one.low * times, one.high * times)
        place, why_not = f"{world}_{key}_{value}", between(label, bounds)
        step = (one.step or 1) * times
        fields[world, key] = NumberField(label, place, value, why_not=why_not, step=step)
    return fields


def _found(
    plan: Assessment, fields: Mapping[tuple[str, str], NumberField]
) -> tuple[list[BreakEven], Robust]:
    """Return the break-evens and the robust plan, computed once for a plan and its worlds."""
    given: dict[str, dict[str, float]] = {world: {} for world in _CHANGED}
    for (world, key), field in fields.items():
        if field.typed is not None and not field.problem:
            given[world][key] = field.typed / _times(key) if _times(key) > 1 else field.typed
    last, worlds, rows, robust = st.session_state.get(_KEPT, (None, None, None, None))
    if last is not plan or worlds != given:
        rows, robust = feature.break_evens(plan), feature.robust_plan(plan, **given)
        st.session_state[_KEPT] = plan, given, rows, robust
    return rows, robust
