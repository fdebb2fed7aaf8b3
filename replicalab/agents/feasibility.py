"""The seven checks of a plan in a lab, in numbers and reasons.

Source: the agents map, AGT 05, settled by the behaviour contract, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, Self

from pydantic import Field, ModelWrapValidatorHandler, computed_field, model_validator

from replicalab.costs import counts_of, credits_needed, staff, staff_steps
from replicalab.lexicon import amount_text, count_text
from replicalab.models import (
    DIMENSIONS,
    LAB_DIMENSIONS,
    Count,
    Credits,
    Dimension,
    Flag,
    NonEmptyText,
    Protocol,
    Record,
    Wording,
    wording_of,
)
from replicalab.policy import wording_violations
from replicalab.scenarios import ItemStatus, Pack, PackKey
from replicalab.validation import ValidationResult, validate_protocol


class DimensionCheck(Record):
    """Whether one dimension passes, and why not."""

    ok: Flag = True
    reasons: list[NonEmptyText] = Field(default_factory=list)


_PASS: Final = DimensionCheck()


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
        found: DimensionCheck = getattr(self, dimension)
        return found

    @cached_property
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


def check_feasibility(protocol: Protocol, scenario: Pack) -> FeasibilityCheckResult:
    """Return the seven checks of a plan in a lab; neither is changed, nothing is raised."""
    validation = validate_protocol(protocol, scenario)
    by_wording = _check_wording(scenario.key, wording_of(protocol))
    needed_credits = _estimate_protocol_cost(protocol, scenario)
    needed_staff = _estimate_staff_load(protocol, scenario)
    return FeasibilityCheckResult(
        protocol=_build_protocol_check(validation),
        budget=_check_budget(needed_credits, scenario),
        equipment=by_wording.equipment,
        reagents=by_wording.reagents,
        schedule=_check_schedule(protocol, scenario),
        staff=_check_staff(needed_staff, protocol, scenario),
        policy=by_wording.policy,
        estimated_cost=needed_credits,
        required_staff=needed_staff,
        substitution_options=by_wording.substitution_options,
        validation_result=validation,
    )


class _WordingChecks(NamedTuple):
    """The checks that depend on no number of the plan."""

    equipment: DimensionCheck
    reagents: DimensionCheck
    policy: DimensionCheck
    substitution_options: dict[str, list[str]]


@lru_cache(maxsize=4096)
def _check_wording(key: PackKey, wording: Wording) -> _WordingChecks:
    """Return the checks of a wording, kept: a revision mostly changes the numbers alone."""
    return _WordingChecks(
        _check_equipment(wording, key.pack),
        _check_reagents(wording, key.pack),
        _check_policy(wording, key.pack),
        _substitution_options(wording, key.pack),
    )


def _estimate_protocol_cost(protocol: Protocol, scenario: Pack) -> float:
    return credits_needed(counts_of(protocol), scenario.cost_model)


def _estimate_staff_load(protocol: Protocol, scenario: Pack) -> int:
    return int(staff(counts_of(protocol), scenario.staff_model))


def _verdict(reasons: list[str]) -> DimensionCheck:
    return DimensionCheck(ok=False, reasons=reasons) if reasons else _PASS


def _build_protocol_check(validation: ValidationResult) -> DimensionCheck:
    return _verdict([issue.message for issue in validation.errors])


def _check_budget(needed: float, scenario: Pack) -> DimensionCheck:
    has = scenario.lab.budget
    if needed <= has:
        return _PASS
    return _verdict(
        [
            f"The plan costs {amount_text(needed)} credits, {amount_text(needed - has)} over "
            f"the budget of {amount_text(has)}."
        ]
    )


def _check_equipment(wording: Wording, scenario: Pack) -> DimensionCheck:
    return _verdict(_missing_items(wording.equipment, "equipment", scenario))


def _check_reagents(wording: Wording, scenario: Pack) -> DimensionCheck:
    return _verdict(_missing_items(wording.reagents, "reagent", scenario))


def _missing_items(labels: tuple[str, ...], category: str, scenario: Pack) -> list[str]:
    reasons = []
    for label in dict.fromkeys(labels):
        if scenario.inventory.status(label, category) is ItemStatus.AVAILABLE:
            continue
        options = replacements(label, category, scenario)
        quoted = " or ".join(f"'{option}'" for option in options)
        remedy = f"{quoted} may replace it" if options else "nothing in this lab may replace it"
        reasons.append(f"'{label}' is {item_status_text(label, category, scenario)}; {remedy}.")
    return reasons


def replacements(label: str, category: str, scenario: Pack) -> tuple[str, ...]:
    """Return what may replace an item that this lab lacks; nothing stands in for an unknown one."""
    status = scenario.inventory.status(label, category)
    if status in (ItemStatus.AVAILABLE, ItemStatus.UNKNOWN):
        return ()
    return scenario.inventory.alternatives(label)


def item_status_text(label: str, category: str, scenario: Pack) -> str:
    """Return where an item stands in words: ``booked until day 10``, ``out of stock``..."""
    status = scenario.inventory.status(label, category)
    if status is ItemStatus.UNKNOWN:
        return "not in this lab's inventory"
    until = scenario.inventory.booked_until(label)
    return f"{status} until day {until}" if until is not None else status.value


def _check_schedule(protocol: Protocol, scenario: Pack) -> DimensionCheck:
    needed, has = protocol.duration_days, scenario.lab.days
    if needed <= has:
        return _PASS
    return _verdict(
        [f"The plan takes {count_text(needed, 'day')}, {needed - has} over the limit of {has}."]
    )


def _check_staff(needed: int, protocol: Protocol, scenario: Pack) -> DimensionCheck:
    has = scenario.lab.staff
    if needed <= has:
        return _PASS
    steps = [
        f"1 for more than {step.threshold} {step.unit}"
        for step in staff_steps(counts_of(protocol), scenario.staff_model)
        if step.adds
    ]
    parts = ", ".join([f"{scenario.staff_model.base} to start", *steps])
    return _verdict(
        [f"The plan needs {count_text(needed, 'staff unit')} ({parts}); the lab has {has}."]
    )


def _check_policy(wording: Wording, scenario: Pack) -> DimensionCheck:
    return _verdict(
        [
            f"'{found.phrase}' in {found.field} breaks the restriction: {found.restriction}"
            for found in wording_violations(wording, scenario.policy_rules)
        ]
    )


def needs(wording: Wording) -> Iterator[tuple[str, str, str]]:
    """Return (protocol field, item category, label) of every item that the plan needs."""
    for label in wording.equipment:
        yield "required_equipment", "equipment", label
    for label in wording.reagents:
        yield "required_reagents", "reagent", label


def _substitution_options(wording: Wording, scenario: Pack) -> dict[str, list[str]]:
    options = {}
    for _, category, label in needs(wording):
        if found := replacements(label, category, scenario):
            options[label] = list(found)
    return options
