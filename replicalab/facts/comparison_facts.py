"""Plans side by side: differences, use of the lab, costs, evidence and outcomes."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from replicalab import assessment, lexicon, models, scenarios
from replicalab.assessment.phrases import asked_and_had
from replicalab.facts import blocks, check_facts, negotiation_facts, plan_facts, verdicts
from replicalab.facts.blocks import Bar, Cell, Column, Group, Status
from replicalab.facts.lab_facts import first_day_text, item_row, weekends_text
from replicalab.negotiation import Outcome
from replicalab.negotiation.case import Side

DIFFERS: Final = "What differs"
SLACK: Final = "Used and left"
COST: Final = "Cost, {currency}"
EVIDENCE: Final = "Evidence"
OUTCOME: Final = "Outcome"
# Names of a plan's assumptions that are not those of their fields.
_QUESTION: Final = {
    "effect": "Assumed effect",
    "sides": "Sides of the test",
    "units": plan_facts.UNITS_TITLE,
    "arms": plan_facts.ARMS_TITLE,
}
# Shown only if a side asks for them.
_RARE: Final = {"sides", "baseline", "assurance", *scenarios.QUESTION_RECORDS}
_LONG: Final = 120  # longer texts are folded
_SHOWN_ABOVE: Final = {OUTCOME: "Plan"}  # rows that repeat the heads of the columns


class Line(NamedTuple):
    """A row of a comparison."""

    label: str
    cells: tuple[Cell, ...]

    @property
    def differs(self) -> bool:
        """Whether the sides differ in it."""
        return len({cell.text for cell in self.cells}) > 1


def parts(sides: Sequence[Side]) -> dict[str, list[Line]]:
    """Return the rows that compare some sides, by the title of their part; no part is empty."""
    lines_by_title = {
        DIFFERS: [line for line in _fields(sides) if line.differs],
        SLACK: [
            _line(_named(sides, name), (_used(side.plan, name) for side in sides))
            for name in sides[0].plan.slack
        ],
        COST.format(currency=_currency(sides)): [*_cost(sides)],
        EVIDENCE: [*_evidence(sides)],
        OUTCOME: [*_outcomes(sides)],
    }
    return {title: lines for title, lines in lines_by_title.items() if lines}


def _currency(sides: Sequence[Side]) -> str:
    return " / ".join(dict.fromkeys(side.plan.pack.lab.currency for side in sides))


def _named(sides: Sequence[Side], name: str) -> str:
    names = (lexicon.capitalised(side.plan.pack.study.term(name)) for side in sides)
    return " / ".join(dict.fromkeys(names))


def table(sides: Sequence[Side]) -> list[list[str | float]]:
    """Return a comparison for a spreadsheet: a heading and its rows, with numbers if known."""
    rows: list[list[str | float]] = [["Part", "What", *(side.name for side in sides)]]
    for title, lines in parts(sides).items():
        for line in lines:
            values = (cell.text if cell.number is None else cell.number for cell in line.cells)
            rows.append([title, line.label, *values])
    return rows


def same_text(sides: Sequence[Side]) -> str:
    """Return the fields in which all sides are alike."""
    return " · ".join(line.label for line in _fields(sides) if not line.differs)


def _line(label: str, cells: Iterable[Cell | str]) -> Line:
    return Line(label, blocks.row(*cells))


def _fields(sides: Sequence[Side]) -> Iterator[Line]:
    yield _line("Study", (side.plan.pack.paper.name for side in sides))
    for name in models.PROTOCOL_FIELDS:
        label = _named(sides, models.FIELD_LABELS[name])
        yield _line(label, (_value(getattr(side.plan.plan, name)) for side in sides))
    yield from _lab(sides)
    for name in (*scenarios.QUESTION_FIELDS, *scenarios.QUESTION_RECORDS):
        one_sided = name == "sides" and any(side.plan.pack.design.sides == 1 for side in sides)
        if name not in _RARE or one_sided or any(name in side.plan.pack.asked for side in sides):
            label = _QUESTION.get(name, name.capitalize())
            yield _line(label, (_asked(side, name) for side in sides))
    setups = [side.played.setup if side.played else None for side in sides]
    scientists, managers = negotiation_facts.SCIENTISTS, negotiation_facts.LAB_MANAGERS
    yield _line("Scientist", (scientists[s.scientist].name if s else "none" for s in setups))
    yield _line("Lab Manager", (managers[s.lab_manager].name if s else "none" for s in setups))


def _lab(sides: Sequence[Side]) -> Iterator[Line]:
    currency, labs = _currency(sides), [side.plan.pack.lab for side in sides]
    for amount in scenarios.AMOUNTS.values():
        values = [*map(amount.of, labs)]
        if amount.group is not scenarios.AmountGroup.MONEY or any(values):
            label = amount.label_in(currency, partial(_named, sides))
            yield _line(label, map(blocks.number_cell, values))
    if any(lab.start_date for lab in labs):
        yield _line("First day", map(first_day_text, labs))
        yield _line("Weekends", map(weekends_text, labs))
    listed = [item for side in sides for item in side.plan.pack.inventory.listed]
    for item in dict.fromkeys((item.label, item.category) for item in listed):
        rows = (item_row(side.plan.pack, side.plan.pack, *item) for side in sides)
        yield _line(item[0], (f"{state} · {price}" for _, state, price in rows))


def _value(value: int | str | list[str]) -> Cell | str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return blocks.number_cell(value) if isinstance(value, int) else value


def _asked(side: Side, name: str) -> Cell | str:
    pack = side.plan.pack
    if name in scenarios.QUESTION_RECORDS:
        grouping = plan_facts.grouping_text(getattr(pack.question, name))
        return grouping if name in pack.asked else "the study’s own"
    value = getattr(pack.design, scenarios.QUESTION_FIELDS[name])
    own = "" if name in pack.asked else " (the study’s own)"
    return Cell(f"{'none' if value is None else f'{value:zg}'}{own}", number=value)


def _used(plan: assessment.Assessment, dimension: str) -> Cell:
    slack = plan.slack[dimension]
    rest = plan_facts.slack_text(slack)
    text = f"{plan_facts.used_text(plan, slack)}{f' ({rest})' if rest else ''}"
    status = Status.PASS if slack.ok else Status.FAIL
    return Cell(text, slack.slack if rest else None, status, check_facts.slack_bar(slack))


def _cost(sides: Sequence[Side]) -> Iterator[Line]:
    largest = max(side.plan.cost for side in sides) or 1.0
    terms = [{term.label: term.credits for term in side.plan.cost_terms} for side in sides]
    amounts = {
        _named(sides, label): [credits.get(label, 0.0) for credits in terms]
        for label in dict.fromkeys(label for credits in terms for label in credits)
    }
    for label, row in {**amounts, "Total": [side.plan.cost for side in sides]}.items():
        bars = (blocks.number_cell(amount)._replace(bar=Bar(amount / largest)) for amount in row)
        yield _line(label, bars)


def _evidence(sides: Sequence[Side]) -> Iterator[Line]:
    evidences = [side.plan.evidence for side in sides]
    first, alike = evidences[0], len({evidence.measure for evidence in evidences}) == 1
    texts = [evidence.number if alike else evidence.text for evidence in evidences]
    worth = map(Cell, texts, map(verdicts.value_of, evidences))
    yield _line(first.title if alike else "Evidence", worth)
    tiers = (verdicts.status_and_tier(side.plan) for side in sides)
    yield _line("Tier", (Cell(text, status=status) for status, text in tiers))
    if alike and first.row.sought:
        effects = (side.plan.detectable_effect for side in sides)
        cells = (Cell(plan_facts.effect_text(effect), effect) for effect in effects)
        yield _line(lexicon.capitalised(first.row.sought), cells)
    yield _line("Fidelity loss", (blocks.number_cell(side.plan.fidelity_loss) for side in sides))
    missed = [asked_and_had(side.plan, side.plan.broken_wishes) for side in sides]
    if any(missed):
        signed = (Cell(text or "none", status=Status.CAUTION if text else None) for text in missed)
        yield _line(plan_facts.WISHES, signed)


def _outcomes(sides: Sequence[Side]) -> Iterator[Line]:
    if any(side.is_run for side in sides):
        yield _line("Plan judged", map(judged_text, sides))
    results = (verdicts.plan_verdict(side.plan) for side in sides)
    yield _line("Plan", (Cell(verdict.title, status=verdict.status) for verdict in results))
    yield _line("Negotiated", map(_negotiated, sides))


def judged_text(side: Side) -> str:
    """Return which plan of a side is judged: the given one, or a negotiation's last one."""
    played = side.played
    if not side.is_run or played is None:
        return "the plan itself"
    texts = {None: "on the table after", Outcome.NO_DEAL: "the last one, of"}
    return f"{texts.get(played.outcome, 'agreed in')} round {len(played.rounds)}"


