"""The probability of success against whole studies: simulated samples, units and arms.

Data are drawn sample by sample (or from the exact distribution of the reported statistics),
estimated as the field estimates, and each criterion is decided as its authors wrote it.
"""

import math
from typing import Any, Final

import numpy as np
import pytest
from scipy import stats

from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.features.success import CRITERIA, success_of
from replicalab.scenarios import Arms, Original, Units
from tests.factories import make_design, make_pack, make_protocol

DRAWS: Final = 100_000
Z: Final = stats.norm.isf(0.025)
KINDS_HELD: Final = [kind for kind, row in KINDS.items() if row.information and row.normal]
# The estimate and its error of an original with z near 3, on the scale of each kind; a study of n.
STUDIES: Final = {
    "two_group": (0.5, 0.16, 240),
    "paired": (0.4, 0.13, 120),
    "one_sample": (0.4, 0.13, 120),
    "correlation": (0.3, 0.1, 200),
    "two_proportions": (0.4, 0.13, 400),
    "survival": (0.6, 0.18, 400),
}
ICC, PER_UNIT = 0.05, 4


def simulated(kind: str, effects: Any, n: int, rng: Any, *, units: bool, share: float) -> Any:
    first = round(n * share)
    effect = 1 + (PER_UNIT - 1) * ICC if units else 1.0

    def means(size: int, at: Any, total: int) -> Any:
        # The mean of a group whose samples share units, of SD 1 within and between them.
        if not units:
            return rng.normal(at, 1 / math.sqrt(size), len(effects))
        number = size // PER_UNIT
        between = rng.normal(0, math.sqrt(ICC), (len(effects), number)).mean(axis=1)
        within = rng.normal(0, math.sqrt((1 - ICC) / size), len(effects))
        return at + between + within

    match kind:
        case "two_group":
            result = means(first, effects, n) - means(n - first, np.zeros(len(effects)), n)
            return result, math.sqrt((1 / first + 1 / (n - first)) * effect)
        case "paired" | "one_sample":
            return means(n, effects, n), math.sqrt(effect / n)
        case "correlation":
            rho = np.tanh(effects)
            # r of n pairs from its exact representation: a normal, and two chi variables.
            slope = rho / np.sqrt(1 - rho**2) * np.sqrt(rng.chisquare(n - 1, len(rho)))
            t = (rng.standard_normal(len(rho)) + slope) / np.sqrt(rng.chisquare(n - 2, len(rho)))
            return np.arcsinh(t), 1 / math.sqrt(n - 3)
        case "two_proportions":
            middle = math.pi / 2  # both shares about one half
            ones = np.sin((middle + effects / 2) / 2) ** 2, np.sin((middle - effects / 2) / 2) ** 2
            shares = [rng.binomial(s, p) / s for s, p in zip((first, n - first), ones, strict=True)]
            angles = [2 * np.arcsin(np.sqrt(s)) for s in shares]
            return angles[0] - angles[1], math.sqrt(1 / first + 1 / (n - first))
        case "survival":
            # All have an event: the log of the ratio of two mean times, whose error is that of it.
            times = [rng.gamma(size, 1 / size, len(effects)) for size in (first, n - first)]
            result = effects + np.log(times[1]) - np.log(times[0])
            return result, math.sqrt(1 / first + 1 / (n - first))
    raise ValueError(kind)


def met(name: str, found: Any, se: float, original: float, error: float) -> Any:
    match name:
        case "significant":
            return found / se > Z
        case "prediction":
            return np.abs(found - original) < Z * math.hypot(se, error)
        case "small_telescopes":
            third = stats.norm.ppf(1 / 3) + Z  # the shift at which a z-test has that power
            return found + stats.norm.isf(0.05) * se > third * error
    raise ValueError(name)


def chance_of(kind: str, name: str, n: int, units: Units | None, arms: Arms | None) -> float:
    estimate, error, _ = STUDIES[kind]
    scale = KINDS[kind].normal
    assert scale is not None
    design = make_design(
        kind=kind,
        effect_published=None,
        sesoi=None,
        effect_planning=scale.effect(estimate),
        event_share=1.0 if kind == "survival" else None,
        units=units,
        arms=arms,
        original=Original(
            effect=scale.effect(estimate), se=error, source="Made up", confidence="derived"
        ),
    )
    plan = make_protocol(sample_size=n)
    success = success_of(
        assess(plan, make_pack(design=design, budget=1e9, reference_protocol=plan))
    )
    assert success is not None
    return success.of_plan(name)


@pytest.mark.long
@pytest.mark.parametrize("setting", ["plain", "units", "arms"])
@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("kind", KINDS_HELD)
def test_probability_equals_simulated_studies(kind: str, name: str, setting: str) -> None:
    row = KINDS[kind]
    texts = {"plain", *row.optional} - ({"units"} if kind in _NOT_SIMULATED else set())
    if setting not in texts:
        pytest.skip(f"{kind} has no {setting}, or only by an approximation of its own")
    estimate, error, n = STUDIES[kind]
    rng = np.random.default_rng([*map(ord, f"{kind}{name}{setting}")])
    in_units, share = setting == "units", 0.25 if setting == "arms" else 0.5
    effects = rng.normal(estimate, error, DRAWS)
    result, se = simulated(kind, effects, n, rng, units=in_units, share=share)
    share_met = met(name, result, se, estimate, error).mean()
    units = Units(name="tank", samples=float(PER_UNIT), icc=ICC) if in_units else None
    arms = Arms(share=share) if setting == "arms" else None
    assert chance_of(kind, name, n, units, arms) == pytest.approx(share_met, abs=0.012)


_NOT_SIMULATED: Final = {"correlation", "two_proportions"}
"""Their units are counted by the design effect alone, as the formula does: nothing to compare."""
