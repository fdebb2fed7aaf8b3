"""What people read of a negotiation: who plays, each round, who gave what, how it ended.

Every number stands in the negotiation or in its ledger; nothing is said that they do not hold.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Final, NamedTuple

from replicalab import assessment, models
from replicalab.facts.blocks import Status, Verdict
from replicalab.facts.lab import lab_text
from replicalab.facts.plan import in_its_noun, saved_text, unit_noun
from replicalab.facts.verdicts import ANSWERS, agreed_status, evidence_sentence, plan_size
from replicalab.lexicon import (
    CREDITS,
    amount_text,
    count_text,
    joined,
    money_text,
    signed_text,
)
from replicalab.negotiation import (
    Concession,
    LabManagerKind,
    Negotiation,
    Outcome,
    Round,
    ScientistKind,
    Setup,
    best_options,
    best_text,
    negotiate,
)
from replicalab.planner import PlanStep


class Player(NamedTuple):
    """Who may sit at the table: the name, and the rule in one line."""

    name: str
    rule: str


SCIENTISTS: Final = {
    ScientistKind.STEP_BY_STEP: Player(
        "Step by step",
        "Opens with your plan and gives up one thing each round, until a plan passes. Leaves "
        "before the evidence falls below the floor.",
    ),
    ScientistKind.DIRECT: Player(
        "Direct",
        "Opens with your plan. Takes an offer that meets the evidence target, else counters with "
        "the best plan this lab can run, and leaves when none reaches the floor.",
    ),
    ScientistKind.PERSON: Player(
        "You",
        "You propose, ask, accept or walk away, and see the Lab Manager's answer at each round.",
    ),
    ScientistKind.MODEL: Player(
        "Language model",
        "Chooses its own plans. Its text is only read as data: the checks decide, as for anyone.",
    ),
    ScientistKind.BASELINE: Player(
        "Simple rule",
        "For contrast: while the answer names an obstacle it halves your sample and takes a day "
        "off; otherwise, and in the last round, it accepts.",
    ),
}
RECORDED: Final = Player(
    "Recorded run", "Shows a negotiation that was saved earlier. Nothing is asked of any model."
)
LAB_MANAGERS: Final = {
    LabManagerKind.REFERENCE: Player(
        "Reference",
        "Substitutes items, cuts days, then halves the sample until the budget fits.",
    ),
    LabManagerKind.LEAST_LOSS: Player(
        "Least-loss",
        "Offers the least-loss plan of this lab.",
    ),
    LabManagerKind.PERSON: Player(
        "You", "You accept, reject or counter each plan that the Scientist puts forward."
    ),
}

OUTCOME_TITLES: Final = {
    Outcome.AGREED: "Agreed",
    Outcome.AGREED_BELOW_FLOOR: "Agreed below the floor",
    Outcome.FALSE_AGREEMENT: "False agreement",
    Outcome.NO_DEAL: "No deal",
}
OUTCOME_STATUS: Final = {
    Outcome.AGREED: Status.PASS,
    Outcome.AGREED_BELOW_FLOOR: Status.CAUTION,
    Outcome.FALSE_AGREEMENT: Status.FAIL,
    Outcome.NO_DEAL: Status.FAIL,
}
"""How an outcome is shown where its plan is not shown."""

_TURN_TITLES: Final = {
    models.ScientistActionType.PROPOSE_PROTOCOL: "Proposes",
    models.ScientistActionType.REVISE_PROTOCOL: "Revises",
    models.ScientistActionType.REQUEST_INFO: "Asks",
    models.ScientistActionType.ACCEPT: "Accepts",
}
_ANSWER_RULES: Final = {
    models.LabManagerActionType.ACCEPT: (
        "First in its order: all seven dimensions pass, so it accepts."
    ),
    models.LabManagerActionType.REPORT_FEASIBILITY: (
        "Second in its order: the five lab constraints pass, but not all seven dimensions, so it "
        "reports."
    ),
    models.LabManagerActionType.SUGGEST_ALTERNATIVE: (
        "Third in its order: a lab constraint fails, and its changes improve the plan and leave no "
        "lab constraint failing, so it suggests them."
    ),
    models.LabManagerActionType.REJECT: (
        "Last in its order: a lab constraint fails, and no changes that it may make repair every "
        "one, so it rejects."
    ),
}
# The numbers of a plan, and what they count.
_SIZES: Final = {"sample_size": "sample", "duration_days": "day"}


# --- a round ----------------------------------------------------------------------------------


def turn_title(done: Round) -> str:
    """Return what the Scientist did in a round, in one word or two."""
    return "Walks away" if done.action is None else _TURN_TITLES[done.action.action_type]


def answer_verdict(done: Round) -> Verdict | None:
    """Return what the Lab Manager's answer in a round means, None where it gives none."""
    if done.answer is None:
        return None
    if done.only_asks or done.plan is None:
        text = "Answers from the lab's own data; no plan was put forward."
        return Verdict(Status.CAUTION, "Answers", text)
    return ANSWERS[done.answer.action_type]


