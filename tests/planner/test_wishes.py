"""What the study wishes counts after the evidence tier and before fidelity; and at its ends."""

from __future__ import annotations

from math import sqrt
from random import Random
from typing import Any, Final

import pytest
from replicalab.planner.wishes import Wishes
from scipy import stats

from replicalab.assessment import Counts, assess
from replicalab.models import LARGEST_PLANNED, Protocol
from replicalab.planner import LeastLoss, PlanAnalysis, least_loss, rank
from replicalab.planner.limits import CountLimits, EvidenceCurve, most_counted
from replicalab.scenarios import Bounds, CostModel, Pack, ScenarioConstraint
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    make_constraint,
    make_control,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
    make_throughput,
)
from tests.tiers import batches

SIZE: Final = 100
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
    """Return a lab with 25 credits more than the plan takes, where one control may go."""
    controls = [make_control(name=name, droppable=name == CONTROLS[1]) for name in CONTROLS]
    means: dict[str, Any] = {"budget": 1085.0, "days": 30, "min_days": 5, "controls": controls}
    return make_pack(**{**means, "constraints": [*wishes], **changes})


def reasons(found: LeastLoss) -> dict[str, str]:
    return {change.field: change.reason for change in found.changes}


def test_wish_for_days_is_kept_where_the_lab_has_the_means() -> None:
    watch = wish(9, "days", label="Watching", unit="days")
    assert least_loss(MEETS, lab(budget=2000.0)).plan == MEETS
    found = least_loss(MEETS, lab(watch, budget=2000.0))
    assert (found.plan.duration_days, found.plan.sample_size) == (9, 41)
    assert found.rank.wishes == 0
    assert reasons(found) == {"duration_days": "'Watching' should be at least 9 days."}


def test_tier_of_evidence_comes_before_a_wish() -> None:
    found = least_loss(MEETS, lab(wish(9, "days")))  # would cost 20 of the samples
    assert found.plan == MEETS
    assert (found.rank.tier, found.rank.wishes) == (0, 1)


def test_control_goes_for_a_wish_and_the_reason_says_so() -> None:
    found = least_loss(MEETS, lab(wish(44)))  # 30 credits more, of which the control brings 25
    assert (found.plan.sample_size, found.plan.controls) == (44, [CONTROLS[0]])
    assert (found.rank.wishes, found.rank.loss) == (0, 1)
    assert reasons(found) == {
        "controls": "No revision that passes all seven dimensions, reaches the study's target and "
        "loses less fidelity keeps 'Trays', which should be at least 44.",
        "sample_size": "'Trays' should be at least 44.",
    }


def test_control_that_is_fixed_stays_whatever_is_wished() -> None:
    fixed = [make_control(name=name, droppable=False) for name in CONTROLS]
    found = least_loss(MEETS, lab(wish(44), controls=fixed))
    assert (found.plan, found.rank.wishes) == (MEETS, 1)


def test_item_gives_way_to_a_cheaper_one_for_several_wishes_and_the_reason_says_so() -> None:
    swap = make_substitution(original=CHAMBER, alternative="fan", fidelity_loss=2)
    fixed = [make_control(name=name, droppable=False) for name in CONTROLS]
    wishes = wish(60), wish(7, "days", key="days", label="Watching")
    own = {"allowed_substitutions": [swap], "prices": {"fan": 1.0}, "controls": fixed}
    found = least_loss(MEETS, lab(*wishes, **own))
    # The fan saves 99 credits: enough for two days, or for twelve trays, so for one wish of two.
    assert (found.plan.duration_days, found.plan.sample_size) == (7, 41)
    assert (found.rank.wishes, found.rank.loss) == (1, 2)
    told = reasons(found)
    assert told["required_equipment"].endswith(
        " No revision that passes all seven dimensions, reaches the study's target and loses less "
        "fidelity breaks so few of the study's wishes."
    )
    assert told["duration_days"] == "'Watching' should be at least 7."


