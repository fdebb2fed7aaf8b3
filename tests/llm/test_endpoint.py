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


def good_endpoint() -> Endpoint:
    endpoint = Endpoint.from_environment(GOOD)
    assert endpoint is not None
    return endpoint


def test_endpoint_comes_from_its_settings() -> None:
    endpoint = good_endpoint()
    assert endpoint.base_url == "https://models.example.org/v1"
    assert endpoint.model == "small-model"
    assert endpoint.api_key is not None
    assert endpoint.api_key.get_secret_value() == CANARY
    assert endpoint.host == "models.example.org"


def test_endpoint_limits_are_as_documented() -> None:
    endpoint = good_endpoint()
    assert (endpoint.timeout, endpoint.max_tokens, endpoint.temperature) == (60, 2000, 0)
    assert (endpoint.max_retries, endpoint.time_limit, endpoint.max_characters) == (2, 300, 200_000)


def test_endpoint_needs_no_key() -> None:
    endpoint = Endpoint.from_environment({**GOOD, "REPLICALAB_LLM_API_KEY": "  "})
    assert endpoint is not None
    assert endpoint.api_key is None


def test_optional_limits_are_read() -> None:
    more = {"REPLICALAB_LLM_TIMEOUT": "120.5", "REPLICALAB_LLM_MAX_TOKENS": "4000"}
    endpoint = Endpoint.from_environment({**GOOD, **more})
    assert endpoint is not None
    assert (endpoint.timeout, endpoint.max_tokens) == (120.5, 4000)


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


def test_everything_set_leaves_nothing_to_say() -> None:
    assert what_to_set(GOOD) == ""


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


def test_settings_name_fields_of_the_endpoint() -> None:
    assert set(SETTINGS) <= set(Endpoint.model_fields)
    assert set(GOOD) <= set(SETTINGS.values())


def test_key_shows_in_no_text_of_the_endpoint() -> None:
    endpoint = good_endpoint()
    shown = [repr(endpoint), str(endpoint), f"{endpoint}", endpoint.model_dump_json()]
    shown += [repr(endpoint.model_dump()), repr(vars(endpoint)), repr(list(endpoint))]
    shown += [json.dumps(endpoint.model_json_schema()), repr(endpoint.model_copy())]
    assert not [text for text in shown if CANARY in text]


def test_key_shows_in_no_validation_error() -> None:
    with pytest.raises(ValidationError) as caught:
        Endpoint.model_validate({"base_url": "x", "api_key": CANARY})
    assert CANARY not in str(caught.value)


def test_copy_of_an_endpoint_keeps_its_key() -> None:
    endpoint = good_endpoint()
    assert endpoint.model_copy(update={"timeout": 5}).api_key == endpoint.api_key
    assert pickle.loads(pickle.dumps(endpoint)) == endpoint  # noqa: S301 - its own dump


def test_real_key_is_masked_and_a_placeholder_is_not() -> None:
    assert good_endpoint().without_key(f"a {CANARY} b") == "a [key] b"
    local = Endpoint(base_url="http://localhost/v1", model="m", api_key="ollama")  # type: ignore[arg-type]
    assert local.without_key("ollama runs") == "ollama runs"


@pytest.mark.parametrize(
    "echo", ["shortkey12345", "SHORTKEY12345", "s-h-o-r-t-k-e-y-1-2-3-4-5", "shortkey 12345"]
)
def test_key_is_masked_in_other_case_and_split_by_separators(echo: str) -> None:
    found = Endpoint(base_url="http://localhost/v1", model="m", api_key="shortkey12345")  # type: ignore[arg-type]
    assert found.without_key(f"a {echo} b") == "a [key] b"


@pytest.mark.parametrize("placeholder", ["lm-studio", "not-needed", "no1"])
def test_placeholder_of_a_local_server_stays_a_plain_word(placeholder: str) -> None:
    found = Endpoint(base_url="http://localhost/v1", model="m", api_key=placeholder)  # type: ignore[arg-type]
    assert found.without_key(f"a {placeholder} b") == f"a {placeholder} b"


def test_key_with_separators_is_masked_where_they_are_left_out() -> None:
    found = Endpoint(base_url="http://localhost/v1", model="m", api_key="sk-abc_def-0123456789")  # type: ignore[arg-type]
    assert found.without_key("a SKabcdef0123456789 b") == "a [key] b"
    assert found.without_key("sk-abc_def-0123456789") == "[key]"
