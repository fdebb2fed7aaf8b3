"""What people read of a negotiation: each round in a line, who gave what, what a judge makes of it.

Every number stands in the trace or in its ledger; nothing is said that they do not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from replicalab.agents import check_feasibility
from replicalab.concessions import Concession, PlanPrice, plan_concession, plan_differences, price
from replicalab.lexicon import amount_text, count_text, joined
from replicalab.models import (
    DIMENSIONS,
    FIELD_LABELS,
    LabManagerActionType,
    Protocol,
    Role,
    ScientistActionType,
)
from replicalab.negotiation import (
    Gift,
    Judgement,
    Round,
    State,
    Trace,
)
from replicalab.negotiation.wording import size_text
from replicalab.scenarios import Pack
from replicalab.sentences.losing import saved_text
from replicalab.sentences.verdicts import (
    ANSWER_MEANINGS,
    ANSWER_STATUS,
    ANSWER_TITLES,
    Status,
    Verdict,
    failing_text,
    plan_size,
)

_TURN_TITLES: Final = {
    ScientistActionType.PROPOSE_PROTOCOL: "Proposes",
    ScientistActionType.REVISE_PROTOCOL: "Revises",
    ScientistActionType.REQUEST_INFO: "Asks",
    ScientistActionType.ACCEPT: "Accepts",
}
_ANSWER_RULES: Final = {
    LabManagerActionType.ACCEPT: "First in its order: all seven dimensions pass, so it accepts.",
    LabManagerActionType.REPORT_FEASIBILITY: (
        "Second in its order: the five lab constraints pass, but not all seven dimensions, so it "
        "reports."
    ),
    LabManagerActionType.SUGGEST_ALTERNATIVE: (
        "Third in its order: a lab constraint fails, and its changes improve the plan and leave no "
        "lab constraint failing, so it suggests them."
    ),
    LabManagerActionType.REJECT: (
        "Last in its order: a lab constraint fails, and no changes that it may make repair every "
        "one, so it rejects."
    ),
}
_SIZES: Final = {FIELD_LABELS["sample_size"]: "samples", FIELD_LABELS["duration_days"]: "days"}
"""The numbers of a plan by their labels, and what they count."""


def turn_title(done: Round) -> str:
    """Return what the Scientist did in a round, in one word or two."""
    action = done.scientist_action
    return "Walks away" if action is None else _TURN_TITLES[action.action_type]


def asked_only(done: Round) -> bool:
    """Return whether the Scientist only asked in a round."""
    action = done.scientist_action
    return action is not None and action.action_type is ScientistActionType.REQUEST_INFO


def answer_verdict(done: Round) -> Verdict | None:
    """Return what the Lab Manager's answer in a round means, None where it gives none."""
    answer = done.lab_manager_action
    if answer is None:
        return None
    if asked_only(done) or done.check is None:
        text = "Answers from the lab's own data; no plan was put forward."
        return Verdict(Status.CAUTION, "Answers", text)
    kind = answer.action_type
    return Verdict(ANSWER_STATUS[kind], ANSWER_TITLES[kind], ANSWER_MEANINGS[kind])


def answer_rule(done: Round) -> str:
    """Return the rule by which the Lab Manager answered as it did."""
    if done.lab_manager_action is None:
        return "Nobody waits for an answer: the Scientist has left."
    if asked_only(done):
        return "A question is answered from the lab's own data, never from the hidden reference."
    if done.check is None:
        return "There is no plan to check, so it asks for one."
    return _ANSWER_RULES[done.lab_manager_action.action_type]


# --- where it stands --------------------------------------------------------------------------


def on_the_table(plan: Protocol, scenario: Pack) -> str:
    """Return a plan in numbers: size, credits, evidence, and what fails."""
    check, priced = check_feasibility(plan, scenario), price(plan, scenario)
    verdict = failing_text(check.failing) if check.failing else "all seven dimensions pass"
    budget = scenario.lab.budget
    return f"{plan_size(plan, check, budget)}, {priced.evidence.text}; {verdict}"


