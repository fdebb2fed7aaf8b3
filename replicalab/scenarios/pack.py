"""A study in a lab: the pack that both agents, the checks and the pages read.

A pack stores the study, the lab and the seed. Resources, constraints and the two observations are
views of these, so that no two of them can disagree, and another lab is simply another `Lab`.
Source: docs/methods.md, Scenario.

Seed 0 is the lab as the study's author wrote it. Any other seed moves the budget, the days, and
which items are missing. The moves come from a hash of (seed, study, difficulty), so the same
three values give the same lab on every machine and every Python version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from math import ceil, floor
from typing import Annotated, Final

from pydantic import Field

from replicalab import models
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key
from replicalab.limits import MAX_SEED
from replicalab.notebook import Shown
from replicalab.scenarios.constraints import (
    LAB_CONSTRAINT_KEYS,
    Comparator,
    ScenarioConstraint,
    StudyLimit,
    limits_of,
)
from replicalab.scenarios.fields import MOST, Finite
from replicalab.scenarios.inventory import MISSING, Inventory, ItemStatus
from replicalab.scenarios.lab import CostModel, Difficulty, ExpectedOutcome, Lab, StaffModel
from replicalab.scenarios.own import (
    CATEGORIES,
    EvidenceAssumptions,
    ItemCategory,
    LabOverrides,
    OwnItem,
)
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
BUDGET_STEP: Final = 10  # A seeded budget is a whole multiple of this many credits

Seed = Annotated[int, Field(strict=True, ge=0, le=MAX_SEED)]
STAFF_KEY: Final = "staff"


_NO_OVERRIDES: Final = LabOverrides()
_NO_QUESTION: Final = EvidenceAssumptions()


class ResourceCategory(StrEnum):
    """What kind of thing the lab has."""

    EQUIPMENT = "equipment"
    REAGENT = "reagent"
    PERSONNEL = "personnel"


class ScenarioResource(models.Record):
    """One thing the lab has or lacks; ``booked_until_day`` is None when it is not booked."""

    key: models.NonEmptyText
    label: models.NonEmptyText
    quantity: Finite | None
    unit: models.NonEmptyText | None
    available: models.Flag
    category: ResourceCategory
    booked_until_day: models.Count | None
    details: str = ""


class Pack(Shown, models.Record):
    """A study in one lab.

    ``hidden_reference_spec`` is for the judge; no Scientist prompt or observation may carry it.
    ``samples_per_day`` is None when units run in parallel. ``own_lab`` and ``question`` are what a
    visitor says of the lab and of the evidence in place of the study; ``study`` and ``lab`` say
    it already.
    """

    study: Study
    difficulty: Difficulty
    seed: int
    lab: Lab
    own_lab: LabOverrides = _NO_OVERRIDES
    question: EvidenceAssumptions = _NO_QUESTION

    def __repr__(self) -> str:
        return f"<Pack {self.scenario_id}, {self.difficulty} lab, seed {self.seed}>"

    def in_lab(self, lab: Lab) -> Pack:
        """Return the same study in another lab."""
        return self.model_copy(update={"lab": lab})

    def with_own(self, own_lab: LabOverrides, question: EvidenceAssumptions) -> Pack:
        """Return the study in one's own lab, asked one's own question.

        Raises:
            ScenarioError: the study cannot be asked that.
        """
        if own_lab == _NO_OVERRIDES and question == _NO_QUESTION:
            return self
        study = self.study.model_copy(update={"design": question.over(self.study.design)})
        lab = own_lab.over(self.lab, study).model_copy(update={"expected": None})
        records = {"study": study, "lab": lab, "own_lab": own_lab, "question": question}
        return self.model_copy(update=records)

    @property
    def asked(self) -> tuple[str, ...]:
        """The numbers of the question that play a part in the evidence, in their order."""
        idle = self.question.idle_in(self.design)
        return tuple(name for name in self.question.asked if name not in idle)

    @cached_property
    def inventory(self) -> Inventory:
        """What this lab has, lacks and may substitute; built once per pack."""
        return Inventory(self.study, self.lab)

    @cached_property
    def limits(self) -> tuple[StudyLimit, ...]:
        """What the study's own constraints allow n, the days and the evidence to be."""
        return limits_of(self.study.constraints)

    @cached_property
    def control_keys(self) -> dict[str, str]:
        """The keys of the study's controls by their labels, which most plans write as it does."""
        return {control.name: label_key(control.name) for control in self.controls}

    @property
    def known_items(self) -> list[str]:
        """What the study needs or may replace something by, and what else the lab has."""
        swaps = [swap.alternative for swap in self.study.substitutions]
        listed = [*self.study.equipment, *self.study.reagents, *swaps]
        listed += [*self.lab.equipment, *self.lab.reagents]
        return list({label_key(item): item for item in reversed(listed)}.values())[::-1]

    def category_of(self, label: str) -> ItemCategory | None:
        """Return whether a known item is ``equipment`` or a ``reagent``; None for any other."""
        # What may replace an item is of the same category.
        key = label_key(label)
        keys = {key} | {
            label_key(swap.original)
            for swap in self.study.substitutions
            if label_key(swap.alternative) == key
        }
        for category, items in zip(CATEGORIES, (self.equipment, self.reagents), strict=True):
            if keys & set(map(label_key, items)):
                return category
        return None

    def said_otherwise(self, items: Iterable[OwnItem]) -> tuple[OwnItem, ...]:
        """Return the items whose state or price this lab has otherwise."""

        def facts(pack: Pack, item: OwnItem) -> tuple[object, ...]:
            label, category = item.label, item.category
            standing = pack.inventory.status(label, category), pack.inventory.booked_until(label)
            return (*standing, pack.price(label, category))

        def there(item: OwnItem) -> Pack:
            return self.in_lab(LabOverrides(items=(item,)).over(self.lab, self.study))

        return tuple(item for item in items if facts(there(item), item) != facts(self, item))

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
        return self.study.task_summary

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
    def reference_protocol(self) -> models.Protocol:
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

    def price(self, label: str, category: str) -> float:
        """Return what an item of that category costs here: its own price, or else its rate."""
        value = self.inventory.price(label) if self.lab.prices else None
        return self.cost_model.rate(category) if value is None else value

    @property
    def expected(self) -> ExpectedOutcome | None:
        """What the author says happens here; None in a lab that the author did not write."""
        return self.lab.expected

    # --- views of both --------------------------------------------------------------------------

    @property
    def equipment(self) -> list[str]:
        """The study's equipment, then what else is here."""
        return [*self.study.equipment, *self.lab.equipment]

    @property
    def reagents(self) -> list[str]:
        """The study's reagents, then what else is here."""
        return [*self.study.reagents, *self.lab.reagents]

    @property
    def unspoken(self) -> list[str]:
        """The study's items that a named lab does not mention; a lab without a name has none.

        They stand as in the study's own lab.
        """
        if self.own_lab.name is None:
            return []
        mentioned = {label_key(item.label) for item in self.own_lab.items}
        items = (*self.study.equipment, *self.study.reagents)
        return [item for item in items if label_key(item) not in mentioned]

    @property
    def means(self) -> tuple[tuple[str, float, str], ...]:
        """The lab's three amounts: what each limits, how much there is, and in which unit."""
        return (
            ("lab budget", self.lab.budget, self.lab.currency),
            ("duration", self.lab.days_left, "days"),
            ("staff needed", self.lab.staff, "staff units"),
        )

    @property
    def constraints(self) -> list[ScenarioConstraint]:
        """The study's own constraints, then the lab's three."""
        constraints = [
            ScenarioConstraint(
                key=key,
                label=label,
                quantity=float(quantity),
                unit=unit,
                comparator=Comparator.AT_MOST,
                hard=True,
            )
            for key, (label, quantity, unit) in zip(LAB_CONSTRAINT_KEYS, self.means, strict=True)
        ]
        return [*self.study.constraints, *constraints]

    @property
    def resources(self) -> list[ScenarioResource]:
        """What the lab has or lacks of the study's items and its own, and its staff."""
        items = [
            *((ResourceCategory.EQUIPMENT, item) for item in self.equipment),
            *((ResourceCategory.REAGENT, item) for item in self.reagents),
        ]
        keys = _keys(item for _, item in items)
        resources = [
            ScenarioResource(
                key=key,
                label=item,
                quantity=None,
                unit=None,
                available=self.inventory.status(item, category) is ItemStatus.AVAILABLE,
                category=category,
                booked_until_day=self.inventory.booked_until(item),
            )
            for key, (category, item) in zip(keys, items, strict=True)
        ]
        staff = ScenarioResource(
            key=STAFF_KEY,
            label="lab staff",
            quantity=self.lab.staff,
            unit="staff units",
            available=True,
            category=ResourceCategory.PERSONNEL,
            booked_until_day=None,
        )
        return [*resources, staff]

    @property
    def scientist_observation(self) -> models.ScientistObservation:
        """What the Scientist sees before the first round."""
        return self.seen_by_scientist([], None, 0, MAX_ROUNDS, None)

    def seen_by_scientist(
        self,
        history: list[models.ConversationEntry],
        plan: models.Protocol | None,
        round_number: int,
        max_rounds: int,
        offer: models.Protocol | None,
    ) -> models.ScientistObservation:
        """Return what the Scientist sees before a round, with the standing offer."""
        paper = self.paper
        return models.ScientistObservation(
            paper_title=paper.title,
            paper_hypothesis=paper.hypothesis,
            paper_method=paper.method,
            paper_key_finding=paper.key_finding,
            experiment_goal=paper.goal,
            conversation_history=history,
            current_protocol=plan,
            round_number=round_number,
            max_rounds=max_rounds,
            suggested_protocol=offer,
        )

    @property
    def lab_manager_observation(self) -> models.LabManagerObservation:
        """What the Lab Manager sees before the first round."""
        equipment, reagents = self.equipment, self.reagents
        booked = [i for i in equipment if self.inventory.status(i, "equipment") in MISSING]
        gone = [i for i in reagents if self.inventory.status(i, "reagent") in MISSING]
        return models.LabManagerObservation(
            budget_total=self.lab.budget,
            budget_remaining=self.lab.budget,
            equipment_available=[item for item in equipment if item not in booked],
            equipment_booked=booked,
            reagents_in_stock=[item for item in reagents if item not in gone],
            reagents_out_of_stock=gone,
            staff_count=self.lab.staff,
            time_limit_days=self.lab.days_left,
            safety_restrictions=[rule.restriction for rule in self.study.policy_rules],
            conversation_history=[],
            current_protocol=None,
            round_number=0,
            max_rounds=MAX_ROUNDS,
        )


