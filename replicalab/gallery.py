"""What the front door shows of each study: what it teaches, and how its three labs answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import NamedTuple

from replicalab.agents import (
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.lexicon import label_key
from replicalab.models import DIMENSIONS, Dimension, LabManagerActionType
from replicalab.scenarios import (
    Difficulty,
    Pack,
    ScenarioSummary,
    Study,
    list_scenarios,
    load_scenario,
    pack_of,
    shelf_fingerprint,
    summary_of,
)


class LabAnswer(NamedTuple):
    """How one lab, as written, answers the study's reference protocol.

    ``passes`` says of each dimension, in the document's order, whether the protocol passes it.
    """

    difficulty: Difficulty
    answer: LabManagerActionType
    passes: tuple[bool, ...]

    @property
    def failing(self) -> list[Dimension]:
        """The dimensions that bind here: those the reference protocol fails."""
        return [d for d, ok in zip(DIMENSIONS, self.passes, strict=True) if not ok]


class Card(NamedTuple):
    """One study at a glance; ``own`` marks one that the visitor brought."""

    summary: ScenarioSummary
    labs: tuple[LabAnswer, ...]
    own: bool = False


class Filter(NamedTuple):
    """What to look for; None and "" look for nothing.

    ``binds`` asks for a dimension that the reference protocol fails, in ``lab`` or in any lab.
    """

    text: str = ""
    domain: str | None = None
    binds: Dimension | None = None
    lab: Difficulty | None = None


def cards() -> list[Card]:
    """Return a card per study on the shelf, in the shelf's order; kept until a file changes."""
    return list(_cards(shelf_fingerprint()))


@lru_cache(maxsize=2)
def _cards(_fingerprint: Hashable) -> tuple[Card, ...]:
    return tuple(
        Card(
            summary,
            tuple(_answer(load_scenario(summary.scenario_id, level)) for level in Difficulty),
        )
        for summary in list_scenarios()
    )


def own_card(study: Study) -> Card:
    """Return the card of a study that the visitor brought."""
    labs = tuple(_answer(pack_of(study, level)) for level in Difficulty)
    return Card(summary_of(study), labs, own=True)


def matching(found: Iterable[Card], wanted: Filter) -> list[Card]:
    """Return the cards that fit a filter, in their order."""
    words = label_key(wanted.text).split()
    return [card for card in found if _fits(card, wanted, words)]


def _fits(card: Card, wanted: Filter, words: list[str]) -> bool:
    if wanted.domain is not None and card.summary.domain_id != wanted.domain:
        return False
    labs = [lab for lab in card.labs if wanted.lab in (None, lab.difficulty)]
    if wanted.binds is not None and not any(wanted.binds in lab.failing for lab in labs):
        return False
    said = _searchable(card.summary)
    return all(word in said for word in words)


def _searchable(summary: ScenarioSummary) -> str:
    parts = (
        summary.scenario_id,
        summary.domain_id.replace("_", " "),
        summary.title,
        summary.citation,
        summary.goal,
        summary.teaches,
        summary.unit_of_n,
    )
    return label_key(" ".join(parts))


def _answer(pack: Pack) -> LabAnswer:
    check = check_feasibility(pack.reference_protocol, pack)
    suggestion = suggest_alternative(pack.reference_protocol, check, pack)
    answer = compose_lab_manager_response(check, suggestion)
    passes = tuple(check.check(dimension).ok for dimension in DIMENSIONS)
    return LabAnswer(pack.difficulty, answer.action_type, passes)
