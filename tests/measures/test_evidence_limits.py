"""Evidence at the corners: a share that grows at any size, effect and alpha, or a refusal."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import evidence_value, smallest_detectable_effect
from replicalab.measures import KINDS
from replicalab.scenarios import POWER_KINDS, Design, DesignKind
from tests.measures.designs import DETECTING, SHRINKING, design_of, effect_of

ALPHAS: Final = (1e-12, 1e-4, 0.05, 0.5, 0.999)
SIZES: Final = (
    *(0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 20, 33, 64, 129, 400, 401, 1000, 4097),
    *(10**4, 10**5, 10**5 + 1, 10**6 - 1, 10**6),
)
EFFECTS: Final = (0.0, 5e-324, 1e-9, 0.003, 0.05, 0.2, 0.5, 0.8, 0.999, 1.0, 2.0, 4.9, 7.07, 10.0)
NOISE: Final = 1e-12
BELOW_ONE: Final = (DesignKind.CORRELATION, DesignKind.AUDIT)
UNSIGNED: Final = [kind for kind, row in KINDS.items() if row.effect and not row.effect.signed]
ASSUMING: Final = [kind for kind, row in KINDS.items() if row.effect]

alphas: Final = st.floats(1e-300, 0.999999) | st.sampled_from(ALPHAS)
sizes: Final = st.integers(0, 10**6) | st.integers(0, 60)
effects: Final = st.floats(0, 10) | st.floats(0, 1e-3)


def goodness(kind: DesignKind, values: list[float]) -> list[float]:
    """Return the values so that more is better."""
    return [-value for value in values] if KINDS[kind].scale.lower_is_better else values


def assert_is_evidence(kind: DesignKind, value: float) -> None:
    assert not math.isnan(value)
    assert value >= 0
    assert value <= 1 or KINDS[kind].scale.lower_is_better


# --- the grid of corners ----------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", DesignKind)
def test_evidence_is_a_share_that_grows_with_n_at_every_corner(
    kind: DesignKind, alpha: float
) -> None:
    design = design_of(kind, alpha)
    for effect in EFFECTS:
        values = [evidence_value(design, n, effect_of(kind, effect)) for n in SIZES]
        for value in values:
            assert_is_evidence(kind, value)
        for fewer, more in pairwise(goodness(kind, values)):
            assert more >= fewer - NOISE


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", DETECTING)
def test_evidence_grows_with_the_effect_at_every_corner(kind: DesignKind, alpha: float) -> None:
    design = design_of(kind, alpha)
    for n in SIZES:
        values = [evidence_value(design, n, effect_of(kind, effect)) for effect in EFFECTS]
        for smaller, larger in pairwise(values):
            assert larger >= smaller - NOISE


@pytest.mark.parametrize("population", [None, 1, 2, 300, 10**6, 10**9])
@pytest.mark.parametrize("share", [0.0, 5e-324, 1e-9, 1e-4, 0.5, 1 - 2**-53])
def test_detection_is_a_share_in_any_population(population: int | None, share: float) -> None:
    design = design_of(DesignKind.AUDIT, population_max=population)
    values = [evidence_value(design, n, share) for n in SIZES]
    assert all(0 <= value <= 1 for value in values)
    assert values == sorted(values)


# --- properties -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DesignKind)
@given(alpha=alphas, n=sizes, effect=effects)
def test_evidence_is_never_nan_nor_an_exception(
    kind: DesignKind, alpha: float, n: int, effect: float
) -> None:
    value = evidence_value(design_of(kind, alpha), n, effect_of(kind, effect))
    assert_is_evidence(kind, value)


@pytest.mark.parametrize("kind", DesignKind)
@given(alpha=alphas, n=sizes, more=st.integers(1, 1000), effect=effects)
def test_evidence_grows_with_n(
    kind: DesignKind, alpha: float, n: int, more: int, effect: float
) -> None:
    design, seen = design_of(kind, alpha), effect_of(kind, effect)
    values = [evidence_value(design, n, seen), evidence_value(design, n + more, seen)]
    fewer, larger = goodness(kind, values)
    assert larger >= fewer - NOISE


@pytest.mark.parametrize("kind", DETECTING)
@given(alpha=alphas, n=sizes, one=effects, other=effects)
def test_evidence_grows_with_the_effect(
    kind: DesignKind, alpha: float, n: int, one: float, other: float
) -> None:
    design = design_of(kind, alpha)
    smaller, larger = (effect_of(kind, effect) for effect in sorted((one, other)))
    assert evidence_value(design, n, larger) >= evidence_value(design, n, smaller) - NOISE


@pytest.mark.parametrize("kind", sorted(SHRINKING))
@given(alpha=alphas, n=sizes, one=st.floats(0, 30), other=st.floats(0, 30))
def test_evidence_of_equivalence_shrinks_with_the_difference(
    kind: DesignKind, alpha: float, n: int, one: float, other: float
) -> None:
    design = design_of(kind, alpha)
    smaller, larger = sorted((one, other))
    assert evidence_value(design, n, larger) <= evidence_value(design, n, smaller) + NOISE
    assert evidence_value(design, n, -larger) == evidence_value(design, n, larger)


@pytest.mark.parametrize("kind", sorted(POWER_KINDS - SHRINKING))
@given(alpha=alphas, n=st.integers(4, 10**6))
def test_power_without_an_effect_is_alpha(kind: DesignKind, alpha: float, n: int) -> None:
    found = evidence_value(design_of(kind, alpha), n, effect_of(kind, 0.0))
    assert found == pytest.approx(max(alpha, 1e-150), rel=1e-9)


# --- effects that do not exist ----------------------------------------------------------------


@pytest.mark.parametrize("kind", BELOW_ONE)
@pytest.mark.parametrize("effect", [1.0, 1.5, 10.0])
def test_evidence_refuses_an_effect_of_one_or_more_where_there_is_none(
    kind: DesignKind, effect: float
) -> None:
    with pytest.raises(
        ValueError, match=rf"the effect is {effect}; an? {kind} effect is less than 1"
    ):
        evidence_value(design_of(kind), 40, effect)


def test_a_correlation_as_close_to_one_as_can_be_is_detected() -> None:
    design = design_of(DesignKind.CORRELATION)
    assert evidence_value(design, 4, math.nextafter(1, 0)) == 1.0
    assert evidence_value(design, 4, -math.nextafter(1, 0)) == 1.0
    with pytest.raises(ValueError, match=r"the effect is -1\.0"):
        evidence_value(design, 4, -1.0)


@pytest.mark.parametrize("kind", UNSIGNED)
def test_evidence_refuses_a_negative_share_or_spread(kind: DesignKind) -> None:
    with pytest.raises(ValueError, match=rf"the effect is -0\.1; an? {kind} effect is 0 or more"):
        evidence_value(design_of(kind), 40, -0.1)


@pytest.mark.parametrize("kind", ASSUMING)
@pytest.mark.parametrize("effect", [math.nan, math.inf, -math.inf])
def test_evidence_refuses_an_effect_that_is_no_number(kind: DesignKind, effect: float) -> None:
    with pytest.raises(ValueError, match="give a finite number"):
        evidence_value(design_of(kind), 40, effect)


# --- the smallest detectable effect -----------------------------------------------------------


def evidence_if(design: Design, n: int, sought: float, part: float = 1.0) -> float:
    """Return the evidence if what is sought were so large, or that part of it."""
    row = KINDS[design.kind]
    if row.sought and row.sought.number:
        changed = design.model_copy(update={row.sought.number: sought * part})
        return evidence_value(changed, n, design.effect_planning)
    assert row.effect is not None
    return evidence_value(design, n, row.effect.seen(sought, part))


@pytest.mark.parametrize("kind", sorted(POWER_KINDS))
@pytest.mark.parametrize("alpha", [1e-6, 0.05, 0.5])
@pytest.mark.parametrize("target", [0.51, 0.8, 0.999])
@pytest.mark.parametrize("n", [4, 5, 34, 128, 10**4, 10**6])
def test_power_at_the_smallest_detectable_effect_is_the_target(
    kind: DesignKind, alpha: float, target: float, n: int
) -> None:
    design = design_of(kind, alpha, target=target)
    found = smallest_detectable_effect(design, n)
    assert found is not None
    assert evidence_if(design, n, found) == pytest.approx(target, abs=1e-8)
    assert evidence_if(design, n, found) >= target - NOISE
    assert evidence_if(design, n, found, 1 - 1e-9) < target


@pytest.mark.parametrize("kind", sorted(POWER_KINDS))
def test_smallest_detectable_effect_shrinks_with_n(kind: DesignKind) -> None:
    effect = KINDS[kind].effect
    assert effect is not None
    found = [smallest_detectable_effect(design_of(kind), n) for n in (4, 10, 100, 10**4, 10**6)]
    larger = [effect.size(each) for each in found if each is not None]
    assert len(larger) == len(found)
    assert larger == sorted(larger, reverse=True)


@pytest.mark.parametrize("kind", sorted(POWER_KINDS))
@pytest.mark.parametrize("n", [0, 1])
def test_no_effect_is_detectable_without_a_test(kind: DesignKind, n: int) -> None:
    assert smallest_detectable_effect(design_of(kind), n) is None


def test_no_effect_is_detectable_where_only_an_absurd_one_would_be() -> None:
    # Two pairs at alpha = 1e-20: the critical t is 6e19.
    assert smallest_detectable_effect(design_of(DesignKind.PAIRED, 1e-20), 2) is None
    # At 1e-12 it is 2/(pi 1e-12) = 6.4e11, and such an effect is found.
    found = smallest_detectable_effect(design_of(DesignKind.PAIRED, 1e-12), 2)
    assert found is not None
    assert 1e11 < found < 1e12


@pytest.mark.parametrize("kind", sorted(POWER_KINDS - SHRINKING))
def test_no_effect_at_all_is_needed_where_alpha_is_the_target(kind: DesignKind) -> None:
    found = smallest_detectable_effect(design_of(kind, 0.9), 40)
    assert found == effect_of(kind, 0.0)
