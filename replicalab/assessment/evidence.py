"""What n buys: power, detection, coverage or precision, at an assumed effect, before any data.

Every value is planned at an assumed effect; it is never the observed power of a finished study.
Source: the behaviour contract, section 6; Cohen, Statistical Power Analysis for the Behavioral
Sciences (1988), chapters 2, 3 and 6, with the exact noncentral t in place of his tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from replicalab.distributions import (
    detection_probability,
    t_test_power,
    z_critical,
    z_test_power,
)
from replicalab.lexicon import count_text
from replicalab.models import Protocol
from replicalab.scenarios import (
    POWER_KINDS,
    Design,
    DesignKind,
    EvidenceTier,
    Pack,
)

_MEASURES: Final = {
    DesignKind.AUDIT: "probability of detection",
    DesignKind.COVERAGE: "share examined",
    DesignKind.PRECISION: "half-width",
}
_ROUNDING: Final = 1e-12
"""Slack for comparing a computed value with its bound (1.0 × n / n, say)."""

_BELOW_ONE: Final = frozenset({DesignKind.CORRELATION, DesignKind.AUDIT})
"""The kinds whose effect, a correlation or a share, stays below 1."""

_NEVER_NEGATIVE: Final = frozenset({DesignKind.AUDIT, DesignKind.PRECISION})
"""The kinds whose effect, a share or an SD, has no direction."""

_EXACT: Final = 1e-12
"""How closely, relative to itself, the smallest detectable effect is found."""

_LARGEST_EFFECT: Final = 1e15
"""No effect beyond this is looked for."""


@dataclass(frozen=True)
class Evidence:
    """What a plan's sample is worth.

    Attributes:
        measure: ``power``, ``probability of detection``, ``share examined`` or ``half-width``.
        value: a share in [0, 1]; for ``half-width`` relative, lower is better, inf without samples.
        target, floor: the study's bounds, in the unit of ``value``.
        tier: where ``value`` stands to them; a void plan is below the floor.
        counted: the samples that count (throughput and population cap what is planned).
        effect: the effect assumed, after the substitutions' factors; None for coverage.
        void: why the plan yields no evidence at all, None when it does.
    """

    measure: str
    value: float
    target: float
    floor: float
    tier: EvidenceTier
    counted: int
    effect: float | None
    void: str | None = None

    @property
    def text(self) -> str:
        """The value in words: ``power 0.58``, ``half-width ±1.29 %``, ``no evidence``."""
        return "no evidence" if self.void else f"{self.measure} {self.amount(self.value)}"

    def amount(self, value: float) -> str:
        """Return a value of this measure as text: the value itself, the target or the floor."""
        if self.measure == "half-width":
            return f"±{value:.2%}".replace("%", " %") if math.isfinite(value) else "unbounded"
        if self.measure == "share examined":
            return f"{self._rounded_share(value) * 100:.4g} %"
        return f"{value:.2f}"

    def _rounded_share(self, value: float) -> float:
        """Return a share to three decimals, cut where rounding would lift it to a bound."""
        rounded = round(value, 3)
        short = any(value < bound - _ROUNDING <= rounded for bound in (self.target, self.floor))
        return math.floor(value * 1000) / 1000 if short else rounded


def planned_evidence(
    protocol: Protocol, scenario: Pack, factor: float = 1.0, effect: float | None = None
) -> Evidence:
    """Return the evidence that a plan buys in a study.

    Args:
        protocol: the plan.
        scenario: the study in its lab.
        factor: what the plan's substitutions leave of the effect, in (0, 1].
        effect: an effect to assume instead of the study's planning effect.

    Raises:
        ValueError: the kind has no such effect (see `evidence_value`).
    """
    design = scenario.design
    counted = counted_samples(protocol, scenario)
    assumed = attenuated(design, factor, effect)
    void = _void_reason(protocol, scenario)
    value = _worst(design) if void else evidence_value(design, counted, assumed)
    return Evidence(
        measure=_MEASURES.get(design.kind, "power"),
        value=value,
        target=design.target,
        floor=design.floor,
        tier=EvidenceTier.BELOW_FLOOR if void else tier_of(design, value),
        counted=counted,
        effect=assumed,
        void=void,
    )


def _void_reason(protocol: Protocol, scenario: Pack) -> str | None:
    if protocol.duration_days < scenario.min_days:
        return (
            f"the study's endpoint needs {count_text(scenario.min_days, 'day')}, "
            f"and the plan has {protocol.duration_days}"
        )
    return None if protocol.sample_size else "no samples are planned"


def counted_samples(protocol: Protocol, scenario: Pack) -> int:
    """Return how many of the planned samples can count: within throughput and population."""
    counted = protocol.sample_size
    if scenario.samples_per_day is not None:
        counted = min(counted, scenario.samples_per_day.value * protocol.duration_days)
    if scenario.design.population_max is not None:
        counted = min(counted, scenario.design.population_max)
    return counted


def attenuated(design: Design, factor: float, effect: float | None = None) -> float | None:
    """Return an effect as it is seen through substitutions; None where no effect is assumed.

    Args:
        design: the study's design.
        factor: what the substitutions leave of the effect, in (0, 1].
        effect: the effect; None is the planning effect.
    """
    assumed = design.effect_planning if effect is None else effect
    if assumed is None:
        return None
    return assumed / factor if design.kind is DesignKind.PRECISION else assumed * factor


class AssumedEffect(NamedTuple):
    """An effect to plan at, with the name under which it is shown."""

    label: str
    effect: float


def assumed_effects(design: Design) -> tuple[AssumedEffect, ...]:
    """Return the effects worth planning at, in a fixed order, as sizes without a sign.

    The published effect where one is printed; half of it, or of the planning effect where none is;
    the smallest effect of interest where one is named. Equal effects are one, under all their
    names. Empty for coverage, which has no effect, and for precision, whose standard deviation
    nobody would halve.
    """
    planning = design.effect_planning
    if design.kind in (DesignKind.COVERAGE, DesignKind.PRECISION) or planning is None:
        return ()
    published = design.effect_published
    named = (
        ("as published", published),
        ("halved", (planning if published is None else published) / 2),
        ("smallest of interest", design.sesoi),
    )
    return merged_effects(AssumedEffect(n, abs(size)) for n, size in named if size is not None)


def merged_effects(effects: Iterable[AssumedEffect]) -> tuple[AssumedEffect, ...]:
    """Return the effects in their order, those of one size as one: ``halved, as published``."""
    found: list[AssumedEffect] = []
    for effect in effects:
        same = next((i for i, e in enumerate(found) if math.isclose(e.effect, effect.effect)), None)
        if same is None:
            found.append(effect)
        else:
            found[same] = AssumedEffect(f"{found[same].label}, {effect.label}", found[same].effect)
    return tuple(found)


def evidence_value(design: Design, n: int, effect: float | None) -> float:
    """Return the evidence at ``n`` counted samples, never NaN; the design's worst when none.

    Args:
        design: kind, alpha and population.
        n: samples that count, 0 or more.
        effect: in the unit of the kind (for precision the relative SD); None for coverage only.

    Raises:
        ValueError: the kind has no such effect: none given, not finite, a correlation or a share
            of 1 or more, or a negative share or SD.
    """
    if n < 1:
        return _worst(design)
    if design.kind is DesignKind.COVERAGE:
        return min(1.0, n / (design.population_max or n))
    effect = _possible_effect(design.kind, effect)
    if design.kind is DesignKind.AUDIT:
        return detection_probability(n, effect, design.population_max)
    alpha = design.alpha or 0.0
    if design.kind is DesignKind.PRECISION:
        return z_critical(alpha) * effect / math.sqrt(n)
    return _power(design.kind, n, effect, alpha)


def evidence_curve(design: Design, counts: Sequence[int], effect: float | None) -> list[float]:
    """Return the evidence at each of several counted samples, errors as in `evidence_value`.

    Args:
        design: kind, alpha and population.
        counts: samples that count, each 0 or more, in any order.
        effect: in the unit of the kind; None for coverage only.
    """
    return [evidence_value(design, n, effect) for n in counts]


def _possible_effect(kind: DesignKind, effect: float | None) -> float:
    if effect is None:
        raise ValueError(f"{kind} needs an effect to assume")
    if not math.isfinite(effect):
        raise ValueError(f"the effect is {effect}; give a finite number")
    if kind in _BELOW_ONE and abs(effect) >= 1:
        raise ValueError(f"the effect is {effect}; a {kind} effect is less than 1")
    if kind in _NEVER_NEGATIVE and effect < 0:
        raise ValueError(f"the effect is {effect}; a {kind} effect is 0 or more")
    return effect


@lru_cache(maxsize=65536)
def _power(kind: DesignKind, n: int, effect: float, alpha: float) -> float:
    if kind is DesignKind.CORRELATION:
        return z_test_power(math.atanh(effect) * math.sqrt(n - 3), alpha) if n > 3 else 0.0
    if kind in (DesignKind.TWO_GROUP, DesignKind.TWO_PROPORTIONS):
        first = n // 2
        root = math.sqrt(first * (n - first) / n)
        if kind is DesignKind.TWO_PROPORTIONS:
            return z_test_power(effect * root, alpha) if first else 0.0
        return t_test_power(effect * root, n - 2, alpha) if n > 2 else 0.0
    return t_test_power(effect * math.sqrt(n), n - 1, alpha) if n > 1 else 0.0


def tier_of(design: Design, value: float) -> EvidenceTier:
    """Return where a value stands to the design's target and floor."""
    sign = -1 if design.kind is DesignKind.PRECISION else 1
    if sign * value >= sign * design.target - _ROUNDING:
        return EvidenceTier.MEETS_TARGET
    if sign * value >= sign * design.floor - _ROUNDING:
        return EvidenceTier.ABOVE_FLOOR
    return EvidenceTier.BELOW_FLOOR


def _worst(design: Design) -> float:
    return math.inf if design.kind is DesignKind.PRECISION else 0.0


def smallest_detectable_effect(design: Design, n: int) -> float | None:
    """Return the smallest effect that ``n`` samples detect at the target power, without a sign.

    Found by bisection, exact to 1e-12 of itself and on the side where the target is met. 0 where
    the target is no higher than alpha. None where the kind has no test, where ``n`` is too small
    for one, and where only an effect beyond 1e15 would do.
    """
    if design.kind not in POWER_KINDS or design.alpha is None:
        return None
    top = math.nextafter(1, 0) if design.kind in _BELOW_ONE else _LARGEST_EFFECT
    low, high = 0.0, min(top, 1.0)
    if _is_enough(design, n, low):
        return low
    while not _is_enough(design, n, high):
        if high >= top:
            return None
        low, high = high, min(top, high * 2)
    while high - low > _EXACT * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _is_enough(design, n, middle) else (middle, high)
    return high


def _is_enough(design: Design, n: int, effect: float) -> bool:
    return evidence_value(design, n, effect) >= design.target
