"""The editor of a plan: one widget per field; what cannot be a plan is said and not taken.

The Protocol page takes every edit at once; a person's move and a fork read the fields when the
plan is sent.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import streamlit as st
from pydantic import ValidationError

from replicalab import models
from replicalab.assessment import assess
from replicalab.characters import on_one_line
from replicalab.facts.plan import group_text, groups_text
from replicalab.facts.verdicts import plan_verdict
from replicalab.lexicon import amount_text, joined, quoted
from replicalab.models import NUMBER_FIELDS
from replicalab.scenarios import Design, ItemStatus, Pack
from replicalab.ui.controls import NumberField, between, complain
from replicalab.ui.words import draw_verdict, escaped

_CATEGORIES: Final = {"required_equipment": "equipment", "required_reagents": "reagent"}
_LINES_PX: Final = 72  # The height of a text of two lines, which can be drawn larger
_REMEDIES: Final = {
    "technique": "Write in a few words what is done.",
    "rationale": "Write why this plan answers the question.",
}


class PlanForm(NamedTuple):
    """The fields of a plan.

    Attributes:
        name: distinguishes them from those of other forms; a new one starts from ``plan`` again.
        plan: what they start with.
        take: takes each edit at once, a field and its value; None where the plan is sent later.
        groups: of how many groups the sample size is typed for one; 1 where it is typed in all.
        term: returns a label in the words of the study's field.
    """

    name: str
    plan: models.Protocol
    take: Callable[[str, object], None] | None = None
    groups: int = 1
    term: Callable[[str], str] = str

    def times(self, field: str) -> int:
        """Return by how much what is typed into a field is multiplied."""
        return self.groups if field == "sample_size" else 1

    def label(self, field: str) -> str:
        """Return the displayed name of a field."""
        return self.term(models.FIELD_LABELS[field])

    def key(self, field: str) -> str:
        """Return the key of a field's widget."""
        times = self.times(field)
        return f"{self.name}_{field}" + (f"_{times}" if times > 1 else "")

    def value(self, field: str) -> Any:
        """Return what a field holds now, of all groups together; None before it was drawn."""
        typed = st.session_state.get(self.key(field))
        return typed * self.times(field) if field in NUMBER_FIELDS and typed is not None else typed

    def number(self, field: str) -> NumberField:
        """Return the field of a number."""
        planned, times = getattr(self.plan, field), self.times(field)
        # A plan without samples can be looked at, but not sent.
        least = 0 if self.take or field != "sample_size" else 1
        kept = f"the plan keeps {planned:,}" if self.take else ""
        why_not = between(self.label(field), (least, models.LARGEST_PLANNED), kept)
        name = self.label(field) if field != "duration_days" else "Duration (days)"
        return NumberField(
            label=f"{name} per group" if times > 1 else name,
            key=self.key(field),
            value=min(planned, models.LARGEST_PLANNED) // times,
            take=self.take and (lambda _: self.change(field)),
            why_not=lambda typed: why_not(None if typed is None else typed * times),
        )

    def problem(self, field: str) -> str:
        """Return why what a field holds now cannot be in the plan; empty where it can."""
        value = self.value(field)
        if value is None:
            return ""
        if field in NUMBER_FIELDS:
            return self.number(field).problem
        if value == getattr(self.plan, field):
            return ""
        try:
            revised = models.revise(self.plan, **{field: value})
        except ValidationError:
            return self._empty_text(field)
        known = models.too_large(self.plan)
        if large := [problem for problem in models.too_large(revised) if problem not in known]:
            shorten = "The plan keeps what it had; shorten" if self.take else "Shorten"
            return f"{self.term(large[0])}. {shorten} it."
        return ""

    def _empty_text(self, field: str) -> str:
        label, remedy = self.label(field), "Remove that entry, or type a name."
        problem, kept = f"{label} has an entry without a name", "what it had"
        if field in _REMEDIES:
            problem, remedy = f"{label} is empty", _REMEDIES[field]
            kept = f"“{getattr(self.plan, field)}”"
        return f"{problem}{f', so the plan keeps {kept}' if self.take else ''}. {remedy}"

    def read(self) -> models.Protocol | None:
        """Return the plan that the fields hold now, None where it cannot be one or be sent."""
        plan = self.held()
        unfit = plan is None or models.too_large(plan) or self.number("sample_size").problem
        return None if unfit else plan

    def held(self) -> models.Protocol | None:
        """Return the plan that the fields hold now, None where it cannot be one."""
        values = {name: self.value(name) for name in models.PROTOCOL_FIELDS}
        given = {name: value for name, value in values.items() if value is not None}
        try:
            return models.revise(self.plan, **given)
        except ValidationError:
            return None

    def change(self, field: str) -> None:
        """Take what a field holds now, where that is wanted at once and can be in a plan."""
        if self.take and not self.problem(field):
            self.take(field, self.value(field))


