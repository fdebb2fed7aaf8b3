"""The Scientists: rules that give the reason of each action, and a language model.

A model's text is data that only the strict parser reads.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from replicalab import limits, models
from replicalab.agents import scientist_policy
from replicalab.agents.parsing import ScientistOutputParseError, parse_scientist_output
from replicalab.assessment import Assessment, assess
from replicalab.assessment.dimensions import SuggestionChange, apply_changes
from replicalab.errors import ModelAnswerTooLongError, ModelError, NegotiationError
from replicalab.lexicon import capitalised, count_text, label_key, shortened
from replicalab.negotiation import records
from replicalab.negotiation.records import Attempt, Output, ScientistKind, Setup, State, Turn
from replicalab.planner import Addition, LeastLoss, PlanAnalysis, Rank, additions_text, rank
from replicalab.scenarios import EvidenceTier, Pack

# Changes of one number, one control, or items that share alternatives
ChangeGroup = tuple[SuggestionChange, ...]


class Choice(NamedTuple):
    """The action of a rule (None: the Scientist leaves), and its reason."""

    action: models.ScientistAction | None
    reason: str


def choose(setup: Setup, state: State, pack: Pack) -> Choice:
    """Return the Scientist's turn: the opening in the first round, then that of its rule."""
    if setup.scientist is ScientistKind.STEP_BY_STEP:
        return _step_by_step(setup, state, pack)
    if setup.opening is not None and state.round_number == 0:
        return _open(state, setup.opening, pack)
    if setup.scientist is ScientistKind.BASELINE:
        return _baseline(state, pack)
    if setup.scientist is ScientistKind.DIRECT:
        return _direct(state, pack)
    problem = f"the Scientist is played by a {setup.scientist}, that follows no rule"
    raise NegotiationError(f"{problem}; hand in a turn")


def _open(state: State, plan: models.Protocol, pack: Pack) -> Choice:
    named = "the study's own" if plan == pack.reference_protocol else "the given"
    return Choice(put_forward(state, plan), f"It opens with {named} plan.")


def put_forward(state: State, plan: models.Protocol) -> models.ScientistAction:
    """Return a proposal of a plan, or a revision if a plan is on the table."""
    if plan.sample_size < 1:
        problem = "the plan has a sample size of 0"
        raise NegotiationError(f"{problem}; a proposal needs at least 1 sample")
    kinds = models.ScientistActionType
    return models.plan_action(kinds.REVISE_PROTOCOL if state.plan else kinds.PROPOSE_PROTOCOL, plan)


def ask_lab(*texts: str) -> models.ScientistAction:
    asks = {"action_type": models.ScientistActionType.REQUEST_INFO, "questions": list(texts)}
    return models.ScientistAction.model_validate({**models.ACCEPT_ACTION.model_dump(), **asks})


def _baseline(state: State, pack: Pack) -> Choice:
    action = scientist_policy.build_baseline_scientist_action(observe(state, pack))
    if action.action_type is models.ScientistActionType.PROPOSE_PROTOCOL:
        reason = "It opens with a plan of its own: the default of the paper's field."
    elif action.action_type is models.ScientistActionType.REVISE_PROTOCOL and state.plan:
        plan = state.plan.plan
        sizes = plan.sample_size, action.sample_size
        numbers = {"Samples": sizes, "Days": (plan.duration_days, action.duration_days)}
        cuts = [f"{name}: {was:,} → {now:,}." for name, (was, now) in numbers.items() if was != now]
        cut = " ".join(cuts) or "Nothing is left to cut."
        reason = f"The last answer names an obstacle. {cut}"
    elif state.is_last:
        reason = "It is the last round, so it accepts."
    else:
        reason = "The last answer names no obstacle, so it accepts."
    return Choice(action, reason)


