"""The break-evens and the worlds in a fold on Protocol, and on a slide."""

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Final, get_args

import streamlit as st

from replicalab.answers import World
from replicalab.assessment import Assessment
from replicalab.facts import blocks
from replicalab.features import break_even as feature
from replicalab.features.break_even import TITLE, BreakEven
from replicalab.negotiation.score import RobustPlan
from replicalab.ui import screen, state
from replicalab.ui.controls import NumberField, between, button, complain, escape, fold

_KEPT: Final = "break_evens"
_ROWS: Final = 3  # of the bars on a slide


def panel(place: str, plan: Assessment) -> Mapping[str, blocks.Panel]:
    """Return the slide of a plan that passes, or draw the fold, computed when it opens."""
    if place == "folds":
        with fold(TITLE, "break_even") as is_open:
            if is_open:
                _draw(plan)
    elif plan.passes:
        rows, robust, _ = _computed(plan)
        lines = zip(*(world.values() for world in feature.values_in(robust).values()), strict=True)
        grim = ", ".join(row.phrase(one.now) for _, row, one in lines if one.now != row.now)
        last = blocks.Sentence(f"The grim world: {grim}.", quiet=True)
        ledger = blocks.group(*feature.blocks_of(plan, rows, robust, _ROWS)[:-1], last)
        return {TITLE: blocks.panel("slide_ledger", title=TITLE, ledger=ledger, roomy=False)}
    return {}


def _draw(plan: Assessment) -> None:
    fields, (rows, robust, problem) = _fields(plan), _computed(plan)
    screen.draw(*feature.blocks_of(plan, rows, robust))
    with st.expander("Change the worlds", icon=":material/tune:", key="worlds"):
        with st.grid("auto", min_column_width=150, vertical_alignment="bottom"):
            for field in fields:
                field.draw()
        own = state.case().registration.model_copy(update={"worlds": {}})
        reset = partial(state.open_case, state.case().replace(registration=own))
        button("Reset the worlds", "restart_alt", reset, key="reset_worlds")
    complain(problem, *(field.problem for field in fields))
    if robust.helps and robust.plan.plan != plan.plan:
        take = partial(state.replace_plan, robust.plan.plan)
        button("Apply most robust plan", "shield", take, key="apply_robust")


def _fields(plan: Assessment) -> list[NumberField]:
    """Return a field for each assumption and world; a new default begins a new field."""
    typed, fields = state.case().registration.worlds, []
    for (key, one), world in product(feature.ranges_of(plan).items(), get_args(World)):
        end, times = (f", %: {world}", 100) if key == "dropout" else (f": {world}", 1)
        default, bounds = one.default(world), (one.low * times, one.high * times)
        label = f"{escape(one.row.label)}{end}"
        value = type(default)(typed.get(world, {}).get(key, default))
        check = between(one.row.label + end, bounds, f"it stays {one.row.text(value)}")
        name, step = f"{world}_{key}_{default}_{state.current().version}", (one.step or 1) * times
        take = partial(_take, world, key, times)
        fields.append(NumberField(label, name, value * times, take, check, step))
    return fields


def _take(world: World, key: str, times: int, typed: float | None) -> None:
    value = typed / times if typed and times > 1 else typed
    state.update(registration=state.case().registration.assuming(world, key, value))


def _computed(plan: Assessment) -> tuple[list[BreakEven], RobustPlan, str]:
    answers, stored = state.case().registration, st.session_state.get(_KEPT)
    if not stored or stored[0] is not plan or stored[1] != answers.worlds:
        computed = feature.break_evens(plan), *feature.answered(plan, answers)
        stored = st.session_state[_KEPT] = plan, answers.worlds, computed
    return stored[2]
