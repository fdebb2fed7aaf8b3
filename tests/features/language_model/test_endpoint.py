"""Settings make one checked endpoint; the key is shown nowhere."""

import json
import pickle
import traceback
from typing import Final

import pytest
from pydantic import ValidationError

from replicalab.errors import ModelSettingsError
from replicalab.features.language_model import (
    ALLOWED_SETTING,
    SETTINGS,
    AllowList,
    Endpoint,
    missing_settings_text,
)
from tests.features.language_model.serving import CANARY
from tests.golden import assert_golden

GOOD = {
    "REPLICALAB_LLM_BASE_URL": "https://models.example.org/v1/",
    "REPLICALAB_LLM_MODEL": " small-model ",
    "REPLICALAB_LLM_API_KEY": f" {CANARY}\n",
}


def endpoint_of(**changes: str) -> Endpoint:
    return Endpoint.from_environment({**GOOD, **changes})


def test_endpoint_has_the_documented_defaults() -> None:
    endpoint = endpoint_of()
    assert endpoint.base_url == "https://models.example.org/v1"
    assert (endpoint.model, endpoint.host) == ("small-model", "models.example.org")
    assert endpoint.api_key is not None
    assert endpoint.api_key.get_secret_value() == CANARY
    assert (endpoint.timeout, endpoint.max_tokens, endpoint.temperature) == (60, 2000, 0)
    assert (endpoint.max_retries, endpoint.time_limit, endpoint.max_characters) == (2, 300, 200_000)
    assert missing_settings_text(GOOD) == ""
    assert {*SETTINGS} <= {*Endpoint.model_fields}
    for url in ("http://localhost:11434/v1", "HTTPS://Example.org", "http://[::1]:8000/a%20b"):
        assert Endpoint(base_url=f"{url}//", model="m").base_url == url


def test_key_is_optional_and_limits_are_read() -> None:
    record = {"REPLICALAB_LLM_TIMEOUT": "120.5", "REPLICALAB_LLM_MAX_TOKENS": "4000"}
    endpoint = endpoint_of(**record, REPLICALAB_LLM_API_KEY="  ")
    assert (endpoint.timeout, endpoint.max_tokens, endpoint.api_key) == (120.5, 4000, None)


@pytest.mark.parametrize("absent", ["REPLICALAB_LLM_BASE_URL", "REPLICALAB_LLM_MODEL"])
def test_missing_address_or_model_is_named(absent: str) -> None:
    without = {name: value for name, value in GOOD.items() if name != absent}
    for env in (without, without | {absent: ""}, without | {absent: " \t"}):
        with pytest.raises(ModelSettingsError, match=f"^To use a language model, set {absent}, "):
            Endpoint.from_environment(env)
    assert (
        "set REPLICALAB_LLM_BASE_URL and REPLICALAB_LLM_MODEL, and REPL"
        in missing_settings_text({})
    )


BAD_SETTINGS: Final = [
    ("BASE_URL", f"ftp://{CANARY}"),
    ("BASE_URL", CANARY),
    ("BASE_URL", "file:///etc/passwd"),
    ("BASE_URL", f"https://me:{CANARY}@example.org/v1"),
    ("BASE_URL", f"https://example.org/v1?key={CANARY}"),
    ("BASE_URL", f"https://example.org/v1#{CANARY}"),
    ("BASE_URL", "https://"),
    ("BASE_URL", "https://exa mple.org"),
    ("BASE_URL", "https://example.org/\r\nX-Injected: 1"),
    ("BASE_URL", "https://example.org:99999/v1"),
    ("BASE_URL", "https://example.org/" + "a" * 2000),
    ("MODEL", "m" * 201),
    *(("API_KEY", f"{CANARY}{more}") for more in (f" {CANARY}", "\r\nX-Injected: 1", "é")),
    ("API_KEY", CANARY * 1000),
    *(("TIMEOUT", text) for text in ("0", "soon", "nan")),
    *(("MAX_TOKENS", text) for text in ("-1", "1.5")),
]


def test_bad_settings_are_named_but_not_repeated() -> None:
    lines = []
    for name, value in BAD_SETTINGS:
        with pytest.raises(ModelSettingsError) as caught:
            endpoint_of(**{f"REPLICALAB_LLM_{name}": value})
        assert caught.value.__cause__ is caught.value.__context__ is None
        assert CANARY not in "".join(traceback.format_exception(caught.value))
        lines.append(str(caught.value))
    assert_golden("model_settings", "\n".join(lines))


