"""What counts as replicated: criteria, prior and heterogeneity, and how probable success is."""

from contextlib import suppress
from typing import Any, Final

import streamlit as st
from pydantic import ValidationError

from replicalab.assessment import original_estimate
from replicalab.errors import ScenarioError
from replicalab.measures.success import CRITERIA, PRIORS, Criterion, Prior
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, PlanWith, Replication
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, button, complain
from replicalab.views.success import success_blocks

_MARGIN: Final = 0.2  # A margin to begin with where the study names no smallest effect of interest
_STEP: Final = 0.05


def fits(lines: Curves) -> bool:
    """Return whether the original's standard error is known, on which all of it rests."""
    return original_estimate(lines.plan.pack.design) is not None


def draw(lines: Curves) -> None:
    """Draw what is chosen, and what it comes to."""
    design, yours = lines.plan.pack.design, state.case().question.replication
    chosen = design.replication
    with st.container(horizontal=True, key="success_criteria"):
        for name, row in CRITERIA.items():
            is_on = bool(chosen and name in chosen.criteria)
            key = _key(name, is_on)
            st.checkbox(
                row.label,
                is_on,
                key=key,
                help=f"{row.meaning} {row.source}.",
                on_change=lambda name=name, key=key: _tick(name, st.session_state[key], design),
            )
    if chosen is None:
        st.caption("Tick what is to count as replicated, before the data.")
        return
    _draw_assumptions(chosen)
    if yours is not None:
        button("Back to the study’s", "undo", _back, key="success_back")
    panel.draw(*success_blocks(lines.plan))


def _draw_assumptions(chosen: Replication) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="success_numbers"):
        st.radio(
            "Prior",
            list(Prior),
            index=list(Prior).index(chosen.prior),
            format_func=lambda prior: PRIORS[prior].label,
            horizontal=True,
            key=_key("prior", chosen.prior.value),
            help=" ".join(f"{row.label}: {row.meaning}" for row in PRIORS.values()),
            on_change=lambda: _change(
                chosen, prior=st.session_state[_key("prior", chosen.prior.value)]
            ),
        )
        numbers = [_number("tau", "Heterogeneity tau", chosen)]
        if chosen.margin is not None:
            numbers.append(_number("margin", "Margin", chosen))
        for number in numbers:
            number.draw()
        if chosen.has_sides:
            _toggle("One-sided", "sides", chosen, (2, 1))
        plans = (PlanWith.POWER, PlanWith.SUCCESS)
        _toggle("Plan with the probability of success", "plan_with", chosen, plans)
    complain(*(number.problem for number in numbers))


def _toggle(label: str, name: str, chosen: Replication, values: tuple[Any, Any]) -> None:
    key = _key(name, getattr(chosen, name))

    def take() -> None:
        _change(chosen, **{name: values[st.session_state[key]]})

    st.toggle(label, getattr(chosen, name) == values[1], key=key, on_change=take)


def _number(name: str, label: str, chosen: Replication) -> NumberField:
    def why_not(typed: float | None) -> str:
        if typed is None:
            return f"{label} is empty. It stays {getattr(chosen, name):g}."
        try:
            chosen.model_copy(update={name: typed})
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            return f"{label}: {problem}. It stays {getattr(chosen, name):g}."
        return ""

    return NumberField(
        label,
        _key(name, getattr(chosen, name)),
        getattr(chosen, name),
        take=lambda typed: _change(chosen, **{name: typed}),
        why_not=why_not,
        step=_STEP,
    )


def _key(name: str, value: object) -> str:
    """Return the key of a widget, which starts anew where its value is changed elsewhere."""
    return f"success_{name}_{state.current().version}_{value}"


def _tick(name: Criterion, is_on: bool, design: Design) -> None:
    """Let a criterion count, or count no more; the last one of the visitor's leaves the study's."""
    chosen = design.replication
    criteria = set(chosen.criteria if chosen else ())
    criteria = criteria | {name} if is_on else criteria - {name}
    changes: dict[str, Any] = {"criteria": tuple(each for each in Criterion if each in criteria)}
    if name is Criterion.EQUIVALENCE:
        changes["margin"] = (abs(design.sesoi or 0.0) or _MARGIN) if is_on else None
    if not criteria:
        _back()
    elif chosen is None:
        _ask(Replication.model_validate(changes))
    else:
        _change(chosen, **changes)


def _change(chosen: Replication, **changes: Any) -> None:
    with suppress(ValidationError):
        _ask(chosen.model_copy(update=changes))


def _ask(chosen: Replication | None) -> None:
    with suppress(ScenarioError):  # What cannot be asked stays as it was, and is drawn so
        state.ask(state.case().question.model_copy(update={"replication": chosen}))


def _back() -> None:
    _ask(None)
