"""What counts as replicated, in a study file: what is refused, and in which words."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from replicalab.measures import KINDS, DesignKind, DesignParameters
from replicalab.measures.replicated import replicated_of
from replicalab.measures.success import Criterion, Prior
from replicalab.scenarios import Design, PlanWith, Replication
from tests.factories import make_design

ORIGINAL = {"effect": 0.6, "n": 60, "source": "Invented", "confidence": "verified"}


def design_of(kind: str = "two_group", original: Any = ORIGINAL, **chosen: Any) -> Design:
    """Return a design with these in what counts as replicated."""
    replication = {"criteria": ["significant"], **chosen}
    return make_design(kind=kind, original=original, replication=replication)


def test_replication_is_a_predictive_plan_by_power_where_nothing_else_is_said() -> None:
    found = design_of().replication
    assert found == Replication(criteria=(Criterion.SIGNIFICANT,))
    assert (found.prior, found.plan_with, found.tau) == (Prior.PREDICTIVE, PlanWith.POWER, 0)
    assert design_of().row is KINDS[DesignKind.TWO_GROUP]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"criteria": []}, "at least 1 item"),
        ({"criteria": ["luck"]}, "significant"),
        ({"criteria": ["interval", "interval"]}, "'interval' is chosen twice"),
        ({"criteria": ["equivalence"]}, "equivalence needs a margin"),
        ({"margin": 0.3}, "margin is 0.3, but no criterion needs one"),
        ({"tau": -0.1}, "greater than or equal to 0"),
        ({"tau": math.nan}, "finite number"),
        ({"tau": 1e308}, "less than or equal to 1000000"),
        ({"level": 0.0}, "greater than 0"),
        ({"level": 1.0}, "less than 1"),
        ({"sides": 3}, "1 or 2"),
        ({"criteria": ["equivalence"], "margin": 0.0}, "greater than 0"),
        ({"criteria": ["equivalence"], "margin": math.inf}, "finite number"),
        ({"plan_with": "luck"}, "power"),
        ({"prior": None}, "conditional"),
        ({"criteria": ["significant"] * 10**5}, "7 items"),
        ({"original": None}, "the original is not known in numbers"),
        ({"original": {**ORIGINAL, "n": None}}, "neither a standard error nor an interval"),
        ({"original": {**ORIGINAL, "effect": 0.0}}, "found no effect at all"),
    ],
)
def test_replication_that_cannot_be_is_refused_in_words(
    chosen: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        design_of(**chosen)


@pytest.mark.parametrize("kind", ["anova", "equivalence", "audit"])
def test_replication_of_a_kind_without_a_normal_scale_is_refused(kind: str) -> None:
    with pytest.raises(ValidationError, match="no normal scale is known"):
        design_of(kind, original={**ORIGINAL, "effect": 0.3})


@pytest.mark.parametrize("kind", [kind for kind, row in KINDS.items() if row.normal])
@pytest.mark.parametrize("prior", Prior)
@pytest.mark.parametrize("extreme", [0.0, 1e-9, 1e6])
def test_replication_at_the_ends_of_what_is_valid_has_a_probability(
    kind: DesignKind, prior: Prior, extreme: float
) -> None:
    original = {**ORIGINAL, "effect": 0.6, "se": 1e-6}
    if kind is DesignKind.SURVIVAL:
        original = {**original, "effect": 5.0, "events": 30}
    design = design_of(
        kind,
        original,
        criteria=[*Criterion],
        margin=max(extreme, 5e-324),
        tau=extreme,
        prior=prior,
        plan_with="success",
    )
    found = replicated_of(KINDS[kind], design)
    assert found is not None
    values = [design.row_at(factor).formula for factor in (0.01, 1.0)]
    assert all(
        0 <= formula(n, 0.0, DesignParameters()) <= 1
        for formula in values
        for n in (1, 2, 3, 4, 10**6, 10**9)
    )
    assert 0 <= found.ceiling <= 1


def test_probability_grows_with_what_substitutions_leave_and_with_n() -> None:
    design = design_of(criteria=["significant", "interval"], tau=0.2, plan_with="success")
    for n in (3, 10, 61, 400, 5000):
        by_factor = [
            design.row_at(f / 20).formula(n, 0.0, DesignParameters()) for f in range(1, 21)
        ]
        assert by_factor == sorted(by_factor)
    by_n = [design.row.formula(n, 0.0, DesignParameters()) for n in range(1, 400)]
    assert by_n == sorted(by_n)


def test_replication_of_a_correlation_uses_the_standard_error_of_fishers_z() -> None:
    # r 0.3 from 67: z 0.3095 / (1/8) = 2.476; 131 more have c = 128/64 = 2.
    design = design_of("correlation", {**ORIGINAL, "effect": 0.3, "n": 67}, prior="conditional")
    found = replicated_of(KINDS[DesignKind.CORRELATION], design)
    assert found is not None
    assert found.success.basis.z == pytest.approx(8 * math.atanh(0.3))
    assert found.relative_size(131) == pytest.approx(2)
    assert found.relative_size(131, 0.5) == pytest.approx(0.5)
    assert found.relative_size(3) == 0
