"""Play, fork, save and replay a negotiation.

The action ``accept`` takes the Lab Manager's last offer, or else the plan on the table. An offer
lasts until the next plan is answered. Source: docs/methods.md, Negotiation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import FailFast, Field, StringConstraints, ValidationError, model_validator

from replicalab import limits, models
from replicalab.agents.lab_manager_policy import Offer, answer_questions, answer_to
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.assessment import Assessment, assess
from replicalab.errors import NegotiationError, Refusal, ScenarioError, TraceError
from replicalab.lexicon import count_text
from replicalab.models import LabManagerAction, LabManagerActionType, Protocol, ScientistAction
from replicalab.negotiation import players, records
from replicalab.negotiation.players import choose, put_forward
from replicalab.negotiation.records import Move, Negotiation, Reply, Setup, State, Turn, TurnAuthor
from replicalab.planner import PlanAnalysis
from replicalab.planner.sample_limits import TIER_RANK
from replicalab.scenarios import EvidenceTier, Identifier, Pack
from replicalab.scenarios.reading import FileKind, format_problem, read_json, record_error

_BY_HAND: Final = (TurnAuthor.PERSON, TurnAuthor.FORK)

_LAB_MANAGERS: Final[dict[records.LabManagerKind, Callable[[PlanAnalysis], Offer | None]]] = {
    records.LabManagerKind.PERSON: lambda options: None,
    records.LabManagerKind.REFERENCE: lambda options: options.offer,
    records.LabManagerKind.LEAST_LOSS: lambda options: (
        None
        if options.yours.feasible
        else Offer(options.yours, options.least.after, options.least.changes)
    ),
}


def negotiate(setup: Setup, pack: Pack, generate_fn: GenerateFn | None = None) -> Negotiation:
    """Return the negotiation up to its end, or to the first choice of a person."""
    return play_on(Negotiation(setup, pack), generate_fn)


def play_on(negotiation: Negotiation, generate_fn: GenerateFn | None = None) -> Negotiation:
    """Return the negotiation up to its end, or to the next choice of a person."""
    for played in course(negotiation, generate_fn):
        negotiation = played
    return negotiation


def course(negotiation: Negotiation, model: GenerateFn | None = None) -> Iterator[Negotiation]:
    """Yield the negotiation after each further round of a rule or the model.

    The model walks away if its last attempt has no valid action or is too long. Raises ModelError
    if a call failed in another way.
    """
    while negotiation.ending is None and not negotiation.awaits_reply:
        setup, state = negotiation.setup, negotiation.state
        is_opening = setup.opening is not None and state.round_number == 0
        if is_opening or setup.scientist in records.AUTOMATIC:
            negotiation = play_rule(negotiation)
        elif model is not None and setup.scientist is records.ScientistKind.MODEL:
            recorder = players.Recorder(model)
            answer = players.ask(recorder, state, negotiation.pack)
            if recorder.error is not None:
                raise recorder.error
            negotiation = play(negotiation, answer.turn or answer.walking_away)
        else:
            return
        yield negotiation


def play_rule(negotiation: Negotiation) -> Negotiation:
    """Return the negotiation after the round that its rule chooses; raises like `choose`."""
    choice = choose(negotiation.setup, negotiation.state, negotiation.pack)
    turn = Turn(action=choice.action, by=TurnAuthor.RULE)
    return play(negotiation, turn, choice.reason)


def fork(negotiation: Negotiation, number: int, protocol: Protocol) -> Negotiation:
    """Return the negotiation with ``protocol`` put forward in round ``number``, counted from 0.

    Earlier rounds are kept. A rule then plays on; a model or a person waits for its turn. Raises
    NegotiationError.
    """
    limit = len(negotiation.rounds)
    if not 0 <= number < limit:
        problem = f"round {number + 1}: the negotiation has {count_text(limit, 'round')}"
        raise NegotiationError(f"{problem}; choose 1 to {limit}")
    setup = negotiation.setup.model_copy(update={"forked_at": number})
    earlier = replace(negotiation, setup=setup, rounds=negotiation.rounds[:number])
    action = put_forward(earlier.state, protocol)
    return play_on(play(earlier, Turn(action=action, by=TurnAuthor.FORK)))


def moves_of(negotiation: Negotiation) -> tuple[Move, ...]:
    return tuple(
        Move(
            number=done.number,
            by=done.turn.by,
            action=done.action if done.turn.by in _BY_HAND else None,
            outputs=done.turn.outputs,
            reply=done.reply,
        )
        for done in negotiation.rounds
        if done.turn.by is not TurnAuthor.RULE or done.reply
    )


def play_moves(setup: Setup, moves: Sequence[Move], pack: Pack) -> Negotiation:
    """Return the negotiation of these moves; rules play before, between and after them."""
    forks = [move.number for move in moves if move.by is TurnAuthor.FORK]
    setup = setup.model_copy(update={"forked_at": forks[-1] if forks else None})
    negotiation = Negotiation(setup, pack)
    for move in moves:
        while len(negotiation.rounds) < move.number:
            negotiation = play_rule(negotiation)
        if len(negotiation.rounds) != move.number:
            raise NegotiationError(f"round {move.number + 1} is played twice; play each once")
        if move.by is TurnAuthor.RULE:
            negotiation = play_rule(negotiation)
        else:
            action = move.action
            if move.by is TurnAuthor.MODEL:
                model_turn = players.repeat_outputs(move.outputs, negotiation.state, pack).turn
                action = model_turn.action if model_turn else None
            turn = Turn(action=action, by=move.by, outputs=move.outputs)
            negotiation = play(negotiation, turn)
        if move.reply is not None:
            negotiation = reply_to(negotiation, move.reply)
    return play_on(negotiation)


def reply_to(negotiation: Negotiation, reply: Reply) -> Negotiation:
    """Return the negotiation after a person's answer, as Lab Manager, to the last round."""
    if not negotiation.awaits_reply:
        problem = f"round {len(negotiation.rounds)} awaits no answer of a person"
        raise NegotiationError(f"{problem}; play the next round")
    waiting = negotiation.rounds[-1]
    before = replace(negotiation, rounds=negotiation.rounds[:-1])
    return play(before, waiting.turn, waiting.reason, reply)


