"""The probability of success against printed values, simulation, quadrature and SciPy.

The engine of random settings uses no interval of the estimate: it decides by p-values and
confidence intervals whether a replication counts, and searches the edges.
"""

import math
import random
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from replicalab.assessment import Assessment, assess
from replicalab.features.success import CRITERIA, Basis, facts, probability, success_of
from replicalab.features.success.success_page import rough_text
from replicalab.models import revise
from tests.factories import make_design, make_pack, make_protocol

NORMAL: Final = stats.norm


@pytest.mark.parametrize(
    ("z", "sides", "c", "printed", "error"),
    [
        (2, 1, 2.64240442300288, 0.8, 1e-12),
        (4, 1, 0.440562894751761, 0.8, 1e-12),
        (2, 2, 3.51088218947353, 0.8, 1e-12),
        (4, 2, 0.567658970548963, 0.8, 1e-12),
        (1, 2, 0.5, 0.153164887002923, 1e-14),
        (1, 2, 2, 0.376346981956041, 1e-14),
        (NORMAL.isf(0.0025), 2, 1.337889, 0.8, 5e-7),
        (NORMAL.isf(0.0025), 2, 2, 0.8770, 5e-5),
    ],
)
def test_significance_has_the_printed_probability(
    z: float, sides: int, c: float, printed: float, error: float
) -> None:
    value = probability("significant", c, Basis(float(z), 0.05, sides=sides))
    assert value == pytest.approx(printed, abs=error)


def met(criterion: str, t: Any, c: float, of: Basis) -> Any:
    s = 1 / math.sqrt(c)
    decided: dict[str, Any] = {
        "significant": NORMAL.sf(t / s) <= of.alpha / 2,
        "prediction": abs(t - of.z) / math.sqrt(1 + s * s) <= NORMAL.isf(of.alpha / 2),
        "small_telescopes": NORMAL.cdf((t - of.telescope) / s) >= of.alpha,
    }
    return decided[criterion]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    ("c", "basis"),
    [(0.7, Basis(2.6, 0.05, 1.5)), (3.0, Basis(2.6, 0.1, 1.5)), (1.0, Basis(1.2, 0.1, 1.4))],
)
def test_probability_equals_simulation_and_quadrature(
    criterion: str, c: float, basis: Basis
) -> None:
    value, sd = probability(criterion, c, basis), math.sqrt(1 + 1 / c)
    draws, rng = 100_000, np.random.default_rng(7)
    t = basis.z + rng.normal(0, 1, draws) + rng.normal(0, 1 / math.sqrt(c), draws)
    error = math.sqrt(max(value * (1 - value), 1e-6) / draws)
    assert value == pytest.approx(float(met(criterion, t, c, basis).mean()), abs=4.5 * error)
    t = basis.z + sd * np.linspace(-9, 9, 400_001)
    density = NORMAL.pdf(t, basis.z, sd)
    share = float(density[met(criterion, t, c, basis)].sum() / density.sum())
    assert value == pytest.approx(share, abs=2e-5)


ENDS: Final = st.sampled_from([0.0, 5e-324, 1e-9, 0.5, 1.0, 3.0, 40.0, 1e6, 1e12])


@given(
    ENDS,
    st.sampled_from([5e-324, 1e-12, 0.05, 0.5, 0.9, 1 - 1e-12]),
    ENDS,
    st.sampled_from([*CRITERIA]),
)
def test_extreme_input_gives_a_probability(
    z: float, alpha: float, telescope: float, name: str
) -> None:
    for c in (0.0, 1e-12, 0.3, 1.0, 7.0, 1e12):
        assert 0 <= probability(name, c, Basis(z, alpha, telescope)) <= 1


ORIGINAL = {"effect": 0.5, "n": 16, "source": "Invented", "confidence": "verified"}  # z = 2


def plan_of(samples: int, dropout: float = 0.0, **original: Any) -> Assessment:
    design = make_design(
        kind="one_sample", dropout=dropout, alpha=0.1, original={**ORIGINAL, **original}
    )
    plan = make_protocol(sample_size=samples)
    return assess(plan, make_pack(design=design, budget=1e6, reference_protocol=plan))


