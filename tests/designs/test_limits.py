"""Evidence at the corners: a share that grows at any size, effect and alpha, or a refusal."""

import math
from itertools import pairwise, product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import evidence_value, smallest_detectable_effect
from replicalab.designs import KINDS
from replicalab.scenarios import Design
from tests.designs.examples import DETECTING, POWER_KINDS, SHRINKING, design_of, effect_of
from tests.factories import make_design
from tests.tiers import one_in

ALPHAS: Final = (1e-12, 1e-4, 0.05, 0.5, 0.999)
SIZES: Final = (
    *(0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 20, 33, 64, 129, 400, 401, 1000, 4097),
    *(10**4, 10**5, 10**5 + 1, 10**6 - 1, 10**6),
)
EFFECTS: Final = (0.0, 5e-324, 1e-9, 0.003, 0.05, 0.2, 0.5, 0.8, 0.999, 1.0, 2.0, 4.9, 7.07, 10.0)
NOISE: Final = 1e-12
ASSUMING: Final = [kind for kind, row in KINDS.items() if row.effect]
UNSIGNED: Final = [kind for kind, row in KINDS.items() if row.effect and not row.effect.signed]
SIGNED: Final = sorted({*ASSUMING} - {*UNSIGNED} - {"survival"})
ONE_SIDED: Final = [kind for kind, row in KINDS.items() if row.uses("sides")]
SIDES: Final = [*((kind, 2) for kind in KINDS), *((kind, 1) for kind in ONE_SIDED)]


def assert_grows(kind: str, values: list[float]) -> None:
    lower = KINDS[kind].scale.lower_is_better
    assert all(value >= 0 and (lower or value <= 1) for value in values)
    for fewer, extra in pairwise(values):
        assert extra <= fewer + NOISE if lower else extra >= fewer - NOISE


@pytest.mark.parametrize(
    ("kind", "sides", "alpha"), one_in(4, [(*case, alpha) for case in SIDES for alpha in ALPHAS])
)
def test_evidence_grows_with_n_at_every_corner(kind: str, sides: int, alpha: float) -> None:
    design = design_of(kind, alpha, sides=sides)
    for effect in EFFECTS:
        assert_grows(kind, [evidence_value(design, n, effect_of(kind, effect)) for n in SIZES])


@pytest.mark.parametrize(("kind", "alpha"), one_in(3, product([*DETECTING, *SHRINKING], ALPHAS)))
def test_evidence_changes_with_the_effect_in_one_direction(kind: str, alpha: float) -> None:
    design = design_of(kind, alpha)
    effects = EFFECTS[::-1] if kind in SHRINKING else EFFECTS
    for n in SIZES:
        assert_grows(kind, [evidence_value(design, n, effect_of(kind, e)) for e in effects])


@pytest.mark.parametrize("kind", SIGNED)
def test_evidence_ignores_the_sign_of_effects(kind: str) -> None:
    for effect in (0.01, 0.3, 0.9):
        value, other = (evidence_value(design_of(kind), 40, e) for e in (effect, -effect))
        assert value == other


@given(
    st.sampled_from([case for case in SIDES if case[0] in POWER_KINDS - SHRINKING]),
    st.floats(1e-300, 0.999999) | st.sampled_from(ALPHAS),
    st.integers(4, 10**6),
)
def test_power_without_an_effect_is_alpha(case: tuple[str, int], alpha: float, n: int) -> None:
    kind, sides = case
    value = evidence_value(design_of(kind, alpha, sides=sides), n, effect_of(kind, 0.0))
    assert value == pytest.approx(max(alpha, 1e-150), rel=1e-9)


TOO_FEW: Final = {
    "two_group": 2, "paired": 1, "one_sample": 1, "correlation": 2, "two_proportions": 1,
    "survival": 1, "anova": 5, "equivalence": 2,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "too_few"), TOO_FEW.items())