def answer_rule(done: Round) -> str:
    """Return the rule by which the Lab Manager answered as it did."""
    if done.answer is None:
        return "Nobody waits for an answer: the Scientist has left."
    if done.reply:
        return "No rule: a person chose this."
    if done.only_asks:
        return "A question is answered from the lab's own data, never from the hidden reference."
    if done.plan is None:
        return "There is no plan to check, so it asks for one."
    return _ANSWER_RULES[done.answer.action_type]


def offer_breaks_text(done: Round) -> str:
    """Return which wishes the Lab Manager's offer in a round breaks, and which controls it lacks.

    Empty if none. Of changes that are not enough nothing is said: they are no offer.
    """
    offer = offered_plan(done)
    text = assessment.cautions_text(offer) if offer else ""
    return f"The offer {text}." if text else ""


def offered_plan(done: Round) -> assessment.Assessment | None:
    """Return the plan that the Lab Manager offers in a round, None where it offers none."""
    suggests = models.LabManagerActionType.SUGGEST_ALTERNATIVE
    if done.answer is None or done.offer is None:
        return None
    return done.offer.after if done.reply or done.answer.action_type is suggests else None


def kept_text(negotiation: Negotiation) -> str:
    """Return which negotiation it is: study, lab, who plays the Scientist, and how far it went."""
    pack, rounds = negotiation.pack, count_text(len(negotiation.rounds), "round")
    player = SCIENTISTS[negotiation.setup.scientist].name
    return f"{pack.paper.title}, {lab_text(pack)}: {player}, {rounds}"


def round_summary(done: Round) -> str:
    """Return a round's plan in a few numbers, with its cautions, for a narrow place."""
    if done.plan is None:
        return "no plan"
    parts = numbers_text(done.plan), assessment.cautions_title(done.plan)
    return ", ".join(filter(None, parts))


def numbers_text(plan: assessment.Assessment) -> str:
    """Return a plan in a few numbers: size, credits, evidence."""
    size = in_its_noun(assessment.size_text(plan), plan.pack.design)
    return f"{size}, {plan.pack.lab.money(plan.cost)}, {plan.evidence.text}"


def on_the_table(plan: assessment.Assessment) -> str:
    """Return a plan in numbers: size, credits, evidence, and what fails."""
    return f"{plan_size(plan)}, {plan.evidence.text}; {_passing_text(plan)}"


def _passing_text(plan: assessment.Assessment) -> str:
    return assessment.failing_text(plan) if plan.failing else "all seven dimensions pass"


def round_caption(negotiation: Negotiation, at: int) -> str:
    """Return a round in one line of numbers; ``at`` counts from 0.

    ``Round 2: halving to 150 mice and cutting to 7 days saves 1,550 credits; power falls from
    0.86 to 0.58.``
    """
    before = negotiation.state_before(at).plan
    text = f"Round {at + 1}: {_what_happened(before, negotiation.rounds[at])}."
    return in_its_noun(text, negotiation.pack.design)


def _what_happened(before: assessment.Assessment | None, done: Round) -> str:
    if done.action is None:
        return "the Scientist walks away"
    if done.only_asks:
        return "the Scientist asks, and the lab answers from its own data"
    if done.plan is None:
        return "no plan is put forward"
    if before is None:
        return f"the Scientist opens with {on_the_table(done.plan)}"
    accepts = done.action.action_type is models.ScientistActionType.ACCEPT
    if before.plan == done.plan.plan:
        does = "accepts the plan" if accepts else "puts the same plan forward"
        return f"the Scientist {does}: {on_the_table(done.plan)}"
    step = PlanStep(before, done.plan)
    offer = f"taking the offer of {assessment.size_text(done.plan)}"
    moves = offer if accepts else joined(list(_moves(step)))
    saves = f" {saved_text(step)};" if step.credits_saved else ":"
    lost = step.after.fidelity_loss - step.before.fidelity_loss
    fidelity = f"; fidelity loss {signed_text(lost)}" if lost else ""
    return f"{moves}{saves} {_evidence_effect(step)}{fidelity}"


def _moves(step: PlanStep) -> Iterator[str]:
    """Yield each change as something that is done: ``halving to 150 samples``."""
    last, others = "", []
    for field, old, new in step.fields:
        if isinstance(old, int) and isinstance(new, int):
            verb = "raising" if new > old else "halving" if new and new == old // 2 else "cutting"
            amount = count_text(new, _SIZES[field])
            yield amount if verb == last else f"{verb} to {amount}"
            last = verb
        elif isinstance(old, tuple) and isinstance(new, tuple):
            others.append(_swapped(old, new))
        else:
            others.append(f"changing the {models.FIELD_LABELS[field].lower()}")
    yield from others


