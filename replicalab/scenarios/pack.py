"""A study in a lab: the pack that both agents, the checks and the pages read.

Seed 0 is the lab as written; any other moves budget, days and missing items by a hash, the same on
every machine. Source: docs/methods.md, Scenario.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from itertools import chain, count
from math import ceil, floor
from typing import Annotated, Final, Generic, NamedTuple, TypeVar

from pydantic import ConfigDict, Field

from replicalab import models
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key
from replicalab.limits import MAX_SEED
from replicalab.models import NotebookView
from replicalab.scenarios import constraints as rules
from replicalab.scenarios import overrides
from replicalab.scenarios.field_types import MOST, Finite
from replicalab.scenarios.lab import LAB_CONSTRAINTS, Difficulty, Lab
from replicalab.scenarios.study import Study

MAX_ROUNDS: Final = 5
"""Rounds of a negotiation, unless another number is asked for."""

BUDGET_SWING_PERCENT: Final = 15
DAYS_SWING_PERCENT: Final = 20
BUDGET_STEP: Final = 10  # A seeded budget is a whole multiple of this many credits

Seed = Annotated[int, Field(strict=True, ge=0, le=MAX_SEED)]
STAFF_KEY: Final = "staff"

_NO_OVERRIDES: Final = overrides.LabOverrides()
_NO_QUESTION: Final = overrides.EvidenceAssumptions()


class ItemStatus(StrEnum):
    """The status of an item in a lab."""

    AVAILABLE = "available"
    BOOKED = "booked"
    OUT_OF_STOCK = "out of stock"
    UNKNOWN = "not in this lab's inventory"


MISSING: Final = frozenset({ItemStatus.BOOKED, ItemStatus.OUT_OF_STOCK})
"""The statuses of items that the lab knows and cannot use."""


class Item(NamedTuple):
    """An item that a plan lists in a protocol ``field``."""

    field: str
    category: str  # ``equipment`` or ``reagent``
    label: str
    key: str
    status: ItemStatus
    status_text: str  # the status for people: ``booked until day 10``
    options: tuple[str, ...]  # the alternatives of a missing item
    times: int = 1  # how often the plan lists it

    @property
    def is_irreplaceable(self) -> bool:
        """Whether it is missing and has no alternative here."""
        return self.status in MISSING and not self.options


_FIELDS: Final = {"equipment": "required_equipment", "reagent": "required_reagents"}


class Inventory:
    """A lab's items and their usable alternatives, by label as `label_key` compares them."""

    def __init__(self, study: Study, lab: Lab) -> None:
        self._lab, self._term = lab, study.term
        gone = dict.fromkeys(map(label_key, lab.out_of_stock), ItemStatus.OUT_OF_STOCK)
        self._booked_until = {
            key: day
            for item, day in lab.booked.items()
            if day >= lab.start_day and (key := label_key(item)) not in gone
        }
        gone |= dict.fromkeys(self._booked_until, ItemStatus.BOOKED)
        self._prices = {label_key(item): price for item, price in lab.prices.items()}
        self._alternatives: dict[str, tuple[str, ...]] = {}
        for swap in study.substitutions:
            if label_key(swap.alternative) not in gone:
                original = label_key(swap.original)
                self._alternatives[original] = (*self.alternatives(original), swap.alternative)
        self._status: dict[tuple[str, str], ItemStatus] = {}
        self._items: dict[str, dict[str, Item]] = {}  # most plans write labels as these
        self.listed: list[Item] = []
        """The items of the study and the lab: the equipment, then the reagents."""
        self.replacements: dict[str, list[str]] = {}
        """By category, the usable alternatives that it does not list as items, sorted."""
        for category, labels in (
            ("equipment", (*study.equipment, *lab.equipment)),
            ("reagent", (*study.reagents, *lab.reagents)),
        ):
            keys = [label_key(label) for label in labels]
            others = {label for key in keys for label in self.alternatives(key)}
            others = {label for label in others if label_key(label) not in keys}
            self.replacements[category] = sorted(others)
            statuses = dict.fromkeys(map(label_key, others), ItemStatus.AVAILABLE)
            statuses |= {key: gone.get(key, ItemStatus.AVAILABLE) for key in keys}
            self._status |= {(category, key): status for key, status in statuses.items()}
            self._items[category] = {label: self._item(label, category) for label in labels}
            self.listed += self._items[category].values()

    def status(self, label: str, category: str) -> ItemStatus:
        return self._status.get((category, label_key(label)), ItemStatus.UNKNOWN)

    def status_text(self, label: str, category: str) -> str:
        """Return the status of an item in words: ``booked until day 10``, with the date if any."""
        return self._item(label, category).status_text

    def items(self, labels: Sequence[str], category: str) -> list[Item]:
        """Return the items behind a plan's labels of a category, each label once."""
        names = self._items[category]
        items = [names.get(label) or self._item(label, category) for label in dict.fromkeys(labels)]
        if len(items) == len(labels):
            return items
        return [item._replace(times=labels.count(item.label)) for item in items]

    def _item(self, label: str, category: str) -> Item:
        key, status = label_key(label), self.status(label, category)
        options = self._alternatives.get(key, ()) if status in MISSING else ()
        text = self._term(status)
        if status is ItemStatus.BOOKED:
            until = self._booked_until[key]
            text = f"{status} until day {until}{self._lab.dated(until)}"
        return Item(_FIELDS[category], category, label, key, status, text, options)

    def alternatives(self, label: str) -> tuple[str, ...]:
        """Return the usable alternatives of an item, in the study file's order."""
        return self._alternatives.get(label_key(label), ())

    def booked_until(self, label: str) -> int | None:
        return self._booked_until.get(label_key(label))

    def price(self, label: str) -> float | None:
        return self._prices.get(label_key(label))


