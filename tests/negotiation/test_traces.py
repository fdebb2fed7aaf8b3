"""A negotiation kept: saved and loaded, replayed, found out when edited, and forked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import ModelError, NegotiationError, TraceError
from replicalab.models import Protocol, ScientistActionType, revise
from replicalab.negotiation import (
    Ending,
    LabManagerKind,
    ModelAnswer,
    Outcome,
    ScientistKind,
    Trace,
    Turn,
    ask_model,
    begin,
    fork,
    load_trace,
    negotiate,
    play_action,
    play_turn,
    replay_differences,
    save_trace,
    scenario_digest,
    setup_for,
    start,
    state_before,
    state_of,
)
from replicalab.negotiation.players import FOR_THE_MODEL
from replicalab.scenarios import Pack, load_scenario
from tests.factories import change_pack, make_pack, make_protocol
from tests.negotiation.modelling import CUT_OFF, PROPOSAL, PROSE, model_trace, said
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    OPEN,
    PLAN,
    SMALL,
    ask,
    play,
    propose,
    revise_to,
)
from tests.scripted import ScriptedGenerate
from tests.strategies import itemised_protocols, studied_packs

PACK: Final = load_scenario("fin_momentum", "medium")
TRACE: Final = negotiate(setup_for(PACK, PACK.reference_protocol), PACK)
"""Five rounds: 300, 150, 75 and 37 samples, each with an offer, and the offer accepted."""
REMEDY: Final = "; load a file that was saved here and not edited since"

ROOT: Final = FilePath(__file__).resolve().parents[2]

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
    pack: Pack, plan: Protocol, rounds: int
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
            "the file: rounds is empty; a negotiation ends in a round",
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
            "rounds.0.check: feasible is True but the dimensions give another value",
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


def test_file_of_more_than_5_mib_is_refused_by_its_size() -> None:
    saved = save_trace(TRACE)
    just_fits = saved + " " * (5 * 2**20 - len(saved.encode()))
    assert load_trace(just_fits) == TRACE
    for longer, size in ((f"{just_fits} ", "5,242,881"), (" " * 6_000_000, "6,000,000")):
        assert refused(longer) == f"the file: {size} bytes, and 5,242,880 are read at most"


def test_size_counts_bytes_and_not_characters() -> None:
    assert refused("é" * 3_000_000) == "the file: 6,000,000 bytes, and 5,242,880 are read at most"


@pytest.mark.parametrize("lab_manager", LabManagerKind)
@pytest.mark.parametrize(
    "change",
    [
        {"sample_size": 10**15},
        {"duration_days": 10**15},
        {"required_equipment": ["x"] * 200},
        {"controls": [f"control {number}" for number in range(200)]},
        {"rationale": "no " * 100_000},
    ],
    ids=["samples", "days", "the same item", "controls", "rationale"],
)
def test_hostile_plan_in_a_file_is_replayed_without_a_traceback(
    change: dict[str, Any], lab_manager: LabManagerKind
) -> None:
    setup = setup_for(PACK, None, 2, ScientistKind.PERSON, lab_manager)
    trace = play_action(begin(setup, PACK), propose(PACK.reference_protocol), PACK)
    data = json.loads(save_trace(trace))
    data["rounds"][0]["scientist_action"] |= change
    [difference] = replay_differences(load_trace(json.dumps(data)), PACK)
    assert difference.message == "Round 1: the Lab Manager answers differently."


@pytest.mark.parametrize("field", ["controls", "required_equipment", "required_reagents"])
def test_list_that_is_longer_than_a_plan_can_need_is_refused_by_place(field: str) -> None:
    data = json.loads(save_trace(TRACE))
    data["rounds"][2]["scientist_action"][field] = ["x"] * 5_000
    with pytest.raises(TraceError) as caught:
        load_trace(json.dumps(data))
    assert str(caught.value) == (
        f"rounds.2.scientist_action.{field} has 5,000 entries, and 200 are read at most; shorten "
        "the list"
    )


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
    now = change_pack(PACK, min_days=4)
    [difference] = replay_differences(TRACE, now)
    assert difference.round_number is None


def test_replay_trusts_the_turns_up_to_a_fork_and_no_further() -> None:
    forked = fork(TRACE, 1, make_protocol(sample_size=90), PACK)
    assert replay_differences(forked, PACK) == []
    unforked = edited(lambda data: data["setup"].update(forked_at=None), forked)
    [difference] = replay_differences(unforked, PACK)
    assert difference.round_number == 1
    elsewhere = edited(lambda data: data["setup"].update(forked_at=0), forked)
    [difference] = replay_differences(elsewhere, PACK)
    assert difference.message == "Round 1: the Scientist acts differently."


def test_replay_finds_a_fork_in_a_round_that_was_not_played() -> None:
    trace = edited(lambda data: data["setup"].update(forked_at=5), TRACE)
    assert [found.message for found in replay_differences(trace, PACK)] == [
        "It says that round 6 was forked, and has 5 rounds."
    ]


FORGED: Final = "The offer reaches power 0.99, above the target."


@pytest.mark.parametrize("number", [0, 1, 2])
def test_replay_finds_a_reason_forged_before_at_and_after_a_fork(number: int) -> None:
    forked = fork(TRACE, 1, make_protocol(sample_size=90), PACK)
    trace = edited(lambda data: data["rounds"][number].update(reason=FORGED), forked)
    [difference] = replay_differences(trace, PACK)
    assert difference.message == f"Round {number + 1}: the Scientist acts differently."


def test_replay_finds_a_rules_last_round_passed_off_as_forked() -> None:
    trace = edited(lambda data: data["setup"].update(forked_at=4), TRACE)
    [difference] = replay_differences(trace, PACK)
    assert difference.message == "Round 5: no plan was put forward by hand."


@pytest.mark.parametrize("number", [0, 1])
def test_replay_finds_a_reason_forged_for_a_person(number: int) -> None:
    trace = edited(lambda data: data["rounds"][number].update(reason=FORGED), BY_HAND)
    [difference] = replay_differences(trace, BOOKED)
    assert difference.round_number == number


# --- after a model gave no valid action -------------------------------------------------------


def failed_model(turn_of: Callable[[ModelAnswer], Turn]) -> Trace:
    """Return a negotiation in which a model said nothing valid and then could not be reached."""
    trace = begin(setup_for(BOOKED, scientist=ScientistKind.MODEL), BOOKED)
    model = ScriptedGenerate([PROSE, ModelError("no answer")])
    answer = ask_model(model, state_of(trace, BOOKED), BOOKED)
    assert answer.turn is None
    return play_turn(trace, turn_of(answer), BOOKED)


def left(answer: ModelAnswer) -> Turn:
    """Return the turn that walks away because the model failed."""
    return Turn(action=None, reason=answer.failure or "", attempts=answer.attempts)


def acted(answer: ModelAnswer) -> Turn:
    """Return the turn of a person who acts for the model that failed."""
    return Turn(action=propose(PLAN), reason=FOR_THE_MODEL, attempts=answer.attempts)


@pytest.mark.parametrize("turn_of", [left, acted])
def test_turn_after_a_model_failed_replays_and_its_reason_cannot_be_forged(
    turn_of: Callable[[ModelAnswer], Turn],
) -> None:
    trace = failed_model(turn_of)
    assert replay_differences(load_trace(save_trace(trace)), BOOKED) == []
    forged = edited(lambda data: data["rounds"][0].update(reason=FORGED), trace)
    assert [found.round_number for found in replay_differences(forged, BOOKED)] == [0]


# --- a model's and a person's negotiation -----------------------------------------------------


MODELLED: Final = model_trace(
    BOOKED, [PROSE, CUT_OFF, PROPOSAL], [said(ask("Days?"))], [said(ACCEPT)]
)
BY_HAND: Final = play_action(
    play_action(begin(setup_for(BOOKED, scientist=ScientistKind.PERSON), BOOKED), ask("?"), BOOKED),
    propose(PLAN),
    BOOKED,
)
"""Two rounds of five; it goes on."""


def test_models_negotiation_keeps_every_attempt_and_replays() -> None:
    loaded = load_trace(save_trace(MODELLED))
    assert loaded == MODELLED
    assert [len(done.attempts) for done in loaded.rounds] == [3, 1, 1]
    assert replay_differences(loaded, BOOKED) == []


@pytest.mark.parametrize("trace", [BY_HAND, begin(setup_for(BOOKED), BOOKED)], ids=["two", "none"])
def test_unfinished_negotiation_is_kept_and_replays(trace: Trace) -> None:
    loaded = load_trace(save_trace(trace))
    assert loaded == trace
    assert (loaded.ending, loaded.outcome) == (None, None)
    assert replay_differences(loaded, BOOKED) == []


def test_person_can_go_on_from_a_loaded_negotiation() -> None:
    loaded = load_trace(save_trace(BY_HAND))
    assert play_action(loaded, ACCEPT, BOOKED).outcome is Outcome.AGREED


def attempt_of(data: dict[str, Any], number: int, attempt: int) -> dict[str, Any]:
    found: dict[str, Any] = data["rounds"][number]["attempts"][attempt]
    return found


@pytest.mark.parametrize(
    ("edit", "number", "what"),
    [
        (
            lambda data: attempt_of(data, 0, 2).update(raw_output=said(propose(SMALL))),
            0,
            "the Scientist acts differently",
        ),
        (
            lambda data: attempt_of(data, 0, 2).update(raw_output=PROSE),
            0,
            "the model's outputs hold no valid action",
        ),
        (
            lambda data: attempt_of(data, 0, 1).update(error_code="no_json"),
            0,
            "the Scientist acts differently",
        ),
        (
            lambda data: data["rounds"][0]["attempts"].pop(0),
            0,
            "the Scientist acts differently",
        ),
        (
            lambda data: attempt_of(data, 1, 0).update(observation="Round 1 of 5"),
            1,
            "the model was told something else",
        ),
        (
            lambda data: attempt_of(data, 2, 0).update(system_prompt="Be nice."),
            2,
            "the model was told something else",
        ),
        (
            lambda data: data["rounds"][2].update(reason="It was told to."),
            2,
            "the Scientist acts differently",
        ),
        (
            lambda data: data["rounds"][1]["lab_manager_action"].update(explanation="Take any."),
            1,
            "the Lab Manager answers differently",
        ),
    ],
)
def test_replay_finds_an_edit_in_a_models_round(edit: Edit, number: int, what: str) -> None:
    trace = edited(edit, MODELLED)
    [difference] = replay_differences(trace, BOOKED)
    assert (difference.round_number, difference.message) == (number, f"Round {number + 1}: {what}.")


def test_replay_finds_a_persons_turn_that_was_edited() -> None:
    trace = edited(
        lambda data: data["rounds"][1]["scientist_action"].update(sample_size=39), BY_HAND
    )
    [difference] = replay_differences(trace, BOOKED)
    assert difference.round_number == 1


def test_attempts_slipped_into_a_rules_negotiation_do_not_excuse_another_turn() -> None:
    slipped = model_trace(PACK, [said(propose(make_protocol(sample_size=77)))])
    data = json.loads(save_trace(slipped))
    data["setup"] |= {"scientist": "baseline", "model": None}
    [difference] = replay_differences(load_trace(json.dumps(data)), PACK)
    assert difference.round_number == 0


def test_fork_of_a_models_negotiation_waits_for_its_next_turn() -> None:
    forked = fork(MODELLED, 1, make_protocol(sample_size=90), BOOKED)
    assert len(forked.rounds) == 2
    assert forked.rounds[0].attempts == MODELLED.rounds[0].attempts
    assert forked.outcome is None
    assert replay_differences(load_trace(save_trace(forked)), BOOKED) == []


def test_attempts_before_a_fork_are_read_again_too() -> None:
    forked = fork(MODELLED, 1, make_protocol(sample_size=90), BOOKED)
    trace = edited(lambda data: attempt_of(data, 0, 0).update(observation="nothing"), forked)
    [difference] = replay_differences(trace, BOOKED)
    assert difference.message == "Round 1: the model was told something else."


# --- in a new process -------------------------------------------------------------------------

REPLAY: Final = """
import json, sys
from replicalab.negotiation import load_trace, replay_differences
from replicalab.scenarios import load_scenario
for text in json.load(sys.stdin):
    trace = load_trace(text)
    pack = load_scenario(trace.setup.scenario_id, trace.setup.difficulty, trace.setup.seed)
    print(json.dumps([d.model_dump() for d in replay_differences(trace, pack)]))
