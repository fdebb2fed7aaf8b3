"""Which numbers of a plan keep the study's wishes: its soft constraints on n, days and evidence.

The ends of all wishes on n cut n into *cells*, and so the days: in a cell each wish on it is kept
throughout, or broken throughout. Of the evidence a wish asks for so much at least, so some number
of samples must count. So of a variant the plans that break no more than so many wishes lie in a
few *boxes*, a cell of days by a cell of samples; in each the search goes on as if the ends of the
box were hard constraints.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple

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

_EVERY: Final = (_Cell(-inf, inf, 0),)


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
        ends = {end for each in wishes for end in (each.least, each.most + 1)}
        starts = [-inf, *sorted(end for end in ends if abs(end) < inf), inf]
        cells = list[_Cell]()
        for least, beyond in pairwise(starts):
            at = beyond - 1 if least == -inf else least
            broken = sum(not limit.allows(at) for limit in wishes)
            if cells and cells[-1].broken == broken:
                cells[-1] = cells[-1]._replace(most=beyond - 1)
            else:
                cells.append(_Cell(least, beyond - 1, broken))
        return tuple(cells) if wishes else _EVERY

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
            for samples, few in self._stairs(self._samples, least.samples):
                for days, short in self._stairs(self._days, least.days):
                    if not limits.allows(least._replace(samples=samples, days=days)):
                        break  # as no longer one does
                    broken = missed + few + short
                    best = min(best, broken)
            if counting == low:
                break
        return best

    def _stairs(self, cells: tuple[_Cell, ...], low: float) -> Iterator[tuple[int, int]]:
        """Yield the lowest number, then each higher one with which fewer wishes are broken."""
        fewest: float = inf
        for cell in self._within(cells, low):
            if cell.most >= low and cell.broken < fewest:
                fewest = cell.broken
                yield int(max(low, cell.least)), cell.broken

    def _within(self, cells: tuple[_Cell, ...], low: float) -> Iterator[_Cell]:
        """Yield the cells that are looked at where a number must be so large at least."""
        planned = self.plan.counts
        most = max(LARGEST_PLANNED, planned.samples if cells is self._samples else planned.days)
        return (cell for cell in cells if cell.least <= max(most, low))

    def boxes(
        self, limits: CountLimits, counts: Counts, low: int, levels: Levels, broken: int
    ) -> Iterator[tuple[CountBox, int]]:
        """Yield each box in which so many wishes are broken at most, and how many must count there.

        Some plan in it fits. The arguments are those of `fewest_broken`.
        """
        least = limits.fewest(counts, low)
        for samples in self._within(self._samples, least.samples):
            for days in self._within(self._days, least.days):
                counting = max(low, _counting(levels, broken - samples.broken - days.broken))
                box = CountBox(samples[:2], days[:2])
                if not limits.affords(_corner(box, least)):
                    break  # as no longer one is afforded
                if counting < inf:
                    corner = _corner(box, limits.fewest(counts, int(counting)))
                    within = corner.samples <= samples.most and corner.days <= days.most
                    if within and limits.allows(corner):
                        yield box, int(counting)

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


def _corner(box: CountBox, counts: Counts) -> Counts:
    """Return the counts with the fewest samples and days in a box, these at least."""
    samples, days = max(counts.samples, box.samples[0]), max(counts.days, box.days[0])
    return counts._replace(samples=int(samples), days=int(days))


def _counting(levels: Levels, broken: int) -> float:
    """Return how many samples must count so that no more wishes on the evidence are broken."""
    if broken < 0:
        return inf
    return levels[-1 - broken] if broken < len(levels) else 0
