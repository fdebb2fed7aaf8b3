"""Which of the items that a lab lacks give way to which allowed alternatives.

Two items may share an alternative, which only one of them can take, and what a substitution loses
is told from what a finished plan lists (`evidence.used_substitutions`). So the items are decided
one by one, the loss of an alternative is booked as soon as everything it depends on is decided,
and two partial decisions are compared only where what is still open is the same in both.
Where more than `MOST_PARTIAL` of these remain, the most promising are kept, and the answer says
that it is no longer complete; only long lists of items that share many alternatives get there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from replicalab.agents.feasibility import needs
from replicalab.agents.suggestions import SuggestionChange
from replicalab.lexicon import label_key
from replicalab.models import Dimension, Wording
from replicalab.planner.missing import Missing, Place, item_failing, listed_places, missing_items
from replicalab.scenarios import AllowedSubstitution, Pack

MOST_PARTIAL: Final = 500
"""So many partial decisions are kept at each item."""


class Substituted(NamedTuple):
    """Some of the missing items replaced.

    Attributes:
        changes: one for each label that is replaced.
        failing: the dimensions that fail because of the items that are listed now.
        loss: the fidelity that all substitutions of the plan lose.
        factor: what they leave of the effect, in (0, 1].
        listed: everything that the plan lists now.
        booked: the alternatives whose loss and factor are counted already.
        cut: whether decisions were left out that nothing proves to be worse.
    """

    changes: tuple[SuggestionChange, ...]
    failing: frozenset[Dimension]
    loss: int
    factor: float
    listed: frozenset[Place]
    booked: frozenset[str] = frozenset()
    cut: bool = False

    def beats(self, other: Substituted) -> bool:
        """Return whether this is at least as good in every respect."""
        return (
            self.failing <= other.failing
            and self.loss <= other.loss
            and self.factor >= other.factor
            and len(self.changes) <= len(other.changes)
        )


def substituted(wording: Wording, scenario: Pack) -> list[Substituted]:
    """Return the ways to replace what the lab lacks, without those that another beats."""
    search = _Items(wording, scenario)
    found = search.settled([search.start], 0)
    for place in range(len(search.needs)):
        options = [each for one in found for each in search.options(one, place)]
        found = search.settled(options, place + 1)
    return found


@dataclass(frozen=True)
class _Items:
    """The items of one plan in one lab, decided in the plan's order."""

    wording: Wording
    scenario: Pack

    @cached_property
    def start(self) -> Substituted:
        """Nothing decided yet: what is listed, and what fails because of all that must stay."""
        kept = (
            item_failing(category, [label], self.scenario)
            for field, category, label in needs(self.wording)
            if (field, label_key(label)) not in {need.place for need in self.needs}
        )
        failing = frozenset[Dimension]().union(*kept)
        return Substituted((), failing, 0, 1.0, listed_places(self.wording))

    @cached_property
    def needs(self) -> list[Missing]:
        """What has to be decided."""
        return missing_items(self.wording, self.scenario)

    @cached_property
    def _rows(self) -> dict[str, list[AllowedSubstitution]]:
        rows: dict[str, list[AllowedSubstitution]] = defaultdict(list)
        for each in self.scenario.allowed_substitutions:
            rows[label_key(each.alternative)].append(each)
        return dict(rows)

    @cached_property
    def _later(self) -> list[tuple[frozenset[Place], frozenset[str]]]:
        """The places of the needs that are still open once so many are decided, and their keys."""
        return [
            (
                frozenset(need.place for need in self.needs[decided:]),
                frozenset(key for need in self.needs[decided:] for key in need.keys),
            )
            for decided in range(len(self.needs) + 1)
        ]

    @cached_property
    def _touched(self) -> list[list[str]]:
        """The alternatives to look at once so many needs are decided."""
        keys = [later for _, later in self._later]
        return [
            [
                key
                for key, needed in self._dependencies.items()
                if not decided or (needed & keys[decided - 1] and needed & keys[0] - keys[decided])
            ]
            for decided in range(len(keys))
        ]

    @cached_property
    def _dependencies(self) -> dict[str, frozenset[str]]:
        """For each alternative, the keys that decide what it stands for."""
        return {key: frozenset({key, *originals}) for key, originals in self._originals.items()}

    @cached_property
    def _originals(self) -> dict[str, list[str]]:
        return {key: [label_key(row.original) for row in rows] for key, rows in self._rows.items()}

    def options(self, one: Substituted, place: int) -> Iterator[Substituted]:
        """Yield a partial decision with the next item kept, and with each free alternative."""
        need = self.needs[place]
        yield one._replace(failing=one.failing | need.failing)
        taken = {key for _, key in one.listed}
        for alternative in need.alternatives:
            if alternative.key not in taken:
                yield one._replace(
                    changes=(*one.changes, *alternative.changes),
                    failing=one.failing | alternative.failing,
                    listed=one.listed - {need.place} | {(need.place[0], alternative.key)},
                )

    def settled(self, found: list[Substituted], decided: int) -> list[Substituted]:
        """Return partial decisions with what is known by now booked, the beaten left out."""
        alike: dict[frozenset[tuple[str, int]], list[Substituted]] = defaultdict(list)
        for one in found:
            booked, still_open = self._booked(one, decided)
            alike[still_open].append(booked)
        kept = [each for group in alike.values() for each in _unbeaten(group)]
        if len(kept) <= MOST_PARTIAL:
            return kept
        return [one._replace(cut=True) for one in sorted(kept, key=_promise)[:MOST_PARTIAL]]

    def _booked(
        self, one: Substituted, decided: int
    ) -> tuple[Substituted, frozenset[tuple[str, int]]]:
        """Return a partial decision with the losses known by now, and what is still open in it."""
        places, later = self._later[decided]
        listed = {key for place in one.listed - places for key in place[1:]}
        still_open = {(key, -1) for key in listed & later}
        loss, factor, booked = one.loss, one.factor, one.booked
        for key in self._touched[decided]:
            if key in booked or not (key in listed or key in later):
                continue
            row, known = self._charged(key, listed, later)
            if not known or (key in later and key not in listed):
                still_open.add((key, row))
                continue
            booked |= {key}
            if row >= 0:
                loss += self._rows[key][row].fidelity_loss
                factor *= self._rows[key][row].evidence_factor
        return one._replace(loss=loss, factor=factor, booked=booked), frozenset(still_open)

    def _charged(self, key: str, listed: set[str], later: frozenset[str]) -> tuple[int, bool]:
        """Return the substitution that an alternative would stand for, and whether that is known.

        It is the first whose original is not listed, by its place; -2 for none.
        """
        known = True
        for place, original in enumerate(self._originals[key]):
            if original in listed:
                continue
            if original not in later:
                return place, known
            known = False
        return -2, known


def _promise(one: Substituted) -> tuple[int, int, float, int]:
    """Return a key by which none comes before one that beats it."""
    return len(one.failing), one.loss, -one.factor, len(one.changes)


def _unbeaten(found: list[Substituted]) -> list[Substituted]:
    kept: list[Substituted] = []
    for one in sorted(found, key=_promise):
        if not any(better.beats(one) for better in kept):
            kept.append(one)
    return kept
