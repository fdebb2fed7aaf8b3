"""The Lab Manager: it checks a plan, looks for a better one, and answers in words.

No model is called here; the same plan in the same lab always gets the same answer. The fixes
stand in `suggestions`; every name that the document gives this module can be imported from it.
Source: docs/methods.md, Lab Manager.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from pydantic import TypeAdapter

from replicalab.agents.suggestions import (
    AlternativeSuggestion,
    Offer,
    suggest_alternative,
)
from replicalab.assessment import (
    DIMENSION_ROWS,
    Assessment,
    DimensionCheck,
    FeasibilityCheckResult,
    assess,
)
from replicalab.assessment.fixes import SuggestionChange
from replicalab.assessment.phrases import days_text
from replicalab.lexicon import count_text, label_key, lines_text, money_text, quoted
from replicalab.models import (
    FIELD_LABELS,
    LAB_DIMENSIONS,
    Dimension,
    LabManagerAction,
    LabManagerActionType,
    NonEmptyText,
    Protocol,
)
from replicalab.scenarios import Pack, ResourceCategory, ScenarioResource

__all__ = [
    "AlternativeSuggestion",
    "DimensionCheck",
    "ExplanationRenderer",
    "FeasibilityCheckResult",
    "SuggestionChange",
    "_build_protocol_check",
    "_check_budget",
    "_check_equipment",
    "_check_policy",
    "_check_reagents",
    "_check_schedule",
    "_check_staff",
    "check_feasibility",
    "compose_lab_manager_response",
    "suggest_alternative",
]

ExplanationRenderer = Callable[
    [LabManagerActionType, FeasibilityCheckResult, AlternativeSuggestion | None], str
]
_EXPLANATION: Final = TypeAdapter[str](NonEmptyText)
_FLAGS: Final = [(f"{dimension}_ok", dimension) for dimension in LAB_DIMENSIONS]
_OF_THE_LAB: Final = frozenset(LAB_DIMENSIONS)
_FIELD_NAMES: Final = {field: label.lower() for field, label in FIELD_LABELS.items()}
_OPENINGS: Final = {
    LabManagerActionType.REPORT_FEASIBILITY: "The lab can run this plan, but I do not approve it:",
    LabManagerActionType.SUGGEST_ALTERNATIVE: "The lab cannot run this plan as it stands:",
    LabManagerActionType.REJECT: "I reject this plan:",
}


def check_feasibility(protocol: Protocol, scenario: Pack) -> FeasibilityCheckResult:
    """Return the seven checks of a plan in a lab; neither is changed, nothing is raised."""
    return assess(protocol, scenario).check


# The document's names of the rows' reasons
_build_protocol_check = DIMENSION_ROWS[Dimension.PROTOCOL].reasons
_check_budget = DIMENSION_ROWS[Dimension.BUDGET].reasons
_check_equipment = DIMENSION_ROWS[Dimension.EQUIPMENT].reasons
_check_reagents = DIMENSION_ROWS[Dimension.REAGENTS].reasons
_check_schedule = DIMENSION_ROWS[Dimension.SCHEDULE].reasons
_check_staff = DIMENSION_ROWS[Dimension.STAFF].reasons
_check_policy = DIMENSION_ROWS[Dimension.POLICY].reasons


def _estimate_protocol_cost(protocol: Protocol, scenario: Pack) -> float:
    """Return what a plan costs in a lab: the document's name of `Assessment.cost`."""
    return assess(protocol, scenario).cost


def _estimate_staff_load(protocol: Protocol, scenario: Pack) -> int:
    """Return how many staff units a plan needs: the document's name of `Assessment.staff`."""
    return assess(protocol, scenario).staff


