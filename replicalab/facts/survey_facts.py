"""Studies in one lab as a table: its columns, their orders, and the same numbers for a file."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from replicalab.assessment.phrases import asked_and_had
from replicalab.facts import blocks, frontier_facts, plan_facts
from replicalab.facts.blocks import Bar, Cell, Column, Group, Heading, Sentence, Status
from replicalab.facts.verdicts import FIDELITY_MEANS, evidence_status, value_of
from replicalab.lexicon import amount_text, capitalised
from replicalab.negotiation import is_worth_running
from replicalab.planner import SurveyedStudy

_NOTE: Final = (
    "Best first: by checks, evidence tier, soft constraints broken, share of the target, fidelity "
    "loss and cost. Bar: share of the target; mark: floor."
)
# The columns for people, with their keys for sorting: the smallest first, of equals the best first.
_COLUMNS: Final[dict[str, tuple[Column, Callable[[SurveyedStudy], Any]]]] = {
    "study": (Column("Study"), lambda study: study.pack.paper.name.casefold()),
    "best": (Column("In this lab"), lambda study: 0),
    "evidence": (Column("Evidence", bar="before"), lambda study: -study.share),
    "samples": (Column("Samples", "number"), lambda study: study.best.counts.samples),
    "days": (Column("Days", "number"), lambda study: study.best.counts.days),
    "cost": (Column("{currency}", "number"), lambda study: study.best.cost),
    "given_up": (Column("Given up", meaning=FIDELITY_MEANS), lambda row: row.best.fidelity_loss),
    "binding": (Column("Binding constraint"), lambda study: study.binding or ""),
}
ORDERS: Final = ("best", *(key for key in _COLUMNS if key != "best"))


def order_name(order: str, currency: str) -> str:
    """Return the name of one of `ORDERS`."""
    if order == "best":
        return "Best first"
    return _COLUMNS[order][0].name.format(currency=capitalised(currency))


def order_key(order: str) -> Callable[[SurveyedStudy], Any]:
    """Return the key by which one of `ORDERS` sorts studies."""
    _, key = _COLUMNS[order]
    return lambda study: (key(study), study.rank)


def fits_text(study: SurveyedStudy) -> str:
    """Return how a study's best plan runs: ``fits``, with changes, or why it should not."""
    if study.best.failing:
        return study.best.fails_text
    if not is_worth_running(study.best):
        return "shows nothing" if study.best.evidence.void_reason else "below the floor"
    return "fits" if study.best.plan == study.reference.plan else "runs with changes"


def binding_text(study: SurveyedStudy) -> str:
    """Return the binding limit; the population if the plan takes all that exist."""
    if study.binding or not any(study.rank[:5]):
        return study.pack.study.term(study.binding or "none: nothing is lost")
    exist = study.pack.design.population_max
    all_taken = exist is not None and study.best.counts.samples >= exist
    return "population" if all_taken and study.share < 1 else "no one limit"


_DIGITS: Final = 6


def _value(study: SurveyedStudy) -> str | float:
    value = value_of(study.best.evidence)
    return "" if value is None else round(value, _DIGITS)


_FIELDS: Final[dict[str, Callable[[SurveyedStudy], str | float]]] = {
    "study": lambda study: study.pack.paper.name,
    "id": lambda study: study.pack.scenario_id,
    "fits": lambda study: "yes" if study.best.feasible else "no",
    "fails": lambda study: ", ".join(study.best.failing),
    "evidence": lambda study: study.best.evidence.measure,
    "value": _value,
    "target": lambda study: study.best.evidence.target,
    "floor": lambda study: study.best.evidence.floor,
    "verdict": lambda study: (
        "no evidence" if study.best.evidence.void_reason else study.best.evidence.tier
    ),
    "share of target": lambda study: round(study.share, _DIGITS),
    "samples": lambda study: study.best.counts.samples,
    "samples of the reference protocol": lambda study: study.reference.counts.samples,
    "days": lambda study: study.best.counts.days,
    "credits": lambda study: study.best.cost,
    "fidelity loss": lambda study: study.best.fidelity_loss,
    "given up": lambda study: frontier_facts.given_up_text(study.best),
    "wishes broken": lambda study: asked_and_had(study.best, study.best.broken_wishes),
    "binds": lambda study: study.binding or "",
    "proven best": lambda study: "yes" if study.least.exact else "no",
}
COLUMNS: Final = tuple(_FIELDS)
"""The columns of the file; evidence is a share, a half-width too: 0.0143 is ±1.43 %."""


def cells(study: SurveyedStudy) -> tuple[str | float, ...]:
    """Return a study's row of the file."""
    return tuple(cell(study) for cell in _FIELDS.values())


def survey_panel(
    lab: str, rows: Iterable[tuple[SurveyedStudy, str, str]], order: str, level: int = 2
) -> Group:
    """Return the best plan of each study in a lab; a row has a study, its owner and its link."""
    listed = list(rows)
    currencies = {study.pack.lab.currency for study, _, _ in listed}
    one = currencies.pop() if len(currencies) == 1 else ""
    sorts = {order: "descending" if order == "evidence" else "ascending"} | {"best": ""}
    currency = capitalised(one or "cost")
    columns = [
        column._replace(name=column.name.format(currency=currency), order=sorts.get(key, ""))
        for key, (column, _) in _COLUMNS.items()
    ]
    caption = "The best plan of every study in this lab"
    cells_by_row = [_row(*row, priced=not one) for row in listed]
    return blocks.group(
        Heading(caption, level, part=True),
        Sentence(lab),
        blocks.table(caption, columns, cells_by_row, kind="survey", scrolls=True),
        Sentence(_NOTE, quiet=True),
    )


def _row(study: SurveyedStudy, origin: str, link: str, *, priced: bool) -> tuple[Cell, ...]:
    best, evidence = study.best, study.best.evidence
    floor = evidence.row.scale.attained(evidence.floor, evidence.target)
    broken = Sentence(plan_facts.cautions_sentence(best), best.cautions_title, Status.CAUTION)
    given_up = Sentence(frontier_facts.given_up_text(best)) if best.fidelity_loss else None
    planned = study.reference.counts.samples
    note = f"study: {amount_text(planned)}" if planned != best.counts.samples else ""
    return (
        Cell(study.pack.paper.name, note=origin, link=link),
        Cell(
            fits_text(study),
            status=Status.PASS if is_worth_running(best) else Status.FAIL,
            more=broken if broken.lead else None,
        ),
        Cell(
            evidence.text,
            status=evidence_status(evidence),
            bar=Bar(study.share, floor=floor),
            note="" if evidence.void_reason else str(evidence.tier),
        ),
        Cell(amount_text(best.counts.samples), note=note),
        Cell(amount_text(best.counts.days)),
        Cell(best.pack.lab.money(best.cost) if priced else amount_text(best.cost)),
        Cell(amount_text(best.fidelity_loss), more=given_up),
        Cell(binding_text(study)),
    )