class ResourceCategory(StrEnum):
    """The kind of a resource."""

    EQUIPMENT = "equipment"
    REAGENT = "reagent"
    PERSONNEL = "personnel"


class ScenarioResource(models.Record):
    """One thing the lab has or lacks; ``booked_until_day`` is None if not booked."""

    key: models.NonEmptyText
    label: models.NonEmptyText
    quantity: Finite | None = None
    unit: models.NonEmptyText | None = None
    available: models.Flag
    category: ResourceCategory
    booked_until_day: models.Count | None = None
    details: str = ""


_T = TypeVar("_T")


class _Part(Generic[_T]):
    """A part of a pack's study and lab."""

    def __init__(self, get: Callable[[Pack], _T]) -> None:
        self._get = get

    def __get__(self, pack: Pack, _: type[Pack]) -> _T:
        return self._get(pack)


class Pack(NotebookView, models.Record):
    """A study in one lab.

    ``hidden_reference_spec`` is for the judge; no Scientist prompt or observation may carry it.
    ``own_lab`` and ``question`` are the visitor's changes, already applied to ``study`` and
    ``lab``.
    """

    model_config = ConfigDict(ignored_types=(_Part,))

    study: Study
    difficulty: Difficulty
    seed: int
    lab: Lab
    own_lab: overrides.LabOverrides = Field(default_factory=lambda: _NO_OVERRIDES)
    question: overrides.EvidenceAssumptions = Field(default_factory=lambda: _NO_QUESTION)

    def __repr__(self) -> str:
        return f"<Pack {self.scenario_id}, {self.difficulty} lab, seed {self.seed}>"

    def in_lab(self, lab: Lab) -> Pack:
        return self.model_copy(update={"lab": lab})

    def with_own(
        self, own_lab: overrides.LabOverrides, question: overrides.EvidenceAssumptions
    ) -> Pack:
        if own_lab == _NO_OVERRIDES and question == _NO_QUESTION:
            return self
        study = self.study.model_copy(update={"design": question.over(self.study.design)})
        lab = own_lab.over(self.lab, study).model_copy(update={"expected": None})
        changes = {"study": study, "lab": lab, "own_lab": own_lab, "question": question}
        return self.model_copy(update=changes)

    @property
    def asked(self) -> tuple[str, ...]:
        """The numbers of the question that affect the evidence, in their order."""
        idle = self.question.idle_in(self.design)
        return tuple(name for name in self.question.asked if name not in idle)

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory(self.study, self.lab)

    @cached_property
    def limits(self) -> tuple[rules.StudyLimit, ...]:
        return rules.limits_of(self.study.constraints)

    @cached_property
    def control_keys(self) -> dict[str, str]:
        return {control.name: label_key(control.name) for control in self.controls}

    @property
    def known_items(self) -> dict[str, overrides.ItemCategory]:
        """The category of each item and substitute that the study or the lab names, by label."""
        items = dict.fromkeys(map(label_key, self.reagents), overrides.CATEGORIES[1])
        items |= dict.fromkeys(map(label_key, self.equipment), overrides.CATEGORIES[0])
        for swap in self.study.substitutions:
            category = items.get(label_key(swap.original), overrides.CATEGORIES[0])
            items.setdefault(label_key(swap.alternative), category)
        swaps = [swap.alternative for swap in self.study.substitutions]
        labels = [*self.study.equipment, *self.study.reagents, *swaps]
        labels += [*self.lab.equipment, *self.lab.reagents]
        written = {label_key(label): label for label in reversed(labels)}
        return {label: items[key] for key, label in reversed(written.items())}

    def changed_items(self, items: Iterable[overrides.OwnItem]) -> tuple[overrides.OwnItem, ...]:
        """Return the items whose state or price differs in this lab."""

        def facts(pack: Pack, item: overrides.OwnItem) -> tuple[str, float]:
            text = pack.inventory.status_text(item.label, item.category)
            return text, pack.price(item.label, item.category)

        changed = []
        for item in items:
            lab = overrides.LabOverrides(items=(item,)).over(self.lab, self.study)
            if facts(self.in_lab(lab), item) != facts(self, item):
                changed.append(item)
        return tuple(changed)

    scenario_id = _Part(lambda pack: pack.study.scenario_id)
    domain_id = _Part(lambda pack: pack.study.domain_id)
    paper = _Part(lambda pack: pack.study.paper)
    design = _Part(lambda pack: pack.study.design)
    task_summary = _Part(lambda pack: pack.study.task_summary)
    success_criteria = _Part(lambda pack: pack.study.success_criteria)
    allowed_substitutions = _Part(lambda pack: pack.study.substitutions)
    hidden_reference_spec = _Part(lambda pack: pack.study.hidden_reference)
    policy_rules = _Part(lambda pack: pack.study.policy_rules)
    reference_protocol = _Part(lambda pack: pack.study.reference_protocol)
    controls = _Part(lambda pack: pack.study.controls)
    min_days = _Part(lambda pack: pack.study.min_days)
    samples_per_day = _Part(lambda pack: pack.study.samples_per_day)
    cost_model = _Part(lambda pack: pack.lab.cost_model)
    staff_model = _Part(lambda pack: pack.lab.staff_model)
    expected = _Part(lambda pack: pack.lab.expected)  # None in a lab that its author did not write
    equipment = _Part(lambda pack: [*pack.study.equipment, *pack.lab.equipment])
    scientist_observation = _Part(
        lambda pack: pack.seen_by_scientist([], None, 0, MAX_ROUNDS, None)
    )
    reagents = _Part(lambda pack: [*pack.study.reagents, *pack.lab.reagents])

    def price(self, label: str, category: str) -> float:
        """Return the cost of an item here: its own price, or else the rate of its category."""
        value = self.inventory.price(label) if self.lab.prices else None
        return self.cost_model.rate(category) if value is None else value

    @property
    def unspoken(self) -> list[str]:
        """The study's items that the visitor's named lab does not mention."""
        if self.own_lab.name is None:
            return []
        mentioned = {label_key(item.label) for item in self.own_lab.items}
        items = (*self.study.equipment, *self.study.reagents)
        return [item for item in items if label_key(item) not in mentioned]

    @property
    def means(self) -> dict[str, tuple[str, float, str]]:
        """The lab's own constraints by key: label, quantity and unit."""
        lab = self.lab
        return {
            key: (label, getattr(lab, name), unit or lab.currency)
            for key, (label, name, unit) in LAB_CONSTRAINTS.items()
        }

    @property
    def constraints(self) -> list[rules.ScenarioConstraint]:
        constraints = [*self.study.constraints]
        for key, (label, quantity, unit) in self.means.items():
            bound = {"quantity": float(quantity), "unit": unit, "comparator": "<=", "hard": True}
            constraint = {"key": key, "label": label, **bound}
            constraints.append(rules.ScenarioConstraint.model_validate(constraint))
        return constraints

    @property
    def resources(self) -> list[ScenarioResource]:
        resources, keys = list[ScenarioResource](), {STAFF_KEY}
        for item in self.inventory.listed:
            slug = re.sub(r"[^a-z0-9]+", "_", item.label.casefold()).strip("_") or "item"
            names = chain([slug], (f"{slug}_{number}" for number in count(2)))
            key = next(name for name in names if name not in keys)
            keys.add(key)
            resource = ScenarioResource(
                key=key,
                label=item.label,
                available=item.status is ItemStatus.AVAILABLE,
                category=ResourceCategory(item.category),
                booked_until_day=self.inventory.booked_until(item.label),
            )
            resources.append(resource)
        staff = ScenarioResource(
            key=STAFF_KEY,
            label="lab staff",
            quantity=self.lab.staff,
            unit="staff units",
            available=True,
            category=ResourceCategory.PERSONNEL,
        )
        return [*resources, staff]

    def seen_by_scientist(
        self,
        history: list[models.ConversationEntry],
        plan: models.Protocol | None,
        round_number: int,
        max_rounds: int,
        offer: models.Protocol | None,
    ) -> models.ScientistObservation:
        """Return the Scientist's view before a round, with the Lab Manager's offer."""
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
        equipment, reagents = self.equipment, self.reagents
        missing = {item.label for item in self.inventory.listed if item.status in MISSING}
        booked = [item for item in equipment if item in missing]
        gone = [item for item in reagents if item in missing]
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
    """Return ``seed``; raises ScenarioError if it is not 0 to `MAX_SEED`."""
    if isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED:
        return seed
    text = repr(seed) if not isinstance(seed, int) or abs(seed) < 10**30 else "a huge number"
    fault = Fault("seed", f"{text} is not a seed", f"use a whole number from 0 to {MAX_SEED}")
    raise ScenarioError("lab", [fault])


