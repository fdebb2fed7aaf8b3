"""The feasible region of a plan over days and samples, everything else of the plan held fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from replicalab.costs import counts_of
from replicalab.evidence import evidence_curve, evidence_value, planned_evidence, tier_of
from replicalab.models import Dimension, Protocol
from replicalab.planner.limits import MOST_SAMPLES, fewest
from replicalab.regions.fits import Fits, Flags, Floats, Ints, countable, plans_fit
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.tradeoffs import Constraint, wording_failing

MOST_COLUMNS: Final = 60
MOST_ROWS: Final = 120
SMALL_SHARE: Final = 0.05
"""What fits is too small to be seen below that share of the rows."""

_HEADROOM: Final = 4
_AT_MOST_WIDER: Final = 3
"""A plan that lies further out than so many times everything else is left outside the grid."""


_CHECKED: Final = (Constraint.BUDGET, Constraint.SCHEDULE, Constraint.STAFF)


class Edge(NamedTuple):
    """One constraint's line.

    Attributes:
        constraint: which one.
        most: for each number of days the largest sample that it allows, at most one more than
            the grid's last row; -1 where it allows none.
    """

    constraint: Constraint
    most: Ints


@dataclass(frozen=True)
class Region:
    """The plans over a grid of samples (rows) and days (columns), all arrays of that shape.

    Attributes:
        days, samples: the grid's columns and rows, whole numbers evenly spaced.
        fits: the numeric checks.
        evidence: what each plan is worth at the assumed effect; NaN where it yields none.
        failing: the dimensions that fail whatever the numbers, because of items or wording.
        least: the fewest samples that leave an experimental one beside the plan's controls.
        edges: the lines of the constraints.
        to_floor, to_target: the fewest counted samples that reach them, None when none do.
    """

    days: Ints
    samples: Ints
    fits: Fits
    evidence: Floats
    failing: tuple[Dimension, ...]
    least: int
    edges: tuple[Edge, ...]
    to_floor: int | None
    to_target: int | None

    @property
    def feasible(self) -> Flags:
        """Whether all seven dimensions pass."""
        return self.fits.all_ok & (not self.failing)

    @property
    def useful(self) -> Flags:
        """Whether a plan is feasible, all its samples count, and its endpoint is kept."""
        return self.fits.useful & (not self.failing)

    @property
    def most_feasible(self) -> Ints:
        """The largest feasible sample for each number of days, -1 where there is none."""
        open_days = (self.days >= 1) & (not self.failing)
        return self._at_least(np.where(open_days, self._most(_CHECKED), -1))

    @property
    def most_useful(self) -> Ints:
        """The same of those that are useful too."""
        return self._at_least(np.minimum(self.most_feasible, self._most(tuple(Constraint))))

    def _most(self, constraints: tuple[Constraint, ...]) -> Ints:
        lines = [edge.most for edge in self.edges if edge.constraint in constraints]
        most: Ints = np.min(lines, axis=0)
        return most

    def _at_least(self, most: Ints) -> Ints:
        return np.where(most >= self.least, most, -1)


def region(
    protocol: Protocol,
    scenario: Pack,
    days: Ints,
    samples: Ints,
    effect: float | None = None,
) -> Region:
    """Return the region of a plan over a grid.

    Args:
        protocol: the plan; its controls, items and wording are held fixed.
        scenario: the study in its lab.
        days: the grid's columns, at least two.
        samples: the grid's rows, at least two.
        effect: an effect to assume instead of the study's planning effect.
    """
    planned = counts_of(protocol)._replace(samples=samples[:, None], days=days[None, :])
    found = planned_evidence(protocol, scenario, effect)
    seen = found.effect, found.factor
    return Region(
        days=days,
        samples=samples,
        fits=_broadcast(plans_fit(planned, scenario), (len(samples), len(days))),
        evidence=_evidence(days, samples, seen, scenario),
        failing=wording_failing(protocol, scenario),
        least=len(protocol.controls) + 1,
        edges=_edges(protocol, scenario, days, int(samples[-1]) + 1),
        to_floor=_fewest_for(EvidenceTier.ABOVE_FLOOR, seen, scenario),
        to_target=_fewest_for(EvidenceTier.MEETS_TARGET, seen, scenario),
    )


def _broadcast(fits: Fits, shape: tuple[int, int]) -> Fits:
    return replace(
        fits, **{name: np.broadcast_to(array, shape) for name, array in vars(fits).items()}
    )


Seen = tuple[float | None, float]
"""An effect as it is seen, and what the substitutions leave of every effect."""


def _evidence(days: Ints, samples: Ints, seen: Seen, scenario: Pack) -> Floats:
    counted = np.minimum(samples[:, None], countable(days, scenario)[None, :])
    distinct, place = np.unique(counted, return_inverse=True)
    worth = evidence_curve(scenario.design, [int(n) for n in distinct], *seen)
    found: Floats = np.array(worth)[place].reshape(counted.shape)
    void = (days[None, :] < scenario.min_days) | (samples[:, None] < 1)
    return np.where(void | ~np.isfinite(found), np.nan, found)


def _fewest_for(tier: EvidenceTier, seen: Seen, scenario: Pack) -> int | None:
    """Return the fewest counted samples whose evidence is of that tier or better."""
    design, order = scenario.design, list(EvidenceTier)

    def reaches(samples: int) -> bool:
        found = tier_of(design, evidence_value(design, samples, *seen))
        return order.index(found) <= order.index(tier)

    most = min(MOST_SAMPLES, design.population_max or MOST_SAMPLES)
    return fewest(reaches, 1, most) if reaches(most) else None


# --- the lines of the constraints -----------------------------------------------------------


def _edges(protocol: Protocol, scenario: Pack, days: Ints, top: int) -> tuple[Edge, ...]:
    counts = counts_of(protocol)

    def line(constraint: Constraint, ok: Callable[[Fits], Flags]) -> Edge:
        def holds(samples: Ints) -> Flags:
            fits = plans_fit(counts._replace(samples=samples, days=days), scenario)
            return np.broadcast_to(ok(fits), days.shape)

        return Edge(constraint, _largest(holds, days, top))

    found = [
        line(Constraint.BUDGET, lambda fits: fits.budget_ok),
        line(Constraint.SCHEDULE, lambda fits: fits.schedule_ok),
        line(Constraint.STAFF, lambda fits: fits.staff_ok),
        line(Constraint.ENDPOINT, lambda fits: fits.endpoint_ok),
    ]
    if scenario.samples_per_day is not None:
        per_day = scenario.samples_per_day.value
        most = np.minimum(days, top // per_day + 1) * per_day
        most = np.minimum(most, top)
        found.append(Edge(Constraint.THROUGHPUT, most))
    if scenario.design.population_max is not None:
        most = np.full(days.shape, min(scenario.design.population_max, top))
        found.append(Edge(Constraint.POPULATION, most))
    return tuple(found)


def _largest(holds: Callable[[Ints], Flags], days: Ints, top: int) -> Ints:
    """Return for each day the largest sample up to ``top`` for which it holds, -1 for none.

    ``holds`` must hold up to some number and fail above it; all days are bisected at once.
    """
    low, high = np.full(days.shape, -1), np.full(days.shape, top)
    while (low < high).any():
        middle = (low + high + 1) // 2
        held = holds(middle)
        low, high = np.where(held, middle, low), np.where(held, high, middle - 1)
    return low


# --- which grid -----------------------------------------------------------------------------


def grid_for(
    plans: Sequence[Protocol], scenario: Pack, to_target: int | None = None
) -> tuple[Ints, Ints]:
    """Return the days and the samples of a grid that shows these plans and the lab's limits.

    The first plan is left outside when it is out of all proportion to the rest.

    Args:
        plans: the plan, then others that matter.
        scenario: the study in its lab.
        to_target: the fewest samples that reach the evidence target, None when none do.
    """
    others = [*plans[1:], scenario.reference_protocol]
    days = _highest(
        plans[0].duration_days,
        [plan.duration_days for plan in others],
        [scenario.min_days, scenario.lab.days],
    )
    samples = _highest(
        plans[0].sample_size,
        [plan.sample_size for plan in others],
        [to_target or 0, int(countable(np.array([days]), scenario)[0])],
    )
    first = min(1, *(plan.duration_days for plan in plans))
    return _spaced(first, days + 1, MOST_COLUMNS), _spaced(0, samples * 27 // 25 + 1, MOST_ROWS)


def zoomed(found: Region) -> Ints | None:
    """Return the samples of a grid closer to what fits, None where that can be seen as it is.

    Whatever fits is then the lower quarter of the rows instead of less than a twentieth.
    """
    most, top = int(found.most_feasible.max()), int(found.samples[-1])
    if not 0 < most < top * SMALL_SHARE:
        return None
    return _spaced(0, most * _HEADROOM, MOST_ROWS)


def _highest(plan: int, others: list[int], limits: list[int]) -> int:
    """Return the highest number to show: limits and the plan only where they are not far out."""
    most = max(1, *others)
    most = max(most, *(limit for limit in limits if limit <= most * 3 // 2), 1)
    return max(most, plan) if plan <= most * _AT_MOST_WIDER else most


def _spaced(low: int, high: int, most: int) -> Ints:
    step = max(1, -(-(high - low + 1) // most))
    return np.arange(low, max(high, low + 1) + step, step)[:most]
