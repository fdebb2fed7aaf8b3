"""Plans side by side: what differs, what each uses, costs and shows, and how it would end."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from replicalab.assessment import Assessment, Evidence, cautions_title, size_text
from replicalab.facts import blocks, check, negotiation
from replicalab.facts.blocks import Bar, Cell, Column, Group, Status
from replicalab.facts.lab import first_day_text, in_currency, standing_text, weekends_text
from replicalab.facts.plan import (
    ARMS_TITLE,
    UNITS_TITLE,
    WISHES,
    effect_text,
    grouping_text,
    slack_text,
    used_text,
    wishes_cell,
)
from replicalab.facts.verdicts import evidence_status, plan_verdict, standing
from replicalab.lexicon import CREDITS, amount_text, capitalised
from replicalab.models import FIELD_LABELS, PROTOCOL_FIELDS
from replicalab.negotiation import Outcome
from replicalab.negotiation.comparison import Side
from replicalab.scenarios import AMOUNTS, QUESTION_FIELDS, QUESTION_RECORDS, AmountGroup, Lab, Pack

DIFFERS: Final = "What differs"
SLACK: Final = "Used, and left"
COST: Final = "Cost, credits"
"""The title of the cost where all labs count in credits; see `parts`."""
EVIDENCE: Final = "Evidence"
OUTCOME: Final = "Outcome"
# The numbers of a plan's question, by what they are called in a comparison.
_QUESTION: Final = {
    "effect": "Assumed effect",
    "alpha": "Alpha",
    "target": "Target",
    "floor": "Floor",
    "dropout": "Dropout",
    "baseline": "Baseline",
    "assurance": "Assurance",
    "units": UNITS_TITLE,
    "arms": ARMS_TITLE,
}
_RARE: Final = {"baseline", "assurance"}  # They stand there only where they are asked.
_SAMPLES: Final = attrgetter("samples")
_DAYS: Final = attrgetter("day")
_CREDITS: Final = attrgetter("credits")
_Kind = TypeVar("_Kind")


class Line(NamedTuple):
    """A row of a comparison."""

    label: str
    cells: tuple[Cell, ...]

    @property
    def differs(self) -> bool:
        """Whether the sides are not all alike in it."""
        return len({cell.text for cell in self.cells}) > 1


def parts(sides: Sequence[Side]) -> dict[str, list[Line]]:
    """Return the rows that compare some sides, by the title of their part; no part is empty."""
    record = {
        DIFFERS: [line for line in _fields(sides) if line.differs],
        SLACK: [
            _line(_named(sides, dimension), (_used(side.plan, dimension) for side in sides))
            for dimension in sides[0].plan.slack
        ],
        in_currency(COST, _currency(sides)): [*_cost(sides)],
        EVIDENCE: [*_evidence(sides)],
        OUTCOME: [*_outcomes(sides)],
    }
    return {title: lines for title, lines in record.items() if lines}


def _currency(sides: Sequence[Side]) -> str:
    """Return the currency of all sides; of labs that differ in it each one's, in their order."""
    return " / ".join(dict.fromkeys(side.plan.pack.lab.currency for side in sides))


def _named(sides: Sequence[Side], name: str) -> str:
    """Return a name in the words of all sides; of studies whose words differ each one's."""
    names = (capitalised(side.plan.pack.study.term(name)) for side in sides)
    return " / ".join(dict.fromkeys(names))


def table(sides: Sequence[Side]) -> list[list[str | float]]:
    """Return the same for a spreadsheet: a heading and its rows, with numbers where there are any.

    What is left of a limit is its number; every text is whole.
    """
    heading: list[str | float] = ["Part", "What", *(side.name for side in sides)]
    rows = [
        [
            title,
            line.label,
            *(cell.text if cell.number is None else cell.number for cell in line.cells),
        ]
        for title, lines in parts(sides).items()
        for line in lines
    ]
    return [heading, *rows]


def same_text(sides: Sequence[Side]) -> str:
    """Return in which fields all sides are alike; empty where in none."""
    return " · ".join(line.label for line in _fields(sides) if not line.differs)


def _line(label: str, cells: Iterable[Cell]) -> Line:
    return Line(label, tuple(cells))


# --- the plan and the lab, field by field -------------------------------------------------------