def play(
    negotiation: Negotiation, turn: Turn, reason: str = "", reply: Reply | None = None
) -> Negotiation:
    """Return the negotiation after one more round; ``reason`` is a rule's.

    If a person is the Lab Manager, a new plan waits for the ``reply``. Raises NegotiationError if
    the negotiation has ended, or if its last round awaits a reply.
    """
    if negotiation.awaits_reply:
        problem = f"round {len(negotiation.rounds)} awaits the Lab Manager's answer"
        raise NegotiationError(f"{problem}; give it first")
    setup, pack, state = negotiation.setup, negotiation.pack, negotiation.state
    action = turn.action
    if state.ending is not None:
        problem = f"round {state.round_number + 1}: the negotiation has ended, {state.ending}"
        raise NegotiationError(f"{problem}; fork it at a round that was played")
    reading = players.repeat_outputs(turn.outputs, state, pack)
    reason = reason or _reason(turn, reading)
    options = _plan_on_the_table(state, action, pack)
    plan = options.yours if options else None
    puts_forward = action is not None and action.protocol is not None
    opening = state.opening
    if opening is None or (puts_forward and turn.by is not TurnAuthor.RULE):
        opening = options
    asks_or_leaves = action is None or records.only_asks(action)
    offer, standing = None, state.offer if asks_or_leaves else None
    if setup.lab_manager is records.LabManagerKind.PERSON and puts_forward and plan:
        offer = _counter(plan, reply) if reply else None
        answer = _answer_by_hand(plan, offer, reply) if reply else None
        if offer:
            standing, opening = offer.after, PlanAnalysis(offer.after)
    else:
        if options and not asks_or_leaves:
            offer = _LAB_MANAGERS[setup.lab_manager](options)
        answer = _answer(action, plan, offer, pack)
        if answer and offer and answer.action_type is LabManagerActionType.SUGGEST_ALTERNATIVE:
            standing = offer.after
    ending = _ending(state, action, answer, plan)
    waits = puts_forward and answer is None
    is_stepwise = setup.scientist is records.ScientistKind.STEP_BY_STEP and not state.is_last
    if ending is records.Ending.LAB_MANAGER_ACCEPTED and is_stepwise and opening and plan:
        # A Scientist that goes step by step may want more than the plan that is accepted.
        tier, best = plan.evidence.tier, opening.least.after.evidence.tier
        waits = tier is EvidenceTier.BELOW_FLOOR or TIER_RANK[best] < TIER_RANK[tier]
    ending = None if waits else ending
    number = state.round_number
    history = (*state.history, *_entries(number, action, answer, reason))
    after = State(number + 1, state.max_rounds, history, options, standing, opening, ending)
    attempts = reading.attempts
    done = records.Round(number, turn, reason, attempts, plan, offer, answer, after, reply)
    return Negotiation(setup, pack, (*negotiation.rounds, done))


