"""Answers to registration questions: from the facts of a plan, its study's file and its author."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, NamedTuple

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

Known = Iterable[tuple[Finder, str]]
Reader = Callable[["Registered"], str]
_ALIKE: Final = QUESTIONS["same_pay"].options  # exact, close, different
_CLOSE: Final = 1  # a fidelity loss up to here is a small declared deviation
_ITS_AUTHORS: Final = "whether the original’s authors had the same is for you to say"
_REFUSALS: Final = (LabManagerActionType.SUGGEST_ALTERNATIVE, LabManagerActionType.REJECT)


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


def _original_effect(registered: Registered) -> Known:
    plan = registered.plan
    design, effect = plan.pack.design, plan.evidence.row.effect
    if design.original:  # of which z and p, and often the effect itself, are worked out
        yield Finder.CORE, reported_text(design, design.original)
    elif effect and design.effect_published is not None:
        size = texts.effect_text(design.effect_published)
        yield Finder.STUDY, f"{capitalised(effect.name)} {size}."
    yield Finder.STUDY, plan.pack.paper.published


def _original_interval(registered: Registered) -> Known:
    design = registered.plan.pack.design
    if design.original and (reported := interval_text(design.original)):
        yield Finder.STUDY, f"{capitalised(reported)}."
    else:
        yield Finder.CORE, worked_out_interval_text(design)


def _design(plan: Assessment) -> str:
    design, row = plan.pack.design, plan.evidence.row
    groups = texts.groups_text(plan.counts.samples, design, per_group=True)
    shared = (text for _, text in groupings(design).values())
    parts = (row.title, f"n counts {design.unit_of_n}", groups.rstrip("."), *shared)
    return ended("; ".join(filter(None, parts)))


def _size(plan: Assessment) -> str:
    noun = texts.unit_noun(plan.pack.design)
    parts = (f"{plan.counts.samples:,} {noun}.", texts.dropout_text(plan))
    return " ".join(filter(None, parts))


def _rationale(registered: Registered) -> Known:
    """Yield what the sample is worth where that, or its author, says why it is planned."""
    plan, said = registered.plan, registered.said
    reason = said.reasons.get("sample_size", "")
    if reason or said.answer("sample_rationale") or _is_fewest(plan):
        yield Finder.CORE, _worth(plan)
    if reason:
        yield Finder.AUTHOR, reason


def _worth(plan: Assessment) -> str:
    """Return what a plan's sample is worth, what is aimed for, and the fewest that reach it."""
    evidence, lean = plan.evidence, leanest(plan)
    target, floor = evidence.amount(evidence.target), evidence.amount(evidence.floor)
    worth = f"{capitalised(evidence.text)}, where {target} is aimed for and {floor} is the least."
    fewest = "No fewer meet the target, all else as planned." if _is_fewest(plan) else ""
    if lean:
        samples = f"{lean.counts.samples:,} {texts.unit_noun(plan.pack.design)}"
        fewest = f"The fewest that meet the target, all else as planned: {samples}."
    told = (worth, fewest, texts.assumption_text(plan))
    return " ".join(filter(None, told))


def _is_fewest(plan: Assessment) -> bool:
    return plan.evidence.tier is EvidenceTier.MEETS_TARGET and leanest(plan) is None


def _inference(plan: Assessment) -> str:
    design, row = plan.pack.design, plan.evidence.row
    level = f", alpha {design.alpha:g} ({row.level})" if design.alpha and row.sought else ""
    return f"The sample is planned for {row.method_of(design)}{level}."


def _sensitivity(plan: Assessment) -> str:
    evidence, row = plan.evidence, plan.evidence.row
    found = []
    if row.sought and (least := plan.detectable_effect) is not None:
        target = evidence.amount(evidence.target)
        found.append(
            f"{capitalised(row.sought)} with {row.measure} {target}: {texts.effect_text(least)}."
        )
    for effect in assumed_effects(plan.pack.design):
        worth = plan.evidence_at(effect.effect)
        found.append(f"{capitalised(texts.effect_label(effect))}: {worth.text}.")
    return " ".join(found)


def _controls(plan: Assessment) -> str:
    guards = {control.name: control.guards for control in plan.pack.controls}
    listed = [
        f"{name} (against {guards[name]})" if guards.get(name) else name
        for name in plan.plan.controls
    ]
    return _stated("; ".join(listed))


def _differences(plan: Assessment) -> str:
    swapped = [
        f"{swap.alternative} in place of {swap.original}: {ended(swap.tradeoff)}"
        for swap in plan.substitutions
    ]
    return lines_text([*swapped, *texts.dropped_cautions(plan)])


def _dates(plan: Assessment) -> str:
    """Return the plan's days with their dates; empty where the lab's days have none."""
    days, lab = plan.counts.days, plan.pack.lab
    dated = lab.dated_span(lab.start_day, lab.start_day + days - 1) if days else ""
    return f"{_days_text(plan)}{dated}." if dated else ""


def _days_text(plan: Assessment) -> str:
    return count_text(plan.counts.days, "day")


def _refused(registered: Registered) -> Known:
    if registered.run:
        yield Finder.CORE, lines_text(_refusals(registered.run, registered.plan))


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


def _budget(plan: Assessment) -> str:
    lab = plan.pack.lab
    terms = [
        f"{plan.pack.study.term(term.label)}: {texts.term_text(term)} = {lab.money(term.credits)}."
        for term in plan.cost_terms
    ]
    total = f"In all {lab.money(plan.cost)} of {lab.money(lab.budget)}."
    return lines_text([*terms, total])


