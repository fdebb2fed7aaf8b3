"""The sentences people read first, built from numbers: verdicts, outcomes, what a lab means.

Each comes with a `Status`, so that every place shows the same colour, word and symbol for it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.agents import (
    FeasibilityCheckResult,
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.errors import NegotiationError
from replicalab.evidence import Evidence, planned_evidence
from replicalab.lexicon import amount_text, count_text, joined
from replicalab.models import DIMENSIONS, Dimension, LabManagerActionType, Protocol
from replicalab.negotiation import Outcome, Trace, state_of
from replicalab.negotiation.prospects import none_exists_text, prospect
from replicalab.negotiation.rounds import outcome_of
from replicalab.negotiation.wording import placed_text, size_text
from replicalab.scenarios import EvidenceTier, Pack


class Status(StrEnum):
    """How a verdict is to be shown. Only what holds in every respect is a pass."""

    PASS = "pass"
    CAUTION = "caution"
    FAIL = "fail"


class Verdict(NamedTuple):
    """A sentence and how to show it; ``title`` is its two or three words for narrow places."""

    status: Status
    title: str
    text: str


ANSWER_MEANINGS: Final = {
    LabManagerActionType.ACCEPT: "All seven dimensions pass: the lab runs the plan as it is.",
    LabManagerActionType.REPORT_FEASIBILITY: (
        "The lab has the means, but the plan breaks a restriction or is unsound on paper."
    ),
    LabManagerActionType.SUGGEST_ALTERNATIVE: (
        "The lab cannot run the plan as it is; a changed plan fits all five lab constraints."
    ),
    LabManagerActionType.REJECT: (
        "The lab cannot run the plan, and no change that it may make repairs every constraint."
    ),
}
"""What each of the Lab Manager's four answers means."""

ANSWER_STATUS: Final = {
    LabManagerActionType.ACCEPT: Status.PASS,
    LabManagerActionType.REPORT_FEASIBILITY: Status.CAUTION,
    LabManagerActionType.SUGGEST_ALTERNATIVE: Status.CAUTION,
    LabManagerActionType.REJECT: Status.FAIL,
}

ANSWER_TITLES: Final = {
    LabManagerActionType.ACCEPT: "Accepts",
    LabManagerActionType.REPORT_FEASIBILITY: "Reports",
    LabManagerActionType.SUGGEST_ALTERNATIVE: "Suggests changes",
    LabManagerActionType.REJECT: "Rejects",
}

TIER_STATUS: Final = {
    EvidenceTier.MEETS_TARGET: Status.PASS,
    EvidenceTier.ABOVE_FLOOR: Status.PASS,
    EvidenceTier.BELOW_FLOOR: Status.CAUTION,
}

OUTCOME_TITLES: Final = {
    Outcome.AGREED: "Agreed",
    Outcome.AGREED_BELOW_FLOOR: "Agreed below the floor",
    Outcome.FALSE_AGREEMENT: "False agreement",
    Outcome.NO_DEAL: "No deal",
}

UNFINISHED_TITLE: Final = "Still open"
"""The title of a negotiation that goes on."""

OUTCOME_STATUS: Final = {
    Outcome.AGREED: Status.PASS,
    Outcome.AGREED_BELOW_FLOOR: Status.CAUTION,
    Outcome.FALSE_AGREEMENT: Status.FAIL,
    Outcome.NO_DEAL: Status.FAIL,
}


def plan_verdict(check: FeasibilityCheckResult, evidence: Evidence) -> Verdict:
    """Return what a plan is worth in its lab: can it run, and would it show anything."""
    if not check.feasible:
        what = "Lab-feasible, but not approved" if check.lab_feasible else "Not feasible here"
        text = f"{what}: {failing_text(check.failing)}. {evidence_sentence(evidence)}"
        status = Status.CAUTION if check.lab_feasible else Status.FAIL
        return Verdict(status, "Not approved" if check.lab_feasible else "Not feasible", text)
    text = f"Feasible: all seven dimensions pass. {evidence_sentence(evidence)}"
    title = "Feasible"
    if evidence.tier is EvidenceTier.BELOW_FLOOR:
        title = "Feasible, no evidence" if evidence.void else "Feasible, below the floor"
    return Verdict(evidence_status(evidence), title, text)


def evidence_status(evidence: Evidence) -> Status:
    """Return how evidence is to be shown: none at all is a failure, below the floor a caution."""
    return Status.FAIL if evidence.void else TIER_STATUS[evidence.tier]


