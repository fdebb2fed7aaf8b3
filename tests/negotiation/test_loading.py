"""What is read back: files of this version and of earlier ones, and what is refused of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.errors import TraceError
from replicalab.negotiation import (
    ModelSettings,
    Negotiation,
    Outcome,
    Output,
    Recording,
    Replay,
    TextSource,
    Transcript,
    Turn,
    TurnAuthor,
    load,
    loading,
    replay,
    save,
    shipped_recordings,
)
from replicalab.scenarios import load_scenario
from tests.negotiation.playing import (
    CUT_OFF,
    MEDIUM,
    MODELLED,
    PROSE,
    RECORDING,
    RULED,
    Edit,
    acts,
    at,
    plan_of,
)

SAVED: Final = Path(__file__).with_name("saved")
REMEDY: Final = "; load a file that was saved here and not edited since"
RULE, FORK, MODEL, PERSON = TurnAuthor.RULE, TurnAuthor.FORK, TurnAuthor.MODEL, TurnAuthor.PERSON


def replayed(transcript: Transcript) -> Replay:
    """Return what a transcript makes in its own lab."""
    setup = transcript.setup
    return replay(transcript, load_scenario(setup.scenario_id, setup.difficulty.value, setup.seed))


# --- what is refused ------------------------------------------------------------------------


def refused(text: str) -> str:
    """Return why a text is no transcript, without the remedy that every such message ends with."""
    with pytest.raises(TraceError) as caught:
        load(text)
    message = str(caught.value)
    assert message.endswith(REMEDY)
    return message.removesuffix(REMEDY)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "hello", "\ud800", "\x00", '{"a": "\\ud800"}'),
        *("[" * 100_000, '{"setup":' * 50_000, "é" * 3_000_000, " " * 6_000_000),
        *("null", "[1, 2]", "9" * 100_000, '"text"'),
    ],
)
def test_text_that_is_no_json_object_is_refused(text: str) -> None:
    assert refused(text).startswith("the file: ")


def test_file_of_more_than_5_mib_is_refused_by_its_size() -> None:
    saved = save(RULED)
    just_fits = saved + " " * (5 * 2**20 - len(saved.encode()))
    assert load(just_fits) == load(saved)
    assert refused(f"{just_fits} ") == "the file: 5,242,881 bytes, and 5,242,880 are read at most"


@pytest.mark.parametrize(
    ("text", "size"), [("é" * 60, 120), (" " * 99 + "é", 101), (" " * 101, 101), (" " * 200, 200)]
)
def test_size_is_of_bytes_of_which_a_character_may_take_several(
    text: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "MOST_BYTES", 100)
    assert refused(text) == f"the file: {size} bytes, and 100 are read at most"
    assert refused("é" * 50).startswith("the file: Invalid JSON: "), "a hundred bytes are read"


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (at("turns", 1, "action", sample_size=-3), "turns[1].action.sample_size is -3: "),
        (at("setup", max_rounds=51), "setup.max_rounds is 51: "),
        (at("setup", seed=10**30), "setup.seed is "),
        (at(note="mine"), "note: Extra inputs are not permitted"),
        (at(format=3), "format is 3: Input should be 2"),
        (lambda data: data.update(turns=data["turns"] * 11), "turns: Tuple should have at most 50"),
        (at("setup", "opening", technique="x" * 4001), "setup.opening: Technique has 4,001 char"),
        (
            at("turns", 1, outputs=[{"text": "x" * 200_001}]),
            "turns[1].outputs[0].text: String shou",
        ),
        (at("turns", 1, "facts", failing=["budget"] * 8), "turns[1].facts.failing: Tuple should"),
        (
            at("turns", 1, "facts", failing=["![x](//evil.example)"]),
            "turns[1].facts.failing[0]: In",
        ),
        (at(recording=RECORDING.model_dump()), "the file: setup.scientist is "),
        (lambda data: data.pop("setup"), "setup: Field required"),
        (lambda data: data.pop("start"), "start: it is missing"),
        (lambda data: data["turns"][1].pop("facts"), "the file: round 2 lacks facts"),
        (lambda data: data["turns"][4].pop("digest"), "the file: round 5 lacks digest"),
    ],
)
def test_value_that_no_transcript_can_hold_is_refused_by_place(edit: Edit, why: str) -> None:
    data = json.loads(save(RULED))
    edit(data)
    assert refused(json.dumps(data)).startswith(why)


HOSTS = ["https://localhost:1/v1", "user:secret@host", "host/v1?api_key=sk", "sk secret", "h:p", ""]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (at("recording", made="dreamt"), "recording.made: "),
        (at("recording", title=" "), "recording.title: "),
        (at("recording", key="Not a word"), "recording.key: "),
        (at("recording", api_key="sk-secret"), "recording.api_key: Extra inputs are not permitted"),
        (at("recording", settings={}), "recording.settings.model: Field required"),
        *((at("recording", "settings", host=host), "recording.settings.host: ") for host in HOSTS),
        (at("recording", "settings", max_retries=1),
         "the file: round 1 has 3 outputs, and the model was asked at most 2 times; leave the "
         "others out"),
        (lambda data: data["turns"][1].pop("told"), "the file: round 2 lacks told"),
    ],
)  # fmt: skip
def test_recording_that_is_none_is_refused_by_place(edit: Edit, why: str) -> None:
    for recording in (RECORDING, None) if "told" in why else (RECORDING,):
        data = json.loads(save(MODELLED, recording))
        edit(data)
        assert refused(json.dumps(data)).startswith(why)


def test_plain_host_is_kept() -> None:
    for host in ("localhost:11434", "api.example.org", "[::1]:8000"):
        settings_of = RECORDING.settings.model_copy(update={"host": host})
        recording = RECORDING.model_copy(update={"settings": settings_of})
        assert load(save(MODELLED, recording)).recording == recording


def test_no_field_is_named_for_a_key() -> None:
    kinds = (Transcript, Recording, ModelSettings, Output, Turn)
    names = {name for kind in kinds for name in kind.model_fields}
    assert not [name for name in names if "api" in name or "secret" in name or "url" in name]


@given(st.integers(0, len(save(RULED)) - 1), st.characters(codec="utf-8"))
def test_file_with_one_character_changed_or_cut_off_fails_in_no_other_way(
    place: int, new: str
) -> None:
    saved = save(RULED)
    for text in (saved[:place], saved[:place] + new + saved[place + 1 :]):
        with suppress(TraceError):
            replay(load(text), MEDIUM)


# --- the shipped recordings -----------------------------------------------------------------


def shipped(key: str) -> Negotiation:
    """Return the negotiation that a shipped recording makes: the same as when it was saved."""
    found = {each.recording.key: each for each in shipped_recordings() if each.recording}
    again = replayed(found[key])
    assert again.differences == ()
    return again.negotiation


def test_shipped_recordings_are_scripts_labelled_as_such() -> None:
    for transcript in shipped_recordings():
        recording = transcript.recording
        assert recording is not None
        assert (recording.made, recording.settings.host) == (TextSource.BY_HAND, None)
        assert recording.settings.model == transcript.setup.model == "script, no model"
        assert recording.title
        assert recording.note
        assert all(turn.told is None for turn in transcript.turns)
        assert not any(output.seconds for turn in transcript.turns for output in turn.outputs)


def test_shipped_recordings_replay_to_their_stories() -> None:
    momentum, suzuki = shipped("momentum_revised"), shipped("suzuki_misread")
    assert acts(momentum) == ["propose_protocol", "request_info", "revise_protocol"]
    assert momentum.outcome is Outcome.AGREED
    assert plan_of(momentum.rounds[-1]).sample_size == 300
    codes = [[attempt.error_code for attempt in done.attempts] for done in suzuki.rounds]
    assert codes == [["no_json", "invalid_json", None], [None]]
    assert all(attempt.correction_prompt for attempt in suzuki.rounds[0].attempts[:2])
    assert suzuki.outcome is Outcome.FALSE_AGREEMENT


def test_shipped_file_that_is_broken_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.json").write_text('{"format": 2}')
    monkeypatch.setattr(loading, "FOLDER", tmp_path)
    with pytest.raises(TraceError, match=r"^broken\.json: setup: Field required"):
        shipped_recordings()


# --- of earlier versions --------------------------------------------------------------------


def earlier(name: str, *edits: Edit) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((SAVED / f"{name}.json").read_text(encoding="utf-8"))
    for edit in edits:
        edit(data)
    return data


def opened(data: dict[str, Any]) -> Replay:
    return replayed(load(json.dumps(data)))


@pytest.mark.parametrize(
    ("name", "by", "outcome"),
    [
        ("trace_baseline", [RULE] * 5, Outcome.AGREED),
        ("trace_evidence_aware", [RULE] * 3, Outcome.NO_DEAL),
        ("trace_fork", [RULE, FORK, RULE, RULE, RULE], Outcome.AGREED_BELOW_FLOOR),
        ("trace_person", [PERSON] * 3, Outcome.FALSE_AGREEMENT),
        ("trace_model", [MODEL] * 2, Outcome.AGREED),
        ("cassette", [MODEL] * 2, Outcome.AGREED),
    ],
)
def test_old_file_opens_replays_and_is_saved_in_todays_form(
    name: str, by: list[TurnAuthor], outcome: Outcome
) -> None:
    data = earlier(name)
    negotiation, differences = opened(data)
    assert differences == ()
    assert [done.turn.by for done in negotiation.rounds] == by
    assert negotiation.outcome is outcome
    for old, new in zip(data.get("rounds", ()), negotiation.rounds, strict=False):
        assert old["plan"] == (new.plan and new.plan.plan.model_dump())
        cost = old["check"] and old["check"]["estimated_cost"]
        assert cost == (new.plan and new.plan.cost)
    assert replay(load(save(negotiation)), negotiation.pack) == (negotiation, ())


def test_old_cassette_keeps_what_was_noted_of_its_model() -> None:
    transcript = load(json.dumps(earlier("cassette")))
    recording = transcript.recording
    assert recording is not None
    noted = (recording.key, recording.title, recording.note, recording.settings.host)
    assert noted == ("scripted_run", "A scripted run", "note", "127.0.0.1:8080")
    assert recording.made is TextSource.RECORDED
    assert [len(turn.outputs) for turn in transcript.turns] == [2, 1]


@pytest.mark.parametrize("by", [MODEL, PERSON])
def test_model_that_failed_in_an_old_trace_walked_away_or_was_acted_for(by: TurnAuthor) -> None:
    data = earlier("trace_model")
    first = data["rounds"][0]
    first["attempts"][1] = first["attempts"][0] | {"raw_output": None, "failure": "gone"}
    if by is PERSON:
        first["reason"] = "A person acted for the model in this round."
    else:
        none = dict.fromkeys(("scientist_action", "lab_manager_action", "plan", "check"))
        first.update(none, suggestion=None, reason="gone")
        data.update(rounds=[first], ending="the Scientist walked away", outcome="no_deal")
    negotiation, differences = opened(data)
    assert (differences, negotiation.rounds[0].turn.by) == ((), by)
    failures = [each.output.failure for each in negotiation.rounds[0].attempts]
    assert failures == [None, "gone"]


def test_old_trace_of_a_model_keeps_an_opening_that_was_given() -> None:
    data = earlier("trace_model")
    first = data["rounds"][0]
    data["setup"]["opening"] = first["plan"]
    first.update(attempts=[], reason="The opening plan, as it was given.")
    negotiation, differences = opened(data)
    assert [done.turn.by for done in negotiation.rounds] == [RULE, MODEL]
    assert (differences, negotiation.outcome) == ((), Outcome.AGREED)


def of_round(place: int, /, *path: str | int, **changes: object) -> Edit:
    return at("rounds", place, *path, **changes)


@pytest.mark.parametrize(
    ("name", "edit", "number", "what"),
    [
        ("baseline", of_round(1, "scientist_action", sample_size=7), 1, "acts differently"),
        ("baseline", of_round(2, "plan", sample_size=7), 2, "another plan is on the table"),
        ("baseline", of_round(2, "check", estimated_cost=7.0), 2, "and was 7"),
        ("baseline", of_round(4, "check", "staff", ok=False), 4, "failing is none and was staff"),
        ("baseline", of_round(2, check=None), 2, "staff is"),
        ("baseline", of_round(4, "lab_manager_action", action_type="reject"), 4, "was reject"),
        ("baseline", of_round(0, lab_manager_action=None), 0, "and was none"),
        ("baseline", of_round(1, "suggestion", "revised_protocol", sample_size=7), 1, "offered"),
        ("baseline", at("setup", "opening", sample_size=0), 0, "sample size of 0"),
        ("baseline", at("setup", forked_at=2), None, "round 3 was forked, and the last"),
        ("baseline", at(ending="the rounds ran out"), 4, "the ending is not 'the rounds ran out'"),
        ("baseline", at(outcome="no_deal"), 4, "the outcome is not 'no_deal'"),
        ("fork", at("setup", forked_at=None), None, "no round was forked, and the last"),
        ("person", at("setup", max_rounds=2), 2, "the negotiation had ended"),
        ("person", of_round(1, reason="The offer has power 0.99."), 1, "no model plays here"),
        ("model", of_round(0, "attempts", 1, raw_output=PROSE), 0, "hold no valid action"),
        ("model", of_round(0, "attempts", 0, observation="Hm"), 0, "told something else now"),
        ("model", of_round(1, attempts=[]), 1, "no model plays here"),
    ],
)
def test_edit_of_an_old_trace_is_found(
    name: str, edit: Edit, number: int | None, what: str
) -> None:
    data = earlier(f"trace_{name}", edit)
    assert data != earlier(f"trace_{name}"), "the edit changes nothing"
    found = opened(data).differences[0]
    assert found.round_number == number
    assert what in found.message


def test_what_an_old_trace_says_beside_its_facts_is_made_anew() -> None:
    for name, edits in (
        ("trace_model", [of_round(1, reason="It was told to.")]),
        (
            "trace_baseline",
            [
                of_round(1, "lab_manager_action", explanation="Well done."),
                of_round(1, "check", summary="All is well."),
                of_round(1, "suggestion", applied_changes=[]),
                at(scenario_digest="0" * 16),
            ],
        ),
    ):
        assert opened(earlier(name, *edits)) == opened(earlier(name))


def test_edit_of_an_old_cassette_is_found_where_something_was_kept_of_it() -> None:
    data = earlier("cassette")
    data["turns"][0][0]["text"] = CUT_OFF
    assert opened(data).differences == (), "nothing was kept of an answer that was corrected"
    data["turns"][0][1]["text"] = data["turns"][0][1]["text"].replace(":24,", ":25,")
    [difference] = opened(data).differences
    assert difference.message.startswith("Round 2: the model would be told something else now")
    data = earlier("cassette")
    data["turns"][0].insert(0, data["turns"][0][1])
    left = "attempt 1 is a valid action, and 2 outputs left over"
    assert left in opened(data).differences[0].message


def test_old_cassette_keeps_an_opening_that_was_given() -> None:
    data = earlier("cassette")
    pack = load_scenario("chem_suzuki_ppb", "medium")
    data["setup"]["opening"] = pack.reference_protocol.model_dump()
    data.update(turns=data["turns"][1:], prompts=None)
    negotiation = opened(data).negotiation
    assert [done.turn.by for done in negotiation.rounds] == [RULE, MODEL]
    assert negotiation.outcome is Outcome.AGREED
    data["setup"]["opening"]["sample_size"] = 0
    with pytest.raises(TraceError, match=r"^setup\.opening: the plan has a sample size of 0"):
        opened(data)


@pytest.mark.parametrize(
    ("name", "edit", "why"),
    [
        ("trace_baseline", of_round(1, number=40), "rounds[1].number is 40; number the rounds"),
        ("trace_baseline", of_round(1, "plan", sample_size=-3), "turns[1].facts.plan.sample_siz"),
        ("trace_baseline", at(rounds=7), "rounds is 7: "),
        ("trace_baseline", of_round(0, check=7), "rounds[0].check is 7: "),
        (
            "trace_model",
            of_round(0, "attempts", 0, usage={"mine": 1}),
            "turns[0].outputs[0].mine is",
        ),
        ("trace_model", of_round(0, "attempts", 0, usage=None), "rounds[0].attempts[0].usage: "),
        ("cassette", at(turns=[]), "turns: "),
        ("cassette", at(turns=[[]]), "turns[0]: "),
        ("cassette", at(turns=[[{"text": PROSE}]], prompts=None), "turns[0]: No JSON object found"),
        ("cassette", at(prompts=["0" * 16]), "prompts has 1 entries for 2 turns; give one for eac"),
        ("cassette", at("settings", host="user:secret@host"), "recording.settings.host: "),
        ("cassette", at("settings", max_retries=0), "the file: round 1 has 2 outputs"),
    ],
)
def test_old_file_that_cannot_be_read_is_refused_by_place(name: str, edit: Edit, why: str) -> None:
    with pytest.raises(TraceError) as caught:
        load(json.dumps(earlier(name, edit)))
    assert str(caught.value).startswith(why)


SETUP: Final = {
    "scenario_id": "psy_stroop", "difficulty": "easy", "seed": 0, "max_rounds": 3,
    "scientist": "model", "lab_manager": "reference",
}  # fmt: skip


@pytest.mark.parametrize(
    "file",
    [
        lambda many: {"setup": {**SETUP, "opening": {"controls": many}}, "turns": many},
        lambda many: {"setup": SETUP, "turns": [many]},
        lambda many: {"setup": SETUP, "turns": [[{"text": "x"}]], "prompts": many},
        lambda many: {"setup": SETUP, "rounds": many, "ending": None, "outcome": None},
        lambda many: {"setup": SETUP, "rounds": [{"attempts": many}]},
    ],
)
def test_of_an_old_files_list_of_faults_only_the_first_is_looked_for(
    file: Callable[[object], object],
) -> None:
    # Each fault costs time and memory: 800 000 of them held every visitor for ten seconds.
    with pytest.raises(TraceError) as refused:
        load(json.dumps(file([0] * 100_000)))
    cause = refused.value.__cause__
    assert isinstance(cause, ValidationError)
    assert cause.error_count() < 20
