"""The open study: what happens in its lab, the paper and its sources, the lab, and the rules."""

from __future__ import annotations

from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.phrases import left_text
from replicalab.drafts import stated
from replicalab.lexicon import amount_text, capitalised, count_text, ended, exact_text, percent_text
from replicalab.measures import KINDS
from replicalab.panels.drawing import drawn
from replicalab.planner import Options
from replicalab.scenarios import (
    LAB_CONSTRAINTS,
    QUESTION_FIELDS,
    AllowedSubstitution,
    Confidence,
    ItemStatus,
    Pack,
    ResourceCategory,
    ScenarioConstraint,
)
from replicalab.text.plan import staff_text
from replicalab.text.verdicts import Status, offer_story, terms_text

CONFIDENCE: Final = {
    Confidence.VERIFIED: "verified",
    Confidence.RECALLED: "recalled, not found again",
    Confidence.DERIVED: "derived from verified numbers",
    Confidence.PLANNING_VALUE: "planning value",
}
"""How sure a fact is, for people."""


def story_panel(reference: Options) -> str:
    """Return what the study is to find out, and what happens to it in this lab."""
    paper = reference.yours.pack.paper
    return drawn(
        "story",
        title=ended(paper.title),
        goal=stated(paper.goal),
        story=offer_story(reference),
        terms=terms_text(reference.yours),
    )


def paper_panel(pack: Pack) -> str:
    """Return the paper: citation, claim, cautions, and every fact with its source."""
    paper = pack.paper
    return drawn(
        "paper",
        paper=paper,
        citation=stated(paper.citation),
        told=[
            (name, text)
            for name, text in (
                ("Hypothesis", paper.hypothesis),
                ("Method", paper.method),
                ("Key finding", paper.key_finding),
                ("Published n and effect", paper.published),
                ("Take care", paper.caution),
            )
            if stated(text)
        ],
        facts=[(fact, CONFIDENCE[fact.confidence]) for fact in paper.facts],
    )


def design_panel(pack: Pack) -> str:
    """Return what the planned evidence rests on: each number, and why it was chosen."""
    design, kind = pack.design, KINDS[pack.design.kind]
    asked = {QUESTION_FIELDS[number] for number in pack.question.asked}
    rows = [(f"{label}{', yours' * (field in asked)}", _number(value), design.why.get(field, ""))
            for field, label, value in (
        ("effect_published", "Published effect", design.effect_published),
        ("effect_planning", "Planning effect", design.effect_planning),
        ("sesoi", "Smallest effect of interest", design.sesoi),
        ("target", "Target of the evidence", design.target),
        ("floor", "Floor of the evidence", design.floor),
        *((name, kind.label(name), getattr(design, name)) for name in kind.numbers),
    )]  # fmt: skip
    if design.dropout:
        name = f"Dropout of planned samples{', yours' * ('dropout' in asked)}"
        rows.append((name, percent_text(design.dropout), design.why.get("dropout", "")))
    if pack.samples_per_day:
        per_day = pack.samples_per_day
        rows.append(("Samples a day, at most", _number(per_day.value), per_day.why))
    rows.append(("Shortest useful plan, days", _number(pack.min_days), ""))
    method = f"{capitalised(kind.measure)} by {kind.method_of(design)}."
    return drawn("design", method=method, source=stated(design.source), rows=rows)


def _number(value: float | None) -> str:
    return "–" if value is None else exact_text(value)


def lab_panel(reference: Assessment) -> str:
    """Return what the lab has: budget, days, staff and how it is counted, where each item is."""
    pack, lab = reference.pack, reference.pack.lab
    items = [item for item in pack.resources if item.category is not ResourceCategory.PERSONNEL]
    return drawn(
        "lab",
        means=[
            ("Budget, credits", amount_text(lab.budget)),
            ("Days", left_text(lab) or amount_text(lab.days)),
            ("Staff units", amount_text(lab.staff)),
            ("Shortest useful plan, days", amount_text(pack.min_days)),
        ],
        staff=staff_text(reference),
        start_day=lab.start_day,
        items=[(i.label, i.category, *_where(pack, i.label, i.category)) for i in items],
    )


def _where(pack: Pack, label: str, category: ResourceCategory) -> tuple[Status, str]:
    """Return how an item is shown, and where it stands."""
    status = pack.inventory.status(label, category.value)
    until = pack.inventory.booked_until(label)
    if status is ItemStatus.AVAILABLE:
        price = pack.inventory.price(label)
        own = f", at {count_text(price, 'credit')}" if price is not None else ""
        return Status.PASS, f"{status}{own}"
    return Status.FAIL, f"{status} until day {until}" if until is not None else str(status)


def substitutions_panel(pack: Pack) -> str:
    """Return what may be replaced, on which condition, and what that loses."""
    swaps = [(swap, _factor_text(swap, pack)) for swap in pack.allowed_substitutions]
    return drawn("substitutions", swaps=swaps)


def _factor_text(swap: AllowedSubstitution, pack: Pack) -> str:
    """Return what a substitution does to the effect that is seen; empty where it does nothing."""
    effect, factor = KINDS[pack.design.kind].effect, swap.evidence_factor
    return effect.seen_text.format(factor=factor) if effect and factor != 1 else ""


def rules_panel(pack: Pack) -> str:
    """Return the restrictions, the success criteria, the constraints and the controls."""
    return drawn(
        "rules",
        rules=pack.policy_rules,
        criteria=pack.success_criteria,
        constraints=[(each.label, *_constraint_texts(each)) for each in pack.constraints],
        controls=pack.controls,
    )


def _constraint_texts(constraint: ScenarioConstraint) -> tuple[str, str, str]:
    """Return a constraint's bound, whether it must hold and is checked, and its details."""
    force = "must hold" if constraint.hard else "should hold"
    if constraint.bounds is None and constraint.key not in LAB_CONSTRAINTS:
        force += "; stated, not checked"
    return constraint.bound_text, force, constraint.details
