"""What a study's own constraints allow the numbers of a plan to be.

A constraint that bounds n, the days or the evidence becomes a `Limit`: a range. The check of a
plan asks whether a number lies in it, a search for plans takes its ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from replicalab.lexicon import amount_text
from replicalab.scenarios.study import Bounds, Comparator, ScenarioConstraint

_ROUNDING: Final = 1e-12
"""How far a computed number may pass a bound that it equals: 1.0 × n / n, say."""


class Limit(NamedTuple):
    """A constraint as a range of one number of the plan.

    Attributes:
        constraint: as the study states it, with its comparator, quantity, conditions and hardness.
        number: samples, days or evidence.
        least, most: the ends of the range, which belong to it; infinite where there is none.
    """

    constraint: ScenarioConstraint
    number: Bounds
    least: float
    most: float

    @property
    def hard(self) -> bool:
        """Whether a plan outside the range is unsound, and not only worth less."""
        return self.constraint.hard

    @property
    def text(self) -> str:
        """The range in words: ``at least 4 runs in each of 2 conditions: at least 8 in all``."""
        bound, conditions = self.constraint.bound_text, self.constraint.conditions
        if conditions is None:
            return bound
        end = self.least if math.isfinite(self.least) else self.most
        all_of_them = f"{self.constraint.comparator.words} {amount_text(end)} in all"
        return f"{bound} in each of {conditions} conditions: {all_of_them}"

    def allows(self, value: float) -> bool:
        """Return whether a plan's number lies in the range."""
        return self.least - _ROUNDING <= value <= self.most + _ROUNDING


def limits_of(constraints: Iterable[ScenarioConstraint]) -> tuple[Limit, ...]:
    """Return the limits that the constraints set, in their order; most set none."""
    return tuple(_limit(one, one.bounds) for one in constraints if one.bounds is not None)


def _limit(constraint: ScenarioConstraint, bounds: Bounds) -> Limit:
    """Return a constraint's range.

    Shared equally, n samples leave n // k for the smallest of k conditions and that or one more for
    the largest. So each has at least q exactly from n = k·q on, and at most q exactly up to there.
    """
    quantity = (constraint.quantity or 0.0) * (constraint.conditions or 1)
    shared = bounds is Bounds.SAMPLES_PER_CONDITION
    return Limit(
        constraint,
        Bounds.SAMPLES if shared else bounds,
        -math.inf if constraint.comparator is Comparator.AT_MOST else quantity,
        math.inf if constraint.comparator is Comparator.AT_LEAST else quantity,
    )


def hard_range(limits: Iterable[Limit], number: Bounds) -> tuple[float, float]:
    """Return the least and the most that the hard limits leave to a number of the plan.

    The ends are infinite where nothing limits it, and out of order where the limits contradict
    one another.
    """
    held = [limit for limit in limits if limit.hard and limit.number is number]
    return (
        max((limit.least for limit in held), default=-math.inf),
        min((limit.most for limit in held), default=math.inf),
    )