def failing_text(failing: list[Dimension]) -> str:
    """Return which dimensions fail: ``budget and schedule fail``."""
    names = [dimension.value for dimension in failing]
    if len(names) == 1:
        return f"{names[0]} fails"
    return f"{', '.join(names[:-1])} and {names[-1]} fail"


def evidence_sentence(evidence: Evidence) -> str:
    """Return what evidence is planned and where it stands to the study's target and floor."""
    if evidence.void:
        return f"It yields no evidence: {evidence.void}."
    return f"Planned evidence: {placed_text(evidence)}."


def plan_size(protocol: Protocol, check: FeasibilityCheckResult, budget: float) -> str:
    """Return a plan in numbers: samples, days, and credits of the budget."""
    return (
        f"{size_text(protocol)} for "
        f"{amount_text(check.estimated_cost)} of {amount_text(budget)} credits"
    )


def outcome_verdict(trace: Trace, scenario: Pack) -> Verdict:
    """Return how a negotiation ended, in one sentence that is true.

    Where no plan above the floor was agreed, it says whether this lab could have run one. A
    negotiation that goes on is told as what is on the table.
    """
    if trace.outcome is None:
        return Verdict(Status.CAUTION, UNFINISHED_TITLE, f"{_so_far(trace, scenario)}.")
    title, status = OUTCOME_TITLES[trace.outcome], OUTCOME_STATUS[trace.outcome]
    last = trace.rounds[-1]
    if trace.ending and outcome_of(trace.ending, last, scenario) is not trace.outcome:
        return _contradiction(trace, outcome_of(trace.ending, last, scenario))
    if last.plan is None:
        text = f"{title}: {trace.ending} with no plan on the table"
        return Verdict(status, title, f"{text}; {_what_could_be(None, scenario)}.")
    check = last.check or check_feasibility(last.plan, scenario)
    size = plan_size(last.plan, check, scenario.lab.budget)
    if trace.outcome in (Outcome.AGREED, Outcome.AGREED_BELOW_FLOOR):
        evidence = planned_evidence(last.plan, scenario)
        status = evidence_status(evidence)
        text = f"{title} in round {len(trace.rounds)}: {size}; {_clause(evidence)}"
    else:
        text = _without_a_plan(trace, check, size)
    if trace.outcome is not Outcome.AGREED:
        text = f"{text}; {_what_could_be(last.plan, scenario)}"
    return Verdict(status, title, f"{text}.")


def _clause(evidence: Evidence) -> str:
    """Return the evidence sentence as the end of another: ``planned evidence: power 0.58, …``."""
    sentence = evidence_sentence(evidence).removesuffix(".")
    return f"{sentence[0].lower()}{sentence[1:]}"


def _contradiction(trace: Trace, found: Outcome) -> Verdict:
    """Return that a file, edited by hand, says of its end what its last round does not bear out."""
    said = OUTCOME_TITLES[trace.outcome] if trace.outcome else UNFINISHED_TITLE
    text = (
        f"This file calls its end '{said}', but {trace.ending} in round {len(trace.rounds)}, and "
        f"that would be '{OUTCOME_TITLES[found]}'."
    )
    return Verdict(Status.FAIL, "Contradicts itself", text)


def _passing_text(check: FeasibilityCheckResult) -> str:
    """Return which dimensions fail, or that none does."""
    if not check.failing:
        return "all seven dimensions pass"
    return failing_text(check.failing)


def _without_a_plan(trace: Trace, check: FeasibilityCheckResult, size: str) -> str:
    """Return a no deal, or an agreement over a plan that fails."""
    rounds, failing = f"round {len(trace.rounds)}", _passing_text(check)
    if trace.outcome is Outcome.NO_DEAL:
        return f"No deal after {rounds}: {trace.ending}; the last plan was {size}, and {failing}"
    why = "does not approve" if check.lab_feasible else "cannot run"
    return (
        f"False agreement in {rounds}: {trace.ending}, but {failing}, so the lab {why} the plan of "
        f"{size}"
    )


def _what_could_be(plan: Protocol | None, scenario: Pack) -> str:
    """Return the plan above the floor that this lab could run, or that none exists."""
    found = prospect(plan, scenario)
    if not found.exists:
        return none_exists_text(found, scenario)
    best = found.best
    return f"in this lab {size_text(best.plan)} would have reached {best.price.evidence.text}"


