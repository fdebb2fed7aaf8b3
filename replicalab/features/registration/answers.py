"""Answers to registration questions: from the facts of a plan, its study's file and its author."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from replicalab.assessment import Assessment, assumed_effects
from replicalab.assessment.phrases import last_day_text
from replicalab.facts import documents
from replicalab.facts import plan as texts
from replicalab.facts.changes import edit_sentence
from replicalab.facts.negotiation import numbers_text
from replicalab.facts.options import take_parts
from replicalab.facts.original import (
    counts_text,
    interval_text,
    reported_text,
    worked_out_interval_text,
)
from replicalab.facts.units import groupings
from replicalab.lexicon import (
    capitalised,
    count_text,
    ended,
    is_given,
    joined,
    label_key,
    lines_text,
)
from replicalab.models import LabManagerActionType, ScientistActionType
from replicalab.negotiation import Negotiation
from replicalab.planner import PlanAnalysis, leanest
from replicalab.planner.steps import field_steps
from replicalab.registration import QUESTIONS, Finder, Registration
from replicalab.scenarios import EvidenceTier

_ALIKE: Final = QUESTIONS["same_pay"].options  # exact, close, different
_CLOSE: Final = 1  # a fidelity loss up to here is a small declared deviation
_ITS_AUTHORS: Final = "whether the original’s authors had the same is for you to say"
_REFUSALS: Final = (LabManagerActionType.SUGGEST_ALTERNATIVE, LabManagerActionType.REJECT)
ROWS: Final = tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))
"""Forms, sides and answers, as forms.toml has them."""


@dataclass(frozen=True)
class Registered:
    """A plan to be registered.

    Attributes:
        options: the plan in its lab, and what may be done about it.
        said: what its author answers.
        run: the negotiation in which other plans were refused, None for none.
    """

    options: PlanAnalysis
    said: Registration
    run: Negotiation | None = None

    @property
    def plan(self) -> Assessment:
        """The plan as it is judged."""
        return self.options.yours


class Proposal(NamedTuple):
    """An answer that looks likely, and why; none before its author confirms it."""

    answer: str
    why: str


# --- what is known ----------------------------------------------------------------------------


def known(key: str, registered: Registered) -> list[tuple[Finder, str]]:
    """Return what is known of a question without its author, and who says so."""
    values = _Values(registered)
    texts = {
        Finder[name]: template.format_map(values).strip()
        for name, template in ROWS["answers"].get(key, {}).items()
    }
    return [(finder, text) for finder, text in texts.items() if is_given(text)]


class _Values(dict[str, Any]):
    """The values of templates, each worked out when a template asks for it."""

    def __init__(self, registered: Registered) -> None:
        super().__init__(plan=registered.plan, paper=registered.plan.pack.paper)
        self.registered = registered

    def __missing__(self, name: str) -> str:
        read = _OF_REGISTERED.get(name)
        return read(self.registered) if read else _OF_PLAN[name](self.registered.plan)


def _published(plan: Assessment) -> str:
    design, effect = plan.pack.design, plan.evidence.row.effect
    if design.original or not effect or design.effect_published is None:
        return plan.pack.paper.published
    size = f"{capitalised(effect.name)} {texts.effect_text(design.effect_published)}."
    return f"{size} {plan.pack.paper.published}" if is_given(plan.pack.paper.published) else size


def _reported_interval(plan: Assessment) -> str:
    original = plan.pack.design.original
    reported = interval_text(original) if original else ""
    return f"{capitalised(reported)}." if reported else ""


def _design(plan: Assessment) -> str:
    design, row = plan.pack.design, plan.evidence.row
    groups = texts.groups_text(plan.counts.samples, design, per_group=True)
    shared = (text for _, text in groupings(design).values())
    parts = (row.title, f"n counts {design.unit_of_n}", groups.rstrip("."), *shared)
    return ended("; ".join(filter(None, parts)))


def _worth(plan: Assessment) -> str:
    """Return what a plan's sample is worth, what is aimed for, and the fewest that reach it."""
    evidence, lean = plan.evidence, leanest(plan)
    target, floor = evidence.amount(evidence.target), evidence.amount(evidence.floor)
    worth = f"{capitalised(evidence.text)}, where {target} is aimed for and {floor} is the least."
    fewest = "No fewer meet the target, all else as planned." if _is_fewest(plan) else ""
    if lean:
        fewest = f"The fewest that meet the target, all else as planned: {_OF_PLAN['size'](lean)}."
    row = (worth, fewest, texts.assumption_text(plan))
    return " ".join(filter(None, row))


