"""The contract's section 8: rounds, offers, endings, outcomes, and the baseline on every lab."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import NegotiationError
from replicalab.models import (
    LabManagerActionType,
    Protocol,
    Role,
    ScientistAction,
    ScientistActionType,
)
from replicalab.negotiation import (
    Ending,
    Outcome,
    Round,
    choose_turn,
    negotiate,
    observe,
    scenario_digest,
    setup_for,
    start,
    step,
)
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from tests.factories import REAGENTS, make_pack, make_protocol
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
    ask,
    outcome,
    play,
    propose,
    revise_to,
)
from tests.strategies import itemised_protocols, protocols, scientist_actions, studied_packs

SAID: Final = (
    "40 samples in 5 days, germination count under blue light; "
    "controls: dark control, white light control; equipment: growth chamber, light meter; "
    "reagents: agar plates, nutrient broth. "
    "randomised trays and blinded counting keep the comparison fair"
)
MAY_OPEN: Final = st.integers(1, 200)


def answer_of(done: Round) -> str:
    """Return the kind of the Lab Manager's answer; these rounds have one."""
    assert done.lab_manager_action is not None
    return done.lab_manager_action.action_type.value


def said_in(done: Round) -> str:
    assert done.lab_manager_action is not None
    return done.lab_manager_action.explanation


# --- one round ------------------------------------------------------------------------------


def test_round_is_the_scientists_turn_and_then_the_lab_managers_answer() -> None:
    state, [done] = play(BOOKED, propose(PLAN))
    assert done.number == 0
    assert done.scientist_action == propose(PLAN)
    assert done.plan == PLAN
    assert done.check is not None
    assert done.check.failing == ["equipment"]
    assert answer_of(done) == "suggest_alternative"
    assert [(entry.role, entry.round_number) for entry in state.history] == [
        (Role.SCIENTIST, 0),
        (Role.LAB_MANAGER, 0),
    ]
    assert (state.round_number, state.plan, state.ending) == (1, PLAN, None)


def test_round_enters_the_history_with_its_words_and_actions() -> None:
    state, [done] = play(BOOKED, propose(PLAN))
    assert [entry.message for entry in state.history] == [SAID, said_in(done)]
    assert [entry.action_type for entry in state.history] == [
        "propose_protocol",
        "suggest_alternative",
    ]


def test_history_counts_in_the_singular_and_names_empty_lists() -> None:
    plan = make_protocol(
        sample_size=1, duration_days=1, controls=[], required_equipment=[], required_reagents=[]
    )
    state, _ = play(OPEN, propose(plan))
    assert state.history[0].message == (
        "1 sample in 1 day, germination count under blue light; controls: none; equipment: none; "
        "reagents: none. randomised trays and blinded counting keep the comparison fair"
    )


def test_history_grows_by_two_lines_a_round_in_order() -> None:
    state, _ = play(BOOKED, propose(PLAN), ask("The budget?", "And the days?"), ACCEPT)
    assert [entry.action_type for entry in state.history] == [
        *("propose_protocol", "suggest_alternative"),
        *("request_info", "report_feasibility"),
        *("accept", "accept"),
    ]
    assert [entry.round_number for entry in state.history] == [0, 0, 1, 1, 2, 2]
    assert state.history[2].message == "The budget? And the days?"
    assert state.history[4].message == "I accept."


def test_observation_carries_the_plan_the_offer_and_where_the_talks_stand() -> None:
    state, _ = play(BOOKED, propose(PLAN), max_rounds=3)
    seen = observe(state, BOOKED)
    assert (seen.round_number, seen.max_rounds) == (1, 3)
    assert seen.current_protocol == PLAN
    assert seen.suggested_protocol == OFFER
    assert seen.conversation_history == state.history
    assert seen.paper_title == BOOKED.paper.title