def test_grid_holds_the_printed_probability() -> None:
    # Micheloud & Held (2022): at z 2 one-sided .05, c = 2.6424 has a probability of .8; n = 42.3.
    success = success_of(plan_of(42))
    assert success is not None
    assert success.samples == (21, 42, 84, 168)
    assert success.of_plan("significant") == pytest.approx(0.8, abs=2e-3)
    assert success.of_plan("prediction") == pytest.approx(0.9)


def test_dropout_leaves_fewer_samples() -> None:
    halved, plain = success_of(plan_of(50, dropout=0.5)), success_of(plan_of(25))
    assert halved is not None
    assert plain is not None
    assert halved.of_plan("significant") == plain.of_plan("significant")


def test_plan_without_original_or_evidence_has_no_success() -> None:
    plan = plan_of(40)
    for other in (
        assess(make_protocol(), make_pack()),
        assess(revise(plan.plan, duration_days=1), plan.pack),
    ):
        assert success_of(other) is None
        assert facts(other) == []


def test_rough_normal_approximation_is_named() -> None:
    assert rough_text(plan_of(40, effect=2.0, n=8).pack.design).startswith("Estimates are taken")
    assert rough_text(plan_of(40, n=400).pack.design) == ""


KINDS: Final = ("two_group", "paired", "one_sample", "correlation", "two_proportions", "survival")
SCALES: Final[dict[str, Callable[[float], float]]] = {
    "correlation": math.tanh,
    "survival": math.exp,
}
ARMS: Final = ("two_group", "two_proportions", "survival")


class Setting(NamedTuple):
    """An original and a replication on the normal scale, the original's estimate above 0."""

    estimate: float
    error: float
    replicated: float
    level: float
    telescope: float


def counts(name: str, found: float, at: Setting) -> bool:
    error, z = at.replicated, found / at.replicated
    around = NORMAL.isf(at.level / 2)
    if name == "significant":
        tail = float(NORMAL.sf(z))
        return found > 0 and 2 * tail <= at.level
    if name == "prediction":
        return bool(abs(found - at.estimate) <= around * math.hypot(at.error, error))
    return bool(NORMAL.cdf((found - at.telescope) / error) > at.level)


def accepted(name: str, at: Setting) -> tuple[float, float]:
    far = 12 * (at.estimate + at.replicated + at.error + at.telescope)
    grid = sorted({k * far / 60 for k in range(-60, 61)} | {at.estimate, at.estimate / 2})
    inside = [x for x in grid if counts(name, x, at)]
    if not inside:
        return math.inf, -math.inf
    return edge(name, inside[0], -far, at), edge(name, inside[-1], far, at)


def edge(name: str, inside: float, outside: float, at: Setting) -> float:
    if counts(name, outside, at):
        return math.copysign(math.inf, outside)
    while (middle := (inside + outside) / 2) not in (inside, outside):
        if counts(name, middle, at):
            inside = middle
        else:
            outside = middle
    return inside


def chance(name: str, at: Setting) -> float:
    mean, (low, high) = at.estimate, accepted(name, at)
    sd = math.hypot(at.error, at.replicated)
    if not low < high:
        return 0.0
    return float(NORMAL.cdf(high, mean, sd) - NORMAL.cdf(low, mean, sd))


def telescope(df: int | None, sides: int, error: float) -> float:
    tail, either = 0.05 / sides, sides == 2

    def power(shift: float) -> float:
        if df is None:
            z = NORMAL.isf(tail)
            return float(NORMAL.sf(z - shift) + either * NORMAL.cdf(-z - shift))
        t = stats.t.isf(tail, df)
        return float(stats.nct.sf(t, df, shift) + either * stats.nct.cdf(-t, df, shift))

    return float(optimize.brentq(lambda shift: power(shift) - 1 / 3, 1e-9, 4)) * error