def _step_by_step(setup: Setup, state: State, pack: Pack) -> Choice:
    # It leaves if the opening is below the floor, if least loss does not pass, or if each
    # concession falls below the floor.
    opening = state.opening or PlanAnalysis(assess(setup.opening or pack.reference_protocol, pack))
    yours, loss = opening.yours, opening.least
    is_worth = is_worth_running(loss.after)
    if state.plan is None and not state.is_last:
        return _open(state, yours.plan, pack)
    if state.plan is None and is_worth:
        reason = "It has one round, so it opens with the least-loss plan."
        return Choice(put_forward(state, loss.plan), reason)
    offer, below = state.offer, yours.evidence.tier is EvidenceTier.BELOW_FLOOR
    if offer and is_worth_running(offer) and rank(offer, yours.plan) <= loss.rank:
        reason = f"No plan ranks above the offer: {offer.size_text}."
        return Choice(models.ACCEPT_ACTION, reason)
    step = None
    # A person's counter-offer is the new opening.
    is_counter = offer is not None and offer.plan == yours.plan
    if loss.after.feasible and not below and (is_worth or not state.is_last):
        start = yours if is_counter else state.plan or yours
        step = next_concession(opening, start, state.is_last)
    if step is not None:
        reason = _declined_text(offer, loss.after) + step.text
        return Choice(put_forward(state, step.after.plan), reason)
    reason = f"{capitalised(best_text(loss))}."
    if below:
        plan = "offer" if is_counter else "opening"
        reason = f"The {plan} has {yours.evidence.placed_text}. {reason}"
    return Choice(None, reason if is_worth else f"{reason} {_relief(opening)[1]}")


def _declined_text(offer: Assessment | None, best: Assessment) -> str:
    if offer is None:
        return ""
    why = f"{best.size_text} with {best.evidence.text} ranks higher"
    if not is_worth_running(offer):
        why = offer.fails_text if offer.failing else offer.evidence.placed_text
    return f"Offer of {offer.samples_text} declined: {why}. "


class _Step(NamedTuple):
    changes: tuple[ChangeGroup, ...]
    after: Assessment

    @property
    def text(self) -> str:
        parts, term = sum(self.changes, ()), self.after.pack.study.term
        changes = "; ".join(_change_text(part, term) for part in parts)
        lost = " ".join(dict.fromkeys(part.tradeoff for part in parts))
        rate, (samples, days, *_) = self.after.pack.samples_per_day, self.after.counts
        usable = rate.value * days if rate else samples
        if usable < samples and any(part.field == "duration_days" for part in parts):
            days_text, noun = count_text(days, "day"), self.after.pack.design.samples_noun
            lost += f" Only {usable:,} of {samples:,} {noun} can be processed in {days_text}."
        return f"{changes}. Lost: {lost}"


def change_groups(analysis: PlanAnalysis) -> list[ChangeGroup]:
    """Return the changes from a plan to its least-loss plan: swaps, controls, days, samples."""
    parts, pack = analysis.least.changes, analysis.yours.pack
    names = ("controls", "duration_days", "sample_size")
    swaps = [part for part in parts if part.field not in names]
    single = [(part,) for name in names for part in parts if part.field == name]
    return [*_assigned_together(swaps, pack), *single]


def _assigned_together(swaps: Sequence[SuggestionChange], pack: Pack) -> Iterator[ChangeGroup]:
    # Swaps are in one group if they share an alternative.
    groups: list[tuple[set[str], ChangeGroup]] = []
    for swap in swaps:
        labels = {swap.original, swap.revised, *pack.inventory.alternatives(swap.original)}
        keys = {label_key(label) for label in labels}
        tied = [group for group in groups if group[0] & keys]
        groups = [group for group in groups if group not in tied]
        earlier = tuple(part for _, change in tied for part in change)
        groups.append((keys.union(*(group[0] for group in tied)), (*earlier, swap)))
    yield from (change for _, change in groups)


def next_concession(opening: PlanAnalysis, plan: Assessment, is_last: bool) -> _Step | None:
    """Return the next proposal, or None if no change remains or each falls below the floor.

    The last round takes all changes that remain, without a test of the floor.
    """
    loss = opening.least
    changes = change_groups(opening)
    remaining = [change for change in changes if _remains(change, plan.plan, loss.plan)]
    if is_last and remaining:
        return _Step(tuple(remaining), loss.after)
    steps = (_with_repair(change, remaining, plan) for change in remaining)
    worth_it = (s for s in steps if s.after.evidence.tier is not EvidenceTier.BELOW_FLOOR)
    return next(worth_it, None)


