"""The Lab Manager: seven checks, the four fixes in the document's order, and the answer.

No model is called here; the same plan in the same lab always gets the same answer.
Source: the agents map, "Lab Manager Policy", settled by the behaviour contract, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final, Self

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    TypeAdapter,
    computed_field,
    model_validator,
)

from replicalab.agents.explanations import built_in_explanation
from replicalab.costs import amount_text, cost, counts_of, staff, staff_steps
from replicalab.labels import count_text, label_key
from replicalab.models import (
    DIMENSIONS,
    LAB_DIMENSIONS,
    Count,
    Credits,
    Dimension,
    Flag,
    LabManagerAction,
    LabManagerActionType,
    NonEmptyText,
    Protocol,
    Record,
    revise,
)
from replicalab.policy import violations
from replicalab.scenarios.inventory import ItemStatus
from replicalab.scenarios.models import AllowedSubstitution, NormalizedScenarioPack
from replicalab.validation import ValidationResult, validate_protocol

MAX_HALVINGS: Final = 10
_EXPLANATION: Final = TypeAdapter[str](NonEmptyText)


class DimensionCheck(Record):
    """Whether one dimension passes, and why not."""

    ok: Flag = True
    reasons: list[NonEmptyText] = Field(default_factory=list)


class FeasibilityCheckResult(Record):
    """The seven dimensions of one plan in one lab, with its cost (credits) and staff need.

    ``feasible`` and ``summary`` are computed: they appear in a dump, and loading a dump in which
    they contradict the dimensions is refused.
    """

    protocol: DimensionCheck
    budget: DimensionCheck
    equipment: DimensionCheck
    reagents: DimensionCheck
    schedule: DimensionCheck
    staff: DimensionCheck
    policy: DimensionCheck
    estimated_cost: Credits
    required_staff: Count
    substitution_options: dict[str, list[str]]
    validation_result: ValidationResult

    @model_validator(mode="wrap")
    @classmethod
    def _load_a_dump(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        given = cls.model_computed_fields.keys() & data if isinstance(data, Mapping) else ()
        if not isinstance(data, Mapping) or not given:
            return handler(data)
        result = handler({key: value for key, value in data.items() if key not in given})
        for name in sorted(given):
            if data[name] != getattr(result, name):
                raise ValueError(f"{name} is {data[name]!r} but the dimensions give another value")
        return result

    def check(self, dimension: Dimension) -> DimensionCheck:
        """Return the check of one dimension."""
        found: DimensionCheck = getattr(self, dimension.value)
        return found

    @property
    def failing(self) -> list[Dimension]:
        """The dimensions that fail, in the document's order."""
        return [dimension for dimension in DIMENSIONS if not self.check(dimension).ok]

    @property
    def lab_feasible(self) -> bool:
        """Whether the five lab constraints pass."""
        return all(self.check(dimension).ok for dimension in LAB_DIMENSIONS)

    @property
    def protocol_ok(self) -> bool:
        """Whether the plan is sound on paper."""
        return self.protocol.ok

    @property
    def budget_ok(self) -> bool:
        """Whether the cost is within the budget that remains."""
        return self.budget.ok

    @property
    def equipment_ok(self) -> bool:
        """Whether every piece of equipment can be used."""
        return self.equipment.ok

    @property
    def reagents_ok(self) -> bool:
        """Whether every reagent is in stock."""
        return self.reagents.ok

    @property
    def schedule_ok(self) -> bool:
        """Whether the plan fits the lab's days."""
        return self.schedule.ok

    @property
    def staff_ok(self) -> bool:
        """Whether there are hands enough."""
        return self.staff.ok

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot type a decorated property
    @property
    def feasible(self) -> bool:
        """Whether all seven dimensions pass."""
        return not self.failing

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot type a decorated property
    @property
    def summary(self) -> str:
        """One sentence: feasible, or which dimensions fail."""
        failing = self.failing
        if not failing:
            return "Feasible: all seven dimensions pass."
        return f"Not feasible: {', '.join(failing)} {'fails' if len(failing) == 1 else 'fail'}."


class SuggestionChange(Record):
    """One change: ``original`` and ``revised`` are the item, or the number, as text."""

    field: NonEmptyText
    original: NonEmptyText
    revised: NonEmptyText
    reason: NonEmptyText
    tradeoff: NonEmptyText


class AlternativeSuggestion(Record):
    """A revised plan, its changes, and the checks before and after."""

    revised_protocol: Protocol
    applied_changes: list[SuggestionChange]
    remaining_failures: list[str]
    improved: Flag
    pre_check: FeasibilityCheckResult
    post_check: FeasibilityCheckResult


