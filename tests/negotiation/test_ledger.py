"""The ledger of concessions, by hand; and no agent hears of the hidden reference."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import negotiation as core
from replicalab.agents.scientist_policy import (
    build_scientist_system_prompt,
    format_scientist_observation,
)
from replicalab.models import Protocol, Role, revise
from replicalab.scenarios import Pack
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


@pytest.mark.parametrize("scientist", sorted(core.AUTOMATIC))
@pytest.mark.parametrize("lab_manager", core.RULED_LAB_MANAGERS)
@pytest.mark.parametrize("plan", [PLAN, FLAMING])
@pytest.mark.parametrize("budget", [CANARY_PACK.lab.budget, 600.0])
def test_agents_never_see_the_hidden_reference(
    scientist: core.ScientistKind, lab_manager: core.LabManagerKind, plan: Protocol, budget: float
) -> None:
    pack = with_means(CANARY_PACK, budget=budget)
    negotiation = by_rule(pack, plan, 5, scientist, lab_manager)
    heard = [build_scientist_system_prompt(pack)]
    for number, done in enumerate(negotiation.rounds):
        seen = core.observe(negotiation.state_before(number), pack)
        heard += [seen.model_dump_json(), format_scientist_observation(seen), done.reason]
        heard += done.action.questions if done.action else []
        heard += [done.answer.explanation] if done.answer else []
    assert not any("canary" in text for text in heard)
    assert negotiation.final_plan is not None
    assert negotiation.final_plan.missing_elements == ("canary-two",), "the canary is dead"


def test_ledger_of_a_medium_lab_by_hand() -> None:
    concessions = core.ledger(RULED)
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


def test_ledger_skips_questions_and_walking_away() -> None:
    # The shelf replaces the chamber at the same price: only fidelity is lost.
    actions = (ask("The budget?"), propose(PLAN), ask("The days?"), revise_to(OFFER))
    [concession] = core.ledger(by_person(BOOKED, *actions))
    assert (concession.round_number, concession.who) == (3, SCIENTIST)
    assert concession.step.credits_saved == 0
    assert concession.step.after.fidelity_loss > concession.step.before.fidelity_loss
    assert (
        core.ledger(by_person(BOOKED, *actions[:3], None)) == core.ledger(by_rule(OPEN, PLAN)) == []
    )


def test_leap_is_one_step_per_field() -> None:
    # The Lab Manager's offers move along, and are no steps of the Scientist's. A day costs 50 and
    # a tray 10; days come before samples.
    smaller = make_protocol(sample_size=30, duration_days=4, rationale=FLAMING.rationale)
    actions = (propose(PLAN), revise_to(smaller), revise_to(revise(smaller, rationale="Other.")))
    negotiation = by_person(BOOKED, *actions, revise_to(PLAN))
    assert {concession.who for concession in core.ledger(negotiation)} == {SCIENTIST, MANAGER}
    rows = [
        (
            concession_step.round_number,
            [change.field for change in concession_step.step.fields],
            concession_step.step.credits_saved,
            concession_step.total.credits_saved,
        )
        for concession_step in core.concession_steps(negotiation)
    ]
    assert rows == [
        (1, ["duration_days"], 50, 50),
        (1, ["sample_size"], 100, 150),
        (3, ["duration_days"], -50, 100),
        (3, ["sample_size"], -100, 0),
    ]
    assert {concession_step.who for concession_step in core.concession_steps(negotiation)} == {
        SCIENTIST
    }


def assert_adds_up(negotiation: core.Negotiation) -> None:
    concessions = core.ledger(negotiation)
    for who in (SCIENTIST, MANAGER):
        custom = [concession for concession in concessions if concession.who is who]
        saved = sum(concession.step.credits_saved for concession in custom)
        assert not custom or custom[-1].total.credits_saved == pytest.approx(saved)
        assert all(one.step.after is other.step.before for one, other in pairwise(custom))
    numbers = [concession.round_number for concession in concessions]
    assert numbers == sorted(numbers)


def test_repeated_offer_is_one_step() -> None:
    # 150 months in 6 days are offered for both the second and the third plan.
    sizes = ((75, 6), (300, 8), (150, 7), (60, 6))
    plans = [revise(MEDIUM.reference_protocol, sample_size=n, duration_days=d) for n, d in sizes]
    negotiation = by_person(MEDIUM, propose(plans[0]), *map(revise_to, plans[1:]))
    assert [g.round_number for g in core.ledger(negotiation) if g.who is MANAGER] == [1, 3]
    assert_adds_up(negotiation)


@given(studied_packs(), openings(), st.integers(1, 5), st.sampled_from(core.RULED_LAB_MANAGERS))
def test_steps_of_each_side_add_up(
    pack: Pack, opening: Protocol | None, rounds: int, manager: core.LabManagerKind
) -> None:
    negotiation = by_rule(pack, opening, rounds, lab_manager=manager)
    assert_adds_up(negotiation)
