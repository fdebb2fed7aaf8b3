"""What a cassette holds: who spoke, in which negotiation, and every text of the model."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from replicalab.models import NonEmptyText, Record, Text
from replicalab.negotiation import ScientistKind, Setup
from replicalab.negotiation.recorded import Output
from replicalab.scenarios import Identifier

Host = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?$"),
]
"""A host and perhaps a port: no scheme, no user, no path, so that no address with a key fits."""
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
"""A fingerprint of what the model was told in one turn."""


class Made(StrEnum):
    """Where the texts come from."""

    RECORDED = "recorded"
    BY_HAND = "written by hand"


class ModelSettings(Record):
    """Who was asked, and how; never a key, and of the address only the host.

    Attributes:
        model: the model's name.
        host: of the server, with its port; None where there was none.
        temperature: as it was set.
        max_tokens: the longest answer asked for.
        max_retries: how often it was corrected and asked again in one turn.
    """

    model: NonEmptyText
    host: Host | None = None
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0
    max_tokens: Annotated[int, Field(ge=1)] = 2000
    max_retries: Annotated[int, Field(ge=0, le=10)] = 2


class Cassette(Record):
    """A negotiation of a model, as what it said in each turn.

    Attributes:
        format: 1, the form of this file.
        key: its name among the others.
        title, note: for people; what is on it, and what to look at.
        made: recorded from a model, or written by hand.
        settings: who was asked, and how.
        setup: of the negotiation.
        turns: the outputs of each of the model's turns, in order; all but the last of a turn
            failed to be read.
        prompts: a fingerprint of what the model was told in each turn; None when written by hand.
    """

    format: Literal[1]
    key: Identifier
    title: NonEmptyText
    made: Made
    note: Text = ""
    settings: ModelSettings
    setup: Setup
    turns: Annotated[list[Annotated[list[Output], Field(min_length=1)]], Field(min_length=1)]
    prompts: list[Digest] | None = None

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if self.setup.scientist is not ScientistKind.MODEL:
            raise ValueError(f"setup.scientist is {self.setup.scientist}, must be model")
        if self.setup.forked_at is not None:
            raise ValueError(
                f"setup.forked_at is {self.setup.forked_at}; a recording is never a fork, leave it "
                "out"
            )
        if self.prompts is not None and len(self.prompts) != len(self.turns):
            raise ValueError(
                f"prompts has {len(self.prompts)} entries for {len(self.turns)} turns; give one "
                "for each"
            )
        return self

    @property
    def seconds(self) -> float:
        """How long the model took in all."""
        return sum(output.seconds for turn in self.turns for output in turn)

    @property
    def attempts(self) -> int:
        """How many texts there are."""
        return sum(map(len, self.turns))


def prompt_digest(system_prompt: str, observation: str) -> str:
    """Return the fingerprint of what a model is told: equal prompts, equal digest."""
    told = f"{system_prompt}\0{observation}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(told).hexdigest()[:16]
