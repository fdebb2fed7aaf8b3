"""Where a language model is reached, with which key and limits; and which may be asked at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.entities import html5
from ipaddress import IPv6Address
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
)

from replicalab.errors import ModelSettingsError
from replicalab.models import Record
from replicalab.negotiation import MAX_RETRIES, ModelSettings, Recording, Setup

# --- which servers may be asked -----------------------------------------------------------------

ALLOWED_SETTING: Final = "REPLICALAB_LLM_ALLOWED"

_ADDRESS: Final = re.compile(
    r"https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d+)?(/[a-z0-9._~%!$&'()*+,;=:@/-]*)?",
    re.IGNORECASE | re.ASCII,
)
_PORTS: Final = {"http": 80, "https": 443}


def checked_address(value: str) -> str:
    """Return the address without slashes at its end.

    No message repeats what was given: it may be a key that was pasted into the wrong place.

    Raises:
        ValueError: it is no plain address.
    """
    text = value.strip()
    if not text.lower().startswith(("http://", "https://")):
        raise ValueError("this address does not begin with http:// or https://; write it in full")
    if not _ADDRESS.fullmatch(text):
        raise ValueError(
            "this is not a plain address; write host, port and path only "
            "(https://host:port/v1), without user name, ?, # or spaces"
        )
    try:
        _place(text)
    except ValueError:
        raise ValueError(
            "the host of this address is not one, or its port is not from 0 to 65535"
        ) from None
    return text.rstrip("/")


def _place(address: str) -> tuple[str, str, int, str]:
    """Return scheme, host, port and path of an address, so that two of one place are equal."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.netloc.startswith("["):
        host = str(IPv6Address(host))
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    return parts.scheme, host, port, parts.path.rstrip("/")


class Allowed:
    """The addresses that may be asked.

    Without a list any may be: the app is made for one's own machine, where the model often is
    another program on it. Whoever serves it to others sets a list, or each visitor can make the
    server send requests into its own network, and learn from the answers what is there.

    An entry is an address (``https://models.example.org``, ``http://127.0.0.1:11434/v1``), or a
    host alone, for https. Scheme, host and port are compared whole, and the path if the entry has
    one; ``none``, or a list that is set and blank, allows nothing.
    """

    def __init__(self, setting: str | None) -> None:
        """Read the list.

        Raises:
            ModelSettingsError: an entry is no address; nothing may be asked until it is one.
        """
        entries = [entry.strip() for entry in (setting or "").split(",")]
        named = [entry for entry in entries if entry.lower() not in ("", "none")]
        self.anything = setting is None
        try:
            self.addresses = tuple(
                checked_address(entry if "://" in entry else f"https://{entry}") for entry in named
            )
        except ValueError as error:
            raise ModelSettingsError(f"{ALLOWED_SETTING}: {error}") from None

    def __contains__(self, address: str) -> bool:
        *asked, path = _place(address)
        places = map(_place, self.addresses)
        return self.anything or any(
            asked == place and only in ("", path) for *place, only in places
        )

    @property
    def text(self) -> str:
        """What may be asked, in a sentence; empty where anything may be."""
        if self.anything:
            return ""
        if not self.addresses:
            return "No language model may be asked here."
        return f"Only these may be asked here: {', '.join(self.addresses)}."


# --- a key that a server repeats ----------------------------------------------------------------

# Shorter ones are placeholders of local servers (`ollama`, `none`), which are also plain words.
_SHORTEST_REAL_KEY: Final = 16
# From here on a word with a digit in it is taken for a key: no placeholder has one.
_SHORTEST_WITH_A_DIGIT: Final = 8
_SEPARATORS: Final = " \t\r\n\v\f\u00a0\u200b_.,:;|/\\*'\"`+=%>-"


def _written(characters: str) -> str:
    """Return a pattern of any of these characters, itself or as JSON, an address or HTML has it."""
    codes = sorted(map(ord, characters))
    names = sorted(name for name, each in html5.items() if each in characters and name[-1] == ";")
    escaped = [
        rf"(?:\\u00|\\x|%)(?:{'|'.join(f'{code:02x}' for code in codes if code < 256)})",
        rf"&#x0*+(?:{'|'.join(f'{code:x}' for code in codes)})(?:;|(?![0-9a-f]))",
        rf"&#0*+(?:{'|'.join(map(str, codes))})(?:;|(?![0-9]))",
        *(f"&{re.escape(name)}" for name in names),
    ]
    return f"{'|'.join(escaped)}|[{re.escape(characters)}]"


# As few as will do: a per cent sign may separate, or begin the escape of what comes next.
_BETWEEN: Final = rf"(?:{_written(_SEPARATORS)}|\\[nrt])*?"


def masked(text: str, key: str) -> str:
    """Return the text with ``[key]`` wherever a server repeated the key.

    Found is the key in any case, with separators put in or left out, and with any of its characters
    escaped. Whoever knows a key can write it in a way that nobody looks for; this is for servers
    that quote, log or wrap it.
    """
    shortest = _SHORTEST_WITH_A_DIGIT if any(map(str.isdigit, key)) else _SHORTEST_REAL_KEY
    if len(key) < shortest:
        return text
    letters, between = [each for each in key if each not in _SEPARATORS], _BETWEEN
    if len(letters) < _SHORTEST_WITH_A_DIGIT:  # what is left of a key of separators is a word
        letters, between = list(key), ""
    pattern = between.join(f"(?:{_written(each)})" for each in letters)
    return re.sub(pattern, "[key]", text, flags=re.IGNORECASE | re.ASCII)


# --- the endpoint -------------------------------------------------------------------------------

API_KEY_SETTING: Final = "REPLICALAB_LLM_API_KEY"

SETTINGS: Final[Mapping[str, str]] = {
    "base_url": "REPLICALAB_LLM_BASE_URL",
    "model": "REPLICALAB_LLM_MODEL",
    "api_key": API_KEY_SETTING,
    "timeout": "REPLICALAB_LLM_TIMEOUT",
    "max_tokens": "REPLICALAB_LLM_MAX_TOKENS",
}
"""Field of `Endpoint` and the variable that sets it; the first two are needed, the rest are not."""

LONGEST_KEY: Final = 4096
_KEY: Final = re.compile(f"[!-~]{{1,{LONGEST_KEY}}}")


def _key(value: SecretStr) -> SecretStr:
    if not _KEY.fullmatch(value.get_secret_value()):
        raise ValueError(
            "the key is empty, too long, or holds a character that no key has (a space, a line "
            "break, an accent); copy it again"
        )
    return value


class Endpoint(Record):
    """Where and how a language model is asked, over the OpenAI chat-completions interface.

    The key is in no ``repr``, ``str``, dump or error of this class. Make one from settings with
    `from_environment`, whose errors are the project's.

    Attributes:
        base_url: where the API begins, often ending in ``/v1``; without slashes at its end.
        model: the model's name, as the server knows it.
        api_key: None for local servers that need none.
        timeout: the longest silence of the server, in seconds.
        time_limit: the longest time for one answer, waiting and asking again included, in seconds.
        max_tokens: the longest answer asked for, in the model's tokens.
        max_characters: the longest answer read, in characters.
        temperature: 0 for the most repeatable answers.
        max_retries: how often a call is sent again after a dropped connection, a rate limit or a
            failure of the server.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    base_url: Annotated[str, Field(max_length=2000), AfterValidator(checked_address)]
    model: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    api_key: Annotated[SecretStr, AfterValidator(_key)] | None = Field(
        default=None, repr=False, exclude=True
    )
    timeout: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 60
    time_limit: Annotated[float, Field(gt=0, le=36_000, allow_inf_nan=False)] = 300
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 2000
    max_characters: Annotated[int, Field(ge=1, le=10_000_000)] = 200_000
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0
    max_retries: Annotated[int, Field(ge=0, le=10)] = 2

    @property
    def host(self) -> str:
        """The host, with its port if the address names one: what messages call the server."""
        return urlsplit(self.base_url).netloc

    def without_key(self, text: str) -> str:
        """Return the text with the key masked wherever a server repeated it, see `masked`."""
        return masked(text, self.api_key.get_secret_value()) if self.api_key else text

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Endpoint | None:
        """Return the endpoint that the settings name; None without an address or a model.

        ``env`` is any mapping with the names of `SETTINGS`: the process environment, Streamlit
        secrets, what was typed for this session, or those merged. Blank values count as not set,
        except of the list of what may be asked (`Allowed`).

        Raises:
            ModelSettingsError: a value cannot be used, or the address may not be asked; the message
                names the setting, never the value of an address or a key.
        """
        allowed = Allowed(env.get(ALLOWED_SETTING))
        if what_to_set(env):
            return None
        given = {field: env.get(name, "").strip() for field, name in SETTINGS.items()}
        try:
            endpoint = cls.model_validate({field: text for field, text in given.items() if text})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = SETTINGS[str(first["loc"][0])]
            failure = ModelSettingsError(f"{name}: {first['msg'].removeprefix('Value error, ')}")
        else:
            if endpoint.base_url in allowed:
                return endpoint
            failure = ModelSettingsError(
                f"{SETTINGS['base_url']}: this address may not be asked. {allowed.text}"
            )
        # Raised out here, so that the input that pydantic keeps does not travel along.
        raise failure


def needed_endpoint(env: Mapping[str, str]) -> Endpoint:
    """Return the endpoint that the settings name.

    Raises:
        ModelSettingsError: a setting is missing, or cannot be used; says which.
    """
    found = Endpoint.from_environment(env)
    if found is None:
        raise ModelSettingsError(what_to_set(env))
    return found


def recording_of(setup: Setup, endpoint: Endpoint | None) -> Recording:
    """Return who was asked in a negotiation, and how; what is not known is as it usually is.

    Raises:
        ValidationError: the endpoint's host is none that a recording may hold.
    """
    usual = Endpoint.model_fields
    asked = ModelSettings(
        model=setup.model or "unknown",
        host=endpoint.host if endpoint else None,
        temperature=endpoint.temperature if endpoint else usual["temperature"].default,
        max_tokens=endpoint.max_tokens if endpoint else usual["max_tokens"].default,
        max_retries=MAX_RETRIES,
    )
    return Recording(key="own_run", title=f"{asked.model} on {setup.scenario_id}", settings=asked)


def what_to_set(env: Mapping[str, str]) -> str:
    """Return a sentence that says which needed settings are not set or blank; empty when none."""
    needed = (SETTINGS["base_url"], SETTINGS["model"])
    missing = [name for name in needed if not env.get(name, "").strip()]
    if not missing:
        return ""
    return (
        f"To let a language model play, set {' and '.join(missing)}, and {API_KEY_SETTING} if "
        "the server asks for a key. Any server with an OpenAI-compatible address will do, "
        "such as a local one at http://localhost:11434/v1."
    )
