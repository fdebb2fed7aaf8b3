"""The probability that a plan's study succeeds: its grid, panel and report row."""

from __future__ import annotations

from typing import Any

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.designs.planning_effects import Criterion
from replicalab.facts.success import rough_text, success_blocks, success_of, success_text
from replicalab.models import revise
from tests.factories import make_design, make_pack, make_protocol

ORIGINAL = {"effect": 0.5, "n": 16, "source": "Invented", "confidence": "verified"}  # z = 2


def plan_of(samples: int, dropout: float = 0.0, **original: Any) -> Assessment:
    """Return a plan of one sample of a mean, whose original had a z of 2."""
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
    assert success.of_plan(Criterion.SIGNIFICANT) == pytest.approx(0.8, abs=2e-3)
    assert success.of_plan(Criterion.PREDICTION) == pytest.approx(0.9)


def test_dropout_leaves_fewer_samples() -> None:
    halved, plain = success_of(plan_of(50, dropout=0.5)), success_of(plan_of(25))
    assert halved is not None
    assert plain is not None
    assert halved.of_plan(Criterion.SIGNIFICANT) == plain.of_plan(Criterion.SIGNIFICANT)


def test_plan_without_original_or_evidence_has_no_success() -> None:
    plan = plan_of(40)
    for other in (
        assess(make_protocol(), make_pack()),
        assess(revise(plan.plan, duration_days=1), plan.pack),
    ):
        assert success_of(other) is None
        assert success_blocks(other) == []
        assert success_text(other) == ""


def test_report_row_names_each_criterion() -> None:
    text = success_text(plan_of(42))
    assert text == "Significant: 0.80; Small telescopes: 0.84; In the prediction interval: 0.90"


def test_rough_normal_approximation_is_named() -> None:
    assert rough_text(plan_of(40, effect=2.0, n=8).pack.design).startswith("Estimates are taken")
    assert rough_text(plan_of(40, n=400).pack.design) == ""
