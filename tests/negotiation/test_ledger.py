"""The ledger: who gave what, worked out by hand. A month costs 10 credits and a day 50."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import assess
from replicalab.models import Protocol, Role, revise
from replicalab.negotiation import Gift, LabManagerKind, ScientistKind, ledger
from replicalab.planner import PlanStep
from replicalab.scenarios import Pack, load_scenario
from tests.factories import make_protocol
from tests.negotiation.playing import (
    BOOKED,
    OFFER,
    OPEN,
    PLAN,
    SHORT,
    ask,
    by_person,
    by_rule,
    propose,
    revise_to,
)
from tests.strategies import itemised_protocols, studied_packs

SCIENTIST, MANAGER = Role.SCIENTIST, Role.LAB_MANAGER

# (round from 1, who, samples and days after, credits saved, power after, saved in all, gives)
#  plans:  300/8 = 3850 · 150/7 = 2300 · 75/6 = 1500 · 37/5 = 1070 · the offer of round 4, 37/5
#  offers: 150/6 = 2250 · the same · 75/6 = 1500 · 37/5 = 1070, accepted
MOMENTUM: Final = [
    (2, SCIENTIST, (150, 7), 1550, "0.58", 1550, True),
    (3, SCIENTIST, (75, 6), 800, "0.33", 2350, True),
    (3, MANAGER, (75, 6), 750, "0.33", 750, False),
    (4, SCIENTIST, (37, 5), 430, "0.18", 2780, True),
    (4, MANAGER, (37, 5), 430, "0.18", 1180, False),
    (5, SCIENTIST, (37, 5), 0, "0.18", 2780, False),
]
"""The extract of the same data loses no fidelity: the last step gives nothing."""


def step(before: Protocol, after: Protocol, pack: Pack = OPEN) -> PlanStep:
    return PlanStep(assess(before, pack), assess(after, pack))


def test_ledger_of_a_medium_lab_by_hand() -> None:
    pack = load_scenario("fin_momentum", "medium")
    gifts = ledger(by_rule(pack, pack.reference_protocol))
    found = [
        (
            gift.round_number + 1,
            gift.who,
            (gift.step.after.counts.samples, gift.step.after.counts.days),
            gift.step.credits_saved,
            gift.step.after.evidence.text.removeprefix("power "),
            gift.total.credits_saved,
            gift.gives,
        )
        for gift in gifts
    ]
    assert found == MOMENTUM
    assert gifts[-1].step.fields == [
        (
            "required_equipment",
            ("licensed-data terminal",),
            ("vendor-approved extract on the research server",),
        )
    ]


def test_ledger_of_a_scientist_that_comes_back_with_a_stronger_plan() -> None:
    # 300 months in 8 days cost 3850 and 195 in 4 days 2600; the offer in between was 2250.
    pack = load_scenario("fin_momentum", "medium")
    scientist, manager = ledger(
        by_rule(pack, pack.reference_protocol, scientist=ScientistKind.EVIDENCE_AWARE)
    )
    assert (scientist.who, scientist.step.credits_saved, scientist.gives) == (SCIENTIST, 1250, True)
    assert (manager.who, manager.step.credits_saved, manager.gives) == (MANAGER, -350, True)


def test_ledger_is_empty_where_the_first_plan_is_accepted() -> None:
    assert ledger(by_rule(OPEN, PLAN)) == []
    assert ledger(by_person(OPEN)) == []


def test_ledger_passes_over_questions_and_walking_away() -> None:
    # The chamber gives way to the shelf at the same price: fidelity is what is given up.
    actions = (ask("The budget?"), propose(PLAN), ask("The days?"), revise_to(OFFER))
    [gift] = ledger(by_person(BOOKED, *actions))
    assert (gift.round_number, gift.who, gift.gives) == (3, SCIENTIST, True)
    assert gift.step.credits_saved == 0
    assert gift.step.after.fidelity_loss > gift.step.before.fidelity_loss
    assert ledger(by_person(BOOKED, *actions[:3], None)) == []


@pytest.mark.parametrize(
    ("after", "gives"),
    [
        (make_protocol(sample_size=30), True),
        (make_protocol(sample_size=50), False),
        (make_protocol(duration_days=6), False),
        (SHORT, True),
        (make_protocol(controls=["dark control"], sample_size=60), True),
    ],
    ids=["fewer samples", "more samples", "another day", "endpoint lost", "a control dropped"],
)
def test_scientist_gives_credits_evidence_or_fidelity(after: Protocol, gives: bool) -> None:
    found = step(PLAN, after)
    assert Gift(1, SCIENTIST, found, found).gives is gives


def test_wider_half_width_is_a_gift_though_it_is_the_larger_number() -> None:
    pack = load_scenario("phys_millikan", "easy")
    plan = pack.reference_protocol
    # Each drop less is ten credits less, which three more days use up.
    fewer = revise(plan, sample_size=plan.sample_size - 15, duration_days=plan.duration_days + 3)
    weaker, stronger = step(plan, fewer, pack), step(fewer, plan, pack)
    assert weaker.credits_saved == 0
    assert Gift(1, SCIENTIST, weaker, weaker).gives
    assert not Gift(1, SCIENTIST, stronger, stronger).gives


def test_lab_manager_gives_where_it_spends_more() -> None:
    dearer = step(make_protocol(sample_size=30), PLAN)
    cheaper = step(PLAN, make_protocol(sample_size=30))
    assert Gift(1, MANAGER, dearer, dearer).gives
    assert not Gift(1, MANAGER, cheaper, cheaper).gives


@given(studied_packs(), itemised_protocols(), st.sampled_from(LabManagerKind))
def test_steps_of_each_side_add_up_to_its_total(
    pack: Pack, plan: Protocol, manager: LabManagerKind
) -> None:
    opening = plan if plan.sample_size else None
    gifts = ledger(by_rule(pack, opening, lab_manager=manager))
    for who in (SCIENTIST, MANAGER):
        own = [gift for gift in gifts if gift.who is who]
        saved = sum(gift.step.credits_saved for gift in own)
        assert not own or own[-1].total.credits_saved == pytest.approx(saved)
        assert all(one.step.after is other.step.before for one, other in pairwise(own))
    numbers = [gift.round_number for gift in gifts]
    assert numbers == sorted(numbers)
