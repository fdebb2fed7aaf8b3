"""The probability of success of a design's samples, and the row of a kind that is planned with it.

A plan's substitutions leave a part of every effect, so what is estimated through them is divided by
that part, and its standard error with it: n samples are worth factor² · n.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, Protocol

from replicalab.lexicon import joined
from replicalab.measures.kinds import KINDS, DesignKind
from replicalab.measures.normal_scales import NormalScale
from replicalab.measures.originals import _Reported, estimate_of
from replicalab.measures.planning_effects import original_shift
from replicalab.measures.rows import DesignParameters, Information, Kind
from replicalab.measures.rows import _Design as _Numbers
from replicalab.measures.solving import analysed_of
from replicalab.measures.success import (
    CRITERIA,
    PRIORS,
    PRIORS_SOURCE,
    Basis,
    Criterion,
    Prior,
    Success,
)

_MOST: Final = 10**12
MEASURE: Final = "probability of success"


class _Chosen(Protocol):
    """What counts as replicated."""

    @property
    def criteria(self) -> tuple[Criterion, ...]: ...
    @property
    def prior(self) -> Prior: ...
    @property
    def tau(self) -> float: ...
    @property
    def level(self) -> float | None: ...
    @property
    def sides(self) -> int: ...
    @property
    def margin(self) -> float | None: ...
    @property
    def is_planned_with(self) -> bool: ...


class _Design(_Numbers, Protocol):
    """What of a design the probability of success depends on."""

    @property
    def original(self) -> _Reported | None: ...
    @property
    def replication(self) -> _Chosen | None: ...
    @property
    def dropout(self) -> float: ...


@dataclass(frozen=True)
class Replicated:
    """The probability of success over the samples of a design.

    Attributes:
        success: the criteria and the prior.
        se: the original's standard error.
        scale: on which the estimates are.
        information: what samples tell there, in their units and arms.
        given: the numbers of the design.
        dropout: the share of planned samples that drops out; every n is of planned samples.
    """

    success: Success
    se: float
    scale: NormalScale
    information: Information
    given: DesignParameters
    dropout: float = 0.0

    def relative_size(self, n: int, factor: float = 1.0) -> float:
        """Return the original's variance over that of ``n`` samples; 0 of too few."""
        ratio, counted = factor * self.se, analysed_of(n, self.dropout)
        sizes = self.scale.sizes(counted, self.given.event_share)
        if counted < 1 or not self.scale.can_test(sizes):
            return 0.0
        return ratio * ratio * self.information.of(counted, self.given._replace(planned=n))

    @cached_property
    def least(self) -> float:
        """The relative size of the smallest study that has a standard error; 0 where none has."""
        low = high = 1
        while not self.relative_size(high):
            if high > _MOST:  # An arm that has no unit gets none of more samples either
                return 0.0
            low, high = high + 1, 2 * high
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.relative_size(middle) else (middle + 1, high)
        return self.relative_size(high)

    def chance(self, n: int, factor: float = 1.0) -> float:
        """Return the probability of success of ``n`` samples."""
        return self.success.chance(self.relative_size(n, factor))

    def worth(self, n: int, factor: float = 1.0) -> float:
        """Return the largest probability of success of any study up to ``n`` samples.

        It grows with both. Samples can be left out, so that more are never worth less; and as a
        substitution makes a study smaller, its best size is not held to whole samples, or one that
        happened to make it just as small would be worth more than none.
        """
        return self.success.up_to(self.relative_size(n, factor), self.least)

    def best(self, n: int, factor: float = 1.0) -> float:
        """Return the largest probability of success of 1 to ``n`` samples."""
        return self.success.best(lambda few: self.relative_size(few, factor), 1, max(n, 1))

    def fewest(self, wanted: float, factor: float = 1.0, most: int = _MOST) -> int | None:
        """Return the fewest samples, of up to ``most``, that have a probability."""
        return self.success.fewest(wanted, lambda n: self.relative_size(n, factor), 1, most)

    def alone(self) -> Iterator[tuple[Criterion, "Replicated"]]:
        """Yield each criterion, and the probability that it is met."""
        for name in self.success.criteria:
            yield name, replace(self, success=replace(self.success, criteria=(name,)))

    @property
    def ceiling(self) -> float:
        """What the probability of success cannot exceed, however many samples there are."""
        return self.success.ceiling(self.least)