def test_fewer_samples_are_planned_for_a_wish_as_long_as_the_tier_stays() -> None:
    found = least_loss(make_protocol(sample_size=60), lab(wish(45, comparator="<="), budget=2000.0))
    assert found.plan.sample_size == 41
    assert reasons(found) == {
        "sample_size": "'Trays' should be at most 45. It takes 41 samples to reach the study's "
        "target."
    }


def test_wish_for_evidence_beyond_the_target_is_kept() -> None:
    found = least_loss(MEETS, lab(wish(0.9, "evidence", label="Power"), budget=2000.0))
    assert _power(27, 27) >= 0.9 > _power(27, 26)
    assert found.plan.sample_size == 54
    assert reasons(found) == {"sample_size": "'Power' should be at least 0.9; it takes 54 samples."}


def _power(first: int, second: int) -> float:
    """Return the power of the t-test of two groups at d = 0.9 and alpha 0.05, by scipy."""
    freedom, shift = first + second - 2, 0.9 * sqrt(first * second / (first + second))
    bound = stats.t.ppf(0.975, freedom)
    return float(stats.nct.sf(bound, freedom, shift) + stats.nct.cdf(-bound, freedom, shift))


@pytest.mark.parametrize("first", batches(SIZE, short=1, long=10))
def test_boxes_hold_every_plan_that_breaks_so_few_wishes(first: int) -> None:
    for seed in range(first, first + SIZE):
        rng = Random(seed)
        wishes, limits, counts = few(rng)
        low = rng.randint(0, 6)
        levels = wishes.levels(1.0)
        plans = fitting(wishes, limits, counts, low)
        if not plans:
            continue
        fewest = min(broken for *_, broken in plans)
        assert wishes.fewest_broken(limits, counts, low, levels) == fewest, seed
        for most in range(len(wishes.all) + 1):
            held = set[tuple[int, int, int, int]]()
            for box, needed in wishes.boxes(limits, counts, low, levels, most):
                (least_n, most_n), (least_d, most_d) = box
                inside = {
                    plan
                    for plan in plans
                    if least_n <= plan[0] <= most_n and least_d <= plan[1] <= most_d
                    if plan[2] >= needed
                }
                assert inside, seed
                assert needed in {low, *levels}, seed
                held |= inside
            assert held == {plan for plan in plans if plan[3] <= most}, seed


def test_box_around_a_plan_ends_where_other_wishes_are_broken() -> None:
    for seed in range(SIZE):
        rng = Random(seed)
        wishes, *_ = few(rng)
        pack = wishes.plan.pack
        samples, days = rng.randint(1, 12), rng.randint(1, 8)
        plan = assess(make_protocol(sample_size=samples, duration_days=days), pack)
        box = wishes.around(plan)
        for number, at, (least, most) in (
            (Bounds.SAMPLES, samples, box.samples),
            (Bounds.DAYS, days, box.days),
        ):
            on = [wish for wish in wishes.all if wish.number is number]
            broken = [sum(not wish.allows(n) for wish in on) for n in range(20)]
            for n in range(20):
                alike = {*broken[min(n, at) : max(n, at) + 1]} == {broken[at]}
                assert (least <= n <= most) == alike, seed


def few(rng: Random) -> tuple[Wishes, CountLimits, Counts]:
    """Return some wishes in a lab of a few samples and days, where six meet the target."""
    asked = {
        "samples": range(12), "samples_per_condition": range(6), "days": range(8),
        "evidence": (0.0, 0.4, 0.6, 0.8, 1.5),
    }  # fmt: skip
    stated = []
    for number in range(rng.randint(0, 4)):
        bounds = rng.choice([*asked])
        comparator = ">=" if bounds == "evidence" else rng.choice([">=", ">=", "<=", "="])
        halves = {"conditions": 2} if bounds == "samples_per_condition" else {}
        quantity = rng.choice(asked[bounds])
        stated.append(wish(quantity, bounds, comparator, key=f"wish_{number}", **halves))
    free = {"per_control": 0, "per_equipment_item": 0, "per_reagent": 0}
    rate = rng.choice([None, 1, 2, 3])
    pack = make_pack(
        constraints=stated,
        design=make_design(effect_planning=3.0, population_max=rng.choice([None, None, 5])),
        cost_model=CostModel(per_sample=1, per_day=2, **free),
        samples_per_day=make_throughput(value=rate) if rate else None,
        min_days=rng.randint(1, 3),
        budget=float(rng.randint(6, 24)),
        days=7,
    )
    plan = assess(make_protocol(controls=CONTROLS[: rng.randint(0, 2)]), pack)
    worth = EvidenceCurve(pack, LARGEST_PLANNED)
    return Wishes(plan, worth), CountLimits(pack), plan.counts


