"""The same study in a lab of other means: what if there were more credits, days, people, items?"""

from __future__ import annotations

from collections.abc import Iterable

from replicalab.lexicon import label_key
from replicalab.models import LabManagerObservation
from replicalab.scenarios.labs import LAB_CONSTRAINTS, STAFF_KEY
from replicalab.scenarios.models import (
    NormalizedScenarioPack,
    ResourceCategory,
    ScenarioConstraint,
    ScenarioResource,
)


def with_means(
    scenario: NormalizedScenarioPack,
    *,
    budget: float | None = None,
    days: int | None = None,
    staff: int | None = None,
    released: Iterable[str] = (),
) -> NormalizedScenarioPack:
    """Return the study in the same lab with some of its means changed.

    Args:
        scenario: the study in its lab.
        budget: credits that remain; None leaves the lab's.
        days: the lab's time limit; None leaves the lab's.
        staff: staff units; None leaves the lab's.
        released: labels of missing items that become available.
    """
    lab = scenario.lab
    means = (
        lab.budget_remaining if budget is None else float(budget),
        lab.time_limit_days if days is None else days,
        lab.staff_count if staff is None else staff,
    )
    free = set(map(label_key, released))
    return scenario.model_copy(
        update={
            "constraints": [_constraint(each, means) for each in scenario.constraints],
            "resources": [_resource(each, means[2], free) for each in scenario.resources],
            "lab_manager_observation": _observation(lab, means, free),
            "expected": None,
        }
    )


def _constraint(
    constraint: ScenarioConstraint, means: tuple[float, int, int]
) -> ScenarioConstraint:
    if constraint.key not in LAB_CONSTRAINTS:
        return constraint
    quantity = means[LAB_CONSTRAINTS.index(constraint.key)]
    return constraint.model_copy(update={"quantity": quantity})


def _resource(resource: ScenarioResource, staff: int, free: set[str]) -> ScenarioResource:
    if resource.category is ResourceCategory.PERSONNEL and resource.key == STAFF_KEY:
        return resource.model_copy(update={"quantity": staff})
    if label_key(resource.label) in free:
        return resource.model_copy(update={"available": True, "booked_until_day": None})
    return resource


def _observation(
    lab: LabManagerObservation, means: tuple[float, int, int], free: set[str]
) -> LabManagerObservation:
    budget, days, staff = means
    booked = [item for item in lab.equipment_booked if label_key(item) not in free]
    missing = [item for item in lab.reagents_out_of_stock if label_key(item) not in free]
    return lab.model_copy(
        update={
            "budget_total": lab.budget_total - lab.budget_remaining + budget,
            "budget_remaining": budget,
            "time_limit_days": days,
            "staff_count": staff,
            "equipment_booked": booked,
            "reagents_out_of_stock": missing,
            "equipment_available": [
                *lab.equipment_available,
                *(item for item in lab.equipment_booked if item not in booked),
            ],
            "reagents_in_stock": [
                *lab.reagents_in_stock,
                *(item for item in lab.reagents_out_of_stock if item not in missing),
            ],
        }
    )
