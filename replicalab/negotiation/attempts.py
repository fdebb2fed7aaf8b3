"""What a model said, attempt by attempt, and what it was told."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from replicalab.agents.parsing import ParseErrorCode
from replicalab.models import Count, Record, ScientistAction

MOST_OUTPUTS: Final = 100
"""No model is asked so often for one turn."""


def readable(text: str) -> str:
    """Return the text with halves of characters, which no file can hold, replaced by U+FFFD.

    Two halves that belong together become the character that they are halves of.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Output(Record):
    """What came of one call of a model: its text, or why there is none.

    Attributes:
        text: as the model wrote it; None when the call failed.
        failure: why the call failed; None when it answered.
        prompt_tokens, completion_tokens: as the server counted, or None.
        seconds: from the call to its end; 0 where nobody measured.
        finish_reason: why the text ended (``stop``, ``length`` for the token cap), or None.
    """

    text: str | None = None
    failure: str | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    finish_reason: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) is (self.failure is None):
            raise ValueError("an output has either a text or a failure; leave one of them out")
        return self


@dataclass(frozen=True)
class Attempt:
    """One attempt of a model at an action, told for people.

    Attributes:
        number: 1 for the first attempt at an action.
        system_prompt: what the model was told to be.
        observation: what it was told of the negotiation.
        output: what it said.
        action: what was read from that; None when there was no valid action.
        error_code: what the parser found (`no_json`, `invalid_json`, `invalid_action`), or None.
        error_message: the same in words, or None.
        correction_prompt: what the model was told next; None when it was not asked again.
    """

    number: int
    system_prompt: str
    observation: str
    output: Output
    action: ScientistAction | None
    error_code: ParseErrorCode | None
    error_message: str | None
    correction_prompt: str | None

    @property
    def told(self) -> str:
        """A fingerprint of what the model was told first."""
        return told_digest(self.system_prompt, self.observation)


def told_digest(system_prompt: str, observation: str) -> str:
    """Return the fingerprint of what a model is told: equal prompts, equal digest."""
    told = f"{system_prompt}\0{observation}".encode("utf-8", "surrogatepass")
    return sha256(told).hexdigest()[:16]
