"""The endpoint: settings in, one checked endpoint out, and a key that shows nowhere."""

from __future__ import annotations

import json
import pickle
import traceback

import pytest
from pydantic import ValidationError

from replicalab.errors import ModelSettingsError
from replicalab.llm import SETTINGS, Endpoint, what_to_set
from tests.llm.serving import CANARY

GOOD = {
    "REPLICALAB_LLM_BASE_URL": "https://models.example.org/v1/",
    "REPLICALAB_LLM_MODEL": " small-model ",
    "REPLICALAB_LLM_API_KEY": f" {CANARY}\n",
}


def endpoint_of(**changes: str) -> Endpoint:
    endpoint = Endpoint.from_environment({**GOOD, **changes})
    assert endpoint is not None
    return endpoint


def test_endpoint_comes_from_its_settings_with_the_documented_limits() -> None:
    endpoint = endpoint_of()
    assert endpoint.base_url == "https://models.example.org/v1"
    assert (endpoint.model, endpoint.host) == ("small-model", "models.example.org")
    assert endpoint.api_key is not None
    assert endpoint.api_key.get_secret_value() == CANARY
    assert (endpoint.timeout, endpoint.max_tokens, endpoint.temperature) == (60, 2000, 0)
    assert (endpoint.max_retries, endpoint.time_limit, endpoint.max_characters) == (2, 300, 200_000)
    assert what_to_set(GOOD) == ""


def test_key_is_not_needed_and_optional_limits_are_read() -> None:
    more = {"REPLICALAB_LLM_TIMEOUT": "120.5", "REPLICALAB_LLM_MAX_TOKENS": "4000"}
    endpoint = endpoint_of(**more, REPLICALAB_LLM_API_KEY="  ")
    assert (endpoint.timeout, endpoint.max_tokens, endpoint.api_key) == (120.5, 4000, None)
    assert {*GOOD, *more} == {*SETTINGS.values()}
    assert {*SETTINGS} <= {*Endpoint.model_fields}


@pytest.mark.parametrize("absent", ["REPLICALAB_LLM_BASE_URL", "REPLICALAB_LLM_MODEL"])
@pytest.mark.parametrize("blank", [None, "", " \t"])
def test_endpoint_is_none_without_address_or_model(absent: str, blank: str | None) -> None:
    env = {name: value for name, value in GOOD.items() if name != absent}
    if blank is not None:
        env[absent] = blank
    assert Endpoint.from_environment(env) is None
    assert what_to_set(env).startswith(f"To let a language model play, set {absent}, and ")


def test_nothing_set_names_both_and_the_key() -> None:
    text = what_to_set({})
    assert "set REPLICALAB_LLM_BASE_URL and REPLICALAB_LLM_MODEL" in text
    assert "REPLICALAB_LLM_API_KEY" in text


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("HTTPS://Example.org", "HTTPS://Example.org"),
        ("http://[::1]:8000/v1//", "http://[::1]:8000/v1"),
        ("https://x.example/openai/deployments/a%20b", "https://x.example/openai/deployments/a%20b"),
    ],
)  # fmt: skip
def test_base_url_is_kept_without_slashes_at_its_end(url: str, kept: str) -> None:
    assert Endpoint(base_url=url, model="m").base_url == kept


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("BASE_URL", f"ftp://{CANARY}", "does not begin with http:// or https://"),
        ("BASE_URL", f"{CANARY}", "does not begin with http:// or https://"),
        ("BASE_URL", "file:///etc/passwd", "does not begin with http:// or https://"),
        ("BASE_URL", f"https://me:{CANARY}@example.org/v1", "not a plain address"),
        ("BASE_URL", f"https://example.org/v1?key={CANARY}", "not a plain address"),
        ("BASE_URL", f"https://example.org/v1#{CANARY}", "not a plain address"),
        ("BASE_URL", "https://", "not a plain address"),
        ("BASE_URL", "https://exa mple.org", "not a plain address"),
        ("BASE_URL", "https://example.org/\r\nX-Injected: 1", "not a plain address"),
        ("BASE_URL", "https://example.org:99999/v1", "port"),
        ("BASE_URL", "https://example.org/" + "a" * 2000, "2000 characters"),
        ("MODEL", "m" * 201, "200 characters"),
        ("API_KEY", f"{CANARY} {CANARY}", "the key is empty, too long, or holds"),
        ("API_KEY", f"{CANARY}\r\nX-Injected: 1", "the key is empty, too long, or holds"),
        ("API_KEY", f"{CANARY}é", "the key is empty, too long, or holds"),
        ("API_KEY", CANARY * 1000, "the key is empty, too long, or holds"),
        ("TIMEOUT", "0", "greater than 0"),
        ("TIMEOUT", "soon", "valid number"),
        ("TIMEOUT", "nan", "finite"),
        ("MAX_TOKENS", "-1", "greater than or equal to 1"),
        ("MAX_TOKENS", "1.5", "valid integer"),
    ],
)
def test_bad_setting_is_refused_by_name_and_not_repeated(
    name: str, value: str, problem: str
) -> None:
    setting = f"REPLICALAB_LLM_{name}"
    with pytest.raises(ModelSettingsError) as caught:
        Endpoint.from_environment({**GOOD, setting: value})
    assert str(caught.value).startswith(f"{setting}: ")
    assert problem in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_key_shows_in_no_text_of_the_endpoint_and_is_kept_by_its_copies() -> None:
    endpoint = endpoint_of()
    shown = [repr(endpoint), str(endpoint), f"{endpoint}", endpoint.model_dump_json()]
    shown += [repr(endpoint.model_dump()), repr(vars(endpoint)), repr(list(endpoint))]
    shown += [json.dumps(endpoint.model_json_schema()), repr(endpoint.model_copy())]
    assert not [text for text in shown if CANARY in text]
    assert endpoint.model_copy(update={"timeout": 5}).api_key == endpoint.api_key
    assert pickle.loads(pickle.dumps(endpoint)) == endpoint  # noqa: S301 - its own dump
    with pytest.raises(ValidationError) as caught:
        Endpoint.model_validate({"base_url": "x", "api_key": CANARY})
    assert CANARY not in str(caught.value)
