"""The parts of a negotiation: setup, turns, rounds, state and ending."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Final, Self

from pydantic import AfterValidator, FailFast, Field, model_validator

from replicalab import models, scenarios
from replicalab.agents.lab_manager_policy import Offer
from replicalab.agents.parsing import ParseErrorCode
from replicalab.assessment import Assessment
from replicalab.errors import Refusal
from replicalab.limits import LONGEST_LABEL, LONGEST_OUTPUT, LONGEST_TEXT, MOST_OUTPUTS, MOST_ROUNDS
from replicalab.models import NotebookView
from replicalab.planner import PlanAnalysis

_LEAVE_ONE: Final = "leave one of them out"
ROUND_BYTES: Final = 32 * 1024  # of the plans that a round judged


class ScientistKind(StrEnum):
    """The players of the Scientist."""

    BASELINE = "baseline"
    STEP_BY_STEP = "step_by_step"
    DIRECT = "direct"
    MODEL = "model"
    PERSON = "person"


AUTOMATIC: Final = frozenset(ScientistKind) - {ScientistKind.MODEL, ScientistKind.PERSON}
"""The Scientists that follow a rule: in the same state they act in the same way."""


class LabManagerKind(StrEnum):
    """The players of the Lab Manager."""

    REFERENCE = "reference"
    LEAST_LOSS = "least_loss"
    PERSON = "person"


RULED_LAB_MANAGERS: Final = (LabManagerKind.REFERENCE, LabManagerKind.LEAST_LOSS)


def check_seats(scientist: ScientistKind, lab_manager: LabManagerKind) -> None:
    """Refuse a person as Lab Manager if no rule plays the Scientist, as a ValueError."""
    if lab_manager is LabManagerKind.PERSON and scientist not in AUTOMATIC:
        problem = f"lab_manager is a person and scientist is {scientist}"
        raise Refusal(problem, f"seat {' or '.join(sorted(AUTOMATIC))} as the Scientist").error


class Outcome(StrEnum):
    """The outcome of a negotiation."""

    AGREED = "agreed"
    AGREED_BELOW_FLOOR = "agreed_below_floor"
    FALSE_AGREEMENT = "false_agreement"
    NO_DEAL = "no_deal"


class Ending(StrEnum):
    """How a negotiation ended."""

    SCIENTIST_ACCEPTED = "the Scientist accepted"
    LAB_MANAGER_ACCEPTED = "the Lab Manager accepted"
    WALKED_AWAY = "the Scientist walked away"
    OUT_OF_ROUNDS = "the rounds ran out"


class TurnAuthor(StrEnum):
    """Who chose a turn; a fork is a plan put forward by hand."""

    RULE = "rule"
    MODEL = "model"
    PERSON = "person"
    FORK = "fork"


def _short(plan: models.Protocol) -> models.Protocol:
    for fault in models.too_long(plan):
        raise fault.error
    return plan


ShortPlan = Annotated[models.Protocol, AfterValidator(_short)]  # a file cannot cause a long search
ModelName = Annotated[models.NonEmptyText, Field(max_length=200)]


class Setup(models.Record):
    """The players, rounds and question of a negotiation; ``opening`` is the first plan."""

    scenario_id: scenarios.Identifier
    difficulty: scenarios.Difficulty
    seed: scenarios.Seed
    scientist: ScientistKind
    lab_manager: LabManagerKind
    max_rounds: Annotated[int, Field(strict=True, ge=1, le=MOST_ROUNDS)]
    opening: ShortPlan | None = None
    forked_at: models.Count | None = None
    model: ModelName | None = None
    own_lab: scenarios.LabOverrides = scenarios.LabOverrides()
    question: scenarios.EvidenceAssumptions = scenarios.EvidenceAssumptions()

    @model_validator(mode="after")
    def _one_side_is_ruled(self) -> Self:
        check_seats(self.scientist, self.lab_manager)
        return self


class Output(models.Record):
    """The text of one call of a model, or its failure, with tokens and seconds."""

    text: Annotated[str, Field(max_length=LONGEST_OUTPUT)] | None = None
    failure: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None
    prompt_tokens: models.Count | None = None
    completion_tokens: models.Count | None = None
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    finish_reason: Annotated[str, Field(max_length=LONGEST_LABEL)] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) is (self.failure is None):
            raise Refusal("an output has either a text or a failure", _LEAVE_ONE).error
        return self


@dataclass(frozen=True)
class Attempt:
    """One attempt of a model at an action, counted from 1; the error is the parser's."""

    number: int
    system_prompt: str
    observation: str
    output: Output
    action: models.ScientistAction | None
    error_code: ParseErrorCode | None
    error_message: str | None
    correction_prompt: str | None


class Turn(models.Record):
    """The Scientist's part of a round; without an ``action`` it walks away."""

    action: models.ScientistAction | None
    by: TurnAuthor = TurnAuthor.PERSON
    outputs: Annotated[tuple[Output, ...], Field(max_length=MOST_OUTPUTS), FailFast()] = ()