def _fields(sides: Sequence[Side]) -> Iterator[Line]:
    yield _line("Study", (Cell(side.plan.pack.paper.name) for side in sides))
    for name in PROTOCOL_FIELDS:
        named = _named(sides, FIELD_LABELS[name])
        yield _line(named, (_value(getattr(side.plan.plan, name)) for side in sides))
    yield from _lab(sides)
    for number in QUESTION_FIELDS:
        if number in _RARE and not any(number in side.plan.pack.asked for side in sides):
            continue
        yield _line(_QUESTION[number], (_asked(side.plan.pack, number) for side in sides))
    for name in QUESTION_RECORDS:
        if any(name in side.plan.pack.asked for side in sides):
            yield _line(_QUESTION[name], (_grouped(side.plan.pack, name) for side in sides))
    yield _line(
        "Scientist", (Cell(_player(side, negotiation.SCIENTISTS, "scientist")) for side in sides)
    )
    yield _line(
        "Lab Manager",
        (Cell(_player(side, negotiation.LAB_MANAGERS, "lab_manager")) for side in sides),
    )


def _lab(sides: Sequence[Side]) -> Iterator[Line]:
    """Yield the lab: its means, rates and staff steps, and every item that the studies know."""
    currency, labs = _currency(sides), [side.plan.pack.lab for side in sides]
    for amount in AMOUNTS.values():
        values = [*map(amount.of, labs)]
        if amount.group is not AmountGroup.MONEY or any(values):
            named = _named(sides, amount.label_in(CREDITS))
            yield _line(in_currency(named, currency), map(_amount, values))
    yield from _calendar(labs)
    pairs = [
        (resource.label, resource.category.value)
        for side in sides
        for resource in side.plan.pack.resources
    ]
    for item, category in dict.fromkeys(pairs):
        yield _line(item, (Cell(_standing(side.plan.pack, item, category)) for side in sides))


def _calendar(labs: Sequence[Lab]) -> Iterator[Line]:
    """Yield the first day, and whether weekends are worked, where a lab says so."""
    if any(lab.start_date for lab in labs):
        yield _line("First day", (Cell(first_day_text(lab)) for lab in labs))
        yield _line("Weekends", (Cell(weekends_text(lab)) for lab in labs))


def _standing(pack: Pack, label: str, category: str) -> str:
    price = pack.lab.money(pack.price(label, category))
    return f"{standing_text(pack, label, category)}; {price}"


def _value(value: int | str | list[str]) -> Cell:
    if isinstance(value, list):
        return Cell(", ".join(value) or "none")
    return _amount(value) if isinstance(value, int) else Cell(value)


def _amount(value: float) -> Cell:
    return Cell(amount_text(value), number=value)


def _asked(pack: Pack, number: str) -> Cell:
    value = getattr(pack.design, QUESTION_FIELDS[number])
    custom = "" if number in pack.asked else " (the study’s own)"
    return Cell(f"{'none' if value is None else f'{value:zg}'}{custom}", number=value)


def _grouped(pack: Pack, name: str) -> Cell:
    request = name in pack.asked
    return Cell(grouping_text(getattr(pack.question, name)) if request else "the study’s own")


def _player(side: Side, players: Mapping[_Kind, negotiation.Player], seat: str) -> str:
    return players[getattr(side.played.setup, seat)].name if side.played else "none"


# --- what each uses, costs and shows ------------------------------------------------------------


def _used(plan: Assessment, dimension: str) -> Cell:
    slack = plan.slack[dimension]
    rest = slack_text(slack)
    text = f"{used_text(plan, slack)}{f' ({rest})' if rest else ''}"
    status = Status.PASS if slack.ok else Status.FAIL
    return Cell(text, slack.slack if rest else None, status, check.slack_bar(slack))


def _cost(sides: Sequence[Side]) -> Iterator[Line]:
    dearest = max(side.plan.cost for side in sides) or 1.0

    def line(label: str, amounts: Iterable[float]) -> Line:
        return _line(
            label, (_amount(amount)._replace(bar=Bar(amount / dearest)) for amount in amounts)
        )

    records = [{term.label: term.credits for term in side.plan.cost_terms} for side in sides]
    for label in dict.fromkeys(label for terms in records for label in terms):
        yield line(_named(sides, label), (terms.get(label, 0.0) for terms in records))
    yield line("Total", (side.plan.cost for side in sides))