def draw_fields(form: PlanForm, pack: Pack) -> None:
    """Draw the fields of a plan in a lab.

    Each widget is given its value as its default, not through the session: a default travels with
    the widget, so one that the browser draws late still starts with the plan's value.
    """
    with st.container(horizontal=True):
        draw_numbers(form, pack)
    draw_lists_and_texts(form, pack)


def draw_numbers(form: PlanForm, pack: Pack) -> None:
    """Draw the two fields that are numbers; what is wrong with them is said below."""
    hints = {
        "sample_size": f"In {pack.design.unit_of_n}.",
        "duration_days": "Whole days in the lab.",
    }
    for field, hint in hints.items():
        form.number(field).draw(help=escaped(hint))
        if (planned := getattr(form.plan, field)) > models.LARGEST_PLANNED:
            _note(
                f"The plan has {planned:,} here; the field starts with {models.LARGEST_PLANNED:,}."
            )


def draw_lists_and_texts(form: PlanForm, pack: Pack) -> None:
    """Draw what is wrong with the numbers, and the other fields."""
    complain(*map(form.problem, NUMBER_FIELDS))
    _note_groups(form, pack.design)
    _labels(form, "controls", [control.name for control in pack.controls], on_one_line)
    for field, category in _CATEGORIES.items():
        _labels(form, field, _offered(pack, category), _standing(pack, category))
    for field in _REMEDIES:
        st.text_area(
            form.label(field),
            getattr(form.plan, field),
            height=_LINES_PX,
            max_chars=models.LONGEST_TEXT,
            key=form.key(field),
            on_change=form.change,
            args=(field,),
        )
        complain(form.problem(field))
    # Fields that fit one by one may be too large together, which only a plan to be sent may hold.
    held = None if form.take else form.held()
    problems = [form.problem(field) for field in models.PROTOCOL_FIELDS]
    for problem in models.too_large(held) if held else []:
        if not any(text.startswith(problem) for text in problems):
            complain(f"{form.term(problem)}. Shorten it.")


def _note(text: str) -> None:
    """Say next to a field what of the plan it could not be filled with."""
    st.caption(f":material/info: {escaped(text)}")


def _note_groups(form: PlanForm, design: Design) -> None:
    """Say how the samples are shared out over the groups, if there are any and it is not plain."""
    if shares := groups_text(form.plan.sample_size, design, per_group=form.groups > 1):
        _note(shares)
    elif group_text(form.plan.sample_size, design):
        # The browser would draw all the fields below anew where they move by one.
        st.empty()


def _labels(form: PlanForm, field: str, offered: list[str], shown_as: Callable[[str], str]) -> None:
    planned: list[str] = getattr(form.plan, field)
    chosen = list(dict.fromkeys(planned))
    st.multiselect(
        form.label(field),
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
    complain(form.problem(field))
    if again := joined(quoted(label for label, count in Counter(planned).items() if count > 1)):
        then = "any change here lists each once" if form.take else "each is sent once"
        _note(f"The plan lists {again} more than once; {then}.")


def _offered(pack: Pack, category: str) -> list[str]:
    own = [r.label for r in pack.resources if r.category.value == category]
    return [*own, *pack.inventory.usable_alternatives(category)]


def _standing(pack: Pack, category: str) -> Callable[[str], str]:
    """Return how an item is shown in a list: one that is missing with where it stands."""

    def shown(label: str) -> str:
        status, name = pack.inventory.status(label, category), on_one_line(label)
        if status in (ItemStatus.AVAILABLE, ItemStatus.UNKNOWN):
            return name
        return f"{name} ({pack.inventory.standing(label, category)})"

    return shown


def draw_preview(form: PlanForm, pack: Pack) -> None:
    """Draw what the plan is worth that the fields hold, before it is sent."""
    plan = form.read()
    if plan is None:
        complain("This plan cannot be sent: what is in the way stands at its fields.")
        return
    worth = assess(plan, pack)
    draw_verdict(plan_verdict(worth))
    cost, budget = amount_text(worth.cost), pack.lab.money(pack.lab.budget)
    st.caption(f"It costs {cost} of {budget}.")
