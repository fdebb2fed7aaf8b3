"""A negotiation kept: saved and loaded, replayed, found out when edited, and forked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import NegotiationError, TraceError
from replicalab.models import Protocol, ScientistActionType, revise
from replicalab.negotiation import (
    Ending,
    Outcome,
    Trace,
    fork,
    load_trace,
    negotiate,
    replay_differences,
    save_trace,
    scenario_digest,
    setup_for,
    start,
    state_before,
)
from replicalab.scenarios import NormalizedScenarioPack, load_scenario
from tests.factories import make_pack_in_lab, make_protocol
from tests.negotiation.playing import BOOKED, OPEN, PLAN, play, propose, revise_to
from tests.strategies import itemised_protocols, studied_packs

PACK: Final = load_scenario("fin_momentum", "medium")
TRACE: Final = negotiate(setup_for(PACK, PACK.reference_protocol), PACK)
"""Five rounds: 300, 150, 75 and 37 samples, each with an offer, and the offer accepted."""
REMEDY: Final = "; load a file that was saved here and not edited since"

Edit = Callable[[dict[str, Any]], object]


def edited(edit: Edit, trace: Trace = TRACE) -> Trace:
    """Return what a file holds after somebody changed it; it still reads as a trace."""
    data = json.loads(save_trace(trace))
    edit(data)
    return load_trace(json.dumps(data))


def found(edit: Edit) -> tuple[int | None, str]:
    """Return where and how a replay of the edited file differs."""
    trace = edited(edit)
    assert trace != TRACE, "the edit changes nothing"
    [difference] = replay_differences(trace, PACK)
    return difference.round_number, difference.message


# --- saved and loaded -----------------------------------------------------------------------


def test_saved_trace_loads_to_an_equal_one() -> None:
    assert load_trace(save_trace(TRACE)) == TRACE
    assert save_trace(load_trace(save_trace(TRACE))) == save_trace(TRACE)


@given(studied_packs(), itemised_protocols(), st.integers(1, 5))
def test_any_trace_survives_saving_and_replays_identically(
    pack: NormalizedScenarioPack, plan: Protocol, rounds: int
) -> None:
    trace = negotiate(setup_for(pack, plan if plan.sample_size else None, rounds), pack)
    loaded = load_trace(save_trace(trace))
    assert loaded == trace
    assert replay_differences(loaded, pack) == []


def test_saved_trace_shows_the_verdict_of_each_check() -> None:
    saved = json.loads(save_trace(TRACE))
    assert saved["rounds"][0]["check"]["feasible"] is False
    assert saved["rounds"][4]["check"]["summary"] == "Feasible: all seven dimensions pass."


def refused(text: str) -> str:
    """Return why a text is no trace, without the remedy that every such message ends with."""
    with pytest.raises(TraceError) as caught:
        load_trace(text)
    message = str(caught.value)
    assert message.endswith(REMEDY)
    return message.removesuffix(REMEDY)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Invalid JSON: EOF while parsing a value at line 1 column 0"),
        ("{", "Invalid JSON: EOF while parsing an object at line 1 column 1"),
        ("hello", "Invalid JSON: expected value at line 1 column 1"),
        ("null", "Input should be an object"),
        ("[1, 2]", "Input should be an object"),
        ("\ud800", "Input should be a valid string, unable to parse raw data as a unicode string"),
    ],
)
def test_text_that_is_no_json_object_is_refused(text: str, why: str) -> None:
    assert refused(text) == f"the file: {why}"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"setup":' * 50_000, "9" * 100_000, "\x00"])
def test_hostile_json_is_refused(text: str) -> None:
    assert refused(text).startswith("the file: ")


def test_json_of_something_else_is_refused_by_what_is_missing() -> None:
    assert refused('{"name": "a draft"}') == "setup: Field required"


Path = tuple[str | int, ...]


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (
            ("rounds", 1, "plan", "sample_size"),
            -3,
            "rounds.1.plan.sample_size is -3: Input should be greater than or equal to 0",
        ),
        (
            ("setup", "max_rounds"),
            51,
            "setup.max_rounds is 51: Input should be less than or equal to 50",
        ),
        (
            ("rounds",),
            [],
            "the file: Value error, rounds is empty; a negotiation ends in a round",
        ),
        (
            ("outcome",),
            "won",
            "outcome: Input should be 'agreed', 'agreed_below_floor', 'false_agreement' or "
            "'no_deal'",
        ),
        (("note",), "mine", "note: Extra inputs are not permitted"),
        (
            ("rounds", 0, "check", "feasible"),
            True,
            "rounds.0.check: Value error, feasible is True but the dimensions give another value",
        ),
    ],
)
def test_value_that_no_trace_can_hold_is_refused_by_place(
    path: Path, value: object, why: str
) -> None:
    data = json.loads(save_trace(TRACE))
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert refused(json.dumps(data)) == why


@given(st.integers(0, len(save_trace(TRACE)) - 1))
def test_file_that_was_cut_is_refused(length: int) -> None:
    assert refused(save_trace(TRACE)[:length]).startswith("the file: Invalid JSON: EOF")


@given(st.text())
def test_text_that_was_never_saved_is_refused(text: str) -> None:
    assert refused(text)


@given(st.integers(0, len(save_trace(TRACE)) - 1), st.characters(codec="utf-8"))
def test_file_with_one_character_changed_never_fails_in_another_way(at: int, new: str) -> None:
    saved = save_trace(TRACE)
    try:
        trace = load_trace(saved[:at] + new + saved[at + 1 :])
    except TraceError:
        return
    replay_differences(trace, PACK)


# --- replayed -------------------------------------------------------------------------------


def test_replay_of_an_untouched_trace_finds_every_round_identical() -> None:
    assert replay_differences(TRACE, PACK) == []


@pytest.mark.parametrize("number", range(5))
def test_replay_finds_an_edited_sample_size_in_its_round(number: int) -> None:
    def more(data: dict[str, Any]) -> None:
        data["rounds"][number]["plan"]["sample_size"] += 1

    message = f"Round {number + 1}: the Lab Manager answers differently."
    assert found(more) == (number, message)


@pytest.mark.parametrize("number", range(5))
def test_replay_finds_an_edited_explanation_in_its_round(number: int) -> None:
    def reword(data: dict[str, Any]) -> None:
        data["rounds"][number]["lab_manager_action"]["explanation"] += " Well done."

    message = f"Round {number + 1}: the Lab Manager answers differently."
    assert found(reword) == (number, message)


@pytest.mark.parametrize("number", range(4))
def test_replay_finds_an_edited_turn_of_the_scientist_in_its_round(number: int) -> None:
    def more(data: dict[str, Any]) -> None:
        data["rounds"][number]["scientist_action"]["sample_size"] += 1

    assert found(more) == (number, f"Round {number + 1}: the Scientist acts differently.")


def test_replay_finds_an_edited_opening_in_round_1() -> None:
    assert found(lambda data: data["setup"]["opening"].update(sample_size=299)) == (
        0,
        "Round 1: the Scientist acts differently.",
    )


def test_replay_finds_an_opening_that_could_not_be_proposed() -> None:
    assert found(lambda data: data["setup"]["opening"].update(sample_size=0)) == (
        0,
        "Round 1: the plan has a sample size of 0; a proposal needs at least 1 sample.",
    )


def test_replay_finds_a_wrong_round_number_where_it_stands() -> None:
    assert found(lambda data: data["rounds"][1].update(number=40)) == (
        1,
        "Round 2: the Lab Manager answers differently.",
    )


def test_replay_finds_a_round_left_out_at_the_end() -> None:
    assert found(lambda data: data["rounds"].pop()) == (
        3,
        "Round 4: the ending is not 'the Scientist accepted'.",
    )


def test_replay_finds_a_round_left_out_at_the_start() -> None:
    assert found(lambda data: data["rounds"].pop(0)) == (
        0,
        "Round 1: the Scientist acts differently.",
    )


def test_replay_finds_a_round_after_the_end() -> None:
    assert found(lambda data: data["rounds"].append(data["rounds"][-1])) == (
        5,
        "Round 6: the negotiation had ended: the Scientist accepted.",
    )


def test_replay_finds_an_edited_number_of_rounds_where_it_first_matters() -> None:
    assert found(lambda data: data["setup"].update(max_rounds=3)) == (
        2,
        "Round 3: the Scientist acts differently.",
    )


def test_replay_finds_an_edited_ending() -> None:
    assert found(lambda data: data.update(ending=Ending.OUT_OF_ROUNDS.value)) == (
        4,
        "Round 5: the ending is not 'the rounds ran out'.",
    )


@pytest.mark.parametrize("claimed", sorted(set(Outcome) - {TRACE.outcome}))
def test_replay_finds_an_edited_outcome(claimed: Outcome) -> None:
    assert found(lambda data: data.update(outcome=claimed.value)) == (
        4,
        f"Round 5: the outcome is not '{claimed}'.",
    )


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.update(scenario_digest="0" * 16),
        lambda data: data["setup"].update(seed=3),
        lambda data: data["setup"].update(difficulty="hard"),
        lambda data: data["setup"].update(scenario_id="ml_resnet_cifar10"),
    ],
    ids=["digest", "seed", "difficulty", "study"],
)
def test_replay_in_another_lab_says_so(edit: Edit) -> None:
    assert found(edit) == (None, "The study or its lab has changed.")


def test_replay_notices_that_the_study_file_has_changed() -> None:
    now = PACK.model_copy(update={"min_days": 4})
    [difference] = replay_differences(TRACE, now)
    assert difference.round_number is None


def test_replay_trusts_the_turns_up_to_a_fork_and_no_further() -> None:
    forked = fork(TRACE, 1, make_protocol(sample_size=90), PACK)
    assert replay_differences(forked, PACK) == []
    unforked = edited(lambda data: data["setup"].update(forked_at=0), forked)
    [difference] = replay_differences(unforked, PACK)
    assert difference.round_number == 1


# --- forked ---------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(5))
def test_fork_keeps_the_rounds_before_and_puts_the_plan_forward(number: int) -> None:
    plan = revise(PACK.reference_protocol, sample_size=111)
    forked = fork(TRACE, number, plan, PACK)
    assert forked.rounds[:number] == TRACE.rounds[:number]
    assert forked.rounds[number].scientist_action == (revise_to(plan) if number else propose(plan))
    assert forked.rounds[number].plan == plan
    assert forked.setup == TRACE.setup.model_copy(update={"forked_at": number})
    assert replay_differences(forked, PACK) == []
    assert load_trace(save_trace(forked)) == forked


def test_fork_goes_on_with_the_baseline() -> None:
    # 111 samples, 7 days cost 1110 + 350 + 450 = 1910 in a lab of 2600 credits and 6 days.
    forked = fork(TRACE, 1, revise(PACK.reference_protocol, sample_size=111, duration_days=7), PACK)
    plans = [done.plan for done in forked.rounds]
    assert [plan and (plan.sample_size, plan.duration_days) for plan in plans] == [
        (300, 8),
        (111, 7),
        (55, 6),
        (27, 5),
        (27, 5),
    ]
    assert forked.ending is Ending.SCIENTIST_ACCEPTED


def test_fork_with_a_plan_that_passes_ends_there() -> None:
    offer = TRACE.rounds[0].suggestion
    assert offer is not None
    forked = fork(TRACE, 1, offer.revised_protocol, PACK)
    assert len(forked.rounds) == 2
    assert (forked.ending, forked.outcome) == (Ending.LAB_MANAGER_ACCEPTED, Outcome.AGREED)


def test_fork_in_the_last_round_can_run_out_of_rounds() -> None:
    forked = fork(TRACE, 4, PACK.reference_protocol, PACK)
    assert (forked.ending, forked.outcome) == (Ending.OUT_OF_ROUNDS, Outcome.NO_DEAL)


def test_fork_of_a_fork_replays_whichever_comes_first() -> None:
    plan = revise(PACK.reference_protocol, sample_size=200)
    for first, second in ((1, 3), (3, 1), (2, 2)):
        twice = fork(fork(TRACE, first, plan, PACK), second, PLAN, PACK)
        assert twice.setup.forked_at == second
        assert replay_differences(twice, PACK) == []


def test_fork_leaves_the_trace_alone() -> None:
    before = save_trace(TRACE)
    fork(TRACE, 2, PLAN, PACK)
    assert save_trace(TRACE) == before


@given(studied_packs(), itemised_protocols(), itemised_protocols(), st.data())
def test_any_fork_keeps_its_past_and_replays(
    pack: NormalizedScenarioPack, opening: Protocol, plan: Protocol, data: st.DataObject
) -> None:
    trace = negotiate(setup_for(pack, opening if opening.sample_size else None), pack)
    number = data.draw(st.integers(0, len(trace.rounds) - 1))
    plan = revise(plan, sample_size=plan.sample_size + 1)
    forked = fork(trace, number, plan, pack)
    assert forked.rounds[:number] == trace.rounds[:number]
    assert len(forked.rounds) <= 5
    assert replay_differences(load_trace(save_trace(forked)), pack) == []


@pytest.mark.parametrize("number", [-1, 5, 99])
def test_fork_at_no_round_of_the_trace_is_refused(number: int) -> None:
    with pytest.raises(NegotiationError) as caught:
        fork(TRACE, number, PLAN, PACK)
    assert str(caught.value) == (
        f"round {number + 1}: the negotiation has 5 rounds; choose one from 1 to 5"
    )


def test_fork_with_no_samples_is_refused() -> None:
    with pytest.raises(NegotiationError) as caught:
        fork(TRACE, 1, make_protocol(sample_size=0), PACK)
    assert str(caught.value) == "forked plan: sample_size is 0; plan at least 1 sample"


def test_fork_in_another_lab_is_refused() -> None:
    with pytest.raises(NegotiationError) as caught:
        fork(TRACE, 1, PLAN, load_scenario("fin_momentum", "hard"))
    assert str(caught.value) == (
        "the study or its lab has changed since this negotiation; start a new one"
    )


def test_state_before_a_round_is_what_stepping_there_gives() -> None:
    trace = negotiate(setup_for(BOOKED, PLAN), BOOKED)
    assert state_before(trace, 0, BOOKED) == start(trace.setup)
    state, _ = play(BOOKED, propose(PLAN))
    assert state_before(trace, 1, BOOKED) == state
    assert state.offer is not None


def test_first_turn_of_a_fork_at_round_1_is_a_proposal() -> None:
    forked = fork(negotiate(setup_for(OPEN, PLAN), OPEN), 0, make_protocol(sample_size=12), OPEN)
    action = forked.rounds[0].scientist_action
    assert action is not None
    assert action.action_type is ScientistActionType.PROPOSE_PROTOCOL


def test_digest_of_a_trace_is_its_labs() -> None:
    pack = make_pack_in_lab(budget=1234)
    assert negotiate(setup_for(pack, PLAN), pack).scenario_digest == scenario_digest(pack)