ExplanationRenderer = Callable[
    [LabManagerActionType, FeasibilityCheckResult, AlternativeSuggestion | None], str
]


# --- checking -------------------------------------------------------------------------------


def check_feasibility(
    protocol: Protocol, scenario: NormalizedScenarioPack
) -> FeasibilityCheckResult:
    """Return the seven checks of a plan in a lab; neither is changed, nothing is raised."""
    validation = validate_protocol(protocol, scenario)
    return FeasibilityCheckResult(
        protocol=_build_protocol_check(validation),
        budget=_check_budget(protocol, scenario),
        equipment=_check_equipment(protocol, scenario),
        reagents=_check_reagents(protocol, scenario),
        schedule=_check_schedule(protocol, scenario),
        staff=_check_staff(protocol, scenario),
        policy=_check_policy(protocol, scenario),
        estimated_cost=_estimate_protocol_cost(protocol, scenario),
        required_staff=_estimate_staff_load(protocol, scenario),
        substitution_options=_substitution_options(protocol, scenario),
        validation_result=validation,
    )


def _estimate_protocol_cost(protocol: Protocol, scenario: NormalizedScenarioPack) -> float:
    return float(cost(counts_of(protocol), scenario.cost_model))


def _estimate_staff_load(protocol: Protocol, scenario: NormalizedScenarioPack) -> int:
    return int(staff(counts_of(protocol), scenario.staff_model))


def _verdict(reasons: list[str]) -> DimensionCheck:
    return DimensionCheck(ok=not reasons, reasons=reasons)


def _build_protocol_check(validation: ValidationResult) -> DimensionCheck:
    return _verdict([issue.message for issue in validation.errors])


def _check_budget(protocol: Protocol, scenario: NormalizedScenarioPack) -> DimensionCheck:
    needed, has = _estimate_protocol_cost(protocol, scenario), scenario.lab.budget_remaining
    if needed <= has:
        return DimensionCheck()
    return _verdict(
        [
            f"The plan costs {amount_text(needed)} credits, {amount_text(needed - has)} over "
            f"the budget of {amount_text(has)}."
        ]
    )


def _check_equipment(protocol: Protocol, scenario: NormalizedScenarioPack) -> DimensionCheck:
    return _verdict(_missing_items(protocol.required_equipment, "equipment", scenario))


def _check_reagents(protocol: Protocol, scenario: NormalizedScenarioPack) -> DimensionCheck:
    return _verdict(_missing_items(protocol.required_reagents, "reagent", scenario))


def _missing_items(labels: list[str], category: str, scenario: NormalizedScenarioPack) -> list[str]:
    reasons = []
    for label in dict.fromkeys(labels):
        if scenario.inventory.status(label, category) is ItemStatus.AVAILABLE:
            continue
        options = _options(label, category, scenario)
        quoted = " or ".join(f"'{option}'" for option in options)
        remedy = f"{quoted} may replace it" if options else "nothing in this lab may replace it"
        reasons.append(f"'{label}' is {item_status_text(label, category, scenario)}; {remedy}.")
    return reasons


def _options(label: str, category: str, scenario: NormalizedScenarioPack) -> tuple[str, ...]:
    """Return what may replace an item that this lab lacks; nothing stands in for an unknown one."""
    status = scenario.inventory.status(label, category)
    if status in (ItemStatus.AVAILABLE, ItemStatus.UNKNOWN):
        return ()
    return scenario.inventory.alternatives(label)


def item_status_text(label: str, category: str, scenario: NormalizedScenarioPack) -> str:
    """Return where an item stands in words: ``booked until day 10``, ``out of stock``..."""
    status = scenario.inventory.status(label, category)
    if status is ItemStatus.UNKNOWN:
        return "not in this lab's inventory"
    until = scenario.inventory.booked_until(label)
    return f"{status} until day {until}" if until is not None else status.value


def _check_schedule(protocol: Protocol, scenario: NormalizedScenarioPack) -> DimensionCheck:
    needed, has = protocol.duration_days, scenario.lab.time_limit_days
    if needed <= has:
        return DimensionCheck()
    return _verdict(
        [f"The plan takes {count_text(needed, 'day')}, {needed - has} over the limit of {has}."]
    )


def _check_staff(protocol: Protocol, scenario: NormalizedScenarioPack) -> DimensionCheck:
    needed, has = _estimate_staff_load(protocol, scenario), scenario.lab.staff_count
    if needed <= has:
        return DimensionCheck()
    steps = [
        f"1 for more than {step.threshold} {step.unit}"
        for step in staff_steps(counts_of(protocol), scenario.staff_model)
        if step.adds
    ]
    parts = ", ".join([f"{scenario.staff_model.base} to start", *steps])
    return _verdict(
        [f"The plan needs {count_text(needed, 'staff unit')} ({parts}); the lab has {has}."]
    )


