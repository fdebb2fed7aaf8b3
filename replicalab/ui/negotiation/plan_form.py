"""A compact form for a plan: every field, filled in beforehand, and what is about to be sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st
from pydantic import ValidationError

from replicalab.agents import check_feasibility
from replicalab.evidence import planned_evidence
from replicalab.models import (
    FIELD_LABELS,
    LARGEST_PLANNED,
    LONGEST_TEXT,
    PROTOCOL_FIELDS,
    Protocol,
    revise,
    too_large,
)
from replicalab.scenarios import ItemStatus, Pack
from replicalab.sentences import plan_verdict
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.words import escaped

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
        """Return the plan that the fields hold now, None where it cannot be one or sent."""
        plan = self.held()
        return None if plan is None or too_large(plan) else plan

    def held(self) -> Protocol | None:
        """Return the plan that the fields hold now, None where it cannot be one."""
        values = {name: st.session_state.get(self.key(name)) for name in PROTOCOL_FIELDS}
        given = {name: value for name, value in values.items() if value is not None}
        try:
            return revise(self.plan, **given)
        except ValidationError:
            return None


def draw_fields(form: Form, pack: Pack) -> Protocol | None:
    """Draw the fields, and return the plan that they hold, None where it cannot be one."""
    columns = st.columns(2)
    for column, (field, least) in zip(columns, _NUMBERS.items(), strict=True):
        with column:
            _number(form, field, least)
    _labels(form, "controls", [control.name for control in pack.controls], str)
    for field, category in _CATEGORIES.items():
        _labels(form, field, _offered(pack, category), _status_of(pack, category))
    for field in ("technique", "rationale"):
        _text(form, field)
    plan = form.held()
    for problem in too_large(plan) if plan else []:
        st.error(f"{escaped(problem)}. Shorten it.", icon=":material/edit_off:")
    return plan


def _say(found: str) -> None:
    """Say beside a field what of the plan it could not be filled with."""
    st.caption(f":material/info: {escaped(found)}")


def _text(form: Form, field: str) -> None:
    text: str = getattr(form.plan, field)
    st.text_input(
        FIELD_LABELS[field],
        text[:LONGEST_TEXT],
        max_chars=LONGEST_TEXT,
        key=form.key(field),
    )
    if len(text) > LONGEST_TEXT:
        _say(
            f"The plan has {len(text):,} characters here, and at most {LONGEST_TEXT:,} can be "
            f"sent: the field holds the first {LONGEST_TEXT:,}."
        )


def _number(form: Form, field: str, least: int) -> None:
    planned: int = getattr(form.plan, field)
    shown = max(least, min(planned, LARGEST_PLANNED))
    st.number_input(
        "Duration (days)" if field == "duration_days" else FIELD_LABELS[field],
        value=shown,
        min_value=least,
        max_value=LARGEST_PLANNED,
        step=1,
        key=form.key(field),
    )
    if shown != planned:
        _say(
            f"The plan has {planned:,} here, and {least:,} to {LARGEST_PLANNED:,} can be sent: the "
            f"field starts with {shown:,}."
        )


def _labels(form: Form, field: str, offered: list[str], shown_as: Callable[[str], str]) -> None:
    planned: list[str] = getattr(form.plan, field)
    chosen = list(dict.fromkeys(planned))
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
    again = [label for label, count in Counter(planned).items() if count > 1]
    if again:
        _say(f"The plan lists {', '.join(again)} more than once; each is sent once.")


def _offered(pack: Pack, category: str) -> list[str]:
    own = [r.label for r in pack.resources if r.category.value == category]
    return [*own, *pack.inventory.usable_alternatives(category)]


def _status_of(pack: Pack, category: str) -> Callable[[str], str]:
    def shown(label: str) -> str:
        status = pack.inventory.status(label, category)
        missing = status not in (ItemStatus.AVAILABLE, ItemStatus.UNKNOWN)
        return f"{label} ({status})" if missing else label

    return shown


def draw_preview(plan: Protocol | None, pack: Pack) -> None:
    """Draw what the plan is worth before it is sent."""
    if plan is None:
        st.error(
            "Technique and rationale may not be empty. Write in a few words what is done, and why.",
            icon=":material/edit_off:",
        )
        return
    if too_large(plan):
        st.error("This plan is too large to be sent: see beside it.", icon=":material/edit_off:")
        return
    check = check_feasibility(plan, pack)
    draw_verdict(plan_verdict(check, planned_evidence(plan, pack)))
    budget = pack.lab.budget
    st.caption(f"It costs {check.estimated_cost:,.0f} of {escaped(f'{budget:,.0f}')} credits.")
