"""The editor of a plan: one widget per field; what cannot be a plan is said and not taken.

The Protocol page takes every edit at once; a person's move and a fork read the fields when the
plan is sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import streamlit as st
from pydantic import ValidationError

from replicalab.assessment import assess
from replicalab.characters import on_one_line
from replicalab.lexicon import amount_text, count_text, joined, quoted
from replicalab.models import (
    FIELD_LABELS,
    LARGEST_PLANNED,
    LONGEST_TEXT,
    PROTOCOL_FIELDS,
    Protocol,
    revise,
    too_large,
)
from replicalab.planner.steps import NUMBERS
from replicalab.scenarios import Design, ItemStatus, Pack
from replicalab.text.plan import group_text, groups_text
from replicalab.text.verdicts import plan_verdict
from replicalab.ui.words import draw_verdict, escaped

_CATEGORIES: Final = {"required_equipment": "equipment", "required_reagents": "reagent"}
_LINES_PX: Final = 72
"""The height of a text of two lines, which can be drawn larger."""
_REMEDIES: Final = {
    "technique": "Write in a few words what is done.",
    "rationale": "Write why this plan answers the question.",
}


class Form(NamedTuple):
    """The fields of a plan.

    Attributes:
        name: tells them from those of other forms; a new name starts from ``plan`` again.
        plan: what they start with.
        take: takes each edit at once, a field and its value; None where the plan is sent later.
        groups: of how many groups the sample size is typed for one; 1 where it is typed in all.
    """

    name: str
    plan: Protocol
    take: Callable[[str, object], None] | None = None
    groups: int = 1

    def key(self, field: str) -> str:
        """Return the key of a field's widget."""
        return f"{self.name}_{field}" + (f"_{self.of(field)}" if self.of(field) > 1 else "")

    def of(self, field: str) -> int:
        """Return how many times a field is meant that is typed once."""
        return self.groups if field == "sample_size" else 1

    def value(self, field: str) -> Any:
        """Return what a field holds now, of all groups together; None before it was drawn."""
        found = st.session_state.get(self.key(field))
        return found * self.groups if found is not None and self.of(field) > 1 else found

    def problem(self, field: str) -> str:
        """Return why what a field holds now cannot be in the plan; empty where it can."""
        value = self.value(field)
        if value is None:
            return ""
        if field in NUMBERS and not self.least(field) <= value <= LARGEST_PLANNED:
            return self._number_text(field, value)
        try:
            revised = revise(self.plan, **{field: value})
        except ValidationError:
            return self._empty_text(field)
        large = [each for each in too_large(revised) if each not in too_large(self.plan)]
        if not large:
            return ""
        return (
            f"{large[0]}. {'The plan keeps what it had; shorten' if self.take else 'Shorten'} it."
        )

    def least(self, field: str) -> int:
        """Return the least that a number may be; a plan without samples is edited, never sent."""
        return 0 if self.take or field != "sample_size" else 1

    def _number_text(self, field: str, typed: int) -> str:
        kept = f", so the plan keeps {getattr(self.plan, field):,}" if self.take else ""
        between = f"{self.least(field):,} to {LARGEST_PLANNED:,}"
        return f"{FIELD_LABELS[field]} cannot be {typed:,}{kept}. Type {between}."

    def _empty_text(self, field: str) -> str:
        label, remedy = FIELD_LABELS[field], "Remove that entry, or type a name."
        problem, kept = f"{label} has an entry without a name", "what it had"
        if field in _REMEDIES:
            problem, remedy = f"{label} is empty", _REMEDIES[field]
            kept = f"“{getattr(self.plan, field)}”"
        return f"{problem}{f', so the plan keeps {kept}' if self.take else ''}. {remedy}"

    def read(self) -> Protocol | None:
        """Return the plan that the fields hold now, None where it cannot be one or be sent."""
        plan = self.held()
        unfit = plan is None or too_large(plan) or plan.sample_size < self.least("sample_size")
        return None if unfit else plan

    def held(self) -> Protocol | None:
        """Return the plan that the fields hold now, None where it cannot be one."""
        values = {name: self.value(name) for name in PROTOCOL_FIELDS}
        given = {name: value for name, value in values.items() if value is not None}
        try:
            return revise(self.plan, **given)
        except ValidationError:
            return None

    def change(self, field: str) -> None:
        """Take what a field holds now, where that is wanted at once and can be in a plan."""
        if self.take and not self.problem(field):
            self.take(field, self.value(field))


