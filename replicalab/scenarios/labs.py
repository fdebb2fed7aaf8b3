"""A study in one of its labs: what both agents negotiate about.

Seed 0 is the lab as the study's author wrote it. Any other seed moves the budget, the days, and
which items are missing. The moves come from a hash of (seed, study, difficulty), so the same
three values give the same lab on every machine and every Python version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from math import ceil, floor
from typing import Final

from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key
from replicalab.models import LabManagerObservation, ScientistObservation
from replicalab.scenarios.models import (
    MAX_ROUNDS,
    MOST,
    Comparator,
    Difficulty,
    Lab,
    NormalizedScenarioPack,
    Paper,
    ResourceCategory,
    ScenarioConstraint,
    ScenarioResource,
    Study,
)

BUDGET_SWING_PERCENT: Final = 15
DAYS_SWING_PERCENT: Final = 20
BUDGET_STEP: Final = 10
"""A seeded budget is a whole multiple of this many credits."""

MAX_SEED: Final = 2**63 - 1
LAB_CONSTRAINTS: Final = ("budget", "time_limit", "staff")
"""Keys of the constraints that every lab adds to its study's own."""

STAFF_KEY: Final = "staff"


def require_seed(seed: object) -> int:
    """Return ``seed`` if it is one.

    Raises:
        ScenarioError: it is not a whole number from 0 to `MAX_SEED`.
    """
    if isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED:
        return seed
    shown = repr(seed) if not isinstance(seed, int) or abs(seed) < 10**30 else "a huge number"
    fault = Fault("seed", f"{shown} is not a seed", f"use a whole number from 0 to {MAX_SEED}")
    raise ScenarioError("lab", [fault])