def test_observation_before_the_first_round_is_empty() -> None:
    seen = observe(start(setup_for(OPEN, max_rounds=2)), OPEN)
    assert (seen.round_number, seen.max_rounds) == (0, 2)
    assert seen.conversation_history == []
    assert seen.current_protocol is seen.suggested_protocol is None


# --- the offer ------------------------------------------------------------------------------


def test_offer_stands_once_the_lab_manager_suggests() -> None:
    state, [done] = play(BOOKED, propose(PLAN))
    assert state.offer == OFFER
    assert done.suggestion is not None
    assert done.suggestion.revised_protocol == OFFER


def test_accept_takes_the_standing_offer() -> None:
    state, rounds = play(BOOKED, propose(PLAN), ACCEPT)
    assert rounds[-1].plan == OFFER
    assert answer_of(rounds[-1]) == "accept"
    assert state.plan == OFFER
    assert state.ending is Ending.SCIENTIST_ACCEPTED


def test_accept_takes_the_plan_when_nothing_was_offered() -> None:
    state, rounds = play(STUCK, propose(PLAN), ACCEPT)
    assert [answer_of(done) for done in rounds] == ["reject", "reject"]
    assert rounds[-1].plan == PLAN
    assert state.ending is Ending.SCIENTIST_ACCEPTED


def test_offer_stands_through_a_question() -> None:
    state, rounds = play(BOOKED, propose(PLAN), ask("The budget?"), ACCEPT)
    assert rounds[1].plan == PLAN
    assert state.plan == OFFER


def test_offer_falls_when_the_next_plan_is_answered_without_one() -> None:
    state, rounds = play(BOOKED, propose(PLAN), revise_to(FLAMING_ON_THE_SHELF), ACCEPT)
    assert [answer_of(done) for done in rounds[:2]] == ["suggest_alternative", "report_feasibility"]
    assert state.plan == FLAMING_ON_THE_SHELF


def test_offer_is_replaced_by_the_next_offer() -> None:
    state, _ = play(BOOKED, propose(PLAN), revise_to(make_protocol(sample_size=30)))
    assert state.offer == make_protocol(sample_size=30, required_equipment=OFFER.required_equipment)


def test_offer_that_breaks_a_restriction_can_be_accepted_but_is_no_agreement() -> None:
    state, rounds = play(BOOKED, propose(FLAMING), ACCEPT)
    assert [answer_of(done) for done in rounds] == ["suggest_alternative", "report_feasibility"]
    assert state.plan == FLAMING_ON_THE_SHELF
    assert outcome(BOOKED, propose(FLAMING), ACCEPT) is Outcome.FALSE_AGREEMENT


# --- asking ---------------------------------------------------------------------------------


def test_request_info_before_any_plan_is_answered_from_the_labs_data() -> None:
    pack = make_pack(budget=1234, days=7)
    state, [done] = play(pack, ask("What is the budget?", "How many days?"))
    assert said_in(done) == "Budget: 1,234 credits remain.\nTime: at most 7 days."
    assert answer_of(done) == "report_feasibility"
    assert (done.plan, done.check, done.suggestion) == (None, None, None)
    assert state.ending is None


def test_request_info_reports_on_the_plan_on_the_table() -> None:
    _, rounds = play(BOOKED, propose(PLAN), ask("What is the budget?"))
    answer = rounds[1].lab_manager_action
    assert answer is not None
    assert answer.action_type is LabManagerActionType.REPORT_FEASIBILITY
    assert answer.explanation == "Budget: 5,000 credits remain."
    assert (answer.feasible, answer.equipment_ok, answer.budget_ok) == (False, False, True)


def test_request_info_reports_each_flag_of_the_plan_on_the_table() -> None:
    # 1050 credits, 5 days and 2 people are needed; the chamber and the agar plates are too.
    labs = {
        "budget_ok": make_pack(budget=1049),
        "equipment_ok": BOOKED,
        "reagents_ok": make_pack(out_of_stock=[REAGENTS[0]]),
        "schedule_ok": make_pack(days=4),
        "staff_ok": make_pack(staff=1),
    }
    for flag, pack in labs.items():
        _, rounds = play(pack, propose(PLAN), ask("What is the budget?"))
        answer = rounds[1].lab_manager_action
        assert answer is not None
        assert [name for name in labs if not getattr(answer, name)] == [flag]


