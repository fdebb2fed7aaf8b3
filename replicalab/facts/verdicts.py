"""Verdicts on plans: feasibility and evidence in a sentence with a sign."""

import math
from collections.abc import Mapping
from typing import Final

from replicalab import lexicon
from replicalab.assessment import Assessment, Evidence, assess, phrases
from replicalab.facts import texts
from replicalab.facts.blocks import Cell, Status, Verdict
from replicalab.facts.plan_facts import with_cautions
from replicalab.limits import LARGEST_PLANNED
from replicalab.models import LAB_DIMENSIONS, LabManagerActionType, revise
from replicalab.planner import PlanAnalysis, largest_sample
from replicalab.scenarios import EvidenceTier

ALL_PASS: Final = "every dimension passes"
FIDELITY_MEANS: Final = (
    "how far the plan departs from the study: 0 to 3 for each substitution, 1 for each control "
    "that is dropped"
)

_FEASIBLE: Final = {
    EvidenceTier.MEETS_TARGET: "Feasible",
    EvidenceTier.ABOVE_FLOOR: "Feasible, misses the target",
    EvidenceTier.BELOW_FLOOR: "Feasible, below the floor",
}
ANSWERS: Final = {
    LabManagerActionType.ACCEPT: Verdict(
        Status.PASS, "Accepts", "Every dimension passes: the lab runs the plan as it is."
    ),
    LabManagerActionType.REPORT_FEASIBILITY: Verdict(
        Status.CAUTION,
        "Reports",
        "The lab has the means, but the plan breaks a restriction or is unsound on paper.",
    ),
    LabManagerActionType.SUGGEST_ALTERNATIVE: Verdict(
        Status.CAUTION, "Suggests changes", "The lab cannot run this plan; a changed plan fits it."
    ),
    LabManagerActionType.REJECT: Verdict(
        Status.FAIL,
        "Rejects",
        "The lab cannot run the plan, and no change that it may make repairs every constraint.",
    ),
}


def plan_verdict(plan: Assessment) -> Verdict:
    """Return whether a plan can run in its lab, and its evidence."""
    evidence = plan.evidence
    shows = with_cautions(evidence_sentence(evidence), plan)
    if plan.failing:
        status, title, opening = Status.FAIL, "Not feasible", "Not feasible here"
        if not {*plan.failing} & {*LAB_DIMENSIONS}:
            status = Status.FAIL if evidence.void_reason else Status.CAUTION
            title, opening = "Not approved", "Lab-feasible, but not approved"
        return Verdict(status, title, f"{opening}: {plan.fails_text}. {shows}")
    title = _FEASIBLE[evidence.tier]
    text = f"{title}: {ALL_PASS}. {shows}"
    if evidence.void_reason:
        title = "Shows nothing"
        text = with_cautions(f"{title}, though {ALL_PASS}: {evidence.void_reason}.", plan)
    title = ", ".join(filter(None, (title, plan.cautions_title)))
    return Verdict(agreed_status(plan), title, text)


def agreed_status(plan: Assessment) -> Status:
    """Return the sign of a feasible plan: that of its evidence; cautions allow no pass."""
    status = evidence_status(plan.evidence)
    return Status.CAUTION if status is Status.PASS and plan.cautions_title else status


_BY_TIER: Final = {
    EvidenceTier.MEETS_TARGET: Status.PASS,
    EvidenceTier.ABOVE_FLOOR: Status.CAUTION,
    EvidenceTier.BELOW_FLOOR: Status.FAIL,
}


def evidence_status(evidence: Evidence) -> Status:
    """Return the sign of evidence: a pass at the target, a failure below the floor."""
    return Status.FAIL if evidence.void_reason else _BY_TIER[evidence.tier]


def value_of(evidence: Evidence) -> float | None:
    """Return the number of an evidence, None if it has none or is infinite."""
    is_number = not evidence.void_reason and math.isfinite(evidence.value)
    return evidence.value if is_number else None


def verdict_cell(plan: Assessment) -> Cell:
    """Return the evidence of a plan as a cell: ``power 0.15, too few tanks, not feasible``."""
    text = ", ".join(filter(None, (plan.evidence.text, plan.few_units_title)))
    status, text = marked(plan, plan.evidence, text)
    return Cell(text, status=status)


def status_and_tier(plan: Assessment) -> tuple[Status, str]:
    """Return the sign of a plan and the tier of its evidence."""
    return marked(plan, plan.evidence, str(plan.evidence.tier))


