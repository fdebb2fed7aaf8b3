"""A visitor's changes to a study's lab and to its evidence assumptions; only differences count."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import FailFast, Field, ValidationError, model_validator

from replicalab import limits
from replicalab.designs import KINDS, PARAMETERS
from replicalab.errors import Fault, Refusal, ScenarioError
from replicalab.lexicon import label_key, percent_text, repeated_labels
from replicalab.models import Count, Flag, Record
from replicalab.scenarios import field_types
from replicalab.scenarios import lab as labs
from replicalab.scenarios.study import Design, Study

QuestionName = Literal[
    "effect", "alpha", "sides", "target", "floor", "dropout", "baseline", "assurance",
    "units", "arms",
]  # fmt: skip

if TYPE_CHECKING:
    RateName: TypeAlias = str
    StepName: TypeAlias = str
else:
    RateName = Literal[*(row.key for row in labs.AMOUNTS.values() if row.part == "rates")]
    StepName = Literal[*(row.key for row in labs.AMOUNTS.values() if row.part == "steps")]

ItemCategory = Literal["equipment", "reagent"]
CATEGORIES: Final[tuple[ItemCategory, ...]] = ("equipment", "reagent")

# The fields that `Lab` and `LabOverrides` share.
_STATED: Final = (
    *(row.key for row in labs.amounts_in(labs.AmountGroup.MEANS)),
    *("currency", "start_date", "weekends"),
)


class ItemState(StrEnum):
    """The state of an item in a visitor's lab."""

    AVAILABLE = "available"
    BOOKED = "booked"
    OUT_OF_STOCK = "out of stock"


class OwnItem(Record):
    """State and price of an item; None leaves the study's, available if it lists none."""

    label: field_types.Label
    category: ItemCategory
    state: ItemState | None = None
    until: Count | None = None
    price: field_types.Rate | None = None


class LabOverrides(Record):
    """A visitor's lab; None, or no entry, leaves the value of the study's lab."""

    name: field_types.ShortTitle | None = None
    budget: field_types.AtLeastOne | None = None
    days: field_types.AtLeastOne | None = None
    staff: field_types.AtLeastOne | None = None
    start_day: field_types.AtLeastOne | None = None
    currency: field_types.Currency | None = None
    start_date: labs.StartDate | None = None
    weekends: Flag | None = None
    rates: Annotated[dict[RateName, field_types.Rate], FailFast()] = Field(default_factory=dict)
    steps: Annotated[dict[StepName, field_types.Step], FailFast()] = Field(default_factory=dict)
    items: Annotated[tuple[OwnItem, ...], Field(max_length=limits.MOST_OWN_ITEMS), FailFast()] = ()

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        for repeated in repeated_labels(item.label for item in self.items):
            raise Refusal(f"'{repeated}' is listed twice", "list it once").error
        return self

    @model_validator(mode="after")
    def _overhead_is_a_percentage(self) -> Self:
        percent, most = self.rates.get("overhead_percent", 0.0), limits.MOST_PERCENT
        if percent > most:
            problem = f"overhead_percent is {percent:,.12g}"
            raise Refusal(problem, f"give at most {most:,}").error
        return self

    def with_amount(self, amount: labs.LabAmount, value: float | None) -> Self:
        if not amount.part:
            return self.model_copy(update={amount.key: value})
        amounts = {**getattr(self, amount.part), amount.key: value}
        changed = {key: number for key, number in amounts.items() if number is not None}
        return self.model_copy(update={amount.part: changed})

    @property
    def stated(self) -> dict[str, Any]:
        return {name: x for name in _STATED if (x := getattr(self, name)) is not None}

    @property
    def changes(self) -> int:
        of_items = [value for item in self.items for value in (item.state, item.price)]
        values = [value for value in of_items if value is not None]
        return sum(map(len, (values, self.stated, self.rates, self.steps)))

    def over(self, lab: labs.Lab, study: Study) -> labs.Lab:
        by_key = {label_key(item.label): item for item in self.items}
        stated = {key for key, item in by_key.items() if item.state is not None}
        priced = {key for key, item in by_key.items() if item.price is not None}
        further = {"equipment": [*lab.equipment], "reagent": [*lab.reagents]}
        listed = (*study.equipment, *study.reagents, *lab.equipment, *lab.reagents)
        labels = {*map(label_key, listed)}
        booked = {item: day for item, day in lab.booked.items() if label_key(item) not in stated}
        gone = [item for item in lab.out_of_stock if label_key(item) not in stated]
        prices = {item: x for item, x in lab.prices.items() if label_key(item) not in priced}
        for key, item in by_key.items():
            if item.state is ItemState.BOOKED:
                booked[item.label] = item.until if item.until is not None else self.days or lab.days
            elif item.state is ItemState.OUT_OF_STOCK:
                gone.append(item.label)
            if item.price is not None:
                prices[item.label] = item.price
            if key not in labels:
                further[item.category].append(item.label)
        return lab.model_copy(
            update={
                **self.stated,
                "booked": booked,
                "out_of_stock": gone,
                "equipment": further["equipment"],
                "reagents": further["reagent"],
                "prices": prices,
                "cost_model": lab.cost_model.model_copy(update={**self.rates}),
                "staff_model": lab.staff_model.model_copy(update={**self.steps}),
            }
        )


