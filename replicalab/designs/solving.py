"""Power analysis: effect, alpha, evidence, samples or dropout from the other four.

The evidence never falls with samples or alpha, and changes with the effect in one direction, so
each is found by bisection.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Final

from replicalab.designs.distributions import least_reaching
from replicalab.designs.parts import HIGHEST_ALPHA, DesignParameters, Kind
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import capitalised, count_text
from replicalab.limits import LARGEST_PLANNED

_DIGITS: Final = 4  # of a result
_SMALLEST_ALPHA: Final = 1e-12
_PERMILLE: Final = 1000  # the steps of dropout


class Unknown(StrEnum):
    """The result of a power analysis, by its field in a study."""

    EFFECT = "effect_planning"
    ALPHA = "alpha"
    EVIDENCE = "target"
    SAMPLES = "sample_size"
    DROPOUT = "dropout"


def analysed_of(n: int, dropout: float) -> int:
    """Return how many of ``n`` samples remain after a share of dropout in [0, 1), rounded down."""
    if not dropout:
        return n
    fraction = _analysed_share(dropout)
    return n * fraction.numerator // fraction.denominator


@lru_cache(maxsize=64)
def _analysed_share(dropout: float) -> Fraction:
    # The decimal number as written: of 100 samples, 7 % dropout leaves 93.
    return 1 - Fraction(repr(dropout))


def unknowns_of(row: Kind) -> list[Unknown]:
    has = {Unknown.EFFECT: row.effect is not None, Unknown.ALPHA: row.uses("alpha")}
    return [unknown for unknown in Unknown if has.get(unknown, True)]


@dataclass(frozen=True)
class PowerAnalysis:
    """The numbers of a power analysis; the unknown one is ignored.

    The effect of a ratio also sets the side of 1. The samples are those before dropout.
    """

    row: Kind
    given: DesignParameters
    effect: float | None
    target: float
    samples: int
    dropout: float = 0.0

    @property
    def evidence(self) -> float:
        counted = analysed_of(self.samples, self.dropout)
        return self.row.value(counted, self.effect, self.given)

    @property
    def reaches(self) -> bool:
        return self.row.scale.reaches(self.evidence, self.target)

    def worked_out(self, unknown: Unknown) -> float:
        """Return the unknown number, rounded to four digits if the target is still reached.

        It is the effect that is hardest to show, the smallest alpha, the fewest samples of equal
        groups, or the most dropout in steps of 0.1 %. A ScenarioError if no number is enough.
        """
        if self.row.sought and self.target >= 1 and unknown is not Unknown.EVIDENCE:
            # Far out it is 1 in doubles, by rounding alone.
            problem = f"{self._aim} would make a significant result certain, which no study can"
            raise self._refused(unknown, problem, "aim at less than 1, such as 0.99")
        if self.row.uses("alpha") and unknown is not Unknown.ALPHA:
            target = self.target if unknown is not Unknown.EVIDENCE else math.inf
            if fault := self.row.level_fault(self.given.alpha, target):
                raise self._refused(unknown, fault.problem, fault.remedy)
        ways = (self._effect, self._alpha, self._evidence, self._samples, self._dropout)
        return dict(zip(Unknown, ways, strict=True))[unknown]()

    def _evidence(self) -> float:
        value = self.evidence
        if not math.isfinite(value):
            problem = f"{self._planned}, less dropout, leave no samples and no {self.row.measure}"
            raise self._refused(Unknown.EVIDENCE, problem, "plan more samples")
        return value

    def _samples(self) -> float:
        groups = self.given.groups or self.row.groups
        whole = replace(self, dropout=0.0)

        def is_enough(per_group: int) -> bool:
            return replace(whole, samples=per_group * groups).reaches

        limit = LARGEST_PLANNED // groups
        per_group = bisect_left(range(limit + 1), True, 1, key=is_enough)
        planned = math.ceil(per_group * groups / _analysed_share(self.dropout))
        planned += -planned % groups
        if per_group > limit or planned > LARGEST_PLANNED:
            most = count_text(LARGEST_PLANNED, "sample")
            problem = f"more than {most} would be needed to reach {self._aim}, and that is the most"
            remedy = "aim at less, or change another of the numbers"
            raise self._refused(Unknown.SAMPLES, f"{problem} that can be planned here", remedy)
        return planned

    def _alpha(self) -> float:
        def is_enough(alpha: float) -> bool:
            parameters = self.given._replace(alpha=max(alpha, _SMALLEST_ALPHA))
            return replace(self, given=parameters).reaches

        minimum = _least_that(is_enough, HIGHEST_ALPHA)
        if minimum is None:
            problem = f"{self._failing} at any alpha up to {HIGHEST_ALPHA:g}"
            raise self._refused(Unknown.ALPHA, problem, "plan more samples, or aim at less")
        return _neat(
            max(minimum, _SMALLEST_ALPHA), lambda alpha: alpha <= HIGHEST_ALPHA and is_enough(alpha)
        )

    def _effect(self) -> float:
        effect, like = self.row.effect, self.effect
        if effect is None or like is None:
            raise ValueError(f"{self.row.kind} assumes no effect")
        shrinks = effect.within_margin or self.row.scale.lower_is_better

        def is_enough(size: float) -> bool:
            return replace(self, effect=effect.of_size(size, like)).reaches

        margin = math.nextafter(self.given.margin, 0)
        top = margin if effect.within_margin else effect.largest_size
        if not shrinks:
            result = _least_that(is_enough, top)
        elif not is_enough(0.0):
            result = None
        else:
            beyond = _least_that(lambda size: not is_enough(size), top)
            result = top if beyond is None else math.nextafter(beyond, 0)
        if result is None:
            remedy = "plan more samples, aim at less, or change another of the numbers"
            raise self._refused(Unknown.EFFECT, f"{self._failing} at any {effect.name}", remedy)

        def fits(value: float) -> bool:
            return (
                effect.fault(value) is None
                and effect.fault_in_plan(value) is None
                and effect.size(value) <= top
                and is_enough(effect.size(value))
            )

        return _neat(effect.of_size(result, like), fits)

    def _dropout(self) -> float:
        whole = replace(self, dropout=0.0)
        if not whole.reaches:
            problem = f"{self._failing}, even without dropout"
            remedy = f"plan {count_text(whole.worked_out(Unknown.SAMPLES), 'sample')} or more"
            raise self._refused(Unknown.DROPOUT, problem, remedy)
        # Of n samples one in a thousand more or less drops out, the more the fewer are left.
        shares = range(_PERMILLE)

        def fails(permille: int) -> bool:
            return not replace(self, dropout=permille / _PERMILLE).reaches

        return (bisect_left(shares, True, 1, key=fails) - 1) / _PERMILLE

    @property
    def _aim(self) -> str:
        return f"{self.row.measure} {self.row.scale.format(self.target, [self.target])}"

    @property
    def _planned(self) -> str:
        return capitalised(count_text(self.samples, "sample"))

    @property
    def _failing(self) -> str:
        return f"{self._planned} do not reach {self._aim}"

    def _refused(self, unknown: Unknown, problem: str, remedy: str) -> ScenarioError:
        return ScenarioError("the power analysis", [Fault(unknown.value, problem, remedy)])


def _least_that(does: Callable[[float], bool], top: float) -> float | None:
    return least_reaching(lambda number: float(does(number)), 0.5, top)


def _neat(exact: float, does: Callable[[float], bool]) -> float:
    # The nearest number of four digits that does, on either side; else the exact one.
    if not exact:
        return exact
    half = 10.0 ** (math.floor(math.log10(abs(exact))) - _DIGITS + 1) / 2
    near = {float(f"{exact + step:.{_DIGITS}g}") for step in (-half, 0, half)}
    return next(filter(does, sorted(near, key=lambda value: abs(value - exact))), exact)