def _so_far(trace: Trace, scenario: Pack) -> str:
    """Return which round is next, and what is on the table."""
    played, most = len(trace.rounds), trace.setup.max_rounds
    here = f"Round {played + 1} of {most}" if played < most else f"After round {played} of {most}"
    last = trace.rounds[-1] if trace.rounds else None
    if last is None or last.plan is None:
        return f"{here}: no plan is on the table yet"
    check = last.check or check_feasibility(last.plan, scenario)
    size = plan_size(last.plan, check, scenario.lab.budget)
    text = f"{here}: on the table is the plan of {size}, and {_passing_text(check)}"
    offer = _standing_offer(trace, scenario)
    if offer is None:
        return text
    has = placed_text(planned_evidence(offer, scenario))
    return f"{text}; the Lab Manager offers {size_text(offer)}: {has}"


def _standing_offer(trace: Trace, scenario: Pack) -> Protocol | None:
    """Return the Lab Manager's offer; none where a file goes on after what ends a negotiation."""
    try:
        return state_of(trace, scenario).offer
    except NegotiationError:
        return None


def offer_story(scenario: Pack) -> Verdict:
    """Return what happens when a study's reference protocol is proposed in this lab."""
    plan = scenario.reference_protocol
    check = check_feasibility(plan, scenario)
    suggestion = suggest_alternative(plan, check, scenario)
    answer = compose_lab_manager_response(check, suggestion).action_type
    opening = f"The reference protocol ({_need(plan, check)})"
    before = planned_evidence(plan, scenario)
    if suggestion is None:
        passes = f"{opening} passes all {len(DIMENSIONS)} checks. This lab can run it."
        text = f"{passes} {evidence_sentence(before)}"
        return Verdict(plan_verdict(check, before).status, ANSWER_TITLES[answer], text)
    short = f"{opening} fails {_counted_failing(check.failing)}."
    if answer is not LabManagerActionType.SUGGEST_ALTERNATIVE:
        text = f"{short} {_cannot(answer, suggestion.remaining_failures)}"
        return Verdict(ANSWER_STATUS[answer], ANSWER_TITLES[answer], text)
    revised, left = suggestion.revised_protocol, suggestion.post_check.failing
    after = planned_evidence(revised, scenario)
    text = (
        f"{short} The Lab Manager offers {_need(revised, suggestion.post_check)}: "
        f"{_evidence_move(before, after)}."
    )
    if left:
        text = f"{text} Still {failing_text(left)}."
    worthless = after.tier is EvidenceTier.BELOW_FLOOR
    status = Status.FAIL if left or worthless else Status.CAUTION
    return Verdict(status, ANSWER_TITLES[answer], text)


def _counted_failing(failing: list[Dimension]) -> str:
    names = joined([dimension.value for dimension in failing])
    return f"{len(failing)} of {len(DIMENSIONS)} checks here: {names}"


def _need(plan: Protocol, check: FeasibilityCheckResult) -> str:
    return (
        f"{count_text(plan.sample_size, 'sample')}, {count_text(plan.duration_days, 'day')}, "
        f"{amount_text(check.estimated_cost)} credits"
    )


def _cannot(answer: LabManagerActionType, remaining: list[str]) -> str:
    if answer is LabManagerActionType.REPORT_FEASIBILITY:
        return "The lab has the means, but the Lab Manager does not approve it."
    dimensions = failing_text([Dimension(name) for name in remaining])
    return f"The Lab Manager rejects it: after every change it may make, {dimensions}."


def _evidence_move(before: Evidence, after: Evidence) -> str:
    if before.void:
        return placed_text(after)
    planned = f"the planned {before.measure}"
    was, now = before.amount(before.value), after.amount(after.value)
    if after.void:
        return f"{planned} of {was} is lost, since {after.void}"
    stands = placed_text(after).removeprefix(after.text)
    if was == now:
        return f"{planned} stays {now}{stands}"
    move = "rises" if after.value > before.value else "falls"
    return f"{planned} {move} from {was} to {now}{stands}"


def terms_text(scenario: Pack) -> str:
    """Return what a sample, the evidence, its target and its floor mean in this study."""
    evidence = planned_evidence(scenario.reference_protocol, scenario)
    target, floor = evidence.amount(evidence.target), evidence.amount(evidence.floor)
    bounds = f"target {target}: what the study aims for; floor {floor}: the least worth running"
    unit = scenario.design.unit_of_n
    return f"Samples: {unit}. {evidence.measure.capitalize()}: {evidence.row.meaning}; {bounds}."