def test_request_info_never_quotes_the_hidden_reference() -> None:
    every = "Summary, target, required elements, budget, time, staff, equipment, reagents, rules?"
    _, rounds = play(CANARY_PACK, propose(PLAN), ask(every), ask("canary-two?"))
    assert "Budget" in said_in(rounds[1])
    assert not any("canary" in said_in(done) for done in rounds)


@given(
    st.lists(
        st.sampled_from([propose(PLAN), revise_to(SMALL), revise_to(FLAMING), ask("Everything?")]),
        max_size=4,
    )
)
def test_observation_never_carries_the_hidden_reference(actions: list[ScientistAction]) -> None:
    state, rounds = play(CANARY_PACK, *actions)
    assert "canary" not in observe(state, CANARY_PACK).model_dump_json()
    judged = [done for done in rounds if done.check is not None]
    assert all("canary-two" in done.model_dump_json() for done in judged), "the canary is dead"


# --- ending ---------------------------------------------------------------------------------


def test_lab_manager_ends_the_talks_by_accepting() -> None:
    state, [done] = play(OPEN, propose(PLAN))
    assert answer_of(done) == "accept"
    assert state.ending is Ending.LAB_MANAGER_ACCEPTED


def test_accept_with_nothing_on_the_table_is_told_so_and_the_talks_go_on() -> None:
    state, [done] = play(OPEN, ACCEPT)
    assert said_in(done) == "There is no plan to accept yet; propose one."
    assert answer_of(done) == "report_feasibility"
    assert (state.plan, state.offer, state.ending) == (None, None, None)
    state, _ = step(state, propose(PLAN), OPEN)
    assert state.ending is Ending.LAB_MANAGER_ACCEPTED


def test_accept_with_nothing_on_the_table_in_the_last_round_is_no_deal() -> None:
    state, _ = play(OPEN, ACCEPT, max_rounds=1)
    assert state.ending is Ending.OUT_OF_ROUNDS
    assert outcome(OPEN, ACCEPT, max_rounds=1) is Outcome.NO_DEAL


@pytest.mark.parametrize("before", [[], [propose(PLAN)], [propose(PLAN), ask("The budget?")]])
def test_walking_away_ends_the_talks_without_an_answer(before: list[ScientistAction]) -> None:
    earlier, _ = play(BOOKED, *before)
    state, rounds = play(BOOKED, *before, None)
    assert state.ending is Ending.WALKED_AWAY
    assert (rounds[-1].scientist_action, rounds[-1].lab_manager_action) == (None, None)
    assert (state.plan, state.offer) == (earlier.plan, earlier.offer)
    last = state.history[-1]
    assert (last.role, last.action_type) == (Role.SYSTEM, None)
    assert last.message == "The Scientist walks away."
    assert len(state.history) == len(earlier.history) + 1


def test_walking_away_in_the_last_round_is_not_running_out_of_rounds() -> None:
    state, _ = play(BOOKED, propose(PLAN), None, max_rounds=2)
    assert state.ending is Ending.WALKED_AWAY


def test_rounds_run_out_after_the_last_and_an_open_offer_is_no_deal() -> None:
    state, _ = play(BOOKED, propose(PLAN), max_rounds=1)
    assert state.ending is Ending.OUT_OF_ROUNDS
    assert state.offer == OFFER
    assert outcome(BOOKED, propose(PLAN), max_rounds=1) is Outcome.NO_DEAL


def test_rounds_run_out_only_after_the_last() -> None:
    state, _ = play(STUCK, propose(PLAN), propose(PLAN), max_rounds=3)
    assert state.ending is None
    state, _ = step(state, propose(PLAN), STUCK)
    assert state.ending is Ending.OUT_OF_ROUNDS


