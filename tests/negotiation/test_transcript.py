"""A negotiation kept: saved, loaded, replayed, and found out wherever it was edited."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import ModelError, TraceError
from replicalab.negotiation import (
    LabManagerKind,
    Negotiation,
    Output,
    ScientistKind,
    TextSource,
    Transcript,
    Turn,
    TurnAuthor,
    ask_model,
    fork,
    load,
    negotiate,
    play,
    replay,
    save,
)
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, Pack, load_scenario
from tests.factories import change_pack, make_protocol, with_means
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    CUT_OFF,
    MEDIUM,
    MODELLED,
    PLAN,
    PROPOSAL,
    PROSE,
    RECORDING,
    RULED,
    SMALL,
    Edit,
    ask,
    at,
    by_model,
    by_person,
    by_rule,
    game,
    plan_of,
    propose,
    revise_to,
    said,
)
from tests.scripted import ScriptedGenerate
from tests.strategies import scientist_actions, studied_packs, turns

ROOT: Final = Path(__file__).resolve().parents[2]
HANDED: Final = by_person(BOOKED, ask("?"), propose(PLAN), max_rounds=7)
"""Two rounds of seven; it goes on."""
FORKED: Final = fork(RULED, 1, make_protocol(sample_size=90))
MEASURED: Final = Output(
    text=PROPOSAL, prompt_tokens=812, completion_tokens=97, seconds=3.25, finish_reason="stop"
)
WORDED: Final = {"success_criteria": ["Something else altogether."]}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a replay reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


# --- saved, loaded, replayed ----------------------------------------------------------------


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    "negotiation",
    [
        play(
            by_model(BOOKED),
            Turn(action=propose(PLAN), by=TurnAuthor.MODEL, outputs=(MEASURED,)),
        ),
        HANDED,
        FORKED,
        fork(MODELLED, 1, PLAN),
        Negotiation(game(BOOKED), BOOKED),
    ],
    ids=["modelled", "handed", "forked", "modelled and forked", "begun"],
)
def test_saved_loaded_and_replayed_is_equal(negotiation: Negotiation) -> None:
    saved = save(negotiation)
    again, differences = replay(load(saved), negotiation.pack)
    assert (again, differences, save(again)) == (negotiation, (), saved)


@given(studied_packs(), st.lists(turns(), min_size=6, max_size=6), st.integers(1, 6),
       st.sampled_from(LabManagerKind))  # fmt: skip
def test_any_negotiation_by_hand_ends_within_its_rounds_is_kept_and_replays(
    pack: Pack, given_turns: list[Turn], rounds: int, lab_manager: LabManagerKind
) -> None:
    negotiation = by_person(pack, max_rounds=6, lab_manager=lab_manager)
    for number, turn in enumerate(given_turns[:rounds]):
        if negotiation.ending is None:
            assert negotiation.state.round_number == number
            negotiation = play(negotiation, turn)
            assert (negotiation.rounds[-1].answer is None) is (turn.action is None)
    assert rounds < 6 or negotiation.outcome is not None
    assert replay(load(save(negotiation)), pack) == (negotiation, ())


spoken = st.text(max_size=60) | scientist_actions().map(said) | st.sampled_from([CUT_OFF, PROSE])


@given(studied_packs(), st.lists(st.lists(spoken, max_size=2), min_size=1, max_size=3))
def test_whatever_a_model_says_is_recorded_and_played_again_equally(
    pack: Pack, texts: list[list[str]]
) -> None:
    negotiation = by_model(pack, rounds=6)
    for some in texts:
        if negotiation.ending is None:
            answer = ask_model(ScriptedGenerate([*some, PROPOSAL]), negotiation.state, pack)
            assert answer.turn is not None
            negotiation = play(negotiation, answer.turn)
    assert replay(load(save(negotiation, RECORDING)), pack) == (negotiation, ())


def test_file_holds_decisions_and_numbers_and_no_prose_of_ours() -> None:
    saved = save(RULED)
    data = json.loads(saved)
    assert [turn["facts"]["cost"] for turn in data["turns"]] == [5050, 2900, 1800, 1220, 1220]
    assert data["turns"][0]["facts"]["failing"] == ["protocol", "budget", "equipment", "schedule"]
    assert (data["format"], data["outcome"]) == (2, "agreed_below_floor")
    for done in RULED.rounds:
        assert done.answer is not None
        assert done.reason not in saved
        assert done.answer.explanation.splitlines()[0] not in saved
    assert len(saved) < 15_000
    assert "null" not in saved, "what is not known is left out"
    assert saved == json.dumps(data, indent=1, ensure_ascii=False)


@pytest.mark.parametrize("by", [TurnAuthor.MODEL, TurnAuthor.PERSON], ids=["left", "acted for"])
def test_turn_after_a_model_failed_is_kept_with_what_it_said(by: TurnAuthor) -> None:
    negotiation = by_model(BOOKED)
    model = ScriptedGenerate([PROSE, ModelError("no answer")])
    answer = ask_model(model, negotiation.state, BOOKED)
    assert answer.turn is None
    action = propose(PLAN) if by is TurnAuthor.PERSON else None
    played = play(negotiation, Turn(action=action, by=by, outputs=answer.outputs))
    [done] = played.rounds
    assert done.attempts == answer.attempts
    acted = "A person acted for the model in this round."
    assert done.reason == (acted if action else answer.failure)
    assert replay(load(save(played)), BOOKED) == (played, ())


def test_recording_of_no_turn_of_a_model_is_refused() -> None:
    with pytest.raises(TraceError, match="has no turn of a model"):
        save(by_model(BOOKED), RECORDING)


def test_recording_may_begin_with_an_opening_that_a_rule_puts_forward() -> None:
    setup = game(BOOKED, PLAN, scientist=ScientistKind.MODEL)
    negotiation = negotiate(setup, BOOKED, ScriptedGenerate([said(ACCEPT)]))
    assert [done.turn.by for done in negotiation.rounds] == [TurnAuthor.RULE, TurnAuthor.MODEL]
    assert replay(load(save(negotiation, RECORDING)), BOOKED) == (negotiation, ())


# --- edited ---------------------------------------------------------------------------------


def edited(negotiation: Negotiation, edit: Edit, recorded: bool = False) -> Transcript:
    """Return what a file holds after somebody changed it; it still reads as a transcript."""
    saved = save(negotiation, RECORDING if recorded else None)
    data = json.loads(saved)
    edit(data)
    transcript = load(json.dumps(data))
    assert transcript != load(saved), "the edit changes nothing"
    return transcript


def found(transcript: Transcript, pack: Pack) -> list[tuple[int | None, str]]:
    """Return where and how a replay differs."""
    return [(number, message) for number, message in replay(transcript, pack).differences]


def turn(number: int, **changes: object) -> Edit:
    return at("turns", number, **changes)


def action(number: int, **changes: object) -> Edit:
    return at("turns", number, "action", **changes)


def facts(number: int, **changes: object) -> Edit:
    return at("turns", number, "facts", **changes)


def output(number: int, place: int, **changes: object) -> Edit:
    return at("turns", number, "outputs", place, **changes)


def setup(**changes: object) -> Edit:
    return at("setup", **changes)


SETUP: Final = "The setup or the model's settings were edited since it was saved."
FOUR: Final = by_person(BOOKED, propose(PLAN), ask("The days?"), revise_to(SMALL), ask("So?"))
ACTS, OLD = "acts differently.", "edited since it was saved."
LEFT_OUT, FORKS = "Round 1: it is not the last round that was saved.", "by hand stands in round 2."


@pytest.mark.parametrize(
    ("negotiation", "edit", "number", "what"),
    [
        (RULED, action(3, sample_size=99), 3, ACTS),
        (RULED, turn(0, by="person"), 0, ACTS),
        (RULED, turn(2, action=None), 2, ACTS),
        (RULED, facts(1, cost=2400), 1, "cost is 2,900 and was 2,400"),
        (RULED, facts(4, staff=9), 4, "staff is 3 and was 9"),
        (RULED, facts(0, failing=["budget"]), 0, "is protocol, budget, equipment and schedule"),
        (RULED, facts(3, answer="accept"), 3, "answer is suggest_alternative and was accept"),
        (RULED, at("turns", 1, "facts", "offer", sample_size=149), 1, "another plan is offered"),
        (RULED, at("turns", 1, "facts", "plan", sample_size=149), 1, "another plan is on the"),
        (RULED, turn(4, digest="0" * 16), 4, "the turn was edited"),
        (RULED, lambda data: data["turns"].pop(), 3, "it is not the last round that was saved"),
        (RULED, lambda data: data["turns"].pop(0), 0, ACTS),
        (RULED, lambda data: data["turns"].append(data["turns"][4]), 5,
         "had ended, the Scientist accepted; 1 turn left over"),
        (RULED, lambda data: data["turns"].extend(data["turns"][3:]), 5, "; 2 turns left over"),
        (RULED, at(ending="the rounds ran out"), 4, "the ending is not 'the rounds ran out'"),
        (RULED, at(ending=None), 4, "the ending is not 'none'"),
        (RULED, at(outcome="agreed"), 4, "the outcome is not 'agreed'"),
        (MODELLED, output(0, 2, text=said(propose(SMALL))), 0, "hold another action"),
        (MODELLED, output(0, 2, text=PROSE), 0, "hold no valid action: No valid action in 3 att"),
        (MODELLED, output(0, 1, text=PROPOSAL), 0, "attempt 2 is a valid action, and 1 output l"),
        (MODELLED, output(0, 1, text=PROSE), 0, OLD),
        (MODELLED, output(0, 0, seconds=40.0), 0, OLD),
        (MODELLED, output(1, 0, prompt_tokens=1), 1, OLD),
        (MODELLED, lambda data: data["turns"][0]["outputs"].pop(0), 0, OLD),
        (MODELLED, lambda data: data["turns"][2].pop("outputs"), 2, "no model plays here"),
        (MODELLED, turn(1, told="0" * 16), 1, "told something else now"),
        (MODELLED, action(0, sample_size=41), 0, "hold another action"),
        (MODELLED, turn(2, by="person"), 2, "hold a valid action, and a person acted"),
        (MODELLED, turn(2, by="rule"), 2, "who follows no rule"),
        (MODELLED, turn(2, by="fork"), None, "no round was forked, and the last plan by hand st"),
        (MODELLED, setup(scientist="person"), 0, "no model plays here"),
        (HANDED, action(0, questions=["And the days?"]), 0, OLD),
        (HANDED, lambda data: data["turns"].clear(), 0, LEFT_OUT),
        (HANDED, lambda data: data["turns"].pop(), 0, LEFT_OUT),
        (FOUR, action(1, questions=["The staff?"]), 1, OLD),
        *((FORKED, setup(forked_at=at_), None, FORKS) for at_ in (None, 0, 7)),
        (FORKED, turn(1, action=None), 1, "no plan was put forward by hand"),
    ],
)  # fmt: skip
def test_replay_finds_an_edit_in_its_round(
    negotiation: Negotiation, edit: Edit, number: int | None, what: str
) -> None:
    differences = found(edited(negotiation, edit), negotiation.pack)
    place, message = next(each for each in differences if each[1] != SETUP)
    assert (place, what in message) == (number, True), message
    # An edit of the turn alone is told once: the rounds after it stay what they are.
    assert what != OLD or len(differences) == 1


@pytest.mark.parametrize("negotiation", [HANDED, MODELLED])
def test_replay_finds_an_edited_setup_also_where_no_round_comes_of_it(
    negotiation: Negotiation,
) -> None:
    for changes in (
        {"max_rounds": 50},
        {"model": "another model"},
        {"lab_manager": "least_loss"},
        {"scientist": "baseline"},
        {"opening": PLAN.model_dump()},
    ):
        assert (None, SETUP) in found(edited(negotiation, setup(**changes)), BOOKED)


def test_replay_finds_edited_settings_of_a_model_once_and_not_in_every_round() -> None:
    for edit in (
        at("recording", "settings", model="another"),
        at("recording", "settings", host="example.org"),
        at("recording", "settings", temperature=1),
        at("recording", "settings", max_tokens=4),
        at("recording", made=TextSource.BY_HAND),
        at(start="0" * 16),
    ):
        assert found(edited(MODELLED, edit, recorded=True), BOOKED) == [(None, SETUP)]
    assert found(edited(HANDED, setup(max_rounds=50)), BOOKED) == [(None, SETUP)]


def test_replay_goes_on_with_an_edited_turn_of_a_person_and_with_what_a_rule_does_now() -> None:
    again = replay(edited(HANDED, action(1, sample_size=39)), BOOKED)
    [difference] = again.differences
    assert (difference.round_number, len(again.negotiation.rounds)) == (1, 2)
    assert plan_of(again.negotiation.rounds[1]).sample_size == 39
    again = replay(edited(RULED, action(2, sample_size=99)), MEDIUM)
    assert again.negotiation == RULED
    assert [each.round_number for each in again.differences] == [2]


def test_replay_in_another_lab_says_so_and_plays_nothing() -> None:
    for changes in ({"seed": 3}, {"difficulty": "hard"}, {"scenario_id": "psy_stroop"}):
        again = replay(edited(RULED, setup(**changes)), MEDIUM)
        assert again.negotiation.rounds == ()
        [(number, message)] = again.differences
        assert number is None
        assert message.startswith("It is of ")
        assert message.endswith(
            "not of fin_momentum, medium, seed 0; open that study, in the same lab."
        )
    lab, question = LabOverrides(budget=1_234), EvidenceAssumptions(alpha=0.01)
    for own, said_of_it in (
        (MEDIUM.with_own(lab, EvidenceAssumptions()), "one's own lab"),
        (MEDIUM.with_own(LabOverrides(), question), "question"),
        (MEDIUM.with_own(lab, question), "one's own lab and question"),
    ):
        [message] = [each.message for each in replay(load(save(RULED)), own).differences]
        assert message == (
            f"It is of fin_momentum, medium, seed 0, not of fin_momentum, medium, seed 0 with "
            f"{said_of_it}; open that study, in the same lab."
        )
    other = MEDIUM.with_own(LabOverrides(budget=1_235), EvidenceAssumptions(alpha=0.02))
    [difference] = replay(load(save(by_rule(own))), other).differences
    assert difference.message == (
        "It is of another lab of one's own and question than what is open here; open it with its "
        "own."
    )


def test_replay_names_what_a_changed_lab_decides_otherwise() -> None:
    message = found(load(save(RULED)), with_means(MEDIUM, budget=2200.0))[0][1]
    assert message == "Round 1: the Lab Manager answers differently: another plan is offered."
    again = replay(load(save(by_person(BOOKED, propose(PLAN), ACCEPT))), with_means(BOOKED, days=4))
    assert again.differences[0].round_number == 0
    assert len(again.negotiation.rounds) == 2


def test_better_wording_breaks_no_file_but_that_of_what_a_model_was_told() -> None:
    assert found(load(save(RULED)), change_pack(MEDIUM, **WORDED)) == []
    worded = change_pack(BOOKED, **WORDED)
    wanted = "the model would be told something else now than when this was saved"
    messages = [(n, f"Round {n + 1}: {wanted}.") for n in range(3)]
    assert found(load(save(MODELLED, RECORDING)), worded) == messages
    by_hand = RECORDING.model_copy(update={"made": TextSource.BY_HAND})
    assert found(load(save(MODELLED, by_hand)), worded) == []


# --- hostile, and in a new process ----------------------------------------------------------


@pytest.mark.parametrize("lab_manager", LabManagerKind)
def test_hostile_plan_in_a_file_is_replayed_soon_and_found(lab_manager: LabManagerKind) -> None:
    plan = propose(MEDIUM.reference_protocol)
    negotiation = by_person(MEDIUM, plan, max_rounds=2, lab_manager=lab_manager)
    changes: list[dict[str, object]] = [
        {"sample_size": 10**15},
        {"required_equipment": ["x"] * 200},
        {"controls": [f"control {number}" for number in range(200)]},
        {"rationale": "no " * 1333},
    ]
    for change in changes:
        transcript = edited(negotiation, action(0, **change))
        began = time.process_time()
        assert [number for number, _ in found(transcript, MEDIUM)] == [0]
        assert time.process_time() - began < 5


REPLAY: Final = """
import json, sys
from replicalab.negotiation import load, replay
from replicalab.scenarios import load_scenario
for text in json.load(sys.stdin):
    transcript = load(text)
    setup = transcript.setup
    pack = load_scenario(setup.scenario_id, setup.difficulty, setup.seed)
    again = replay(transcript, pack)
    print(json.dumps([again.differences, again.negotiation.outcome]))
"""


def test_saved_negotiations_replay_identically_in_a_new_process() -> None:
    plan, seeded = MEDIUM.reference_protocol, load_scenario("phys_millikan", "hard", 4711)
    kept = [
        by_rule(MEDIUM, plan, 5, ScientistKind.EVIDENCE_AWARE, LabManagerKind.LEAST_LOSS),
        by_model(MEDIUM, [PROSE, said(propose(plan))], [said(ACCEPT)]),
        by_person(MEDIUM, propose(plan)),
        fork(RULED, 2, plan),
        by_rule(seeded, seeded.reference_protocol),
    ]
    process = subprocess.run(
        [sys.executable, "-c", REPLAY],
        cwd=ROOT,
        input=json.dumps([save(negotiation) for negotiation in kept]),
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    assert lines == [[[], negotiation.outcome] for negotiation in kept]