def move_text(state: State) -> str:
    """Return whose turn it is, and which round of how many."""
    return f"Your move: round {state.round_number + 1} of {state.max_rounds}"


# --- a round in a line ------------------------------------------------------------------------


def round_caption(trace: Trace, at: int, scenario: Pack) -> str:
    """Return a round in one line of numbers; ``at`` counts from 0.

    ``Round 2: halving to 150 samples and cutting to 7 days saves 1,550 credits; power falls from
    0.86 to 0.58.``
    """
    before = trace.rounds[at - 1].plan if at else None
    return f"Round {at + 1}: {_what_happened(before, trace.rounds[at], scenario)}."


def _what_happened(before: Protocol | None, done: Round, scenario: Pack) -> str:
    if done.scientist_action is None:
        return "the Scientist walks away"
    if asked_only(done):
        return "the Scientist asks, and the lab answers from its own data"
    if done.plan is None:
        return "no plan is put forward"
    if before is None:
        return f"the Scientist opens with {on_the_table(done.plan, scenario)}"
    accepts = done.scientist_action.action_type is ScientistActionType.ACCEPT
    if before == done.plan:
        does = "accepts the plan" if accepts else "puts the same plan forward"
        return f"the Scientist {does}: {on_the_table(done.plan, scenario)}"
    offer = f"taking the offer of {size_text(done.plan)}"
    moves = offer if accepts else joined(list(_moves(before, done.plan)))
    return f"{moves} {step_text(plan_concession(before, done.plan, scenario))}"


def _moves(before: Protocol, after: Protocol) -> Iterator[str]:
    """Yield each change as something that is done: ``halving to 150 samples``."""
    sizes = [
        (_verb(before.sample_size, after.sample_size), count_text(after.sample_size, "sample")),
        (_verb(before.duration_days, after.duration_days), count_text(after.duration_days, "day")),
    ]
    said = ""
    for verb, amount in sizes:
        if verb:
            yield amount if verb == said else f"{verb} to {amount}"
            said = verb
    others = [label.lower() for label, _, _ in plan_differences(before, after)]
    kept = [label for label in others if label not in ("sample size", "duration")]
    if kept:
        yield f"changing {joined(kept)}"


def _verb(old: int, new: int) -> str:
    if new >= old:
        return "raising" if new > old else ""
    return "halving" if new and new == old // 2 else "cutting"


def step_text(step: Concession) -> str:
    """Return what a step does: ``saves 1,550 credits; power falls from 0.86 to 0.58``."""
    return f"{saved_text(step)}; {_evidence_effect(step)}"


def _evidence_effect(step: Concession) -> str:
    old, new = step.old.evidence, step.new.evidence
    if not step.evidence_changed:
        return f"{new.text} stays" if not new.void else "there is still no evidence"
    if new.void:
        return f"{old.text} is lost: {new.void}"
    if old.void:
        return f"evidence returns: {new.text}"
    moves = "rises" if new.value > old.value else "falls"
    return f"{new.measure} {moves} from {old.amount(old.value)} to {new.amount(new.value)}"


# --- who gave what ----------------------------------------------------------------------------


def ledger_sentence(gifts: Sequence[Gift]) -> str:
    """Return who gave what in all: credits and evidence, side by side."""
    return f"{_scientist_gave(_total(gifts, Role.SCIENTIST))}; {_manager_gave(gifts)}."


def _total(gifts: Sequence[Gift], who: Role) -> Concession | None:
    return next((gift.total for gift in reversed(gifts) if gift.who is who), None)


def _scientist_gave(total: Concession | None) -> str:
    if total is None:
        return "The Scientist gave nothing"
    saved, evidence = total.credits_saved, _evidence_given(total.old, total.new)
    if saved < 0:
        return f"The Scientist came to want {amount_text(-saved)} credits more{_and(evidence)}"
    return f"The Scientist gave {amount_text(saved)} credits{_and(evidence)}"


