"""Who plays the Scientist by rule: the document's baseline, and one that weighs the evidence.

Asked again in the same state, a rule acts in the same way and gives the same reason. A person, or
a language model, chooses outside of this package and hands its turn in. Source: docs/methods.md,
Negotiation.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from replicalab.agents.scientist_policy import build_baseline_scientist_action
from replicalab.assessment import (
    Assessment,
    assess,
    cautions_title,
    failing_text,
    floor_text,
    placed_text,
    size_text,
)
from replicalab.assessment.phrases import adding_none, start_text
from replicalab.errors import NegotiationError
from replicalab.lexicon import capitalised, count_text, joined, shortened
from replicalab.models import (
    ACCEPT_ACTION,
    LONGEST_QUESTION,
    Protocol,
    Role,
    ScientistAction,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation.records import AUTOMATIC, ScientistKind, Setup, State
from replicalab.negotiation.step_by_step import next_concession
from replicalab.planner import Addition, LeastLoss, PlanAnalysis, Rank, additions_text, rank
from replicalab.planner.limits import TIER_RANK
from replicalab.scenarios import EvidenceTier, Pack

_OPENS_WITH_OWN: Final = "It opens with the study's own plan"


class Choice(NamedTuple):
    """What a rule lets the Scientist do, None for walking away, and why, in numbers."""

    action: ScientistAction | None
    reason: str


def follows_a_rule(setup: Setup, state: State) -> bool:
    """Return whether a rule chooses the next turn: the opening that was given, or a player's."""
    return setup.scientist in AUTOMATIC or (setup.opening is not None and state.round_number == 0)


def choose(setup: Setup, state: State, pack: Pack) -> Choice:
    """Return the Scientist's next turn: the opening first, then what its rule says.

    Raises:
        NegotiationError: the opening has no samples, or the Scientist follows no rule.
    """
    if setup.scientist is ScientistKind.STEP_BY_STEP:
        return _step_by_step(setup, state, pack)
    if setup.opening is not None and state.round_number == 0:
        return Choice(put_forward(state, setup.opening), _opens_with(setup.opening, pack))
    if setup.scientist not in AUTOMATIC:
        raise NegotiationError(
            f"the Scientist is played by a {setup.scientist}, who follows no rule; hand in a turn"
        )
    return _PLAYERS[setup.scientist](state, pack)


def _opens_with(plan: Protocol, pack: Pack) -> str:
    is_own = plan == pack.reference_protocol
    return f"{_OPENS_WITH_OWN if is_own else 'It opens with the plan that was given'}."


def put_forward(state: State, plan: Protocol) -> ScientistAction:
    """Return the action that puts a plan forward: proposed first, and then revised.

    Raises:
        NegotiationError: the plan has no samples.
    """
    if plan.sample_size < 1:
        raise NegotiationError(
            "the plan has a sample size of 0; a proposal needs at least 1 sample"
        )
    first = state.plan is None
    kind = ScientistActionType.PROPOSE_PROTOCOL if first else ScientistActionType.REVISE_PROTOCOL
    return plan_action(kind, plan)


def question(*texts: str) -> ScientistAction:
    """Return the action that asks the lab."""
    asks = {"action_type": ScientistActionType.REQUEST_INFO, "questions": list(texts)}
    return ScientistAction.model_validate({**ACCEPT_ACTION.model_dump(), **asks})


def _baseline(state: State, pack: Pack) -> Choice:
    history, plan = list(state.history), state.plan.plan if state.plan else None
    number, most = state.round_number, state.max_rounds
    # It looks at no offer, and neither changes nor keeps what it sees: nothing need be copied.
    seen = pack.seen_by_scientist(history, plan, number, most, None)
    action = build_baseline_scientist_action(seen)
    if action.action_type is ScientistActionType.PROPOSE_PROTOCOL:
        reason = "It opens with a plan of its own: the default of the paper's field."
    elif action.action_type is ScientistActionType.REVISE_PROTOCOL:
        cut = _cut_text(state.plan.plan, action) if state.plan else ""
        reason = f"The last answer names something that stands in the way, so it {cut}."
    elif state.is_last:
        reason = "It is the last round, so it accepts."
    else:
        reason = "The last answer names nothing that stands in the way, so it accepts."
    return Choice(action, reason)


def _cut_text(before: Protocol, after: ScientistAction) -> str:
    """Return what a revision takes off, as far as the controls and the last day let it."""
    samples, days = after.sample_size, after.duration_days
    cuts = []
    if samples == before.sample_size // 2:
        cuts.append("halves the sample")
    elif samples < before.sample_size:
        cuts.append(f"cuts the sample to {samples} (one beside the controls)")
    if days != before.duration_days:
        cuts.append("takes a day off" if days < before.duration_days else "adds a day")
    return joined(cuts) or "has nothing left to cut"


# --- step by step -----------------------------------------------------------------------------


