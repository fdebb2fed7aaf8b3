"""The endpoint: settings in, one checked endpoint out, nothing asked that is not on the list.

A key shows nowhere; it is masked in whichever usual way a server repeats it, and nothing else is.
"""

from __future__ import annotations

import html
import json
import pickle
import traceback
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.errors import ModelSettingsError
from replicalab.llm import ALLOWED_SETTING, SETTINGS, Allowed, Endpoint, what_to_set
from replicalab.llm.endpoint import masked
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
    for url in ("http://localhost:11434/v1", "HTTPS://Example.org", "http://[::1]:8000/a%20b"):
        assert Endpoint(base_url=f"{url}//", model="m").base_url == url


def test_key_is_not_needed_and_optional_limits_are_read() -> None:
    more = {"REPLICALAB_LLM_TIMEOUT": "120.5", "REPLICALAB_LLM_MAX_TOKENS": "4000"}
    endpoint = endpoint_of(**more, REPLICALAB_LLM_API_KEY="  ")
    assert (endpoint.timeout, endpoint.max_tokens, endpoint.api_key) == (120.5, 4000, None)
    assert {*GOOD, *more} == {*SETTINGS.values()}
    assert {*SETTINGS} <= {*Endpoint.model_fields}


@pytest.mark.parametrize("absent", ["REPLICALAB_LLM_BASE_URL", "REPLICALAB_LLM_MODEL"])
def test_endpoint_is_none_without_address_or_model(absent: str) -> None:
    without = {name: value for name, value in GOOD.items() if name != absent}
    for env in (without, without | {absent: ""}, without | {absent: " \t"}):
        assert Endpoint.from_environment(env) is None
        told = what_to_set(env)
        assert told.startswith(f"To let a language model play, set {absent}, and ")
    assert "set REPLICALAB_LLM_BASE_URL and REPLICALAB_LLM_MODEL, and REPL" in what_to_set({})


NO_KEY: Final = "the key is empty, too long, or holds"


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("BASE_URL", [f"ftp://{CANARY}", CANARY, "file:///etc/passwd"], "does not begin with http"),
        (
            "BASE_URL",
            [
                f"https://me:{CANARY}@example.org/v1",
                *(f"https://example.org/v1{sign}{CANARY}" for sign in ("?key=", "#")),
                *("https://", "https://exa mple.org", "https://example.org/\r\nX-Injected: 1"),
            ],
            "not a plain address",
        ),
        ("BASE_URL", ["https://example.org:99999/v1"], "port"),
        ("BASE_URL", ["https://example.org/" + "a" * 2000], "2000 characters"),
        ("MODEL", ["m" * 201], "200 characters"),
        ("API_KEY", [f"{CANARY} {CANARY}", f"{CANARY}\r\nX-Injected: 1", f"{CANARY}é"], NO_KEY),
        ("API_KEY", [CANARY * 1000], NO_KEY),
        ("TIMEOUT", ["0"], "greater than 0"),
        ("TIMEOUT", ["soon"], "valid number"),
        ("TIMEOUT", ["nan"], "finite"),
        ("MAX_TOKENS", ["-1"], "greater than or equal to 1"),
        ("MAX_TOKENS", ["1.5"], "valid integer"),
    ],
)
def test_bad_setting_is_refused_by_name_and_not_repeated(
    name: str, values: list[str], problem: str
) -> None:
    setting = f"REPLICALAB_LLM_{name}"
    for value in values:
        with pytest.raises(ModelSettingsError) as caught:
            Endpoint.from_environment({**GOOD, setting: value})
        assert str(caught.value).startswith(f"{setting}: ")
        assert problem in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None
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


# --- which servers may be asked ---------------------------------------------------------------

LIST = "https://api.openai.com, http://127.0.0.1:11434/v1,models.example.org:8443, http://[::1]:80"


