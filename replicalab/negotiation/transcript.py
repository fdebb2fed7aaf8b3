"""A negotiation kept: one form for saving, replaying, recording and handing on.

A transcript holds the setup and the turns, a model's outputs among them, and of every round the
facts that were decided and a digest chained from the setup on. Rounds are not kept: playing the
turns again makes them, in today's words, and shows where the facts of today are others. Source:
docs/contract.md, Negotiation.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from replicalab.errors import TraceError
from replicalab.lexicon import count_text, joined
from replicalab.models import NonEmptyText, Record, Text
from replicalab.negotiation.records import (
    MOST_OUTPUTS,
    MOST_ROUNDS,
    By,
    Digest,
    Ending,
    Facts,
    Negotiation,
    Outcome,
    ScientistKind,
    Setup,
    Turn,
    fingerprint,
)
from replicalab.scenarios import Identifier

FORMAT: Final = 2

Host = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?$"),
]
"""A host and perhaps a port: no scheme, no user, no path, so that no address with a key fits."""


class Made(StrEnum):
    """Where a model's texts come from."""

    RECORDED = "recorded"
    BY_HAND = "written by hand"


class ModelSettings(Record):
    """Who was asked, and how; never a key, and of the address only the host, if there was one."""

    model: NonEmptyText
    host: Host | None = None
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
    max_tokens: Annotated[int, Field(ge=1)]
    max_retries: Annotated[int, Field(ge=0, lt=MOST_OUTPUTS)]


class Recording(Record):
    """What is known of a recorded model beside the negotiation.

    ``key`` is its name among the others; title and note are for people.
    """

    key: Identifier
    title: NonEmptyText
    made: Made = Made.RECORDED
    note: Text = ""
    settings: ModelSettings


class SavedTurn(Turn):
    """A turn, and what came of it when it was saved; None where an earlier version kept nothing.

    ``told`` is a fingerprint of what the model was told; None also where there was no model, and
    where its texts were written by hand. ``digest`` is that of the round.
    """

    facts: Facts | None = None
    told: Digest | None = None
    digest: Digest | None = None

    @property
    def turn(self) -> Turn:
        """The turn alone."""
        return Turn(action=self.action, by=self.by, outputs=self.outputs)


class Transcript(Record):
    """A negotiation as it is kept.

    Attributes:
        format: 2, the form of the file.
        setup: what fixes the negotiation.
        recording: what is known of a recorded model, None where nothing was noted.
        start: a fingerprint of the setup and of the model's settings; None where an earlier
            version kept none.
        turns: in order.
        end: the digest of the last round, so that none can be left out.
        ending, outcome: how it ended, None while it goes on.
    """

    format: Literal[2]
    setup: Setup
    recording: Recording | None = None
    start: Digest | None = None
    turns: Annotated[tuple[SavedTurn, ...], Field(max_length=MOST_ROUNDS)]
    end: Digest | None = None
    ending: Ending | None = None
    outcome: Outcome | None = None

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        known = self.recording
        if known and self.setup.scientist is not ScientistKind.MODEL:
            raise ValueError(
                f"setup.scientist is {self.setup.scientist}; only a model's run has a recording, "
                "leave it out"
            )
        most = known.settings.max_retries + 1 if known else MOST_OUTPUTS
        for number, turn in enumerate(self.turns, start=1):
            if len(turn.outputs) > most:
                raise ValueError(
                    f"round {number} has {count_text(len(turn.outputs), 'output')}, and the model "
                    f"was asked at most {count_text(most, 'time')}; leave the others out"
                )
            # Without what this version keeps of every turn, an edit of it would pass.
            told = turn.outputs and not (known and known.made is Made.BY_HAND)
            needed = [] if self.start is None else ["facts", "digest", *(["told"] if told else [])]
            if missing := [name for name in needed if getattr(turn, name) is None]:
                raise ValueError(f"round {number} lacks {joined(missing)}; nothing can be left out")
        return self


def save(negotiation: Negotiation, recording: Recording | None = None) -> str:
    """Return a negotiation as JSON text; `load` and `replay` give an equal one back.

    Args:
        negotiation: finished or not.
        recording: what is known of the model that played, where it is to be kept.

    Raises:
        TraceError: there is something to be kept of a model, and no turn of one.
    """
    setup, rounds = negotiation.setup, negotiation.rounds
    if recording and not any(done.turn.by is By.MODEL for done in rounds):
        raise TraceError("this negotiation has no turn of a model; let one play first")
    by_hand = recording is not None and recording.made is Made.BY_HAND
    turns = tuple(
        SavedTurn(
            **dict(done.turn),
            facts=done.facts,
            told=None if by_hand else done.told,
            digest=done.digest,
        )
        for done in rounds
    )
    return Transcript(
        format=FORMAT,
        setup=setup,
        recording=recording,
        start=start_of(setup, recording),
        turns=turns,
        end=rounds[-1].digest if rounds else None,
        ending=negotiation.ending,
        outcome=negotiation.outcome,
    ).model_dump_json(indent=1, exclude_defaults=True)


def start_of(setup: Setup, recording: Recording | None) -> str:
    """Return the fingerprint of a setup, and of who was recorded, and how."""
    return fingerprint(setup.digest, recording and [recording.made, recording.settings])