def _swapped(old: tuple[str, ...], new: tuple[str, ...]) -> str:
    gone, come = (joined([f"'{label}'" for label in labels]) for labels in (old, new))
    if not old or not new:
        return f"dropping {gone}" if old else f"adding {come}"
    return f"swapping {gone} for {come}"


def _evidence_effect(step: PlanStep) -> str:
    old, new = step.before.evidence, step.after.evidence
    if not step.evidence_changed:
        return f"{new.text} stays" if not new.void_reason else "there is still no evidence"
    if new.void_reason:
        return f"{old.text} is lost: {new.void_reason}"
    if old.void_reason:
        return f"evidence returns: {new.text}"
    moves = "rises" if new.value > old.value else "falls"
    return f"{new.measure} {moves} from {old.amount(old.value)} to {new.amount(new.value)}"


def simple_rule_run(negotiation: Negotiation) -> Negotiation | None:
    """Return the run of the Simple rule from the same opening; None if that is the run itself."""
    setup, pack = negotiation.setup, negotiation.pack
    if setup.scientist is ScientistKind.BASELINE:
        return None
    players = {
        "scientist": ScientistKind.BASELINE,
        "lab_manager": LabManagerKind.REFERENCE,
        "opening": setup.opening or pack.reference_protocol,
    }
    return negotiate(Setup.model_validate({**dict(setup), **players, "forked_at": None}), pack)


def simple_rule_text(run: Negotiation | None) -> str:
    """Return a run of the Simple rule in one line; empty without a run.

    ``Simple rule: 24 → 12 → 6 → 4 mice; power 0.53 → 0.30 → 0.15 → 0.10; agreed below the floor.``
    """
    if run is None:
        return ""
    plans = {done.plan.counts.samples: done.plan for done in run.rounds if done.plan}
    samples = " → ".join(map(amount_text, plans))
    shown = [plan.evidence for plan in plans.values()]
    values = " → ".join("none" if each.void_reason else each.number for each in shown)
    ended = OUTCOME_TITLES[run.outcome].lower() if run.outcome else ""
    noun, measure = unit_noun(run.pack.design), shown[0].title.lower()
    return f"Simple rule: {samples} {noun}; {measure} {values}; {ended}."


# --- how it stands ----------------------------------------------------------------------------


def asking_cost(played: int, most: int) -> str:
    """Return what a question costs, before it is asked: a round, and how many are then left."""
    left = most - played - 1
    then = f"{count_text(left, 'round')} left after it" if left else "the last one"
    return f"A question takes this round: {then}."


def outcome_verdict(negotiation: Negotiation) -> Verdict:
    """Return how a negotiation ended, in one sentence that is true.

    Where no plan above the floor was agreed, it says whether this lab could have run one. A
    negotiation that goes on is summed up as what is on the table.
    """
    outcome, plan, design = negotiation.outcome, negotiation.final_plan, negotiation.pack.design
    if outcome is None:
        text = in_its_noun(f"{_so_far(negotiation)}.", design)
        return Verdict(Status.CAUTION, "Still open", text)
    title, status = OUTCOME_TITLES[outcome], Status.FAIL
    text = f"{title}: {negotiation.ending} with no plan on the table"
    if plan is not None:
        text = _with_plan(negotiation, plan, title)
        if outcome in (Outcome.AGREED, Outcome.AGREED_BELOW_FLOOR):
            status = agreed_status(plan)
        text = f"{text}{_but_breaks(plan)}"
    if outcome is not Outcome.AGREED:
        best = best_options(negotiation.state.options, negotiation.pack)
        text = f"{text}; {best_text(best.least)}"
    return Verdict(status, title, in_its_noun(f"{text}.", design))


def last_plan_text(negotiation: Negotiation) -> str:
    """Return what the plan is called to which a negotiation has come."""
    if negotiation.outcome is None:
        return "the plan on the table"
    agreed = negotiation.outcome in (Outcome.AGREED, Outcome.AGREED_BELOW_FLOOR)
    return "the agreed plan" if agreed else "the last plan of the negotiation"


def _with_plan(negotiation: Negotiation, plan: assessment.Assessment, title: str) -> str:
    number, ending, size = len(negotiation.rounds), negotiation.ending, plan_size(plan)
    if negotiation.outcome is Outcome.NO_DEAL:
        stands = f"the last plan was {size}, and {_passing_text(plan)}"
        return f"{title} after round {number}: {ending}; {stands}"
    if negotiation.outcome is Outcome.FALSE_AGREEMENT:
        why = "does not approve" if plan.lab_feasible else "cannot run"
        fails = f"{assessment.failing_text(plan)}, so the lab {why} the plan of {size}"
        return f"{title} in round {number}: {ending}, but {fails}"
    return f"{title} in round {number}: {size}; {_placed_text(plan)}"


