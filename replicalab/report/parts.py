"""The parts that both documents have: verdict, changes, evidence, cost, what it would take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from replicalab.agents import SuggestionChange
from replicalab.agents.suggestions import DROPPED
from replicalab.assessment import Assessment, Evidence, Slack, assess
from replicalab.lexicon import (
    amount_text,
    capitalised,
    count_text,
    label_key,
    lines_text,
    plural,
    shortened,
)
from replicalab.negotiation import Negotiation
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
    cautions_sentence,
    fidelity_move,
    newly_broken_text,
    protection_losses,
    slack_text,
    term_text,
    used_text,
)
from replicalab.text.verdicts import Status, Verdict, marked, plan_size

THIS: Final = "This plan"
REFERENCE: Final = "Reference protocol"
LEAST: Final = "Least-loss plan"
OFFERED: Final = "Lab Manager's plan"


def of_run(options: Options, run: Negotiation | None) -> Options:
    """Return the plan that a document with a negotiation is about: the one that it came to.

    The plan itself where there is no negotiation, or no plan in it.

    Args:
        options: the plan, and what may be done about it.
        run: a negotiation in the plan's lab.
    """
    final = run.final_plan if run else None
    return options if final is None or final.plan == options.yours.plan else Options(final)


def reference_of(plan: Assessment) -> Assessment:
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


# --- what is changed from the reference protocol ----------------------------------------


def changes_table(before: Assessment, after: Assessment, longest: int) -> Table:
    """Return what a plan changes of the reference protocol, and what each change costs.

    The changes are made one after the other, so that what they cost adds up.

    Args:
        before: the reference protocol.
        after: the plan.
        longest: the most characters of a value.
    """
    steps = field_steps(before, after)
    names = ("What", "Reference", "This plan", "Credits", "Evidence")
    rows = [_change_row(step, longest) for step in steps]
    if len(steps) > 1:
        rows.append(row("In all", "", "", *_effects(PlanStep(before, after))))
    return Table(
        "Changes from the reference protocol, one after the other",
        names,
        tuple(rows),
        len(rows) > 1,
    )


def _change_row(step: PlanStep, longest: int) -> tuple[Cell, ...]:
    [(name, *texts)], [(_, *values)] = change_rows(step), step.fields
    told = (
        Cell(shortened(lines_text([text]), longest), value if isinstance(value, int) else None)
        for text, value in zip(texts, values, strict=True)
    )
    return row(name, *told, *_effects(step))


def _effects(step: PlanStep) -> tuple[Cell, Cell]:
    old, new = step.before.evidence, step.after.evidence
    moved = f"{old.number} → {new.number}" if step.evidence_changed else "unchanged"
    worth = ", ".join(filter(None, (moved, fidelity_move(step))))
    return Cell(signed_credits(step), -step.credits_saved), Cell(worth)


def reasons_table(
    options: Options, reference: Assessment, said: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """Return each change of the reference protocol with its reason, and what is lost with it.

    The reasons are those with which the Lab Manager or the planner would make the same change, each
    by its name; of any other nobody has said why, unless whoever registers the plan does.

    Args:
        options: the plan, and what may be done about it.
        reference: the study's reference protocol.
        said: why a field is changed, by its name; it stands before any other reason.
    """
    found = Options(reference)
    known = [("Lab Manager", change) for change in (found.offer.changes if found.offer else ())]
    known += [("Planner", change) for change in found.least.changes]
    rows = [_reasoned(step, known, said) for step in field_steps(reference, options.yours)]
    return Table("Why, and what is lost", ("What", "Reason", "What is lost"), tuple(rows))


def _reasoned(
    step: PlanStep, known: Iterable[tuple[str, SuggestionChange]], said: Mapping[str, str]
) -> tuple[Cell, ...]:
    [(name, _, _)], [(field, _, _)] = change_rows(step), step.fields
    made: dict[tuple[str, str], tuple[str, SuggestionChange]] = {}
    for who, change in known:
        if _makes(change, step):
            made.setdefault((change.original, change.revised), (who, change))
    dropped = {label_key(control.name) for control in step.newly_dropped}
    changes = [change for _, change in made.values()]
    lost = [each.tradeoff for each in changes if label_key(each.original) not in dropped]
    lost += [*protection_losses(step), newly_broken_text(step)]
    reasons: dict[str, list[str]] = {}
    for who, change in made.values():
        reasons.setdefault(who, []).append(change.reason)
    theirs = [f"{who}: {' '.join(dict.fromkeys(found))}" for who, found in reasons.items()]
    why = " ".join(filter(None, (said.get(field, ""), *theirs)))
    told = " ".join(dict.fromkeys(filter(None, lost)))
    return row(name, why or capitalised(NOT_GIVEN), told or "–")


def _makes(change: SuggestionChange, step: PlanStep) -> bool:
    """Return whether a suggested change is part of a step."""
    [(field, old, new)] = step.fields
    if change.field != field:
        return False
    if isinstance(old, tuple) and isinstance(new, tuple):
        return change.original in old and (change.revised in new or change.revised == DROPPED)
    return (str(old), str(new)) == (change.original, change.revised)


# --- evidence and cost ----------------------------------------------------------------------


def plans_of(options: Options, reference: Assessment) -> dict[str, Assessment]:
    """Return the plans that a document compares, by name: those that are different plans."""
    named = {
        THIS: options.yours,
        REFERENCE: reference,
        OFFERED: options.offered,
        LEAST: options.least.after,
    }
    found: dict[str, Assessment] = {}
    for name, plan in named.items():
        if all(plan.plan != other.plan for other in found.values()):
            found[name] = plan
    return found


def least_sentence(options: Options, plans: dict[str, Assessment]) -> Sentence:
    """Return how the least-loss plan differs; nothing where it is this one or the reference."""
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
            evidence_cell(plan, all_of_them),
            Cell(amount_text(plan.cost), plan.cost, _within(plan), cost_bar(plan)),
        )
        for name, plan in plans.items()
    ]
    return Table(
        f"{measure}: floor {floor}, target {target}; budget: {budget}",
        ("Plan", "Samples", "Days", measure, "Credits"),
        tuple(rows),
    )


def cautions_sentences(plans: dict[str, Assessment]) -> Iterator[Sentence]:
    """Yield which wishes each plan beside this one breaks, and which controls it lacks."""
    for name, plan in plans.items():
        if name != THIS and (told := cautions_sentence(plan)):
            yield Sentence(told, f"{name}:")


def evidence_cell(plan: Assessment, beside: Sequence[Evidence]) -> Cell:
    """Return a plan's evidence with the plan's sign, on the scale of those beside it."""
    evidence = plan.evidence
    status, told = marked(plan, evidence, evidence.number)
    number = None if evidence.void else evidence.value
    return Cell(told, number, status, evidence_bar(evidence, beside))


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
            *_amounts(plan, slack),
            " ".join(reason for failing, reason in told if failing is dimension),
        )
        for dimension, slack in plan.slack.items()
    ]
    names = ("Dimension", "Used", "Limit", "Slack", "Why it fails")
    return Table("The seven dimensions", names, tuple(rows))


def _amounts(plan: Assessment, slack: Slack) -> tuple[Cell, Cell, Cell]:
    """Return what is used, the limit, and what is left; words alone where nothing can be left."""
    left, bar = slack_text(slack), slack_bar(slack)
    if not left:
        return Cell(used_text(plan, slack), bar=bar), Cell(""), Cell("")
    unit = "free" if slack.row.category else plural(slack.row.noun, slack.limit)
    return (
        Cell(amount_text(slack.used), slack.used, bar=bar),
        Cell(f"{amount_text(slack.limit)} {unit}", slack.limit),
        Cell(left, slack.slack),
    )


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
