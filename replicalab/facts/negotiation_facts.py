"""Sentences on a negotiation: its players, each round, each step, and the outcome."""

from collections.abc import Collection
from typing import Final, NamedTuple

from replicalab import assessment, models
from replicalab import negotiation as core
from replicalab.facts import texts
from replicalab.facts.blocks import Status, Verdict
from replicalab.facts.lab_facts import lab_text
from replicalab.facts.plan_facts import listed
from replicalab.facts.verdicts import ALL_PASS, ANSWERS, agreed_status, plan_size
from replicalab.lexicon import amount_text, capitalised, count_text, signed_text
from replicalab.models import LabManagerActionType, ScientistActionType
from replicalab.planner import PlanStep
from replicalab.planner.least_loss import field_steps


class Player(NamedTuple):
    """A player and its rule."""

    name: str
    rule: str


SCIENTISTS: Final = {
    core.ScientistKind.STEP_BY_STEP: Player(
        "Step by step",
        "Opens with the plan and gives up one thing each round, until a plan passes. Leaves "
        "before the evidence falls below the floor.",
    ),
    core.ScientistKind.DIRECT: Player(
        "Direct",
        "Opens with the plan. Accepts an offer that meets the target, else proposes the least-loss "
        "plan. Leaves if no plan reaches the floor.",
    ),
    core.ScientistKind.PERSON: Player(
        "You",
        "You propose, ask, accept or walk away, and see the Lab Manager's answer at each round.",
    ),
    core.ScientistKind.MODEL: Player(
        "Language model", "Chooses its own plans. Its text is read as data, and the checks decide."
    ),
    core.ScientistKind.BASELINE: Player(
        "Simple rule",
        "For contrast. Halves the sample and drops a day while the answer names an obstacle; else, "
        "and in the last round, accepts.",
    ),
}
RECORDED: Final = Player(
    "Recorded run", "Shows a negotiation that was saved earlier. Nothing is asked of any model."
)
LAB_MANAGERS: Final = {
    core.LabManagerKind.REFERENCE: Player(
        "Reference", "Substitutes items, cuts days, then halves the sample until the budget fits."
    ),
    core.LabManagerKind.LEAST_LOSS: Player("Least-loss", "Offers the least-loss plan of this lab."),
    core.LabManagerKind.PERSON: Player(
        "You", "You accept, reject or counter each plan that the Scientist puts forward."
    ),
}

OUTCOME_TITLES: Final = {
    core.Outcome.AGREED: "Agreed",
    core.Outcome.AGREED_BELOW_FLOOR: "Agreed below the floor",
    core.Outcome.FALSE_AGREEMENT: "False agreement",
    core.Outcome.NO_DEAL: "No deal",
}
OUTCOME_STATUS: Final = {
    core.Outcome.AGREED: Status.PASS,
    core.Outcome.AGREED_BELOW_FLOOR: Status.FAIL,
    core.Outcome.FALSE_AGREEMENT: Status.FAIL,
    core.Outcome.NO_DEAL: Status.FAIL,
}

_TURNS: Final = {
    None: "Walks away",
    ScientistActionType.PROPOSE_PROTOCOL: "Proposes",
    ScientistActionType.REVISE_PROTOCOL: "Revises",
    ScientistActionType.REQUEST_INFO: "Asks",
    ScientistActionType.ACCEPT: "Accepts",
}


def turn_title(done: core.Round) -> str:
    """Return the Scientist's move in a round: ``Proposes``."""
    return _TURNS[done.action.action_type if done.action else None]


def answer_verdict(done: core.Round) -> Verdict | None:
    """Return the Lab Manager's answer in a round, None if missing."""
    if done.answer is None:
        return None
    if done.only_asks or done.plan is None:
        text = "Answers from the lab's own data; no plan was put forward."
        return Verdict(Status.CAUTION, "Answers", text)
    if done.reply and done.reply.counter:
        return Verdict(Status.CAUTION, "Suggests changes", "A person offers another plan.")
    if done.reply and not done.reply.accepts:
        return Verdict(Status.FAIL, "Rejects", "A person rejects the plan.")
    return ANSWERS[done.answer.action_type]


def answer_rule(done: core.Round) -> str:
    """Return the rule by which the Lab Manager answered; empty without an answer."""
    if done.answer is None or done.reply:
        return texts.RULE_PERSON if done.reply else ""
    if done.only_asks or done.plan is None:
        return texts.RULE_QUESTION
    return texts.RULES[done.answer.action_type]


