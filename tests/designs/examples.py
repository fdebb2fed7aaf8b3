"""Designs of every kind for tests that walk the table, and the power of a t-test by SciPy."""

from typing import Final

from scipy import stats

from replicalab.designs import KINDS
from replicalab.scenarios import Design
from tests.factories import make_design

POWER_KINDS: Final = frozenset(kind for kind, row in KINDS.items() if row.sought)
"""The kinds whose evidence is the power of a test."""

SHRINKING: Final = frozenset({"equivalence"})
"""The kinds whose evidence is less the larger the effect."""

DETECTING: Final = sorted(POWER_KINDS - SHRINKING | {"audit"})
"""The kinds whose evidence is more the larger the effect."""

_NEEDS: Final[dict[str, dict[str, object]]] = {
    "audit": {"population_max": 10**6},
    "coverage": {"population_max": 10**6},
    "precision": {"target": 0.1, "floor": 0.2},
    "anova": {"groups": 2},
    "equivalence": {"margin": 0.5, "effect_planning": 0.0},
}


def t_power(shift: float, free: float, alpha: float = 0.05, sides: int = 2) -> float:
    at = stats.t.ppf(1 - alpha / sides, free)
    wrong = stats.nct.cdf(-at, free, shift) if sides == 2 else 0.0
    return float(stats.nct.sf(at, free, shift) + wrong)


def design_of(kind: str, alpha: float = 0.05, **changes: object) -> Design:
    design = make_design(kind=kind, **{**_NEEDS.get(kind, {}), **changes})
    # A file with a high alpha is refused; the formulas hold for any.
    return Design.model_construct(**{**dict(design), "alpha": alpha})


def effect_of(kind: str, size: float) -> float | None:
    """Return an effect of a kind from a number of 0 to 10, the larger the further from none.

    A correlation or a share is below 1, a true difference within the margin of `design_of`, a
    hazard ratio at most 1; coverage has none.
    """
    effect = KINDS[kind].effect
    if effect is None:
        return None
    if effect.below == 1:
        return size / 10.001
    return size / 20.001 if effect.within_margin else effect.of_size(size, like=0.5)