class EvidenceAssumptions(Record):
    """A visitor's question: other numbers of the `Design`; None leaves the study's."""

    effect: field_types.Effect | None = None
    alpha: Annotated[float, PARAMETERS["alpha"].bounds] | None = None
    sides: Annotated[int, PARAMETERS["sides"].bounds] | None = None
    target: field_types.Bound | None = None
    floor: field_types.Bound | None = None
    dropout: Annotated[float, Field(strict=True, ge=0, lt=1)] | None = None
    baseline: Annotated[float, PARAMETERS["baseline"].bounds] | None = None
    assurance: Annotated[float, PARAMETERS["assurance"].bounds] | None = None
    units: field_types.Units | None = None
    arms: field_types.Arms | None = None
    why: Annotated[dict[QuestionName, field_types.Prose], FailFast()] = Field(default_factory=dict)

    def over(self, design: Design) -> Design:
        """Return a design with these assumptions; raises ScenarioError if they do not fit."""
        changes: dict[str, Any] = {_field(name): getattr(self, name) for name in self.asked}
        if not changes and not self.why:
            return design
        why = {**design.why, **{_field(name): reason for name, reason in self.why.items()}}
        try:
            return Design.model_validate({**dict(design), **changes, "why": why})
        except ValidationError as error:
            detail = error.errors(include_url=False)[0]
            words = {"problem": detail["msg"], "remedy": "choose another number"}
            words |= detail.get("ctx", {})
            fault = Fault("", words["problem"], words["remedy"])
            raise ScenarioError("your question", [fault]) from error

    def asking(self, number: str, value: float | None, design: Design) -> EvidenceAssumptions:
        """Return this question with another number; None, or the study's, removes it."""
        asks = value is not None and value != getattr(design, QUESTION_FIELDS[number])
        why = {name: reason for name, reason in self.why.items() if asks or name != number}
        try:
            return self.model_copy(update={number: value if asks else None, "why": why})
        except ValidationError as error:
            text = percent_text(value or 0.0) if number == "dropout" else f"{value:zg}"
            fault = Fault("", f"the {number} is {text}", _REMEDIES[number])
            raise ScenarioError("your question", [fault]) from error

    def because(self, number: str, reason: str) -> EvidenceAssumptions:
        others = {name: text for name, text in self.why.items() if name != number}
        return self.model_copy(update={"why": {**others, number: reason} if reason else others})

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the given assumptions, in the order of the fields."""
        names = (*QUESTION_FIELDS, *QUESTION_RECORDS)
        return tuple(name for name in names if getattr(self, name) is not None)

    def idle_in(self, design: Design) -> dict[str, str]:
        """Return the numbers without effect on a design's evidence, and a sentence on each."""
        row = KINDS[design.kind]
        return {
            name: f"{name} '{getattr(self, name):g}' plays no part in {row.named} design"
            for name in self.asked
            if name in PARAMETERS and not row.uses(name)
        }


def _field(name: str) -> str:
    return "effect_planning" if name == "effect" else name


QUESTION_RECORDS: Final[dict[str, type[Record]]] = {
    "units": field_types.Units,
    "arms": field_types.Arms,
}
"""The parts of a question that are no numbers."""
QUESTION_FIELDS: Final = {
    name: _field(name) for name in get_args(QuestionName) if name not in QUESTION_RECORDS
}
"""The numbers of a question, and the design's field of each."""
_REMEDIES: Final = {
    "effect": f"give a number of {-limits.LARGEST_EFFECT:,.0f} to {limits.LARGEST_EFFECT:,.0f}",
    "alpha": "give a share above 0 and below 1",
    "sides": PARAMETERS["sides"].remedy,
    "target": f"give a number above 0, at most {limits.LARGEST_EFFECT:,.0f}",
    "floor": f"give a number above 0, at most {limits.LARGEST_EFFECT:,.0f}",
    "dropout": "give 0 % or more, below 100 %",
    "baseline": "give a share above 0, at most 1",
    "assurance": "give a share of 0.5 or more, below 1",
}