def replicated_of(row: Kind, design: _Design) -> Replicated | None:
    """Return the probability of success of a design; None where it has none, or cannot have."""
    chosen, reported = design.replication, design.original
    if chosen is None or reported is None or row.normal is None or row.information is None:
        return None
    found = estimate_of(row, reported)
    if found is None:
        return None
    shift = original_shift(row, reported) if Criterion.SMALL_TELESCOPES in chosen.criteria else 0.0
    basis = Basis(
        z=abs(found.z),
        alpha=chosen.level or design.alpha or 0.05,
        sides=chosen.sides,
        h=(chosen.tau / found.se) ** 2,
        margin=(chosen.margin or 0.0) / found.se,
        telescope=shift / found.se,
    )
    success = Success(basis, chosen.prior, chosen.criteria)
    given = DesignParameters.by(design)
    return Replicated(success, found.se, row.normal, row.information, given, design.dropout)


def row_of(row: Kind, design: _Design, factor: float = 1.0) -> Kind:
    """Return the row of a design: that of its kind, or of its probability of success.

    That is worked out with what a plan's substitutions leave of every effect.
    """
    chosen = design.replication
    if chosen is None or not chosen.is_planned_with:
        return row
    found = replicated_of(row, design)
    return row if found is None else _row(DesignKind(row.kind), found, factor)


@lru_cache(maxsize=256)
def _row(kind: DesignKind, found: Replicated, factor: float) -> Kind:
    success = found.success
    labels = joined([within(CRITERIA[name].label) for name in success.criteria], "and")
    several = len(success.criteria) > 1
    what = "joint probability of the criteria" if several else "probability of the criterion"
    prior = within(PRIORS[success.prior].label)
    sources = (CRITERIA[name].source for name in success.criteria)

    def worth(n: int, size: float, given: DesignParameters) -> float:
        return found.worth(n if given.planned is None else given.planned, factor)

    return replace(
        KINDS[kind],
        formula=worth,
        method=f"the {what} ({labels}) under the {prior} prior, "
        f"estimates taken as normal; that of a smaller study where it is higher",
        source="; ".join(dict.fromkeys((PRIORS_SOURCE, *sources))),
        endless_method="",
        uneven_method="",
        given={},
        effect=None,
        setting="",
        measure=MEASURE,
        meaning=f"the chance that the study counts as replicated: {labels}",
        axis="",
        sought=None,
        wrong_sign=None,
    )


def within(label: str) -> str:
    """Return a label as it stands within a sentence."""
    return f"{label[0].lower()}{label[1:]}"


def faults_of(row: Kind, design: _Design) -> Iterator[str]:
    """Yield what keeps a design from a probability of success, each with its remedy."""
    chosen, reported = design.replication, design.original
    if chosen is None:
        return
    if row.normal is None:
        yield f"no normal scale is known for {row.named} effect; leave it out"
        return
    if reported is None:
        yield "the original is not known in numbers; give design.original, or leave it out"
        return
    found = estimate_of(row, reported)
    if found is None:
        yield (
            "neither a standard error nor an interval nor n of the original is given; "
            "give one of them under original, or leave it out"
        )
        return
    if not math.isfinite(found.z * found.z) or not found.value:
        yield "the original found no effect at all; leave it out"
    needs = Criterion.EQUIVALENCE in chosen.criteria
    if needs and chosen.margin is None:
        yield "equivalence needs a margin; give it on the scale of the estimate, 0.3 for example"
    if chosen.margin is not None and not needs:
        yield f"margin is {chosen.margin:g}, but no criterion needs one; leave it out"