def compose_lab_manager_response(
    check_result: FeasibilityCheckResult,
    suggestion: AlternativeSuggestion | None = None,
    explanation_renderer: ExplanationRenderer | None = None,
) -> LabManagerAction:
    """Return the Lab Manager's answer; a renderer may reword it but never moves the verdict.

    A renderer that raises, or returns anything but a non-blank string, falls back to the
    built-in explanation.
    """
    offered = None
    if suggestion is not None:
        offered = _Offered(
            suggestion.revised_protocol,
            suggestion.applied_changes,
            suggestion.improved,
            suggestion.remaining_failures,
            _verdict_of(suggestion.post_check),
        )
    answer = _answer(_verdict_of(check_result), offered)
    if explanation_renderer is None:
        return answer
    with suppress(Exception):  # a foreign renderer may fail in any way
        text = explanation_renderer(answer.action_type, check_result, suggestion)
        explanation = _EXPLANATION.validate_python(text, strict=True)
        return answer.model_copy(update={"explanation": explanation})
    return answer


def answer_to(plan: Assessment, offer: Offer | None) -> LabManagerAction:
    """Return the Lab Manager's answer to a plan that is judged, and to what was found instead."""
    reasons, currency = plan.reasons.items(), plan.pack.lab.currency
    said = _Verdict(plan.failing, reasons, plan.cost, plan.staff, currency, plan.pack.study.term)
    offered = None
    if offer is not None:
        after, failing = offer.after, offer.after.failing
        # Nobody reads the reasons of an offer: they are still the plan's.
        verdict = said._replace(failing=failing, credits=after.cost, staff=after.staff)
        offered = _Offered(after.plan, offer.changes, offer.improved, failing, verdict)
    return _answer(said, offered)


def answer_type_to(plan: Assessment, offer: Offer | None) -> LabManagerActionType:
    """Return of which type that answer is."""
    return _type(plan.failing, offer.after.failing if offer and offer.improved else None)


class _Verdict(NamedTuple):
    """What an answer says of a plan, be it checked in the document's form or an Assessment."""

    failing: Sequence[str]
    reasons: Iterable[tuple[str, Sequence[str]]]
    credits: float
    staff: int
    currency: str
    term: Callable[[str], str] = str

    @property
    def need(self) -> str:
        staff = count_text(self.staff, "staff unit")
        return f"costs {money_text(self.credits, self.currency)} and needs {staff}"


class _Offered(NamedTuple):
    """What an answer says of another plan."""

    plan: Protocol
    changes: Sequence[SuggestionChange]
    improved: bool
    remaining: Sequence[str]
    verdict: _Verdict


def _verdict_of(check: FeasibilityCheckResult) -> _Verdict:
    failing = check.failing
    reasons = [(dimension, check.check(dimension).reasons) for dimension in failing]
    cost, people = check.estimated_cost, check.required_staff
    return _Verdict(failing, reasons, cost, people, check.currency)


def _select_lab_manager_action_type(
    check_result: FeasibilityCheckResult, suggestion: AlternativeSuggestion | None
) -> LabManagerActionType:
    """Return what the Lab Manager answers to a checked plan."""
    mended = suggestion.post_check.failing if suggestion and suggestion.improved else None
    return _type(check_result.failing, mended)


def _type(failing: Sequence[str], mended: Sequence[str] | None) -> LabManagerActionType:
    """Return the type of an answer; ``mended`` is what still fails where an offer fails less."""
    if not failing:
        return LabManagerActionType.ACCEPT
    if _OF_THE_LAB.isdisjoint(failing):
        return LabManagerActionType.REPORT_FEASIBILITY
    if mended is not None and _OF_THE_LAB.isdisjoint(mended):
        return LabManagerActionType.SUGGEST_ALTERNATIVE
    return LabManagerActionType.REJECT


def _answer(verdict: _Verdict, offered: _Offered | None) -> LabManagerAction:
    mended = offered.verdict.failing if offered and offered.improved else None
    action_type = _type(verdict.failing, mended)
    suggests = action_type is LabManagerActionType.SUGGEST_ALTERNATIVE
    plan = offered.plan if offered and suggests else None
    fields: dict[str, object] = {
        "action_type": action_type,
        "feasible": _OF_THE_LAB.isdisjoint(verdict.failing),
        "suggested_technique": plan.technique if plan else "",
        "suggested_sample_size": plan.sample_size if plan else 0,
        "suggested_controls": list(plan.controls) if plan else [],
        "explanation": _explanation(action_type, verdict, offered),
        **{flag: dimension not in verdict.failing for flag, dimension in _FLAGS},
    }
    return LabManagerAction.model_validate(fields)