NormalizedScenarioPack = Pack  # The full name of a pack


def require_seed(seed: object) -> int:
    """Return ``seed`` if it is one.

    Raises:
        ScenarioError: it is not a whole number from 0 to `MAX_SEED`.
    """
    if isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED:
        return seed
    text = repr(seed) if not isinstance(seed, int) or abs(seed) < 10**30 else "a huge number"
    fault = Fault("seed", f"{text} is not a seed", f"use a whole number from 0 to {MAX_SEED}")
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
    return Pack(
        study=study,
        difficulty=Difficulty(difficulty),
        seed=seed,
        lab=lab,
        own_lab=_NO_OVERRIDES,
        question=_NO_QUESTION,
    )


def _moved(lab: Lab, study: Study, key: str) -> Lab:
    tens = _near(lab.budget, BUDGET_SWING_PERCENT, BUDGET_STEP, draw(key, "budget"))
    days = max(lab.start_day, _near(lab.days, DAYS_SWING_PERCENT, 1, draw(key, "days")))
    further = {*map(label_key, (*lab.equipment, *lab.reagents))}
    record = {item: day for item, day in lab.booked.items() if label_key(item) in further}
    gone = [item for item in lab.out_of_stock if label_key(item) in further]
    booked = _chosen(study.equipment, len(lab.booked) - len(record), f"{key}|booked")
    spent = _chosen(study.reagents, len(lab.out_of_stock) - len(gone), f"{key}|out of stock")
    until = {item: _between(1, 2 * days, draw(key, "booked until", item)) for item in booked}
    return lab.model_copy(
        update={
            "budget": float(BUDGET_STEP * tens),
            "days": days,
            "booked": until | record,
            "out_of_stock": [*spent, *gone],
            "expected": None,
        }
    )


def _near(amount: float, percent: int, step: int, share: float) -> int:
    """Return a number of steps, at least one, that is within so many percent of an amount."""
    low = ceil(amount * (100 - percent) / (100 * step))
    high = floor(min(amount * (100 + percent) / (100 * step), MOST // step))
    return _between(max(1, low), high, share)


def _between(low: int, high: int, share: float) -> int:
    return low + int(share * (max(low, high) - low + 1))


def _chosen(items: list[str], count: int, key: str) -> list[str]:
    taken = sorted(items, key=lambda item: draw(key, item))[:count]
    return [item for item in items if item in taken]


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
