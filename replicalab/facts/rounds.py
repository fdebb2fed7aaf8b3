"""Panels of a negotiation: how it ended, a round, all rounds, what was given up, two branches."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment, Evidence, Slack, failing_text, size_text
from replicalab.assessment.phrases import analysed_text, dimensions_text, last_day_text
from replicalab.facts import blocks, texts
from replicalab.facts import negotiation as facts
from replicalab.facts import plan as plans
from replicalab.facts.changes import lost_text
from replicalab.facts.check import evidence_bar, slack_bar
from replicalab.facts.verdicts import ANSWERS, FIDELITY_MEANS, evidence_status
from replicalab.lexicon import amount_text, capitalised, label_key
from replicalab.models import NUMBER_FIELDS, Dimension, Role, ScientistActionType
from replicalab.negotiation import Attempt, Concession, Negotiation, Round, concession_steps, ledger
from replicalab.planner import PlanStep
from replicalab.planner.least_loss import field_steps
from replicalab.scenarios import Design


def outcome_panel(
    verdict: blocks.Verdict, title: str = "", *, is_open: bool = False
) -> blocks.Panel:
    """Return how a negotiation ended; an open one has no sign yet."""
    return blocks.panel("outcome", verdict=verdict, title=title, is_open=is_open)


# --- a round ----------------------------------------------------------------------------------


def round_panel(negotiation: Negotiation, at: int, *, reworded: str = "") -> blocks.Panel:
    """Return a round in three columns: what each side did, and the plan on the table after it.

    Args:
        negotiation: with the round in it.
        at: the round, counted from 0.
        reworded: the answer in a model's words, empty if there are none.
    """
    done, before = negotiation.rounds[at], negotiation.state_before(at).plan
    design = negotiation.pack.design
    return blocks.panel(
        "round",
        number=at + 1,
        scientist=_scientist(before, done, design),
        manager=_manager(done, design),
        waits=negotiation.awaits_reply and at + 1 == len(negotiation.rounds),
        table=_on_the_table(before, done.plan) if done.plan else None,
        reworded=reworded,
        attempts=[_attempt(attempt) for attempt in done.attempts],
    )


def _scientist(before: Assessment | None, done: Round, design: Design) -> dict[str, object]:
    action, plan = done.action, done.plan
    text = list(action.questions) if action else []
    if action is not None and action.action_type is ScientistActionType.ACCEPT:
        moves = plan is not None and (before is None or plan.plan != before.plan)
        text = [texts.TAKES_OFFER if moves else texts.TAKES_PLAN]
    request = plan if action is not None and action.protocol is not None else None
    return {
        "does": facts.turn_title(done).lower(),
        "said": [f"{size_text(request)}."] if request else text,
        "rule": done.reason or texts.RULE_PERSON,
        "asks": done.only_asks,
        "plan": _whole_plan(request) if request else [],
    }


def _whole_plan(asked: Assessment) -> list[tuple[str, str]]:
    plan = asked.plan
    record = {label_key(control.name): control.guards for control in asked.pack.controls}
    guards = [record.get(label_key(label), label) for label in plan.controls]
    guarded = "; ".join(filter(None, guards)) or (blocks.NOT_GIVEN if guards else "")
    items = (plan.controls, plan.required_equipment, plan.required_reagents)
    names = ("Controls", "Equipment", asked.pack.study.term("Reagents"))
    return [
        ("Technique", plan.technique),
        ("Protects against", guarded or "nothing: it has no controls"),
        *((name, ", ".join(labels) or "none") for name, labels in zip(names, items, strict=True)),
        ("Rationale", plan.rationale),
    ]


def _manager(done: Round, design: Design) -> dict[str, object] | None:
    verdict, offer = facts.answer_verdict(done), facts.offered_plan(done)
    if verdict is None:
        return None
    parts = facts.answer_parts(done)
    return {
        "verdict": verdict,
        "offer": facts.numbers_text(offer) if offer else "",
        "breaks": facts.offer_breaks_text(done),
        "answers": done.plan is None or done.only_asks,
        "parts": {title: [*lines] for title, lines in parts.items()},
        "rule": facts.answer_rule(done),
        "checked": []
        if done.plan is None
        else [
            {
                "name": capitalised(done.plan.pack.study.term(slack.dimension)),
                "status": blocks.Status.PASS if slack.ok else blocks.Status.FAIL,
                "used": plans.used_text(done.plan, slack),
                "slack": plans.slack_text(slack),
            }
            for slack in done.plan.slack.values()
        ],
    }


class Amount(NamedTuple):
    """A number of a plan: what it was before, if it was another, its limit and its bar."""

    name: str
    was: str
    now: str
    limit: str
    bar: blocks.Bar | None = None
    status: str = ""


def _on_the_table(before: Assessment | None, now: Assessment) -> dict[str, object]:
    step = PlanStep(before or now, now)
    return {
        "amounts": amounts(step),
        "others": facts.change_rows(step, NUMBER_FIELDS),
        "opening": before is None,
        "nothing": before is not None and not step.fields,
        "failing": f"{capitalised(failing_text(now))}." if now.failing else "",
        "breaks": plans.cautions_sentence(now),
    }


def amounts(step: PlanStep) -> list[Amount]:
    """Return samples, days, credits and evidence as a step moves them, with their limits."""
    before, now = step.before, step.after
    currency = capitalised(now.pack.lab.currency)
    samples, was, evidence = now.counts.samples, before.evidence, now.evidence
    shared = plans.group_text(samples, now.pack.design), analysed_text(samples, evidence.analysed)
    had = before.counts.samples
    return [
        Amount(
            "Samples",
            amount_text(had) if had != samples else "",
            amount_text(samples),
            ", ".join(filter(None, shared)),
        ),
        _limited(
            "Days",
            before.counts.days,
            now.counts.days,
            now.slack[Dimension.SCHEDULE],
            last_day_text(now),
        ),
        _limited(currency, before.cost, now.cost, now.slack[Dimension.BUDGET]),
        Amount(
            evidence.title,
            was.number if step.evidence_changed else "",
            evidence.number,
            bounds_text(evidence),
            evidence_bar(evidence, [was, evidence], was),
            evidence_status(evidence),
        ),
    ]


def bounds_text(evidence: Evidence) -> str:
    """Return target and floor: ``target 0.80, floor 0.50``."""
    return f"target {evidence.amount(evidence.target)}, floor {evidence.amount(evidence.floor)}"


def _limited(name: str, was: float, now: float, slack: Slack, dated: str = "") -> Amount:
    moved = amount_text(was) if was != now else ""
    status = blocks.Status.PASS if slack.ok else blocks.Status.FAIL
    limit = f"of {amount_text(slack.limit)}{dated}"
    return Amount(name, moved, amount_text(now), limit, slack_bar(slack), status)


# --- a model's attempts -----------------------------------------------------------------------


def attempts_panel(attempts: Sequence[Attempt]) -> blocks.Panel:
    """Return each attempt of a model, folded: all that was said to it and by it."""
    return blocks.panel("attempts", attempts=[_attempt(attempt) for attempt in attempts])


def _attempt(attempt: Attempt) -> dict[str, object]:
    output = attempt.output
    sent, came = (
        "unknown" if tokens is None else f"{tokens:,}"
        for tokens in (output.prompt_tokens, output.completion_tokens)
    )
    ended = f", ended by {output.finish_reason}" if output.finish_reason else ""
    verdict = "no answer" if attempt.output.text is None else "a valid action"
    if attempt.error_code is not None:
        verdict = f"no valid action ({attempt.error_code})"
    action = attempt.action.model_dump_json(indent=1) if attempt.action else None
    texts = (
        ("What was wrong", attempt.error_message),
        ("Why there is no answer", attempt.output.failure),
        ("Raw output", attempt.output.text),
        ("Parsed action", action),
        ("Correction prompt", attempt.correction_prompt),
        ("Observation", attempt.observation),
        ("System prompt", attempt.system_prompt),
    )
    return {
        "title": f"Attempt {attempt.number}: {verdict}",
        "usage": f"{sent} tokens sent, {came} received, {output.seconds:.1f} s{ended}",
        "texts": [(title, text or "(empty)") for title, text in texts if text is not None],
    }


# --- the whole run ----------------------------------------------------------------------------


def rounds_panel(negotiation: Negotiation, at: int) -> blocks.Group:
    """Return the rounds up to one as a table, and the Simple rule's run in one line."""
    pack = negotiation.pack
    rows: list[tuple[blocks.Cell | str, ...]] = []
    for done in negotiation.rounds[: at + 1]:
        plan, offer = done.plan, facts.offered_plan(done)
        change = _round_change(negotiation.state_before(done.number).plan, done)
        rows.append(
            (
                str(done.number + 1),
                change,
                capitalised(dimensions_text(pack, plan.failing)) or "none" if plan else "–",
                facts.numbers_text(offer) if offer else "–",
                amount_text(plan.cost) if plan else "–",
                blocks.Cell(plan.evidence.number, shade=evidence_status(plan.evidence))
                if plan
                else "–",
            )
        )
    measure = next((done.plan.evidence.title for done in negotiation.rounds if done.plan), "")
    columns = (
        blocks.Column("Round", "fixed"),
        *("Change", "Objections", "Lab Manager’s offer"),
        blocks.Column(capitalised(pack.lab.currency), "number"),
        blocks.Column(measure or "Evidence", "number"),
    )
    return blocks.group(
        blocks.table("The rounds", columns, rows, kind="rounds", scrolls=True),
        blocks.Sentence(facts.simple_rule_text(facts.simple_rule_run(negotiation)), quiet=True),
    )


