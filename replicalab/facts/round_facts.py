"""Panels of a negotiation: its outcome, each round, the concessions, and a fork."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from replicalab import agents, models, planner
from replicalab.assessment import Assessment, Slack, phrases
from replicalab.facts import blocks, change_facts, check_facts, negotiation_facts, plan_facts, texts
from replicalab.facts.blocks import Cell, Column, Status
from replicalab.facts.verdicts import ANSWERS, FIDELITY_MEANS, evidence_status, value_of
from replicalab.lexicon import amount_text, capitalised
from replicalab.negotiation import Attempt, Concession, Negotiation, Round, concession_steps, ledger


def outcome_panel(
    verdict: blocks.Verdict, title: str = "", *, is_open: bool = False
) -> blocks.Panel:
    """Return the outcome of a negotiation; an open one has no sign yet."""
    return blocks.panel("outcome", verdict=verdict, title=title, is_open=is_open)


def round_panel(negotiation: Negotiation, at: int, *, reworded: str = "") -> blocks.Panel:
    """Return a round in three columns: each side's move, and the plan on the table after it."""
    done, before = negotiation.rounds[at], negotiation.state_before(at).plan
    return blocks.panel(
        "round",
        number=at + 1,
        scientist=_scientist(before, done),
        manager=_manager(done),
        waits=negotiation.awaits_reply and at + 1 == len(negotiation.rounds),
        table=_on_the_table(before, done.plan) if done.plan else None,
        reworded=reworded,
        attempts=[_attempt(attempt) for attempt in done.attempts],
    )


def _scientist(before: Assessment | None, done: Round) -> dict[str, object]:
    action, plan = done.action, done.plan
    lines = list(action.questions) if action else []
    proposal = plan if action is not None and action.protocol is not None else None
    if proposal:
        lines = [f"{proposal.size_text}."]
    elif action is not None and action.action_type is models.ScientistActionType.ACCEPT:
        moves = plan is not None and (before is None or plan.plan != before.plan)
        lines = ["Takes the Lab Manager's offer." if moves else "Takes the plan."]
    return {
        "does": negotiation_facts.turn_title(done).lower(),
        "lines": lines,
        "rule": done.reason or texts.RULE_PERSON,
        "asks": done.only_asks,
        "plan": plan_facts.field_rows(proposal) if proposal else [],
    }


def _manager(done: Round) -> dict[str, object] | None:
    plan, verdict = done.plan, negotiation_facts.answer_verdict(done)
    offer = negotiation_facts.offered_plan(done)
    if verdict is None:
        return None
    checked = check_facts.check_table(plan) if plan else None
    if checked:  # in a narrow column
        columns = tuple(column._replace(bar="", picture="") for column in checked.columns)
        checked = replace(checked, columns=columns, below=(), kind="")
    return {
        "verdict": verdict,
        "offer": negotiation_facts.numbers_text(offer) if offer else "",
        "breaks": negotiation_facts.offer_breaks_text(done),
        "answers": plan is None or done.only_asks,
        "parts": negotiation_facts.answer_parts(done),
        "rule": negotiation_facts.answer_rule(done),
        "checked": checked,
    }


class NumberChange(NamedTuple):
    """A number of a plan: the old value if it differs, the new one, its limit and its bar."""

    name: str
    was: str
    now: str
    limit: str
    bar: blocks.Bar | None = None
    status: str = ""


def _on_the_table(before: Assessment | None, now: Assessment) -> dict[str, object]:
    step = planner.PlanStep(before or now, now)
    return {
        "amounts": amounts(step),
        "others": negotiation_facts.change_rows(step, models.NUMBER_FIELDS),
        "opening": before is None,
        "nothing": before is not None and not step.fields,
        "failing": f"{plan_facts.excess_text(now)}." if now.failing else "",
        "breaks": plan_facts.cautions_sentence(now),
    }


