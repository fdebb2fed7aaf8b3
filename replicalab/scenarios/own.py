"""What a visitor says in place of a study: of its lab, and of what its evidence assumes.

Only what differs is kept, so that it can be shown, counted and reset one by one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import FailFast, Field, ValidationError, model_validator

from replicalab import limits
from replicalab.designs import KINDS, PARAMETERS
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import label_key, percent_text, repeated_labels
from replicalab.models import Count, Flag, Record
from replicalab.scenarios import fields
from replicalab.scenarios.amounts import AMOUNTS, AmountGroup, LabAmount, amounts_in
from replicalab.scenarios.calendar import StartDate
from replicalab.scenarios.lab import Lab
from replicalab.scenarios.study import Design, Study
from replicalab.scenarios.units import Arms, Units

QuestionName = Literal[
    "effect", "alpha", "target", "floor", "dropout", "baseline", "assurance", "units", "arms"
]

if TYPE_CHECKING:
    RateName: TypeAlias = str
    StepName: TypeAlias = str
else:
    RateName = Literal[*(row.key for row in AMOUNTS.values() if row.part == "rates")]
    StepName = Literal[*(row.key for row in AMOUNTS.values() if row.part == "steps")]

ItemCategory = Literal["equipment", "reagent"]
CATEGORIES: Final[tuple[ItemCategory, ...]] = ("equipment", "reagent")


_STATED: Final = (
    *(row.key for row in amounts_in(AmountGroup.MEANS)),
    *("currency", "start_date", "weekends"),
)
"""The fields that `Lab` and `LabOverrides` share."""


class ItemState(StrEnum):
    """Where a visitor says that an item stands."""

    AVAILABLE = "available"
    BOOKED = "booked"
    OUT_OF_STOCK = "out of stock"


class OwnItem(Record):
    """What is said of one item of the lab; None leaves it as in the study's lab.

    An item that the study does not list is available where nothing else is said. ``until`` is the
    last day on which a booked item is booked; ``price`` stands in place of its rate.
    """

    label: fields.Label
    category: ItemCategory
    state: ItemState | None = None
    until: Count | None = None
    price: fields.Rate | None = None


class LabOverrides(Record):
    """What is said of a lab in place of the study's; None, or no entry, leaves the study's.

    A lab with a name goes along to other studies. ``rates`` are fields of `CostModel`,
    ``steps`` fields of `StaffModel`; ``items`` holds each label once.
    """

    name: fields.ShortTitle | None = None
    budget: fields.AtLeastOne | None = None
    days: fields.AtLeastOne | None = None
    staff: fields.AtLeastOne | None = None
    start_day: fields.AtLeastOne | None = None
    currency: fields.Currency | None = None
    start_date: StartDate | None = None
    weekends: Flag | None = None
    rates: Annotated[dict[RateName, fields.Rate], FailFast()] = Field(default_factory=dict)
    steps: Annotated[dict[StepName, fields.Step], FailFast()] = Field(default_factory=dict)
    items: Annotated[tuple[OwnItem, ...], Field(max_length=limits.MOST_OWN_ITEMS), FailFast()] = ()

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        for repeated in repeated_labels(item.label for item in self.items):
            raise ValueError(f"'{repeated}' is listed twice; list it once")
        return self

    @model_validator(mode="after")
    def _overhead_is_a_percentage(self) -> Self:
        if (percent := self.rates.get("overhead_percent", 0.0)) > limits.MOST_PERCENT:
            text = f"at most {limits.MOST_PERCENT:,}"
            raise ValueError(f"overhead_percent is {percent:,.12g}; give {text}")
        return self

    def with_amount(self, amount: LabAmount, value: float | None) -> Self:
        """Return these overrides with another amount; None leaves the study's."""
        if not amount.part:
            return self.model_copy(update={amount.key: value})
        record = {key: was for key, was in getattr(self, amount.part).items() if key != amount.key}
        changed = record if value is None else {**record, amount.key: value}
        return self.model_copy(update={amount.part: changed})

    @property
    def stated(self) -> dict[str, Any]:
        """The amounts, and of calendar and currency, what is stated, by name."""
        named = {name: getattr(self, name) for name in _STATED}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def changes(self) -> int:
        """How many values of the study's lab it replaces; a price counts besides a state."""
        of_items = [value for item in self.items for value in (item.state, item.price)]
        start = [value for value in of_items if value is not None]
        parts = start, self.stated, self.rates, self.steps
        return sum(map(len, parts))

    def over(self, lab: Lab, study: Study) -> Lab:
        """Return a study's lab with what is said of it."""
        by_key = {label_key(item.label): item for item in self.items}
        stated = {key for key, item in by_key.items() if item.state is not None}
        used = {*map(label_key, (*study.equipment, *study.reagents))}
        booked = {item: day for item, day in lab.booked.items() if label_key(item) not in stated}
        gone = [item for item in lab.out_of_stock if label_key(item) not in stated]
        record = {"equipment": list(lab.equipment), "reagent": list(lab.reagents)}
        used |= {label_key(item) for items in record.values() for item in items}
        for key, item in by_key.items():
            if item.state is ItemState.BOOKED:
                booked[item.label] = item.until if item.until is not None else self.days or lab.days
            elif item.state is ItemState.OUT_OF_STOCK:
                gone.append(item.label)
            if key not in used:
                record[item.category].append(item.label)
        prices = {item.label: item.price for item in self.items if item.price is not None}
        priced = {*map(label_key, prices)}
        return lab.model_copy(
            update={
                **self.stated,
                "booked": booked,
                "out_of_stock": gone,
                "equipment": record["equipment"],
                "reagents": record["reagent"],
                "prices": {
                    **{i: p for i, p in lab.prices.items() if label_key(i) not in priced},
                    **prices,
                },
                "cost_model": lab.cost_model.model_copy(update=dict(self.rates.items())),
                "staff_model": lab.staff_model.model_copy(update=dict(self.steps.items())),
            }
        )