def marked(plan: Assessment, evidence: Evidence, text: str) -> tuple[Status, str]:
    """Return the sign for an evidence of a plan, and its text; of a failing plan, that it fails."""
    if plan.feasible:
        return evidence_status(evidence), text
    failed = plan_verdict(plan)
    return failed.status, f"{text}, {failed.title.lower()}"


def evidence_sentence(evidence: Evidence) -> str:
    """Return the evidence of a plan against the study's target and floor."""
    return f"Planned evidence: {evidence.placed_text}."


def distinct(plans: Mapping[str, Assessment]) -> dict[str, Assessment]:
    """Return the plans that differ from those before them, by name."""
    different: dict[str, Assessment] = {}
    for name, plan in plans.items():
        if all(plan.plan != other.plan for other in different.values()):
            different[name] = plan
    return different


def plan_size(plan: Assessment) -> str:
    """Return a plan's samples, days, and cost of the budget."""
    cost, budget = lexicon.amount_text(plan.cost), plan.pack.lab.money(plan.pack.lab.budget)
    return f"{plan.size_text} for {cost} of {budget}"


def largest_text(plan: Assessment) -> str:
    """Return the most samples that the lab can afford with the rest as planned."""
    limit, samples = largest_sample(plan.plan, plan.pack), "no sample"
    if limit is not None:
        size = min(limit, LARGEST_PLANNED)
        evidence = assess(revise(plan.plan, sample_size=size), plan.pack).evidence
        samples = f"{lexicon.count_text(size, plan.pack.design.sample_noun)}, {evidence.text}"
    return texts.MOST_AFFORDABLE.format(samples=samples)


def terms_text(plan: Assessment) -> str:
    """Return the meaning of the evidence, its target and its floor."""
    evidence = plan.evidence
    measure, meaning = lexicon.capitalised(evidence.measure), evidence.row.meaning
    target, floor = map(evidence.format, (evidence.target, evidence.floor))
    return texts.TERMS.format(measure=measure, meaning=meaning, target=target, floor=floor)


def offer_story(reference: PlanAnalysis) -> Verdict:
    """Return the Lab Manager's answer to a study's reference protocol."""
    yours, offered, answer = reference.yours, reference.offered, reference.answer
    status, title, _ = ANSWERS[answer]
    need, failing = plan_size(yours), phrases.dimensions_text(yours.pack, yours.failing)
    if yours.feasible:
        text = f"The reference protocol ({need}) passes all {len(yours.slack)} checks."
        shows = with_cautions(evidence_sentence(yours.evidence), yours)
        return Verdict(plan_verdict(yours).status, title, f"{text} {shows}")
    way = "The lab has the means, but the Lab Manager does not approve it."
    if answer is LabManagerActionType.REJECT:
        failing_still = offered.fails_text
        way = f"The Lab Manager rejects it: after every change it may make, {failing_still}."
    elif answer is not LabManagerActionType.REPORT_FEASIBILITY:
        evidence, planned = offered.evidence.placed_text, yours.evidence.number
        way = f"The Lab Manager offers {plan_size(offered)}: {evidence} (planned: {planned})."
        if offered.failing:
            way += f" {lexicon.capitalised(offered.still_fails_text)}."
        way = with_cautions(way, offered)
        if offered.failing or offered.evidence.tier is EvidenceTier.BELOW_FLOOR:
            status = Status.FAIL
    return Verdict(status, title, f"The reference protocol ({need}) fails here on {failing}. {way}")


_TIERS: Final = {"above floor": "{} target, {} floor", "below floor": "{} floor"}


def verdict_of(plan: Assessment) -> tuple[tuple[str, ...], str]:
    """Return the failing dimensions; if none, the tier of the evidence or none usable."""
    evidence, scale = plan.evidence, plan.evidence.row.scale
    words = _TIERS.get(evidence.tier, evidence.tier).format(scale.worse, scale.within)
    tier = "no usable evidence" if evidence.void_reason else f"{evidence.measure} {words}"
    return tuple(plan.failing), "" if plan.failing else tier


def change_text(plan: Assessment, changed: Assessment) -> str:
    """Return the first difference between the verdicts on a plan in two labs or studies."""
    if fails := [name for name in changed.causes if name not in plan.failing]:
        return phrases.failing_text(changed.pack, fails)
    if done := [name for name in plan.causes if name not in changed.failing]:
        still = phrases.failing_text(changed.pack, changed.causes, still=True)
        rest = f"; {still}" if changed.failing else ""
        verb = "pass" if phrases.are_many(done) else "passes"
        return f"{phrases.dimensions_text(plan.pack, done)} {verb}{rest}"
    return verdict_of(changed)[1]