def _round_change(before: Assessment | None, done: Round) -> str:
    if done.plan is None or done.only_asks or done.action is None:
        return facts.turn_title(done).lower()
    if before is None:
        return f"opens with {size_text(done.plan)}"
    accepts = done.action.action_type is ScientistActionType.ACCEPT
    changes = [
        _what_changed(field_step)
        for field_step in field_steps(before, done.plan)
        if field_step.fields[0].field != "rationale"
    ]
    return ", ".join(["accepts", *changes] if accepts else changes) or "none"


def ledger_panel(negotiation: Negotiation) -> blocks.Group:
    """Return what the Scientist gave up, step by step, and how far the Lab Manager moved."""
    steps, moved = concession_steps(negotiation), ledger(negotiation)
    offers = [
        concession
        for concession in moved
        if concession.who is Role.LAB_MANAGER and concession.counts
    ]
    manager = [offer.total for offer in offers[-1:]]
    sentence = blocks.Sentence("" if steps or manager else texts.NOTHING_GIVEN)
    rows = given_up_table(steps, suggested(negotiation), manager) if steps or manager else None
    return blocks.group(blocks.Heading("What was given up"), sentence, rows)


def suggested(negotiation: Negotiation) -> list[SuggestionChange]:
    """Return every change that the Lab Manager or the planner suggested, with its loss."""
    changes = [change for done in negotiation.rounds if done.offer for change in done.offer.changes]
    first = next((done.after.options for done in negotiation.rounds if done.after.options), None)
    return [*changes, *(first.least.changes if first else ())]