def draw(*parts: object) -> float:
    """Return a reproducible number in [0, 1) for these parts."""
    digest = sha256("|".join(map(str, parts)).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def pack_of(study: Study, difficulty: Difficulty, seed: int = 0) -> Pack:
    seed = require_seed(seed)
    lab = study.labs.at(difficulty)
    if seed:
        lab = _moved(lab, study, f"{seed}|{study.scenario_id}|{difficulty}")
    return Pack(study=study, difficulty=Difficulty(difficulty), seed=seed, lab=lab)


def _moved(lab: Lab, study: Study, key: str) -> Lab:
    tens = _near(lab.budget, BUDGET_SWING_PERCENT, BUDGET_STEP, draw(key, "budget"))
    days = max(lab.start_day, _near(lab.days, DAYS_SWING_PERCENT, 1, draw(key, "days")))
    further = {*map(label_key, (*lab.equipment, *lab.reagents))}
    bookings = {item: day for item, day in lab.booked.items() if label_key(item) in further}
    gone = [item for item in lab.out_of_stock if label_key(item) in further]
    booked = _chosen(study.equipment, len(lab.booked) - len(bookings), f"{key}|booked")
    spent = _chosen(study.reagents, len(lab.out_of_stock) - len(gone), f"{key}|out of stock")
    until = {item: _between(1, 2 * days, draw(key, "booked until", item)) for item in booked}
    return lab.model_copy(
        update={
            "budget": float(BUDGET_STEP * tens),
            "days": days,
            "booked": until | bookings,
            "out_of_stock": [*spent, *gone],
            "expected": None,
        }
    )


def _near(amount: float, percent: int, step: int, share: float) -> int:
    # A number of steps, at least one, within that percentage of the amount.
    low = ceil(amount * (100 - percent) / (100 * step))
    high = floor(min(amount * (100 + percent) / (100 * step), MOST // step))
    return _between(max(1, low), high, share)


def _between(low: int, high: int, share: float) -> int:
    return low + int(share * (max(low, high) - low + 1))


def _chosen(items: list[str], count: int, key: str) -> list[str]:
    taken = sorted(items, key=lambda item: draw(key, item))[:count]
    return [item for item in items if item in taken]
