"""Every sentence on a plan, for each kind of design that no shipped study has."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.scenarios import Pack
from replicalab.text.asks import assumption_text
from tests.factories import EQUIPMENT, make_design, make_pack, make_protocol, make_substitution
from tests.golden import assert_golden
from tests.text.labs import of, told

DESIGNS: Final[dict[str, dict[str, object]]] = {
    "anova": {"effect_published": 0.6, "effect_planning": 0.5, "sesoi": 0.3, "groups": 3},
    "equivalence": {"effect_published": 0.3, "effect_planning": 0.0, "sesoi": None, "margin": 0.9},
    "survival": {"effect_published": 0.3, "effect_planning": 0.4, "sesoi": 0.7, "event_share": 0.8},
}


def lab_of(kind: str) -> Pack:
    """Return the synthetic study as one of that kind; a shelf that blurs a fifth may stand in."""
    shelf = make_substitution(evidence_factor=0.8)
    design = make_design(kind=kind, **DESIGNS[kind])
    return make_pack(design=design, allowed_substitutions=[shelf], booked={EQUIPMENT[0]: 9})


@pytest.mark.parametrize("kind", DESIGNS)
def test_everything_told_of_a_plan(kind: str) -> None:
    assert_golden(f"kinds/{kind}", told(of(make_protocol(sample_size=60), lab_of(kind))))


@pytest.mark.parametrize(
    ("kind", "assumed"),
    [
        ("anova", "Cohen's f of 0.5 among 3 groups, seen as 0.4 through the substitutions"),
        (
            "equivalence",
            "true difference (Cohen's d) of 0 within a margin of ±0.9, seen as 0 within a margin "
            "of ±0.72 through the substitutions",
        ),
        (
            "survival",
            "hazard ratio of 0.4 and an event share of 0.8, seen as 0.48 through the substitutions",
        ),
    ],
)
def test_the_basis_tells_what_else_is_assumed(kind: str, assumed: str) -> None:
    plan = make_protocol(required_equipment=["window shelf", EQUIPMENT[1]])
    found = assess(plan, lab_of(kind))
    method = found.evidence.row.method
    assert assumption_text(found) == (
        f"Planned, at an assumed {assumed}, by {method}; never observed power."
    )
