"""The evidence-aware Scientist: what it does at each standing of an offer, and its reasons."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replicalab.agents import check_feasibility
from replicalab.evidence import planned_evidence
from replicalab.models import Protocol, ScientistActionType, revise
from replicalab.negotiation import (
    Ending,
    LabManagerKind,
    Outcome,
    ScientistKind,
    State,
    Trace,
    Turn,
    choose_turn,
    fork,
    negotiate,
    setup_for,
    start,
)
from replicalab.scenarios import (
    Difficulty,
    EvidenceTier,
    Pack,
    list_scenarios,
    load_scenario,
)
from tests.factories import make_pack, make_protocol, with_means
from tests.negotiation.playing import (
    BOOKED,
    FLAMING,
    OFFER,
    OPEN,
    PLAN,
    SMALL,
    ask,
    play,
    propose,
    revise_to,
)
from tests.strategies import itemised_protocols, studied_packs

AWARE: Final = ScientistKind.EVIDENCE_AWARE
SHIPPED: Final = [
    (study.scenario_id, lab.value) for study in list_scenarios() for lab in Difficulty
]


def turn_in(state: State, pack: Pack) -> Turn:
    return choose_turn(setup_for(pack, scientist=AWARE), state, pack)


def after(pack: Pack, *plans: Protocol, max_rounds: int = 5) -> State:
    """Return where the talks stand once these plans have been put forward."""
    return play(pack, *map(propose, plans), max_rounds=max_rounds)[0]


def aware_trace(
    pack: Pack,
    opening: Protocol | None = None,
    rounds: int = 5,
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE,
) -> Trace:
    return negotiate(setup_for(pack, opening, rounds, AWARE, lab_manager), pack)


def acts(trace: Trace) -> list[str]:
    """Return what the Scientist did in each round."""
    actions = [done.scientist_action for done in trace.rounds]
    return [action.action_type.value if action else "walks away" for action in actions]


# --- opening --------------------------------------------------------------------------------


def test_aware_scientist_opens_with_the_reference_protocol_and_its_evidence() -> None:
    pack = load_scenario("fin_momentum", "medium")
    turn = turn_in(start(setup_for(pack)), pack)
    assert turn.action == propose(pack.reference_protocol)
    assert turn.reason == (
        "It opens with the reference protocol: power 0.86, which meets the target of 0.80."
    )


def test_aware_scientist_with_one_round_opens_with_the_best_that_can_run() -> None:
    pack = load_scenario("fin_momentum", "medium")
    trace = aware_trace(pack, rounds=1)
    # 10 × 195 + 50 × 4 + 450 = 2600, the whole budget.
    assert trace.final_plan is not None
    assert (trace.final_plan.sample_size, trace.final_plan.duration_days) == (195, 4)
    assert trace.rounds[0].reason == (
        "It opens with the best that this lab can run of the reference protocol: 195 samples in "
        "4 days, power 0.69, below the target of 0.80 but above the floor of 0.50."
    )
    assert trace.outcome is Outcome.AGREED


def test_aware_scientist_with_one_round_and_nothing_to_win_walks_away() -> None:
    trace = aware_trace(load_scenario("fin_momentum", "hard"), rounds=1)
    assert acts(trace) == ["walks away"]
    assert trace.outcome is Outcome.NO_DEAL
    assert trace.final_plan is None


def test_aware_scientist_never_opens_with_a_reference_protocol_below_the_floor() -> None:
    pack = make_pack(reference_protocol=SMALL)
    opening = turn_in(start(setup_for(pack)), pack).action
    assert opening is not None
    assert opening.protocol is not None
    assert opening.protocol.sample_size > SMALL.sample_size
    assert planned_evidence(opening.protocol, pack).tier is not EvidenceTier.BELOW_FLOOR
    assert aware_trace(pack).outcome is Outcome.AGREED


def test_aware_scientist_leaves_an_opening_that_was_given_as_it_is() -> None:
    trace = aware_trace(OPEN, SMALL)
    assert trace.rounds[0].plan == SMALL
    assert trace.rounds[0].reason == "The opening plan, as it was given."
    assert trace.outcome is Outcome.AGREED_BELOW_FLOOR


# --- at or above the target -----------------------------------------------------------------


def test_aware_scientist_takes_an_offer_that_meets_the_target() -> None:
    pack = load_scenario("ml_resnet_cifar10", "medium")
    trace = aware_trace(pack, pack.reference_protocol)
    assert acts(trace) == ["propose_protocol", "accept"]
    assert trace.rounds[1].reason == "The offer has power 0.88, which meets the target of 0.80."


def test_aware_scientist_does_not_take_a_strong_offer_that_fails() -> None:
    # 60 in two groups at d = 0.9 have power above 0.9; the open flame breaks the lab's restriction,
    # which no change of numbers or items repairs, so it goes back to the reference protocol.
    strong = revise(FLAMING, sample_size=60)
    state = after(BOOKED, strong)
    assert state.offer is not None
    turn = turn_in(state, BOOKED)
    assert turn.action is not None
    assert turn.action.action_type is ScientistActionType.REVISE_PROTOCOL
    assert "but policy fails. In the same lab a plan of" in turn.reason
    assert turn.action.protocol is not None
    assert check_feasibility(turn.action.protocol, BOOKED).feasible


# --- between floor and target ---------------------------------------------------------------


def test_aware_scientist_counters_a_weaker_offer_with_the_planners_best() -> None:
    pack = load_scenario("fin_momentum", "medium")
    trace = aware_trace(pack, pack.reference_protocol)
    assert acts(trace) == ["propose_protocol", "revise_protocol"]
    assert trace.rounds[1].reason == (
        "The offer has power 0.58, below the target of 0.80 but above the floor of 0.50. In the "
        "same lab a plan of 195 samples in 4 days reaches power 0.69, below the target of 0.80 "
        "but above the floor of 0.50."
    )
    assert trace.ending is Ending.LAB_MANAGER_ACCEPTED


def test_aware_scientist_takes_the_least_loss_offer_since_nothing_gives_up_less() -> None:
    pack = load_scenario("fin_momentum", "medium")
    trace = aware_trace(pack, pack.reference_protocol, lab_manager=LabManagerKind.LEAST_LOSS)
    assert acts(trace) == ["propose_protocol", "accept"]
    assert trace.rounds[1].reason == (
        "The offer has power 0.69, below the target of 0.80 but above the floor of 0.50; no plan "
        "with this method gives up less in this lab."
    )


def test_aware_scientist_names_the_fidelity_where_that_is_the_difference() -> None:
    pack = load_scenario("eco_reef_fish", "medium")
    reason = aware_trace(pack, pack.reference_protocol).rounds[1].reason
    assert reason.startswith(
        "The offer has power 0.12, below the floor of 0.50, at a fidelity loss of 2."
    )
    assert reason.endswith("at a fidelity loss of 3.")


def test_aware_scientist_counters_a_plan_that_was_rejected_without_an_offer() -> None:
    # 20 days cost 1000 credits, and the reference Lab Manager halves only the sample. In 3 days
    # 10 n + 150 + 400 leave room for 45 samples, and 41 are enough for the target.
    pack = make_pack(budget=1000, days=30)
    state = after(pack, make_protocol(duration_days=20))
    assert state.offer is None
    turn = turn_in(state, pack)
    assert turn.action == revise_to(make_protocol(sample_size=41, duration_days=3))
    assert turn.reason == (
        "The plan has power 0.79, below the target of 0.80 but above the floor of 0.50, but budget "
        "fails. In the same lab a plan of 41 samples in 3 days reaches power 0.802, which meets "
        "the target of 0.80."
    )


def test_aware_scientist_says_within_and_wider_of_a_half_width() -> None:
    pack = load_scenario("phys_millikan", "medium")
    assert aware_trace(pack, pack.reference_protocol).rounds[1].reason == (
        "The offer has half-width ±2.02 %, wider than the target of ±1.50 % but within the floor "
        "of ±2.50 %. In the same lab a plan of 40 samples in 2 days reaches half-width ±1.72 %, "
        "wider than the target of ±1.50 % but within the floor of ±2.50 %."
    )


def test_aware_scientist_counters_in_the_last_round_too() -> None:
    pack = load_scenario("fin_momentum", "medium")
    trace = aware_trace(pack, pack.reference_protocol, rounds=2)
    assert (acts(trace)[-1], trace.outcome) == ("revise_protocol", Outcome.AGREED)


# --- below the floor ------------------------------------------------------------------------


def test_aware_scientist_asks_for_the_cheapest_relief_and_then_walks_away() -> None:
    pack = load_scenario("fin_momentum", "hard")
    trace = aware_trace(pack, pack.reference_protocol)
    assert acts(trace) == ["propose_protocol", "request_info", "walks away"]
    finding = (
        "No plan above the floor of 0.50 exists in this lab with this method: the best has power "
        "0.38. With 275 more credits it could run 125 samples in 3 days: power 0.501, below the "
        "target of 0.80 but above the floor of 0.50."
    )
    asked, left = trace.rounds[1:]
    assert asked.scientist_action is not None
    assert asked.scientist_action.questions == ["Could the lab give 275 more credits?"]
    assert asked.reason == finding
    assert asked.lab_manager_action is not None
    assert asked.lab_manager_action.explanation == "Budget: 1,500 credits remain."
    assert left.reason == f"The lab adds nothing to what it has. {finding}"
    assert (trace.ending, trace.outcome) == (Ending.WALKED_AWAY, Outcome.NO_DEAL)


def test_relief_asked_for_is_enough_and_a_credit_less_is_not() -> None:
    # The answer above, checked in labs made with that budget: 1500 + 275 credits.
    pack = load_scenario("fin_momentum", "hard")
    for budget, expected in ((1775.0, True), (1774.0, False)):
        richer = with_means(pack, budget=budget)
        trace = aware_trace(richer, pack.reference_protocol)
        assert (trace.outcome is Outcome.AGREED) is expected


def test_aware_scientist_asks_for_everything_when_nothing_alone_helps() -> None:
    pack = load_scenario("psy_ego_depletion", "hard")
    asked = aware_trace(pack, pack.reference_protocol).rounds[1].scientist_action
    assert asked is not None
    assert asked.questions == [
        "Could the lab give 3,165 more credits, 10 more days and 2 more staff units, and have "
        "'testing cubicles' released and 'participant credits' restocked?"
    ]


def test_aware_scientist_asks_for_an_item_alone_where_that_opens_it() -> None:
    pack = load_scenario("chem_suzuki_ppb", "hard")
    trace = aware_trace(pack, pack.reference_protocol)
    asked = trace.rounds[1]
    assert asked.scientist_action is not None
    assert asked.scientist_action.questions == [
        "Could the lab have 'ultrapure sodium carbonate' restocked?"
    ]
    assert asked.reason.startswith(
        "No plan with this method passes in this lab: at best protocol and reagents fail. With "
        "'ultrapure sodium carbonate' restocked it could run 18 samples in 3 days: power 0.85"
    )


def test_aware_scientist_does_not_ask_in_the_last_round() -> None:
    pack = load_scenario("fin_momentum", "hard")
    trace = aware_trace(pack, pack.reference_protocol, rounds=2)
    assert acts(trace) == ["propose_protocol", "walks away"]
    assert not trace.rounds[1].reason.startswith("The lab adds nothing")


def test_aware_scientist_does_not_ask_where_no_addition_is_known_to_help() -> None:
    # Twelve units at d = 0.3 have power below 0.10, so no sample reaches the floor of 0.50.
    design = OPEN.design.model_copy(update={"population_max": 12, "effect_planning": 0.3})
    pack = make_pack(budget=1, design=design, reference_protocol=SMALL)
    turn = turn_in(after(pack, SMALL), pack)
    assert turn.action is None
    assert turn.reason.endswith("No single addition by the lab would open one.")


def test_aware_scientist_goes_on_from_a_fork_by_its_rule() -> None:
    pack = load_scenario("fin_momentum", "hard")
    trace = aware_trace(pack, pack.reference_protocol)
    forked = fork(trace, 1, revise(pack.reference_protocol, sample_size=80), pack)
    assert acts(forked)[1:] == ["revise_protocol", "request_info", "walks away"]


def test_aware_scientist_walks_away_after_a_question_in_its_name() -> None:
    pack = load_scenario("fin_momentum", "hard")
    state, _ = play(pack, propose(pack.reference_protocol), ask("The budget?"))
    assert turn_in(state, pack).action is None


# --- each ask is answered -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ("Could the lab give 275 more credits?", ["Budget: 1,500 credits remain."]),
        ("Could the lab give 1 more day?", ["Time: at most 5 days."]),
        ("Could the lab give 2 more staff units?", ["Staff: 3 staff units."]),
        (
            "Could the lab have 'licensed-data terminal' released?",
            [
                "'licensed-data terminal' is booked until day 10; may be replaced by "
                "'vendor-approved extract on the research server'."
            ],
        ),
    ],
)
def test_each_kind_of_ask_is_answered_from_the_labs_data(asked: str, lines: list[str]) -> None:
    pack = load_scenario("fin_momentum", "hard")
    _, [done] = play(pack, ask(asked))
    assert done.lab_manager_action is not None
    assert done.lab_manager_action.explanation.splitlines() == lines


@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_every_ask_on_the_shelf_is_answered_thing_by_thing(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    for done in aware_trace(pack, pack.reference_protocol).rounds:
        action = done.scientist_action
        if action is None or action.action_type is not ScientistActionType.REQUEST_INFO:
            continue
        assert done.lab_manager_action is not None
        [asked], said = action.questions, done.lab_manager_action.explanation
        words = {"credit": "Budget:", "day": "Time:", "staff unit": "Staff:"}
        for noun, answer in words.items():
            assert (answer in said) or not re.search(rf"\d more {noun}", asked)
        for item in re.findall(r"'(.+?)' (?:released|restocked)", asked):
            assert f"'{item}' is " in said


# --- every pairing on the shelf -------------------------------------------------------------


@pytest.mark.parametrize("lab_manager", LabManagerKind)
@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_aware_scientist_agrees_above_the_floor_or_not_at_all(
    study: str, lab: str, lab_manager: LabManagerKind
) -> None:
    pack = load_scenario(study, lab)
    trace = aware_trace(pack, lab_manager=lab_manager)
    assert trace.outcome in {Outcome.AGREED, Outcome.NO_DEAL}
    assert len(trace.rounds) <= 3
    assert acts(trace).count("request_info") <= 1
    assert all(done.reason for done in trace.rounds)


@settings(max_examples=40)
@given(
    studied_packs(),
    st.none() | itemised_protocols(),
    st.integers(1, 6),
    st.sampled_from(LabManagerKind),
)
def test_every_negotiation_of_the_aware_scientist_ends_well_or_not_at_all(
    pack: Pack, plan: Protocol | None, rounds: int, manager: LabManagerKind
) -> None:
    opening = plan if plan and plan.sample_size else None
    trace = aware_trace(pack, opening, rounds, manager)
    assert trace.outcome is not Outcome.FALSE_AGREEMENT
    if trace.outcome is Outcome.AGREED_BELOW_FLOOR:
        assert (len(trace.rounds), trace.final_plan) == (1, opening)
    assert len(trace.rounds) <= min(rounds, 4)
    assert acts(trace).count("request_info") <= 1
    assert "request_info" not in acts(trace)[-1:]


def test_aware_scientist_goes_past_the_offer_where_one_more_sample_meets_the_target() -> None:
    # Forty in two groups at d = 0.9 reach power 0.79; one more is enough for the target of 0.80.
    turn = turn_in(after(BOOKED, PLAN), BOOKED)
    assert turn.action == revise_to(revise(OFFER, sample_size=41))


def test_aware_scientist_takes_back_a_revision_below_the_floor_by_hand() -> None:
    state, _ = play(BOOKED, propose(PLAN), revise_to(make_protocol(sample_size=8)))
    turn = turn_in(state, BOOKED)
    assert turn.action is not None
    assert turn.action.protocol is not None
    assert turn.action.protocol.sample_size > 8
