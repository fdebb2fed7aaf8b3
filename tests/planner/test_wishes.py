"""Soft constraints count after the evidence tier and before fidelity."""

from __future__ import annotations

from math import sqrt
from typing import Any, Final

import pytest
from scipy import stats

from replicalab.limits import LARGEST_PLANNED
from replicalab.planner import LeastLoss, least_loss, rank
from replicalab.scenarios import CostModel, Pack, ScenarioConstraint
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    make_constraint,
    make_control,
    make_pack,
    make_protocol,
    make_substitution,
)

CHAMBER, METER = EQUIPMENT
MEETS: Final = make_protocol(sample_size=41)
"""A plan that meets the target with its fewest samples, for 1,060 credits."""


def wish(
    quantity: float, bounds: str = "samples", comparator: str = ">=", **changes: object
) -> ScenarioConstraint:
    fields = {"key": "wish", "label": "Trays", "unit": None, "hard": False}
    number = {"quantity": quantity, "bounds": bounds, "comparator": comparator}
    return make_constraint(**{**fields, **number, **changes})


def lab(*wishes: ScenarioConstraint, **changes: object) -> Pack:
    """Return a lab with 25 credits to spare, and one droppable control."""
    controls = [make_control(name=name, droppable=name == CONTROLS[1]) for name in CONTROLS]
    means: dict[str, Any] = {"budget": 1085.0, "days": 30, "min_days": 5, "controls": controls}
    return make_pack(**{**means, "constraints": [*wishes], **changes})


def reasons(found: LeastLoss) -> dict[str, str]:
    return {change.field: change.reason for change in found.changes}


def test_tier_of_evidence_comes_before_a_wish() -> None:
    loss = least_loss(MEETS, lab(wish(9, "days")))  # would cost 20 of the samples
    assert loss.plan == MEETS
    assert (loss.rank.tier, loss.rank.wishes) == (0, 1)


def test_cheaper_item_keeps_a_soft_constraint() -> None:
    swap = make_substitution(original=CHAMBER, alternative="fan", fidelity_loss=2)
    fixed = [make_control(name=name, droppable=False) for name in CONTROLS]
    wishes = wish(60), wish(7, "days", key="days", label="Watching")
    record = {"allowed_substitutions": [swap], "prices": {"fan": 1.0}, "controls": fixed}
    loss = least_loss(MEETS, lab(*wishes, **record))
    # The fan saves 99 credits: enough for two days, or for twelve trays, so for one wish of two.
    assert (loss.plan.duration_days, loss.plan.sample_size) == (7, 41)
    assert (loss.rank.wishes, loss.rank.loss) == (1, 2)
    assert reasons(loss)["duration_days"] == "'Watching' should be at least 7."


def test_wish_for_evidence_beyond_the_target_is_kept() -> None:
    loss = least_loss(MEETS, lab(wish(0.9, "evidence", label="Power"), budget=2000.0))
    assert _power(27, 27) >= 0.9 > _power(27, 26)
    assert loss.plan.sample_size == 54
    assert reasons(loss) == {"sample_size": "'Power' should be at least 0.9."}


def _power(first: int, second: int) -> float:
    """Return the power of the t-test of two groups at d = 0.9 and alpha 0.05, by scipy."""
    freedom, shift = first + second - 2, 0.9 * sqrt(first * second / (first + second))
    bound = stats.t.ppf(0.975, freedom)
    return float(stats.nct.sf(bound, freedom, shift) + stats.nct.cdf(-bound, freedom, shift))


FREE: Final = {
    "cost_model": CostModel(per_sample=0, per_day=0),
    "days": 10**9,
    "budget": 1e6,
    "staff": 9,
}
HARD: Final = wish(2 * LARGEST_PLANNED, key="hard", hard=True)


@pytest.mark.parametrize(
    ("wishes", "broken"),
    [
        ([wish(0)], 0),
        ([wish(0, comparator="<=")], 1),
        ([wish(0, comparator="=")], 1),
        ([wish(0, "days", "<=")], 1),
        ([wish(LARGEST_PLANNED)], 0),
        ([wish(LARGEST_PLANNED + 1)], 1),
        ([wish(10**9)], 1),
        ([wish(10**9, comparator="<=")], 0),
        ([wish(10**9, "samples_per_condition", conditions=1000)], 1),
        ([wish(LARGEST_PLANNED, "days")], 0),
        ([wish(10**9, "days")], 1),
        ([wish(0.0, "evidence")], 0),
        ([wish(1.0, "evidence")], 0),
        ([wish(1.5, "evidence")], 1),
        ([wish(-3.0, "evidence")], 0),
        ([wish(50), wish(45, comparator="<=", key="few")], 1),
        ([wish(50, comparator="="), wish(60, comparator="=", key="b"), wish(5, key="c")], 1),
        ([wish(3 * LARGEST_PLANNED // 2), HARD], 0),
        ([wish(3 * LARGEST_PLANNED // 2, comparator="<="), HARD], 1),
    ],
)
def test_wishes_at_their_ends(wishes: list[ScenarioConstraint], broken: int) -> None:
    loss = least_loss(MEETS, lab(*wishes, **FREE))
    assert loss.after.feasible
    assert loss.rank == rank(loss.after, MEETS)
    assert loss.rank.wishes == broken
    assert loss.rank.given_up[:5] == (0, 0, 0, broken, 0)
    assert loss.plan.sample_size <= (2 if HARD in wishes else 1) * LARGEST_PLANNED
    assert loss.plan.duration_days <= LARGEST_PLANNED