def _remains(change: ChangeGroup, plan: models.Protocol, least: models.Protocol) -> bool:
    part = change[0]
    now, aim = getattr(plan, part.field), getattr(least, part.field)
    if part.field not in models.LIST_FIELDS:
        return bool(now != aim)
    key = label_key(part.original)
    return Counter(map(label_key, now))[key] > Counter(map(label_key, aim))[key]


def _with_repair(change: ChangeGroup, remaining: Sequence[ChangeGroup], plan: Assessment) -> _Step:
    others = [other for other in remaining if other != change]
    for group in ([change], *([change, other] for other in others), [change, *others]):
        parts = [part for changes in group for part in changes]
        after = plan.revised(apply_changes(plan.plan, parts))
        if set(after.failing) <= set(plan.failing):
            break
    return _Step(tuple(group), after)


def _change_text(part: SuggestionChange, term: Callable[[str], str]) -> str:
    values, is_number = (part.original, part.revised), part.field in models.NUMBER_FIELDS
    old, new = (f"{int(value):,}" if is_number else value for value in values)
    return f"{term(models.FIELD_LABELS[part.field])}: {old} → {new}"


def _direct(state: State, pack: Pack) -> Choice:
    asking = models.ScientistActionType.REQUEST_INFO.value
    scientist = models.Role.SCIENTIST
    has_asked = any(e.role is scientist and e.action_type == asking for e in state.history)
    if state.plan is None and not state.is_last and not has_asked:
        reference = assess(pack.reference_protocol, pack)
        if reference.evidence.tier is not EvidenceTier.BELOW_FLOOR:
            worth = reference.evidence.placed_text
            reason = f"It opens with the study's own plan: {worth}."
            return Choice(put_forward(state, reference.plan), reason)
    offer = state.offer
    meets = offer and offer.feasible and offer.evidence.tier is EvidenceTier.MEETS_TARGET
    if offer and meets and not offer.broken_wishes:
        return Choice(models.ACCEPT_ACTION, f"The offer has {offer.evidence.placed_text}.")
    analysis = best_options(state.options, pack)
    if is_worth_running(analysis.least.after):
        return _take_or_counter(state, analysis.least)
    asks, relief = _relief(analysis)
    finding = f"{capitalised(best_text(analysis.least))}. {relief}"
    if has_asked:
        return Choice(None, f"The lab adds nothing to what it has. {finding}")
    if state.is_last or not asks:
        return Choice(None, finding)
    texts = [f"Could the lab have {additions_text(asks)}?"]
    if len(texts[0]) > limits.LONGEST_QUESTION:  # because of long names of items
        texts = [f"Could the lab have {ask.text}?" for ask in asks[: limits.MOST_QUESTIONS]]
    return Choice(ask_lab(*texts), finding)


def _take_or_counter(state: State, best: LeastLoss) -> Choice:
    size, evidence = best.after.size_text, best.after.evidence.placed_text
    if state.plan is None:
        text = f"It opens with the best version of the study's plan in this lab: {size}"
        return Choice(put_forward(state, best.plan), f"{text}, {evidence}.")
    standing = state.offer or state.plan
    rank_now = rank(standing, state.plan.plan)
    name = "offer" if state.offer else "plan"
    has = f"The {name} has {standing.evidence.placed_text}"
    if rank_now.given_up <= best.rank.given_up:
        exact = "no plan with this method" if best.exact else "no plan that was found"
        none = f"{exact}{state.plan.no_control_text}"
        return Choice(models.ACCEPT_ACTION, f"{has}; {none} gives up less in this lab.")
    if standing.failing:
        has = f"{has}, but {standing.fails_text}"
    return Choice(
        put_forward(state, best.plan),
        f"{has}{_loss_text(rank_now, best.rank)}. In the same lab a plan of {size} reaches "
        f"{evidence}{_loss_text(best.rank, rank_now)}.",
    )


def _loss_text(mine: Rank, other: Rank) -> str:
    texts = [f"at a fidelity loss of {mine.fidelity}"] if mine.fidelity != other.fidelity else []
    if mine.wishes != other.wishes:
        texts.append(f"with {count_text(mine.wishes, 'soft constraint')} missed")
    return "".join(f", {text}" for text in texts)


