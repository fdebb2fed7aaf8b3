"""One round and what comes of it: turns, answers, offers, endings and outcomes, by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import NegotiationError
from replicalab.models import LabManagerActionType, Protocol, Role, ScientistAction
from replicalab.negotiation import Ending, LabManagerKind, Negotiation, Outcome, Turn, observe, play
from replicalab.scenarios import Pack, load_scenario
from tests.factories import REAGENTS, make_pack, make_protocol
from tests.golden import assert_golden
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    FLAMING,
    FLAMING_ON_THE_SHELF,
    OFFER,
    OPEN,
    PLAN,
    SHORT,
    SMALL,
    STUCK,
    answers,
    ask,
    by_person,
    by_rule,
    game,
    plan_of,
    propose,
    revise_to,
    said_in,
)
from tests.strategies import openings, studied_packs

ASKS = ask("The budget?")
THIRTY = make_protocol(sample_size=30)


# --- one round ------------------------------------------------------------------------------


def test_beginning_has_no_round_and_no_ending() -> None:
    negotiation = Negotiation(game(BOOKED), BOOKED)
    assert (negotiation.rounds, negotiation.ending, negotiation.outcome) == ((), None, None)
    assert negotiation.final_plan is None


def test_round_is_the_scientists_turn_and_then_the_lab_managers_answer() -> None:
    negotiation = by_person(BOOKED, propose(PLAN))
    [done], state = negotiation.rounds, negotiation.state
    assert (done.number, done.action, plan_of(done)) == (0, propose(PLAN), PLAN)
    assert done.plan is not None
    assert done.plan.failing == ["equipment"]
    assert answers(negotiation) == ["suggest_alternative"]
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
    for found in (seen.current_protocol, seen.suggested_protocol):
        assert found is not None
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


@pytest.mark.parametrize(
    ("pack", "actions", "kinds", "accepted"),
    [
        (BOOKED, [propose(PLAN)], ["suggest_alternative", "accept"], OFFER),
        (STUCK, [propose(PLAN)], ["reject", "reject"], PLAN),
        (BOOKED, [propose(PLAN), ASKS], ["suggest_alternative", "report_feasibility", "accept"],
         OFFER),
        (BOOKED, [propose(PLAN), revise_to(FLAMING_ON_THE_SHELF)],
         ["suggest_alternative", "report_feasibility", "report_feasibility"], FLAMING_ON_THE_SHELF),
        (BOOKED, [propose(PLAN), revise_to(THIRTY)],
         ["suggest_alternative", "suggest_alternative", "accept"],
         make_protocol(sample_size=30, required_equipment=OFFER.required_equipment)),
        (BOOKED, [propose(FLAMING)], ["suggest_alternative", "report_feasibility"],
         FLAMING_ON_THE_SHELF),
    ],
    ids=["taken", "none, so the plan", "through a question", "fallen", "replaced", "forbidden"],
)  # fmt: skip
def test_accept_takes_the_offer_that_stands_or_else_the_plan_and_judges_it_only_once(
    pack: Pack, actions: list[ScientistAction], kinds: list[str], accepted: Protocol
) -> None:
    negotiation = by_person(pack, *actions, ACCEPT)
    before = negotiation.state_before(len(actions))
    assert answers(negotiation) == kinds
    assert negotiation.final_plan is (before.offer or before.plan)
    assert plan_of(negotiation.rounds[-1]) == accepted
    assert negotiation.ending is Ending.SCIENTIST_ACCEPTED


def test_question_leaves_the_plan_on_the_table_and_no_offer_is_looked_for() -> None:
    asked = by_person(BOOKED, propose(PLAN), ASKS).rounds[1]
    assert (plan_of(asked), asked.offer) == (PLAN, None)


def test_plan_put_forward_again_is_judged_only_once() -> None:
    first, again = by_person(STUCK, propose(PLAN), revise_to(make_protocol())).rounds
    assert again.plan is first.plan


# --- asking ---------------------------------------------------------------------------------


def test_question_before_any_plan_is_answered_from_the_labs_data() -> None:
    pack = make_pack(budget=1234, days=7)
    negotiation = by_person(pack, ask("What is the budget?", "How many days?"))
    [done] = negotiation.rounds
    assert said_in(done) == "Budget: 1,234 credits remain.\nTime: at most 7 days."
    assert answers(negotiation) == ["report_feasibility"]
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
        answer = by_person(pack, propose(PLAN), ASKS).rounds[1].answer
        assert answer is not None
        assert answer.action_type is LabManagerActionType.REPORT_FEASIBILITY
        assert not answer.feasible
        assert [name for name in labs if not getattr(answer, name)] == [flag]


# --- ending ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pack", "actions", "rounds", "ending", "outcome"),
    [
        (OPEN, [propose(PLAN)], 5, Ending.LAB_MANAGER_ACCEPTED, Outcome.AGREED),
        (BOOKED, [propose(PLAN), ACCEPT], 5, Ending.SCIENTIST_ACCEPTED, Outcome.AGREED),
        (OPEN, [propose(SMALL)], 5, Ending.LAB_MANAGER_ACCEPTED, Outcome.AGREED_BELOW_FLOOR),
        (OPEN, [propose(SHORT)], 5, Ending.LAB_MANAGER_ACCEPTED, Outcome.AGREED_BELOW_FLOOR),
        (STUCK, [propose(PLAN), ACCEPT], 5, Ending.SCIENTIST_ACCEPTED, Outcome.FALSE_AGREEMENT),
        (OPEN, [propose(FLAMING), ACCEPT], 5, Ending.SCIENTIST_ACCEPTED, Outcome.FALSE_AGREEMENT),
        (BOOKED, [propose(FLAMING), ACCEPT], 5, Ending.SCIENTIST_ACCEPTED, Outcome.FALSE_AGREEMENT),
        (OPEN, [propose(FLAMING), None], 5, Ending.WALKED_AWAY, Outcome.NO_DEAL),
        (OPEN, [None], 5, Ending.WALKED_AWAY, Outcome.NO_DEAL),
        (OPEN, [ASKS], 5, None, None),
        (OPEN, [ACCEPT], 5, None, None),  # nothing is on the table: it is told so
        (OPEN, [ACCEPT, propose(PLAN)], 5, Ending.LAB_MANAGER_ACCEPTED, Outcome.AGREED),
        (OPEN, [ACCEPT], 1, Ending.OUT_OF_ROUNDS, Outcome.NO_DEAL),
        (BOOKED, [propose(PLAN)], 1, Ending.OUT_OF_ROUNDS, Outcome.NO_DEAL),  # an offer stands
        (STUCK, [propose(PLAN)] * 2, 3, None, None),
        (STUCK, [propose(PLAN)] * 3, 3, Ending.OUT_OF_ROUNDS, Outcome.NO_DEAL),
    ],
)
def test_ending_and_outcome_are(
    pack: Pack,
    actions: list[ScientistAction | None],
    rounds: int,
    ending: Ending | None,
    outcome: Outcome | None,
) -> None:
    negotiation = by_person(pack, *actions, max_rounds=rounds)
    assert (negotiation.ending, negotiation.outcome) == (ending, outcome)


def test_accept_with_nothing_on_the_table_is_told_so() -> None:
    negotiation = by_person(OPEN, ACCEPT)
    assert answers(negotiation) == ["report_feasibility"]
    assert (negotiation.state.plan, negotiation.state.offer) == (None, None)


@pytest.mark.parametrize("before", [[], [propose(PLAN)], [propose(PLAN), ASKS]])
def test_walking_away_ends_the_talks_without_an_answer(before: list[ScientistAction]) -> None:
    negotiation = by_person(BOOKED, *before, None, max_rounds=len(before) + 1)
    earlier, state = negotiation.state_before(len(before)), negotiation.state
    assert negotiation.ending is Ending.WALKED_AWAY, "also in the last round"
    assert (negotiation.rounds[-1].action, negotiation.rounds[-1].answer) == (None, None)
    assert (state.plan, state.offer) == (earlier.plan, earlier.offer)
    assert len(state.history) == len(earlier.history) + 1
    assert (state.history[-1].role, state.history[-1].action_type) == (Role.SYSTEM, None)


@pytest.mark.parametrize("action", [propose(PLAN), ACCEPT, ASKS, None])
def test_turn_after_the_end_is_refused(action: ScientistAction | None) -> None:
    with pytest.raises(NegotiationError) as caught:
        play(by_person(OPEN, propose(PLAN)), Turn(action=action))
    assert str(caught.value) == (
        "round 2: the negotiation has ended, the Lab Manager accepted; fork it at a round that "
        "was played"
    )


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
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda plan: Turn(action=propose(plan)), "at most 200 items"),
        (lambda plan: game(OPEN, plan), "has 201 entries; at most 200 fit"),
    ],
)
def test_plan_that_lists_more_than_a_plan_can_need_is_no_turn_and_no_opening(
    make: Callable[[Protocol], object], problem: str, field: str
) -> None:
    long, most = (make_protocol(**{field: [f"x {n}" for n in range(m)]}) for m in (201, 200))
    make(most)
    with pytest.raises(ValueError, match=problem):
        make(long)


# --- properties -----------------------------------------------------------------------------


@given(studied_packs(), openings(), st.integers(1, 8), st.sampled_from(LabManagerKind))
def test_every_negotiation_by_rule_ends_in_one_outcome(
    pack: Pack, opening: Protocol | None, rounds: int, lab_manager: LabManagerKind
) -> None:
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
    assert "accept" not in answers(negotiation)[:-1]
