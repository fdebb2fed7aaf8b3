"""The ledger of concessions, by hand; and no agent hears of the hidden reference."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.agents.scientist_policy import (
    build_scientist_system_prompt,
    format_scientist_observation,
)
from replicalab.assessment import assess
from replicalab.models import Protocol, Role, revise
from replicalab.negotiation import (
    AUTOMATIC,
    RULED_LAB_MANAGERS,
    Concession,
    LabManagerKind,
    Negotiation,
    ScientistKind,
    concession_steps,
    ledger,
    observe,
)
from replicalab.planner import PlanStep
from replicalab.scenarios import Pack, load_scenario
from tests.factories import make_protocol, with_means
from tests.negotiation.playing import (
    BOOKED,
    CANARY_PACK,
    FLAMING,
    MEDIUM,
    OFFER,
    OPEN,
    PLAN,
    RULED,
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


# --- never to an agent ----------------------------------------------------------------------


@pytest.mark.parametrize("scientist", sorted(AUTOMATIC))
@pytest.mark.parametrize("lab_manager", RULED_LAB_MANAGERS)
@pytest.mark.parametrize("plan", [PLAN, FLAMING])
@pytest.mark.parametrize("budget", [CANARY_PACK.lab.budget, 600.0])
def test_no_agent_ever_hears_of_the_hidden_reference(
    scientist: ScientistKind, lab_manager: LabManagerKind, plan: Protocol, budget: float
) -> None:
    pack = with_means(CANARY_PACK, budget=budget)
    negotiation = by_rule(pack, plan, 5, scientist, lab_manager)
    heard = [build_scientist_system_prompt(pack)]
    for number, done in enumerate(negotiation.rounds):
        seen = observe(negotiation.state_before(number), pack)
        heard += [seen.model_dump_json(), format_scientist_observation(seen), done.reason]
        heard += done.action.questions if done.action else []
        heard += [done.answer.explanation] if done.answer else []
    assert not any("canary" in text for text in heard)
    assert negotiation.final_plan is not None
    assert negotiation.final_plan.missing_elements == ("canary-two",), "the canary is dead"


# --- the ledger: a month costs 10 credits and a day 50 ---------------------------------------


def test_ledger_of_a_medium_lab_by_hand() -> None:
    concessions = ledger(RULED)
    rows = [
        (
            concession.round_number + 1,
            concession.who,
            (concession.step.after.counts.samples, concession.step.after.counts.days),
            concession.step.credits_saved,
            concession.step.after.evidence.text.removeprefix("power "),
            concession.total.credits_saved,
        )
        for concession in concessions
    ]
    # (round, who, samples and days after, credits saved, power after, saved in all)
    #  plans:  420/8 = 5050 · 210/7 = 2900 · 105/6 = 1800 · 52/5 = 1220 · the offer of round 4
    #  offers: 210/6 = 2850 · the same · 105/6 = 1800 · 52/5 = 1220, accepted
    assert rows == [
        (2, SCIENTIST, (210, 7), 2150, "0.47", 2150),
        (3, SCIENTIST, (105, 6), 1100, "0.26", 3250),
        (3, MANAGER, (105, 6), 1050, "0.26", 1050),
        (4, SCIENTIST, (52, 5), 580, "0.15", 3830),
        (4, MANAGER, (52, 5), 580, "0.15", 1630),
        (5, SCIENTIST, (52, 5), 0, "0.15", 3830),
    ]
    # The extract of the same data loses no fidelity: the last step moves nothing.
    items = ("licensed-data terminal",), ("vendor-approved extract on the research server",)
    assert concessions[-1].step.fields == [("required_equipment", *items)]


def test_ledger_of_a_scientist_that_comes_back_with_a_stronger_plan() -> None:
    # 420 months in 8 days cost 5050 and 300 in 5 days 3700; the offer in between was 2850.
    aware = by_rule(MEDIUM, MEDIUM.reference_protocol, scientist=ScientistKind.DIRECT)
    pairs = [(concession.who, concession.step.credits_saved) for concession in ledger(aware)]
    assert pairs == [(SCIENTIST, 1350), (MANAGER, -850)]


def test_ledger_passes_over_questions_and_walking_away() -> None:
    # The chamber gives way to the shelf at the same price: fidelity is what is given up.
    actions = (ask("The budget?"), propose(PLAN), ask("The days?"), revise_to(OFFER))
    [concession] = ledger(by_person(BOOKED, *actions))
    assert (concession.round_number, concession.who) == (3, SCIENTIST)
    assert concession.step.credits_saved == 0
    assert concession.step.after.fidelity_loss > concession.step.before.fidelity_loss
    assert ledger(by_person(BOOKED, *actions[:3], None)) == ledger(by_rule(OPEN, PLAN)) == []


def test_leap_of_the_scientist_is_a_step_for_each_field_and_none_for_the_rationale() -> None:
    # The Lab Manager's offers move along, and are no steps of the Scientist's. A day costs 50 and
    # a tray 10; days come before samples.
    smaller = make_protocol(sample_size=30, duration_days=4, rationale=FLAMING.rationale)
    actions = (propose(PLAN), revise_to(smaller), revise_to(revise(smaller, rationale="Other.")))
    negotiation = by_person(BOOKED, *actions, revise_to(PLAN))
    assert {concession.who for concession in ledger(negotiation)} == {SCIENTIST, MANAGER}
    rows = [
        (
            concession_step.round_number,
            [change.field for change in concession_step.step.fields],
            concession_step.step.credits_saved,
            concession_step.total.credits_saved,
        )
        for concession_step in concession_steps(negotiation)
    ]
    assert rows == [
        (1, ["duration_days"], 50, 50),
        (1, ["sample_size"], 100, 150),
        (3, ["duration_days"], -50, 100),
        (3, ["sample_size"], -100, 0),
    ]
    assert {concession_step.who for concession_step in concession_steps(negotiation)} == {SCIENTIST}


def test_step_that_moves_no_amount_does_not_count() -> None:
    for changes, counts in (({"sample_size": 41}, True), ({"rationale": "Other."}, False)):
        step = PlanStep(assess(PLAN, OPEN), assess(revise(PLAN, **changes), OPEN))
        assert Concession(1, SCIENTIST, step, step).counts is counts


def assert_adds_up(negotiation: Negotiation) -> None:
    concessions = ledger(negotiation)
    for who in (SCIENTIST, MANAGER):
        custom = [concession for concession in concessions if concession.who is who]
        saved = sum(concession.step.credits_saved for concession in custom)
        assert not custom or custom[-1].total.credits_saved == pytest.approx(saved)
        assert all(one.step.after is other.step.before for one, other in pairwise(custom))
    numbers = [concession.round_number for concession in concessions]
    assert numbers == sorted(numbers)


def test_steps_join_where_the_same_offer_was_made_to_two_plans() -> None:
    # 150 months in 6 days are offered for both the second and the third plan.
    sizes = ((75, 6), (300, 8), (150, 7), (60, 6))
    plans = [revise(MEDIUM.reference_protocol, sample_size=n, duration_days=d) for n, d in sizes]
    negotiation = by_person(MEDIUM, propose(plans[0]), *map(revise_to, plans[1:]))
    assert [g.round_number for g in ledger(negotiation) if g.who is MANAGER] == [1, 3]
    assert_adds_up(negotiation)


@given(studied_packs(), openings(), st.integers(1, 5), st.sampled_from(RULED_LAB_MANAGERS))
def test_steps_of_each_side_add_up_to_its_total(
    pack: Pack, opening: Protocol | None, rounds: int, manager: LabManagerKind
) -> None:
    negotiation = by_rule(pack, opening, rounds, lab_manager=manager)
    assert_adds_up(negotiation)
