"""Answers as plain data, for programs: the core's values under the core's names."""

import math
from collections.abc import Iterable

from replicalab.assessment import (
    Assessment,
    Evidence,
    missing_choices,
    offered_effects,
    original_estimate,
    samples_in_arms,
    units_in_arms,
)
from replicalab.assessment.phrases import asked_and_had
from replicalab.critique import Remark
from replicalab.lexicon import CREDITS
from replicalab.negotiation import Score
from replicalab.planner import (
    Addition,
    PlanAnalysis,
    PlanStep,
    Shortfall,
    change_steps,
)
from replicalab.planner.curves import Curves
from replicalab.planner.unreached import by_correlation
from replicalab.scenarios import Bounds, EvidenceAssumptions, LabOverrides, Pack, StudyLimit
from replicalab.tables.rows import cost_row, dimension_row, remark_row
from replicalab.views.blocks import Verdict
from replicalab.views.plan import notes
from replicalab.views.score import score_verdict
from replicalab.views.verdicts import plan_verdict

Data = dict[str, object]


def place(pack: Pack) -> Data:
    """Return which study and which lab it is, and what is one's own of both."""
    lab = pack.lab
    means = {name: getattr(lab, name) for name in ("budget", "days", "days_left", "start_day")}
    found = {"difficulty": str(pack.difficulty), "seed": pack.seed, **means, "staff": lab.staff}
    if lab.currency != CREDITS:
        found["currency"] = lab.currency
    if lab.start_date is not None:
        found |= {"start_date": lab.start_date.isoformat(), "weekends": lab.weekends}
    return {"study": pack.scenario_id, "lab": found, **own(pack.own_lab, pack.question)}


def own(own_lab: LabOverrides, question: EvidenceAssumptions) -> Data:
    """Return what is said of the lab and of the evidence in place of the study's, if anything."""
    said = {"own_lab": own_lab, "question": question}
    dumped = {k: v.model_dump(mode="json", exclude_defaults=True) for k, v in said.items()}
    return {name: value for name, value in dumped.items() if value}


def verdict(found: Verdict) -> Data:
    """Return a verdict."""
    return {"status": str(found.status), "title": found.title, "text": found.text}


def evidence(found: Evidence) -> Data:
    """Return what a plan's sample is worth; no value where it is void."""
    return {
        "kind": str(found.kind),
        "measure": found.measure,
        "value": None if found.void_reason or not math.isfinite(found.value) else found.value,
        "target": found.target,
        "floor": found.floor,
        "tier": str(found.tier),
        "counted": found.analysed,
        "effect": found.effect,
        "void": found.void_reason,
    }


def plan(found: Assessment) -> Data:
    """Return a plan, whether it passes, what it costs and what it shows."""
    return {
        "plan": found.plan.model_dump(mode="json"),
        "feasible": found.feasible,
        "failing": [str(dimension) for dimension in found.failing],
        "verdict": verdict(plan_verdict(found)),
        "cost": found.cost,
        "staff": found.staff,
        "fidelity_loss": found.fidelity_loss,
        "wishes_broken": [_wish(wish, found) for wish in found.broken_wishes],
        "evidence": evidence(found.evidence),
    }


def _wish(broken: StudyLimit, found: Assessment) -> Data:
    """Return a wish of the study that a plan breaks: what it asks, and what the plan has."""
    least, most = (end if math.isfinite(end) else None for end in (broken.least, broken.most))
    void = broken.number is Bounds.EVIDENCE and found.evidence.void_reason
    has = found.bounded(broken)
    return {
        "key": broken.constraint.key,
        "bounds": str(broken.number),
        "least": least,
        "most": most,
        "has": None if void or not math.isfinite(has) else has,
        "text": asked_and_had(found, [broken]),
    }


def score(found: Score) -> Data:
    """Return how far a result is from the best there was."""
    return {
        "regret": found.regret,
        "evidence_short": found.evidence_short,
        "wishes_short": found.wishes_short,
        "fidelity_short": found.fidelity_short,
        "verdict": verdict(score_verdict(found)),
    }


def critiqued(found: Assessment, remarks: Iterable[Remark]) -> Data:
    """Return what a reviewer would ask of a plan."""
    return {**place(found.pack), **plan(found), "critique": [*map(remark_row, remarks)]}