def _step_by_step(setup: Setup, state: State, pack: Pack) -> Choice:
    """Return the next change on the way from the opening to the least-loss plan.

    It leaves if the opening is below the floor, if the least-loss plan does not pass, or if every
    remaining change falls below the floor.
    """
    opening = state.opening or PlanAnalysis(assess(setup.opening or pack.reference_protocol, pack))
    yours, least = opening.yours, opening.least
    reaches = is_worth_running(least.after)
    if state.plan is None and not state.is_last:
        return Choice(put_forward(state, yours.plan), _opens_with(yours.plan, pack))
    if state.plan is None and reaches:
        reason = "It has one round, so it opens with the least-loss plan."
        return Choice(put_forward(state, least.plan), reason)
    offer, below = state.offer, yours.evidence.tier is EvidenceTier.BELOW_FLOOR
    if offer and is_worth_running(offer) and rank(offer, yours.plan) <= least.rank:
        return Choice(ACCEPT_ACTION, f"No plan ranks above the offer: {size_text(offer)}.")
    found = None
    if least.after.feasible and not below and (reaches or not state.is_last):
        counters = offer is not None and offer.plan == yours.plan
        found = next_concession(
            opening, yours if counters else state.plan or yours, is_last=state.is_last
        )
    if found is not None:
        return Choice(put_forward(state, found.after.plan), found.text)
    reason = f"{capitalised(best_text(least))}."
    if below:
        reason = f"The opening has {placed_text(yours.evidence)}. {reason}"
    return Choice(None, reason if reaches else f"{reason} {_relief(opening)[1]}")


def wants_more(opening: PlanAnalysis, plan: Assessment) -> bool:
    """Return whether a plan is below the floor, or a better tier is possible."""
    tier = plan.evidence.tier
    below = tier is EvidenceTier.BELOW_FLOOR
    return below or TIER_RANK[opening.least.after.evidence.tier] < TIER_RANK[tier]


# --- the one that weighs the evidence -------------------------------------------------------


def _direct(state: State, pack: Pack) -> Choice:
    """Return what the direct Scientist does.

    It takes an offer that meets the target and keeps the study's wishes. Else it puts the
    planner's best plan forward, or takes the offer where nothing in this lab is better. Where no
    plan of this lab reaches the floor it asks once for the cheapest relief, and then walks away.
    The planner's best passes all seven dimensions, so the Lab Manager accepts it: after its opening
    it acts at most three times.
    """
    asking = ScientistActionType.REQUEST_INFO.value
    asked = any(e.role is Role.SCIENTIST and e.action_type == asking for e in state.history)
    if state.plan is None and not state.is_last and not asked:
        reference = assess(pack.reference_protocol, pack)
        if reference.evidence.tier is not EvidenceTier.BELOW_FLOOR:
            reason = f"{_OPENS_WITH_OWN}: {placed_text(reference.evidence)}."
            return Choice(put_forward(state, reference.plan), reason)
    offer = state.offer
    if offer and offer.feasible and not offer.broken_wishes and _meets_target(offer):
        return Choice(ACCEPT_ACTION, f"The offer has {placed_text(offer.evidence)}.")
    found = best_options(state.options, pack)
    if is_worth_running(found.least.after):
        return _take_or_counter(state, found.least)
    asks, relief = _relief(found)
    finding = f"{capitalised(best_text(found.least))}. {relief}"
    if asked:
        return Choice(None, f"The lab adds nothing to what it has. {finding}")
    if state.is_last or not asks:
        return Choice(None, finding)
    amounts = [ask.text for ask in asks if ask.item is None]
    items = [ask.text for ask in asks if ask.item is not None]
    wishes = [f"give {joined(amounts)}"] if amounts else []
    wishes += [f"have {joined(items)}"] if items else []
    wanted = f"Could the lab {', and '.join(wishes)}?"
    return Choice(question(shortened(wanted, LONGEST_QUESTION - 1)), finding)


def _meets_target(plan: Assessment) -> bool:
    return plan.evidence.tier is EvidenceTier.MEETS_TARGET


def _take_or_counter(state: State, best: LeastLoss) -> Choice:
    """Return the acceptance of what stands where nothing is better, else the planner's best."""
    size, reaches = size_text(best.after), placed_text(best.after.evidence)
    if state.plan is None:
        text = f"It opens with the best that this lab can run of the study's own plan: {size}"
        return Choice(put_forward(state, best.plan), f"{text}, {reaches}.")
    standing = state.offer or state.plan
    stands = rank(standing, state.plan.plan)
    has = f"{'The offer' if state.offer else 'The plan'} has {placed_text(standing.evidence)}"
    if stands.given_up <= best.rank.given_up:
        exact = "no plan with this method" if best.exact else "no plan that was found"
        none = f"{exact}{adding_none(state.plan)}"
        return Choice(ACCEPT_ACTION, f"{has}; {none} gives up less in this lab.")
    if standing.failing:
        has = f"{has}, but {failing_text(standing)}"
    return Choice(
        put_forward(state, best.plan),
        f"{has}{_loss(stands, best.rank)}. In the same lab a plan of {size} reaches "
        f"{reaches}{_loss(best.rank, stands)}.",
    )


