"""The ledger: who gave what, worked out by hand. A month costs 10 credits and a day 50."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import assess
from replicalab.models import Protocol, Role, revise
from replicalab.negotiation import Concession, LabManagerKind, Negotiation, ScientistKind, ledger
from replicalab.planner import PlanStep
from replicalab.scenarios import Pack, load_scenario
from tests.factories import make_protocol
from tests.negotiation.playing import (
    BOOKED,
    MEDIUM,
    OFFER,
    OPEN,
    PLAN,
    RULED,
    SHORT,
    ask,
    by_person,
    by_rule,
    propose,
    revise_to,
)
from tests.strategies import openings, studied_packs

SCIENTIST, MANAGER = Role.SCIENTIST, Role.LAB_MANAGER
MILLIKAN: Final = load_scenario("phys_millikan", "easy")
DROPS: Final = MILLIKAN.reference_protocol
FEWER_DROPS: Final = revise(
    DROPS, sample_size=DROPS.sample_size - 15, duration_days=DROPS.duration_days + 3
)
"""Each drop less is ten credits less, which three more days use up; the half-width is wider."""


def test_ledger_of_a_medium_lab_by_hand() -> None:
    concessions = ledger(RULED)
    found = [
        (
            concession.round_number + 1,
            concession.who,
            (concession.step.after.counts.samples, concession.step.after.counts.days),
            concession.step.credits_saved,
            concession.step.after.evidence.text.removeprefix("power "),
            concession.total.credits_saved,
            concession.gives,
        )
        for concession in concessions
    ]
    # (round, who, samples and days after, credits saved, power after, saved in all, gives)
    #  plans:  420/8 = 5050 · 210/7 = 2900 · 105/6 = 1800 · 52/5 = 1220 · the offer of round 4
    #  offers: 210/6 = 2850 · the same · 105/6 = 1800 · 52/5 = 1220, accepted
    assert found == [
        (2, SCIENTIST, (210, 7), 2150, "0.47", 2150, True),
        (3, SCIENTIST, (105, 6), 1100, "0.26", 3250, True),
        (3, MANAGER, (105, 6), 1050, "0.26", 1050, False),
        (4, SCIENTIST, (52, 5), 580, "0.15", 3830, True),
        (4, MANAGER, (52, 5), 580, "0.15", 1630, False),
        (5, SCIENTIST, (52, 5), 0, "0.15", 3830, False),
    ]
    # The extract of the same data loses no fidelity: the last step gives nothing.
    items = ("licensed-data terminal",), ("vendor-approved extract on the research server",)
    assert concessions[-1].step.fields == [("required_equipment", *items)]


def test_ledger_of_a_scientist_that_comes_back_with_a_stronger_plan() -> None:
    # 420 months in 8 days cost 5050 and 300 in 5 days 3700; the offer in between was 2850.
    scientist, manager = ledger(
        by_rule(MEDIUM, MEDIUM.reference_protocol, scientist=ScientistKind.EVIDENCE_AWARE)
    )
    assert (scientist.who, scientist.step.credits_saved, scientist.gives) == (SCIENTIST, 1350, True)
    assert (manager.who, manager.step.credits_saved, manager.gives) == (MANAGER, -850, True)


def test_ledger_passes_over_questions_and_walking_away() -> None:
    # The chamber gives way to the shelf at the same price: fidelity is what is given up.
    actions = (ask("The budget?"), propose(PLAN), ask("The days?"), revise_to(OFFER))
    [concession] = ledger(by_person(BOOKED, *actions))
    assert (concession.round_number, concession.who, concession.gives) == (3, SCIENTIST, True)
    assert concession.step.credits_saved == 0
    assert concession.step.after.fidelity_loss > concession.step.before.fidelity_loss
    assert ledger(by_person(BOOKED, *actions[:3], None)) == ledger(by_rule(OPEN, PLAN)) == []


@pytest.mark.parametrize(
    ("who", "pack", "before", "after", "gives"),
    [
        (SCIENTIST, OPEN, PLAN, make_protocol(sample_size=30), True),
        (SCIENTIST, OPEN, PLAN, make_protocol(sample_size=50), False),
        (SCIENTIST, OPEN, PLAN, make_protocol(duration_days=6), False),
        (SCIENTIST, OPEN, PLAN, SHORT, True),  # the endpoint is lost
        (SCIENTIST, OPEN, PLAN, make_protocol(controls=["dark control"], sample_size=60), True),
        (SCIENTIST, MILLIKAN, DROPS, FEWER_DROPS, True),  # a larger number is weaker
        (SCIENTIST, MILLIKAN, FEWER_DROPS, DROPS, False),
        (MANAGER, OPEN, make_protocol(sample_size=30), PLAN, True),
        (MANAGER, OPEN, PLAN, make_protocol(sample_size=30), False),
    ],
)
def test_scientist_gives_credits_evidence_or_fidelity_and_the_lab_manager_spends_more(
    who: Role, pack: Pack, before: Protocol, after: Protocol, gives: bool
) -> None:
    step = PlanStep(assess(before, pack), assess(after, pack))
    assert pack is OPEN or step.credits_saved == 0
    assert Concession(1, who, step, step).gives is gives


def test_step_that_moves_no_amount_does_not_count() -> None:
    for changes, counts in (({"sample_size": 41}, True), ({"rationale": "Other."}, False)):
        step = PlanStep(assess(PLAN, OPEN), assess(revise(PLAN, **changes), OPEN))
        assert Concession(1, SCIENTIST, step, step).counts is counts


def assert_adds_up(negotiation: Negotiation) -> None:
    concessions = ledger(negotiation)
    for who in (SCIENTIST, MANAGER):
        own = [concession for concession in concessions if concession.who is who]
        saved = sum(concession.step.credits_saved for concession in own)
        assert not own or own[-1].total.credits_saved == pytest.approx(saved)
        assert all(one.step.after is other.step.before for one, other in pairwise(own))
    numbers = [concession.round_number for concession in concessions]
    assert numbers == sorted(numbers)


def test_steps_join_where_the_same_offer_was_made_to_two_plans() -> None:
    # 150 months in 6 days are offered for both the second and the third plan.
    sizes = ((75, 6), (300, 8), (150, 7), (60, 6))
    plans = [revise(MEDIUM.reference_protocol, sample_size=n, duration_days=d) for n, d in sizes]
    negotiation = by_person(MEDIUM, propose(plans[0]), *map(revise_to, plans[1:]))
    assert [g.round_number for g in ledger(negotiation) if g.who is MANAGER] == [1, 3]
    assert_adds_up(negotiation)


@given(studied_packs(), openings(), st.sampled_from(LabManagerKind))
def test_steps_of_each_side_add_up_to_its_total(
    pack: Pack, opening: Protocol | None, manager: LabManagerKind
) -> None:
    assert_adds_up(by_rule(pack, opening, lab_manager=manager))
