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
from replicalab.ui.controls import NumberField, between, button, complain, escaped, fold

_KEPT: Final = "break_evens"
_ROWS: Final = 3  # of the bars on a slide
_CHANGED: Final = ("hopeful", "grim")
Fields = dict[tuple[str, str], NumberField]


def panel(place: str, plan: Assessment) -> Mapping[str, blocks.Panel]:
    """Return the slide of a plan that passes, or draw the fold, computed when it opens."""
    if place == "folds":
        with fold(TITLE, "break_even") as is_open:
            if is_open:
                _draw(plan)
    elif plan.passes:
        ledger = blocks.group(*feature.blocks_of(plan, *_found(plan, _fields(plan)), _ROWS)[:-1])
        return {TITLE: blocks.panel("slide_ledger", title=TITLE, ledger=ledger, roomy=False)}
    return {}


def _draw(plan: Assessment) -> None:
    rows, robust = _found(plan, fields := _fields(plan))
    ui.draw(*feature.blocks_of(plan, rows, robust))
    with st.expander("Change the worlds", icon=":material/tune:", key="worlds"):
        with st.grid("auto", min_column_width=150, vertical_alignment="bottom"):
            for field in fields.values():
                field.draw(persist_state="session")
        reset = partial(st.session_state.update, {one.key: one.value for one in fields.values()})
        button("Reset the worlds", "restart_alt", reset, key="reset_worlds")
    complain(*(field.problem for field in fields.values()))
    if robust.helps and robust.plan.plan != plan.plan:
        take = partial(state.replace_plan, robust.plan.plan)
        button("Apply the most robust plan", "shield", take, key="apply_robust")


def _fields(plan: Assessment) -> Fields:
    """Return the fields by world and assumption; a new default begins a new field."""
    fields = {}
    for (key, one), world in product(feature.ranges_of(plan).items(), _CHANGED):
        end, times = (f", %: {world}", 100) if key == "dropout" else (f": {world}", 1)
        default, bounds = one.default(world), (one.low * times, one.high * times)
        check = between(one.row.label + end, bounds, f"it stays {one.row.text(default)}")
        name, step = f"{world}_{key}_{default}", (one.step or 1) * times
        label = f"{escaped(one.row.label)}{end}"
        fields[world, key] = NumberField(label, name, default * times, None, check, step)
    return fields


def _found(plan: Assessment, fields: Fields) -> tuple[list[BreakEven], Robust]:
    given: dict[str, dict[str, float]] = {world: {} for world in _CHANGED}
    for (world, key), field in fields.items():
        if field.typed is not None and not field.problem:
            given[world][key] = field.typed / 100 if key == "dropout" else field.typed
    last, worlds, rows, robust = st.session_state.get(_KEPT, (None, None, None, None))
    if last is not plan or worlds != given:
        rows, robust = feature.break_evens(plan), feature.robust_plan(plan, **given)
        st.session_state[_KEPT] = plan, given, rows, robust
    return rows, robust
