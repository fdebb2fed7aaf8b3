"""The numbers of a design except its effects, and the units and arms of its samples."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

from pydantic import Field


class _Design(Protocol):
    effect_published: float | None
    effect_planning: float | None
    sesoi: float | None
    target: float
    alpha: float | None
    sides: int
    population_max: int | None
    groups: int | None
    margin: float | None
    event_share: float | None
    baseline: float | None
    assurance: float | None
    units: Any  # None, or with samples and icc
    arms: Any  # None, or with share


GROUPINGS: Final = {"units": "experimental units", "arms": "two arms"}
"""The groupings of a design's samples: field and name in a sentence."""


class Parameter(NamedTuple):
    """A number of a design that only some kinds need."""

    label: str
    phrase: str  # its name within a sentence
    remedy: str  # for a study that lacks it
    bounds: Any
    unit: str = ""
    step: float = 0.05
    always_allowed: bool = False  # also for a kind that does not use it
    help: str = ""
    usual: int | None = None  # the value of a design that does not give it
    lack: str = "none"  # the value for a kind that does not use it
    omit: str = "leave it out"


_MOST: Final = 10**9  # samples or groups
_SHARE: Final = Field(strict=True, gt=0, lt=1)
_SHARE_OR_ALL: Final = Field(strict=True, gt=0, le=1)

PARAMETERS: Final = {
    "alpha": Parameter(
        "Alpha, {level}", "alpha", "give one, for example 0.05", _SHARE,
        step=0.01, always_allowed=True,
    ),
    "sides": Parameter(
        "Sides of the test", "the sides of the test", "give 1 or 2",
        Field(strict=True, ge=1, le=2), step=1, usual=2,
        help="1: only an effect in the assumed direction counts.",
        lack="no one-sided test", omit="leave sides out",
    ),
    "population_max": Parameter(
        "Most samples there are", "the most samples there are",
        "give the number of units there are", Field(strict=True, ge=1, le=_MOST),
        step=1, always_allowed=True, help="Empty for no limit.",
    ),
    "groups": Parameter(
        "Groups", "groups", "give how many there are, for example 3",
        Field(strict=True, ge=2, le=_MOST), step=1,
    ),
    "margin": Parameter(
        "Margin", "margin", "give the largest negligible difference, in units of d",
        Field(strict=True, gt=0, le=1e6, allow_inf_nan=False), unit="units of d",
    ),
    "event_share": Parameter(
        "Share of samples with an event", "the share with an event",
        "give the share that will have one, 1 for all", _SHARE_OR_ALL,
    ),
    "baseline": Parameter(
        "Baseline, the higher share", "the higher of both shares",
        "give the higher of both shares, 1 at most", _SHARE_OR_ALL,
        help="Empty for the arcsine approximation, which needs no share.",
    ),
    "assurance": Parameter(
        "Assurance", "the chance of that half-width", "give a share of 0.5 or more, below 1",
        Field(strict=True, ge=0.5, lt=1),  # with a lower one, fewer samples would promise more
        help="Empty for the normal interval, the SD taken as known.",
    ),
}  # fmt: skip


class DesignParameters(NamedTuple):
    """The arguments of a formula other than n and the effect, after a plan's substitutions."""

    alpha: float = 0.0
    sides: int = 2
    population_max: int | None = None
    groups: int = 0
    margin: float = 0.0
    event_share: float = 1.0
    baseline: float | None = None
    assurance: float | None = None
    share: float = 0.5  # of the samples in the first of two arms
    per_unit: float = 1.0  # samples of one experimental unit
    icc: float | None = None  # None if the samples of a unit are independent
    planned: int | None = None  # the samples before dropout, which fill the units

    @classmethod
    def by(
        cls, design: _Design, factor: float = 1.0, planned: int | None = None
    ) -> DesignParameters:
        # A difference as large as the margin is seen smaller, too, so the margin shrinks with it.
        units = design.units if design.units and design.units.icc is not None else None
        return cls(
            design.alpha or 0.0,
            design.sides,
            design.population_max,
            design.groups or 0,
            (design.margin or 0.0) * factor,
            design.event_share or 1.0,
            design.baseline,
            design.assurance,
            share=design.arms.share if design.arms else 0.5,
            per_unit=units.samples if units else 1.0,
            icc=units.icc if units else None,
            planned=planned,
        )


Number = Any  # A number, or an array of numbers

LEAST_SHARE: Final = 0.05  # of the samples in an arm
LEAST_UNITS: Final = 2  # in an arm, to separate treatment from unit

# A quotient that only rounding has lifted above a whole number is that number.
_ROUNDING: Final = 1e-9


def arms_of(n: Number, share: float) -> tuple[Number, Number]:
    """Return the samples of the first arm and of the second.

    The first has its share, rounded, a half down; from two samples on each has at least one.
    Neither falls when ``n`` grows.
    """
    first = -((0.5 - share * n) // 1)
    # The comparisons count as numbers, so that arrays work, too.
    first = first + (n > 1) * (1 * (first < 1) - 1 * (first >= n))
    return first, n - first


def units_of(n: Number, per_unit: float) -> Number:
    """Return how many units ``n`` samples fill, the last one perhaps partly."""
    units = -((_ROUNDING - n / per_unit) // 1)
    # One sample of 10^9 in a unit is no more than the rounding.
    return units + (n > 0) * (units < 1)


def units_left(counted: Number, planned: Number, per_unit: float) -> Number:
    """Return the most units of the planned samples that still have a sample."""
    return min(units_of(planned, per_unit), counted)


def samples_left(counted: int, planned: int, per_unit: float) -> float:
    """Return the average number of counted samples in a unit, at least 1."""
    return max(1.0, per_unit * (counted / planned)) if planned else 1.0


def design_effect(per_unit: float, correlation: float) -> float:
    """Return by how much the variance of a mean exceeds that of independent samples."""
    return 1 + (per_unit - 1) * correlation
