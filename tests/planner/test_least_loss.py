"""The plan that gives up the least: held against every plan of thousands of small labs."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from replicalab.assessment import assess
from replicalab.assessment.dimensions import apply_changes
from replicalab.models import Dimension, Protocol
from replicalab.planner import PlanAnalysis, least_loss, least_loss_offer, rank
from replicalab.scenarios import CostModel, Difficulty, Pack, StaffModel, load_scenario
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    make_constraint,
    make_design,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
from tests.planner.brute_force import ranked, tried
from tests.planner.small_labs import opened, small_lab
from tests.strategies import itemised_protocols, studied_packs
from tests.tiers import batches

BATCH: Final = 125
BATCHES: Final = pytest.mark.parametrize("first", batches(BATCH, short=1, long=7))
FEW: Final = range(100)
"""The small labs where a test only looks at the plan that was found."""

CHAMBER, METER = EQUIPMENT


# --- brute force ------------------------------------------------------------------------------


@BATCHES
def test_least_loss_proves_no_more_than_every_plan_tried_shows(first: int) -> None:
    in_vain = swayed = 0
    for seed in range(first, first + BATCH):
        plan, pack = small_lab(seed)
        options = PlanAnalysis(assess(plan, pack))
        loss, every = options.least, list(tried(plan, pack))
        theirs = [ranked(item, plan) for item in (options.yours, options.offered)]
        places = [*theirs, *(entry.rank for entry in every)]
        best = min(places)
        regardless = min(place[:3] + place[4:] for place in places)
        swayed += best[:3] + best[4:] > regardless
        in_vain += loss.plan.sample_size > loss.after.evidence.able
        passing = {entry.tier for entry in every if not entry.failing}
        if not passing and loss.after.feasible:
            # The plan or the suggestion, in fewer days than the endpoint needs.
            assert loss.plan.duration_days < pack.min_days <= pack.lab.days_left
            continue
        proven = loss.none_feasible, loss.none_above_floor
        assert (seed, *proven) == (seed, not passing, not passing - {2})
    assert in_vain > 5
    assert swayed > BATCH / 25  # so often the plan would be another if no wish counted


def test_more_samples_are_looked_at_than_people_can_plan_where_as_many_are_planned() -> None:
    # Two groups, d = 0.0045: 4 x (1.95996 + 0.84162)^2 / 0.0045^2 = 1,550,352 in all.
    # The lab affords 1,600,000; the power of a million is the normal's share below 2.25 - 1.95996.
    pack = make_pack(
        design=make_design(effect_planning=0.0045),
        cost_model=CostModel(per_sample=0.001),
        staff_model=StaffModel(sample_threshold=10**7),
        samples_per_day=None,
        budget=2250.0,
    )
    losses = {
        planned: least_loss(make_protocol(sample_size=planned), pack)
        for planned in (10**6, 2 * 10**6)
    }
    assert [loss.rank.tier for loss in losses.values()] == [1, 0]


def test_what_is_left_of_the_effect_is_worth_nothing_where_the_endpoint_is_lost() -> None:
    # In days enough the shelf would find 0.4 of the errors, and the fan, which is cheaper, 0.24.
    swaps = [
        make_substitution(original=CHAMBER, alternative=name, fidelity_loss=1, evidence_factor=rest)
        for name, rest in (("shelf", 1.0), ("fan", 0.6))
    ]
    pack = make_pack(
        design=make_design(kind="audit", effect_planning=0.4),
        allowed_substitutions=swaps,
        booked={CHAMBER: 9},
        prices={"shelf": 500.0, "fan": 10.0},
        min_days=9,
        days=5,
    )
    loss = least_loss(make_protocol(), pack)
    assert loss.after.evidence.void_reason
    assert loss.plan.required_equipment == ["fan", METER]


def test_control_goes_where_neither_the_endpoint_nor_a_bound_on_the_days_can_be_kept() -> None:
    long = make_constraint(key="long", bounds="days", comparator=">=", quantity=4)
    yours = assess(make_protocol(sample_size=1, duration_days=1), make_pack())
    lab = {"budget": yours.cost - 25, "days": 1, "min_days": 3}  # a control costs 25
    loss = least_loss(yours.plan, make_pack(constraints=[long], **lab))
    assert loss.after.failing == [Dimension.PROTOCOL]
    assert loss.plan.controls == [CONTROLS[0]]


# --- its changes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"forbidden_phrases": [CHAMBER]}, f"A restriction forbids '{CHAMBER}'; allowed"),
        ({}, "With 'fan' less of the study is given up; allowed"),
    ],
)
def test_an_item_that_the_lab_has_gives_way_for_a_reason(
    rule: dict[str, object], reason: str
) -> None:
    swaps = [
        make_substitution(original="lost", alternative=CHAMBER, fidelity_loss=3),
        make_substitution(original=CHAMBER, alternative="fan", fidelity_loss=1),
    ]
    pack = make_pack(allowed_substitutions=swaps, policy_rules=[make_policy_rule(**rule)])
    change = least_loss(make_protocol(required_equipment=[CHAMBER]), pack).changes[0]
    assert (change.original, change.revised) == (CHAMBER, "fan")
    assert change.reason.startswith(reason)


def test_small_labs_bite_in_every_way() -> None:
    losses = [opened(seed).least for seed in FEW]
    fields = {change.field for loss in losses for change in loss.changes}
    assert fields == {
        "controls", "required_equipment", "required_reagents", "duration_days", "sample_size",
    }  # fmt: skip
    assert {d for loss in losses for d in loss.after.failing} >= set(Dimension) - {
        Dimension.SCHEDULE
    }
    assert {loss.rank.tier for loss in losses} == {0, 1, 2}
    claims = {(loss.none_feasible, loss.none_above_floor) for loss in losses}
    assert claims == {(False, False), (False, True), (True, True)}


@given(itemised_protocols(), studied_packs())
def test_least_loss_of_any_plan_is_repeatable_and_no_worse_than_the_lab_managers_offer(
    plan: Protocol, pack: Pack
) -> None:
    before, options = (plan.model_dump(), pack.model_dump()), PlanAnalysis(assess(plan, pack))
    yours, loss = options.yours, options.least
    assert least_loss(plan, pack) == loss
    assert (plan.model_dump(), pack.model_dump()) == before
    assert loss.rank <= min(rank(yours, plan), rank(options.offered, plan))
    assert loss.rank == rank(loss.after, plan)
    assert apply_changes(plan, list(loss.changes)) == loss.plan
    offer = least_loss_offer(yours, loss)
    assert (offer is None) == yours.feasible
    if offer is not None:
        assert (offer.after, offer.changes) == (loss.after, loss.changes)
        assert offer.improved == (set(loss.after.failing) < set(yours.failing))


def test_least_loss_drops_one_of_two_copies_before_a_control() -> None:
    plan = make_protocol(controls=[*CONTROLS, CONTROLS[1].upper()], duration_days=5)
    pack = make_pack(staff=2)  # 1, and 1 for more than 20 samples; a third control adds 1
    loss = least_loss(plan, pack)
    assert loss.plan.controls == [CONTROLS[0], CONTROLS[1].upper()]
    assert [change.tradeoff for change in loss.changes if change.field == "controls"] == [
        "Nothing; the control is still in the plan."
    ]
    assert loss.rank.loss == 0


# --- the fact sheet ---------------------------------------------------------------------------


def test_least_loss_proves_that_nothing_opens_the_suzuki_lab() -> None:
    pack = load_scenario("chem_suzuki_ppb", Difficulty.HARD)
    loss = least_loss(pack.reference_protocol, pack)
    assert loss.none_feasible
    assert loss.after.check.failing == [Dimension.PROTOCOL, Dimension.REAGENTS]
