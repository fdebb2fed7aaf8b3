"""A whole negotiation, for every pairing of players, through the same step."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replicalab.agents import check_feasibility
from replicalab.cassettes import ModelSettings, cassette_of, load_cassette, play_cassette
from replicalab.cassettes import save_cassette as saved_cassette
from replicalab.errors import NegotiationError
from replicalab.models import Protocol, ScientistAction
from replicalab.negotiation import (
    AUTOMATIC,
    LabManagerKind,
    Outcome,
    ScientistKind,
    Trace,
    Turn,
    ask_model,
    begin,
    choose_turn,
    load_trace,
    negotiate,
    play_action,
    play_turn,
    replay_differences,
    save_trace,
    setup_for,
    start,
    state_of,
    step,
)
from replicalab.negotiation.games import state_after
from replicalab.negotiation.players import opening_turn
from replicalab.negotiation.prospects import prospect
from replicalab.scenarios import EvidenceTier, Pack, load_scenario
from tests.factories import make_protocol
from tests.negotiation.modelling import CUT_OFF, PROPOSAL, PROSE, said
from tests.negotiation.playing import ACCEPT, BOOKED, OFFER, OPEN, PLAN, STUCK, propose, revise_to
from tests.scripted import ScriptedGenerate
from tests.strategies import itemised_protocols, scientist_actions, studied_packs, turns

BY_HAND: Final = [kind for kind in ScientistKind if kind not in AUTOMATIC]
PAIRINGS: Final = list(product(ScientistKind, LabManagerKind))


def next_turn(trace: Trace, pack: Pack) -> Turn:
    """Return the next turn of whoever plays: by rule, by a scripted model, or by hand."""
    state = state_of(trace, pack)
    if trace.setup.scientist in AUTOMATIC:
        return choose_turn(trace.setup, state, pack)
    action = propose(PLAN) if state.plan is None else ACCEPT
    if trace.setup.scientist is ScientistKind.PERSON:
        return Turn(action=action)
    answer = ask_model(ScriptedGenerate([PROSE, said(action)]), state, pack)
    assert answer.turn is not None
    return answer.turn


@pytest.mark.parametrize(("scientist", "lab_manager"), PAIRINGS)
@pytest.mark.parametrize("pack", [OPEN, BOOKED, STUCK], ids=["open", "booked", "stuck"])
def test_every_pairing_plays_to_an_end_and_replays(
    pack: Pack, scientist: ScientistKind, lab_manager: LabManagerKind
) -> None:
    trace = begin(setup_for(pack, None, 5, scientist, lab_manager), pack)
    while trace.ending is None:
        trace = play_turn(trace, next_turn(trace, pack), pack)
    assert trace.outcome is not None
    assert replay_differences(load_trace(save_trace(trace)), pack) == []


@pytest.mark.parametrize("lab_manager", LabManagerKind)
@pytest.mark.parametrize("scientist", sorted(AUTOMATIC))
def test_negotiation_by_rule_is_the_same_turn_by_turn(
    scientist: ScientistKind, lab_manager: LabManagerKind
) -> None:
    pack = load_scenario("fin_momentum", "medium")
    setup = setup_for(pack, pack.reference_protocol, 5, scientist, lab_manager)
    trace = begin(setup, pack)
    while trace.ending is None:
        trace = play_turn(trace, choose_turn(setup, state_of(trace, pack), pack), pack)
    assert trace == negotiate(setup, pack)


@pytest.mark.parametrize("scientist", BY_HAND)
def test_negotiation_by_hand_waits_after_the_opening(scientist: ScientistKind) -> None:
    assert negotiate(setup_for(BOOKED, None, 5, scientist), BOOKED).rounds == []
    opened = negotiate(setup_for(BOOKED, PLAN, 5, scientist), BOOKED)
    assert [done.plan for done in opened.rounds] == [PLAN]
    assert opened.outcome is None


@pytest.mark.parametrize("scientist", BY_HAND)
def test_player_without_a_rule_cannot_be_asked(scientist: ScientistKind) -> None:
    setup = setup_for(BOOKED, None, 5, scientist)
    with pytest.raises(NegotiationError) as caught:
        choose_turn(setup, start(setup), BOOKED)
    assert str(caught.value) == (
        f"the Scientist is played by a {scientist}, who follows no rule; hand in a turn"
    )


def test_beginning_has_no_round_and_no_ending() -> None:
    trace = begin(setup_for(BOOKED, scientist=ScientistKind.PERSON), BOOKED)
    assert (trace.rounds, trace.ending, trace.outcome, trace.final_plan) == ([], None, None, None)
    assert state_of(trace, BOOKED) == start(trace.setup)


def test_turn_after_the_end_is_refused() -> None:
    trace = negotiate(setup_for(OPEN, PLAN), OPEN)
    with pytest.raises(NegotiationError, match=r"^round 2: the negotiation has ended"):
        play_action(trace, ACCEPT, OPEN)


def test_state_after_each_round_is_where_stepping_led() -> None:
    trace = begin(setup_for(BOOKED, scientist=ScientistKind.PERSON), BOOKED)
    state = start(trace.setup)
    for action in (propose(PLAN), revise_to(make_protocol(sample_size=30)), ACCEPT):
        trace = play_action(trace, action, BOOKED)
        state, _ = step(state, action, BOOKED)
        assert state_after(trace, len(trace.rounds), BOOKED) == state == state_of(trace, BOOKED)
    assert state_after(trace, 1, BOOKED).offer == OFFER


def test_opening_turn_without_samples_is_refused() -> None:
    assert opening_turn(PLAN).action == propose(PLAN)
    with pytest.raises(NegotiationError, match="has a sample size of 0"):
        opening_turn(make_protocol(sample_size=0))


@pytest.mark.parametrize(
    ("rounds", "reasons"),
    [
        (
            2,
            ["The opening plan, as it was given.", "It is the last round, so it accepts."],
        ),
        (
            3,
            [
                "The opening plan, as it was given.",
                "The last answer names something that stands in the way, so it halves the sample "
                "and takes a day off.",
                "It is the last round, so it accepts.",
            ],
        ),
    ],
)
def test_baseline_says_which_rule_it_follows(rounds: int, reasons: list[str]) -> None:
    pack = load_scenario("fin_momentum", "medium")
    trace = negotiate(setup_for(pack, pack.reference_protocol, rounds), pack)
    assert [done.reason for done in trace.rounds] == reasons


def test_baseline_says_when_nothing_stands_in_the_way() -> None:
    trace = negotiate(setup_for(OPEN, make_protocol(rationale="an open flame")), OPEN)
    assert trace.rounds[1].reason == (
        "The last answer names nothing that stands in the way, so it accepts."
    )
    assert trace.outcome is Outcome.FALSE_AGREEMENT


def test_baselines_own_opening_is_told_as_such() -> None:
    assert negotiate(setup_for(OPEN), OPEN).rounds[0].reason == (
        "Its own opening: the default plan of the paper's field."
    )


# --- properties -----------------------------------------------------------------------------


@given(studied_packs(), st.lists(turns(), max_size=6), st.sampled_from(LabManagerKind))
def test_any_negotiation_by_hand_is_kept_and_replays(
    pack: Pack, given_turns: list[Turn], lab_manager: LabManagerKind
) -> None:
    trace = begin(setup_for(pack, None, 6, ScientistKind.PERSON, lab_manager), pack)
    for turn in given_turns:
        if trace.ending is None:
            trace = play_turn(trace, turn.model_copy(update={"reason": ""}), pack)
    assert load_trace(save_trace(trace)) == trace
    assert replay_differences(trace, pack) == []


spoken = st.text(max_size=60) | scientist_actions().map(said) | st.sampled_from([CUT_OFF, PROSE])


@settings(max_examples=50)
@given(studied_packs(), st.lists(st.lists(spoken, max_size=2), min_size=1, max_size=3))
def test_whatever_a_model_says_is_recorded_and_played_again_equally(
    pack: Pack, texts: list[list[str]]
) -> None:
    trace = begin(setup_for(pack, None, 6, ScientistKind.MODEL), pack)
    for some in texts:
        if trace.ending is not None:
            break
        answer = ask_model(ScriptedGenerate([*some, PROPOSAL]), state_of(trace, pack), pack)
        assert answer.turn is not None
        trace = play_turn(trace, answer.turn, pack)
    cassette = cassette_of(trace, ModelSettings(model="m"), key="any", title="Any")
    assert play_cassette(load_cassette(saved_cassette(cassette)), pack) == trace
    assert replay_differences(load_trace(save_trace(trace)), pack) == []


@given(studied_packs(), st.none() | itemised_protocols())
def test_prospect_that_exists_can_run_above_the_floor(pack: Pack, plan: Protocol | None) -> None:
    found = prospect(plan, pack)
    assert found.best.check == check_feasibility(found.best.plan, pack)
    tier = found.best.price.evidence.tier
    assert found.exists is (found.best.check.feasible and tier is not EvidenceTier.BELOW_FLOOR)


@given(studied_packs(), scientist_actions())
def test_first_action_by_hand_never_fails(pack: Pack, action: ScientistAction) -> None:
    trace = play_action(begin(setup_for(pack, scientist=ScientistKind.PERSON), pack), action, pack)
    assert len(trace.rounds) == 1