def answer_parts(done: core.Round) -> dict[str, list[str]]:
    """Return the Lab Manager's objections and changes, or its answer to a question."""
    if done.answer is None:
        return {}
    if done.only_asks or done.plan is None:
        return {"Answer": [done.answer.explanation]}
    plan, term = done.plan, done.plan.pack.study.term
    changes = done.offer.changes if done.offer and offered_plan(done) else ()
    parts = {
        "Objections": [
            f"{term(name)}: {reason}" for name, why in plan.reasons.items() for reason in why
        ],
        "Changes": [
            f"{term(models.FIELD_LABELS[change.field])}: {change.original} → {change.revised}. "
            f"{change.reason} Lost: {change.tradeoff}"
            for change in changes
        ],
    }
    return {title: lines for title, lines in parts.items() if lines}


def offer_breaks_text(done: core.Round) -> str:
    """Return the cautions of the Lab Manager's offer in a round; empty if none."""
    offer = offered_plan(done)
    text = offer.cautions_text if offer else ""
    return f"The offer {text}." if text else ""


def offered_plan(done: core.Round) -> assessment.Assessment | None:
    """Return the plan that the Lab Manager offers in a round, None if missing."""
    suggests = LabManagerActionType.SUGGEST_ALTERNATIVE
    if done.answer is None or done.offer is None:
        return None
    return done.offer.after if done.reply or done.answer.action_type is suggests else None


def kept_text(negotiation: core.Negotiation) -> str:
    """Return a name for a saved negotiation: study, lab, Scientist and number of rounds."""
    pack, rounds = negotiation.pack, count_text(len(negotiation.rounds), "round")
    player = SCIENTISTS[negotiation.setup.scientist].name
    return f"{pack.paper.title}, {lab_text(pack)}: {player}, {rounds}"


def round_summary(done: core.Round) -> str:
    """Return a round's plan in a few numbers, with its cautions."""
    if done.plan is None:
        return "no plan"
    parts = numbers_text(done.plan), done.plan.cautions_title
    return ", ".join(filter(None, parts))


def numbers_text(plan: assessment.Assessment) -> str:
    """Return the size, cost and evidence of a plan."""
    size = plan.size_text
    return f"{size}, {plan.pack.lab.money(plan.cost)}, {plan.evidence.text}"


def round_change(before: assessment.Assessment | None, done: core.Round) -> str:
    """Return the Scientist's change of the plan in a round: ``24 → 12 mice``, ``accepts``."""
    if done.plan is None or done.only_asks or done.action is None:
        return turn_title(done).lower()
    if before is None:
        return f"opens with {done.plan.size_text}"
    steps = field_steps(before, done.plan)
    changes = [field_change(step) for step in steps if step.fields[0].field != "rationale"]
    if done.action.action_type is ScientistActionType.ACCEPT:
        changes = ["accepts", *changes]
    return ", ".join(changes) or "no change"


def field_change(step: PlanStep) -> str:
    """Return the change of a step of one field: ``24 → 12 mice``, ``without blinding``."""
    if isinstance(step.fields[0].after, int):
        return step_changes(step)
    [(_, old, new)] = change_rows(step)
    return f"{old} → {new}" if step.fields[0].after else f"without {old}"


def round_caption(negotiation: core.Negotiation, at: int) -> str:
    """Return one line about a round; ``at`` counts from 0."""
    done = negotiation.rounds[at]
    parts = [round_change(negotiation.state_before(at).plan, done)]
    if (plan := done.plan) and not done.only_asks:
        parts += [plan.pack.lab.money(plan.cost), plan.evidence.text, _standing(plan)]
    return f"Round {at + 1}: {'; '.join(parts)}."


def simple_rule_run(negotiation: core.Negotiation) -> core.Negotiation | None:
    """Return the run of the Simple rule from the same opening; None if that is the run itself."""
    setup, pack = negotiation.setup, negotiation.pack
    if setup.scientist is core.ScientistKind.BASELINE:
        return None
    changed = {
        "scientist": core.ScientistKind.BASELINE,
        "lab_manager": core.LabManagerKind.REFERENCE,
        "opening": setup.opening or pack.reference_protocol,
        "forked_at": None,
    }
    return core.negotiate(core.Setup.model_validate({**dict(setup), **changed}), pack)