@pytest.mark.parametrize("action", [propose(PLAN), ACCEPT, ask("The budget?"), None])
def test_step_after_the_end_is_refused(action: ScientistAction | None) -> None:
    state, _ = play(OPEN, propose(PLAN))
    with pytest.raises(NegotiationError) as caught:
        step(state, action, OPEN)
    assert str(caught.value) == (
        "round 2: the negotiation has ended, the Lab Manager accepted; fork it at a round that "
        "was played"
    )


# --- outcomes -------------------------------------------------------------------------------


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
    ],
    ids=[
        "accepted at once",
        "the offer accepted",
        "too few samples",
        "void: too few days",
        "a reject accepted",
        "a report accepted",
        "walked away from a report",
        "walked away from an offer",
        "walked away at once",
    ],
)
def test_outcome_is(pack: Pack, actions: list[ScientistAction | None], expected: Outcome) -> None:
    assert outcome(pack, *actions) is expected


def test_outcome_of_an_accepted_report_is_false_though_the_lab_flags_hold() -> None:
    _, rounds = play(OPEN, propose(FLAMING), ACCEPT)
    answer = rounds[-1].lab_manager_action
    assert answer is not None
    assert answer.action_type is LabManagerActionType.REPORT_FEASIBILITY
    assert answer.feasible


# --- choosing -------------------------------------------------------------------------------


def test_opening_is_proposed_first_and_the_baseline_goes_on() -> None:
    setup = setup_for(BOOKED, PLAN)
    first = choose_turn(setup, start(setup), BOOKED).action
    assert first == propose(PLAN)
    state, _ = play(BOOKED, propose(PLAN))
    assert choose_turn(setup, state, BOOKED).action == revise_to(
        make_protocol(sample_size=20, duration_days=4)
    )


def test_baseline_opens_with_its_own_plan_when_none_is_given() -> None:
    setup = setup_for(OPEN)
    action = choose_turn(setup, start(setup), OPEN).action
    assert action is not None
    assert action.action_type is ScientistActionType.PROPOSE_PROTOCOL
    assert action.protocol != PLAN


def test_opening_without_samples_is_refused_by_name() -> None:
    setup = setup_for(OPEN, make_protocol(sample_size=0))
    with pytest.raises(NegotiationError) as caught:
        negotiate(setup, OPEN)
    assert str(caught.value) == (
        "the plan has a sample size of 0; a proposal needs at least 1 sample"
    )


@pytest.mark.parametrize("rounds", [0, -1, 51])
def test_setup_refuses_a_number_of_rounds_outside_1_to_50(rounds: int) -> None:
    with pytest.raises(ValueError, match="max_rounds"):
        setup_for(OPEN, max_rounds=rounds)


def test_setup_names_the_lab() -> None:
    setup = setup_for(load_scenario("fin_momentum", "hard", 7))
    assert (setup.scenario_id, setup.difficulty, setup.seed) == ("fin_momentum", "hard", 7)
    assert (setup.scientist, setup.lab_manager, setup.max_rounds) == ("baseline", "reference", 5)


def test_digest_is_of_the_lab_and_not_of_what_was_looked_up_in_it() -> None:
    one, other = load_scenario("fin_momentum", "hard", 7), load_scenario("fin_momentum", "hard", 8)
    before = scenario_digest(one)
    assert one.inventory.booked_until("nothing") is None
    assert scenario_digest(one) == before != scenario_digest(other)


# --- the baseline on the shipped studies ----------------------------------------------------


class Line(NamedTuple):
    """One round in numbers."""

    action: str
    n: int
    days: int
    credits: float
    answer: str


def lines_of(pack: Pack, opening: Protocol | None, rounds: int = 5) -> list[Line]:
    return [_line(done) for done in negotiate(setup_for(pack, opening, rounds), pack).rounds]


