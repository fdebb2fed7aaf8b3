"""The kinds of design: one row for each, and everything that depends on the kind read from it.

To add a kind: a member of `DesignKind`, a row of `KINDS`, its formula, its tests, and a line in
docs/authoring.md. Nothing outside this file asks for a certain kind.

Sources: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapters 2, 3 and 6,
with the exact noncentral t in place of his tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from replicalab.measures.distributions import (
    detection_probability,
    t_test_power,
    z_critical,
    z_test_power,
)
from replicalab.measures.effects import LARGEST, Effect, Spread
from replicalab.measures.scales import HALF_WIDTH, PERCENT, SHARE, Scale


class DesignKind(StrEnum):
    """Which evidence a study reports at n."""

    TWO_GROUP = "two_group"
    PAIRED = "paired"
    ONE_SAMPLE = "one_sample"
    CORRELATION = "correlation"
    TWO_PROPORTIONS = "two_proportions"
    AUDIT = "audit"
    COVERAGE = "coverage"
    PRECISION = "precision"


class EvidenceTier(StrEnum):
    """Where evidence stands to the study's target and floor, best first."""

    MEETS_TARGET = "meets target"
    ABOVE_FLOOR = "above floor"
    BELOW_FLOOR = "below floor"


# --- the numbers of a design ------------------------------------------------------------------


class DesignNumbers(Protocol):
    """The numbers of a design that evidence depends on, beside target and floor."""

    @property
    def effect_published(self) -> float | None:
        """The effect as printed."""

    @property
    def effect_planning(self) -> float | None:
        """The effect that is planned with."""

    @property
    def sesoi(self) -> float | None:
        """The smallest effect of interest."""

    @property
    def alpha(self) -> float | None:
        """The significance level."""

    @property
    def population_max(self) -> int | None:
        """The most samples that there are."""


class Parameter(NamedTuple):
    """A number of a design that only some kinds need: its name for people, and what to give."""

    label: str
    remedy: str
    always_allowed: bool = False


PARAMETERS: Final = {
    "alpha": Parameter("Alpha, {level}", "give one, for example 0.05", always_allowed=True),
    "population_max": Parameter(
        "Most samples there are", "give the number of units there are", always_allowed=True
    ),
}
"""By field. What is always allowed does no harm where no formula asks for it."""


_EFFECTS: Final = ("effect_published", "effect_planning", "sesoi")


class Given(NamedTuple):
    """What a formula is given beside n and the effect, as seen through a plan's substitutions."""

    alpha: float = 0.0
    population_max: int | None = None

    @classmethod
    def by(cls, design: DesignNumbers, factor: float = 1.0) -> Given:
        """Return the numbers of a design.

        Args:
            design: the design.
            factor: what the substitutions leave of every difference.
        """
        return cls(design.alpha or 0.0, design.population_max)


Formula = Callable[[int, float, Given], float]
"""The evidence of n samples, 1 or more, at an effect of that size."""


class Sought(NamedTuple):
    """What a test may ask for the least of.

    Attributes:
        name: for people.
        number: the number of the design that it is; None where it is the effect.
    """

    name: str
    number: str | None = None


_AN_EFFECT: Final = Sought("smallest detectable effect")