def _evidence(sides: Sequence[Side]) -> Iterator[Line]:
    first = sides[0].plan.evidence
    alike = all(side.plan.evidence.measure == first.measure for side in sides)
    title = first.title if alike else "Evidence"
    yield _line(title, (_worth(side.plan.evidence, alone=alike) for side in sides))
    yield _line("Stands", map(_stands, sides))
    if alike and (sought := first.row.sought):
        effects = [side.plan.detectable_effect for side in sides]
        yield _line(capitalised(sought), (Cell(effect_text(e), number=e) for e in effects))
    yield _line("Fidelity loss", (_amount(side.plan.fidelity_loss) for side in sides))
    if any(side.plan.broken_wishes for side in sides):
        signs = [Status.CAUTION if side.plan.broken_wishes else None for side in sides]
        cells = zip(sides, signs, strict=True)
        yield _line(WISHES, (Cell(wishes_cell(side.plan), status=sign) for side, sign in cells))


def _worth(evidence: Evidence, *, alone: bool) -> Cell:
    text = evidence.number if alone else evidence.text
    counts = not evidence.void_reason and math.isfinite(evidence.value)
    return Cell(text, number=evidence.value if counts else None)


def _stands(side: Side) -> Cell:
    status, text = standing(side.plan)
    return Cell(text, status=status)


def _outcomes(sides: Sequence[Side]) -> Iterator[Line]:
    if any(side.is_run for side in sides):
        yield _line("Plan judged", (Cell(judged_text(side)) for side in sides))
    verdicts = [plan_verdict(side.plan) for side in sides]
    yield _line("Plan", (Cell(verdict.title, status=verdict.status) for verdict in verdicts))
    yield _line("Negotiated", map(_negotiated, sides))


def judged_text(side: Side) -> str:
    """Return which plan of a side is judged: a run's is the one that it came to."""
    played = side.played
    if not side.is_run or played is None:
        return "the plan itself"
    at = f"round {len(played.rounds)}"
    if played.outcome is None:
        return f"on the table after {at}"
    return f"the last one, of {at}" if played.outcome is Outcome.NO_DEAL else f"agreed in {at}"


def _negotiated(side: Side) -> Cell:
    played = side.played
    if played is None:
        return Cell("no samples" if not side.plan.counts.samples else "not played")
    if played.outcome is None:
        return Cell("not over yet")
    title, status = (
        negotiation.OUTCOME_TITLES[played.outcome],
        negotiation.OUTCOME_STATUS[played.outcome],
    )
    last = played.final_plan
    if last and played.outcome is not Outcome.NO_DEAL and last.plan != side.plan.plan:
        # What is agreed from a plan is seldom that plan, which may not even be feasible.
        title += f" on another plan: {size_text(last)}"
    breaks = cautions_title(last) if last else ""
    if not breaks:
        return Cell(title, status=status)
    caution = Status.CAUTION if status is Status.PASS else status
    return Cell(f"{title}, {breaks}", status=caution)


# --- as a panel -----------------------------------------------------------------------------

_LONG: Final = 120  # A text of more characters is unfolded on demand
_SHOWN_ABOVE: Final = {OUTCOME: "Plan"}  # Rows that the heads of the columns show already


def comparison_panel(sides: Sequence[Side]) -> Group:
    """Return two or more sides in columns: in bars, then row by row, differences first."""
    pictured = blocks.table(
        "What each shows, and what it costs",
        (
            Column("Which", is_seen=False),
            Column("Evidence", bar="before"),
            Column("Cost", bar="before"),
        ),
        [_pictured(side, sides) for side in sides],
        kind="pictured",
    )
    rows = blocks.panel(
        "comparison",
        heads=[(side.name, plan_verdict(side.plan)) for side in sides],
        parts=[
            (title, [line for line in lines if line.label != _SHOWN_ABOVE.get(title)])
            for title, lines in parts(sides).items()
        ],
        same=same_text(sides),
        long=_LONG,
    )
    return Group((pictured, rows))


def _pictured(side: Side, sides: Sequence[Side]) -> tuple[Cell, ...]:
    """Return what a side shows and costs; evidence of one kind is drawn on one scale.

    The sign of the evidence is the plan's: what cannot be run shows nothing.
    """
    plan, evidence = side.plan, side.plan.evidence
    alike = [item.plan.evidence for item in sides if item.plan.evidence.kind == evidence.kind]
    failed = "" if plan.feasible else plan_verdict(plan).title.lower()
    worth = Cell(
        ", ".join(filter(None, (evidence.text, failed))),
        status=standing(plan)[0],
        bar=check.evidence_bar(evidence, alike, alike[0]),
        shade=evidence_status(evidence),
    )
    budget = plan.pack.lab.money(plan.pack.lab.budget)
    cost = check.cost_cell(plan)
    return Cell(side.name), worth, cost._replace(text=f"{cost.text} of {budget}")
