import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.agents.scientist_policy import (
    RetryMetadata,
    ScientistCallResult,
    ScientistOutputParseError,
    call_scientist_with_retry,
    format_scientist_observation,
)
from replicalab.models import ACCEPT_ACTION
from tests.factories import make_scientist_observation
from tests.scripted import ScriptedGenerate

VALID = ACCEPT_ACTION.model_dump_json()
FAILURES = {
    # A failed answer: its code, its message, and the correction for the model.
    "I accept.": (
        "no_json",
        "No JSON object found in output",
        "Your previous response did not contain a JSON object. "
        "Respond with exactly one JSON object that is a valid ScientistAction.",
    ),
    '{"action_type": NaN}': (
        "invalid_json",
        "NaN is not JSON",
        "Your previous response contained malformed JSON: NaN is not JSON. "
        "Respond with exactly one complete JSON object, without comments or trailing commas.",
    ),
    VALID.replace('"sample_size":0', '"sample_size":-1'): (
        "invalid_action",
        "sample_size: Input should be greater than or equal to 0",
        "Your previous response was JSON but failed ScientistAction validation: "
        "sample_size: Input should be greater than or equal to 0. "
        "Fix the validation error and respond with exactly one JSON object.",
    ),
}
BAD = list(FAILURES)


def call(model: ScriptedGenerate, **options: int) -> ScientistCallResult:
    return call_scientist_with_retry(model, "be brief", make_scientist_observation(), **options)


def metadata(*failures: str, **changes: object) -> RetryMetadata:
    code, message, _ = FAILURES[failures[-1]] if failures else (None, None, None)
    fields = {
        "attempt_count": len(failures) + 1,
        "retry_count": len(failures),
        "last_error_code": code,
        "last_error_message": message,
    }
    return RetryMetadata.model_validate({**fields, **changes})


@given(st.lists(st.sampled_from(BAD), max_size=6), st.integers(0, 3))
def test_retry_sends_failed_answers_with_corrections(bad: list[str], spare: int) -> None:
    model = ScriptedGenerate([*bad, VALID])
    result = call(model, max_retries=len(bad) + spare)
    assert result == ScientistCallResult(action=ACCEPT_ACTION, metadata=metadata(*bad))
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": format_scientist_observation(make_scientist_observation())},
    ]
    for text in bad:
        messages.append({"role": "assistant", "content": text})
        messages.append({"role": "user", "content": FAILURES[text][2]})
    assert model.sent == [messages[: 2 + 2 * k] for k in range(len(bad) + 1)]


@given(st.lists(st.sampled_from(BAD), min_size=1, max_size=5))
def test_retry_raises_the_last_failure(bad: list[str]) -> None:
    model = ScriptedGenerate([*bad, VALID])
    with pytest.raises(ScientistOutputParseError) as caught:
        call(model, max_retries=len(bad) - 1)
    assert caught.value.raw_text == bad[-1]
    assert (caught.value.code, caught.value.message) == FAILURES[bad[-1]][:2]
    assert len(model.sent) == len(bad)


@pytest.mark.parametrize("text", ["", " \n"])
def test_correction_sends_no_empty_message(text: str) -> None:
    model = ScriptedGenerate([text, VALID])
    assert call(model).action == ACCEPT_ACTION
    assert [message["role"] for message in model.sent[1]] == ["system", "user", "assistant", "user"]
    assert all(message["content"].strip() for message in model.sent[1])


def test_retry_asks_three_times_with_fresh_messages() -> None:
    seen = []

    def vandal(messages: list[dict[str, str]]) -> str:
        seen.append((len(messages), messages[0]["content"]))
        messages[0]["content"] = "changed"
        messages.clear()
        return "no JSON"

    with pytest.raises(ScientistOutputParseError):
        call_scientist_with_retry(vandal, "be brief", make_scientist_observation())
    assert seen == [(2, "be brief"), (4, "be brief"), (6, "be brief")]