def _counter(plan: Assessment, reply: Reply) -> Offer | None:
    if reply.accepts and plan.failing:
        problem = f"the plan cannot be accepted: {plan.fails_text}"
        raise NegotiationError(f"{problem}; reject it or counter")
    if reply.counter is None:
        return None
    after = plan.revised(reply.counter)
    if after.failing:
        raise NegotiationError(f"the counter-offer does not pass: {after.fails_text}; change it")
    return Offer(plan, after, ())


def _answer_by_hand(plan: Assessment, offer: Offer | None, reply: Reply) -> LabManagerAction:
    # If the lab can run the plan, LabManagerAction refuses a rejection and an alternative: the
    # answer is then a report.
    answer = answer_to(plan, offer)
    if reply.accepts or (plan.failing and not offer):
        return answer
    says = f"I offer {offer.after.size_text} instead." if offer else "I reject this plan."
    objections = [f"- {name}: {why}" for name, reasons in plan.reasons.items() for why in reasons]
    changes = {"explanation": "\n".join([says, *objections])}
    if answer.action_type is LabManagerActionType.ACCEPT:
        changes["action_type"] = LabManagerActionType.REPORT_FEASIBILITY
    return answer.model_copy(update=changes)


def _reason(turn: Turn, reading: players.ModelAnswer) -> str:
    tried = len(reading.attempts)
    own = f"The model's own choice, valid at attempt {tried}."
    reasons = {
        TurnAuthor.FORK: "A person put it forward.",
        TurnAuthor.PERSON: "A person acted for the model in this round." if tried else "",
        TurnAuthor.MODEL: own if turn.action else reading.failure or "",
    }
    return reasons.get(turn.by, "")


def _plan_on_the_table(
    state: State, action: ScientistAction | None, pack: Pack
) -> PlanAnalysis | None:
    if action is None or records.only_asks(action):
        return state.options
    plan = action.protocol
    if state.offer is not None and (plan is None or plan == state.offer.plan):
        return PlanAnalysis(state.offer)
    if plan is None or (state.plan is not None and plan == state.plan.plan):
        return state.options
    return PlanAnalysis(state.plan.revised(plan) if state.plan else assess(plan, pack))


def _answer(
    action: ScientistAction | None, plan: Assessment | None, offer: Offer | None, pack: Pack
) -> LabManagerAction | None:
    if action is None:
        return None
    if plan is not None and not records.only_asks(action):
        return answer_to(plan, offer)
    explanation = "There is no plan to accept yet; propose one."
    if records.only_asks(action):
        explanation = answer_questions(action.questions, pack)
    failing = plan.failing if plan else []
    flags = {f"{d}_ok": d not in failing for d in models.LAB_DIMENSIONS}
    return LabManagerAction(
        action_type=LabManagerActionType.REPORT_FEASIBILITY,
        feasible=all(flags.values()),
        **flags,
        suggested_technique="",
        suggested_sample_size=0,
        suggested_controls=[],
        explanation=explanation,
    )


def _ending(
    state: State,
    action: ScientistAction | None,
    answer: LabManagerAction | None,
    plan: Assessment | None,
) -> records.Ending | None:
    if action is None:
        return records.Ending.WALKED_AWAY
    if action.action_type is models.ScientistActionType.ACCEPT and plan is not None:
        return records.Ending.SCIENTIST_ACCEPTED
    if answer and answer.action_type is LabManagerActionType.ACCEPT:
        return records.Ending.LAB_MANAGER_ACCEPTED
    return records.Ending.OUT_OF_ROUNDS if state.is_last else None


def _entries(
    number: int, action: ScientistAction | None, answer: LabManagerAction | None, reason: str
) -> list[models.ConversationEntry]:
    speaker = models.Role.SCIENTIST if action else models.Role.SYSTEM
    rows = [(speaker, _message(action, reason), action.action_type.value if action else None)]
    if answer is not None:
        rows.append((models.Role.LAB_MANAGER, answer.explanation, answer.action_type.value))
    return [
        models.ConversationEntry(role=role, message=text, round_number=number, action_type=kind)
        for role, text, kind in rows
    ]