def _check_policy(protocol: Protocol, scenario: NormalizedScenarioPack) -> DimensionCheck:
    return _verdict(
        [
            f"'{found.phrase}' in {found.field} breaks the restriction: {found.restriction}"
            for found in violations(protocol, scenario.policy_rules)
        ]
    )


def _needs(protocol: Protocol) -> Iterator[tuple[str, str, str]]:
    for label in protocol.required_equipment:
        yield "required_equipment", "equipment", label
    for label in protocol.required_reagents:
        yield "required_reagents", "reagent", label


def _substitution_options(
    protocol: Protocol, scenario: NormalizedScenarioPack
) -> dict[str, list[str]]:
    options = {}
    for _, category, label in _needs(protocol):
        if found := _options(label, category, scenario):
            options[label] = list(found)
    return options


# --- suggesting -----------------------------------------------------------------------------


def suggest_alternative(
    protocol: Protocol, check_result: FeasibilityCheckResult, scenario: NormalizedScenarioPack
) -> AlternativeSuggestion | None:
    """Return the plan after the four fixes in the document's order, None if already feasible."""
    if check_result.feasible:
        return None
    changes: list[SuggestionChange] = []
    revised = protocol
    for fix in (_substitutions, _duration_clamp, _sample_reduction):
        found = fix(revised, scenario)
        revised = apply_changes(revised, found)
        changes.extend(found)
    after = check_feasibility(revised, scenario)
    newly_failing = set(after.failing) - set(check_result.failing)
    return AlternativeSuggestion(
        revised_protocol=revised,
        applied_changes=changes,
        remaining_failures=[dimension.value for dimension in after.failing],
        improved=len(after.failing) < len(check_result.failing) and not newly_failing,
        pre_check=check_result,
        post_check=after,
    )


def apply_changes(protocol: Protocol, changes: list[SuggestionChange]) -> Protocol:
    """Return the plan with some of a suggestion's changes applied, in their order.

    A change whose original item is no longer in the plan does nothing.
    """
    for change in changes:
        if change.field in ("required_equipment", "required_reagents"):
            items = list(getattr(protocol, change.field))
            if change.original in items:
                items[items.index(change.original)] = change.revised
            protocol = revise(protocol, **{change.field: items})
        else:
            protocol = revise(protocol, **{change.field: int(change.revised)})
    return protocol


def _substitutions(protocol: Protocol, scenario: NormalizedScenarioPack) -> list[SuggestionChange]:
    """Fixes 1 and 2: equipment, then reagents."""
    listed = {label_key(label) for _, _, label in _needs(protocol)}
    changes = []
    for field, category, label in _needs(protocol):
        options = _options(label, category, scenario)
        alternative = next((each for each in options if label_key(each) not in listed), None)
        if alternative is None:
            continue
        listed.add(label_key(alternative))
        why = f"'{label}' is {item_status_text(label, category, scenario)}"
        changes.append(_substitution(field, label, alternative, why, scenario))
    return changes


def _substitution(
    field: str, label: str, alternative: str, why: str, scenario: NormalizedScenarioPack
) -> SuggestionChange:
    allowed = _allowed(label, alternative, scenario)
    return SuggestionChange(
        field=field,
        original=label,
        revised=alternative,
        reason=f"{why}; allowed {allowed.condition}.",
        tradeoff=_sentence(allowed.tradeoff),
    )