def _relief(analysis: PlanAnalysis) -> tuple[tuple[Addition, ...], str]:
    # The smallest single addition for the floor; else all for the target; else all for this plan.
    shortfalls, plan = analysis.asks, analysis.yours
    if shortfalls.alone_floor:
        ask, after = shortfalls.alone_floor[0].ask, shortfalls.alone_floor[0].least.after
        evidence = f"{after.size_text}: {after.evidence.placed_text}"
        loss = f", at a fidelity loss of {after.fidelity_loss}" if after.fidelity_loss else ""
        return (ask,), f"With {ask.text} it could run {evidence}{loss}."
    target, run = shortfalls.target, shortfalls.run
    if target and target.possible and target.asks:
        size, additions = target.judged.size_text, additions_text(target.asks)
        return target.asks, f"To reach the target with {size} would take {additions}."
    worth = plan.evidence.tier is not EvidenceTier.BELOW_FLOOR
    if worth and run.possible and run.asks:
        size, additions = plan.size_text, additions_text(run.asks)
        shows = plan.evidence.placed_text
        return run.asks, f"To run {size} as planned would take {additions}: {shows}."
    return (), "No single addition to the lab gives a plan worth running."


def best_options(options: PlanAnalysis | None, pack: Pack) -> PlanAnalysis:
    """Return the analysis of the plan whose least-loss revision ranks best.

    That is the plan on the table, or the reference protocol if no revision of it is worth running.
    """
    if options is not None and is_worth_running(options.least.after):
        return options
    if options is not None and options.yours.plan == pack.reference_protocol:
        return options
    reference = PlanAnalysis(assess(pack.reference_protocol, pack))
    both = [options, reference] if options else [reference]
    return min(both, key=lambda analysis: analysis.least.rank.given_up)


def is_worth_running(plan: Assessment) -> bool:
    return plan.feasible and plan.evidence.tier is not EvidenceTier.BELOW_FLOOR


def best_text(best: LeastLoss) -> str:
    """Return the best plan above the floor in words, or that no such plan exists."""
    after, evidence = best.after, best.after.evidence
    size, cautions = after.size_text, after.cautions_title
    if is_worth_running(after):
        worth = f"{evidence.text}, a plan that {cautions}" if cautions else evidence.text
        return f"in this lab {size} can reach {worth}"
    if not after.feasible:
        # Plans that lose the endpoint are not searched if the lab has the days.
        searched = 1 < after.pack.min_days <= after.pack.lab.days_left
        days = f" of at least {count_text(after.pack.min_days, 'day')}" if searched else ""
        was = "passes" if best.exact else "was found that passes"
        none = f"no plan{days} with this method {was} in this lab"
        return f"{none}: at best {after.fails_text}"
    exists, floor = "exists" if best.exact else "was found", evidence.format(evidence.floor)
    none = f"no plan that reaches the floor of {floor} {exists} in this lab with this method"
    if evidence.void_reason:
        return f"{none}: a plan of {size} passes, but {evidence.void_reason}"
    return f"{none}: the least-loss plan has {evidence.text}"


MAX_RETRIES: Final = 2
Clock = Callable[[], float]  # seconds since some moment; only differences count
GenerateFn = scientist_policy.GenerateFn
Messages = list[dict[str, str]]
_COUNTS: Final = ("prompt_tokens", "completion_tokens")