def _resources(plan: Assessment) -> str:
    lists = {"Equipment": plan.plan.required_equipment, "Materials": plan.plan.required_reagents}
    return lines_text(f"{name}: {'; '.join(labels)}." for name, labels in lists.items() if labels)


def _cuts(registered: Registered) -> Known:
    """Yield each change from the study's own plan; where it is that, what asks for least."""
    plan, reference = registered.plan, documents.reference_of(registered.plan)
    lead, steps = "From the study’s own plan:", field_steps(reference, plan)
    if not steps:
        lead, steps = "To fit this lab:", field_steps(plan, registered.options.least.after)
    if steps:
        yield Finder.CORE, lines_text([lead, *(edit_sentence(step).text for step in steps)])


def _shortfall(registered: Registered) -> Known:
    lines = (
        f"{title}: {text}" if title else text
        for title, found in take_parts(registered.options)
        for text in found
    )
    yield Finder.CORE, lines_text(lines)


def _of_study(read: Callable[[Assessment], str]) -> Callable[[Registered], Known]:
    return lambda registered: [(Finder.STUDY, read(registered.plan))]


def _of_core(read: Callable[[Assessment], str]) -> Callable[[Registered], Known]:
    return lambda registered: [(Finder.CORE, read(registered.plan))]


KNOWN: Final[Mapping[str, Callable[[Registered], Known]]] = {
    "effect": _of_study(lambda plan: plan.pack.paper.key_finding),
    "original_effect": _original_effect,
    "original_interval": _original_interval,
    "original_n": _of_study(
        lambda plan: (
            _stated(counts_text(plan.pack.design.original)) if plan.pack.design.original else ""
        )
    ),
    "original_administration": _of_study(lambda plan: plan.pack.paper.method),
    "here_stimuli": _of_core(lambda plan: _stated("; ".join(plan.plan.required_reagents))),
    "here_measures": _of_core(lambda plan: _stated("; ".join(plan.plan.required_equipment))),
    "here_procedure": _of_core(lambda plan: _stated(plan.plan.technique)),
    "differences": _of_study(_differences),
    "question": _of_study(lambda plan: plan.pack.paper.goal),
    "hypotheses": _of_study(lambda plan: plan.pack.paper.hypothesis),
    "design": _of_core(_design),
    "controls": _of_core(_controls),
    "sample_size": _of_core(_size),
    "sample_rationale": _rationale,
    "inference": _of_core(_inference),
    "success": _of_study(lambda plan: lines_text(filter(is_given, plan.pack.success_criteria))),
    "sensitivity": _of_core(_sensitivity),
    "dates": _of_core(_dates),
    "refused": _refused,
    "budget": _of_core(_budget),
    "staff_time": _of_core(
        lambda plan: f"Staff: {texts.staff_text(plan)}. {_days_text(plan)}{last_day_text(plan)}."
    ),
    "resources": _of_core(_resources),
    "cuts": _cuts,
    "shortfall": _shortfall,
}
"""What is known of a question without its author, by key."""


# --- what is proposed -------------------------------------------------------------------------


def _sameness(category: str) -> Callable[[Assessment], Proposal | None]:
    """Return what proposes how items of a category stand to the study's own."""

    def propose(plan: Assessment) -> Proposal | None:
        own = {label_key(label) for label in getattr(plan.pack.study, category)}
        planned = getattr(plan.plan, f"required_{category}")
        swaps = [swap for swap in plan.substitutions if label_key(swap.original) in own]
        if swaps:
            loss = max(swap.fidelity_loss for swap in swaps)
            named = joined([f"{swap.alternative} for {swap.original}" for swap in swaps])
            alike = _ALIKE[1 if loss <= _CLOSE else 2]
            return Proposal(alike, f"{named}, fidelity loss {loss}")
        kept = {label_key(label) for label in planned}
        if own and own <= kept:
            basis = f"the plan uses all {category} that the study lists; {_ITS_AUTHORS}"
            return Proposal(_ALIKE[0], basis)
        return None

    return propose


def _same_procedure(plan: Assessment) -> Proposal | None:
    """Return how technique, controls and days stand to the study's own plan, where it says any."""
    own = plan.pack.reference_protocol
    if not _stated(own.technique):
        return None
    changed = [
        *([] if label_key(plan.plan.technique) == label_key(own.technique) else ["technique"]),
        *(f"without {control.name}" for control in plan.dropped),
    ]
    days = plan.counts.days, own.duration_days
    if days[0] != days[1]:
        changed.append(f"{_days_text(plan)} in place of {days[1]:,}")
    if not changed:
        basis = f"technique, controls and days are those of the study’s plan; {_ITS_AUTHORS}"
        return Proposal(_ALIKE[0], basis)
    is_far = "technique" in changed or plan.evidence.void_reason is not None
    return Proposal(_ALIKE[2 if is_far else 1], f"against the study’s own plan: {joined(changed)}")


def _stopped(plan: Assessment) -> Proposal | None:
    size = f"{plan.counts.samples:,} {texts.unit_noun(plan.pack.design)}"
    return Proposal(f"With {size}, without an interim analysis.", "the plan has no other rule")


def _stated(text: str) -> str:
    return ended(text) if is_given(text) else ""


PROPOSED: Final[Mapping[str, Callable[[Assessment], Proposal | None]]] = {
    "same_measures": _sameness("equipment"),
    "same_stimuli": _sameness("reagents"),
    "same_procedure": _same_procedure,
    "stopping": _stopped,
}
"""What looks likely, by the question's key."""
HINTS: Final[Mapping[str, Callable[[Assessment], str]]] = {"sample_rationale": _worth}
"""What is known where nobody answers, and is no answer itself."""
