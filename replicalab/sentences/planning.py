"""What to do about a plan, in sentences: the next step, the difference, what a change loses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from replicalab.agents import (
    AlternativeSuggestion,
    FeasibilityCheckResult,
    check_feasibility,
    suggest_alternative,
)
from replicalab.concessions import PlanPrice, dropped_controls, plan_concession, price
from replicalab.evidence import Evidence
from replicalab.lexicon import capitalised, count_text, joined
from replicalab.margins import Margin, margins
from replicalab.models import FIELD_LABELS, Dimension, Protocol
from replicalab.negotiation.wording import size_text
from replicalab.planner import Asks, LeastLoss, Single, asks, least_loss, singles
from replicalab.policy import Violation, violations
from replicalab.scenarios import Control, EvidenceTier, Pack
from replicalab.sentences.verdicts import failing_text

_KEPT_TEXTS: Final = ("technique", "rationale")
_ITEMS: Final = (Dimension.EQUIPMENT, Dimension.REAGENTS)
_OVER: Final = {
    Dimension.BUDGET: ("credit", "too many"),
    Dimension.SCHEDULE: ("day", "too many"),
    Dimension.STAFF: ("staff unit", "too few"),
}


class Options(NamedTuple):
    """What may be done about a plan in its lab.

    Attributes:
        check: of the plan as it is.
        suggestion: the Lab Manager's, None when the plan is feasible.
        least: the plan for the same lab that gives up the least.
        asks: what the lab would have to add instead.
        singles: what each single addition would open.
    """

    plan: Protocol
    check: FeasibilityCheckResult
    suggestion: AlternativeSuggestion | None
    least: LeastLoss
    asks: Asks
    singles: tuple[Single, ...] = ()

    @property
    def offer(self) -> Protocol:
        """The plan with all the changes that the Lab Manager suggests."""
        return self.plan if self.suggestion is None else self.suggestion.revised_protocol


def options_for(plan: Protocol, scenario: Pack) -> Options:
    """Return what may be done about a plan: from the Lab Manager, the planner, and the lab."""
    check = check_feasibility(plan, scenario)
    suggestion = suggest_alternative(plan, check, scenario)
    wanted = asks(plan, scenario)
    opened = singles(wanted, plan, scenario)
    return Options(plan, check, suggestion, least_loss(plan, scenario), wanted, opened)


# --- the next step --------------------------------------------------------------------------


def what_to_do(options: Options, scenario: Pack) -> str:
    """Return what fails, what the Lab Manager would do about it, and the least-loss way."""
    first = f"{_do_not_run(scenario)}{_put_back(options.plan, scenario)}"
    if options.suggestion is None:
        proof = proof_text(options.least, scenario)
        after = f" {proof}." if proof else ""
        return f"{first}{difference_text(options, scenario)}{after}"
    short = shortage_text(options.plan, options.check, scenario)
    ways = f"{_managers_way(options, options.suggestion, scenario)} {_least_way(options, scenario)}"
    return f"{first}{short}. {ways}"


def _do_not_run(scenario: Pack) -> str:
    most = scenario.lab.days
    if most >= scenario.min_days:
        return ""
    needs = count_text(scenario.min_days, "day")
    return f"Do not run this here: the study's endpoint needs {needs}, and the lab has {most}. "


def _put_back(plan: Protocol, scenario: Pack) -> str:
    fixed = [f"'{c.name}'" for c in dropped_controls(plan, scenario) if not c.droppable]
    return f"Put back {joined(fixed)}: the study is void without it. " if fixed else ""


def shortage_text(plan: Protocol, check: FeasibilityCheckResult, scenario: Pack) -> str:
    """Return what fails, in numbers: ``1,250 credits too many and 1 item missing``."""
    found = {margin.dimension: margin for margin in margins(plan, check, scenario)}
    return capitalised(joined(list(_shortages(found)) or [failing_text(check.failing)]))


def _shortages(found: dict[Dimension, Margin]) -> Iterator[str]:
    for dimension, (noun, word) in _OVER.items():
        if found[dimension].slack < 0:
            yield f"{count_text(-found[dimension].slack, noun)} {word}"
    missing = sum(-found[dimension].slack for dimension in _ITEMS)
    if missing > 0:
        yield f"{count_text(missing, 'item')} missing"
    if not found[Dimension.POLICY].ok:
        yield "a restriction broken"


def _managers_way(options: Options, suggestion: AlternativeSuggestion, scenario: Pack) -> str:
    if not suggestion.applied_changes:
        return "The Lab Manager knows no change that would help."
    if suggestion.remaining_failures:
        still = failing_text(suggestion.post_check.failing)
        return f"After every change that the Lab Manager may make, {still}."
    step = plan_concession(options.plan, options.offer, scenario)
    verb = f"offer {size_text(options.offer)}"
    if {change.field for change in suggestion.applied_changes} == {"sample_size"}:
        halved = options.offer.sample_size == options.plan.sample_size // 2
        verb = f"{'halve' if halved else 'cut'} the sample to {options.offer.sample_size:,}"
    return f"The Lab Manager would {verb}: {step.evidence_text}{_below(step.new.evidence)}."


def _below(evidence: Evidence) -> str:
    """Return that a revision's evidence is below the floor; empty when it is not, or is none."""
    if evidence.void or evidence.tier is not EvidenceTier.BELOW_FLOOR:
        return ""
    return f", below the floor of {evidence.amount(evidence.floor)}"


