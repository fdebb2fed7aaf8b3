"""A plan in its lab: its verdict, the seven dimensions, cost, evidence, and what changes do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment, Evidence, Slack, place_of, scale_of
from replicalab.assessment.phrases import failing_text, size_text
from replicalab.lexicon import amount_text, capitalised, count_text
from replicalab.models import Dimension
from replicalab.panels.drawing import Bar, drawn
from replicalab.planner import PlanStep
from replicalab.text.lab import lab_text
from replicalab.text.plan import (
    asked_text,
    assumed_rows,
    assumption_text,
    cautions_sentence,
    change_title,
    dropout_text,
    effect_text,
    loss_text,
    newly_broken_text,
    notes,
    sample_text,
    saved_text,
    slack_text,
    staff_text,
    term_text,
    total_loss_text,
    used_text,
)
from replicalab.text.verdicts import Status, Verdict, evidence_status, plan_verdict, standing

BINDING: Final = "Binding: its relief buys most."


def header_panel(plan: Assessment, *, yours: bool = True, quiet: bool = False) -> str:
    """Return where we are: study and lab, the plan's verdict, its credits and its evidence.

    Args:
        plan: the plan.
        yours: whether it is the visitor's own, and not the study's reference protocol.
        quiet: whether it judges nothing.
    """
    pack, verdict, evidence = plan.pack, plan_verdict(plan), plan.evidence
    return drawn(
        "header",
        study=pack.paper.name,
        lab=lab_text(pack),
        unit=sample_text(pack.design),
        asked=asked_text(pack),
        named="Your plan" if yours else "Reference protocol",
        quiet=quiet,
        verdict=verdict,
        failing=failing_text(plan.failing) if plan.failing else "",
        cost=cost_bar(plan),
        credits=f"{amount_text(plan.cost)} of {count_text(pack.lab.budget, 'credit')}",
        over=plan.cost > pack.lab.budget,
        evidence=evidence_bar(evidence, [evidence]),
        evidence_status=evidence_status(evidence),
        worth=evidence.text,
        target=f"target {evidence.amount(evidence.target)}",
    )


# --- the seven dimensions -------------------------------------------------------------------


def check_panel(plan: Assessment, binding: Dimension | None) -> str:
    """Return the seven dimensions, used of the limit and why one fails; then what else to know."""
    return drawn(
        "check",
        rows=[_check_row(plan, slack, binding) for slack in plan.slack.values()],
        notes=notes(plan),
    )


def _check_row(plan: Assessment, slack: Slack, binding: Dimension | None) -> dict[str, object]:
    """Return a dimension; a reason is told where the numbers do not say it."""
    in_numbers = slack.row.is_amount or slack.dimension not in plan.causes
    told = [] if in_numbers else plan.check.reasons_once
    return {
        "name": capitalised(slack.dimension),
        "status": Status.PASS if slack.ok else Status.FAIL,
        "used": used_text(plan, slack),
        "bar": slack_bar(slack),
        "slack": slack_text(slack),
        "why": [
            *([BINDING] if slack.dimension is binding else []),
            *(reason for dimension, reason in told if dimension is slack.dimension),
        ],
    }


def slack_bar(slack: Slack) -> Bar | None:
    """Return what is used of a limit, with its mark; None where there is none to use."""
    widest = max(slack.used, slack.limit)
    return Bar(slack.used / widest, (slack.limit / widest,)) if slack.limit else None


# --- cost -----------------------------------------------------------------------------------


def cost_panel(plan: Assessment, after: Assessment | None = None) -> str:
    """Return the terms of the cost, each where the one before ends, against the budget.

    Args:
        plan: the plan.
        after: the plan with the ticked changes, which is told in a row of its own.
    """
    budget, terms = plan.pack.lab.budget, plan.cost_terms
    changed = after if after is not None and after.cost != plan.cost else None
    widest = max(plan.cost, budget, changed.cost if changed else 0) or 1.0
    ends = accumulate(term.credits for term in terms)
    rows: list[dict[str, object]] = [
        {
            "name": term.label,
            "units": term_text(term),
            "bar": Bar(end / widest, (budget / widest,), (end - term.credits) / widest),
            "status": "quiet",
            "credits": amount_text(term.credits),
        }
        for term, end in zip(terms, ends, strict=True)
    ]
    totals = [("Total", plan), *([("As ticked", changed)] if changed else [])]
    rows += [
        {
            "name": name,
            "units": f"of {amount_text(budget)}",
            "bar": Bar(each.cost / widest, (budget / widest,)),
            "status": Status.PASS if each.cost <= budget else Status.FAIL,
            "credits": amount_text(each.cost),
            "total": True,
        }
        for name, each in totals
    ]
    return drawn("cost", rows=rows, staff=f"Staff: {staff_text(plan)}.")


def cost_bar(plan: Assessment) -> Bar:
    """Return what a plan costs, with the mark of the budget."""
    budget = plan.pack.lab.budget
    widest = max(plan.cost, budget) or 1.0
    return Bar(plan.cost / widest, (budget / widest,))


# --- evidence -------------------------------------------------------------------------------


def evidence_panel(plans: Mapping[str, Assessment]) -> str:
    """Return what each plan's sample is worth, on one scale with floor and target.

    Args:
        plans: by name, your own first; all of one study.
    """
    yours = next(iter(plans.values()))
    first, all_of_them = yours.evidence, [plan.evidence for plan in plans.values()]
    floor, target = first.amount(first.floor), first.amount(first.target)
    rows = [
        {
            "name": name,
            "bar": evidence_bar(plan.evidence, all_of_them),
            "status": evidence_status(plan.evidence),
            "number": plan.evidence.number,
            "stands": standing(plan),
        }
        for name, plan in plans.items()
    ]
    return drawn(
        "evidence",
        title=f"{capitalised(first.measure)}: floor {floor}, target {target}",
        rows=rows,
        void=f"No evidence: {first.void}." if first.void else "",
        dropout="" if first.void else dropout_text(yours),
        basis=assumption_text(yours),
        columns=list(plans),
        assumed=_assumed(plans),
    )


def _assumed(plans: Mapping[str, Assessment]) -> list[tuple[str, list[str]]]:
    """Return what the plans detect, and their evidence at each effect worth assuming."""
    found = list(plans.values())
    rows: list[tuple[str, list[str]]] = []
    if any(plan.evidence.counted < plan.counts.samples for plan in found):
        sizes = [(plan.evidence.counted, plan.counts.samples) for plan in found]
        rows.append(("Samples analysed, of those planned", [f"{a:,} of {n:,}" for a, n in sizes]))
    if sought := found[0].evidence.row.sought:
        detected = [effect_text(plan.detectable_effect) for plan in found]
        rows.append((capitalised(sought), detected))
    each = [assumed_rows(plan) for plan in found]
    for row in zip(*each, strict=True):
        label, size, _ = row[0]
        rows.append((f"At the effect {label} ({size})", [evidence.number for *_, evidence in row]))
    return rows


def evidence_bar(evidence: Evidence, beside: Sequence[Evidence]) -> Bar:
    """Return an evidence on the scale of those beside it; a better one is always longer."""
    worst, best = scale_of(beside)
    marks = tuple((at - worst) / (best - worst) for at in (evidence.floor, evidence.target))
    return Bar((place_of(evidence, worst) - worst) / (best - worst), marks)


# --- a revision -----------------------------------------------------------------------------


class Changed(NamedTuple):
    """A change on show.

    Attributes:
        number: among the changes of its revision.
        change: what is changed.
        step: what that does.
        on: whether it is taken; the price of another is what it would add to those that are.
    """

    number: int
    change: SuggestionChange
    step: PlanStep
    on: bool = True


def revision_panel(whole: PlanStep, changes: Iterable[Changed], *, folded: bool = False) -> str:
    """Return a revised plan: what it comes to, what it gives up, and its changes one by one.

    Args:
        whole: from the plan to the revised one.
        changes: in their order.
        folded: whether the changes are shown on demand only.
    """
    after = whole.after
    cost, budget = amount_text(after.cost), count_text(after.pack.lab.budget, "credit")
    return drawn(
        "revision",
        verdict=plan_verdict(after),
        size=f"{size_text(after)}, {cost} of {budget}, {after.evidence.text}",
        still=f"Still {failing_text(after.failing)}." if after.failing else "",
        breaks=cautions_sentence(after),
        total=f"In all: {saved_text(whole)} · {total_loss_text(whole)}",
        changes=[_change(each) for each in changes],
        folded=folded,
    )


def sentences_panel(
    told: Iterable[str],
    *,
    title: str = "",
    level: int = 3,
    verdict: Verdict | None = None,
    quiet: bool = False,
) -> str:
    """Return some sentences under a heading of that level, the first behind a verdict's sign."""
    how = {"title": title, "level": level, "verdict": verdict, "quiet": quiet}
    return drawn("sentences", told=[text for text in told if text], **how)


def _change(each: Changed) -> dict[str, object]:
    change, step = each.change, each.step
    return {
        "number": each.number,
        "title": change_title(change),
        "on": each.on,
        "price": f"{saved_text(step)} · {loss_text(step)}",
        "why": change.reason,
        "lost": f"{change.tradeoff} {newly_broken_text(step)}".strip(),
    }