def _explanation(
    action_type: LabManagerActionType, verdict: _Verdict, offered: _Offered | None
) -> str:
    """Return the verdict, each failing reason, and what changes would do, if any are known."""
    if action_type is LabManagerActionType.ACCEPT:
        return f"I accept: all seven dimensions pass. The plan {verdict.need}."
    lines = [_OPENINGS[action_type]]
    lines += [
        f"- {verdict.term(dimension)}: {why}"
        for dimension, reasons in verdict.reasons
        for why in reasons
    ]
    if action_type is LabManagerActionType.REPORT_FEASIBILITY:
        return lines_text(lines)
    if offered is None or not offered.changes:
        return lines_text([*lines, "I see no change that would help."])
    rejects = action_type is LabManagerActionType.REJECT
    lines.append("These changes alone are not enough:" if rejects else "I offer instead:")
    lines += [
        f"- {verdict.term(_FIELD_NAMES[change.field])}: {change.original} → {change.revised}. "
        f"{change.reason} What is lost: {change.tradeoff}"
        for change in offered.changes
    ]
    outcome = f"still failing: {', '.join(map(verdict.term, offered.remaining))}."
    if not offered.verdict.failing:
        outcome = "all seven dimensions pass."
    plan = f"That plan {offered.verdict.need}; {outcome}"
    return lines_text([*lines, outcome.capitalize() if rejects else plan])


# --- what it answers to a question ------------------------------------------------------------


def answer_questions(questions: Sequence[str], scenario: Pack) -> str:
    """Return the answer: what each question names, or the whole lab when it names nothing.

    It is the lab's own data, never the hidden reference.
    """
    asked = " ".join(label_key(question) for question in questions)
    items = [r for r in scenario.resources if r.category is not ResourceCategory.PERSONNEL]
    named = [item for item in items if label_key(item.label) in asked]
    for item in sorted(named, key=lambda item: len(item.label), reverse=True):
        asked = asked.replace(label_key(item.label), " ")  # a name may hold a topic's word
    lines = [_standing(item, scenario) for item in named]
    lines += [answer(scenario) for words, answer in _TOPICS if re.search(rf"\b(?:{words})", asked)]
    return lines_text(lines or [answer(scenario) for _, answer in _TOPICS])


def _standing(item: ScenarioResource, scenario: Pack) -> str:
    text = f"'{item.label}' is {scenario.inventory.standing(item.label, item.category.value)}"
    if options := quoted(scenario.inventory.alternatives(item.label)):
        text += f"; may be replaced by {' or '.join(options)}"
    return f"{text}."


def _listed(category: ResourceCategory, scenario: Pack) -> str:
    items = [_standing(item, scenario) for item in scenario.resources if item.category is category]
    name = "Equipment" if category is ResourceCategory.EQUIPMENT else "Reagents"
    return f"{scenario.study.term(name)}: {' '.join(items) or 'none.'}"


# The words that begin a topic's question, and what is answered to it.
_TOPICS: Final[tuple[tuple[str, Callable[[Pack], str]], ...]] = (
    (
        "budget|credit|cost|money|afford",
        lambda pack: (
            f"Budget: {pack.lab.money(pack.lab.budget)} "
            f"{'remains' if pack.lab.budget == 1 else 'remain'}."
        ),
    ),
    (
        r"days?\b|time|long|schedule|deadline|calendar",
        lambda pack: f"Time: at most {days_text(pack.lab)}.",
    ),
    (
        r"staff|people|person|hands|who\b",
        lambda pack: f"Staff: {count_text(pack.lab.staff, 'staff unit')}.",
    ),
    ("equipment|instrument|device|machine|booked", partial(_listed, ResourceCategory.EQUIPMENT)),
    ("reagent|stock|material|suppl|consumable", partial(_listed, ResourceCategory.REAGENT)),
    (
        r"polic|restrict|safe|allowed|rules?\b|forbidden",
        lambda pack: (
            f"Restrictions: {' '.join(r.restriction for r in pack.policy_rules) or 'none.'}"
        ),
    ),
)