def as_utf8(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot encode, replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def observe(state: State, pack: Pack) -> models.ScientistObservation:
    """Return the Scientist's view of a state; its lists are copies."""
    plan, offer = (models.revise(item.plan) if item else None for item in (state.plan, state.offer))
    history = list(state.history)
    return pack.seen_by_scientist(history, plan, state.round_number, state.max_rounds, offer)


class Recorder:
    """A `GenerateFn` that records the texts and the output of each call.

    ``error`` is the failure of a call, apart from an answer that is too long.
    """

    def __init__(self, generate_fn: GenerateFn, clock: Clock = time.monotonic) -> None:
        self._generate_fn = generate_fn
        self._clock = clock
        self.calls: list[tuple[list[str], Output]] = []
        self.error: ModelError | None = None

    def __call__(self, messages: Messages) -> str:
        started, sent = self._clock(), [message["content"] for message in messages]
        try:
            answer: object = self._generate_fn(messages)
            if not isinstance(answer, str):
                kind = type(answer).__name__
                raise TypeError(f"the model's function returned a {kind}; return its text, a str")
            if len(answer) > limits.LONGEST_OUTPUT:
                raise ModelAnswerTooLongError(
                    f"The model's answer has {len(answer):,} characters, and at most "
                    f"{limits.LONGEST_OUTPUT:,} are read; ask for shorter answers."
                )
        except ModelError as error:
            self.error = None if isinstance(error, ModelAnswerTooLongError) else error
            failure = shortened(as_utf8(str(error)), limits.LONGEST_TEXT - 1)
            self._keep(sent, started, failure=failure)
            raise
        finish, text = getattr(answer, "finish_reason", None), as_utf8(answer)
        length = limits.LONGEST_LABEL - 1
        reason = shortened(as_utf8(finish), length) if isinstance(finish, str) else None
        counts = {name: getattr(answer, name, None) for name in _COUNTS}
        tokens = {name: n for name, n in counts.items() if type(n) is int and n >= 0}
        self._keep(sent, started, text=text, finish_reason=reason, **tokens)
        return text

    def _keep(self, sent: list[str], started: float, **fields: object) -> None:
        seconds = max(0.0, self._clock() - started)
        self.calls.append((sent, Output.model_validate({**fields, "seconds": seconds})))


class ModelAnswer(NamedTuple):
    """A model's attempts at a turn; ``failure`` says why ``turn`` is None."""

    turn: Turn | None
    attempts: tuple[Attempt, ...] = ()
    failure: str | None = None

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(attempt.output for attempt in self.attempts)

    @property
    def walking_away(self) -> Turn:
        return Turn(action=None, by=records.TurnAuthor.MODEL, outputs=self.outputs)


def ask_model(
    generate_fn: GenerateFn,
    state: State,
    pack: Pack,
    max_retries: int = MAX_RETRIES,
    clock: Clock = time.monotonic,
) -> ModelAnswer:
    """Return the model's next turn after at most ``max_retries`` corrections.

    A `ModelError` becomes the ``failure`` of the answer.
    """
    return ask(Recorder(generate_fn, clock), state, pack, max_retries)


def repeat_outputs(outputs: Sequence[Output], state: State, pack: Pack) -> ModelAnswer:
    """Return the model's answer from recorded outputs."""
    remaining = iter(outputs)

    def repeat(_: Messages) -> str:
        output = next(remaining)
        if output.text is None:
            raise ModelError(output.failure or "")
        return output.text

    if not outputs:
        return ModelAnswer(None)
    return ask(Recorder(repeat), state, pack, len(outputs) - 1, outputs)


def ask(
    model: Recorder,
    state: State,
    pack: Pack,
    max_retries: int = MAX_RETRIES,
    recorded: Sequence[Output] = (),
) -> ModelAnswer:
    """Return the answer of a model; ``recorded`` outputs replace the new ones in the record."""
    action, failure = None, None
    prompt, seen = scientist_policy.build_scientist_system_prompt(pack), observe(state, pack)
    try:
        action = scientist_policy.call_scientist_with_retry(model, prompt, seen, max_retries).action
    except ScientistOutputParseError as error:
        times = count_text(len(model.calls), "attempt")
        failure = f"No valid action in {times}; the last: {error.message}"
    except ModelError as error:
        failure = str(error)
    corrections = [as_utf8(sent[-1]) for sent, _ in model.calls[1:]]
    pair = as_utf8(prompt), as_utf8(model.calls[0][0][1])
    made = [output for _, output in model.calls]
    outputs = tuple(recorded[: len(made)] or made)
    called = enumerate(zip(outputs, [*corrections, None], strict=True), start=1)
    attempts = tuple(_attempt(number, pair, *call) for number, call in called)
    turn = Turn(action=action, by=records.TurnAuthor.MODEL, outputs=outputs) if action else None
    return ModelAnswer(turn, attempts, failure)


def _attempt(number: int, sent: tuple[str, str], output: Output, correction: str | None) -> Attempt:
    action, error = None, None
    if output.text is not None:
        try:
            action = parse_scientist_output(output.text)
        except ScientistOutputParseError as problem:
            error = problem
    code, message = (error.code, error.message) if error else (None, None)
    return Attempt(number, *sent, output, action, code, message, correction)
