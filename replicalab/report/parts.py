"""The parts that both documents have: verdict, changes, evidence, cost, what it would take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from replicalab.agents import SuggestionChange
from replicalab.agents.suggestions import DROPPED
from replicalab.assessment import Assessment, Evidence, assess
from replicalab.lexicon import amount_text, capitalised, count_text, lines_text, shortened
from replicalab.panels.drawing import Bar
from replicalab.panels.plan import cost_bar, evidence_bar, slack_bar
from replicalab.planner import Options, PlanStep
from replicalab.planner.steps import field_steps
from replicalab.report.document import (
    NOT_GIVEN,
    Block,
    Cell,
    Listing,
    Sentence,
    Table,
    row,
)
from replicalab.text.negotiation import change_rows, signed_credits
from replicalab.text.options import difference_text, take_parts
from replicalab.text.plan import (
    fidelity_move,
    protection_losses,
    slack_text,
    term_text,
    unreached_days_text,
    used_text,
)
from replicalab.text.verdicts import Status, Verdict, evidence_status, plan_size

LEAST: Final = "Least-loss plan"
OFFERED: Final = "Lab Manager's plan"


def original_of(plan: Assessment) -> Assessment:
    """Return the study's reference protocol in the lab of a plan; the plan itself where it is it.

    A document tells every plan beside it.
    """
    pack = plan.pack
    same = plan.plan == pack.reference_protocol
    return plan if same else assess(pack.reference_protocol, pack)


def verdict_sentence(verdict: Verdict) -> Sentence:
    """Return a verdict behind its sign, its first sentence in bold."""
    first, stop, rest = verdict.text.partition(". ")
    return Sentence(rest, f"{first}{stop.rstrip()}", verdict.status)


def sized_sentence(plan: Assessment) -> Sentence:
    """Return a plan in numbers."""
    return Sentence(f"{capitalised(plan_size(plan))}.")


# --- what is changed from the original ------------------------------------------------------


def changes_table(before: Assessment, after: Assessment, longest: int) -> Table:
    """Return what a plan changes of the original, and what each change costs in evidence.

    The changes are made one after the other, so that what they cost adds up.

    Args:
        before: the original.
        after: the plan.
        longest: the most characters of a value.
    """
    steps = field_steps(before, after)
    names = ("What", "Original", "This plan", "Credits", "Evidence")
    rows = [_change_row(step, longest) for step in steps]
    if len(steps) > 1:
        rows.append(row("In all", "", "", *_effects(PlanStep(before, after))))
    return Table(
        "Changes from the original, one after the other", names, tuple(rows), len(rows) > 1
    )


def _change_row(step: PlanStep, longest: int) -> tuple[Cell, ...]:
    [(name, old, new)] = change_rows(step)
    return row(
        name, *(shortened(lines_text([text]), longest) for text in (old, new)), *_effects(step)
    )


def _effects(step: PlanStep) -> tuple[Cell, Cell]:
    old, new = step.before.evidence, step.after.evidence
    moved = f"{old.number} → {new.number}" if step.evidence_changed else "unchanged"
    worth = ", ".join(filter(None, (moved, fidelity_move(step))))
    credits = Cell(signed_credits(step), -step.credits_saved)
    return credits, Cell(worth, status=evidence_status(new))


def reasons_table(
    options: Options, original: Assessment, said: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """Return each change of the original with its reason, and what is lost with it.

    The reasons are those with which the Lab Manager or the planner would make the same change; of
    any other nobody has said why, unless whoever registers the plan does.

    Args:
        options: the plan, and what may be done about it.
        original: the study's reference protocol.
        said: why a field is changed, by its name; it stands before any other reason.
    """
    found = Options(original)
    known = [*(found.offer.changes if found.offer else ()), *found.least.changes]
    rows = [_reasoned(step, known, said) for step in field_steps(original, options.yours)]
    return Table("Why, and what is lost", ("What", "Reason", "What is lost"), tuple(rows))


def _reasoned(
    step: PlanStep, known: Iterable[SuggestionChange], said: Mapping[str, str]
) -> tuple[Cell, ...]:
    [(name, _, _)], [(field, _, _)] = change_rows(step), step.fields
    made = {(each.original, each.revised): each for each in known if _makes(each, step)}.values()
    days = step.before.counts.days, step.after.counts.days
    lost = [each.tradeoff for each in made]
    lost += [*protection_losses(step), unreached_days_text(*days, step.after.pack)]
    reasons = dict.fromkeys(filter(None, (said.get(field, ""), *(each.reason for each in made))))
    told = " ".join(dict.fromkeys(filter(None, lost)))
    return row(name, " ".join(reasons) or capitalised(NOT_GIVEN), told or "–")


def _makes(change: SuggestionChange, step: PlanStep) -> bool:
    """Return whether a suggested change is part of a step."""
    [(field, old, new)] = step.fields
    if change.field != field:
        return False
    if isinstance(old, tuple) and isinstance(new, tuple):
        return change.original in old and (change.revised in new or change.revised == DROPPED)
    return (str(old), str(new)) == (change.original, change.revised)


# --- evidence and cost ----------------------------------------------------------------------


def plans_of(options: Options, original: Assessment) -> dict[str, Assessment]:
    """Return the plans that a document compares, by name: those that are different plans."""
    named = {
        "This plan": options.yours,
        "Original": original,
        OFFERED: options.offered,
        LEAST: options.least.after,
    }
    found: dict[str, Assessment] = {}
    for name, plan in named.items():
        if all(plan.plan != other.plan for other in found.values()):
            found[name] = plan
    return found


def least_sentence(options: Options, plans: dict[str, Assessment]) -> Sentence:
    """Return how the least-loss plan differs; nothing where it is this one or the original."""
    named = (plans[name] for name in (OFFERED, LEAST) if name in plans)
    is_one = any(plan.plan == options.least.plan for plan in named)
    told = difference_text(options) if is_one else ""
    return Sentence(told, f"{LEAST}:")


def plans_table(plans: dict[str, Assessment]) -> Table:
    """Return what each plan is worth and costs, beside floor, target and budget."""
    all_of_them = [plan.evidence for plan in plans.values()]
    first, lab = all_of_them[0], next(iter(plans.values())).pack.lab
    floor, target = first.amount(first.floor), first.amount(first.target)
    measure, budget = capitalised(first.measure), count_text(lab.budget, "credit")
    rows = [
        row(
            name,
            _number(plan.counts.samples),
            _number(plan.counts.days),
            evidence_cell(plan.evidence, all_of_them),
            Cell(amount_text(plan.cost), plan.cost, _within(plan), cost_bar(plan)),
        )
        for name, plan in plans.items()
    ]
    return Table(
        f"{measure}: floor {floor}, target {target}; budget: {budget}",
        ("Plan", "Samples", "Days", measure, "Credits"),
        tuple(rows),
    )


def evidence_cell(evidence: Evidence, beside: Sequence[Evidence]) -> Cell:
    """Return an evidence with its sign, on the scale of those beside it."""
    number = None if evidence.void else evidence.value
    bar = evidence_bar(evidence, beside)
    return Cell(evidence.number, number, evidence_status(evidence), bar)


def _within(plan: Assessment) -> Status:
    return Status.PASS if plan.cost <= plan.pack.lab.budget else Status.FAIL


def _number(value: float) -> Cell:
    return Cell(amount_text(value), value)


def cost_table(plan: Assessment) -> Table:
    """Return the terms of the cost, each where the one before ends, and the total."""
    budget, terms = plan.pack.lab.budget, plan.cost_terms
    widest = max(plan.cost, budget) or 1.0
    ends = accumulate(term.credits for term in terms)
    rows = [
        row(
            term.label,
            term_text(term),
            Cell(
                amount_text(term.credits),
                term.credits,
                bar=Bar(end / widest, (budget / widest,), (end - term.credits) / widest),
            ),
        )
        for term, end in zip(terms, ends, strict=True)
    ]
    total = Cell(amount_text(plan.cost), plan.cost, _within(plan), cost_bar(plan))
    rows.append(row("Total", f"of {amount_text(budget)}", total))
    return Table(
        "The cost, term by term", ("Term", "Units × rate", "Credits"), tuple(rows), total=True
    )


def slack_table(plan: Assessment) -> Table:
    """Return the seven dimensions: used of the limit, what is left, and why one fails."""
    told = plan.check.reasons_once
    rows = [
        row(
            Cell(capitalised(dimension), status=Status.PASS if slack.ok else Status.FAIL),
            Cell(used_text(plan, slack), bar=slack_bar(slack)),
            slack_text(slack),
            " ".join(reason for failing, reason in told if failing is dimension),
        )
        for dimension, slack in plan.slack.items()
    ]
    names = ("Dimension", "Used", "Slack", "Why it fails")
    return Table("The seven dimensions", names, tuple(rows))


# --- what it would take ---------------------------------------------------------------------


def take_blocks(options: Options, most: int | None = None) -> Iterator[Block]:
    """Yield what the lab would have to add, at most so many sentences of each kind."""
    for title, texts in take_parts(options):
        shown, left = texts[:most], len(texts[most:]) if most is not None else 0
        rest = [f"And {left} more, in the report."] if left else []
        if len(texts) == 1:
            yield Sentence(texts[0], f"{title}:" if title else "")
        elif texts:
            yield Sentence(f"{title}:")
            yield Listing((*shown, *rest))
