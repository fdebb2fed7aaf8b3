"""A study in a lab: the pack that both agents, the checks and the pages read.

A pack stores the study, the lab and the seed. Resources, constraints and the two observations are
views of these, so that no two of them can disagree, and another lab is simply another `Lab`.
Source: docs/contract.md, Scenario.

Seed 0 is the lab as the study's author wrote it. Any other seed moves the budget, the days, and
which items are missing. The moves come from a hash of (seed, study, difficulty), so the same
three values give the same lab on every machine and every Python version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from math import ceil, floor
from typing import Final

from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key
from replicalab.models import (
    Count,
    Flag,
    LabManagerObservation,
    NonEmptyText,
    Protocol,
    Record,
    ScientistObservation,
)
from replicalab.scenarios.constraints import (
    Comparator,
    Limit,
    ScenarioConstraint,
    limits_of,
)
from replicalab.scenarios.fields import MOST, Finite
from replicalab.scenarios.inventory import Inventory
from replicalab.scenarios.lab import CostModel, Difficulty, ExpectedOutcome, Lab, StaffModel
from replicalab.scenarios.study import (
    AllowedSubstitution,
    Control,
    Design,
    HiddenReferenceSpec,
    Paper,
    PolicyRule,
    Study,
    Throughput,
)

MAX_ROUNDS: Final = 5
"""Rounds of a negotiation when no other number is asked for (a choice of ours)."""

BUDGET_SWING_PERCENT: Final = 15
DAYS_SWING_PERCENT: Final = 20
BUDGET_STEP: Final = 10
"""A seeded budget is a whole multiple of this many credits."""

MAX_SEED: Final = 2**63 - 1
LAB_CONSTRAINTS: Final = ("budget", "time_limit", "staff")
"""Keys of the constraints that every lab adds to its study's own."""

STAFF_KEY: Final = "staff"


class ResourceCategory(StrEnum):
    """What kind of thing the lab has."""

    EQUIPMENT = "equipment"
    REAGENT = "reagent"
    PERSONNEL = "personnel"


class ScenarioResource(Record):
    """One thing the lab has or lacks; ``booked_until_day`` is None when it is not booked."""

    key: NonEmptyText
    label: NonEmptyText
    quantity: Finite | None
    unit: NonEmptyText | None
    available: Flag
    category: ResourceCategory
    booked_until_day: Count | None
    details: str = ""


class PackKey:
    """A pack by identity: packs are immutable and loaded once, and their lists cannot be hashed."""

    __slots__ = ("pack",)

    def __init__(self, pack: Pack) -> None:
        self.pack = pack


class Pack(Record):
    """A study in one lab.

    ``hidden_reference_spec`` is for the judge; no Scientist prompt or observation may carry it.
    ``samples_per_day`` is None when units run in parallel.
    """

    study: Study
    difficulty: Difficulty
    seed: int
    lab: Lab

    def in_lab(self, lab: Lab) -> Pack:
        """Return the same study in another lab."""
        return self.model_copy(update={"lab": lab})

    @cached_property
    def key(self) -> PackKey:
        """This pack as the key of a cache."""
        return PackKey(self)

    @cached_property
    def inventory(self) -> Inventory:
        """What this lab has, lacks and may substitute; built once per pack."""
        return Inventory.of(self.study, self.lab)

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """What the study's own constraints allow n, the days and the evidence to be."""
        return limits_of(self.study.constraints)

    # --- the study's own ------------------------------------------------------------------------

    @property
    def scenario_id(self) -> str:
        """The study's short name."""
        return self.study.scenario_id

    @property
    def domain_id(self) -> str:
        """The study's field."""
        return self.study.domain_id

    @property
    def paper(self) -> Paper:
        """The published study."""
        return self.study.paper

    @property
    def design(self) -> Design:
        """How evidence grows with n."""
        return self.study.design

    @property
    def task_summary(self) -> str:
        """What is to be planned, in a sentence."""
        return f'Plan a replication of "{self.paper.title}" in this lab: {self.paper.goal}'

    @property
    def success_criteria(self) -> list[str]:
        """When the replication would be called a success."""
        return list(self.study.success_criteria)

    @property
    def allowed_substitutions(self) -> list[AllowedSubstitution]:
        """What may stand in for an item, and at what price."""
        return self.study.substitutions

    @property
    def hidden_reference_spec(self) -> HiddenReferenceSpec:
        """What a judge holds a plan against."""
        return self.study.hidden_reference

    @property
    def policy_rules(self) -> list[PolicyRule]:
        """What is forbidden."""
        return self.study.policy_rules

    @property
    def reference_protocol(self) -> Protocol:
        """The plan that would do the study justice."""
        return self.study.reference_protocol

    @property
    def controls(self) -> list[Control]:
        """The controls of the reference protocol."""
        return self.study.controls

    @property
    def min_days(self) -> int:
        """With fewer days there is no evidence."""
        return self.study.min_days

    @property
    def samples_per_day(self) -> Throughput | None:
        """How many samples can be finished in a day."""
        return self.study.samples_per_day

    # --- the lab's own --------------------------------------------------------------------------

    @property
    def cost_model(self) -> CostModel:
        """The lab's rates in credits."""
        return self.lab.cost_model

    @property
    def staff_model(self) -> StaffModel:
        """The lab's staffing steps."""
        return self.lab.staff_model

    @property
    def expected(self) -> ExpectedOutcome | None:
        """What the author says happens here; None in a lab that the author did not write."""
        return self.lab.expected

    # --- views of both --------------------------------------------------------------------------

    @property
    def constraints(self) -> list[ScenarioConstraint]:
        """The study's own constraints, then the lab's three."""
        return [*self.study.constraints, *_lab_constraints(self.lab)]

    @property
    def resources(self) -> list[ScenarioResource]:
        """What the lab has or lacks of the study's items, and its staff."""
        return _resources(self.study, self.lab)

    @property
    def scientist_observation(self) -> ScientistObservation:
        """What the Scientist sees before the first round."""
        return _scientist_view(self.paper)

    @property
    def lab_manager_observation(self) -> LabManagerObservation:
        """What the Lab Manager sees before the first round."""
        return _lab_manager_view(self.study, self.lab)


NormalizedScenarioPack = Pack
"""The full name of a pack."""


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


def pack_of(study: Study, difficulty: Difficulty, seed: int = 0) -> Pack:
    """Return the study in its lab of that difficulty.

    Raises:
        ScenarioError: the seed is not a whole number from 0 to `MAX_SEED`.
    """
    seed = require_seed(seed)
    lab = study.labs.at(difficulty)
    if seed:
        lab = _moved(lab, study, f"{seed}|{study.scenario_id}|{difficulty}")
    return Pack(study=study, difficulty=difficulty, seed=seed, lab=lab)


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
    return lab.model_copy(
        update={
            "budget": float(
                BUDGET_STEP * _between(max(1, tens_low), tens_high, draw(key, "budget"))
            ),
            "days": days,
            "booked": {
                item: _between(1, 2 * days, draw(key, "booked until", item)) for item in booked
            },
            "out_of_stock": _chosen(study.reagents, len(lab.out_of_stock), f"{key}|out of stock"),
            "expected": None,
        }
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


def _keys(labels: Iterable[str]) -> Iterator[str]:
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


def _lab_manager_view(study: Study, lab: Lab) -> LabManagerObservation:
    resources = _resources(study, lab)

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
