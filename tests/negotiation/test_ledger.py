"""The ledger: who gave what, worked out by hand. A month costs 10 credits and a day 50."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.concessions import plan_concession
from replicalab.models import Protocol, Role, revise
from replicalab.negotiation import (
    Gift,
    LabManagerKind,
    ScientistKind,
    begin,
    ledger,
    negotiate,
    play_action,
    setup_for,
)
from replicalab.scenarios import Pack, load_scenario
from tests.factories import make_protocol
from tests.negotiation.playing import BOOKED, OFFER, OPEN, PLAN, SHORT, ask, propose, revise_to
from tests.strategies import itemised_protocols, studied_packs

SCIENTIST, MANAGER = Role.SCIENTIST, Role.LAB_MANAGER

# (round from 1, who, what changes, credits saved, evidence, saved in all, evidence in all, gives)
#  plans:  300/8 = 3850 · 150/7 = 2300 · 75/6 = 1500 · 37/5 = 1070 · the offer of round 4, 37/5
#  offers: 150/6 = 2250 · the same · 75/6 = 1500 · 37/5 = 1070, accepted
MOMENTUM: Final = [
    (2, SCIENTIST, "300; 8 days → 150; 7 days", 1550, "0.86 → 0.58", 1550, "0.86 → 0.58", True),
    (3, SCIENTIST, "150; 7 days → 75; 6 days", 800, "0.58 → 0.33", 2350, "0.86 → 0.33", True),
    (3, MANAGER, "150 → 75", 750, "0.58 → 0.33", 750, "0.58 → 0.33", False),
    (4, SCIENTIST, "75; 6 days → 37; 5 days", 430, "0.33 → 0.18", 2780, "0.86 → 0.18", True),
    (4, MANAGER, "75; 6 days → 37; 5 days", 430, "0.33 → 0.18", 1180, "0.58 → 0.18", False),
    (
        5,
        SCIENTIST,
        "licensed-data terminal → vendor-approved extract on the research server",
        0,
        "0.18, unchanged",
        2780,
        "0.86 → 0.18",
        False,
    ),
]
"""The extract of the same data loses no fidelity: the last step gives nothing."""
# The published plan in 36 days costs 2890, 22 days of the same 2190: 14 days of 50 credits. The
# reference Lab Manager had offered 12 in 28 days for 2370: it is asked for 180 less.
JQ1: Final = [
    (
        2,
        SCIENTIST,
        "36 days; bioluminescence imager → 22 days; endpoint flow cytometry of marrow",
        700,
        "0.802 → 0.67",
        700,
        "0.802 → 0.67",
        True,
    ),
    (2, MANAGER, "12; 28 days → 24; 22 days", 180, "0.36 → 0.67", 180, "0.36 → 0.67", False),
]


def line(gift: Gift) -> tuple[int, Role, str, float, str, float, str, bool]:
    return (
        gift.round_number + 1,
        gift.who,
        f"{gift.step.before} → {gift.step.after}",
        gift.step.credits_saved,
        gift.step.evidence_text.removeprefix("power "),
        gift.total.credits_saved,
        gift.total.evidence_text.removeprefix("power "),
        gift.gives,
    )


@pytest.mark.parametrize(
    ("study", "scientist", "expected"),
    [
        ("fin_momentum", ScientistKind.BASELINE, MOMENTUM),
        ("bio_jq1_myeloma", ScientistKind.EVIDENCE_AWARE, JQ1),
    ],
)
def test_ledger_of_a_medium_lab_by_hand(
    study: str, scientist: ScientistKind, expected: list[tuple[object, ...]]
) -> None:
    pack = load_scenario(study, "medium")
    trace = negotiate(setup_for(pack, pack.reference_protocol, 5, scientist), pack)
    assert [line(gift) for gift in ledger(trace, pack)] == expected


def test_ledger_is_empty_where_the_first_plan_is_accepted() -> None:
    assert ledger(negotiate(setup_for(OPEN, PLAN), OPEN), OPEN) == []
    assert ledger(begin(setup_for(OPEN), OPEN), OPEN) == []


def test_ledger_passes_over_questions_and_walking_away() -> None:
    trace = begin(setup_for(BOOKED, scientist=ScientistKind.PERSON), BOOKED)
    for action in (ask("The budget?"), propose(PLAN), ask("The days?"), revise_to(OFFER)):
        trace = play_action(trace, action, BOOKED)
    # The chamber gives way to the shelf at the same price: fidelity is what is given up.
    [gift] = ledger(trace, BOOKED)
    assert (gift.round_number, gift.who, gift.gives) == (3, SCIENTIST, True)
    assert gift.step.credits_saved == 0
    assert gift.step.new.loss > gift.step.old.loss


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
    step = plan_concession(PLAN, after, OPEN)
    assert Gift(1, SCIENTIST, step, step).gives is gives


def test_wider_half_width_is_a_gift_though_it_is_the_larger_number() -> None:
    pack = load_scenario("phys_millikan", "easy")
    plan = pack.reference_protocol
    # Each drop less is ten credits less, which three more days use up.
    fewer = revise(plan, sample_size=plan.sample_size - 15, duration_days=plan.duration_days + 3)
    weaker, stronger = plan_concession(plan, fewer, pack), plan_concession(fewer, plan, pack)
    assert weaker.credits_saved == 0
    assert Gift(1, SCIENTIST, weaker, weaker).gives
    assert not Gift(1, SCIENTIST, stronger, stronger).gives


def test_lab_manager_gives_where_it_spends_more() -> None:
    dearer = plan_concession(make_protocol(sample_size=30), PLAN, OPEN)
    cheaper = plan_concession(PLAN, make_protocol(sample_size=30), OPEN)
    assert Gift(1, MANAGER, dearer, dearer).gives
    assert not Gift(1, MANAGER, cheaper, cheaper).gives


@given(studied_packs(), itemised_protocols(), st.sampled_from(LabManagerKind))
def test_steps_of_each_side_add_up_to_its_total(
    pack: Pack, plan: Protocol, manager: LabManagerKind
) -> None:
    opening = plan if plan.sample_size else None
    trace = negotiate(setup_for(pack, opening, lab_manager=manager), pack)
    for who in (SCIENTIST, MANAGER):
        gifts = [gift for gift in ledger(trace, pack) if gift.who is who]
        saved = sum(gift.step.credits_saved for gift in gifts)
        assert not gifts or gifts[-1].total.credits_saved == pytest.approx(saved)
        assert all(one.step.new == other.step.old for one, other in pairwise(gifts))
    numbers = [gift.round_number for gift in ledger(trace, pack)]
    assert numbers == sorted(numbers)