def draw_fields(form: Form, pack: Pack) -> None:
    """Draw the fields of a plan in a lab.

    Each widget is given its value as its default, not through the session: a default travels with
    the widget, so one that the browser draws late still starts with the plan's value.
    """
    with st.container(horizontal=True):
        draw_numbers(form, pack)
    draw_lists_and_texts(form, pack)


def draw_numbers(form: Form, pack: Pack) -> None:
    """Draw the two fields that are numbers; what is wrong with them is said below."""
    _number(form, "sample_size", f"In {pack.design.unit_of_n}.")
    _number(form, "duration_days", "Whole days in the lab.")


def draw_lists_and_texts(form: Form, pack: Pack) -> None:
    """Draw what is wrong with the numbers, and the other fields."""
    for field in NUMBERS:
        _say_problem(form, field)
    _note_groups(form, pack.design)
    _labels(form, "controls", [control.name for control in pack.controls], on_one_line)
    for field, category in _CATEGORIES.items():
        _labels(form, field, _offered(pack, category), _standing(pack, category))
    for field in _REMEDIES:
        _text(form, field)
    held = None if form.take else form.held()
    said = [form.problem(field) for field in PROTOCOL_FIELDS]
    for problem in too_large(held) if held else []:
        if not any(text.startswith(problem) for text in said):
            st.error(f"{escaped(problem)}. Shorten it.", icon=":material/edit_off:")


def _say_problem(form: Form, field: str) -> None:
    if problem := form.problem(field):
        st.error(escaped(problem), icon=":material/edit_off:")


def _note(text: str) -> None:
    """Say beside a field what of the plan it could not be filled with."""
    st.caption(f":material/info: {escaped(text)}")


def _note_groups(form: Form, design: Design) -> None:
    """Say how the samples are shared out over the groups, if there are any and it is not plain.

    Its place is kept: the browser would draw all the fields below anew where they move by one.
    """
    if told := groups_text(form.plan.sample_size, design, per_group=form.groups > 1):
        _note(told)
    elif group_text(form.plan.sample_size, design):
        st.empty()


def _number(form: Form, field: str, help_text: str) -> None:
    """Draw a number that may be typed freely: the browser would keep back one out of bounds."""
    planned: int = getattr(form.plan, field)
    shown = min(planned, LARGEST_PLANNED)
    label = FIELD_LABELS[field] if field != "duration_days" else "Duration (days)"
    st.number_input(
        f"{label} per group" if form.of(field) > 1 else label,
        value=shown // form.of(field),
        step=1,
        key=form.key(field),
        help=escaped(help_text),
        on_change=form.change,
        args=(field,),
    )
    if shown != planned:
        _note(f"The plan has {planned:,} here; the field starts with {shown:,}.")


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
        on_change=form.change,
        args=(field,),
    )
    _say_problem(form, field)
    again = joined(quoted(label for label, count in Counter(planned).items() if count > 1))
    if again and form.take:
        _note(f"The plan lists {again} more than once; any change here lists each once.")
    elif again:
        _note(f"The plan lists {again} more than once; each is sent once.")


def _offered(pack: Pack, category: str) -> list[str]:
    own = [r.label for r in pack.resources if r.category.value == category]
    return [*own, *pack.inventory.usable_alternatives(category)]


def _standing(pack: Pack, category: str) -> Callable[[str], str]:
    """Return how an item is shown in a list: one that is missing with where it stands."""

    def shown(label: str) -> str:
        status, name = pack.inventory.status(label, category), on_one_line(label)
        if status in (ItemStatus.AVAILABLE, ItemStatus.UNKNOWN):
            return name
        until = pack.inventory.booked_until(label)
        return f"{name} ({status}{f' until day {until}' if until is not None else ''})"

    return shown


def _text(form: Form, field: str) -> None:
    st.text_area(
        FIELD_LABELS[field],
        getattr(form.plan, field),
        height=_LINES_PX,
        max_chars=LONGEST_TEXT,
        key=form.key(field),
        on_change=form.change,
        args=(field,),
    )
    _say_problem(form, field)


def draw_preview(form: Form, pack: Pack) -> None:
    """Draw what the plan is worth that the fields hold, before it is sent."""
    plan = form.read()
    if plan is None:
        st.error(
            "This plan cannot be sent: what is in the way is said beside its fields.",
            icon=":material/edit_off:",
        )
        return
    found = assess(plan, pack)
    draw_verdict(plan_verdict(found))
    cost, budget = amount_text(found.cost), count_text(pack.lab.budget, "credit")
    st.caption(f"It costs {cost} of {budget}.")
