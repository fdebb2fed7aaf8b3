"""The probability of success of random settings, by each criterion as its paper decides it.

The other engine knows no interval of the estimate: it asks p-values and confidence intervals
whether a replication counts, looks for where that changes, and takes scipy's normal distribution.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest
from scipy import optimize, stats

from replicalab.assessment import assess
from replicalab.designs.planning_effects import Criterion
from replicalab.facts.success import success_of
from tests.factories import make_design, make_pack, make_protocol

NORMAL: Final = stats.norm
CRITERIA: Final = (
    "significant",
    "prediction",
    "small_telescopes",
)
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


# --- the other engine -------------------------------------------------------------------------


def counts(name: str, found: float, at: Setting) -> bool:
    """Return whether a replication that finds this counts, by a criterion."""
    error, z = at.replicated, found / at.replicated
    around = NORMAL.isf(at.level / 2)
    if name == "significant":
        tail = float(NORMAL.sf(z))
        return found > 0 and 2 * tail <= at.level
    if name == "prediction":
        return bool(abs(found - at.estimate) <= around * math.hypot(at.error, error))
    return bool(NORMAL.cdf((found - at.telescope) / error) > at.level)


def accepted(name: str, at: Setting) -> tuple[float, float]:
    """Return the lowest and the highest estimate that count; one above the other if none does."""
    far = 12 * (at.estimate + at.replicated + at.error + at.telescope)
    grid = sorted({k * far / 60 for k in range(-60, 61)} | {at.estimate, at.estimate / 2})
    inside = [x for x in grid if counts(name, x, at)]
    if not inside:
        return math.inf, -math.inf
    return edge(name, inside[0], -far, at), edge(name, inside[-1], far, at)


def edge(name: str, inside: float, outside: float, at: Setting) -> float:
    """Return where estimates stop to count between two of them."""
    if counts(name, outside, at):
        return math.copysign(math.inf, outside)
    while (middle := (inside + outside) / 2) not in (inside, outside):
        if counts(name, middle, at):
            inside = middle
        else:
            outside = middle
    return inside


def chance(name: str, at: Setting) -> float:
    """Return the probability that a replication counts by a criterion."""
    mean, (low, high) = at.estimate, accepted(name, at)
    sd = math.hypot(at.error, at.replicated)
    if not low < high:
        return 0.0
    return float(NORMAL.cdf(high, mean, sd) - NORMAL.cdf(low, mean, sd))


def telescope(df: int | None, sides: int, error: float) -> float:
    """Return the effect at which an original had a power of one third."""
    tail, either = 0.05 / sides, sides == 2

    def power(shift: float) -> float:
        if df is None:
            z = NORMAL.isf(tail)
            return float(NORMAL.sf(z - shift) + either * NORMAL.cdf(-z - shift))
        t = stats.t.isf(tail, df)
        return float(stats.nct.sf(t, df, shift) + either * stats.nct.cdf(-t, df, shift))

    return float(optimize.brentq(lambda shift: power(shift) - 1 / 3, 1e-9, 4)) * error


# --- random settings --------------------------------------------------------------------------


def drawn(draw: random.Random) -> tuple[dict[str, Any], int, Setting]:
    """Return a design, how many samples of it count, and the same as the other engine takes it."""
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
    """Return what an original reports, its standard error, and its degrees of freedom by n."""
    n, value = draw.choice((12, 33, 150)), draw.choice((1, -1)) * draw.uniform(0.05, 0.95)
    by_n = {
        "survival": 2 / math.sqrt(n),
        "correlation": 1 / math.sqrt(n - 3),
        "two_group": math.sqrt(1 / n + 1 / (2 * n)),
        "two_proportions": math.sqrt(1 / n + 1 / (2 * n)),
    }.get(kind, 1 / math.sqrt(n))
    sizes = {"n1": n, "n2": 2 * n} if kind in ("two_group", "two_proportions") else {"n": n}
    known: dict[str, Any] = {"events": n} if kind == "survival" else dict(sizes)
    df = {"two_group": 3 * n - 2, "paired": n - 1, "one_sample": n - 1}.get(kind)
    error, way, scale = by_n, draw.choice(("n", "se", "interval")), SCALES.get(kind, float)
    said: dict[str, Any] = {"source": "Invented", "confidence": "verified", "sides": sides}
    if way == "se":
        error = said["se"] = by_n * draw.uniform(0.5, 2)
        known, df, by_n = {}, None, error
    if way == "interval":
        level, error = draw.choice((0.9, 0.99)), by_n * draw.uniform(0.7, 1.6)
        half = float(NORMAL.isf((1 - level) / 2)) * error
        said |= {"low": scale(value - half), "high": scale(value + half), "level": level}
    # The small telescopes count n where it is known, whatever the standard error is.
    said |= {"effect": scale(value), "value": value, "n_error": by_n}
    return {**said, **known}, error, df


@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(batch, marks=pytest.mark.long) for batch in range(1, 21))]
)
def test_probability_of_success_of_random_settings_is_scipys(batch: int) -> None:
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
        for name in CRITERIA if design["kind"] != "correlation" else CRITERIA[:-1]:
            found = success.of_plan(Criterion(name))
            assert found == pytest.approx(chance(name, at), abs=1e-7), (design, n, name)
