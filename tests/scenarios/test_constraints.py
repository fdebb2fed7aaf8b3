"""A study's own constraints: which bound a number of the plan, and what range they leave it."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.scenarios import Bounds, Comparator, Study, StudyLimit, hard_range
from replicalab.scenarios.constraints import limits_of
from tests.factories import make_constraint, make_design, make_study


def limit_of(bounds: str, comparator: str, quantity: float, **more: object) -> StudyLimit:
    constraint = make_constraint(bounds=bounds, comparator=comparator, quantity=quantity, **more)
    [limit] = limits_of([constraint])
    return limit


@given(st.sampled_from(Comparator), st.integers(0, 30), st.integers(2, 7), st.integers(0, 250))
def test_shared_samples_keep_a_bound_per_condition(
    comparator: Comparator, quantity: int, conditions: int, samples: int
) -> None:
    limit = limit_of("samples_per_condition", comparator, quantity, conditions=conditions)
    shares = [samples // conditions + (k < samples % conditions) for k in range(conditions)]
    record = {"<=": max(shares) <= quantity, ">=": min(shares) >= quantity,
            "=": set(shares) == {quantity}}  # fmt: skip
    assert sum(shares) == samples
    assert limit.allows(samples) == record[comparator]
    assert limit.number is Bounds.SAMPLES


@pytest.mark.parametrize(
    ("comparator", "ends"), [("<=", (-inf, 0.8)), (">=", (0.8, inf)), ("=", (0.8, 0.8))]
)
def test_limit_includes_its_ends_despite_rounding(
    comparator: str, ends: tuple[float, float]
) -> None:
    limit = limit_of("evidence", comparator, 0.8)
    assert (limit.least, limit.most) == ends
    assert limit.allows(0.8 - 1e-15)
    assert limit.allows(0.8 + 1e-15)
    assert limit.allows(0.79) == (comparator == "<=")
    assert limit.allows(inf) == (comparator == ">=")


def test_hard_limits_combine_to_one_range() -> None:
    assert limits_of([make_constraint()]) == ()  # one that is only stated sets none
    limits = (
        limit_of("samples", ">=", 8),
        limit_of("samples_per_condition", ">=", 5, conditions=2),
        limit_of("samples", "<=", 30),
        limit_of("samples", "<=", 20, hard=False),
        limit_of("days", "<=", 9),
    )
    assert hard_range(limits, Bounds.SAMPLES) == (10, 30)
    assert hard_range(limits, Bounds.DAYS) == (-inf, 9)
    assert hard_range(limits, Bounds.EVIDENCE) == (-inf, inf)


def test_evidence_is_bounded_from_its_worse_side() -> None:
    def study(kind: str, comparator: str) -> Study:
        bound = make_constraint(key="worth", bounds="evidence", comparator=comparator, quantity=0.5)
        design = make_design(kind=kind, target=0.3 if kind == "precision" else 0.8)
        return make_study(design=design, constraints=[bound])

    for kind, comparator in (("two_group", ">="), ("precision", "<=")):
        assert study(kind, comparator).constraints[0].bounds is Bounds.EVIDENCE
    for kind, comparator in (("two_group", "<="), ("two_group", "="), ("precision", ">=")):
        with pytest.raises(ValidationError, match=f"'worth' bounds the evidence by '{comparator}'"):
            study(kind, comparator)
