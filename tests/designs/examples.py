"""Designs of every kind for tests that walk the table."""

from typing import Final

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
