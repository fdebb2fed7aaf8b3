"""The Lab Manager: checks, changes and answers; source: docs/methods.md, Lab Manager."""

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from pydantic import TypeAdapter

from replicalab import assessment, models
from replicalab.assessment import DIMENSION_ROWS, Assessment, FeasibilityCheckResult, assess
from replicalab.assessment import DimensionCheck as DimensionCheck  # noqa: PLC0414 - re-exported
from replicalab.assessment.dimensions import SuggestionChange, apply_changes, change_of
from replicalab.lexicon import capitalised, count_text, label_key, lines_text, money_text, quoted
from replicalab.models import LAB_DIMENSIONS, LabManagerAction, LabManagerActionType, Protocol
from replicalab.scenarios import Pack, ResourceCategory, ScenarioResource

HALVINGS: Final = 10
_OF_THE_LAB: Final = frozenset(LAB_DIMENSIONS)


def check_feasibility(protocol: Protocol, scenario: Pack) -> FeasibilityCheckResult:
    """Return the seven checks of a plan in a lab."""
    return assess(protocol, scenario).check


# The document's names of the rows' reasons
_build_protocol_check = DIMENSION_ROWS[models.Dimension.PROTOCOL].reasons
_check_budget = DIMENSION_ROWS[models.Dimension.BUDGET].reasons
_check_equipment = DIMENSION_ROWS[models.Dimension.EQUIPMENT].reasons
_check_reagents = DIMENSION_ROWS[models.Dimension.REAGENTS].reasons
_check_schedule = DIMENSION_ROWS[models.Dimension.SCHEDULE].reasons
_check_staff = DIMENSION_ROWS[models.Dimension.STAFF].reasons
_check_policy = DIMENSION_ROWS[models.Dimension.POLICY].reasons


def _estimate_protocol_cost(protocol: Protocol, scenario: Pack) -> float:
    return assess(protocol, scenario).cost


def _estimate_staff_load(protocol: Protocol, scenario: Pack) -> int:
    return assess(protocol, scenario).staff


class AlternativeSuggestion(models.Record):
    """A revised plan, its changes, and the checks before and after."""

    revised_protocol: Protocol
    applied_changes: list[SuggestionChange]
    remaining_failures: list[str]
    improved: models.Flag
    pre_check: FeasibilityCheckResult
    post_check: FeasibilityCheckResult


@dataclass(frozen=True)
class Offer(models.NotebookView):
    """A revised plan as the Lab Manager's answer to one that is not feasible."""

    before: Assessment
    after: Assessment
    changes: tuple[SuggestionChange, ...]

    @property
    def improved(self) -> bool:
        """Whether fewer dimensions fail, without a new one."""
        return set(self.after.failing) < set(self.before.failing)


def suggest_alternative(
    protocol: Protocol, check_result: FeasibilityCheckResult, scenario: Pack
) -> AlternativeSuggestion | None:
    """Return the plan after the four fixes in order, None if already feasible."""
    offer = reference_offer(assess(protocol, scenario))
    if offer is None:
        return None
    return AlternativeSuggestion(
        revised_protocol=offer.after.plan,
        applied_changes=[*offer.changes],
        remaining_failures=[*map(str, offer.after.failing)],
        improved=offer.improved,
        pre_check=check_result,
        post_check=offer.after.check,
    )


def reference_offer(plan: Assessment) -> Offer | None:
    """Return the offer of `suggest_alternative` for a judged plan."""
    if plan.feasible:
        return None
    listed = {item.key for item in plan.items}
    fixes = [row.fix for row in DIMENSION_ROWS.values() if row.fix]
    changes = [change for fix in fixes for change in fix(plan, listed)]
    revised = apply_changes(plan.plan, changes)
    if change := _sample_reduction(assessment.counts_of(revised, plan.pack), plan.pack):
        changes.append(change)
        revised = apply_changes(revised, [change])
    return Offer(plan, plan.revised(revised) if changes else plan, tuple(changes))


