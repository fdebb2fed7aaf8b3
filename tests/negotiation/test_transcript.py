"""A negotiation saved, loaded and replayed; and files that are refused."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import negotiation as core
from replicalab.errors import ModelError, TraceError
from replicalab.limits import MOST_FILE_BYTES
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, Pack, load_scenario
from tests.factories import make_protocol
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
    Edit,
    acts,
    ask,
    at,
    by_model,
    by_person,
    by_rule,
    plan_of,
    propose,
    said,
)
from tests.scripted import ScriptedGenerate
from tests.strategies import scientist_actions, studied_packs, turns

ROOT: Final = Path(__file__).resolve().parents[2]
HANDED: Final = by_person(BOOKED, ask("?"), propose(PLAN), max_rounds=7)
"""Two rounds of seven; it goes on."""
FORKED: Final = core.fork(RULED, 1, make_protocol(sample_size=90))
_TOKENS: Final = {"prompt_tokens": 812, "completion_tokens": 97, "finish_reason": "stop"}
MEASURED: Final = core.Output.model_validate({"text": PROPOSAL, "seconds": 3.25, **_TOKENS})


def test_saved_model_negotiation_replays() -> None:
    turn = core.Turn(action=propose(PLAN), by=core.TurnAuthor.MODEL, outputs=(MEASURED,))
    for negotiation in (core.play(by_model(BOOKED), turn), core.fork(MODELLED, 1, PLAN)):
        saved = core.save(negotiation)
        again = core.replay(core.load(saved), negotiation.pack)
        assert (again, core.save(again)) == (negotiation, saved)


@given(studied_packs(), st.lists(turns(), min_size=6, max_size=6), st.integers(1, 6),
       st.sampled_from(core.RULED_LAB_MANAGERS))  # fmt: skip
def test_any_negotiation_by_hand_replays(
    pack: Pack, given_turns: list[core.Turn], rounds: int, lab_manager: core.LabManagerKind
) -> None:
    negotiation = by_person(pack, max_rounds=6, lab_manager=lab_manager)
    for number, turn in enumerate(given_turns[:rounds]):
        if negotiation.ending is None:
            assert negotiation.state.round_number == number
            negotiation = core.play(negotiation, turn)
            assert (negotiation.rounds[-1].answer is None) is (turn.action is None)
    assert rounds < 6 or negotiation.outcome is not None
    assert core.replay(core.load(core.save(negotiation)), pack) == negotiation


spoken = st.text(max_size=60) | scientist_actions().map(said) | st.sampled_from([CUT_OFF, PROSE])


@given(studied_packs(), st.lists(st.lists(spoken, max_size=2), min_size=1, max_size=3))
def test_any_model_output_replays(pack: Pack, texts: list[list[str]]) -> None:
    negotiation = by_model(pack, rounds=6)
    for some in texts:
        if negotiation.ending is None:
            answer = core.ask_model(ScriptedGenerate([*some, PROPOSAL]), negotiation.state, pack)
            assert answer.turn is not None
            negotiation = core.play(negotiation, answer.turn)
    assert core.replay(core.load(core.save(negotiation, RECORDING)), pack) == negotiation


@pytest.mark.parametrize(
    "by", [core.TurnAuthor.MODEL, core.TurnAuthor.PERSON], ids=["left", "acted for"]
)
def test_turn_after_a_model_failure_replays(by: core.TurnAuthor) -> None:
    negotiation = by_model(BOOKED)
    model = ScriptedGenerate([PROSE, ModelError("no answer")])
    answer = core.ask_model(model, negotiation.state, BOOKED)
    assert answer.turn is None
    action = propose(PLAN) if by is core.TurnAuthor.PERSON else None
    played = core.play(negotiation, core.Turn(action=action, by=by, outputs=answer.outputs))
    [done] = played.rounds
    assert done.attempts == answer.attempts
    acted = "A person acted for the model in this round."
    assert done.reason == (acted if action else answer.failure)
    assert core.replay(core.load(core.save(played)), BOOKED) == played


def test_recording_without_a_model_is_refused() -> None:
    with pytest.raises(TraceError, match="has no turn of a model"):
        core.save(by_model(BOOKED), RECORDING)


def test_replay_in_another_lab_is_refused() -> None:
    for changes in ({"seed": 3}, {"difficulty": "hard"}, {"scenario_id": "psy_stroop"}):
        data = json.loads(core.save(RULED))
        data["setup"].update(changes)
        with pytest.raises(TraceError, match=r"; open that study in the same lab$"):
            core.replay(core.load(json.dumps(data)), MEDIUM)
    lab, question = LabOverrides(budget=1_234), EvidenceAssumptions(alpha=0.01)
    message = "other values of Your lab or the question; open it with its own"
    with pytest.raises(TraceError, match=message):
        core.replay(core.load(core.save(RULED)), MEDIUM.with_own(lab, question))
    pack = MEDIUM.with_own(lab, EvidenceAssumptions())
    other = MEDIUM.with_own(LabOverrides(budget=1_235), EvidenceAssumptions())
    with pytest.raises(TraceError, match=r"^it has other values of Your lab or the question"):
        core.replay(core.load(core.save(by_rule(pack))), other)


@pytest.mark.parametrize(
    ("talk", "edit"),
    [
        (HANDED, at("setup", max_rounds=1)),
        (HANDED, at("moves", 1, number=4)),
        (MODELLED, at("moves", 2, number=4)),
        (HANDED, lambda data: data.update(moves=data["moves"] * 2)),
        (HANDED, lambda data: data["moves"].reverse()),
        (FORKED, at("setup", opening={**PLAN.model_dump(), "sample_size": 0})),
    ],
)
def test_moves_that_cannot_be_replayed_are_refused(talk: core.Negotiation, edit: Edit) -> None:
    data = json.loads(core.save(talk))
    edit(data)
    with pytest.raises(TraceError, match=r"^this negotiation cannot be replayed in this version: "):
        core.replay(core.load(json.dumps(data)), talk.pack)


def refused(text: str) -> str:
    with pytest.raises(TraceError) as caught:
        core.load(text)
    message = str(caught.value)
    assert "; " in message
    return message


def test_file_of_version_1_is_refused() -> None:
    for part in ("rounds", "turns"):
        assert refused(json.dumps({"setup": {}, part: []})).startswith("ReplicaLab 1 wrote this")


def test_too_large_file_is_refused_by_its_size() -> None:
    saved, limit = core.save(RULED), MOST_FILE_BYTES
    just_fits = saved + " " * (limit - len(saved.encode()))
    assert core.load(just_fits) == core.load(saved)
    problem = f"the file has {limit + 1} bytes, more than the {limit} allowed; shorten it"
    assert refused(f"{just_fits} ") == problem


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (at("moves", 1, "action", sample_size=-3), "moves[1].action.sample_size: -3 is not all"),
        (at("setup", max_rounds=51), "setup.max_rounds: 51 is not allowed"),
        (at("setup", seed=10**30), "setup.seed: 1000"),
        (at(note="mine"), "note: unknown key; known: format"),
        (lambda data: data.update(moves=data["moves"] * 26), "moves: a list of 52 is not allowed"),
        (at("setup", opening={**PLAN.model_dump(), "technique": "x" * 4001}),
         "setup.opening: Technique has 4,001 char"),
        (at("moves", 1, outputs=[{"text": "x" * 200_001}]),
         "moves[1].outputs[0].text: 'xxx"),
        (at("moves", 1, outputs=[{"text": "x"}]), "setup.scientist is person; leave"),
        (at("moves", 1, by="model"), "moves[1]: a model's move has outputs and no action"),
        (at("moves", 1, by="rule"), "moves[1]: a rule's move has a reply and no action"),
        (at("moves", 1, by="nobody_else"), "moves[1].by: "),
        (at("moves", 1, reply={"accepts": True, "counter": PLAN.model_dump()}),
         "moves[1].reply: a reply either accepts or counters"),
        (at(recording=RECORDING.model_dump()), "setup.scientist is "),
        (lambda data: data.pop("setup"), "setup: this field is missing; add it"),
    ],
)  # fmt: skip
def test_bad_value_is_refused_by_place(edit: Edit, why: str) -> None:
    data = json.loads(core.save(HANDED))
    edit(data)
    assert refused(json.dumps(data)).startswith(why)


HOSTS = ["https://localhost:1/v1", "user:secret@host", "host/v1?api_key=sk", "sk secret", "h:p", ""]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (at("recording", made="dreamt"), "recording.made: "),
        (at("recording", title=" "), "recording.title: "),
        (at("recording", key="Not a word"), "recording.key: "),
        (at("recording", api_key="sk-secret"), "recording.api_key: unknown key; did"),
        (at("recording", settings={}), "recording.settings.model: this field is missing"),
        *((at("recording", "settings", host=host), "recording.settings.host: ") for host in HOSTS),
    ],
)  # fmt: skip
def test_bad_recording_is_refused_by_place(edit: Edit, why: str) -> None:
    data = json.loads(core.save(MODELLED, RECORDING))
    edit(data)
    assert refused(json.dumps(data)).startswith(why)


@given(st.integers(0, len(core.save(FORKED)) - 1), st.characters(codec="utf-8"))
def test_changed_character_raises_only_trace_errors(place: int, new: str) -> None:
    saved = core.save(FORKED)
    for text in (saved[:place], saved[:place] + new + saved[place + 1 :]):
        with suppress(TraceError):
            core.replay(core.load(text), MEDIUM)


def shipped(key: str) -> core.Negotiation:
    recorded = [item for item in core.shipped_recordings() if item.recording]
    transcripts = {item.recording.key: item for item in recorded if item.recording}
    setup = transcripts[key].setup
    pack = load_scenario(setup.scenario_id, setup.difficulty.value, setup.seed)
    return core.replay(transcripts[key], pack)


def test_shipped_recordings_replay_to_their_stories() -> None:
    momentum, suzuki = shipped("momentum_revised"), shipped("suzuki_misread")
    assert acts(momentum) == ["propose_protocol", "request_info", "revise_protocol"]
    assert momentum.outcome is core.Outcome.AGREED
    assert plan_of(momentum.rounds[-1]).sample_size == 300
    codes = [[attempt.error_code for attempt in done.attempts] for done in suzuki.rounds]
    assert codes == [["no_json", "invalid_json", None], [None]]
    assert all(attempt.correction_prompt for attempt in suzuki.rounds[0].attempts[:2])
    assert suzuki.outcome is core.Outcome.FALSE_AGREEMENT


REPLAY: Final = """
import json, sys
from replicalab.negotiation import load, replay
from replicalab.scenarios import load_scenario
for text in json.load(sys.stdin):
    transcript = load(text)
    setup = transcript.setup
    pack = load_scenario(setup.scenario_id, setup.difficulty, setup.seed)
    again = replay(transcript, pack)
    print(json.dumps([again.outcome, [done.answer.explanation for done in again.rounds]]))
"""


def test_replay_is_identical_in_a_new_process() -> None:
    plan, seeded = MEDIUM.reference_protocol, load_scenario("phys_millikan", "hard", 4711)
    negotiations = [
        by_rule(MEDIUM, plan, 5, core.ScientistKind.DIRECT, core.LabManagerKind.LEAST_LOSS),
        by_model(MEDIUM, [PROSE, said(propose(plan))], [said(ACCEPT)]),
        by_person(MEDIUM, propose(plan)),
        core.fork(RULED, 2, plan),
        by_rule(seeded, seeded.reference_protocol),
    ]
    process = subprocess.run(
        [sys.executable, "-c", REPLAY],
        cwd=ROOT,
        input=json.dumps([core.save(negotiation) for negotiation in negotiations]),
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    for line, negotiation in zip(lines, negotiations, strict=True):
        explanations = [done.answer and done.answer.explanation for done in negotiation.rounds]
        assert line == [negotiation.outcome, explanations]
