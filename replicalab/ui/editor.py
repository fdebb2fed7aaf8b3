"""The editor of a plan: one widget per protocol field, with the problem of its value below."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import streamlit as st
from pydantic import ValidationError

from replicalab import limits, models
from replicalab.assessment import assess
from replicalab.characters import on_one_line
from replicalab.facts.plan_facts import groups_text
from replicalab.facts.verdicts import plan_verdict
from replicalab.lexicon import amount_text, capitalised, joined, quoted
from replicalab.models import NUMBER_FIELDS, PROTOCOL_ROWS
from replicalab.scenarios import ItemStatus, Pack
from replicalab.ui.controls import NumberField, between, complain, draw_verdict, escape, fold

TEXTS: Final = "plan_texts"  # session key of the fold of technique and rationale


class PlanForm(NamedTuple):
    """The fields of a plan.

    Attributes:
        name: a prefix of the keys of its widgets.
        plan: the first values.
        take: takes each edit at once, a field and its value; None if the plan is sent later.
        groups: the number of groups if the sample size is typed per group, else 1.
        term: returns a label in the terms of the study's field.
    """

    name: str
    plan: models.Protocol
    take: Callable[[str, object], None] | None = None
    groups: int = 1
    term: Callable[[str], str] = str

    def times(self, field: str) -> int:
        """Return the factor from a typed to a planned value."""
        return self.groups if field == "sample_size" else 1

    def label(self, field: str) -> str:
        return self.term(models.FIELD_LABELS[field])

    def key(self, field: str) -> str:
        times = self.times(field)
        return f"{self.name}_{field}" + (f"_{times}" if times > 1 else "")

    def value(self, field: str) -> Any:
        """Return a field's value, for all groups together; None before it was drawn."""
        typed = st.session_state.get(self.key(field))
        return typed * self.times(field) if field in NUMBER_FIELDS and typed is not None else typed

    def number(self, field: str) -> NumberField:
        planned, times, label = getattr(self.plan, field), self.times(field), self.label(field)
        # A plan without samples can be judged, but not sent.
        minimum = 0 if self.take or field != "sample_size" else 1
        text = f"the plan keeps {planned:,}" if self.take else ""
        why_not = between(label, (minimum, limits.LARGEST_PLANNED), text)
        unit = " per group" if times > 1 else " (days)" * (field == "duration_days")
        return NumberField(
            label=f"{label}{unit}",
            key=self.key(field),
            value=min(planned, limits.LARGEST_PLANNED) // times,
            take=self.take and (lambda _: self.change(field)),
            why_not=lambda typed: why_not(None if typed is None else typed * times),
        )

    def problem(self, field: str) -> str:
        """Return the problem of a field's value; empty if valid."""
        value = self.value(field)
        if field in NUMBER_FIELDS:
            return "" if value is None else self.number(field).problem
        if value is None or value == getattr(self.plan, field):
            return ""
        try:
            revised = models.revise(self.plan, **{field: value})
        except ValidationError:
            label, remedy = self.label(field), PROTOCOL_ROWS[field].if_empty
            problem, last = f"{label} is empty", f"“{getattr(self.plan, field)}”"
            if not remedy:
                problem, last = f"{label} has an entry without a name", "the last list"
                remedy = "Remove that entry, or type a name."
            return f"{problem}{f', so the plan keeps {last}' if self.take else ''}. {remedy}"
        before = models.too_large(self.plan, self.term)
        faults = models.too_large(revised, self.term)
        if text := next((fault.text for fault in faults if fault not in before), ""):
            shorten = "The plan keeps the last text; shorten" if self.take else "Shorten"
            return f"{text}. {shorten} it."
        return ""

    def read(self) -> models.Protocol | None:
        """Return the plan in the fields; None if it cannot be sent."""
        plan = self.valid_plan()
        unfit = plan is None or models.too_large(plan) or self.number("sample_size").problem
        return None if unfit else plan

    def valid_plan(self) -> models.Protocol | None:
        """Return the plan in the fields; None if it is not valid."""
        values = {name: self.value(name) for name in PROTOCOL_ROWS}
        record = {name: value for name, value in values.items() if value is not None}
        try:
            return models.revise(self.plan, **record)
        except ValidationError:
            return None

    def change(self, field: str) -> None:
        """Take a field's value at once, if valid."""
        if self.take and not self.problem(field):
            self.take(field, self.value(field))