class Reply(models.Record):
    """A person's answer as Lab Manager: accept, counter with a plan, or else reject."""

    accepts: bool = False
    counter: ShortPlan | None = None

    @model_validator(mode="after")
    def _is_one_answer(self) -> Self:
        if self.accepts and self.counter:
            raise Refusal("a reply either accepts or counters", _LEAVE_ONE).error
        return self


class Move(models.Record):
    """A person's or model's part of a round, counted from 0; ``action`` is None for a model's."""

    number: Annotated[int, Field(strict=True, ge=0, lt=MOST_ROUNDS)]
    by: TurnAuthor = TurnAuthor.PERSON
    action: models.ScientistAction | None = None
    reply: Reply | None = None
    outputs: Annotated[tuple[Output, ...], Field(max_length=MOST_OUTPUTS), FailFast()] = ()

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if self.by is TurnAuthor.MODEL and (self.action or not self.outputs):
            raise ValueError("a model's move has outputs and no action")
        if self.by is TurnAuthor.RULE and (self.action or self.outputs or not self.reply):
            raise ValueError("a rule's move has a reply and no action")
        return self


@dataclass(frozen=True)
class State:
    """The state before a round, counted from 0."""

    round_number: int
    max_rounds: int
    history: tuple[models.ConversationEntry, ...] = ()
    options: PlanAnalysis | None = None  # of the plan on the table
    offer: Assessment | None = None  # the Lab Manager's standing offer
    opening: PlanAnalysis | None = None  # the first plan, later the last one of a person or a model
    ending: Ending | None = None

    @property
    def plan(self) -> Assessment | None:
        return self.options.yours if self.options else None

    @property
    def is_last(self) -> bool:
        return self.round_number + 1 >= self.max_rounds


@dataclass(frozen=True)
class Round:
    """One round, counted from 0: the actions of both sides and the plans behind them."""

    number: int
    turn: Turn
    reason: str  # the Scientist's, in numbers; empty if a person gave none
    attempts: tuple[Attempt, ...]
    plan: Assessment | None  # on the table in this round
    offer: Offer | None  # the Lab Manager's alternative
    answer: models.LabManagerAction | None  # None if the Scientist left or a reply is awaited
    after: State
    reply: Reply | None = None  # a person's, as Lab Manager

    @property
    def action(self) -> models.ScientistAction | None:
        return self.turn.action

    @property
    def only_asks(self) -> bool:
        return only_asks(self.turn.action)

    @cached_property
    def size(self) -> int:
        sent = sum(len(a.system_prompt) + len(a.observation) for a in self.attempts[:1])
        return ROUND_BYTES + sent + len(self.turn.model_dump_json())


def only_asks(action: models.ScientistAction | None) -> bool:
    return action is not None and action.action_type is models.ScientistActionType.REQUEST_INFO


@dataclass(frozen=True)
class Negotiation(NotebookView):
    """A negotiation so far; it can be shown, continued and forked."""

    setup: Setup
    pack: scenarios.Pack
    rounds: tuple[Round, ...] = field(default=(), repr=False)

    def state_before(self, number: int) -> State:
        """Return the state before a round, counted from 0, without playing it again."""
        return self.rounds[number - 1].after if number else State(0, self.setup.max_rounds)

    def without_searches(self) -> Negotiation:
        """Return the negotiation without the planner's searches, megabytes in each round."""

        def strip(state: State) -> State:
            options = state.options and PlanAnalysis(state.options.yours)
            opening = state.opening and PlanAnalysis(state.opening.yours)
            return replace(state, options=options, opening=opening)

        rounds = (replace(done, after=strip(done.after)) for done in self.rounds)
        return replace(self, rounds=tuple(rounds))

    @property
    def state(self) -> State:
        return self.state_before(len(self.rounds))

    @property
    def ending(self) -> Ending | None:
        return self.state.ending

    @property
    def awaits_reply(self) -> bool:
        """Whether the last round waits for a person's answer as Lab Manager."""
        return bool(self.rounds) and self.ending is None and self.rounds[-1].answer is None

    @property
    def final_plan(self) -> Assessment | None:
        return self.rounds[-1].plan if self.rounds else None

    @property
    def outcome(self) -> Outcome | None:
        if self.ending is None:
            return None
        accepted = self.ending in (Ending.SCIENTIST_ACCEPTED, Ending.LAB_MANAGER_ACCEPTED)
        plan = self.final_plan
        if not accepted or plan is None:
            return Outcome.NO_DEAL
        if not plan.feasible:
            return Outcome.FALSE_AGREEMENT
        below = plan.evidence.tier is scenarios.EvidenceTier.BELOW_FLOOR
        return Outcome.AGREED_BELOW_FLOOR if below else Outcome.AGREED