def checked(options: PlanAnalysis) -> Data:
    """Return all that is known of a plan."""
    found = options.yours
    dimensions = [
        {**dimension_row(slack, options.binding), "reasons": found.reasons[dimension]}
        for dimension, slack in found.slack.items()
    ]
    return {
        **place(found.pack),
        **plan(found),
        "dimensions": dimensions,
        "cost_terms": [*map(cost_row, found.cost_terms)],
        "detectable_effect": found.detectable_effect,
        "notes": [{"kind": kind, "text": text} for kind, text in notes(found)],
        **units_and_arms(found),
        **({"original": original(found)} if found.pack.design.original else {}),
    }


def original(found: Assessment) -> Data:
    """Return what the original found, and each effect to plan with: its n, what the plan shows."""
    design, lines = found.pack.design, Curves(found)
    reported, estimate = design.original, original_estimate(design)
    effects = [
        {
            "label": choice.label,
            "effect": effect,
            "samples": lines.needed_anywhere(effect),
            "evidence": evidence(found.evidence_at(effect)),
        }
        for choice, effect in offered_effects(design)
    ]
    known = (
        {"value": estimate.value, "se": estimate.se, "z": estimate.z, "p": estimate.p}
        if (estimate)
        else None
    )
    return {
        "reported": reported.model_dump(mode="json", exclude_defaults=True) if reported else None,
        "estimate": known,
        "effects": effects,
        "affordable": lines.largest,
        "missing": [{"label": name, "why": why} for name, why in missing_choices(design)],
    }


def units_and_arms(found: Assessment) -> Data:
    """Return how a plan's samples are in units and in arms; nothing where the study names none."""
    design, samples, said = found.pack.design, found.counts.samples, Data()
    if design.units is not None:
        measure = found.evidence.measure
        said["units"] = {
            **design.units.model_dump(mode="json"),
            "number": [int(each) for each in units_in_arms(samples, design)],
            "by_correlation": [
                {"icc": rho, measure: value} for rho, value in by_correlation(found).items()
            ],
        }
    if design.arms is not None:
        arms = [int(each) for each in samples_in_arms(samples, design)]
        said["arms"] = {**design.arms.model_dump(mode="json"), "samples": arms}
    return said


def revision(before: Assessment, after: Assessment, steps: Iterable[PlanStep]) -> Data:
    """Return a revised plan, and what each change of it saves and loses."""
    whole = PlanStep(before, after)
    return {
        **plan(after),
        "credits_saved": whole.credits_saved,
        "changes": [_change(step) for step in steps],
    }


def _change(step: PlanStep) -> Data:
    change = step.change.model_dump(mode="json") if step.change else {}
    after = step.after
    worth = {"evidence": evidence(after.evidence), "fidelity_loss": after.fidelity_loss}
    return {**change, "credits_saved": step.credits_saved, "after": worth}


def planned(options: PlanAnalysis) -> Data:
    """Return the changes to a plan and the additions to its lab."""
    yours, offer, least, found = options.yours, options.offer, options.least, options.asks
    offered = None
    if offer:
        offered = revision(yours, offer.after, change_steps(yours, offer.changes, options.known))
    steps = change_steps(yours, least.changes, options.known)
    return {
        **checked(options),
        "offer": offered,
        "least_loss": {**revision(yours, least.after, steps), "exact": least.exact},
        "takes": {
            "run": relief(found.run),
            "target": relief(found.target) if found.target else None,
            "alone": [
                {**_ask(each.ask), "tier": str(each.tier), "plan": plan(each.least.after)}
                for each in found.singles
            ],
            "waits": [
                {
                    "start_day": wait.start_day,
                    "items": [*wait.items],
                    "plan": plan(wait.least.after),
                }
                for wait in found.waits
            ],
        },
    }


def relief(found: Shortfall) -> Data:
    """Return what a lab would have to add so that one plan is feasible in it."""
    return {
        "plan": found.plan.model_dump(mode="json"),
        "asks": [_ask(ask) for ask in found.asks],
        "left": [str(dimension) for dimension in found.left],
    }


def _ask(ask: Addition) -> Data:
    amounts = {"has": ask.has, "needs": ask.needs, "item": ask.item}
    return {"dimension": str(ask.dimension), **amounts, "text": ask.text}