def _message(action: ScientistAction | None, reason: str) -> str:
    if action is None:
        return f"The Scientist walks away. {reason}".rstrip()
    if action.action_type is models.ScientistActionType.ACCEPT:
        return "I accept."
    if records.only_asks(action):
        return " ".join(action.questions)
    parts = [
        f"{models.FIELD_LABELS[name].lower()}: {', '.join(getattr(action, name)) or 'none'}"
        for name in models.LIST_FIELDS
    ]
    days = count_text(action.duration_days, "day")
    size = f"{count_text(action.sample_size, 'sample')} in {days}"
    return f"{size}, {'; '.join([action.technique, *parts])}. {action.rationale}"


TRANSCRIPT_FORMAT: Final = 3
FOLDER: Final = Path(__file__).with_name("recordings")
_REMEDY: Final = "load a negotiation that was saved here"

Host = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?$"),
]
"""A host and perhaps a port; no scheme, user or path, so that no key fits."""


class ModelSettings(models.Record):
    """The settings of a language model: never a key, and only the host of the address."""

    model: records.ModelName
    host: Host | None = None
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
    max_tokens: Annotated[int, Field(ge=1)]
    max_retries: Annotated[int, Field(ge=0, lt=limits.MOST_OUTPUTS)]


class Recording(models.Record):
    """A recorded model, with a title and a note for people."""

    key: Identifier
    title: Annotated[models.NonEmptyText, Field(max_length=limits.LONGEST_LABEL)]
    made: Literal["recorded", "written by hand"] = "recorded"
    note: models.Passage = ""
    settings: ModelSettings


class Transcript(models.Record):
    """A negotiation as a file: set-up, moves, and the recorded model, if any."""

    format: Literal[3]
    setup: Setup
    recording: Recording | None = None
    moves: Annotated[tuple[Move, ...], Field(max_length=limits.MOST_ROUNDS), FailFast()] = ()

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        by_model = any(move.outputs or move.by is TurnAuthor.MODEL for move in self.moves)
        if (self.recording or by_model) and self.setup.scientist is not records.ScientistKind.MODEL:
            problem = f"setup.scientist is {self.setup.scientist}"
            raise Refusal(problem, "leave the recording and the model's moves out").error
        return self


def save(negotiation: Negotiation, recording: Recording | None = None) -> str:
    """Return a negotiation, finished or not, as JSON text."""
    moves = moves_of(negotiation)
    if recording and not any(move.by is TurnAuthor.MODEL for move in moves):
        raise TraceError("this negotiation has no turn of a model; let one play first")
    setup = negotiation.setup
    transcript = Transcript(format=TRANSCRIPT_FORMAT, setup=setup, recording=recording, moves=moves)
    return transcript.model_dump_json(indent=1, exclude_defaults=True)


def load(text: str | bytes) -> Transcript:
    """Return the transcript that `save` wrote; raises TraceError with the first fault."""
    try:
        values = read_json(text, "the file", FileKind.RUN, _REMEDY)
        number = values.get("format", 1) if "setup" in values else TRANSCRIPT_FORMAT
        if fault := format_problem(number, TRANSCRIPT_FORMAT):
            raise TraceError(fault.text)
        return Transcript.model_validate(values)
    except ScenarioError as error:
        raise TraceError(str(error.faults[0])) from error
    except ValidationError as error:
        raise TraceError(str(record_error(error, Transcript, "").faults[0])) from error


def replay(transcript: Transcript, pack: Pack) -> Negotiation:
    """Return the negotiation of a transcript, played again; raises TraceError."""
    setup = transcript.setup
    expected, here = (f"{at.scenario_id}, {at.difficulty}, seed {at.seed}" for at in (setup, pack))
    if expected != here:
        problem = f"it is about {expected}, not about {here}"
        raise TraceError(problem, "open that study in the same lab")
    if (setup.own_lab, setup.question) != (pack.own_lab, pack.question):
        problem = "its values of Your lab or of the assumptions differ"
        raise TraceError(problem, "open it with its own values")
    try:
        return play_moves(setup, transcript.moves, pack)
    except NegotiationError as error:
        raise TraceError(f"this negotiation cannot be replayed in this version: {error}") from error


def shipped_recordings() -> tuple[Transcript, ...]:
    """Return the recordings of the application, by file name."""
    return tuple(load(file.read_bytes()) for file in sorted(FOLDER.glob("*.json")))
