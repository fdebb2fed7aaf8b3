"""Answers as plain data, for programs: the core's values under the core's names."""

from collections.abc import Iterable
from dataclasses import asdict

from replicalab.assessment import Assessment, Evidence
from replicalab.facts.plan import notes
from replicalab.facts.verdicts import plan_verdict
from replicalab.planner import PlanAnalysis, PlanStep, Shortfall, change_steps
from replicalab.scenarios import Pack
from replicalab.tables.rows import cost_row, dimension_row

Data = dict[str, object]
_ASK = ("dimension", "has", "needs", "item", "text")


def fields(record: object, *names: str) -> Data:
    """Return attributes by name."""
    return {name: getattr(record, name) for name in names}


def place(pack: Pack) -> Data:
    """Return study and lab, and the user's own values of both."""
    lab = {"difficulty": pack.difficulty, "seed": pack.seed, **pack.lab.model_dump()}
    own_lab = pack.own_lab.model_dump(exclude_defaults=True)
    question = pack.question.model_dump(exclude_defaults=True)
    return {"study": pack.scenario_id, "lab": lab, "own_lab": own_lab, "question": question}


def evidence(shown: Evidence) -> Data:
    """Return the evidence of a sample."""
    return {"measure": shown.measure, **asdict(shown)}


def plan(judged: Assessment) -> Data:
    """Return a plan, its check, cost and evidence."""
    return {
        **fields(judged, "plan", "feasible", "failing", "cost", "staff", "fidelity_loss"),
        "verdict": plan_verdict(judged)._asdict(),
        "wishes_broken": [wish.constraint.key for wish in judged.broken_wishes],
        "evidence": evidence(judged.evidence),
    }


def checked(options: PlanAnalysis) -> Data:
    """Return the whole check of a plan."""
    judged = options.yours
    return {
        **place(judged.pack),
        **plan(judged),
        "dimensions": [
            {**dimension_row(slack, options.binding), "reasons": judged.reasons[dimension]}
            for dimension, slack in judged.slack.items()
        ],
        "cost_terms": [*map(cost_row, judged.cost_terms)],
        "detectable_effect": judged.detectable_effect,
        "notes": [{"kind": kind, "text": text} for kind, text in notes(judged)],
    }


def planned(options: PlanAnalysis) -> Data:
    """Return the changes to a plan and the additions to its lab."""
    yours, offer, least, asks = options.yours, options.offer, options.least, options.asks
    made = change_steps(yours, least.changes, options.known)
    offered = change_steps(yours, offer.changes, options.known) if offer else ()
    alone = [
        {**fields(each.ask, *_ASK), "tier": each.tier, "plan": plan(each.least.after)}
        for each in asks.singles
    ]
    waits = [{**fields(each, "start_day", "items"), "plan": each.least.plan} for each in asks.waits]
    target = asks.target and _shortfall(asks.target)
    return {
        **checked(options),
        "offer": offer and _revision(offer.after, offered),
        "least_loss": {**_revision(least.after, made), "exact": least.exact},
        "cheapest": options.cheapest and plan(options.cheapest),
        "most_evidence": options.most_evidence and plan(options.most_evidence),
        "takes": {"run": _shortfall(asks.run), "target": target, "alone": alone, "waits": waits},
    }


def _revision(after: Assessment, steps: Iterable[PlanStep]) -> Data:
    changes = [
        {
            **(step.change.model_dump() if step.change else {}),
            **fields(step, "credits_saved"),
            **fields(step.after, "fidelity_loss"),
            "evidence": evidence(step.after.evidence),
        }
        for step in steps
    ]
    return {**plan(after), "changes": changes}


def _shortfall(lacking: Shortfall) -> Data:
    asks = [fields(ask, *_ASK) for ask in lacking.asks]
    return {**fields(lacking, "plan", "left"), "asks": asks}