def _sample_reduction(before: assessment.Counts, pack: Pack) -> SuggestionChange | None:
    # The last change: halve until the budget fits, then until a staff unit is saved.
    sizes, halvings, reasons = [before.samples], 0, list[str]()
    minimum = before.controls + 1
    while sizes[-1] > minimum and len(sizes) <= HALVINGS:
        sizes.append(max(sizes[-1] // 2, minimum))

    def lacking(limit: assessment.LabLimit, place: int) -> float:
        needed = limit.needed(before._replace(samples=sizes[place]), pack)
        return needed - limit.has(pack.lab)

    for limit in assessment.lab_limits().values():
        if limit.halved is None or lacking(limit, halvings) <= 0:
            continue
        if lacking(limit, -1) > 0:
            break  # the last halving needs least
        reasons.append(limit.halved(lacking(limit, 0), pack.lab))
        halvings = next(n for n in range(len(sizes)) if lacking(limit, n) <= 0)
    if not halvings:
        return None
    times = {1: "once", 2: "twice"}.get(halvings, f"{halvings} times")
    samples = sizes[halvings]
    reason = f"{capitalised('; '.join(reasons))}; the sample is halved {times}."
    fewer = count_text(before.samples - samples, pack.design.sample_noun)
    lost = f"{fewer} fewer: {_evidence_lost(samples, before, pack)}."
    return change_of("sample_size", before.samples, samples, reason, lost)


def _evidence_lost(samples: int, before: assessment.Counts, pack: Pack) -> str:
    rate, population = pack.samples_per_day, pack.design.population_max
    usable = int(before.samples if rate is None else min(before.samples, rate.value * before.days))
    counted = assessment.counted_of(
        pack.design, usable if population is None else min(usable, population)
    )
    if before.days < pack.min_days or not counted:
        return "there is no evidence to lose"
    is_weaker = assessment.counted_of(pack.design, samples) < counted
    return "weaker evidence" if is_weaker else "the evidence is no weaker for it"


ExplanationRenderer = Callable[
    [LabManagerActionType, FeasibilityCheckResult, AlternativeSuggestion | None], str
]
_EXPLANATION: Final = TypeAdapter[str](models.NonEmptyText)
_OPENINGS: Final = {
    LabManagerActionType.REPORT_FEASIBILITY: "The lab can run this plan, but I do not approve it:",
    LabManagerActionType.SUGGEST_ALTERNATIVE: "The lab cannot run this plan as it stands:",
    LabManagerActionType.REJECT: "I reject this plan:",
}
_PASSES: Final = "all seven dimensions pass."


def compose_lab_manager_response(
    check_result: FeasibilityCheckResult,
    suggestion: AlternativeSuggestion | None = None,
    explanation_renderer: ExplanationRenderer | None = None,
) -> LabManagerAction:
    """Return the Lab Manager's answer; a renderer may reword it but never moves the verdict."""
    reasons = {d.value: check_result.check(d).reasons for d in check_result.failing}
    answer = _answer(check_result, reasons, suggestion)
    if explanation_renderer is None:
        return answer
    with suppress(Exception):  # a foreign renderer may fail in any way, or return a blank text
        text = explanation_renderer(answer.action_type, check_result, suggestion)
        explanation = _EXPLANATION.validate_python(text, strict=True)
        return answer.model_copy(update={"explanation": explanation})
    return answer


def answer_to(plan: Assessment, offer: Offer | None) -> LabManagerAction:
    """Return the Lab Manager's answer to a judged plan, with its offer."""
    reasons = {dimension: plan.reasons[dimension] for dimension in plan.failing}
    return _answer(plan, reasons, offer, plan.pack.study.term)


def answer_type_to(plan: Assessment, offer: Offer | None) -> LabManagerActionType:
    """Return the type of that answer."""
    return _type(plan.failing, offer.after.failing if offer and offer.improved else None)


def _select_lab_manager_action_type(
    check_result: FeasibilityCheckResult, suggestion: AlternativeSuggestion | None
) -> LabManagerActionType:
    still_failing = suggestion.remaining_failures if suggestion and suggestion.improved else None
    return _type(check_result.failing, still_failing)


def _type(failing: Collection[str], still_failing: Collection[str] | None) -> LabManagerActionType:
    # ``still_failing``: dimensions that fail after an improving offer, or None.
    if not failing:
        return LabManagerActionType.ACCEPT
    if _OF_THE_LAB.isdisjoint(failing):
        return LabManagerActionType.REPORT_FEASIBILITY
    if still_failing is not None and _OF_THE_LAB.isdisjoint(still_failing):
        return LabManagerActionType.SUGGEST_ALTERNATIVE
    return LabManagerActionType.REJECT


def _answer(
    judged: Assessment | FeasibilityCheckResult,
    reasons: dict[str, list[str]],
    offer: Offer | AlternativeSuggestion | None,
    term: Callable[[str], str] = str,
) -> LabManagerAction:
    revised, changes, after = _parts_of(offer)
    kind = _type(reasons, after.failing if after and offer and offer.improved else None)
    suggests = kind is LabManagerActionType.SUGGEST_ALTERNATIVE
    plan = revised if suggests else None
    lines = [f"I accept: {_PASSES} The plan {_cost_text(judged)}."]
    if kind is not LabManagerActionType.ACCEPT:
        rows = [(term(dimension), text) for dimension in reasons for text in reasons[dimension]]
        lines = [_OPENINGS[kind], *(f"- {dimension}: {text}" for dimension, text in rows)]
    if suggests or kind is LabManagerActionType.REJECT:
        if after is None or not changes:
            lines.append("I see no change that would help.")
        else:
            lines.append("I offer instead:" if suggests else "These changes alone are not enough:")
            lines += [_change_line(change, term) for change in changes]
            failing = ", ".join(map(term, after.failing))
            outcome = f"still failing: {failing}." if failing else _PASSES
            offered = f"That plan {_cost_text(after)}; {outcome}"
            lines.append(offered if suggests else capitalised(outcome))
    fields: dict[str, object] = {
        "action_type": kind,
        "feasible": _OF_THE_LAB.isdisjoint(reasons),
        "suggested_technique": plan.technique if plan else "",
        "suggested_sample_size": plan.sample_size if plan else 0,
        "suggested_controls": list(plan.controls) if plan else [],
        "explanation": lines_text(lines),
        **{f"{dimension}_ok": dimension not in reasons for dimension in LAB_DIMENSIONS},
    }
    return LabManagerAction.model_validate(fields)


def _parts_of(
    offer: Offer | AlternativeSuggestion | None,
) -> tuple[Protocol | None, Sequence[SuggestionChange], Assessment | FeasibilityCheckResult | None]:
    if isinstance(offer, Offer):
        return offer.after.plan, offer.changes, offer.after
    if offer:
        return offer.revised_protocol, offer.applied_changes, offer.post_check
    return None, (), None


def _change_line(change: SuggestionChange, term: Callable[[str], str]) -> str:
    name = term(models.FIELD_LABELS[change.field].lower())
    moved = f"{change.original} → {change.revised}"
    return f"- {name}: {moved}. {change.reason} What is lost: {change.tradeoff}"


def _cost_text(judged: Assessment | FeasibilityCheckResult) -> str:
    if isinstance(judged, Assessment):
        cost, staff = judged.pack.lab.money(judged.cost), judged.staff
    else:
        cost, staff = money_text(judged.estimated_cost, judged.currency), judged.required_staff
    return f"costs {cost} and needs {count_text(staff, 'staff unit')}"


def answer_questions(questions: Sequence[str], scenario: Pack) -> str:
    """Return the answer to each named topic or item, without one the whole lab."""
    text = " ".join(label_key(question) for question in questions)
    items = [r for r in scenario.resources if r.category is not ResourceCategory.PERSONNEL]
    named = [item for item in items if label_key(item.label) in text]
    for item in sorted(named, key=lambda item: len(item.label), reverse=True):
        text = text.replace(label_key(item.label), " ")  # a name may hold a topic's word
    lines = [_standing(item, scenario) for item in named]
    lines += [answer(scenario) for words, answer in _TOPICS if re.search(rf"\b(?:{words})", text)]
    return lines_text(lines or [answer(scenario) for _, answer in _TOPICS])


def _standing(item: ScenarioResource, scenario: Pack) -> str:
    text = f"'{item.label}' is {scenario.inventory.status_text(item.label, item.category.value)}"
    if options := quoted(scenario.inventory.alternatives(item.label)):
        text += f"; may be replaced by {' or '.join(options)}"
    return f"{text}."


def _listed(category: ResourceCategory, scenario: Pack) -> str:
    items = [_standing(item, scenario) for item in scenario.resources if item.category is category]
    name = "Equipment" if category is ResourceCategory.EQUIPMENT else "Reagents"
    return f"{scenario.study.term(name)}: {' '.join(items) or 'none.'}"


# The words of a topic's question, and its answer
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
        lambda pack: f"Time: at most {pack.lab.days_text}.",
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
