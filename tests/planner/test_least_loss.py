"""The plan that gives up the least: held against every plan of thousands of small labs."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from replicalab.assessment import assess
from replicalab.assessment.dimensions import apply_changes
from replicalab.models import Dimension, Protocol
from replicalab.planner import PlanAnalysis, least_loss, least_loss_offer, rank
from replicalab.scenarios import CostModel, Pack, StaffModel
from tests.factories import CONTROLS, EQUIPMENT, make_design, make_pack, make_protocol
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
def test_least_loss_proofs_match_trying_every_plan(first: int) -> None:
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


def test_planned_samples_beyond_a_million_are_searched() -> None:
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


# --- its changes ------------------------------------------------------------------------------


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
def test_least_loss_is_repeatable_and_beats_the_offer(plan: Protocol, pack: Pack) -> None:
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


def test_least_loss_drops_copies_before_controls() -> None:
    plan = make_protocol(controls=[*CONTROLS, CONTROLS[1].upper()], duration_days=5)
    pack = make_pack(staff=2)  # 1, and 1 for more than 20 samples; a third control adds 1
    loss = least_loss(plan, pack)
    assert loss.plan.controls == [CONTROLS[0], CONTROLS[1].upper()]
    assert [change.tradeoff for change in loss.changes if change.field == "controls"] == [
        "Nothing; the control is still in the plan."
    ]
    assert loss.rank.loss == 0


# --- the fact sheet ---------------------------------------------------------------------------