# --- a row ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of design: all that differs from one kind to the next.

    Attributes:
        kind: its name in a study file.
        formula: the evidence, which never falls with n.
        method: how that is computed; what only approximates says so.
        effect: what is assumed; None where nothing is.
        needs: the numbers that a design of this kind must give.
        measure: what the evidence is called.
        meaning: what it says, for people who meet it first.
        axis: what a chart calls it, where that is more than the measure.
        scale: how it is written and compared.
        level: what alpha is the level of.
        sought: what a test may ask for the least of, None where nothing is tested.
    """

    kind: DesignKind
    formula: Formula
    method: str
    effect: Effect | None
    needs: tuple[str, ...] = ("alpha",)
    measure: str = "power"
    meaning: str = "the chance of finding the assumed effect"
    axis: str = ""
    scale: Scale = SHARE
    level: str = "two-sided"
    sought: Sought | None = _AN_EFFECT

    @property
    def axis_title(self) -> str:
        """What the axis of a chart says."""
        return self.axis or self.measure

    @property
    def named(self) -> str:
        """The kind with its article: ``an audit``."""
        return f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"

    @property
    def numbers(self) -> list[str]:
        """The numbers of a design that count for this kind, beside its effects and bounds."""
        return [n for n, p in PARAMETERS.items() if p.always_allowed or n in self.needs]

    def label(self, number: str) -> str:
        """Return what a number of a design is called for people."""
        return PARAMETERS[number].label.format(level=self.level)

    def value(self, n: int, effect: float | None, given: Given) -> float:
        """Return the evidence of ``n`` samples.

        Raises:
            ValueError: nothing can be planned at that effect.
        """
        if n < 1:
            return self.scale.worst
        return _value(self.kind, n, self._size(effect), given)

    def _size(self, effect: float | None) -> float:
        if self.effect is None:
            return 0.0
        if effect is None:
            raise ValueError(f"{self.kind} needs an effect to assume")
        if not math.isfinite(effect):
            raise ValueError(f"the effect is {effect}; give a finite number")
        if fault := self.effect.fault(effect):
            raise ValueError(f"the effect is {effect}; {self.named} effect is {fault}")
        return self.effect.size(effect)

    def value_if(self, sought: float, n: int, design: DesignNumbers, factor: float) -> float:
        """Return the evidence of ``n`` samples if what is sought were of that size.

        Args:
            sought: the size that the study's own items would show, 0 or more.
            n: samples that count.
            design: all other numbers.
            factor: what a plan's substitutions leave of every effect.
        """
        if n < 1:
            return self.scale.worst
        given, seen = Given.by(design, factor), sought * factor
        if self._sought_number is None:
            return _value(self.kind, n, seen, given)
        size = self._size(design.effect_planning) * factor
        changed: dict[str, Any] = {self._sought_number: seen}
        return _value(self.kind, n, size, given._replace(**changed))

    @property
    def largest_sought(self) -> float:
        """The largest size of what is sought that is looked for."""
        if self.effect is None or self._sought_number:
            return LARGEST
        return self.effect.largest_size

    def as_sought(self, size: float, design: DesignNumbers) -> float:
        """Return what is sought of a size, in its own unit."""
        if self.effect is None or self._sought_number:
            return size
        return self.effect.of_size(size, design.effect_planning or 0.0)

    @property
    def _sought_number(self) -> str | None:
        return self.sought.number if self.sought else None

    def faults(self, design: DesignNumbers) -> Iterator[str]:
        """Yield what is wrong with the numbers of a design, each with its remedy."""
        yield from self._wrong_effects(design)
        for name, parameter in PARAMETERS.items():
            value = getattr(design, name)
            if name in self.needs and value is None:
                yield f"{self.named} design has no {name}; {parameter.remedy}"
            elif not (name in self.needs or value is None or parameter.always_allowed):
                yield f"{name} is {value}, but {self.named} design has none; leave it out"

    def _wrong_effects(self, design: DesignNumbers) -> Iterator[str]:
        given = [name for name in _EFFECTS if getattr(design, name) is not None]
        if self.effect is None:
            yield from (f"{self.kind} has no effect, and {name} gives one; write null"
                        for name in given)  # fmt: skip
            return
        planned = design.effect_planning
        if fault := self.effect.fault_in_plan(planned):
            yield f"effect_planning is {planned}; {self.named} design needs one {fault}"
        for name in given:
            effect = getattr(design, name)
            if fault := self.effect.fault_in_file(effect):
                yield f"{name} is {effect}; {self.named} effect is {fault}"


@lru_cache(maxsize=65536)
def _value(kind: DesignKind, n: int, size: float, given: Given) -> float:
    return KINDS[kind].formula(n, size, given)


# --- the formulas -----------------------------------------------------------------------------


def _root_of_halves(n: int) -> float:
    """Return the root of the effective size of two groups that differ by one sample at most."""
    first = n // 2
    return math.sqrt(first * (n - first) / n)


def _two_group(n: int, size: float, given: Given) -> float:
    return t_test_power(size * _root_of_halves(n), n - 2, given.alpha) if n > 2 else 0.0


def _one_group(n: int, size: float, given: Given) -> float:
    return t_test_power(size * math.sqrt(n), n - 1, given.alpha) if n > 1 else 0.0


def _correlation(n: int, size: float, given: Given) -> float:
    return z_test_power(math.atanh(size) * math.sqrt(n - 3), given.alpha) if n > 3 else 0.0


def _two_proportions(n: int, size: float, given: Given) -> float:
    return z_test_power(size * _root_of_halves(n), given.alpha) if n > 1 else 0.0


def _audit(n: int, size: float, given: Given) -> float:
    return detection_probability(n, size, given.population_max)


def _coverage(n: int, size: float, given: Given) -> float:
    return min(1.0, n / (given.population_max or n))


def _precision(n: int, size: float, given: Given) -> float:
    return z_critical(given.alpha) * size / math.sqrt(n)


# --- the table --------------------------------------------------------------------------------

_ROWS: Final = (
    Kind(
        kind=DesignKind.TWO_GROUP,
        formula=_two_group,
        method="the exact two-sided t-test (noncentral t)",
        effect=Effect(name="Cohen's d"),
    ),
    Kind(
        kind=DesignKind.PAIRED,
        formula=_one_group,
        method="the exact two-sided paired t-test (noncentral t)",
        effect=Effect(name="Cohen's d"),
    ),
    Kind(
        kind=DesignKind.ONE_SAMPLE,
        formula=_one_group,
        method="the exact two-sided one-sample t-test (noncentral t)",
        effect=Effect(name="Cohen's d"),
    ),
    Kind(
        kind=DesignKind.CORRELATION,
        formula=_correlation,
        method="Fisher's z, a normal approximation",
        effect=Effect(name="correlation r", below=1),
    ),
    Kind(
        kind=DesignKind.TWO_PROPORTIONS,
        formula=_two_proportions,
        method="the arcsine approximation",
        effect=Effect(name="Cohen's h"),
    ),
    Kind(
        kind=DesignKind.AUDIT,
        formula=_audit,
        method="the exact chance that a random sample meets a bad unit (hypergeometric)",
        effect=Effect(name="share of bad units", below=1, signed=False),
        needs=(),
        measure="probability of detection",
        meaning="the chance of finding a bad unit at the assumed share of them",
        sought=None,
    ),
    Kind(
        kind=DesignKind.COVERAGE,
        formula=_coverage,
        method="counting the samples as a share of all there are",
        effect=None,
        needs=("population_max",),
        measure="share examined",
        meaning="how much of all there is gets checked",
        scale=PERCENT,
        sought=None,
    ),
    Kind(
        kind=DesignKind.PRECISION,
        formula=_precision,
        method="the normal interval, the SD taken as known",
        effect=Spread(
            name="relative SD of one sample",
            signed=False,
            offered=(),
            seen_text="SD of one sample ÷ {factor:g}",
        ),
        measure="half-width",
        meaning="how far the result may be off, either way",
        axis="relative half-width, lower is better",
        scale=HALF_WIDTH,
        sought=None,
    ),
)

KINDS: Final = {row.kind: row for row in _ROWS}
"""The row of each kind."""

POWER_KINDS: Final = frozenset(row.kind for row in _ROWS if row.sought)
"""The kinds whose evidence is the power of a test."""