def _allowed(label: str, alternative: str, scenario: NormalizedScenarioPack) -> AllowedSubstitution:
    return next(
        s
        for s in scenario.allowed_substitutions
        if label_key(s.original) == label_key(label) and s.alternative == alternative
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _duration_clamp(protocol: Protocol, scenario: NormalizedScenarioPack) -> list[SuggestionChange]:
    """Fix 3: no longer than the lab's limit."""
    days, limit = protocol.duration_days, scenario.lab.time_limit_days
    if days <= limit:
        return []
    tradeoff = f"{count_text(days - limit, 'day')} fewer to run and to repeat what fails."
    if limit < scenario.min_days:
        tradeoff = f"Below {scenario.min_days} days the study's endpoint is lost."
    return [
        SuggestionChange(
            field="duration_days",
            original=str(days),
            revised=str(limit),
            reason=f"The lab has {count_text(limit, 'day')}.",
            tradeoff=tradeoff,
        )
    ]


def _sample_reduction(
    protocol: Protocol, scenario: NormalizedScenarioPack
) -> list[SuggestionChange]:
    """Fix 4: halve until the budget fits, and on to where a staff unit is saved."""
    floor = max(1, len(protocol.controls) + 1)
    fits_budget = _halve(protocol, floor, lambda plan: _check_budget(plan, scenario).ok)
    if fits_budget is None:
        return []
    threshold = scenario.staff_model.sample_threshold
    fits_staff = None
    if fits_budget.sample_size > threshold and not _check_staff(fits_budget, scenario).ok:
        fits_staff = _halve(protocol, floor, lambda plan: _fits_both(plan, scenario))
    revised = fits_staff or fits_budget
    if revised.sample_size == protocol.sample_size:
        return []
    return [_sample_change(protocol, revised, fits_budget, scenario)]


def _fits_both(plan: Protocol, scenario: NormalizedScenarioPack) -> bool:
    return _check_budget(plan, scenario).ok and _check_staff(plan, scenario).ok


def _halve(protocol: Protocol, floor: int, fits: Callable[[Protocol], bool]) -> Protocol | None:
    """Return the first plan that fits while the sample is halved, None if none does."""
    for _ in range(MAX_HALVINGS):
        if fits(protocol):
            return protocol
        if protocol.sample_size <= floor:
            return None
        protocol = revise(protocol, sample_size=max(protocol.sample_size // 2, floor))
    return protocol if fits(protocol) else None


def _sample_change(
    before: Protocol, after: Protocol, fits_budget: Protocol, scenario: NormalizedScenarioPack
) -> SuggestionChange:
    reasons = []
    if fits_budget.sample_size < before.sample_size:
        over = _estimate_protocol_cost(before, scenario) - scenario.lab.budget_remaining
        reasons.append(f"The budget is {amount_text(over)} credits short")
    if after.sample_size < fits_budget.sample_size:
        threshold = scenario.staff_model.sample_threshold
        reasons.append(f"at {threshold} samples or fewer the plan needs one staff unit less")
    times = _halvings(before.sample_size, after.sample_size)
    fewer = count_text(before.sample_size - after.sample_size, "sample")
    return SuggestionChange(
        field="sample_size",
        original=str(before.sample_size),
        revised=str(after.sample_size),
        reason=_sentence(f"{'; '.join(reasons)}; the sample is halved {times}"),
        tradeoff=f"{fewer} fewer: weaker evidence.",
    )


def _halvings(before: int, after: int) -> str:
    times = 0
    while before > after:
        before //= 2
        times += 1
    return {1: "once", 2: "twice"}.get(times, f"{times} times")


# --- answering ------------------------------------------------------------------------------


def compose_lab_manager_response(
    check_result: FeasibilityCheckResult,
    suggestion: AlternativeSuggestion | None = None,
    explanation_renderer: ExplanationRenderer | None = None,
) -> LabManagerAction:
    """Return the Lab Manager's answer; a renderer may reword it but never moves the verdict.

    A renderer that raises, or returns anything but a non-blank string, falls back to the
    built-in explanation.
    """
    action_type = _select_lab_manager_action_type(check_result, suggestion)
    offer = None
    if action_type is LabManagerActionType.SUGGEST_ALTERNATIVE and suggestion is not None:
        offer = suggestion.revised_protocol
    return LabManagerAction(
        action_type=action_type,
        feasible=check_result.lab_feasible,
        budget_ok=check_result.budget_ok,
        equipment_ok=check_result.equipment_ok,
        reagents_ok=check_result.reagents_ok,
        schedule_ok=check_result.schedule_ok,
        staff_ok=check_result.staff_ok,
        suggested_technique=offer.technique if offer else "",
        suggested_sample_size=offer.sample_size if offer else 0,
        suggested_controls=offer.controls if offer else [],
        explanation=_explanation(action_type, check_result, suggestion, explanation_renderer),
    )


def _select_lab_manager_action_type(
    check_result: FeasibilityCheckResult, suggestion: AlternativeSuggestion | None
) -> LabManagerActionType:
    if check_result.feasible:
        return LabManagerActionType.ACCEPT
    if check_result.lab_feasible:
        return LabManagerActionType.REPORT_FEASIBILITY
    if suggestion and suggestion.improved and suggestion.post_check.lab_feasible:
        return LabManagerActionType.SUGGEST_ALTERNATIVE
    return LabManagerActionType.REJECT


def _explanation(
    action_type: LabManagerActionType,
    check_result: FeasibilityCheckResult,
    suggestion: AlternativeSuggestion | None,
    renderer: ExplanationRenderer | None,
) -> str:
    if renderer is not None:
        with suppress(Exception):  # a foreign renderer may fail in any way
            text = renderer(action_type, check_result, suggestion)
            return _EXPLANATION.validate_python(text, strict=True)
    return built_in_explanation(action_type, check_result, suggestion)