def draw_fields(form: PlanForm, pack: Pack) -> None:
    """Draw the fields of a plan in a lab.

    Each widget has its value as its default, not through the session: a default travels with the
    widget, so one that the browser draws late still starts with the plan's value.
    """
    with st.container(horizontal=True):
        draw_numbers(form, pack)
    if shares := groups_text(form.plan.sample_size, pack.design, per_group=False):
        _note(shares)
    draw_lists_and_texts(form, pack)


def draw_numbers(form: PlanForm, pack: Pack) -> None:
    for field in NUMBER_FIELDS:
        hint = PROTOCOL_ROWS[field].help.format(unit=pack.design.unit_of_n)
        form.number(field).draw(help=escape(hint))


def draw_lists_and_texts(form: PlanForm, pack: Pack) -> None:
    """Draw the problems of the numbers, and the other fields; a plan taken at once folds texts."""
    complain(*map(form.problem, NUMBER_FIELDS))
    for field in models.LIST_FIELDS:
        _draw_labels(form, field, pack)
    if form.take:
        title = joined([form.label(field) for field in models.TEXT_FIELDS])
        with fold(capitalised(title.lower()), TEXTS) as is_open:
            if is_open:
                _draw_texts(form)
    else:
        _draw_texts(form)
    # Fields that fit one by one may be too large together in a plan that is to be sent.
    protocol = None if form.take else form.valid_plan()
    problems = {form.problem(field) for field in PROTOCOL_ROWS}
    for fault in models.too_large(protocol, form.term) if protocol else []:
        if (text := f"{fault.text}. Shorten it.") not in problems:
            complain(text)


def _draw_texts(form: PlanForm) -> None:
    for field in models.TEXT_FIELDS:
        st.text_area(
            form.label(field),
            getattr(form.plan, field),
            height=72,  # two lines
            max_chars=limits.LONGEST_TEXT,
            key=form.key(field),
            on_change=form.change,
            args=(field,),
        )
        complain(form.problem(field))


def _note(text: str) -> None:
    st.caption(f":material/info: {escape(text)}")


def _draw_labels(form: PlanForm, field: str, pack: Pack) -> None:
    category = PROTOCOL_ROWS[field].category
    offered = [control.name for control in pack.controls]
    if category:
        offered = [r.label for r in pack.resources if r.category.value == category]
        offered += pack.inventory.replacements[category]

    def shown(label: str) -> str:
        name, pair = on_one_line(label), (ItemStatus.AVAILABLE, ItemStatus.UNKNOWN)
        if not category or pack.inventory.status(label, category) in pair:
            return name
        return f"{name} ({pack.inventory.status_text(label, category)})"

    planned: list[str] = getattr(form.plan, field)
    chosen = list(dict.fromkeys(planned))
    st.multiselect(
        form.label(field),
        list(dict.fromkeys([*offered, *chosen])),
        default=chosen,
        format_func=shown,
        key=form.key(field),
        accept_new_options=True,
        wrap=True,
        placeholder="Pick or type",
        on_change=form.change,
        args=(field,),
    )
    complain(form.problem(field))
    if again := joined(quoted(label for label, count in Counter(planned).items() if count > 1)):
        then = "any change here lists each once" if form.take else "each is sent once"
        _note(f"The plan lists {again} more than once; {then}.")


def draw_preview(form: PlanForm, pack: Pack) -> None:
    """Draw the verdict and the cost of the plan in the fields."""
    plan = form.read()
    if plan is None:
        complain("This plan cannot be sent. Fix the errors shown below the fields.")
        return
    worth = assess(plan, pack)
    draw_verdict(plan_verdict(worth))
    cost, budget = amount_text(worth.cost), pack.lab.money(pack.lab.budget)
    st.caption(f"It costs {cost} of {budget}.")