def simple_rule_text(run: core.Negotiation | None) -> str:
    """Return the samples and evidence of a run of the Simple rule in one line; empty without."""
    plans = [done.plan for done in run.rounds if done.plan] if run else []
    if not (run and run.outcome and plans):
        return ""
    steps = {plan.counts.samples: plan.evidence for plan in plans}
    *sizes, last = steps
    samples = [*map("{:,}".format, sizes), count_text(last, run.pack.design.sample_noun)]
    values = [plans[0].evidence.text, *[evidence.number for evidence in steps.values()][1:]]
    text = ", ".join(map(" → ".join, (samples, values)))
    return texts.SIMPLE_RULE.format(steps=text, outcome=OUTCOME_TITLES[run.outcome].lower())


def outcome_verdict(negotiation: core.Negotiation) -> Verdict:
    """Return the outcome in one sentence, or the plan on the table of an open negotiation."""
    outcome, plan = negotiation.outcome, negotiation.final_plan
    if outcome is None:
        return _open_verdict(negotiation)
    title, status, ending = OUTCOME_TITLES[outcome], OUTCOME_STATUS[outcome], negotiation.ending
    number = len(negotiation.rounds)
    if plan is None:
        text = f"{title}: {ending} with no plan on the table"
    elif outcome in (core.Outcome.AGREED, core.Outcome.AGREED_BELOW_FLOOR):
        status = agreed_status(plan)
        text = f"{title} in round {number}: {plan_size(plan)}; {plan.evidence.placed_text}"
    else:
        text = f"{title} after round {number}: {ending}. The last plan was {_judged_size(plan)}"
    text += _cautions(plan)
    if outcome is not core.Outcome.AGREED:
        best = core.best_options(negotiation.state.options, negotiation.pack).least
        text += f". {capitalised(core.best_text(best))}"
    return Verdict(status, title, f"{text}.")


def _open_verdict(negotiation: core.Negotiation) -> Verdict:
    state, waits = negotiation.state, negotiation.awaits_reply
    number = len(negotiation.rounds) + (not waits)
    does = "waits for the Lab Manager" if waits else "is next"
    plan = state.plan
    table = f"The last plan is {_judged_size(plan)}" if plan else "No plan is on the table yet"
    text = f"Round {number} of at most {state.max_rounds} {does}. {table}{_cautions(plan)}"
    if offer := state.offer:
        text += f". The Lab Manager offers {offer.size_text}: {offer.evidence.placed_text}"
        text += _cautions(offer, "offer")
    return Verdict(Status.CAUTION, "Still open", f"{text}.")


def _judged_size(plan: assessment.Assessment) -> str:
    return f"{plan_size(plan)}, and {_standing(plan)}"


def _standing(plan: assessment.Assessment) -> str:
    return plan.fails_text if plan.failing else ALL_PASS


def _cautions(plan: assessment.Assessment | None, name: str = "plan") -> str:
    text = plan.cautions_text if plan else ""
    return f". The {name} {text}" if text else ""


def change_rows(step: PlanStep, skip: Collection[str] = ()) -> list[tuple[str, str, str]]:
    """Return name, old and new value of each field that a step changes."""
    term = step.after.pack.study.term
    return [
        (term(models.FIELD_LABELS[field]), _value_text(field, old), _value_text(field, new))
        for field, old, new in step.fields
        if field not in skip
    ]


def _value_text(field: str, value: int | str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "–"
    if isinstance(value, str):
        return value
    return count_text(value, "day") if field == "duration_days" else amount_text(value)


def step_changes(step: PlanStep, moved: str = texts.MOVED) -> str:
    """Return the changes of a step: ``300 → 150 samples, 8 → 6 days, other equipment``."""
    pack = step.after.pack
    nouns, sizes, others = {"sample_size": pack.design.sample_noun, "duration_days": "day"}, [], []
    for field, old, new in step.fields:
        if isinstance(old, int) and isinstance(new, int):
            sizes.append(moved.format(amount_text(old), count_text(new, nouns[field])))
        elif isinstance(old, tuple) and isinstance(new, tuple) and {*new} < {*old}:
            others.append(listed("without ", [entry for entry in old if entry not in new]))
        else:
            others.append(f"other {pack.study.term(models.FIELD_LABELS[field]).lower()}")
    return ", ".join([*sizes, *others])


def signed_credits(step: PlanStep) -> str:
    """Return a step's change of the cost: ``−1,550``, ``+50``, ``±0``."""
    return signed_text(-step.credits_saved, "±")
