"""The address, key and limits of a language model, and the addresses that may be called."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, ValidationError

from replicalab.errors import ModelSettingsError, Refusal
from replicalab.models import NonEmptyText, Record

ProgressFn = Callable[[int, float], None]
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


def _checked_address(value: str) -> str:
    text = value.strip()
    with suppress(ValueError):  # of a host or port
        if _ADDRESS.fullmatch(text) and _parts(text):
            return text.rstrip("/")
    # The address is not repeated: it may be a key in the wrong field.
    raise Refusal("this is not a plain address", "write https://host:port/v1").error


def _parts(address: str) -> tuple[str, str, int, str]:
    parts = urlsplit(address)
    port = parts.port if parts.port is not None else 443 if parts.scheme == "https" else 80
    return parts.scheme, (parts.hostname or "").lower(), port, parts.path.rstrip("/")


class AllowList:
    """The addresses that may be called, so that visitors cannot reach a server's own network.

    An entry is an address or a host (then https). Scheme, host, port and, if given, path must
    match. Without the setting any address is allowed; ``none`` or a blank list allows nothing.
    """

    def __init__(self, setting: str | None) -> None:
        entries = [entry.strip() for entry in (setting or "").split(",")]
        entries = [entry for entry in entries if entry.lower() not in ("", "none")]
        addresses = [entry if "://" in entry else f"https://{entry}" for entry in entries]
        self.unlimited = setting is None
        try:
            self.addresses = tuple(map(_checked_address, addresses))
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
        if self.addresses:
            return f"This server allows only: {', '.join(self.addresses)}."
        none = f"This server allows no language model; its operator sets {ALLOWED_SETTING}."
        return "" if self.unlimited else none


def _checked_key(value: SecretStr) -> SecretStr:
    if not _KEY.fullmatch(value.get_secret_value()):
        problem = "the key is empty, too long, or contains a space or an accent"
        raise Refusal(problem, "copy it").error
    return value


class Endpoint(Record):
    """An OpenAI-compatible endpoint, whose key is in no text, dump or error."""

    model_config = ConfigDict(hide_input_in_errors=True)

    base_url: Annotated[str, Field(max_length=2000), AfterValidator(_checked_address)]
    model: Annotated[NonEmptyText, Field(max_length=200)]
    api_key: Annotated[SecretStr, AfterValidator(_checked_key)] | None = Field(
        default=None, repr=False, exclude=True
    )
    # Seconds of silence, and in all, retries included:
    timeout: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 60
    time_limit: Annotated[float, Field(gt=0, le=36_000, allow_inf_nan=False)] = 300
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 2000
    max_characters: Annotated[int, Field(ge=1, le=10_000_000)] = 200_000
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0
    max_retries: Annotated[int, Field(ge=0, le=10)] = 2

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Self:
        """Read the endpoint from `SETTINGS`; a blank value counts as missing."""
        allowed = AllowList(env.get(ALLOWED_SETTING))
        if missing := missing_settings_text(env):
            raise ModelSettingsError(missing)
        values = {field: env.get(name, "").strip() for field, name in SETTINGS.items()}
        problem = f"{SETTINGS['base_url']}: this address is not allowed. {allowed.text}"
        try:
            endpoint = cls.model_validate({field: text for field, text in values.items() if text})
            if endpoint.base_url in allowed:
                return endpoint
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            problem = f"{SETTINGS[str(first['loc'][0])]}: {first['msg']}"
        # Raised outside the handler: pydantic's error holds the input, which may be a key.
        raise ModelSettingsError(problem)


def missing_settings_text(env: Mapping[str, str]) -> str:
    """Name the missing required settings in one sentence; empty if both are set."""
    missing = [name for name in [*SETTINGS.values()][:2] if not env.get(name, "").strip()]
    text = (
        f"To use a language model, set {' and '.join(missing)}, and {API_KEY_SETTING} if the "
        "server needs a key. Any OpenAI-compatible server works, such as http://localhost:11434/v1."
    )
    return text if missing else ""
