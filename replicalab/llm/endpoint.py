"""Where a language model is reached: its address, its name, its key and the limits of a call."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
from replicalab.llm.allowed import ALLOWED_SETTING, Allowed, checked_address
from replicalab.llm.secret import masked
from replicalab.models import Record

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
                f"{SETTINGS['base_url']}: this address may not be asked. {allowed.told()}"
            )
        # Raised out here, so that the input that pydantic keeps does not travel along.
        raise failure


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
