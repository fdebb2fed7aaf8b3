"""A compact form for a plan: every field, filled in beforehand, and what is about to be sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st
from pydantic import ValidationError

from replicalab.agents import check_feasibility
from replicalab.evidence import planned_evidence
from replicalab.models import FIELD_LABELS, PROTOCOL_FIELDS, Protocol, revise
from replicalab.scenarios import ItemStatus, NormalizedScenarioPack
from replicalab.sentences import plan_verdict
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.words import escaped
from replicalab.workspace import LARGEST_PLANNED

_LONGEST_TEXT: Final = 4000
_CATEGORIES: Final = {"required_equipment": "equipment", "required_reagents": "reagent"}
_NUMBERS: Final = {"sample_size": 1, "duration_days": 0}
"""The whole numbers of a plan and the least of each; a proposal needs a sample."""


class Form(NamedTuple):
    """A form for a plan.

    Attributes:
        name: tells its fields from those of other forms; a new name starts from ``plan`` again.
        plan: what the fields start with.
    """

    name: str
    plan: Protocol

    def key(self, field: str) -> str:
        """Return the key of a field's widget."""
        return f"{self.name}_{field}"

    def read(self) -> Protocol | None:
        """Return the plan that the fields hold now, None where it cannot be one."""
        values = {name: st.session_state.get(self.key(name)) for name in PROTOCOL_FIELDS}
        given = {name: value for name, value in values.items() if value is not None}
        try:
            return revise(self.plan, **given)
        except ValidationError:
            return None


def draw_fields(form: Form, pack: NormalizedScenarioPack) -> Protocol | None:
    """Draw the fields, and return the plan that they hold, None where it cannot be one."""
    columns = st.columns(2)
    for column, (field, least) in zip(columns, _NUMBERS.items(), strict=True):
        with column:
            _number(form, field, least)
    _labels(form, "controls", [control.name for control in pack.controls], str)
    for field, category in _CATEGORIES.items():
        _labels(form, field, _offered(pack, category), _status_of(pack, category))
    for field in ("technique", "rationale"):
        st.text_input(
            FIELD_LABELS[field],
            getattr(form.plan, field)[:_LONGEST_TEXT],
            max_chars=_LONGEST_TEXT,
            key=form.key(field),
        )
    return form.read()


def _number(form: Form, field: str, least: int) -> None:
    st.number_input(
        "Duration (days)" if field == "duration_days" else FIELD_LABELS[field],
        value=max(least, min(getattr(form.plan, field), LARGEST_PLANNED)),
        min_value=least,
        max_value=LARGEST_PLANNED,
        step=1,
        key=form.key(field),
    )


def _labels(form: Form, field: str, offered: list[str], shown_as: Callable[[str], str]) -> None:
    chosen = list(dict.fromkeys(getattr(form.plan, field)))
    st.multiselect(
        FIELD_LABELS[field],
        list(dict.fromkeys([*offered, *chosen])),
        default=chosen,
        format_func=shown_as,
        key=form.key(field),
        accept_new_options=True,
        wrap=True,
        placeholder="Pick, or type a new one",
    )


def _offered(pack: NormalizedScenarioPack, category: str) -> list[str]:
    own = [r.label for r in pack.resources if r.category.value == category]
    return [*own, *pack.inventory.usable_alternatives(category)]


def _status_of(pack: NormalizedScenarioPack, category: str) -> Callable[[str], str]:
    def shown(label: str) -> str:
        status = pack.inventory.status(label, category)
        missing = status not in (ItemStatus.AVAILABLE, ItemStatus.UNKNOWN)
        return f"{label} ({status})" if missing else label

    return shown


def draw_preview(plan: Protocol | None, pack: NormalizedScenarioPack) -> None:
    """Draw what the plan is worth before it is sent."""
    if plan is None:
        st.error(
            "Technique and rationale may not be empty. Write in a few words what is done, and why.",
            icon=":material/edit_off:",
        )
        return
    check = check_feasibility(plan, pack)
    draw_verdict(plan_verdict(check, planned_evidence(plan, pack)))
    budget = pack.lab.budget_remaining
    st.caption(f"It costs {check.estimated_cost:,.0f} of {escaped(f'{budget:,.0f}')} credits.")
