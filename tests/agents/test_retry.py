import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.agents.parsing import ParseErrorCode
from replicalab.agents.scientist_policy import (
    RetryMetadata,
    ScientistCallResult,
    ScientistOutputParseError,
    _build_correction_prompt,
    call_scientist_with_retry,
    format_scientist_observation,
)
from replicalab.models import ACCEPT_ACTION
from tests.factories import make_scientist_action, make_scientist_observation
from tests.scripted import ScriptedGenerate

VALID = ACCEPT_ACTION.model_dump_json()
NO_JSON = "I accept."
INVALID_JSON = '{"action_type": NaN}'
INVALID_ACTION = VALID.replace('"sample_size":0', '"sample_size":-1')

CORRECTIONS = {
    NO_JSON: (
        "Your previous response did not contain a JSON object. "
        "Respond with exactly one JSON object that is a valid ScientistAction."
    ),
    INVALID_JSON: (
        "Your previous response contained malformed JSON: NaN is not JSON. "
        "Respond with exactly one complete JSON object, without comments or trailing commas."
    ),
    INVALID_ACTION: (
        "Your previous response was JSON but failed ScientistAction validation: "
        "sample_size: Input should be greater than or equal to 0. "
        "Fix the validation error and respond with exactly one JSON object."
    ),
}
ERRORS: dict[str, tuple[ParseErrorCode, str]] = {
    NO_JSON: ("no_json", "No JSON object found in output"),
    INVALID_JSON: ("invalid_json", "NaN is not JSON"),
    INVALID_ACTION: ("invalid_action", "sample_size: Input should be greater than or equal to 0"),
}
BAD = list(CORRECTIONS)


def call(model: ScriptedGenerate, **options: int) -> ScientistCallResult:
    """Return what the retry loop makes of a scripted model on the first turn."""
    return call_scientist_with_retry(model, "be brief", make_scientist_observation(), **options)


def make_metadata(**changes: object) -> RetryMetadata:
    """Return the metadata of a first-try success."""
    first_try: dict[str, object] = {
        "attempt_count": 1,
        "retry_count": 0,
        "last_error_code": None,
        "last_error_message": None,
    }
    return RetryMetadata.model_validate({**first_try, **changes})


def test_retry_first_try_success_has_no_last_error() -> None:
    result = call(ScriptedGenerate([VALID]))
    assert result == ScientistCallResult(action=ACCEPT_ACTION, metadata=make_metadata())


def test_retry_first_call_is_system_then_user() -> None:
    model = ScriptedGenerate([VALID])
    call(model)
    assert model.sent == [
        [
            {"role": "system", "content": "be brief"},
            {
                "role": "user",
                "content": format_scientist_observation(make_scientist_observation()),
            },
        ]
    ]


@pytest.mark.parametrize("bad", BAD)
def test_retry_failed_answer_and_its_correction_join_the_messages(bad: str) -> None:
    model = ScriptedGenerate([bad, VALID])
    call(model)
    first, second = model.sent
    assert second == [
        *first,
        {"role": "assistant", "content": bad},
        {"role": "user", "content": CORRECTIONS[bad]},
    ]


@given(st.lists(st.sampled_from(BAD), max_size=6), st.integers(0, 3))
def test_retry_messages_number_two_plus_two_per_failure(bad: list[str], spare: int) -> None:
    model = ScriptedGenerate([*bad, VALID])
    result = call(model, max_retries=len(bad) + spare)
    assert [len(messages) for messages in model.sent] == [2 + 2 * k for k in range(len(bad) + 1)]
    assert result.metadata.attempt_count == len(bad) + 1
    assert result.metadata.retry_count == len(bad)


@pytest.mark.parametrize("bad", BAD)
def test_retry_success_carries_the_previous_failure(bad: str) -> None:
    earlier = next(text for text in BAD if text != bad)
    metadata = call(ScriptedGenerate([earlier, bad, VALID])).metadata
    assert (metadata.last_error_code, metadata.last_error_message) == ERRORS[bad]


@given(st.lists(st.sampled_from(BAD), min_size=1, max_size=5))
def test_retry_raises_the_last_failure_after_the_last_retry(bad: list[str]) -> None:
    model = ScriptedGenerate([*bad, VALID])
    with pytest.raises(ScientistOutputParseError) as caught:
        call(model, max_retries=len(bad) - 1)
    assert caught.value.raw_text == bad[-1]
    assert caught.value.code == ERRORS[bad[-1]][0]
    assert len(model.sent) == len(bad)


def test_retry_asks_three_times_by_default() -> None:
    model = ScriptedGenerate([NO_JSON] * 4)
    with pytest.raises(ScientistOutputParseError):
        call(model)
    assert len(model.sent) == 3


@pytest.mark.parametrize("before", [[], [NO_JSON]])
def test_retry_lets_errors_of_the_model_through(before: list[str]) -> None:
    outage = ConnectionError("model is down")
    model = ScriptedGenerate([*before, outage, VALID])
    with pytest.raises(ConnectionError) as caught:
        call(model)
    assert caught.value is outage
    assert len(model.sent) == len(before) + 1


def test_retry_lets_a_value_error_of_the_model_through() -> None:
    model = ScriptedGenerate([ValueError("bad key"), VALID])
    with pytest.raises(ValueError, match="bad key"):
        call(model)
    assert len(model.sent) == 1


def test_retry_refuses_negative_retries_before_any_call() -> None:
    model = ScriptedGenerate([VALID])
    with pytest.raises(ValueError, match="max_retries = -1, must be 0 or more"):
        call(model, max_retries=-1)
    assert model.sent == []


def test_retry_model_cannot_change_what_it_is_sent_next() -> None:
    lengths = []

    def vandal(messages: list[dict[str, str]]) -> str:
        lengths.append(len(messages))
        system_prompts.append(messages[0]["content"])
        messages[0]["content"] = "changed"
        messages.clear()
        return NO_JSON

    system_prompts: list[str] = []
    with pytest.raises(ScientistOutputParseError):
        call_scientist_with_retry(vandal, "be brief", make_scientist_observation())
    assert lengths == [2, 4, 6]
    assert system_prompts == ["be brief"] * 3


@pytest.mark.parametrize("bad", BAD)
def test_correction_prompt_is_specific_to_the_error(bad: str) -> None:
    code, message = ERRORS[bad]
    error = ScientistOutputParseError(code, message, bad)
    assert _build_correction_prompt(error) == CORRECTIONS[bad]


@pytest.mark.parametrize(
    "changes",
    [{"attempt_count": 0, "retry_count": -1}, {"attempt_count": 2}, {"retry_count": 1}, {"x": 1}],
)
def test_retry_metadata_refuses(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        make_metadata(**changes)


def test_call_result_refuses_further_fields_and_round_trips() -> None:
    result = ScientistCallResult(
        action=make_scientist_action(),
        metadata=make_metadata(
            attempt_count=2, retry_count=1, last_error_code="no_json", last_error_message="none"
        ),
    )
    assert ScientistCallResult.model_validate_json(result.model_dump_json()) == result
    with pytest.raises(ValidationError):
        ScientistCallResult.model_validate({**result.model_dump(), "extra": 1})