def _line(done: Round) -> Line:
    assert done.scientist_action is not None
    assert done.plan is not None
    assert done.check is not None
    return Line(
        done.scientist_action.action_type.value,
        done.plan.sample_size,
        done.plan.duration_days,
        done.check.estimated_cost,
        answer_of(done),
    )


# Worked out on paper from the document's rules. Cost: 10 n + 50 days + 450, for 4 controls, 2 items
# and 2 reagents. The lab: 2600 credits, 6 days, 4 people, the terminal booked.
#  1  300/8: 3850, too dear and too long -> offer 300/6 = 3750 -> 150/6 = 2250
#  2  150/7: 2300, terminal and days     -> offer 150/6 = 2250
#  3   75/6: 1500, terminal              -> offer  75/6
#  4   37/5: 1070, terminal              -> offer  37/5
#  5  last round: accepts that offer.
MOMENTUM_MEDIUM: Final = [
    Line("propose_protocol", 300, 8, 3850.0, "suggest_alternative"),
    Line("revise_protocol", 150, 7, 2300.0, "suggest_alternative"),
    Line("revise_protocol", 75, 6, 1500.0, "suggest_alternative"),
    Line("revise_protocol", 37, 5, 1070.0, "suggest_alternative"),
    Line("accept", 37, 5, 1070.0, "accept"),
]
MOMENTUM_MEDIUM_FAILS: Final = [
    ["protocol", "budget", "equipment", "schedule"],
    ["protocol", "equipment", "schedule"],
    ["equipment"],
    ["equipment"],
    [],
]
MOMENTUM_MEDIUM_OFFERS: Final = [(150, 6), (150, 6), (75, 6), (37, 5), None]


def test_baseline_on_momentum_medium_round_by_round() -> None:
    pack = load_scenario("fin_momentum", "medium")
    trace = negotiate(setup_for(pack, pack.reference_protocol), pack)
    assert [_line(done) for done in trace.rounds] == MOMENTUM_MEDIUM
    assert [done.check and done.check.failing for done in trace.rounds] == MOMENTUM_MEDIUM_FAILS
    offers = [done.suggestion and done.suggestion.revised_protocol for done in trace.rounds]
    assert [plan and (plan.sample_size, plan.duration_days) for plan in offers] == (
        MOMENTUM_MEDIUM_OFFERS
    )
    assert trace.ending is Ending.SCIENTIST_ACCEPTED
    assert trace.outcome is Outcome.AGREED_BELOW_FLOOR
    assert trace.final_plan == offers[3]
    assert trace.final_plan is not None
    assert trace.final_plan.required_equipment == [
        "research server",
        "vendor-approved extract on the research server",
    ]


