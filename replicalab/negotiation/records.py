"""What a negotiation consists of: its setup, its rounds, where it stands, and how it ended."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from replicalab.agents.feasibility import FeasibilityCheckResult
from replicalab.agents.suggestions import AlternativeSuggestion
from replicalab.models import (
    ConversationEntry,
    Count,
    LabManagerAction,
    NonEmptyText,
    Protocol,
    Record,
    ScientistAction,
    Text,
)
from replicalab.negotiation.recording import Attempt
from replicalab.scenarios import MAX_ROUNDS, Difficulty, Identifier


class ScientistKind(StrEnum):
    """Who may play the Scientist."""

    BASELINE = "baseline"
    EVIDENCE_AWARE = "evidence_aware"
    MODEL = "model"
    PERSON = "person"


AUTOMATIC: Final = frozenset({ScientistKind.BASELINE, ScientistKind.EVIDENCE_AWARE})
"""The Scientists that follow a rule: asked again, they act again in the same way."""


class LabManagerKind(StrEnum):
    """Who may play the Lab Manager."""

    REFERENCE = "reference"
    LEAST_LOSS = "least_loss"


class Outcome(StrEnum):
    """How a negotiation ended."""

    AGREED = "agreed"
    AGREED_BELOW_FLOOR = "agreed_below_floor"
    FALSE_AGREEMENT = "false_agreement"
    NO_DEAL = "no_deal"


class Ending(StrEnum):
    """What ended a negotiation; running out of rounds is a cut, the rest are endings."""

    SCIENTIST_ACCEPTED = "the Scientist accepted"
    LAB_MANAGER_ACCEPTED = "the Lab Manager accepted"
    WALKED_AWAY = "the Scientist walked away"
    OUT_OF_ROUNDS = "the rounds ran out"


class Setup(Record):
    """Everything that fixes a negotiation beside the study itself.

    ``opening`` is the plan that the Scientist proposes first, None where it chooses its own;
    ``model`` names the language model, None where there is none.
    """

    scenario_id: Identifier
    difficulty: Difficulty
    seed: Count
    scientist: ScientistKind = ScientistKind.BASELINE
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE
    max_rounds: Annotated[int, Field(strict=True, ge=1, le=50)] = MAX_ROUNDS
    opening: Protocol | None = None
    forked_at: Count | None = None
    model: NonEmptyText | None = None


class Turn(Record):
    """What a Scientist does in a round.

    Attributes:
        action: None walks away.
        reason: why, in numbers; empty where the player gives none.
        attempts: how a language model came to it; empty for every other player.
    """

    action: ScientistAction | None
    reason: Text = ""
    attempts: tuple[Attempt, ...] = ()


class Round(Record):
    """One round: what each side did, and the plan, check and suggestion behind the answer.

    ``scientist_action`` is None when the Scientist walked away; ``plan``, ``check`` and
    ``suggestion`` are None when no plan was on the table. ``reason`` and ``attempts`` are the
    Scientist's, as in its `Turn`.
    """

    number: Count
    scientist_action: ScientistAction | None
    lab_manager_action: LabManagerAction | None
    plan: Protocol | None
    check: FeasibilityCheckResult | None
    suggestion: AlternativeSuggestion | None
    reason: Text = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def turn(self) -> Turn:
        """What the Scientist did."""
        return Turn(action=self.scientist_action, reason=self.reason, attempts=self.attempts)


class State(Record):
    """Where a negotiation stands before a round; ``ending`` is None while it goes on."""

    round_number: Count
    max_rounds: Count
    history: list[ConversationEntry]
    plan: Protocol | None = None
    offer: Protocol | None = None
    ending: Ending | None = None


class Trace(Record):
    """A negotiation: enough to show it, to go on with it, to replay it and to fork it.

    ``scenario_digest`` tells whether a replay happens in the same lab. ``ending`` and ``outcome``
    are None while it goes on.
    """

    setup: Setup
    scenario_digest: NonEmptyText
    rounds: list[Round]
    ending: Ending | None
    outcome: Outcome | None

    @model_validator(mode="after")
    def _ends_as_a_whole(self) -> Self:
        if (self.ending is None) != (self.outcome is None):
            raise ValueError("a negotiation has an ending and an outcome, or neither yet")
        if self.ending is not None and not self.rounds:
            raise ValueError("rounds is empty; a negotiation ends in a round")
        return self

    @property
    def final_plan(self) -> Protocol | None:
        """The plan of the last round: the agreed one, or the last on the table."""
        return self.rounds[-1].plan if self.rounds else None