def test_power_is_zero_where_no_test_exists(kind: str, too_few: int) -> None:
    design, effect = make_design(kind=kind), 0.0 if kind == "equivalence" else 0.9
    assert [evidence_value(design, n, effect) for n in range(too_few + 1)] == [0.0] * (too_few + 1)
    assert evidence_value(design, too_few + 1, effect) > 0.0


@pytest.mark.parametrize(
    ("kind", "effect", "message"),
    [
        *((kind, None, "give a finite number") for kind in ASSUMING),
        *((kind, effect, "give a finite number")
          for kind in ASSUMING for effect in (math.nan, math.inf)),
        *((kind, effect, rf"the effect is {effect}; an? {kind} effect is less than 1")
          for kind in ("correlation", "audit") for effect in (1.0, 10.0)),
        *(("correlation", effect, "a correlation effect is more than -1")
          for effect in (-1.0, -1.3)),
        *((kind, -0.1, rf"the effect is -0\.1; an? {kind} effect is 0 or more")
          for kind in UNSIGNED),
    ],
)  # fmt: skip
def test_evidence_refuses_an_effect_that_there_is_not(
    kind: str, effect: float | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        evidence_value(design_of(kind), 40, effect)


@pytest.mark.parametrize("sign", [1, -1])
def test_correlation_near_one_is_detected(sign: int) -> None:
    design = design_of("correlation")
    assert evidence_value(design, 4, sign * math.nextafter(1, 0)) == 1.0


def evidence_if(design: Design, n: int, sought: float, part: float) -> float:
    effect = KINDS[design.kind].effect
    assert effect is not None
    if effect.within_margin:
        changed = design.model_copy(update={"margin": sought * part})
        return evidence_value(changed, n, design.effect_planning)
    return evidence_value(design, n, effect.seen(sought, part))


@pytest.mark.parametrize(
    ("kind", "sides", "alpha", "target"),
    one_in(
        5,
        [
            (*case, *level)
            for case in SIDES
            for level in product((1e-6, 0.05, 0.5), (0.51, 0.8, 0.999))
            if case[0] in POWER_KINDS
        ],
    ),
)
def test_detectable_effect_reaches_the_target(
    kind: str, sides: int, alpha: float, target: float
) -> None:
    design, effect = design_of(kind, alpha, sides=sides, target=target), KINDS[kind].effect
    last = math.inf
    for n in (4, 5, 34, 128, 10**4, 10**6):
        value = smallest_detectable_effect(design, n)
        assert value is not None
        assert effect is not None
        assert evidence_if(design, n, value, 1.0) >= target - NOISE
        # It is relatively exact to 1e-12; a correlation so near to 1 that this is much of what is
        # left has a power farther from the target.
        assert evidence_if(design, n, value, 1 - 2e-12) <= target + NOISE
        if effect.below > 1 or value < 0.999:
            assert evidence_if(design, n, value, 1.0) == pytest.approx(target, abs=1e-8)
        assert evidence_if(design, n, value, 1 - 1e-9) < target
        size = value if effect.within_margin else effect.size(value)
        assert size <= last, "more samples detect less"
        last = size


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        *((kind, n) for kind in sorted(POWER_KINDS) for n in (0, 1)),
        *((kind, 100) for kind in sorted({*KINDS} - POWER_KINDS)),
    ],
)
def test_no_effect_is_detectable_without_a_test(kind: str, n: int) -> None:
    assert smallest_detectable_effect(design_of(kind), n) is None


def test_absurd_effect_is_not_detectable() -> None:
    # Of two pairs the critical t is 2 / (pi alpha): 6e19, and 6.4e11, which is looked for.
    assert smallest_detectable_effect(design_of("paired", 1e-20), 2) is None
    value = smallest_detectable_effect(design_of("paired", 1e-12), 2)
    assert 1e11 < (value or 0) < 1e12


@pytest.mark.parametrize("kind", sorted(POWER_KINDS - SHRINKING))
def test_high_alpha_needs_no_effect(kind: str) -> None:
    assert smallest_detectable_effect(design_of(kind, 0.9), 40) == effect_of(kind, 0.0)
