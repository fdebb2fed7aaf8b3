"""What went wrong, told as one of the project's errors: by host and remedy, without the key."""

from __future__ import annotations

import re
import socket
import ssl
from typing import Final

import httpx2
import openai

from replicalab.errors import (
    ModelAnswerTooLongError,
    ModelError,
    ModelFormatError,
    ModelRateLimitedError,
    ModelRefusedError,
    ModelServerError,
    ModelSettingsError,
    ModelUnreachableError,
)
from replicalab.lexicon import plural
from replicalab.llm.endpoint import API_KEY_SETTING, Endpoint

_WORD: Final = re.compile(r"[a-z][a-z_]{0,59}")
_SECONDS: Final = re.compile(r"[1-9][0-9]{0,5}")

_BY_STATUS: Final = {
    300: "sends requests on to another address ({number}), where the key must not follow; set the "
    "base URL to the final address.",
    400: "refused the request for {model} ({number}); check the model's name, and whether it takes "
    "messages this long and answers of {tokens} tokens.",
    401: f"refused the key ({{number}}); check {API_KEY_SETTING}, or the key you typed.",
    403: "does not let this key use {model} ({number}); check the key's rights.",
    404: "has no {model} at this address ({number}); check the model's name, and that the base URL "
    "ends where the API begins, often /v1.",
    429: "takes no more requests now ({number}); wait {wait}, or check the quota.",
    500: "failed ({number}), also when asked again; try later, or look into the server's log.",
}
"""What a status means; 300, 400 and 500 stand for those that are not named."""


def failure_for(endpoint: Endpoint, error: Exception) -> ModelError:
    """Return the project's error for any other, with nothing of that one but a plain word.

    What a server says is never shown: servers repeat the key in it, also in parts.
    """
    host = endpoint.host
    match error:
        case ModelError():
            return type(error)(*error.args)
        case openai.APIStatusError():
            return _refusal(endpoint, error)
        case openai.APIConnectionError() | httpx2.HTTPError() | httpx2.StreamError() | OSError():
            return ModelUnreachableError(f"{host} {_lack_of_connection(error)}")
        case openai.APIError():
            code = _code(endpoint, error)
            told = f"an error of its own ({code})" if code else "an error of its own"
            return ModelServerError(f"{host} broke off with {told}; try again in a while.")
        case httpx2.InvalidURL():
            return ModelSettingsError("The base URL names no host; write it in full.")
    return ModelFormatError(
        f"{host} answered with something that is no chat completion; check that the base URL ends "
        "where the API begins, often /v1."
    )


def too_long(endpoint: Endpoint) -> ModelAnswerTooLongError:
    """Return the error of an answer that is longer than is read."""
    return ModelAnswerTooLongError(
        f"{endpoint.host} answered with more than {endpoint.max_characters:,} characters, and no "
        "more is read; try again, or another model."
    )


def plain_word(endpoint: Endpoint, word: object) -> str | None:
    """Return the word if it is a plain one, such as ``stop``, and no part of the key; or None."""
    if not isinstance(word, str) or not _WORD.fullmatch(word):
        return None
    key = endpoint.api_key.get_secret_value().lower() if endpoint.api_key else ""
    repeats = word in key or word in key[::-1] or (key and key in word)
    return None if repeats or endpoint.without_key(word) != word else word


def _code(endpoint: Endpoint, error: openai.APIError) -> str | None:
    return plain_word(endpoint, error.code) or plain_word(endpoint, error.type)


def _refusal(endpoint: Endpoint, error: openai.APIStatusError) -> ModelError:
    """Return the error for an answer that is a refusal or a failure."""
    status, code = error.status_code, _code(endpoint, error)
    server_failed = status >= 500 or status == httpx2.codes.REQUEST_TIMEOUT
    others = 500 if server_failed else 400 if status >= 400 else 300
    asked = error.response.headers.get("retry-after", "")
    told = _BY_STATUS.get(status, _BY_STATUS[others]).format(
        number=f"{status}, {code}" if code else status,
        model=f"model '{endpoint.model}'",
        tokens=endpoint.max_tokens,
        wait=f"{asked} {plural('second', float(asked))}"
        if _SECONDS.fullmatch(asked)
        else "a while",
    )
    kind: type[ModelError] = ModelServerError if server_failed else ModelRefusedError
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        kind = ModelRateLimitedError
    return kind(f"{endpoint.host} {told}")


def _lack_of_connection(error: Exception) -> str:
    """Return what is wrong with a connection, by the causes behind the error."""
    kinds: set[type] = set()
    cause: BaseException | None = error
    while cause is not None:
        kinds.update(type(cause).__mro__)
        cause = cause.__cause__ or cause.__context__
    if kinds & {socket.gaierror, UnicodeError}:
        return "is not known as a host; check the base URL and the network."
    if ssl.SSLError in kinds:
        return "could not be reached safely; check its certificate, and http or https."
    if kinds & {httpx2.ConnectError, httpx2.ConnectTimeout}:
        return "does not answer; check that the server runs and the base URL is right."
    return "dropped the connection before its answer was complete; try again."
