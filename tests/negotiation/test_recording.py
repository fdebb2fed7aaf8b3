"""The record of calls: complete, unchanged, and told as attempts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from replicalab.agents import ScientistOutputParseError, call_scientist_with_retry
from replicalab.agents.scientist_policy import format_scientist_observation
from replicalab.errors import ModelCancelledError, ModelServerError
from replicalab.llm import Answer
from replicalab.negotiation.recording import Call, Recorder, attempts
from tests import factories
from tests.scripted import ScriptedGenerate

ROOT = Path(__file__).resolve().parents[2]
ACTION = factories.make_scientist_action()
GOOD = json.dumps(ACTION.model_dump(mode="json"))
OBSERVATION = factories.make_scientist_observation()


def test_recorder_passes_messages_and_answers_on_unchanged() -> None:
    script = ScriptedGenerate(["one", "two"])
    recorder = Recorder(script)
    sent = [{"role": "user", "content": " as it is \n"}]
    assert [recorder(sent), recorder(sent)] == ["one", "two"]
    assert script.sent == [sent, sent]
    assert [call.raw_output for call in recorder.calls] == ["one", "two"]
    assert recorder.calls[0].messages[0].model_dump() == sent[0]


def test_recorder_keeps_messages_as_they_were_at_the_call() -> None:
    recorder = Recorder(ScriptedGenerate(["one"]))
    messages = [{"role": "user", "content": "before"}]
    recorder(messages)
    messages[0]["content"] = "after"
    assert recorder.calls[0].messages[0].content == "before"


def test_recorder_keeps_tokens_seconds_and_finish_reason() -> None:
    answer = Answer("text")
    answer.prompt_tokens, answer.completion_tokens, answer.finish_reason = 7, 2, "length"
    times = iter([10.0, 12.5])
    recorder = Recorder(lambda _: answer, clock=lambda: next(times))
    recorder([])
    usage = recorder.calls[0].usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (7, 2)
    assert (usage.finish_reason, usage.seconds) == ("length", 2.5)


def test_tokens_are_none_for_a_plain_text() -> None:
    recorder = Recorder(ScriptedGenerate(["text"]))
    recorder([])
    assert recorder.calls[0].usage.prompt_tokens is None
    assert recorder.calls[0].usage.completion_tokens is None


def test_failed_call_is_kept_and_its_error_raised_on() -> None:
    recorder = Recorder(ScriptedGenerate([ModelServerError("example.org failed (500).")]))
    with pytest.raises(ModelServerError):
        recorder([])
    assert recorder.calls[0].raw_output is None
    assert recorder.calls[0].failure == "example.org failed (500)."


def test_call_survives_saving_and_loading() -> None:
    recorder = Recorder(ScriptedGenerate([" \x00<b>\ud800 text\n"]))
    recorder([{"role": "user", "content": "half \udc00"}])
    call = recorder.calls[0]
    assert call.raw_output == " \x00<b>\ufffd text\n"
    assert Call.model_validate_json(call.model_dump_json()) == call


def test_attempts_tell_each_try_at_an_action() -> None:
    recorder = Recorder(ScriptedGenerate(["no", "{", GOOD, GOOD]))
    call_scientist_with_retry(recorder, "prompt", OBSERVATION)
    call_scientist_with_retry(recorder, "prompt", OBSERVATION)
    told = attempts(recorder.calls)
    assert [attempt.number for attempt in told] == [1, 2, 3, 1]
    assert [attempt.error_code for attempt in told] == ["no_json", "invalid_json", None, None]
    assert [attempt.action for attempt in told] == [None, None, ACTION, ACTION]
    assert {attempt.system_prompt for attempt in told} == {"prompt"}
    assert {attempt.observation for attempt in told} == {format_scientist_observation(OBSERVATION)}
    assert [attempt.raw_output for attempt in told] == ["no", "{", GOOD, GOOD]


def test_attempts_tell_what_the_model_was_told_next() -> None:
    script = ScriptedGenerate(["no", "{", GOOD, GOOD])
    recorder = Recorder(script)
    call_scientist_with_retry(recorder, "prompt", OBSERVATION)
    call_scientist_with_retry(recorder, "prompt", OBSERVATION)
    corrections = [attempt.correction_prompt for attempt in attempts(recorder.calls)]
    sent = [script.sent[1][-1]["content"], script.sent[2][-1]["content"]]
    assert corrections == [*sent, None, None]


def test_attempts_that_all_failed_have_no_action() -> None:
    recorder = Recorder(ScriptedGenerate(["a", "b", "c"]))
    with pytest.raises(ScientistOutputParseError):
        call_scientist_with_retry(recorder, "prompt", OBSERVATION)
    told = attempts(recorder.calls)
    assert [attempt.action for attempt in told] == [None, None, None]
    assert told[-1].correction_prompt is None


def test_cancelled_attempt_says_so() -> None:
    recorder = Recorder(ScriptedGenerate(["no", ModelCancelledError("cancelled")]))
    with pytest.raises(ModelCancelledError):
        call_scientist_with_retry(recorder, "prompt", OBSERVATION)
    told = attempts(recorder.calls)
    assert [attempt.failure for attempt in told] == [None, "cancelled"]
    assert [attempt.error_code for attempt in told] == ["no_json", None]


@pytest.mark.parametrize("module", ["replicalab", "replicalab.agents", "replicalab.llm"])
def test_importing_brings_no_openai_package(module: str) -> None:
    code = f"import sys, {module}; print('openai' in sys.modules or 'httpx2' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert process.stdout.strip() == "False"