def _is_fewest(plan: Assessment) -> bool:
    return plan.evidence.tier is EvidenceTier.MEETS_TARGET and leanest(plan) is None


def _reason(registered: Registered) -> str:
    """Return what the sample is worth if that, or its author, says why it is planned."""
    plan, registration = registered.plan, registered.said
    stated = registration.reasons.get("sample_size") or registration.answer("sample_rationale")
    return _worth(plan) if stated or _is_fewest(plan) else ""


def _sensitivity(plan: Assessment) -> str:
    evidence, row = plan.evidence, plan.evidence.row
    result = []
    if row.sought and (minimum := plan.detectable_effect) is not None:
        target = evidence.amount(evidence.target)
        result.append(
            f"{capitalised(row.sought)} with {row.measure} {target}: {texts.effect_text(minimum)}."
        )
    for effect in assumed_effects(plan.pack.design):
        worth = plan.evidence_at(effect.effect)
        result.append(f"{capitalised(texts.effect_label(effect))}: {worth.text}.")
    return " ".join(result)


def _controls(plan: Assessment) -> str:
    guards = {control.name: control.guards for control in plan.pack.controls}
    listed = [
        f"{name} (against {guards[name]})" if guards.get(name) else name
        for name in plan.plan.controls
    ]
    return _stated(*listed)


def _differences(plan: Assessment) -> str:
    swapped = [
        f"{swap.alternative} in place of {swap.original}: {ended(swap.tradeoff)}"
        for swap in plan.substitutions
    ]
    return lines_text([*swapped, *texts.dropped_cautions(plan)])


def _dates(plan: Assessment) -> str:
    """Return the dates of a plan's days; empty if the lab's days have none."""
    days, lab = plan.counts.days, plan.pack.lab
    dated = lab.dated_span(lab.start_day, lab.start_day + days - 1) if days else ""
    return f"{count_text(days, 'day')}{dated}." if dated else ""


def _refusals(run: Negotiation, kept: Assessment) -> Iterator[str]:
    """Yield each plan that a side put forward and the other did not take, and its reason."""
    for done, further in zip_longest(run.rounds, run.rounds[1:]):
        lead, plan, offer = f"Round {done.number + 1}:", done.plan, done.after.offer
        if plan is None or not done.answer or done.answer.action_type not in _REFUSALS:
            continue
        if plan.plan != kept.plan:
            why = " ".join(ended(text) for name in plan.causes for text in plan.reasons[name])
            yield f"{lead} {numbers_text(plan)}. Refused by the lab. {why}"
        action = further and further.action
        accepts = action and action.action_type is ScientistActionType.ACCEPT
        refused = further and not (accepts or further.only_asks)
        if offer and refused and offer.plan != kept.plan:
            offered = f"offered by the lab, {numbers_text(offer)}"
            why = further.reason or "Why is not given."
            yield f"{lead} {offered}. Not taken by the Scientist. {why}"


def _terms(plan: Assessment) -> str:
    money, term_of = plan.pack.lab.money, plan.pack.study.term
    return lines_text(
        f"{term_of(term.label)}: {texts.term_text(term)} = {money(term.credits)}."
        for term in plan.cost_terms
    )


def _resources(plan: Assessment) -> str:
    lists = {"Equipment": plan.plan.required_equipment, "Materials": plan.plan.required_reagents}
    return lines_text(f"{name}: {'; '.join(labels)}." for name, labels in lists.items() if labels)


def _cuts(registered: Registered) -> str:
    """Return each change from the study's own plan; if there is none, those of least loss."""
    plan, reference = registered.plan, documents.reference_of(registered.plan)
    lead, steps = "From the study’s own plan:", field_steps(reference, plan)
    if not steps:
        lead, steps = "To fit this lab:", field_steps(plan, registered.options.least.after)
    return lines_text([lead, *(edit_sentence(step).text for step in steps)]) if steps else ""


def _shortfall(registered: Registered) -> str:
    return lines_text(
        f"{title}: {text}" if title else text
        for title, result in take_parts(registered.options)
        for text in result
    )


def _stated(*texts_: str) -> str:
    text = "; ".join(texts_)
    return ended(text) if is_given(text) else ""