def _least_way(options: Options, scenario: Pack) -> str:
    least = options.least
    proof = proof_text(least, scenario)
    if least.none_feasible or least.price.evidence.void:
        return f"{proof}."
    if least.plan == options.offer:
        return f"{proof or 'No plan for this lab gives up less'}."
    opening = f"{proof}. " if proof else ""
    dropped = [f"'{control.name}'" for control in _newly_dropped(options.plan, least, scenario)]
    without = f" without {joined(dropped)}" if dropped else ""
    size = f"{_cut_text(options.plan, least.plan)}{without}"
    return f"{opening}Same lab, least loss: {size}: {least.price.evidence.text}."


def _cut_text(before: Protocol, after: Protocol) -> str:
    """Return a revision's two numbers, and which is cut: ``all 24 samples in 22 days instead``."""
    samples = count_text(after.sample_size, "sample")
    if after.sample_size == before.sample_size > 1:
        samples = f"all {samples}"
    elif after.sample_size < before.sample_size:
        samples = f"{after.sample_size:,} of {count_text(before.sample_size, 'sample')}"
    days = count_text(after.duration_days, "day")
    if after.duration_days != before.duration_days:
        days = f"{days} instead of {before.duration_days:,}"
    return f"{samples} in {days}"


def _newly_dropped(plan: Protocol, least: LeastLoss, scenario: Pack) -> list[Control]:
    before = {control.name for control in dropped_controls(plan, scenario)}
    return [control for control in least.price.dropped if control.name not in before]


# --- the least-loss plan against the other --------------------------------------------------


def difference_text(options: Options, scenario: Pack) -> str:
    """Return in one sentence how the least-loss plan differs from the Lab Manager's, or yours."""
    least, offer = options.least, options.offer
    if least.price.evidence.void:
        return f"Nothing to gain here: {_void_reason(least, scenario)}."
    whose = "your plan" if offer == options.plan else "the Lab Manager's plan"
    if least.plan == offer:
        return f"Nothing to gain: in this lab no revision of {whose} gives up less."
    parts = list(_size_differences(offer, least.plan))
    size = f"{joined(parts)} than {whose}" if parts else f"other items than {whose}"
    gone = [f"'{control.name}'" for control in _newly_dropped(offer, least, scenario)]
    without = f", without {joined(gone)}" if gone else ""
    evidence = _instead(price(offer, scenario), least.price)
    return f"Same lab, {size}{without}: {evidence}{_passing(options)}."


def _void_reason(least: LeastLoss, scenario: Pack) -> str:
    most = scenario.lab.days
    if most < scenario.min_days:
        needs = count_text(scenario.min_days, "day")
        return f"the study's endpoint needs {needs}, and the lab gives {most}"
    return least.price.evidence.void or ""


def _size_differences(before: Protocol, after: Protocol) -> Iterator[str]:
    for noun, old, new in (
        ("sample", before.sample_size, after.sample_size),
        ("day", before.duration_days, after.duration_days),
    ):
        if new != old:
            yield count_text(abs(new - old), noun, "more" if new > old else "fewer")


def _instead(old: PlanPrice, new: PlanPrice) -> str:
    before, after = old.evidence, new.evidence
    if before.text == after.text:
        return f"{after.text} either way"
    was = before.text if before.void or after.void else before.amount(before.value)
    return f"{after.text} instead of {was}"


def _passing(options: Options) -> str:
    """Return the verdicts where they differ: more evidence means little when a limit breaks."""
    if options.suggestion is None or options.suggestion.post_check.feasible:
        return ""
    failing = options.suggestion.post_check.failing
    if options.least.check.feasible:
        return f"; it passes all seven dimensions, where {failing_text(failing)} otherwise"
    return f"; {failing_text(options.least.check.failing)} either way"


def proof_text(least: LeastLoss, scenario: Pack) -> str:
    """Return what the search has proven, without a full stop; empty when the floor is reached."""
    broken = _stated_violations(least.plan, scenario)
    if least.none_feasible and broken:
        return _reword_text(least, broken)
    if least.none_feasible:
        still = failing_text(least.check.failing)
        return f"No plan for this lab passes all seven dimensions: {still} at best"
    if least.none_above_floor:
        evidence = least.price.evidence
        floor = f"{evidence.measure} {evidence.amount(evidence.floor)}"
        return f"No plan for this lab reaches the floor of {floor}"
    return ""


def _stated_violations(plan: Protocol, scenario: Pack) -> list[Violation]:
    """Return what breaks a restriction in the texts, which the search keeps as they are."""
    found = violations(plan, scenario.policy_rules)
    return [each for each in found if each.field in _KEPT_TEXTS]


def _reword_text(least: LeastLoss, broken: list[Violation]) -> str:
    phrases = joined([f"'{v.phrase}' from the {FIELD_LABELS[v.field].lower()}" for v in broken])
    text = (
        "Your wording breaks a restriction, and the search does not change wording. "
        f"Remove {phrases}"
    )
    failing = least.check.failing
    others: list[Dimension] = [each for each in failing if each is not Dimension.POLICY]
    if not others:
        return text
    return f"{text}; even then no plan for this lab passes: {failing_text(others)} at best"


def search_text(least: LeastLoss, scenario: Pack) -> str:
    """Return what the search has proven, with what was searched; empty when nothing is missing.

    The search keeps the technique and the rationale, so the proof holds for them.
    """
    proof = proof_text(least, scenario)
    if proof and _stated_violations(least.plan, scenario):
        return f"{proof}."
    days = scenario.lab.days
    searched = (
        f"Searched: every number of days up to {days}, every allowed substitution, every set of "
        "droppable controls, every sample size"
    )
    return f"{proof}. {searched}." if proof else ""


# --- words ----------------------------------------------------------------------------------