def draw(*parts: object) -> float:
    """Return the number in [0, 1) that belongs to these parts, the same one everywhere."""
    digest = sha256("|".join(map(str, parts)).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def pack_of(study: Study, difficulty: Difficulty, seed: int = 0) -> NormalizedScenarioPack:
    """Return the study in its lab of that difficulty.

    Raises:
        ScenarioError: the seed is not a whole number from 0 to `MAX_SEED`.
    """
    seed = require_seed(seed)
    lab = study.labs.at(difficulty)
    if seed:
        lab = _moved(lab, study, f"{seed}|{study.scenario_id}|{difficulty}")
    resources = _resources(study, lab)
    return NormalizedScenarioPack(
        scenario_id=study.scenario_id,
        domain_id=study.domain_id,
        difficulty=difficulty,
        seed=seed,
        task_summary=_task_summary(study.paper),
        success_criteria=study.success_criteria,
        constraints=[*study.constraints, *_lab_constraints(lab)],
        resources=resources,
        allowed_substitutions=study.substitutions,
        hidden_reference_spec=study.hidden_reference,
        scientist_observation=_scientist_view(study.paper),
        lab_manager_observation=_lab_manager_view(study, lab, resources),
        study=study.paper,
        design=study.design,
        policy_rules=study.policy_rules,
        reference_protocol=study.reference_protocol,
        controls=study.controls,
        min_days=study.min_days,
        samples_per_day=study.samples_per_day,
        cost_model=lab.cost_model,
        staff_model=lab.staff_model,
        expected=lab.expected,
    )


def _task_summary(paper: Paper) -> str:
    return f'Plan a replication of "{paper.title}" in this lab: {paper.goal}'


def _moved(lab: Lab, study: Study, key: str) -> Lab:
    tens_low = ceil(lab.budget * (100 - BUDGET_SWING_PERCENT) / (100 * BUDGET_STEP))
    tens_high = floor(lab.budget * (100 + BUDGET_SWING_PERCENT) / (100 * BUDGET_STEP))
    tens_high = min(tens_high, MOST // BUDGET_STEP)
    days = _between(
        max(1, ceil(lab.days * (100 - DAYS_SWING_PERCENT) / 100)),
        floor(min(lab.days * (100 + DAYS_SWING_PERCENT) / 100, MOST)),
        draw(key, "days"),
    )
    booked = _chosen(study.equipment, len(lab.booked), f"{key}|booked")
    return Lab(
        budget=float(BUDGET_STEP * _between(max(1, tens_low), tens_high, draw(key, "budget"))),
        days=days,
        staff=lab.staff,
        booked={item: _between(1, 2 * days, draw(key, "booked until", item)) for item in booked},
        out_of_stock=_chosen(study.reagents, len(lab.out_of_stock), f"{key}|out of stock"),
        cost_model=lab.cost_model,
        staff_model=lab.staff_model,
    )


def _between(low: int, high: int, share: float) -> int:
    return low + int(share * (max(low, high) - low + 1))


def _chosen(items: Sequence[str], count: int, key: str) -> list[str]:
    taken = sorted(items, key=lambda item: draw(key, item))[:count]
    return [item for item in items if item in taken]


def _lab_constraints(lab: Lab) -> Iterator[ScenarioConstraint]:
    labels = ("lab budget", "duration", "staff needed")
    quantities = (lab.budget, lab.days, lab.staff)
    units = ("credits", "days", "staff units")
    for key, label, quantity, unit in zip(LAB_CONSTRAINTS, labels, quantities, units, strict=True):
        yield ScenarioConstraint(
            key=key,
            label=label,
            quantity=quantity,
            unit=unit,
            comparator=Comparator.AT_MOST,
            hard=True,
        )


def _resources(study: Study, lab: Lab) -> list[ScenarioResource]:
    booked = {label_key(item): day for item, day in lab.booked.items()}
    missing = {*booked, *map(label_key, lab.out_of_stock)}
    items = [
        *((item, ResourceCategory.EQUIPMENT) for item in study.equipment),
        *((item, ResourceCategory.REAGENT) for item in study.reagents),
    ]
    found = [
        ScenarioResource(
            key=key,
            label=item,
            quantity=None,
            unit=None,
            available=label_key(item) not in missing,
            category=category,
            booked_until_day=booked.get(label_key(item)),
        )
        for key, (item, category) in zip(_keys(item for item, _ in items), items, strict=True)
    ]
    return [*found, _personnel(lab)]


def _personnel(lab: Lab) -> ScenarioResource:
    return ScenarioResource(
        key=STAFF_KEY,
        label="lab staff",
        quantity=lab.staff,
        unit="staff units",
        available=True,
        category=ResourceCategory.PERSONNEL,
        booked_until_day=None,
    )


def _keys(labels: Iterator[str]) -> Iterator[str]:
    taken = {STAFF_KEY}
    for label in labels:
        slug = re.sub(r"[^a-z0-9]+", "_", label.casefold()).strip("_") or "item"
        key, number = slug, 1
        while key in taken:
            number += 1
            key = f"{slug}_{number}"
        taken.add(key)
        yield key


def _scientist_view(paper: Paper) -> ScientistObservation:
    return ScientistObservation(
        paper_title=paper.title,
        paper_hypothesis=paper.hypothesis,
        paper_method=paper.method,
        paper_key_finding=paper.key_finding,
        experiment_goal=paper.goal,
        conversation_history=[],
        current_protocol=None,
        round_number=0,
        max_rounds=MAX_ROUNDS,
    )


def _lab_manager_view(
    study: Study, lab: Lab, resources: Sequence[ScenarioResource]
) -> LabManagerObservation:
    def labels(category: ResourceCategory, *, available: bool) -> list[str]:
        return [
            item.label
            for item in resources
            if item.category is category and item.available is available
        ]

    return LabManagerObservation(
        budget_total=lab.budget,
        budget_remaining=lab.budget,
        equipment_available=labels(ResourceCategory.EQUIPMENT, available=True),
        equipment_booked=labels(ResourceCategory.EQUIPMENT, available=False),
        reagents_in_stock=labels(ResourceCategory.REAGENT, available=True),
        reagents_out_of_stock=labels(ResourceCategory.REAGENT, available=False),
        staff_count=lab.staff,
        time_limit_days=lab.days,
        safety_restrictions=[rule.restriction for rule in study.policy_rules],
        conversation_history=[],
        current_protocol=None,
        round_number=0,
        max_rounds=MAX_ROUNDS,
    )