class EvidenceAssumptions(Record):
    """What the evidence is to assume, in place of the study's design; None leaves the study's.

    The numbers are those of `Design`, ``effect`` its planning effect; ``units`` and
    ``arms`` replace all that it says of them; ``why`` has the reasons.
    """

    effect: fields.Effect | None = None
    alpha: Annotated[float, PARAMETERS["alpha"].bounds] | None = None
    target: fields.Bound | None = None
    floor: fields.Bound | None = None
    dropout: Annotated[float, Field(strict=True, ge=0, lt=1)] | None = None
    baseline: Annotated[float, PARAMETERS["baseline"].bounds] | None = None
    assurance: Annotated[float, PARAMETERS["assurance"].bounds] | None = None
    units: Units | None = None
    arms: Arms | None = None
    why: Annotated[dict[QuestionName, fields.Prose], FailFast()] = Field(default_factory=dict)

    def over(self, design: Design) -> Design:
        """Return a design with what is asked of it.

        Raises:
            ScenarioError: the kind of design cannot be asked that.
        """
        fields_of = {**QUESTION_FIELDS, **{name: name for name in QUESTION_RECORDS}}
        record: dict[str, Any] = {fields_of[name]: getattr(self, name) for name in self.asked}
        if not record and not self.why:
            return design
        why = {**design.why, **{fields_of[name]: reason for name, reason in self.why.items()}}
        try:
            return Design.model_validate({**dict(design), **record, "why": why})
        except ValidationError as error:
            message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            kind = design.kind
            message = message.replace("effect_planning", "the effect")
            message = message.replace(kind, kind.replace("_", "-"))
            problem, _, remedy = message.partition("; ")
            fault = Fault("", problem, remedy or "choose another number")
            raise ScenarioError("your question", [fault]) from error

    def asking(self, number: str, value: float | None, design: Design) -> EvidenceAssumptions:
        """Return this question with one of its numbers changed.

        None, or the number of the study's own ``design``, asks nothing, and needs no reason.

        Raises:
            ScenarioError: no study can be asked that number.
        """
        asks = value is not None and value != getattr(design, QUESTION_FIELDS[number])
        why = {name: reason for name, reason in self.why.items() if asks or name != number}
        try:
            return self.model_copy(update={number: value if asks else None, "why": why})
        except ValidationError as error:
            text = percent_text(value or 0.0) if number == "dropout" else f"{value:zg}"
            fault = Fault("", f"the {number} is {text}", _REMEDIES[number])
            raise ScenarioError("your question", [fault]) from error

    def because(self, number: str, reason: str) -> EvidenceAssumptions:
        """Return this question with a reason for one of its numbers; an empty one takes it away."""
        others = {name: other for name, other in self.why.items() if name != number}
        return self.model_copy(update={"why": {**others, number: reason} if reason else others})

    @property
    def asked(self) -> tuple[str, ...]:
        """What it has, in the order of the fields."""
        names = (*QUESTION_FIELDS, *QUESTION_RECORDS)
        return tuple(name for name in names if getattr(self, name) is not None)

    def idle_in(self, design: Design) -> dict[str, str]:
        """Return the numbers that play no part in a design's evidence, and a sentence on each."""
        row = KINDS[design.kind]
        return {
            name: f"{name} '{getattr(self, name):g}' plays no part in {row.named} design"
            for name in self.asked
            if name in PARAMETERS and not row.uses(name)
        }


QUESTION_FIELDS: Final[dict[str, str]] = {
    "effect": "effect_planning",
    "alpha": "alpha",
    "target": "target",
    "floor": "floor",
    "dropout": "dropout",
    "baseline": "baseline",
    "assurance": "assurance",
}
"""The numbers of a question, and the field of a design that each stands for."""

QUESTION_RECORDS: Final[dict[str, type[Record]]] = {"units": Units, "arms": Arms}
"""What else a question has, fields of a design of the same names: several numbers each."""

# What each number may be.
_REMEDIES: Final = {
    "effect": f"give a number of {-limits.LARGEST_EFFECT:,.0f} to {limits.LARGEST_EFFECT:,.0f}",
    "alpha": "give a share above 0 and below 1",
    "target": f"give a number above 0, at most {limits.LARGEST_EFFECT:,.0f}",
    "floor": f"give a number above 0, at most {limits.LARGEST_EFFECT:,.0f}",
    "dropout": "give 0 % or more, below 100 %",
    "baseline": "give a share above 0, at most 1",
    "assurance": "give a share of 0.5 or more, below 1",
}
