"""Whether every number in a study has a source or a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from replicalab.lexicon import amount_text
from replicalab.lint.findings import LintFinding, warning
from replicalab.measures import PARAMETERS
from replicalab.scenarios import Study

_NUMBER: Final = re.compile(
    r"(?<![\w.])((?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,15})?)(?:\^(-?\d\d?))?(?!\w)"
)
_YEARS: Final = re.compile(
    r"(?<![\w.,])(?<!= )(?:1[5-9]|20)\d\d(?:\u2013\d\d(?:\d\d)?)?(?!\w|[.,]\d| ?%)"
)
_INTERVAL_LEVEL: Final = re.compile(r"\b\d\d(?:\.\d)? ?% (?=CI|confidence|interval)")
_CHOSEN: Final = (
    "effect_published",
    "effect_planning",
    "sesoi",
    "target",
    "floor",
    *(number for number in PARAMETERS if number != "alpha"),
)
"""The numbers of a design; alpha is left out, for 0.05 is a convention."""


def number_findings(study: Study) -> Iterator[LintFinding]:
    """Yield the numbers of the design and of the paper that nothing vouches for."""
    carried = _carried(study)
    yield from _design(study, carried)
    yield from _paper(study, carried)


def _carried(study: Study) -> set[Decimal]:
    """Return the numbers that the facts' texts carry."""
    return {number for fact in study.paper.facts for number in numbers_in(fact.text)}


def numbers_in(text: str) -> dict[Decimal, str]:
    """Return the numbers in a text, in order, each as it stands there.

    Signs are left out; so are years, the level of an interval, and digits within a word (H2O).
    """
    found: dict[Decimal, str] = {}
    for match in _NUMBER.finditer(_INTERVAL_LEVEL.sub("", _YEARS.sub("", text))):
        number = Decimal(match[1].replace(",", ""))
        if match[2] and number:
            number **= int(match[2])
        found.setdefault(number.normalize(), match[0])
    return found


def _design(study: Study, carried: set[Decimal]) -> Iterator[LintFinding]:
    design = study.design
    for field in _CHOSEN:
        value = getattr(design, field)
        if value is None or field in design.why or _explained(field, value, study, carried):
            continue
        yield warning(
            f"design.{field}",
            f"{_text(value)} has no source; give its reason under design.why.{field}, or add a "
            "fact whose text carries it.",
        )


def _text(value: float) -> str:
    return amount_text(value) if isinstance(value, int) else f"{value:g}"


def _explained(field: str, value: float, study: Study, carried: set[Decimal]) -> bool:
    """Return whether a fact, or the design's own source, carries a number or names its field."""
    size = abs(Decimal(repr(value))).normalize()
    source = study.design.source
    return size in carried or size in numbers_in(source) or field in source.casefold().split()


def _paper(study: Study, carried: set[Decimal]) -> Iterator[LintFinding]:
    said: dict[Decimal, tuple[str, str]] = {}
    for field in ("key_finding", "published"):
        for number, text in numbers_in(getattr(study.paper, field)).items():
            said.setdefault(number, (field, text))
    for number, (field, text) in said.items():
        if number not in carried:
            yield warning(
                f"paper.{field}",
                f"{text} stands in no fact; add a fact whose text carries it, with its source.",
            )