def given_up_table(
    steps: Sequence[Concession],
    changes: Iterable[SuggestionChange],
    manager: Sequence[PlanStep] = (),
) -> blocks.Table:
    """Return each concession with the credits it saves and the evidence it loses, and the sum.

    The bars stand one after the other: where one ends the next begins. ``manager`` is the step of
    all the Lab Manager's offers.
    """
    changes, made = list(changes), [concession.step for concession in steps]
    whole = [PlanStep(made[0].before, made[-1].after)] if made else []
    first = next(iter([*made, *manager]))
    costs = [plan.cost for step in made for plan in step[:2]] or [0.0]
    minimum, span = min(costs), max(costs) - min(costs) or 1.0
    evidences = [plan.evidence for step in [*made, *manager] for plan in step[:2]]
    named = [
        *((_what_changed(step), step) for step in made),
        *(("In all", step) for step in whole),
        *(("Lab Manager’s offers", step) for step in manager),
    ]
    rows: list[tuple[blocks.Cell | str, ...]] = []
    for at, (what, step) in enumerate(named):
        begins, ends = sorted((plan.cost - minimum) / span for plan in step[:2])
        bar = None if step in manager else blocks.Bar(ends, begins=begins)
        both = step.before.evidence.number, step.after.evidence.number
        lost = lost_text(step, changes) if at < len(made) else ""
        rows.append(
            (
                what,
                blocks.Cell(facts.signed_credits(step), -step.credits_saved, bar=bar),
                blocks.Cell(
                    " → ".join(both) if step.evidence_changed else "unchanged",
                    bar=evidence_bar(step.after.evidence, evidences, step.before.evidence),
                    shade=evidence_status(step.after.evidence),
                ),
                _loss_moved(step),
                lost or ("–" if at < len(made) else ""),
            )
        )
    columns = (
        "What",
        blocks.Column(capitalised(first.after.pack.lab.currency), "number", "after"),
        blocks.Column(first.after.evidence.title, bar="after"),
        blocks.Column("Fidelity loss", meaning=FIDELITY_MEANS),
        "What is lost",
    )
    totals = len(named) - len(made)
    return blocks.table(
        "What was given up", columns, rows, totals=totals, kind="given", scrolls=True
    )


def _loss_moved(step: PlanStep) -> str:
    old, new = step.before.fidelity_loss, step.after.fidelity_loss
    return f"{old} → {new}" if old != new else "–"


def _what_changed(step: PlanStep) -> str:
    """Return what a step of one field changes: ``21 → 15 days``, ``flume → arena``."""
    if isinstance(step.fields[0].after, int):
        return facts.step_changes(step)
    [(_, old, new)] = facts.change_rows(step)
    return f"{old} → {new}" if step.fields[0].after else f"without {old}"


# --- two branches -----------------------------------------------------------------------------


def branches_panel(
    pairs: Sequence[tuple[Round | None, Round | None]],
    start: int,
    named: tuple[str, str] = ("The run", "The fork"),
) -> blocks.Group:
    """Return both courses round by round, by their names."""
    names = ("Round", named[0], "Answer", named[1], "Answer to it")
    rows = [
        (str(number), *_course(old), *_course(new))
        for number, (old, new) in enumerate(pairs, start)
    ]
    same = all(_course(old) == _course(new) for old, new in pairs)
    return blocks.group(
        blocks.Sentence(texts.SAME_COURSE) if same else None,
        blocks.table("Run and fork, round by round", names, rows, kind="branches", scrolls=True),
    )


def _course(done: Round | None) -> tuple[str, str]:
    if done is None:
        return "–", "–"
    answer = ANSWERS[done.answer.action_type].title if done.answer else "–"
    return f"{facts.turn_title(done)}: {facts.round_summary(done)}", answer