def _so_far(negotiation: Negotiation) -> str:
    """Return which round is next, and what is on the table."""
    state = negotiation.state
    number, most = len(negotiation.rounds), state.max_rounds
    here = f"Next is round {number + 1} of at most {most}"
    if negotiation.awaits_reply:
        here = f"Round {number} of at most {most} waits for the Lab Manager"
    if state.plan is None:
        return f"{here}: no plan is on the table yet"
    stands = f"{plan_size(state.plan)}, and {_passing_text(state.plan)}"
    text = f"{here}: on the table is the plan of {stands}{_but_breaks(state.plan)}"
    if state.offer is None:
        return text
    offer = f"{assessment.size_text(state.offer)}: {assessment.placed_text(state.offer.evidence)}"
    return f"{text}; the Lab Manager offers {offer}{_but_breaks(state.offer)}"


def _but_breaks(plan: assessment.Assessment) -> str:
    """Return the cautions of a plan, to go on in a sentence; empty if none."""
    text = assessment.cautions_text(plan)
    return f"; it {text}" if text else ""


def _placed_text(plan: assessment.Assessment) -> str:
    """Return the tier of a plan's evidence, to go on in a sentence."""
    text = evidence_sentence(plan.evidence).removesuffix(".")
    return f"{text[0].lower()}{text[1:]}"


# --- who gave what ----------------------------------------------------------------------------


def ledger_sentence(concessions: Sequence[Concession]) -> str:
    """Return who gave what in all: credits and evidence, side by side."""
    totals = {concession.who: concession.total for concession in concessions}
    scientist, manager = totals.get(models.Role.SCIENTIST), totals.get(models.Role.LAB_MANAGER)
    currency = concessions[0].step.after.pack.lab.currency if concessions else CREDITS
    money = partial(money_text, currency=currency)
    given = "gave nothing"
    if scientist is not None:
        saved, evidence = scientist.credits_saved, _evidence_given(scientist)
        if saved > 0:
            given = f"gave {money(saved)}"
        elif saved < 0:
            given = f"came to want {money(-saved)} more"
        elif evidence:
            given = f"gave no {currency}"
        given = f"{given} and {evidence}" if evidence else given
        if (lost := scientist.after.fidelity_loss - scientist.before.fidelity_loss) > 0:
            loss = f"took a fidelity loss of {lost}"
            given = loss if given == "gave nothing" else f"{given}, and {loss}"
    saved = manager.credits_saved if manager else 0
    spent = f"gave {money(-saved)}" if saved else "gave nothing"
    if saved > 0:
        spent = f"came to offer a plan {money(saved)} cheaper"
    if given == spent:
        return "Neither side gave anything."
    return f"The Scientist {given}; the Lab Manager {spent}."


def _evidence_given(total: PlanStep) -> str:
    """Return how much evidence a side gave up; the difference is that of the numbers shown."""
    before, after = total.before.evidence, total.after.evidence
    if not total.evidence_changed:
        return ""
    if before.row.scale.counted_off and not before.void_reason:
        left = Decimal(0) if after.void_reason else Decimal(after.amount(after.value))
        lost = Decimal(before.amount(before.value)) - left
        return f"{lost} of {before.measure}" if lost > 0 else f"won {-lost} of it back"
    if before.void_reason or after.void_reason:
        return f"went from {before.text} to {after.text}"
    was, now = before.amount(before.value), after.amount(after.value)
    return f"let {before.measure} go from {was} to {now}"


def change_rows(step: PlanStep) -> list[tuple[str, str, str]]:
    """Return each field that a step changes: its name, its value before, and its value after."""
    return [
        (_field_name(step, field), _value_text(field, old), _value_text(field, new))
        for field, old, new in step.fields
    ]


def _field_name(step: PlanStep, field: str) -> str:
    return step.after.pack.study.term(models.FIELD_LABELS[field])


def _value_text(field: str, value: int | str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(value) or "\u2013"
    return count_text(value, "day") if field == "duration_days" else amount_text(value)


def step_changes(step: PlanStep) -> str:
    """Return what a step changes: ``300 → 150 samples, 8 → 6 days, other equipment``.

    Items and wordings are not repeated: they stand in the round itself.
    """
    sizes, others = [], []
    for field, old, new in step.fields:
        if isinstance(old, int) and isinstance(new, int):
            sizes.append(f"{amount_text(old)} → {count_text(new, _SIZES[field])}")
        else:
            others.append(f"other {_field_name(step, field).lower()}")
    return ", ".join([*sizes, *others])


def signed_credits(step: PlanStep) -> str:
    """Return how a step moves a plan's cost: ``−1,550`` is cheaper, ``+50`` is dearer, ``±0``."""
    return signed_text(-step.credits_saved, "±")