LISTED: Final = [
    *("https://api.openai.com", "https://api.openai.com/v1/"),
    *("HTTPS://API.OpenAI.com:443/anything", "https://models.example.org:8443/v1"),
    *("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1//"),
    *("http://[::1]/v1", "http://[0:0:0:0:0:0:0:1]:80/v1"),
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


def test_address_on_the_list_may_be_asked_however_it_is_written() -> None:
    for address in LISTED:
        assert address in Allowed(LIST)
        assert listed_endpoint(address, LIST).base_url == address.rstrip("/")


@pytest.mark.parametrize("address", LOOK_ALIKE)
def test_address_that_only_looks_like_one_on_the_list_is_refused(address: str) -> None:
    assert address in Allowed(None), "where there is no list, anything may be asked"
    with pytest.raises(ModelSettingsError) as caught:
        listed_endpoint(address, LIST)
    told = str(caught.value)
    assert told.startswith("REPLICALAB_LLM_BASE_URL: this address may not be asked. Only these")
    assert "https://api.openai.com, http://127.0.0.1:11434/v1, https://models.exa" in told
    assert caught.value.__context__ is None


@pytest.mark.parametrize("address", TWO_READINGS)
def test_address_that_two_readers_may_take_for_two_is_no_address(address: str) -> None:
    for listed in (LIST, None):
        with pytest.raises(ModelSettingsError, match="REPLICALAB_LLM_BASE_URL"):
            listed_endpoint(address, listed)


def test_list_of_nothing_or_with_a_bad_entry_allows_nothing() -> None:
    for listed in ("none", "", " ", ",", "None, none"):
        with pytest.raises(ModelSettingsError, match="No language model may be asked here"):
            listed_endpoint("https://api.openai.com", listed)
    for listed in ("ftp://x", "https://*.example.org", "a b", "https://x:99999"):
        with pytest.raises(ModelSettingsError, match=f"^{ALLOWED_SETTING}: "):
            listed_endpoint("https://api.openai.com", f"https://api.openai.com,{listed}")


def listed_endpoint(address: str, listed: str | None) -> Endpoint:
    env = {"REPLICALAB_LLM_BASE_URL": address, "REPLICALAB_LLM_MODEL": "m"}
    found = Endpoint.from_environment(env | ({} if listed is None else {ALLOWED_SETTING: listed}))
    assert found is not None
    return found


# --- a key that a server repeats --------------------------------------------------------------

WAYS: Final[dict[str, Callable[[str], str]]] = {
    "itself": str,
    "upper": str.upper,
    "dashed": "-".join,
    "spaced": " ".join,
    "in lines": "\n".join,
    "in lines of JSON": lambda key: json.dumps("\n".join(key))[1:-1],
    "percent": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "every other percent": lambda key: "".join(
        char if at % 2 else f"%{ord(char):02x}" for at, char in enumerate(key)
    ),
    "address": lambda key: quote(key, safe=""),
    "JSON": lambda key: "".join(f"\\u{ord(char):04x}" for char in key),
    "half JSON": lambda key: f"\\u{ord(key[0]):04X}{key[1:]}",
    "HTML": lambda key: "".join(f"&#x{ord(char):x};" for char in key),
    "HTML, decimal": lambda key: "".join(f"&#{ord(char)};" for char in key),
    "HTML, padded": lambda key: "".join(f"&#x{ord(char):06X};" for char in key),
    "HTML, of Python": html.escape,
    "HTML, of templates": lambda key: html.escape(key).replace("+", "&#43;").replace("/", "&sol;"),
    "quoted": lambda key: f"{key[:7]}\n> {key[7:]}",
    "Python": lambda key: "".join(f"\\x{ord(char):02x}" for char in key),
}
KEYS: Final = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16, max_size=80)
AROUND: Final = st.text(max_size=30) | st.sampled_from(["%", "\\", "\\u00", "&#x", "[key]", "=="])


def bare(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(filter(str.isalnum, text.lower()))


@given(KEYS, st.sampled_from(list(WAYS)), AROUND, AROUND)
def test_key_survives_in_no_usual_way(key: str, way: str, before: str, after: str) -> None:
    assume(len(bare(key)) >= 8)
    assume("%" not in key or way not in ("dashed", "spaced"))
    written = WAYS[way](key)
    found = masked(f"{before}\n{written}\n{after}", key)
    assert "[key]" in found
    assert bare(written) not in bare(found)


@given(st.text(max_size=200), KEYS)
def test_text_without_the_key_is_left_alone(text: str, key: str) -> None:
    assume(bare(key) not in bare(text))
    assert masked(text, key) == text


def test_text_around_the_key_stays() -> None:
    before, after = "It said: 100% of «it» is \\u00e9 & [", "] (50%), so: no."
    found = {way: masked(before + write(CANARY) + after, CANARY) for way, write in WAYS.items()}
    assert found == dict.fromkeys(WAYS, f"{before}[key]{after}")


@pytest.mark.parametrize(
    ("key", "echo", "told"),
    [
        ("shortkey12345", "s-h-o-r-t-k-e-y-1-2-3-4-5", "[key]"),
        ("sk-abc_def-0123456789", "SKabcdef0123456789", "[key]"),
        ("shortkey12345", "shortkey12345shortkey12345", "[key][key]"),
        ("shortkey12345", "shortshortkey12345key12345", "short[key]key12345"),
        ("shortkey12345", "%73%68ortkey%31shortkey12345", "%73%68ortkey%31[key]"),
        ("ab12cd34", "%ab12cd34", "%[key]"),
        ("<000000000000%00", "\\u003c000000000000%00", "[key]"),
        ("%00" * 6, "\0" * 6, "\0" * 6),
        ("1234-----_____..", "1234-----_____..", "[key]"),
        ("1234-----_____..", "1234", "1234"),
        ("AbCd+efGh/ijKl9mn==", "AbCd&plus;efGh&#47ijKl9mn==", "[key]=="),
        ("p'ssword9<xyz12345", "p&#39;ssword9&LT;xyz12345", "[key]"),
        ("AbCd&lt;efGhijKl9mn", "AbCd&lt;efGhijKl9mn &lt; &nokey;", "[key] &lt; &nokey;"),
        # Placeholders of local servers are plain words.
        *((word, word, word) for word in ("ollama", "lm-studio", "not-needed", "no1")),
    ],
)
def test_key_is_told_from_what_only_looks_like_it(key: str, echo: str, told: str) -> None:
    assert masked(f"a {echo} b", key) == f"a {told} b"