def drawn(draw: random.Random) -> tuple[dict[str, Any], int, Setting]:
    kind, sides = draw.choice(KINDS), draw.choice((1, 2))
    original, error, df = drawn_original(draw, kind, sides)
    value = abs(original.pop("value"))
    alpha, n = draw.choice((0.05, 0.005, 0.2)), draw.choice((40, 61, 101, 3000))
    design: dict[str, Any] = {"kind": kind, "alpha": alpha, "original": original}
    share, events = 0.5, 1.0
    if kind in ("two_group", "survival") and draw.random() < 0.5:
        share = draw.choice((0.25, 0.75))
        design["arms"] = {"share": share}
    if kind == "survival":
        events = design["event_share"] = draw.choice((0.25, 1.0))
    per, icc = draw.choice(((1, 0.0), (4, 0.1)))
    if icc and kind not in ("two_proportions", "survival"):
        design["units"] = {"name": "unit", "samples": float(per), "icc": icc}
    else:
        per, icc = 1, 0.0
    worth = 1 + (per - 1) * icc
    first = n // 2 if share == 0.5 else round(share * n + 1e-9)
    variance = (1 / first + 1 / (n - first)) * worth / events if kind in ARMS else worth / n
    if kind == "correlation":
        variance = 1 / (n / worth - 3)
    at = Setting(
        estimate=value,
        error=error,
        replicated=math.sqrt(variance),
        level=alpha,
        telescope=telescope(df, sides, original["n_error"]),
    )
    original.pop("n_error")
    return design, n, at


def drawn_original(
    draw: random.Random, kind: str, sides: int
) -> tuple[dict[str, Any], float, int | None]:
    n, value = draw.choice((12, 33, 150)), draw.choice((1, -1)) * draw.uniform(0.05, 0.95)
    by_n = {
        "survival": 2 / math.sqrt(n),
        "correlation": 1 / math.sqrt(n - 3),
        "two_group": math.sqrt(1 / n + 1 / (2 * n)),
        "two_proportions": math.sqrt(1 / n + 1 / (2 * n)),
    }.get(kind, 1 / math.sqrt(n))
    sizes = {"n1": n, "n2": 2 * n} if kind in ("two_group", "two_proportions") else {"n": n}
    record: dict[str, Any] = {"events": n} if kind == "survival" else dict(sizes)
    df = {"two_group": 3 * n - 2, "paired": n - 1, "one_sample": n - 1}.get(kind)
    error, way, scale = by_n, draw.choice(("n", "se", "interval")), SCALES.get(kind, float)
    text: dict[str, Any] = {"source": "Invented", "confidence": "verified", "sides": sides}
    if way == "se":
        error = text["se"] = by_n * draw.uniform(0.5, 2)
        record, df, by_n = {}, None, error
    if way == "interval":
        level, error = draw.choice((0.9, 0.99)), by_n * draw.uniform(0.7, 1.6)
        half = float(NORMAL.isf((1 - level) / 2)) * error
        text |= {"low": scale(value - half), "high": scale(value + half), "level": level}
    # Small telescopes use n if it is known, whatever the standard error.
    text |= {"effect": scale(value), "value": value, "n_error": by_n}
    return {**text, **record}, error, df


@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(batch, marks=pytest.mark.long) for batch in range(1, 21))]
)
def test_random_settings_equal_scipy(batch: int) -> None:
    draw = random.Random(batch)
    for _ in range(10):
        design, n, at = drawn(draw)
        numbers = {"effect_published": None, "sesoi": None, "target": 0.8, "floor": 0.5}
        made = make_design(effect_planning=0.7, dropout=0.0, **{**numbers, **design})
        plan = make_protocol(sample_size=n)
        pack = make_pack(design=made, budget=1e9, reference_protocol=plan)
        success = success_of(assess(plan, pack))
        assert success is not None
        # How a correlation's original had its power is worked out by its own test.
        for name in CRITERIA:
            if (design["kind"], name) != ("correlation", "small_telescopes"):
                expected = pytest.approx(chance(name, at), abs=1e-7)
                assert success.of_plan(name) == expected, (design, n, name)
