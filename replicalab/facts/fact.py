"""Facts: values with a name, a unit and a sign, which every renderer shows alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from replicalab import lexicon
from replicalab.assessment import Assessment, Evidence, cautions_title
from replicalab.facts.blocks import Cell, Column, Status, Table, table
from replicalab.scenarios import Lab

Value = str | int | float | bool | None


class Fact(NamedTuple):
    """One value of a plan, study or lab.

    Attributes:
        key: its name for programs, an identifier.
        label: its name for people.
        value: a number, text or truth value; None if missing.
        unit: the unit of a number: ``samples``, a currency, or a measure such as ``power``.
        note: a caveat, shown after the value.
        text: the value for people, with its unit; formatted from the value if empty.
    """

    key: str
    label: str
    value: Value = None
    unit: str = ""
    status: Status | None = None
    note: str = ""
    text: str = ""

    @property
    def shown(self) -> str:
        """The value for people."""
        if self.text or isinstance(self.value, str):
            return self.text or str(self.value)
        if self.value is None or isinstance(self.value, bool):
            return {None: "none", True: "yes", False: "no"}[self.value]
        return f"{lexicon.amount_text(self.value)} {self.unit}".rstrip()

    @property
    def cell(self) -> Cell:
        """The fact as a cell of a table."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        number = float(self.value or 0) if is_number else None
        return Cell(self.shown, number, self.status, note=self.note)


def count(key: str, label: str, number: float, noun: str) -> Fact:
    """Return a number of things; ``noun`` is in the singular."""
    text = lexicon.count_text(number, noun)
    return Fact(key, label, number, lexicon.plural(noun, 2), text=text)


def money(key: str, label: str, amount: float, lab: Lab) -> Fact:
    """Return an amount of money in the currency of a lab."""
    return Fact(key, label, amount, lab.currency, text=lab.money(amount))


def evidence_value(key: str, label: str, value: float, evidence: Evidence) -> Fact:
    """Return a value on the scale of an evidence: a target, a floor or the evidence itself."""
    return Fact(key, label, value, evidence.measure, text=evidence.amount(value))


COUNTED = ("samples", "days", "cost", "staff", "analysed")  # keys of facts shown with a unit


def plan_facts(plan: Assessment) -> list[Fact]:
    """Return the size, cost and evidence of a plan."""
    evidence, lab = plan.evidence, plan.pack.lab
    fact = evidence_value("evidence", evidence.title, evidence.value, evidence)
    if evidence.void_reason:
        fact = fact._replace(value=None, text=evidence.number)
    within = Status.PASS if plan.cost <= lab.budget else Status.FAIL
    return [
        count("samples", "Samples", plan.counts.samples, "sample"),
        count("days", "Days", plan.counts.days, "day"),
        money("cost", "Cost", plan.cost, lab)._replace(status=within),
        count("staff", "Staff", plan.staff, "staff unit"),
        fact._replace(note=cautions_title(plan)),
        count("analysed", "Samples analysed", evidence.analysed, "sample"),
        Fact("fidelity_loss", "Fidelity loss", plan.fidelity_loss),
        Fact("wishes_broken", "Wishes broken", len(plan.broken_wishes)),
    ]


def fits_fact(plan: Assessment) -> Fact:
    """Return whether a plan passes every dimension, or those that fail."""
    fails = ", ".join(map(plan.pack.study.term, plan.failing))
    status = Status.PASS if plan.feasible else Status.FAIL
    return Fact("feasible", "Passes", plan.feasible, status=status, text=fails and f"no: {fails}")


def moves(before: Assessment, after: Assessment) -> list[Fact]:
    """Return the facts that differ between two plans, with both values: ``0.61 → 0.62``."""
    pairs = zip(plan_facts(before), plan_facts(after), strict=True)
    return [
        new._replace(text=f"{_amount(old)} → {_amount(new)}")
        for old, new in pairs
        if old.shown != new.shown
    ]


def _amount(fact: Fact) -> str:
    return lexicon.amount_text(float(fact.value or 0)) if fact.key in COUNTED else fact.shown


def facts_table(caption: str, facts: Iterable[Fact]) -> Table:
    """Return facts as rows of label and value."""
    columns = (Column("Fact", is_seen=False), Column("Value", is_seen=False))
    return table(caption, columns, [(fact.label, fact.cell) for fact in facts])


def compared_table(caption: str, sides: Mapping[str, Sequence[Fact]]) -> Table:
    """Return the facts in which some plans differ, with a column for each plan."""
    rows = []
    for facts in zip(*sides.values(), strict=True):
        if len({fact.shown for fact in facts}) > 1:
            # The label of a count is its unit.
            unit_named = facts[0].key in {"samples", "days", "analysed"}
            cells = [fact.cell for fact in facts]
            if unit_named:
                cells = [fact._replace(text=_amount(fact)).cell for fact in facts]
            rows.append((facts[0].label, *cells))
    return table(caption, (Column("Fact", is_seen=False), *map(Column, sides)), rows)
