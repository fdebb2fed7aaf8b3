"""The numbers of a design besides its effects, and how samples are grouped in units and arms."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple, Protocol

from pydantic import Field

# --- the numbers of a design ------------------------------------------------------------------


class _Design(Protocol):
    """The numbers of a study's design, all that evidence depends on."""

    @property
    def effect_published(self) -> float | None: ...
    @property
    def effect_planning(self) -> float | None: ...
    @property
    def sesoi(self) -> float | None: ...
    @property
    def target(self) -> float: ...
    @property
    def alpha(self) -> float | None: ...
    @property
    def population_max(self) -> int | None: ...
    @property
    def groups(self) -> int | None: ...
    @property
    def margin(self) -> float | None: ...
    @property
    def event_share(self) -> float | None: ...
    @property
    def baseline(self) -> float | None: ...
    @property
    def assurance(self) -> float | None: ...
    @property
    def units(self) -> _Units | None: ...
    @property
    def arms(self) -> _Arms | None: ...


class _Units(Protocol):
    """The experimental unit: how many samples are in one, and how alike they are."""

    @property
    def samples(self) -> float: ...
    @property
    def icc(self) -> float | None: ...


class _Arms(Protocol):
    """Two arms, of which the first has a share of the samples."""

    @property
    def share(self) -> float: ...


GROUPINGS: Final = {"units": "experimental units", "arms": "two arms"}
"""What else a design may say of its samples, by its field: what a sentence calls it."""


class Parameter(NamedTuple):
    """A number of a design that only some kinds need.

    Attributes:
        label: its name in a form.
        phrase: its name within a sentence.
        remedy: what to do if a study lacks it.
        bounds: pydantic's bounds of its field.
        unit: of its value, empty for a share or a count.
        step: of its buttons; whole for a count.
        always_allowed: whether a kind that does not use it may give it.
        help: what holds without it, if it is optional.
    """

    label: str
    phrase: str
    remedy: str
    bounds: Any
    unit: str = ""
    step: float = 0.05
    always_allowed: bool = False
    help: str = ""


_MOST: Final = 10**9  # samples or groups
_SHARE: Final = Field(strict=True, gt=0, lt=1)
_SHARE_OR_ALL: Final = Field(strict=True, gt=0, le=1)

PARAMETERS: Final = {
    "alpha": Parameter(
        "Alpha, {level}",
        "alpha",
        "give one, for example 0.05",
        _SHARE,
        step=0.01,
        always_allowed=True,
    ),
    "population_max": Parameter(
        "Most samples there are",
        "the most samples there are",
        "give the number of units there are",
        Field(strict=True, ge=1, le=_MOST),
        step=1,
        always_allowed=True,
        help="Empty for no limit.",
    ),
    "groups": Parameter(
        "Groups",
        "groups",
        "give how many there are, for example 3",
        Field(strict=True, ge=2, le=_MOST),
        step=1,
    ),
    "margin": Parameter(
        "Margin",
        "margin",
        "give the difference, in units of d, below which there is none",
        Field(strict=True, gt=0, le=1e6, allow_inf_nan=False),
        unit="units of d",
    ),
    "event_share": Parameter(
        "Share of samples with an event",
        "the share with an event",
        "give the share that will have one, 1 for all",
        _SHARE_OR_ALL,
    ),
    "baseline": Parameter(
        "Baseline, the higher share",
        "the higher of both shares",
        "give the higher of both shares, 1 at most",
        _SHARE_OR_ALL,
        help="Empty for the arcsine approximation, which needs no share.",
    ),
    "assurance": Parameter(
        "Assurance",
        "the chance of that half-width",
        "give a share of 0.5 or more, below 1",
        # With a lower one, fewer samples would promise more.
        Field(strict=True, ge=0.5, lt=1),
        help="Empty for the normal interval, the SD taken as known.",
    ),
}
"""By field of a design."""


class DesignParameters(NamedTuple):
    """What a formula is given besides n and the effect, as seen through a plan's substitutions.

    ``share`` is that of the samples in the first of two arms; ``per_unit`` are the samples of one
    experimental unit, which are independent where there is no ``icc`` within it. ``planned`` are
    the samples that fill the units, where dropout leaves fewer to count; None where all count.
    """

    alpha: float = 0.0
    population_max: int | None = None
    groups: int = 0
    margin: float = 0.0
    event_share: float = 1.0
    baseline: float | None = None
    assurance: float | None = None
    share: float = 0.5
    per_unit: float = 1.0
    icc: float | None = None
    planned: int | None = None

    @classmethod
    def by(
        cls, design: _Design, factor: float = 1.0, planned: int | None = None
    ) -> DesignParameters:
        """Return the numbers of a design, where substitutions leave that part of every effect.

        ``planned`` are the samples before dropout; None where none drop out.
        """
        # A difference as large as the margin is seen smaller too, so what is seen must lie within
        # less.
        units = design.units if design.units and design.units.icc is not None else None
        return cls(
            alpha=design.alpha or 0.0,
            population_max=design.population_max,
            groups=design.groups or 0,
            margin=(design.margin or 0.0) * factor,
            event_share=design.event_share or 1.0,
            share=design.arms.share if design.arms else 0.5,
            per_unit=units.samples if units else 1.0,
            icc=units.icc if units else None,
            baseline=design.baseline,
            assurance=design.assurance,
            planned=planned,
        )


# --- units and arms ---------------------------------------------------------------------------

Number = Any  # A number, or an array of numbers

LEAST_SHARE: Final = 0.05  # The least share of the samples that is in an arm

LEAST_UNITS: Final = 2  # With fewer units in an arm nothing tells treatment and unit apart

# A quotient that only rounding has lifted above a whole number is that number.
_ROUNDING: Final = 1e-9


def arms_of(n: Number, share: float) -> tuple[Number, Number]:
    """Return how many of ``n`` samples are in the first arm and in the second.

    The first has its share, rounded, a half down; from two samples on each has one at least.
    Neither falls when ``n`` grows.
    """
    first = -((0.5 - share * n) // 1)
    # The comparisons count as numbers, so that arrays can be worked out as well.
    first = first + (n > 1) * (1 * (first < 1) - 1 * (first >= n))
    return first, n - first


def units_of(n: Number, per_unit: float) -> Number:
    """Return how many units so many samples take, the last one perhaps partly filled."""
    units = -((_ROUNDING - n / per_unit) // 1)
    # One sample of 10^9 in a unit is no more than the rounding.
    return units + (n > 0) * (units < 1)


def samples_of(units: int, per_unit: float) -> int:
    """Return the most samples that so many units hold."""
    return math.floor(units * per_unit * (1 + _ROUNDING))


def whole_units(n: int, per_unit: float) -> int:
    """Return the fewest samples, ``n`` or more, that fill whole units."""
    return samples_of(int(units_of(n, per_unit)), per_unit)


def units_left(counted: Number, planned: Number, per_unit: float) -> Number:
    """Return how many units of the planned samples hold one that counts, at the most."""
    return min(units_of(planned, per_unit), counted)


def samples_left(counted: int, planned: int, per_unit: float) -> float:
    """Return how many samples of a unit count on average, at least 1."""
    return max(1.0, per_unit * (counted / planned)) if planned else 1.0


def design_effect(per_unit: float, correlation: float) -> float:
    """Return by how much the variance of a mean exceeds that of independent samples."""
    return 1 + (per_unit - 1) * correlation