def amounts(step: planner.PlanStep) -> list[NumberChange]:
    """Return samples, days, credits and evidence as a step moves them, with their limits."""
    before, now = step.before, step.after
    samples, evidence, currency = now.counts.samples, now.evidence, now.pack.lab.currency
    groups = plan_facts.group_text(samples, now.pack.design)
    parts = filter(None, (groups, phrases.analysed_text(samples, evidence.analysed)))
    schedule, budget = now.slack[models.Dimension.SCHEDULE], now.slack[models.Dimension.BUDGET]
    days, last_day = (before.counts.days, now.counts.days), now.last_day_text
    was = before.evidence.number if step.evidence_changed else ""
    bar = check_facts.evidence_bar(evidence, [before.evidence, evidence], before.evidence)
    shown = evidence.title, was, evidence.number, plan_facts.bounds_text(evidence)
    return [
        _amount("Samples", before.counts.samples, samples, ", ".join(parts)),
        _amount("Days", *days, last_day, schedule),
        _amount(capitalised(currency), before.cost, now.cost, "", budget),
        NumberChange(*shown, bar, evidence_status(evidence)),
    ]


def _amount(
    name: str, old: float, new: float, note: str, slack: Slack | None = None
) -> NumberChange:
    numbers = name, amount_text(old) if old != new else "", amount_text(new)
    if slack is None:
        return NumberChange(*numbers, note)
    limit, status = f"of {amount_text(slack.limit)}{note}", Status.PASS if slack.ok else Status.FAIL
    return NumberChange(*numbers, limit, check_facts.slack_bar(slack), status)


def attempts_panel(attempts: Sequence[Attempt]) -> blocks.Panel:
    """Return each attempt of a model, folded, with the full texts sent and received."""
    return blocks.panel("attempts", attempts=[_attempt(attempt) for attempt in attempts])


def _attempt(attempt: Attempt) -> dict[str, object]:
    output = attempt.output
    counts = output.prompt_tokens, output.completion_tokens
    sent, came = ("unknown" if tokens is None else f"{tokens:,}" for tokens in counts)
    ended = f", ended by {output.finish_reason}" if output.finish_reason else ""
    verdict = "no answer" if output.text is None else "a valid action"
    if attempt.error_code is not None:
        verdict = f"no valid action ({attempt.error_code})"
    lines = {
        "Error": attempt.error_message,
        "Failure": output.failure,
        "Raw output": output.text,
        "Parsed action": attempt.action and attempt.action.model_dump_json(indent=1),
        "Correction prompt": attempt.correction_prompt,
        "Observation": attempt.observation,
        "System prompt": attempt.system_prompt,
    }
    return {
        "title": f"Attempt {attempt.number}: {verdict}",
        "usage": f"{sent} tokens sent, {came} received, {output.seconds:.1f} s{ended}",
        "texts": [(title, text or "(empty)") for title, text in lines.items() if text is not None],
    }


def rounds_table(negotiation: Negotiation, at: int) -> blocks.Table:
    """Return the rounds up to one."""
    pack, rows = negotiation.pack, list[tuple[Cell | str, ...]]()
    for done in negotiation.rounds[: at + 1]:
        plan, offer, objections = done.plan, negotiation_facts.offered_plan(done), ""
        cost = evidence = Cell("–")
        if plan:
            objections = capitalised(phrases.dimensions_text(pack, plan.failing)) or "none"
            cost, shade = blocks.number_cell(plan.cost), evidence_status(plan.evidence)
            evidence = Cell(plan.evidence.number, value_of(plan.evidence), shade=shade)
        change = negotiation_facts.round_change(negotiation.state_before(done.number).plan, done)
        offered = negotiation_facts.numbers_text(offer) if offer else "–"
        number = blocks.number_cell(done.number + 1)
        rows.append((number, change, objections or "–", offered, cost, evidence))
    measure = next((done.plan.evidence.title for done in negotiation.rounds if done.plan), "")
    columns = (
        Column("Round", "fixed"),
        *("Change", "Objections", "Lab Manager’s offer"),
        Column(capitalised(pack.lab.currency), "number"),
        Column(measure or "Evidence", "number"),
    )
    return blocks.table("The rounds", columns, rows, kind="rounds", scrolls=True)


def rounds_panel(negotiation: Negotiation, at: int) -> blocks.Group:
    """Return the rounds up to one, and the Simple rule's run in one line."""
    rule = negotiation_facts.simple_rule_text(negotiation_facts.simple_rule_run(negotiation))
    return blocks.group(rounds_table(negotiation, at), blocks.Sentence(rule, quiet=True))