def _loss(mine: Rank, other: Rank) -> str:
    """Return the fidelity given up and the wishes broken, where the two plans differ in them."""
    texts = [f"at a fidelity loss of {mine.loss}"] if mine.loss != other.loss else []
    if mine.wishes != other.wishes:
        wishes = count_text(mine.wishes, "wish") if mine.wishes else "no wish"
        texts.append(f"with {wishes} broken")
    return "".join(f", {text}" for text in texts)


def _relief(options: PlanAnalysis) -> tuple[tuple[Addition, ...], str]:
    """Return the cheapest relief where nothing above the floor can run, and what it would buy.

    The single addition that is the smallest share of what the lab has, where one is enough; else
    everything together that the target takes; else what this plan takes, if it is worth running.
    """
    found, plan = options.asks, options.yours
    if found.alone_floor:
        ask, after = found.alone_floor[0].ask, found.alone_floor[0].least.after
        reaches = f"{size_text(after)}: {placed_text(after.evidence)}"
        loss = f", at a fidelity loss of {after.fidelity_loss}" if after.fidelity_loss else ""
        breaks = f" ({cautions})" if (cautions := cautions_title(after)) else ""
        return (ask,), f"With {ask.text} it could run {reaches}{loss}{breaks}."
    if found.target and found.target.possible and found.target.asks:
        wanted, size = additions_text(found.target.asks), size_text(found.target.judged)
        return found.target.asks, f"To reach the target with {size} it would take {wanted}."
    worth = plan.evidence.tier is not EvidenceTier.BELOW_FLOOR
    if worth and found.run.possible and found.run.asks:
        takes = f"To run {size_text(plan)} as planned would take {additions_text(found.run.asks)}"
        return found.run.asks, f"{takes}: {placed_text(plan.evidence)}."
    return (), "No single addition by the lab would open one."


_PLAYERS: Final[dict[ScientistKind, Callable[[State, Pack], Choice]]] = {
    ScientistKind.BASELINE: _baseline,
    ScientistKind.DIRECT: _direct,
}


# --- what a lab could run at best -----------------------------------------------------------


def best_options(options: PlanAnalysis | None, pack: Pack) -> PlanAnalysis:
    """Return the options of the plan of which the lab could run the best revision.

    That is the plan on the table, or the reference protocol: where there is no plan, or nothing
    above the floor comes of it. Both keep their technique and items, so what is proven of them is
    proven of plans "with this method".
    """
    if options is not None and is_worth_running(options.least.after):
        return options
    if options is not None and options.yours.plan == pack.reference_protocol:
        return options
    reference = PlanAnalysis(assess(pack.reference_protocol, pack))
    both = [options, reference] if options else [reference]
    return min(both, key=lambda each: each.least.rank.given_up)


def is_worth_running(plan: Assessment) -> bool:
    """Return whether the lab can run a plan, and it is above the study's floor."""
    return plan.feasible and plan.evidence.tier is not EvidenceTier.BELOW_FLOOR


def best_text(best: LeastLoss) -> str:
    """Return in words what the lab could have run above the floor, or that no such plan exists."""
    # Where none exists it says what was searched, since the planner's own plans keep the study's
    # endpoint where the lab has the days for it, and what the best comes to.
    after, evidence, pack = best.after, best.after.evidence, best.after.pack
    breaks = cautions_title(after)
    if is_worth_running(after):
        worth = f"{evidence.text}, a plan that {breaks}" if breaks else evidence.text
        return f"in this lab {size_text(after)} would have reached {worth}"
    if not after.feasible:
        failing = f"at best {failing_text(after)}"
        if not best.exact:
            return f"no plan with this method was found that passes in this lab: {failing}"
        least = ""
        if 1 < pack.min_days <= pack.lab.days_left:
            least = f" of at least {count_text(pack.min_days, 'day')}"
        return f"no plan{least} with this method passes in this lab: {failing}"
    found = "exists" if best.exact else "was found"
    none = f"no plan that reaches {floor_text(evidence)} {found} in this lab with this method"
    if not evidence.void_reason:
        return f"{none}: the least-loss plan has {evidence.text}"
    why = evidence.void_reason
    if pack.lab.days_left < pack.min_days:
        needed = count_text(pack.min_days, "day")
        has = f"{pack.lab.days_left}{start_text(pack.lab)}"
        why = f"the study's endpoint needs {needed}, and this lab has {has}"
    passes = joined(["passes all seven dimensions", *filter(None, [breaks]), "shows nothing"])
    return f"{none}: a plan of {size_text(after)} {passes}, since {why}"
