"""What n buys: power, detection, coverage or precision, at an assumed effect, before any data.

Every value is planned at an assumed effect, which is the study's or the visitor's.
Source: docs/methods.md, Evidence; each formula names its own in `designs.kinds`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from replicalab.assessment.costs import samples_in_arms
from replicalab.designs import KINDS, DesignParameters, EvidenceTier, Kind, analysed_of, units_left
from replicalab.lexicon import capitalised, count_text, percent_text
from replicalab.scenarios import Design, Pack

_BEYOND_FLOOR: Final = 1.25


@dataclass(frozen=True)
class Evidence:
    """What a plan's sample is worth.

    Attributes:
        kind: of the study's design, whose row says what the value is and how it is written.
        value: in [0, 1], or of a half-width relative: lower is better, and inf without samples.
        target, floor: the study's bounds, in the unit of ``value``.
        tier: where ``value`` stands to them; a void plan is below the floor.
        able: the samples that can count: throughput and population cap what is planned.
        analysed: those of them that dropout leaves, which the value is of.
        effect: the effect assumed, after the substitutions' factors; None for coverage.
        void_reason: why the plan yields no evidence at all, None when it does.
        factor: what the plan's substitutions leave of every effect, in (0, 1].
    """

    kind: str
    value: float
    target: float
    floor: float
    tier: EvidenceTier
    able: int
    analysed: int
    effect: float | None
    void_reason: str | None = None
    factor: float = 1.0

    @property
    def row(self) -> Kind:
        """The row of the kind of design."""
        return KINDS[self.kind]

    @property
    def measure(self) -> str:
        """What the evidence is called: ``power``, say, or ``half-width``."""
        return self.row.measure

    @property
    def number(self) -> str:
        """The value alone: ``0.58``, ``±1.29 %``, ``no evidence``."""
        return "no evidence" if self.void_reason else self.amount(self.value)

    @property
    def text(self) -> str:
        """The value in words: ``power 0.58``, ``half-width ±1.29 %``, ``no evidence``."""
        return self.number if self.void_reason else self.text_of(self.number)

    def text_of(self, amount: str) -> str:
        """Return an amount of this evidence in words: ``power 0.58``."""
        return f"{self.measure} {amount}"

    @property
    def title(self) -> str:
        """The same at the head of a column or a chart."""
        return capitalised(self.measure)

    def amount(self, value: float) -> str:
        """Return a value of this measure as text: the value itself, the target or the floor."""
        return self.row.scale.amount(value, (self.target, self.floor))


def scale_of(evidences: Sequence[Evidence]) -> tuple[float, float]:
    """Return the worst and the best end of the scale on which these evidences stand."""
    if not evidences[0].row.scale.lower_is_better:
        return 0.0, 1.0
    finite = [evidence.value for evidence in evidences if math.isfinite(evidence.value)]
    return max([evidences[0].floor, *finite]) * _BEYOND_FLOOR, 0.0


def place_of(evidence: Evidence, worst: float) -> float:
    """Return where an evidence stands on the scale: none at all at its worst end."""
    return (
        evidence.value if evidence.void_reason is None and math.isfinite(evidence.value) else worst
    )


def evidence_of(
    samples: int, days: int, scenario: Pack, factor: float = 1.0, effect: float | None = None
) -> Evidence:
    """Return the evidence that a plan's samples and days buy, at the planning effect or another.

    ``factor`` is what the plan's substitutions leave of every effect, in (0, 1].

    Raises:
        ValueError: the kind has no such effect (see `evidence_value`).
    """
    design, able, void = scenario.design, samples, None
    seen = seen_effect(design, factor, effect)
    if scenario.samples_per_day is not None:
        able = min(able, scenario.samples_per_day.value * days)
    if design.population_max is not None:
        able = min(able, design.population_max)
    counted = counted_of(design, able)
    if days < 1 == scenario.min_days:
        void = "no days are planned"
    elif days < scenario.min_days:
        needs = count_text(scenario.min_days, "day")
        void = f"the study's endpoint needs {needs}, and the plan has {days}"
    elif not samples:
        void = "no samples are planned"
    elif not counted:
        void = f"with {percent_text(design.dropout)} dropout none of the samples is left"
    worst = KINDS[design.kind].scale.worst
    value = worst if void else evidence_value(design, able, seen, factor)
    return Evidence(
        kind=design.kind,
        value=value,
        target=design.target,
        floor=design.floor,
        tier=EvidenceTier.BELOW_FLOOR if void else tier_of(design, value),
        able=able,
        analysed=counted,
        effect=seen,
        void_reason=void,
        factor=factor,
    )


def counted_of(design: Design, n: int) -> int:
    """Return how many of ``n`` samples that can count dropout leaves, rounded down."""
    return analysed_of(n, design.dropout)


def counted_units(design: Design, n: int) -> tuple[int, ...]:
    """Return in how many units, by arm, those of ``n`` samples are that dropout leaves.

    Dropout takes samples: a unit is gone only with its last one.
    """
    per_unit = design.units.samples if design.units else 1.0
    rest, planned = (samples_in_arms(number, design) for number in (counted_of(design, n), n))
    return tuple(
        int(units_left(some, every, per_unit)) for some, every in zip(rest, planned, strict=True)
    )


def seen_effect(design: Design, factor: float, effect: float | None = None) -> float | None:
    """Return the effect, or the planning effect, as it is seen through substitutions.

    None where the kind of design assumes none.
    """
    assumed, kind = design.effect_planning if effect is None else effect, design.row
    return kind.effect.seen(assumed, factor) if kind.effect and assumed is not None else None


def evidence_value(design: Design, n: int, effect: float | None, factor: float = 1.0) -> float:
    """Return the evidence at ``n`` samples, never NaN; the design's worst when none is counted.

    Args:
        design: kind, alpha, dropout and whatever else the kind needs.
        n: samples that can count, 0 or more, before dropout takes its share.
        effect: in the unit of the kind, as it is seen; None only where the kind assumes none.
        factor: what a plan's substitutions leave of every effect; ``effect`` has it already, a
            margin of the design has not.

    Raises:
        ValueError: the kind has no such effect: none given, not finite, or out of its range.
    """
    return evidence_by_size(design, effect, factor)(n)


def evidence_by_size(
    design: Design, effect: float | None, factor: float = 1.0
) -> Callable[[int], float]:
    """Return `evidence_value` as a function of ``n``, for whoever asks for many of them."""
    value, dropout = design.row.value, design.dropout
    parameters = DesignParameters.by(design, factor)
    return lambda n: value(analysed_of(n, dropout), effect, parameters._replace(planned=n))


def tier_of(design: Design, value: float) -> EvidenceTier:
    """Return where a value stands to the design's target and floor."""
    scale = KINDS[design.kind].scale
    if scale.reaches(value, design.target):
        return EvidenceTier.MEETS_TARGET
    if scale.reaches(value, design.floor):
        return EvidenceTier.ABOVE_FLOOR
    return EvidenceTier.BELOW_FLOOR


def smallest_detectable_effect(design: Design, n: int, factor: float = 1.0) -> float | None:
    """Return the smallest effect that ``n`` samples detect, as `Kind.least_sought` does.

    ``n`` is as for `evidence_value`. None where no test would detect any.
    """
    return design.row.least_sought(design, counted_of(design, n), factor, n)
