"""The endpoint of a language model: address, key, limits, and the list of allowed addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, StringConstraints
from pydantic import ValidationError as InvalidError

from replicalab.errors import ModelSettingsError
from replicalab.models import Record
from replicalab.negotiation import MAX_RETRIES, ModelSettings, Recording, Setup

ALLOWED_SETTING: Final = "REPLICALAB_LLM_ALLOWED"
API_KEY_SETTING: Final = "REPLICALAB_LLM_API_KEY"
SETTINGS: Final[Mapping[str, str]] = {
    "base_url": "REPLICALAB_LLM_BASE_URL",
    "model": "REPLICALAB_LLM_MODEL",
    "api_key": API_KEY_SETTING,
    "timeout": "REPLICALAB_LLM_TIMEOUT",
    "max_tokens": "REPLICALAB_LLM_MAX_TOKENS",
}
"""Fields of `Endpoint` and their environment variables; the first two are required."""

_ADDRESS: Final = re.compile(
    r"https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d+)?(/[a-z0-9._~%!$&'()*+,;=:@/-]*)?",
    re.IGNORECASE | re.ASCII,
)
_KEY: Final = re.compile("[!-~]{1,4096}")
_MIN_MASKED_CHARS: Final = 8  # shorter keys are placeholders of local servers, often plain words


def _checked_address(value: str) -> str:
    """Return the address without trailing slashes; no message repeats it (it may be a key)."""
    text = value.strip()
    if not _ADDRESS.fullmatch(text):
        raise ValueError(
            "this is not a plain address; write scheme, host, port and path "
            "(https://host:port/v1), without user name, ?, # or spaces"
        )
    try:
        _parts(text)
    except ValueError:
        raise ValueError("this address has an invalid host or port; correct it") from None
    return text.rstrip("/")


def _parts(address: str) -> tuple[str, str, int, str]:
    """Return scheme, host, port and path in normal form."""
    parts = urlsplit(address)
    port = parts.port if parts.port is not None else 443 if parts.scheme == "https" else 80
    return parts.scheme, (parts.hostname or "").lower(), port, parts.path.rstrip("/")


class AllowList:
    """The addresses that may be called.

    Without the setting any address is allowed: the app is made for one's own machine. A server for
    others sets a list, or each visitor could send requests into the server's own network. An entry
    is an address or a host (then https). Scheme, host and port must match exactly, and the path if
    the entry has one. ``none`` or a blank list allows nothing.

    Raises:
        ModelSettingsError: an entry is not an address.
    """

    def __init__(self, setting: str | None) -> None:
        entries = [entry.strip() for entry in (setting or "").split(",")]
        self.unlimited = setting is None
        try:
            self.addresses = tuple(
                _checked_address(entry if "://" in entry else f"https://{entry}")
                for entry in entries
                if entry.lower() not in ("", "none")
            )
        except ValueError as error:
            raise ModelSettingsError(f"{ALLOWED_SETTING}: {error}") from None

    def __contains__(self, address: str) -> bool:
        *place, path = _parts(address)
        return self.unlimited or any(
            place == allowed_place and allowed_path in ("", path)
            for *allowed_place, allowed_path in map(_parts, self.addresses)
        )

    @property
    def text(self) -> str:
        """One sentence; empty if any address is allowed."""
        if self.unlimited:
            return ""
        if not self.addresses:
            return "This server allows no language model."
        return f"This server allows only: {', '.join(self.addresses)}."


def _checked_key(value: SecretStr) -> SecretStr:
    if not _KEY.fullmatch(value.get_secret_value()):
        raise ValueError("the key is empty, too long, or contains a space or an accent; copy it")
    return value


class Endpoint(Record):
    """An OpenAI-compatible chat-completions endpoint and its limits.

    The key is in no ``repr``, ``str``, dump or error message of this class.

    Attributes:
        base_url: the address that the API's paths extend, often ending in ``/v1``.
        model: the model's name on that server.
        api_key: None for local servers without keys.
        timeout: longest silence, in seconds.
        time_limit: longest time for one answer including retries, in seconds.
        max_tokens: longest requested answer, in the model's tokens.
        max_characters: longest accepted answer, in characters.
        temperature: 0 for the most repeatable answers.
        max_retries: retries after a lost connection, a rate limit or a server failure.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    base_url: Annotated[str, Field(max_length=2000), AfterValidator(_checked_address)]
    model: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    api_key: Annotated[SecretStr, AfterValidator(_checked_key)] | None = Field(
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
        """The host, with the port if the address names one."""
        return urlsplit(self.base_url).netloc

    def without_key(self, text: str) -> str:
        """Replace the key by ``[key]`` if the server repeats it."""
        key = self.api_key.get_secret_value() if self.api_key else ""
        return text.replace(key, "[key]") if len(key) >= _MIN_MASKED_CHARS else text

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Endpoint:
        """Read the endpoint from settings.

        ``env`` is any mapping with the names of `SETTINGS`: the environment, Streamlit's secrets,
        or what a visitor typed. Blank values count as missing.

        Raises:
            ModelSettingsError: a value is missing or invalid, or the address is not allowed. The
                message names the setting, never an address or a key.
        """
        allowed = AllowList(env.get(ALLOWED_SETTING))
        if missing := what_to_set(env):
            raise ModelSettingsError(missing)
        values = {field: env.get(name, "").strip() for field, name in SETTINGS.items()}
        try:
            endpoint = cls.model_validate({field: text for field, text in values.items() if text})
        except InvalidError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = SETTINGS[str(first["loc"][0])]
            problem = f"{name}: {first['msg'].removeprefix('Value error, ')}"
        else:
            if endpoint.base_url in allowed:
                return endpoint
            problem = f"{SETTINGS['base_url']}: this address is not allowed. {allowed.text}"
        # Raised outside the handler: pydantic's error holds the input, which may be a key.
        raise ModelSettingsError(problem)


def recording_of(setup: Setup, endpoint: Endpoint | None) -> Recording:
    """Describe the model of a negotiation; unknown settings have their defaults.

    Raises:
        ValidationError: the endpoint's host cannot be recorded.
    """
    defaults = {name: field.default for name, field in Endpoint.model_fields.items()}
    settings = ModelSettings(
        model=setup.model or "unknown",
        host=endpoint.host if endpoint else None,
        temperature=endpoint.temperature if endpoint else defaults["temperature"],
        max_tokens=endpoint.max_tokens if endpoint else defaults["max_tokens"],
        max_retries=MAX_RETRIES,
    )
    title = f"{settings.model} on {setup.scenario_id}"
    return Recording(key="own_run", title=title, settings=settings)


def what_to_set(env: Mapping[str, str]) -> str:
    """Name the required settings that are missing, in one sentence; empty if none is."""
    required = (SETTINGS["base_url"], SETTINGS["model"])
    missing = [name for name in required if not env.get(name, "").strip()]
    if not missing:
        return ""
    return (
        f"To use a language model, set {' and '.join(missing)}, and {API_KEY_SETTING} if the "
        "server needs a key. Any OpenAI-compatible server works, such as a local one at "
        "http://localhost:11434/v1."
    )
