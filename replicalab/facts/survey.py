"""Studies in one lab as a table: its columns, their orders, and the same numbers for a file."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from replicalab.assessment import Evidence
from replicalab.assessment.phrases import asked_and_had, cautions_title, failing_text
from replicalab.facts import blocks
from replicalab.facts.blocks import Bar, Cell, Column, Group, Heading, Sentence, Status
from replicalab.facts.frontier import given_up_text
from replicalab.facts.plan import cautions_sentence
from replicalab.facts.verdicts import FIDELITY_MEANS, evidence_status
from replicalab.lexicon import CREDITS, amount_text, capitalised
from replicalab.planner import SurveyedStudy

BEST: Final = "Best first"
NOTE: Final = (
    "Best first: fits, meets target, above floor; of equals fewer wishes broken, the larger "
    "share of the target, less given up, fewer credits. The bar: share of the target; its mark: "
    "the floor."
)
COST: Final = "Credits"
"""The column of what the best plans cost; labs of another currency have it under that name."""
NAMES: Final = (
    "Study",
    "In this lab",
    "Evidence",
    "Samples",
    "Days",
    COST,
    "Given up",
    "Binding constraint",
)
"""The columns for people."""

_KEYS: Final[dict[str, Callable[[SurveyedStudy], Any]]] = {
    BEST: lambda each: 0,
    "Study": lambda each: each.pack.paper.name.casefold(),
    "Evidence": lambda each: -each.share,
    "Samples": lambda each: each.best.counts.samples,
    "Days": lambda each: each.best.counts.days,
    COST: lambda each: each.best.cost,
    "Given up": lambda each: each.best.fidelity_loss,
    "Binding constraint": lambda each: each.binding or "",
}
ORDERS: Final = tuple(_KEYS)
"""What studies may be sorted by: the smallest first, but for evidence; of equals the best first."""


def order_key(order: str) -> Callable[[SurveyedStudy], Any]:
    """Return what studies are sorted by in one of `ORDERS`."""
    key = _KEYS[order]
    return lambda each: (key(each), each.rank)


def fits_text(found: SurveyedStudy) -> str:
    """Return whether a study's best plan can be run: ``fits``, or what fails."""
    return failing_text(found.best) if found.best.failing else "fits"


def binding_text(found: SurveyedStudy) -> str:
    """Return which limit binds: ``nothing`` where nothing is missing, else ``no one limit``.

    It is the population where all that exist are too few: no lab has more of them.
    """
    if found.binding or not any(found.rank[:5]):
        return found.pack.study.term(found.binding or "nothing")
    exist = found.pack.design.population_max
    all_taken = exist is not None and found.best.counts.samples >= exist
    return "population" if all_taken and found.share < 1 else "no one limit"


# --- the same for a file --------------------------------------------------------------------

_DIGITS: Final = 6

_FIELDS: Final[dict[str, Callable[[SurveyedStudy], str | float]]] = {
    "study": lambda each: each.pack.paper.name,
    "id": lambda each: each.pack.scenario_id,
    "fits": lambda each: "yes" if each.best.feasible else "no",
    "fails": lambda each: ", ".join(each.best.failing),
    "evidence": lambda each: each.best.evidence.measure,
    "value": lambda each: _value(each.best.evidence),
    "target": lambda each: each.best.evidence.target,
    "floor": lambda each: each.best.evidence.floor,
    "verdict": lambda each: (
        "no evidence" if each.best.evidence.void_reason else each.best.evidence.tier
    ),
    "share of target": lambda each: round(each.share, _DIGITS),
    "samples": lambda each: each.best.counts.samples,
    "samples of the reference protocol": lambda each: each.reference.counts.samples,
    "days": lambda each: each.best.counts.days,
    "credits": lambda each: each.best.cost,
    "fidelity loss": lambda each: each.best.fidelity_loss,
    "given up": lambda each: given_up_text(each.best),
    "wishes broken": lambda each: asked_and_had(each.best, each.best.broken_wishes),
    "binds": lambda each: each.binding or "",
    "proven best": lambda each: "yes" if each.least.exact else "no",
}
COLUMNS: Final = tuple(_FIELDS)
"""The columns of the file; evidence is a share, a half-width too: 0.0143 is ±1.43 %."""


def cells(found: SurveyedStudy) -> tuple[str | float, ...]:
    """Return a study's row of the file: texts, and numbers as they are."""
    return tuple(cell(found) for cell in _FIELDS.values())


def _value(evidence: Evidence) -> str | float:
    is_known = not evidence.void_reason and math.isfinite(evidence.value)
    return round(evidence.value, _DIGITS) if is_known else ""


# --- as a panel ---


_LOOKS: Final = dict.fromkeys(("Samples", "Days", COST), "number")


def survey_panel(
    lab: str, rows: Iterable[tuple[SurveyedStudy, str, str]], order: str, level: int = 2
) -> Group:
    """Return the best plan of every study in a lab, a row each: what, whose, and where it opens.

    ``level`` is that of its heading.
    """
    stored = list(rows)
    currencies = {study.pack.lab.currency for study, _, __ in stored}
    one = currencies.pop() if len(currencies) == 1 else ""
    columns = [
        Column(
            name if name != COST else capitalised(one or "cost"),
            _LOOKS.get(name, ""),
            bar="before" if name == "Evidence" else "",
            meaning=FIDELITY_MEANS if name == "Given up" else "",
            order=("descending" if name == "Evidence" else "ascending") if name == order else "",
        )
        for name in NAMES
    ]
    cells_of = [_row(*row, priced=not one) for row in stored]
    note = NOTE.replace(f"fewer {CREDITS}", f"fewer {one}" if one else "less cost")
    caption = "The best plan of every study in this lab"
    return blocks.group(
        Heading(caption, level, part=True),
        Sentence(lab),
        blocks.table(caption, columns, cells_of, kind="survey", scrolls=True),
        Sentence(note, quiet=True),
    )


def _row(
    found: SurveyedStudy, origin: str, link: str = "", *, priced: bool = False
) -> tuple[Cell, ...]:
    best, evidence = found.best, found.best.evidence
    floor = evidence.row.scale.attained(evidence.floor, evidence.target)
    broken = Sentence(cautions_sentence(best), cautions_title(best), Status.CAUTION)
    given_up = Sentence(given_up_text(best)) if best.fidelity_loss else None
    return (
        Cell(found.pack.paper.name, note=origin, link=link),
        Cell(
            fits_text(found),
            status=Status.PASS if best.feasible else Status.FAIL,
            more=broken if broken.lead else None,
        ),
        Cell(
            evidence.text,
            status=evidence_status(evidence),
            bar=Bar(found.share, floor=floor),
            note="" if evidence.void_reason else str(evidence.tier),
        ),
        Cell(amount_text(best.counts.samples), note=_planned_text(found)),
        Cell(amount_text(best.counts.days)),
        Cell(best.pack.lab.money(best.cost) if priced else amount_text(best.cost)),
        Cell(amount_text(best.fidelity_loss), more=given_up),
        Cell(binding_text(found)),
    )


def _planned_text(found: SurveyedStudy) -> str:
    """Return how many samples the reference protocol has, where the best plan has others."""
    planned, best = found.reference.counts.samples, found.best.counts.samples
    if planned == best:
        return ""
    return f"{'of' if planned > best else 'instead of'} {amount_text(planned)}"
