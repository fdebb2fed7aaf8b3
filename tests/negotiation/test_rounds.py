"""One round and what comes of it: turns, answers, offers, endings and outcomes, by hand."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import NegotiationError
from replicalab.models import LabManagerActionType, Protocol, Role, ScientistAction
from replicalab.negotiation import Ending, LabManagerKind, Outcome, Turn, begin, observe, play
from replicalab.scenarios import Pack, load_scenario
from tests.factories import REAGENTS, make_pack, make_protocol
from tests.golden import assert_golden
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    CANARY_PACK,
    FLAMING,
    FLAMING_ON_THE_SHELF,
    OFFER,
    OPEN,
    PLAN,
    SHORT,
    SMALL,
    STUCK,
    answer_of,
    ask,
    by_person,
    by_rule,
    game,
    plan_of,
    propose,
    revise_to,
    said_in,
)
from tests.strategies import itemised_protocols, scientist_actions, studied_packs

SAID: Final = (
    "40 samples in 5 days, germination count under blue light; "
    "controls: dark control, white light control; equipment: growth chamber, light meter; "
    "reagents: agar plates, nutrient broth. "
    "randomised trays and blinded counting keep the comparison fair"
)


# --- one round ------------------------------------------------------------------------------


def test_round_is_the_scientists_turn_and_then_the_lab_managers_answer() -> None:
    negotiation = by_person(BOOKED, propose(PLAN))
    [done], state = negotiation.rounds, negotiation.state
    assert (done.number, done.action, plan_of(done)) == (0, propose(PLAN), PLAN)
    assert done.plan is not None
    assert done.plan.failing == ["equipment"]
    assert answer_of(done) == "suggest_alternative"
    assert [(e.role, e.round_number, e.action_type, e.message) for e in state.history] == [
        (Role.SCIENTIST, 0, "propose_protocol", SAID),
        (Role.LAB_MANAGER, 0, "suggest_alternative", said_in(done)),
    ]
    assert (state.round_number, state.plan, state.ending) == (1, done.plan, None)


def test_turns_and_answers_in_words() -> None:
    bare = make_protocol(
        sample_size=1,
        duration_days=1,
        controls=[],
        required_equipment=[],
        required_reagents=[],
        rationale=FLAMING.rationale,
    )
    actions = [ACCEPT, propose(PLAN), ask("The budget?", "And the days?"), revise_to(bare), None]
    negotiation = by_person(BOOKED, *actions)
    told = [f"{e.role}, {e.action_type}: {e.message}" for e in negotiation.state.history]
    assert_golden("negotiation_history", "\n".join(told))
    assert [e.round_number for e in negotiation.state.history] == [0, 0, 1, 1, 2, 2, 3, 3, 4]


def test_observation_carries_the_plan_the_offer_and_where_the_talks_stand() -> None:
    fresh = observe(by_person(OPEN, max_rounds=2).state, OPEN)
    assert (fresh.round_number, fresh.max_rounds, fresh.conversation_history) == (0, 2, [])
    assert fresh.current_protocol is fresh.suggested_protocol is None
    state = by_person(BOOKED, propose(PLAN), max_rounds=3).state
    seen = observe(state, BOOKED)
    assert (seen.round_number, seen.max_rounds) == (1, 3)
    assert (seen.current_protocol, seen.suggested_protocol) == (PLAN, OFFER)
    assert seen.conversation_history == list(state.history)
    assert seen.paper_title == BOOKED.paper.title


def test_what_a_player_does_to_its_observation_stays_with_it() -> None:
    negotiation = by_person(BOOKED, propose(PLAN), ask("The days?"))
    before = [done.facts.model_dump_json() for done in negotiation.rounds]
    seen = observe(negotiation.state, BOOKED)
    assert seen.current_protocol is not None
    assert seen.suggested_protocol is not None
    for found in (seen.current_protocol, seen.suggested_protocol):
        found.controls.append("mine")
        found.required_equipment.clear()
    seen.conversation_history.clear()
    assert observe(negotiation.state, BOOKED).current_protocol == PLAN
    assert [done.facts.model_dump_json() for done in negotiation.rounds] == before
    first = negotiation.rounds[0]
    assert first.action is not None
    assert first.answer is not None
    first.action.controls.append("mine")
    first.answer.suggested_controls.append("mine")
    assert plan_of(first) == PLAN
    assert negotiation.state.offer is not None
    assert negotiation.state.offer.plan == OFFER


# --- the offer ------------------------------------------------------------------------------


def test_accept_takes_the_standing_offer_and_judges_it_only_once() -> None:
    negotiation = by_person(BOOKED, propose(PLAN), ACCEPT)
    first, last = negotiation.rounds
    assert first.offer is not None
    assert plan_of(last) == OFFER == first.offer.after.plan
    assert last.plan is first.offer.after
    assert answer_of(last) == "accept"
    assert negotiation.ending is Ending.SCIENTIST_ACCEPTED


def test_accept_takes_the_plan_when_nothing_was_offered() -> None:
    negotiation = by_person(STUCK, propose(PLAN), ACCEPT)
    assert [answer_of(done) for done in negotiation.rounds] == ["reject", "reject"]
    assert negotiation.rounds[1].plan is negotiation.rounds[0].plan
    assert negotiation.ending is Ending.SCIENTIST_ACCEPTED


def test_offer_stands_through_a_question_and_is_looked_for_only_where_a_plan_is() -> None:
    negotiation = by_person(BOOKED, propose(PLAN), ask("The budget?"), ACCEPT)
    assert plan_of(negotiation.rounds[1]) == PLAN
    assert negotiation.rounds[1].offer is None
    assert negotiation.final_plan is not None
    assert negotiation.final_plan.plan == OFFER


def test_offer_falls_when_the_next_plan_is_answered_without_one() -> None:
    negotiation = by_person(BOOKED, propose(PLAN), revise_to(FLAMING_ON_THE_SHELF), ACCEPT)
    assert [answer_of(done) for done in negotiation.rounds[:2]] == [
        "suggest_alternative",
        "report_feasibility",
    ]
    assert plan_of(negotiation.rounds[2]) == FLAMING_ON_THE_SHELF


def test_offer_is_replaced_by_the_next_offer() -> None:
    state = by_person(BOOKED, propose(PLAN), revise_to(make_protocol(sample_size=30))).state
    assert state.offer is not None
    assert state.offer.plan == make_protocol(
        sample_size=30, required_equipment=OFFER.required_equipment
    )


def test_offer_that_breaks_a_restriction_can_be_accepted_but_is_no_agreement() -> None:
    negotiation = by_person(BOOKED, propose(FLAMING), ACCEPT)
    assert [answer_of(done) for done in negotiation.rounds] == [
        "suggest_alternative",
        "report_feasibility",
    ]
    assert plan_of(negotiation.rounds[1]) == FLAMING_ON_THE_SHELF
    assert negotiation.outcome is Outcome.FALSE_AGREEMENT


# --- asking ---------------------------------------------------------------------------------


def test_question_before_any_plan_is_answered_from_the_labs_data() -> None:
    pack = make_pack(budget=1234, days=7)
    negotiation = by_person(pack, ask("What is the budget?", "How many days?"))
    [done] = negotiation.rounds
    assert said_in(done) == "Budget: 1,234 credits remain.\nTime: at most 7 days."
    assert answer_of(done) == "report_feasibility"
    assert (done.plan, done.offer, negotiation.ending) == (None, None, None)


def test_question_reports_each_flag_of_the_plan_on_the_table() -> None:
    # 1050 credits, 5 days and 2 people are needed; the chamber and the agar plates are too.
    labs = {
        "budget_ok": make_pack(budget=1049),
        "equipment_ok": BOOKED,
        "reagents_ok": make_pack(out_of_stock=[REAGENTS[0]]),
        "schedule_ok": make_pack(days=4),
        "staff_ok": make_pack(staff=1),
    }
    for flag, pack in labs.items():
        answer = by_person(pack, propose(PLAN), ask("What is the budget?")).rounds[1].answer
        assert answer is not None
        assert answer.action_type is LabManagerActionType.REPORT_FEASIBILITY
        assert not answer.feasible
        assert [name for name in labs if not getattr(answer, name)] == [flag]


def test_question_never_brings_the_hidden_reference_out() -> None:
    every = "Summary, target, required elements, budget, time, staff, equipment, reagents, rules?"
    negotiation = by_person(CANARY_PACK, propose(PLAN), ask(every), ask("canary-two?"))
    assert "Budget" in said_in(negotiation.rounds[1])
    assert not any("canary" in said_in(done) for done in negotiation.rounds)
    state = negotiation.state_before(2)
    assert "canary" not in observe(state, CANARY_PACK).model_dump_json()


# --- ending ---------------------------------------------------------------------------------


def test_accept_with_nothing_on_the_table_is_told_so_and_the_talks_go_on() -> None:
    negotiation = by_person(OPEN, ACCEPT, propose(PLAN))
    first, _ = negotiation.rounds
    assert answer_of(first) == "report_feasibility"
    assert (first.after.plan, first.after.offer, first.after.ending) == (None, None, None)
    assert negotiation.ending is Ending.LAB_MANAGER_ACCEPTED


def test_accept_with_nothing_on_the_table_in_the_last_round_is_no_deal() -> None:
    negotiation = by_person(OPEN, ACCEPT, max_rounds=1)
    assert (negotiation.ending, negotiation.outcome) == (Ending.OUT_OF_ROUNDS, Outcome.NO_DEAL)


@pytest.mark.parametrize("before", [[], [propose(PLAN)], [propose(PLAN), ask("The budget?")]])
def test_walking_away_ends_the_talks_without_an_answer(before: list[ScientistAction]) -> None:
    negotiation = by_person(BOOKED, *before, None, max_rounds=len(before) + 1)
    earlier, state = negotiation.state_before(len(before)), negotiation.state
    assert negotiation.ending is Ending.WALKED_AWAY, "also in the last round"
    assert (negotiation.rounds[-1].action, negotiation.rounds[-1].answer) == (None, None)
    assert (state.plan, state.offer) == (earlier.plan, earlier.offer)
    assert len(state.history) == len(earlier.history) + 1
    assert (state.history[-1].role, state.history[-1].action_type) == (Role.SYSTEM, None)


def test_rounds_run_out_after_the_last_and_an_open_offer_is_no_deal() -> None:
    negotiation = by_person(BOOKED, propose(PLAN), max_rounds=1)
    assert (negotiation.ending, negotiation.outcome) == (Ending.OUT_OF_ROUNDS, Outcome.NO_DEAL)
    assert negotiation.state.offer is not None
    going_on = by_person(STUCK, propose(PLAN), propose(PLAN), max_rounds=3)
    assert going_on.ending is None
    assert play(going_on, Turn(action=propose(PLAN))).ending is Ending.OUT_OF_ROUNDS


@pytest.mark.parametrize("action", [propose(PLAN), ACCEPT, ask("The budget?"), None])
def test_turn_after_the_end_is_refused(action: ScientistAction | None) -> None:
    with pytest.raises(NegotiationError) as caught:
        play(by_person(OPEN, propose(PLAN)), Turn(action=action))
    assert str(caught.value) == (
        "round 2: the negotiation has ended, the Lab Manager accepted; fork it at a round that "
        "was played"
    )


@pytest.mark.parametrize(
    ("pack", "actions", "expected"),
    [
        (OPEN, [propose(PLAN)], Outcome.AGREED),
        (BOOKED, [propose(PLAN), ACCEPT], Outcome.AGREED),
        (OPEN, [propose(SMALL)], Outcome.AGREED_BELOW_FLOOR),
        (OPEN, [propose(SHORT)], Outcome.AGREED_BELOW_FLOOR),
        (STUCK, [propose(PLAN), ACCEPT], Outcome.FALSE_AGREEMENT),
        (OPEN, [propose(FLAMING), ACCEPT], Outcome.FALSE_AGREEMENT),
        (OPEN, [propose(FLAMING), None], Outcome.NO_DEAL),
        (BOOKED, [propose(PLAN), None], Outcome.NO_DEAL),
        (OPEN, [None], Outcome.NO_DEAL),
        (OPEN, [ask("The budget?")], None),
    ],
)
def test_outcome_is(
    pack: Pack, actions: list[ScientistAction | None], expected: Outcome | None
) -> None:
    assert by_person(pack, *actions).outcome is expected


# --- setup and plans too large --------------------------------------------------------------


@pytest.mark.parametrize("rounds", [0, -1, 51])
def test_setup_refuses_a_number_of_rounds_outside_1_to_50(rounds: int) -> None:
    with pytest.raises(ValueError, match="max_rounds"):
        game(OPEN, max_rounds=rounds)


def test_setup_names_the_lab_and_has_no_players_of_its_own() -> None:
    setup = game(load_scenario("fin_momentum", "hard", 7))
    assert (setup.scenario_id, setup.difficulty, setup.seed) == ("fin_momentum", "hard", 7)
    data = setup.model_dump()
    for name in ("scientist", "lab_manager", "max_rounds"):
        with pytest.raises(ValueError, match=name):
            type(setup).model_validate({key: data[key] for key in data if key != name})


@pytest.mark.parametrize("field", ["controls", "required_equipment", "required_reagents"])
def test_plan_that_lists_more_than_a_plan_can_need_is_no_turn_and_no_opening(field: str) -> None:
    long, most = (make_protocol(**{field: [f"x {n}" for n in range(m)]}) for m in (201, 200))
    for make in (lambda plan: Turn(action=propose(plan)), lambda plan: game(OPEN, plan)):
        make(most)
        with pytest.raises(ValueError, match=f"{field} has 201 entries; at most 200 fit"):
            make(long)


# --- properties -----------------------------------------------------------------------------


@given(studied_packs(), st.lists(st.none() | scientist_actions(), min_size=8, max_size=8))
def test_any_turns_end_the_talks_within_the_rounds(
    pack: Pack, actions: list[ScientistAction | None]
) -> None:
    negotiation = by_person(pack, max_rounds=8)
    for number, action in enumerate(actions):
        assert negotiation.state.round_number == number
        negotiation = play(negotiation, Turn(action=action))
        assert (negotiation.rounds[-1].answer is None) is (action is None)
        if negotiation.ending is not None:
            break
    assert negotiation.outcome is not None


@given(studied_packs(), itemised_protocols(), st.integers(1, 8), st.sampled_from(LabManagerKind))
def test_every_negotiation_by_rule_ends_in_one_outcome(
    pack: Pack, plan: Protocol, rounds: int, lab_manager: LabManagerKind
) -> None:
    opening = plan if plan.sample_size else None
    setup = game(pack, opening, rounds, lab_manager=lab_manager)
    before = (pack.model_dump_json(), setup.model_dump_json())
    negotiation = by_rule(pack, opening, rounds, lab_manager=lab_manager)
    assert by_rule(pack, opening, rounds, lab_manager=lab_manager) == negotiation
    assert (pack.model_dump_json(), setup.model_dump_json()) == before
    assert [done.number for done in negotiation.rounds] == list(range(len(negotiation.rounds)))
    assert len(negotiation.rounds) <= rounds
    assert negotiation.final_plan is not None
    accepted = negotiation.ending in {Ending.SCIENTIST_ACCEPTED, Ending.LAB_MANAGER_ACCEPTED}
    assert (negotiation.outcome is Outcome.NO_DEAL) is not accepted
    if accepted:
        false = negotiation.outcome is Outcome.FALSE_AGREEMENT
        assert false is not negotiation.final_plan.feasible
    assert all(answer_of(done) != "accept" for done in negotiation.rounds[:-1])


def test_beginning_has_no_round_and_no_ending() -> None:
    negotiation = begin(game(BOOKED), BOOKED)
    assert (negotiation.rounds, negotiation.ending, negotiation.outcome) == ((), None, None)
    assert negotiation.final_plan is None