# By hand in the same way: (samples, days) of each round, the answers by initial, the outcome.
BASELINE_RUNS: Final = {
    ("bio_jq1_myeloma", "easy"): ([(24, 36)], "a", Outcome.AGREED),
    ("bio_jq1_myeloma", "medium"): (
        [(24, 36), (12, 35), (6, 34), (4, 33), (4, 28)],
        "ssssa",
        Outcome.AGREED_BELOW_FLOOR,
    ),
    ("bio_jq1_myeloma", "hard"): (
        [(24, 36), (12, 35), (6, 34), (4, 33), (4, 14)],
        "ssssa",
        Outcome.AGREED_BELOW_FLOOR,
    ),
    ("fin_momentum", "easy"): ([(300, 8)], "a", Outcome.AGREED),
    ("fin_momentum", "medium"): (
        [(300, 8), (150, 7), (75, 6), (37, 5), (37, 5)],
        "ssssa",
        Outcome.AGREED_BELOW_FLOOR,
    ),
    ("fin_momentum", "hard"): (
        [(300, 8), (150, 7), (75, 6), (37, 5), (37, 5)],
        "ssssa",
        Outcome.AGREED_BELOW_FLOOR,
    ),
    ("ml_resnet_cifar10", "easy"): ([(12, 6)], "a", Outcome.AGREED),
    ("ml_resnet_cifar10", "medium"): (
        [(12, 6), (6, 5), (3, 4), (3, 3), (3, 3)],
        "ssssa",
        Outcome.AGREED_BELOW_FLOOR,
    ),
    ("ml_resnet_cifar10", "hard"): (
        [(12, 6), (6, 5), (3, 4), (3, 3), (3, 3)],
        "ssssa",
        Outcome.AGREED_BELOW_FLOOR,
    ),
    ("math_four_colour", "easy"): ([(633, 10)], "a", Outcome.AGREED),
    ("math_four_colour", "medium"): (
        [(633, 10), (316, 9), (158, 8), (79, 7), (79, 7)],
        "ssssa",
        Outcome.AGREED_BELOW_FLOOR,
    ),
    # One person, and from 6 days on the plan needs two whatever n: rejected to the end.
    ("math_four_colour", "hard"): (
        [(633, 10), (316, 9), (158, 8), (79, 7), (79, 7)],
        "rrrrr",
        Outcome.FALSE_AGREEMENT,
    ),
}
INITIALS: Final = {
    "a": "accept",
    "s": "suggest_alternative",
    "r": "reject",
    "f": "report_feasibility",
}


@pytest.mark.parametrize(("study", "lab"), BASELINE_RUNS)
def test_baseline_with_the_reference_protocol(study: str, lab: str) -> None:
    plans, answers, expected = BASELINE_RUNS[study, lab]
    pack = load_scenario(study, lab)
    trace = negotiate(setup_for(pack, pack.reference_protocol), pack)
    lines = [_line(done) for done in trace.rounds]
    assert [(line.n, line.days) for line in lines] == plans
    assert [line.answer for line in lines] == [INITIALS[initial] for initial in answers]
    assert trace.outcome is expected


SHIPPED: Final = [
    (study.scenario_id, lab.value) for study in list_scenarios() for lab in Difficulty
]


