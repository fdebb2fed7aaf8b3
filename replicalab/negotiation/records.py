"""What a negotiation consists of: its setup, its rounds, where it stands, and how it ended."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

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
)
from replicalab.scenarios.models import MAX_ROUNDS, Difficulty, Identifier


class ScientistKind(StrEnum):
    """Who may play the Scientist."""

    BASELINE = "baseline"


class LabManagerKind(StrEnum):
    """Who may play the Lab Manager."""

    REFERENCE = "reference"


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
    """Everything that fixes a negotiation beside the study itself."""

    scenario_id: Identifier
    difficulty: Difficulty
    seed: Count
    scientist: ScientistKind = ScientistKind.BASELINE
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE
    max_rounds: Annotated[int, Field(strict=True, ge=1, le=50)] = MAX_ROUNDS
    opening: Protocol | None = None
    forked_at: Count | None = None


class Round(Record):
    """One round: what each side did, and the plan, check and suggestion behind the answer.

    ``scientist_action`` is None when the Scientist walked away; ``plan``, ``check`` and
    ``suggestion`` are None when no plan was on the table.
    """

    number: Count
    scientist_action: ScientistAction | None
    lab_manager_action: LabManagerAction | None
    plan: Protocol | None
    check: FeasibilityCheckResult | None
    suggestion: AlternativeSuggestion | None


class State(Record):
    """Where a negotiation stands before a round; ``ending`` is None while it goes on."""

    round_number: Count
    max_rounds: Count
    history: list[ConversationEntry]
    plan: Protocol | None = None
    offer: Protocol | None = None
    ending: Ending | None = None


class Trace(Record):
    """A finished negotiation: enough to show it, to replay it and to fork it.

    ``scenario_digest`` tells whether a replay happens in the same lab.
    """

    setup: Setup
    scenario_digest: NonEmptyText
    rounds: Annotated[list[Round], Field(min_length=1)]
    ending: Ending
    outcome: Outcome

    @property
    def final_plan(self) -> Protocol | None:
        """The plan of the last round: the agreed one, or the last on the table."""
        return self.rounds[-1].plan