def _negotiated(side: Side) -> Cell | str:
    played = side.played
    if played is None:
        return "not played" if side.plan.counts.samples else "no samples"
    if played.outcome is None:
        return "not over yet"
    title = negotiation_facts.OUTCOME_TITLES[played.outcome]
    status = negotiation_facts.OUTCOME_STATUS[played.outcome]
    last = played.final_plan
    if last and played.outcome is not Outcome.NO_DEAL and last.plan != side.plan.plan:
        # The agreed plan is seldom the opening one, which may not even be feasible.
        title += f" on another plan: {last.size_text}"
    if last and (broken := last.cautions_title):
        title = f"{title}, {broken}"
        status = Status.CAUTION if status is Status.PASS else status
    return Cell(title, status=status)


def comparison_panel(sides: Sequence[Side]) -> Group:
    """Return two or more sides in columns: bars, then rows, differences first."""
    bars = (Column(name, bar="before") for name in ("Evidence", "Cost"))
    columns = Column("Which", is_seen=False), *bars
    drawn = [_pictured(side, sides) for side in sides]
    rows = blocks.panel(
        "comparison",
        heads=[(side.name, verdicts.plan_verdict(side.plan)) for side in sides],
        parts=[
            (title, [line for line in lines if line.label != _SHOWN_ABOVE.get(title)])
            for title, lines in parts(sides).items()
        ],
        same=same_text(sides),
        long=_LONG,
    )
    return Group((blocks.table("Evidence and cost", columns, drawn, kind="pictured"), rows))


def _pictured(side: Side, sides: Sequence[Side]) -> tuple[Cell, ...]:
    plan, evidence = side.plan, side.plan.evidence
    alike = [item.plan.evidence for item in sides if item.plan.evidence.kind == evidence.kind]
    bar = check_facts.evidence_bar(evidence, alike, alike[0])
    worth = verdicts.verdict_cell(plan)._replace(bar=bar, shade=verdicts.evidence_status(evidence))
    budget = plan.pack.lab.money(plan.pack.lab.budget)
    cost = check_facts.cost_cell(plan)
    return Cell(side.name), worth, cost._replace(text=f"{cost.text} of {budget}")