def _and(evidence: str) -> str:
    return f" and {evidence}" if evidence else ""


def _evidence_given(old: PlanPrice, new: PlanPrice) -> str:
    """Return how much evidence a side gave up; the difference is that of the numbers shown."""
    before, after = old.evidence, new.evidence
    if before.text == after.text:
        return ""
    if before.row.scale.counted_off and not before.void:
        left = Decimal(0) if after.void else Decimal(after.amount(after.value))
        lost = Decimal(before.amount(before.value)) - left
        return f"{lost} of {before.measure}" if lost > 0 else f"won {-lost} of it back"
    if before.void or after.void:
        return f"went from {before.text} to {after.text}"
    was, now = before.amount(before.value), after.amount(after.value)
    return f"let {before.measure} go from {was} to {now}"


def _manager_gave(gifts: Sequence[Gift]) -> str:
    total = _total(gifts, Role.LAB_MANAGER)
    saved = total.credits_saved if total else 0
    if saved > 0:
        return f"the Lab Manager came to offer {amount_text(saved)} credits less"
    return f"the Lab Manager gave {amount_text(abs(saved))} credits"


def step_changes(step: Concession) -> str:
    """Return what a step changes: ``300 → 150 samples, 8 → 6 days, other equipment``.

    Items and wordings are not repeated: they stand in the round itself.
    """
    labels = step.label.split(", ")
    sizes = _sizes(labels, step.before.split("; "), step.after.split("; "))
    others = [f"other {label.lower()}" for label in labels if label not in _SIZES]
    return ", ".join([*sizes, *others])


def _sizes(labels: list[str], before: list[str], after: list[str]) -> Iterator[str]:
    """Yield the numbers that changed; a wording with a semicolon in it leaves only their names."""
    told = len(labels) == len(before) == len(after)
    for at, label in enumerate(labels):
        if label in _SIZES and not told:
            yield f"other {label.lower()}"
        elif label in _SIZES:
            old, new = (text[at].split()[0] for text in (before, after))
            yield f"{old} → {new} {_SIZES[label]}"


# --- what a judge sees ------------------------------------------------------------------------


def reward_formula(judgement: Judgement) -> str:
    """Return the reward with the parts that it is made of."""
    parts = (
        f"rigor {judgement.rigor:.2f} × feasibility {judgement.feasibility:.2f} × "
        f"fidelity {judgement.fidelity:.2f}"
    )
    if not judgement.agreed:
        return f"Reward 0.00: nothing was agreed. The plan itself: {parts}."
    return f"Reward {judgement.reward:.2f} = {parts}."


def judge_parts(judgement: Judgement) -> list[tuple[str, str, str]]:
    """Return each part of the reward: its name, its share, and what it is made of."""
    met = len(judgement.required) - len(judgement.missing)
    evidence = judgement.price.evidence
    return [
        (
            "Coverage",
            f"{judgement.coverage:.2f}",
            f"{met} of {count_text(len(judgement.required), 'required element')} addressed",
        ),
        (
            "Evidence",
            f"{judgement.attained:.2f}",
            f"{evidence.text} of a target of {evidence.amount(evidence.target)}",
        ),
        ("Rigor", f"{judgement.rigor:.2f}", "coverage × evidence"),
        (
            "Feasibility",
            f"{judgement.feasibility:.2f}",
            f"{judgement.passing} of {len(DIMENSIONS)} dimensions pass",
        ),
        (
            "Fidelity",
            f"{judgement.fidelity:.2f}",
            f"1 / (1 + {judgement.price.loss}), for what substitutions and dropped controls lose",
        ),
    ]


# --- two branches -----------------------------------------------------------------------------


def round_summary(done: Round, scenario: Pack) -> str:
    """Return a round's plan in a few numbers, for a narrow place."""
    if done.plan is None:
        return "no plan"
    priced = price(done.plan, scenario)
    return f"{size_text(done.plan)}, {amount_text(priced.credits)} credits, {priced.evidence.text}"
