"""Evidence of a sample before any data; source: docs/methods.md, Evidence."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from replicalab.assessment.costs import samples_in_arms
from replicalab.designs import KINDS, DesignParameters, EvidenceTier, Kind, analysed_of, units_left
from replicalab.lexicon import capitalised, count_text, percent_text
from replicalab.scenarios import Design, Pack

_BEYOND_FLOOR: Final = 1.25
_STANDS: Final = {
    EvidenceTier.MEETS_TARGET: "{text}, which meets the target of {target}",
    EvidenceTier.ABOVE_FLOOR: (
        "{text}, {worse} the target of {target} but {kept} the floor of {floor}"
    ),
    EvidenceTier.BELOW_FLOOR: "{text}, {worse} the floor of {floor}",
}


@dataclass(frozen=True)
class Evidence:
    """The evidence of a plan's sample."""

    kind: str  # of the study's design; its row names the measure and its format
    value: float  # in [0, 1], or a relative half-width: lower is better, inf without samples
    target: float  # the study's bounds, in the unit of value
    floor: float
    tier: EvidenceTier  # of value; a void plan is below the floor
    usable: int  # the samples that can count, capped by throughput and population
    analysed: int  # those that dropout leaves; value is theirs
    effect: float | None  # the effect assumed, after the substitutions' factors; None for coverage
    void_reason: str | None = None  # why there is no evidence at all; None if there is some
    factor: float = 1.0  # the share of every effect that the substitutions leave, in (0, 1]

    @property
    def row(self) -> Kind:
        return KINDS[self.kind]

    @property
    def measure(self) -> str:
        return self.row.measure

    @property
    def number(self) -> str:
        """The value alone: ``0.58``, ``±1.29 %``, ``no evidence``."""
        return "no evidence" if self.void_reason else self.format(self.value)

    @property
    def text(self) -> str:
        """The value in words: ``power 0.58``, ``half-width ±1.29 %``, ``no evidence``."""
        return self.number if self.void_reason else self.text_of(self.number)

    def text_of(self, amount: str) -> str:
        return f"{self.measure} {amount}"

    @property
    def placed_text(self) -> str:
        """The value next to its bounds: ``power 0.33, below the floor of 0.50``."""
        if self.void_reason:
            return f"no evidence, since {self.void_reason}"
        scale = self.row.scale
        return _STANDS[self.tier].format(
            text=self.text,
            worse=scale.worse,
            kept="at" if scale.reaches(self.floor, self.value) else scale.within,
            target=self.format(self.target),
            floor=self.format(self.floor),
        )

    @property
    def title(self) -> str:
        return capitalised(self.measure)

    def format(self, value: float) -> str:
        return self.row.scale.format(value, (self.target, self.floor))


def scale_of(evidences: Sequence[Evidence]) -> tuple[float, float]:
    """Return the worst and the best end of a scale for these evidences."""
    if not evidences[0].row.scale.lower_is_better:
        return 0.0, 1.0
    finite = [evidence.value for evidence in evidences if math.isfinite(evidence.value)]
    return max([evidences[0].floor, *finite]) * _BEYOND_FLOOR, 0.0


def place_of(evidence: Evidence, worst: float) -> float:
    """Return the value on the scale; the worst end if there is no evidence."""
    has_place = evidence.void_reason is None and math.isfinite(evidence.value)
    return evidence.value if has_place else worst


def evidence_of(
    samples: int, days: int, scenario: Pack, factor: float = 1.0, effect: float | None = None
) -> Evidence:
    """Return the evidence of samples and days, at the planning effect or another."""
    design, usable, void = scenario.design, samples, None
    seen = seen_effect(design, factor, effect)
    if scenario.samples_per_day is not None:
        usable = min(usable, scenario.samples_per_day.value * days)
    if design.population_max is not None:
        usable = min(usable, design.population_max)
    counted = counted_of(design, usable)
    if days < 1 == scenario.min_days:
        void = "no days are planned"
    elif days < scenario.min_days:
        needs = count_text(scenario.min_days, "day")
        void = f"the study's endpoint needs {needs}, and the plan has {days}"
    elif not samples:
        void = "no samples are planned"
    elif not counted:
        void = f"with {percent_text(design.dropout)} dropout none of the samples is left"
    value = design.row.scale.worst if void else evidence_value(design, usable, seen, factor)
    return Evidence(
        kind=design.kind,
        value=value,
        target=design.target,
        floor=design.floor,
        tier=EvidenceTier.BELOW_FLOOR if void else tier_of(design, value),
        usable=usable,
        analysed=counted,
        effect=seen,
        void_reason=void,
        factor=factor,
    )


def counted_of(design: Design, n: int) -> int:
    """Return how many of ``n`` samples remain after dropout, rounded down."""
    return analysed_of(n, design.dropout)


def counted_units(design: Design, n: int) -> tuple[int, ...]:
    """Return the units, by arm, that remain of ``n`` samples after dropout, which takes samples."""
    per_unit = design.units.samples if design.units else 1.0
    rest, planned = (samples_in_arms(number, design) for number in (counted_of(design, n), n))
    return tuple(
        int(units_left(some, every, per_unit)) for some, every in zip(rest, planned, strict=True)
    )


def seen_effect(design: Design, factor: float, effect: float | None = None) -> float | None:
    """Return the effect as seen through substitutions; None if the kind assumes none."""
    assumed, kind = design.effect_planning if effect is None else effect, design.row
    return kind.effect.seen(assumed, factor) if kind.effect and assumed is not None else None


def evidence_value(design: Design, n: int, effect: float | None, factor: float = 1.0) -> float:
    """Return the evidence at ``n`` samples before dropout; the worst value when none counts.

    ``effect`` is as seen through the substitutions' factor; a margin of the design is not.
    A ValueError if the effect is missing, not finite, or out of the kind's range.
    """
    return evidence_by_size(design, effect, factor)(n)


def evidence_by_size(
    design: Design, effect: float | None, factor: float = 1.0
) -> Callable[[int], float]:
    """Return `evidence_value` as a function of ``n``."""
    value, dropout = design.row.value, design.dropout
    parameters = DesignParameters.by(design, factor)
    return lambda n: value(analysed_of(n, dropout), effect, parameters._replace(planned=n))


def tier_of(design: Design, value: float) -> EvidenceTier:
    scale = KINDS[design.kind].scale
    if scale.reaches(value, design.target):
        return EvidenceTier.MEETS_TARGET
    if scale.reaches(value, design.floor):
        return EvidenceTier.ABOVE_FLOOR
    return EvidenceTier.BELOW_FLOOR


def smallest_detectable_effect(design: Design, n: int, factor: float = 1.0) -> float | None:
    return design.row.least_sought(design, counted_of(design, n), factor, n)
