"""Which numbers of a plan keep the study's wishes: its soft constraints on n, days and evidence.

The ends of all wishes on n cut n into *cells*, and so the days: throughout a cell equally many of
them are broken. Of the evidence a wish asks for so much at least, so some number of samples must
count. So of a variant the plans that break no more than so many wishes lie in a few *boxes*, a cell
of days by a cell of samples; in each the search goes on as if the ends of the box were hard
constraints.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from math import inf
from typing import NamedTuple

from replicalab.assessment import Assessment, Counts
from replicalab.models import LARGEST_PLANNED
from replicalab.planner.limits import CountBox, CountLimits, EvidenceCurve
from replicalab.scenarios import Bounds, StudyLimit


class _Cell(NamedTuple):
    """Numbers, both ends among them, and how many of the wishes on them they all break."""

    least: float
    most: float
    broken: int


Levels = tuple[float, ...]
"""How many samples must count for each wish on the evidence, infinitely many if none will do."""


@dataclass(frozen=True)
class Wishes:
    """The wishes of a study that bound a number of a plan.

    Only for the sake of a wish no number is planned that is larger than people can plan here.

    Attributes:
        plan: the plan that is revised.
        worth: what samples that count are worth in its study.
    """

    plan: Assessment
    worth: EvidenceCurve
    _levels: dict[float, Levels] = field(default_factory=dict)
    _steps: dict[tuple[Bounds, float], list[tuple[int, int]]] = field(default_factory=dict)

    @cached_property
    def all(self) -> tuple[StudyLimit, ...]:
        """The wishes, in the study's order; most studies have none."""
        return tuple(limit for limit in self.plan.pack.limits if not limit.hard)

    @cached_property
    def _samples(self) -> tuple[_Cell, ...]:
        return self._cells(Bounds.SAMPLES)

    @cached_property
    def _days(self) -> tuple[_Cell, ...]:
        return self._cells(Bounds.DAYS)

    def _on(self, number: Bounds) -> list[StudyLimit]:
        return [limit for limit in self.all if limit.number is number]

    def _cells(self, number: Bounds) -> tuple[_Cell, ...]:
        """Return the cells of a number, the lowest first."""
        wishes = self._on(number)
        ends = {-inf, inf, *(end for each in wishes for end in (each.least, each.most + 1))}
        cells = list[_Cell]()
        for least, beyond in pairwise(sorted(ends)):
            broken = sum(not limit.allows(least) for limit in wishes)
            if cells and cells[-1].broken == broken:
                cells[-1] = cells[-1]._replace(most=beyond - 1)
            else:
                cells.append(_Cell(least, beyond - 1, broken))
        return tuple(cells)

    def levels(self, factor: float) -> Levels:
        """Return how many samples must count for each wish on the evidence under a factor."""
        if factor not in self._levels:
            found = (self.worth.fewest([each], factor) for each in self._on(Bounds.EVIDENCE))
            self._levels[factor] = tuple(sorted(inf if each is None else each for each in found))
        return self._levels[factor]

    def fewest_broken(self, limits: CountLimits, counts: Counts, low: int, levels: Levels) -> int:
        """Return how many wishes each plan breaks at least that fits; one fits.

        Args:
            limits: what it must fit.
            counts: its controls and items.
            low: the fewest samples that must count.
            levels: what its substitutions make of the wishes on the evidence.
        """
        best = len(self.all)
        for missed in range(len(levels) + 1):
            counting = max(low, _counting(levels, missed))
            if counting == inf:
                continue
            least = limits.fewest(counts, int(counting))
            for samples, few in self._stairs(Bounds.SAMPLES, least.samples):
                for days, short in self._stairs(Bounds.DAYS, least.days):
                    if (broken := missed + few + short) >= best:
                        continue
                    if not limits.allows(least._replace(samples=samples, days=days)):
                        break  # as no longer one does
                    best = broken
            if counting == low:
                break
        return best

    def _stairs(self, number: Bounds, low: float) -> list[tuple[int, int]]:
        """Return the lowest number, then each higher one with which fewer wishes are broken."""
        if (number, low) not in self._steps:
            fewest, found = inf, list[tuple[int, int]]()
            for cell in self._within(number, low):
                if cell.most >= low and cell.broken < fewest:
                    fewest = cell.broken
                    found.append((int(max(low, cell.least)), cell.broken))
            self._steps[number, low] = found
        return self._steps[number, low]

    def _within(self, number: Bounds, low: float) -> list[_Cell]:
        """Return the cells that are looked at where a number must be so large at least."""
        planned, on_days = self.plan.counts, number is Bounds.DAYS
        most = max(LARGEST_PLANNED, planned.days if on_days else planned.samples, low)
        return [cell for cell in (self._days if on_days else self._samples) if cell.least <= most]

    def boxes(
        self, limits: CountLimits, counts: Counts, low: int, levels: Levels, broken: int
    ) -> Iterator[tuple[CountBox, int]]:
        """Yield each box in which so many wishes are broken at most, and how many must count there.

        Some plan in it fits. The arguments are those of `fewest_broken`.
        """
        least, lowest = limits.fewest(counts, low), dict[float, Counts]()
        spans = self._within(Bounds.SAMPLES, least.samples), self._within(Bounds.DAYS, least.days)
        for samples, days in product(*spans):
            if (needed := _counting(levels, broken - samples.broken - days.broken)) == inf:
                continue
            counting = int(max(low, needed))
            if counting not in lowest:
                lowest[counting] = limits.fewest(counts, counting)
            n = max(lowest[counting].samples, samples.least)
            d = max(lowest[counting].days, days.least)
            inside = n <= samples.most and d <= days.most
            if inside and limits.allows(least._replace(samples=int(n), days=int(d))):
                yield CountBox(samples[:2], days[:2]), counting

    def around(self, plan: Assessment) -> CountBox:
        """Return the box in which a plan lies."""
        samples, days = (
            next(cell[:2] for cell in cells if cell.least <= number <= cell.most)
            for cells, number in (
                (self._samples, plan.counts.samples),
                (self._days, plan.counts.days),
            )
        )
        return CountBox(samples, days)


def _counting(levels: Levels, broken: int) -> float:
    """Return how many samples must count so that no more wishes on the evidence are broken."""
    if broken < 0:
        return inf
    return levels[-1 - broken] if broken < len(levels) else 0