@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_baseline_follows_the_documents_rules_on_every_shipped_lab(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    plan = pack.reference_protocol
    lines = lines_of(pack, plan)
    least = len(plan.controls) + 1
    for earlier, line in pairwise(lines[:-1]):
        assert earlier.answer != "accept"
        assert (line.n, line.days) == (max(earlier.n // 2, least), earlier.days - 1)
    assert (lines[0].action, lines[0].n, lines[0].days) == (
        "propose_protocol",
        plan.sample_size,
        plan.duration_days,
    )
    assert [line.action for line in lines[1:]] == (
        [*["revise_protocol"] * 3, "accept"] if len(lines) == 5 else []
    )
    assert pack.expected is not None
    assert lines[0].answer == pack.expected.answer


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
def test_easy_lab_agrees_in_round_1(study: str) -> None:
    pack = load_scenario(study, "easy")
    trace = negotiate(setup_for(pack, pack.reference_protocol), pack)
    assert len(trace.rounds) == 1
    assert trace.ending is Ending.LAB_MANAGER_ACCEPTED
    assert trace.outcome is Outcome.AGREED


# The baseline's own plan for machine learning, in 4 days with 2 people: 10/5 is a day too long,
# so 5/4; for mathematics and finance the plan fits the medium labs as it is.
@pytest.mark.parametrize(
    ("study", "expected"),
    [
        ("ml_resnet_cifar10", [(10, 5, "suggest_alternative"), (5, 4, "accept")]),
        ("math_four_colour", [(20, 4, "accept")]),
        ("fin_momentum", [(60, 5, "accept")]),
    ],
)
def test_baseline_with_its_own_plan(study: str, expected: list[tuple[int, int, str]]) -> None:
    lines = lines_of(load_scenario(study, "medium"), None)
    assert [(line.n, line.days, line.answer) for line in lines] == expected


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (1, Outcome.NO_DEAL),
        (2, Outcome.AGREED),  # takes 150 in 6 days: power 0.58, over the floor of 0.50
        (3, Outcome.AGREED),  # takes the offer of round 2, which is the same plan
        (4, Outcome.AGREED_BELOW_FLOOR),
    ],
)
def test_baseline_with_fewer_rounds_takes_the_offer_that_stands(
    rounds: int, expected: Outcome
) -> None:
    pack = load_scenario("fin_momentum", "medium")
    trace = negotiate(setup_for(pack, pack.reference_protocol, rounds), pack)
    assert len(trace.rounds) == rounds
    assert trace.outcome is expected


def test_baseline_may_take_more_rounds_and_is_no_better_for_it() -> None:
    pack = load_scenario("math_four_colour", "hard")
    lines = lines_of(pack, pack.reference_protocol, rounds=7)
    # The lab has one person; over 20 samples and over 5 days take one more each.
    assert [(line.n, line.days, line.answer) for line in lines[4:]] == [
        (39, 6, "reject"),
        (19, 5, "suggest_alternative"),
        (19, 5, "accept"),
    ]


# --- properties -----------------------------------------------------------------------------


@given(studied_packs(), itemised_protocols(), st.integers(1, 8))
def test_every_negotiation_ends_in_one_outcome(pack: Pack, plan: Protocol, rounds: int) -> None:
    opening = plan if plan.sample_size else None
    trace = negotiate(setup_for(pack, opening, rounds), pack)
    assert [done.number for done in trace.rounds] == list(range(len(trace.rounds)))
    assert len(trace.rounds) <= rounds
    last = trace.rounds[-1]
    assert last.check is not None
    accepted = trace.ending in {Ending.SCIENTIST_ACCEPTED, Ending.LAB_MANAGER_ACCEPTED}
    assert (trace.outcome is Outcome.NO_DEAL) is not accepted
    if accepted:
        assert (trace.outcome is Outcome.FALSE_AGREEMENT) is not last.check.feasible
    assert all(answer_of(done) != "accept" for done in trace.rounds[:-1])


@given(st.integers(0, 999_999), st.sampled_from(SHIPPED), protocols(sample_size=MAY_OPEN))
def test_every_negotiation_on_the_shelf_ends(
    seed: int, place: tuple[str, str], plan: Protocol
) -> None:
    pack = load_scenario(*place, seed)
    trace = negotiate(setup_for(pack, plan), pack)
    assert 1 <= len(trace.rounds) <= 5


@given(studied_packs(), st.lists(st.none() | scientist_actions(), min_size=8, max_size=8))
def test_any_turns_end_the_talks_within_the_rounds(
    pack: Pack, actions: list[ScientistAction | None]
) -> None:
    state = start(setup_for(pack, max_rounds=8))
    for number, action in enumerate(actions):
        assert state.round_number == number
        state, done = step(state, action, pack)
        assert (done.lab_manager_action is None) is (action is None)
        if state.ending is not None:
            break
    assert state.ending is not None


@given(studied_packs(), itemised_protocols(), st.integers(1, 6))
def test_negotiation_is_deterministic_and_leaves_its_inputs_alone(
    pack: Pack, plan: Protocol, rounds: int
) -> None:
    setup = setup_for(pack, plan if plan.sample_size else None, rounds)
    before = (pack.model_dump_json(), setup.model_dump_json())
    assert negotiate(setup, pack) == negotiate(setup, pack)
    assert (pack.model_dump_json(), setup.model_dump_json()) == before


@given(studied_packs(), scientist_actions(), scientist_actions())
def test_step_is_pure(pack: Pack, first: ScientistAction, second: ScientistAction) -> None:
    state, _ = step(start(setup_for(pack)), first, pack)
    if state.ending is not None:
        return
    before = state.model_dump_json()
    assert step(state, second, pack) == step(state, second, pack)
    assert state.model_dump_json() == before