"""


def shelf_traces() -> list[Trace]:
    """Return a negotiation of every kind of player, finished, unfinished and forked."""
    plan = PACK.reference_protocol
    rules = [
        negotiate(setup_for(PACK, plan, 5, scientist, manager), PACK)
        for scientist in (ScientistKind.BASELINE, ScientistKind.EVIDENCE_AWARE)
        for manager in LabManagerKind
    ]
    modelled = model_trace(PACK, [PROSE, said(propose(plan))], [said(ACCEPT)])
    person = begin(setup_for(PACK, scientist=ScientistKind.PERSON), PACK)
    person = play_action(person, propose(plan), PACK)
    seeded = load_scenario("phys_millikan", "hard", 4711)
    return [
        *rules,
        modelled,
        person,
        fork(TRACE, 2, plan, PACK),
        fork(modelled, 1, plan, PACK),
        negotiate(setup_for(seeded, seeded.reference_protocol), seeded),
    ]


def test_saved_negotiations_replay_identically_in_a_new_process_round_by_round() -> None:
    texts = [save_trace(trace) for trace in shelf_traces()]
    broken = json.loads(texts[0])
    broken["rounds"][3]["check"]["estimated_cost"] += 1
    process = subprocess.run(
        [sys.executable, "-c", REPLAY],
        cwd=ROOT,
        input=json.dumps([*texts, json.dumps(broken)]),
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    *same, differing = [json.loads(line) for line in process.stdout.splitlines()]
    assert same == [[]] * len(texts)
    assert differing == [
        {"round_number": 3, "message": "Round 4: the Lab Manager answers differently."}
    ]


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
    pack: Pack, opening: Protocol, plan: Protocol, data: st.DataObject
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
    pack = make_pack(budget=1234)
    assert negotiate(setup_for(pack, PLAN), pack).scenario_digest == scenario_digest(pack)