def ledger_panel(negotiation: Negotiation) -> blocks.Group:
    """Return the Scientist's concessions, step by step, and the Lab Manager's in all."""
    steps = concession_steps(negotiation)
    offers = [
        concession.total
        for concession in ledger(negotiation)
        if concession.who is models.Role.LAB_MANAGER and concession.counts
    ]
    block: blocks.Block = blocks.Sentence("Neither side gave anything.")
    if steps or offers:
        block = given_up_table(steps, suggested(negotiation), offers[-1:])
    return blocks.group(blocks.Heading("Concessions"), block)


def suggested(negotiation: Negotiation) -> list[agents.SuggestionChange]:
    """Return every change that the Lab Manager or the planner suggested, with its loss."""
    changes = [change for done in negotiation.rounds if done.offer for change in done.offer.changes]
    first = next((done.after.options for done in negotiation.rounds if done.after.options), None)
    return [*changes, *(first.least.changes if first else ())]


def given_up_table(
    steps: Sequence[Concession],
    changes: Iterable[agents.SuggestionChange],
    manager: Sequence[planner.PlanStep] = (),
) -> blocks.Table:
    """Return each concession with its saving and loss, their sum, and the Lab Manager's offers."""
    changes, made = list(changes), [concession.step for concession in steps]
    whole = [planner.PlanStep(made[0].before, made[-1].after)] if made else []
    pack = next(iter([*made, *manager])).after.pack
    costs = [plan.cost for step in made for plan in step[:2]] or [0.0]
    minimum, span = min(costs), max(costs) - min(costs) or 1.0
    evidences = [plan.evidence for step in [*made, *manager] for plan in step[:2]]
    named = [
        *((negotiation_facts.field_change(step), step) for step in made),
        *(("In all", step) for step in whole),
        *(("Against the Lab Manager’s offer", step) for step in manager),
    ]
    rows: list[tuple[Cell | str, ...]] = []
    for at, (change, step) in enumerate(named):
        begins, ends = sorted((plan.cost - minimum) / span for plan in step[:2])
        bar = None if step in manager else blocks.Bar(ends, begins=begins)
        before, after = step.before, step.after
        moved = f"{before.evidence.number} → {after.evidence.number}"
        losses = before.fidelity_loss, after.fidelity_loss
        rows.append(
            (
                change,
                Cell(negotiation_facts.signed_credits(step), -step.credits_saved, bar=bar),
                Cell(
                    moved if step.evidence_changed else "unchanged",
                    bar=check_facts.evidence_bar(after.evidence, evidences, before.evidence),
                    shade=evidence_status(after.evidence),
                ),
                f"{losses[0]} → {losses[1]}" if losses[0] != losses[1] else "–",
                change_facts.lost_text(step, changes) or "–" if at < len(made) else "",
            )
        )
    columns = (
        "Change",
        Column(capitalised(pack.lab.currency), "number", "after"),
        Column(evidences[0].title, bar="after"),
        Column("Fidelity loss", meaning=FIDELITY_MEANS),
        "Loss",
    )
    totals = len(named) - len(made)
    return blocks.table("Concessions", columns, rows, totals=totals, kind="given", scrolls=True)


def forks_panel(
    pairs: Sequence[tuple[Round | None, Round | None]],
    start: int,
    named: tuple[str, str] = ("The run", "The fork"),
) -> blocks.Group:
    """Return both courses round by round, by their names."""
    names = ("Round", named[0], "Answer", named[1], "Answer to it")
    courses = [(_course(old), _course(new)) for old, new in pairs]
    rows = [(str(number), *old, *new) for number, (old, new) in enumerate(courses, start)]
    same = all(old == new for old, new in courses)
    return blocks.group(
        blocks.Sentence("The fork made no difference.") if same else None,
        blocks.table("Run and fork, round by round", names, rows, kind="forks", scrolls=True),
    )


def _course(done: Round | None) -> tuple[str, str]:
    if done is None:
        return "–", "–"
    answer = ANSWERS[done.answer.action_type].title if done.answer else "–"
    return f"{negotiation_facts.turn_title(done)}: {negotiation_facts.round_summary(done)}", answer