_OF_REGISTERED: Final[Mapping[str, Callable[[Registered], str]]] = {
    "reason": _reason,
    "own_reason": lambda of: of.said.reasons.get("sample_size", ""),
    "refusals": lambda of: lines_text(_refusals(of.run, of.plan)) if of.run else "",
    "cuts": _cuts,
    "shortfall": _shortfall,
}
_OF_PLAN: Final[Mapping[str, Callable[[Assessment], str]]] = {
    "reported_effect": lambda plan: (
        reported_text(plan.pack.design, plan.pack.design.original)
        if plan.pack.design.original
        else ""
    ),
    "published": _published,
    "reported_interval": _reported_interval,
    "interval": lambda plan: (
        "" if _reported_interval(plan) else worked_out_interval_text(plan.pack.design)
    ),
    "original_n": lambda plan: (
        _stated(counts_text(plan.pack.design.original)) if plan.pack.design.original else ""
    ),
    "technique": lambda plan: _stated(plan.plan.technique),
    "equipment": lambda plan: _stated(*plan.plan.required_equipment),
    "reagents": lambda plan: _stated(*plan.plan.required_reagents),
    "differences": _differences,
    "design": _design,
    "controls": _controls,
    "size": lambda plan: f"{plan.counts.samples:,} {texts.unit_noun(plan.pack.design)}",
    "dropout": texts.dropout_text,
    "method": lambda plan: plan.evidence.row.method_of(plan.pack.design),
    "level": lambda plan: (
        f", alpha {plan.pack.design.alpha:g} ({plan.evidence.row.level})"
        if plan.pack.design.alpha and plan.evidence.row.sought
        else ""
    ),
    "criteria": lambda plan: lines_text(filter(is_given, plan.pack.success_criteria)),
    "sensitivity": _sensitivity,
    "dates": _dates,
    "terms": _terms,
    "cost": lambda plan: plan.pack.lab.money(plan.cost),
    "budget": lambda plan: plan.pack.lab.money(plan.pack.lab.budget),
    "staff": texts.staff_text,
    "days": lambda plan: count_text(plan.counts.days, "day"),
    "last_day": last_day_text,
    "resources": _resources,
}
"""The values of the templates in forms.toml."""


# --- what is proposed -------------------------------------------------------------------------


def _sameness(category: str) -> Callable[[Assessment], Proposal | None]:
    """Return what proposes how items of a category stand to the study's own."""

    def propose(plan: Assessment) -> Proposal | None:
        custom = {label_key(label) for label in getattr(plan.pack.study, category)}
        planned = getattr(plan.plan, f"required_{category}")
        swaps = [swap for swap in plan.substitutions if label_key(swap.original) in custom]
        if swaps:
            loss = max(swap.fidelity_loss for swap in swaps)
            named = joined([f"{swap.alternative} for {swap.original}" for swap in swaps])
            alike = _ALIKE[1 if loss <= _CLOSE else 2]
            return Proposal(alike, f"{named}, fidelity loss {loss}")
        saved = {label_key(label) for label in planned}
        if custom and custom <= saved:
            basis = f"the plan uses all {category} that the study lists; {_ITS_AUTHORS}"
            return Proposal(_ALIKE[0], basis)
        return None

    return propose


def _same_procedure(plan: Assessment) -> Proposal | None:
    """Return how technique, controls and days stand to the study's own plan, where it says any."""
    protocol = plan.pack.reference_protocol
    if not _stated(protocol.technique):
        return None
    changed = [
        *([] if label_key(plan.plan.technique) == label_key(protocol.technique) else ["technique"]),
        *(f"without {control.name}" for control in plan.dropped),
    ]
    days = plan.counts.days, protocol.duration_days
    if days[0] != days[1]:
        changed.append(f"{_OF_PLAN['days'](plan)} in place of {days[1]:,}")
    if not changed:
        basis = f"technique, controls and days are those of the study’s plan; {_ITS_AUTHORS}"
        return Proposal(_ALIKE[0], basis)
    is_far = "technique" in changed or plan.evidence.void_reason is not None
    return Proposal(_ALIKE[2 if is_far else 1], f"against the study’s own plan: {joined(changed)}")


PROPOSED: Final[Mapping[str, Callable[[Assessment], Proposal | None]]] = {
    "same_measures": _sameness("equipment"),
    "same_stimuli": _sameness("reagents"),
    "same_procedure": _same_procedure,
    "stopping": lambda plan: Proposal(
        f"With {_OF_PLAN['size'](plan)}, without an interim analysis.", "the plan has no other rule"
    ),
}
"""What looks likely, by the question's key."""
HINTS: Final[Mapping[str, Callable[[Assessment], str]]] = {"sample_rationale": _worth}
"""What is known where nobody answers, and is no answer itself."""