def fitting(
    wishes: Wishes, limits: CountLimits, counts: Counts, low: int
) -> set[tuple[int, int, int, int]]:
    """Return samples, days, how many count and wishes broken of each plan that fits."""
    found = set[tuple[int, int, int, int]]()
    for samples in range(limits.fewest_samples(counts.controls), 24):
        for days in range(1, 9):
            able = min(samples, most_counted(days, limits.pack))
            if able >= low and limits.allows(counts._replace(samples=samples, days=days)):
                numbers = {
                    Bounds.SAMPLES: samples,
                    Bounds.DAYS: days,
                    Bounds.EVIDENCE: wishes.worth.value(able, 1.0),
                }
                broken = sum(not each.allows(numbers[each.number]) for each in wishes.all)
                found.add((samples, days, able, broken))
    return found


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
def test_wishes_at_their_ends_are_kept_or_broken_and_nothing_else_is_planned_for_them(
    wishes: list[ScenarioConstraint], broken: int
) -> None:
    found = least_loss(MEETS, lab(*wishes, **FREE))
    assert found.after.feasible
    assert found.rank == rank(found.after, MEETS)
    assert found.rank.wishes == broken
    assert found.rank.given_up == (0, 0, broken, 0, 0.0)
    assert found.plan.sample_size <= (2 if HARD in wishes else 1) * LARGEST_PLANNED
    assert found.plan.duration_days <= LARGEST_PLANNED


def test_more_than_can_be_planned_is_planned_for_a_wish_where_the_plan_has_more_still() -> None:
    wished, planned = 1_200_000, 3_000_000
    for number, bounds, price in (
        ("sample_size", "samples", "per_sample"),
        ("duration_days", "days", "per_day"),
    ):
        costs = CostModel(**{"per_sample": 0, "per_day": 0, price: 1})
        pack = lab(wish(wished, bounds), **{**FREE, "cost_model": costs, "budget": 1.5e6})
        found = least_loss(make_protocol(**{"sample_size": 41, number: planned}), pack)
        assert found.rank.wishes == 0
        assert wished <= getattr(found.plan, number) <= 1_500_000


def test_wish_that_bounds_nothing_changes_nothing() -> None:
    stated = make_constraint(bounds=None, quantity=9, hard=False)
    assert least_loss(MEETS, lab(stated)).plan == MEETS


def test_more_means_buy_a_wish_and_its_limit_binds() -> None:
    options = PlanAnalysis(assess(MEETS, lab(wish(9, "days"), budget=1085.0)))
    assert options.binding == "budget"
    [extra] = options.extras
    # 4 days are 200 credits; of these 25 are left over, and 25 come of the control.
    assert (extra.ask.dimension, extra.ask.more) == ("budget", 150)
    assert (extra.after.rank.wishes, extra.after.rank.loss) == (0, 1)


def test_later_start_that_breaks_a_wish_buys_nothing() -> None:
    swap = make_substitution(original=CHAMBER, alternative=METER, fidelity_loss=1)
    plan: Protocol = make_protocol(sample_size=41, required_equipment=[CHAMBER])
    own = {"allowed_substitutions": [swap], "booked": {CHAMBER: 10}, "budget": 2000.0}
    for days, starts in ((16, []), (21, [11])):
        found = PlanAnalysis(assess(plan, lab(wish(9, "days"), **{**own, "days": days})))
        assert [wait.start_day for wait in found.asks.waits] == starts
        assert found.least.rank.wishes == 0