def test_key_is_hidden_in_every_text() -> None:
    endpoint = endpoint_of()
    texts = [repr(endpoint), str(endpoint), f"{endpoint}", endpoint.model_dump_json()]
    texts += [repr(endpoint.model_dump()), repr(vars(endpoint)), repr(list(endpoint))]
    texts += [json.dumps(endpoint.model_json_schema()), repr(endpoint.model_copy())]
    assert not [text for text in texts if CANARY in text]
    assert endpoint.model_copy(update={"timeout": 5}).api_key == endpoint.api_key
    assert pickle.loads(pickle.dumps(endpoint)) == endpoint  # noqa: S301 - its own dump
    with pytest.raises(ValidationError) as caught:
        Endpoint.model_validate({"base_url": "x", "api_key": CANARY})
    assert CANARY not in str(caught.value)


LIST = "https://api.openai.com, http://127.0.0.1:11434/v1,models.example.org:8443, http://[::1]:80"


LISTED: Final = [
    *("https://api.openai.com", "https://api.openai.com/v1/"),
    *("HTTPS://API.OpenAI.com:443/anything", "https://models.example.org:8443/v1"),
    *("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1//"),
    *("http://[::1]/v1", "http://[::1]:80/v1"),
]
LOOK_ALIKE: Final = [
    *("http://api.openai.com", "https://api.openai.com:8443", "https://api.openai.com:80"),
    *("https://api.openai.com.evil.example", "https://api.openai.com.", "https://openai.com"),
    *("https://evil.example/api.openai.com", "https://evil.example/https://api.openai.com"),
    *("https://xapi.openai.com", "https://api-openai.com", "https://models.example.org"),
    *("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1x", "http://127.0.0.1:11434/v1/admin"),
    *("http://127.0.0.1:11434/v1/../admin", "http://127.0.0.1:11434/%76%31"),
    *("http://127.0.0.1:11435/v1", "http://localhost:11434/v1", "http://2130706433:11434/v1"),
    *("http://127.1:11434/v1", "http://0x7f000001:11434/v1", "http://[::1]:8080/v1"),
    *("http://[::ffff:127.0.0.1]:11434/v1", "https://[::1]/v1"),
    "http://169.254.169.254/latest/meta-data",
]
TWO_READINGS: Final = [
    *("https://api.openai.com@evil.example/v1", "https://api.openai.com:443@evil.example"),
    *("https://evil.example#@api.openai.com", "https://evil.example\\@api.openai.com"),
    *("https://api.openai.com%2eevil.example", "https://api\u3002openai.com"),
    *("https://api.openai.com\u2100.evil.example", "https://api.openai\u2024com"),
    *("https://model\u017f.example.org:8443", "https://api.openai.com:\u0664\u0664\u0663"),
    *("http://[::1%25lo]/v1", "http://[::1::]/v1"),
]


def test_listed_address_is_allowed_in_any_spelling() -> None:
    for address in LISTED:
        assert address in AllowList(LIST)
        assert listed_endpoint(address, LIST).base_url == address.rstrip("/")


@pytest.mark.parametrize("address", LOOK_ALIKE)
def test_similar_address_is_refused(address: str) -> None:
    assert address in AllowList(None), "without a list every address is allowed"
    with pytest.raises(ModelSettingsError) as caught:
        listed_endpoint(address, LIST)
    text = str(caught.value)
    assert text.startswith(
        "REPLICALAB_LLM_BASE_URL: this address is not allowed. This server allows only"
    )
    assert "https://api.openai.com, http://127.0.0.1:11434/v1, https://models.exa" in text
    assert caught.value.__context__ is None


@pytest.mark.parametrize("address", TWO_READINGS)
def test_ambiguous_address_is_invalid(address: str) -> None:
    for listed in (LIST, None):
        with pytest.raises(ModelSettingsError, match="REPLICALAB_LLM_BASE_URL"):
            listed_endpoint(address, listed)


def test_empty_or_invalid_list_allows_nothing() -> None:
    for listed in ("none", "", " ", ",", "None, none"):
        with pytest.raises(ModelSettingsError, match="This server allows no language model"):
            listed_endpoint("https://api.openai.com", listed)
    for listed in ("ftp://x", "https://*.example.org", "a b", "https://x:99999"):
        with pytest.raises(ModelSettingsError, match=f"^{ALLOWED_SETTING}: "):
            listed_endpoint("https://api.openai.com", f"https://api.openai.com,{listed}")


def listed_endpoint(address: str, listed: str | None) -> Endpoint:
    env = {"REPLICALAB_LLM_BASE_URL": address, "REPLICALAB_LLM_MODEL": "m"}
    return Endpoint.from_environment(env | ({} if listed is None else {ALLOWED_SETTING: listed}))
