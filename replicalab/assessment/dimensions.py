"""The seven dimensions, one row each, and the changes of a plan that repair them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from replicalab import lexicon
from replicalab.assessment.costs import Counts, cost, rounded, staff
from replicalab.assessment.findings import PlanWithFindings, count_errors
from replicalab.assessment.plan_in_lab import PlanInLab, breaks_policy
from replicalab.lexicon import count_text, label_key
from replicalab.models import FIELD_LABELS, LIST_FIELDS, Dimension, NonEmptyText, Protocol, Record
from replicalab.scenarios import Item, Lab, Pack

DROPPED: Final = "dropped"  # The revised value of a change that drops a control


class SuggestionChange(Record):
    """One change: ``original`` and ``revised`` are the item, or the number, as text."""

    field: NonEmptyText
    original: NonEmptyText
    revised: NonEmptyText
    reason: NonEmptyText
    tradeoff: NonEmptyText


def apply_changes(protocol: Protocol, changes: Iterable[SuggestionChange]) -> Protocol:
    """Return the plan with changes applied in order; one whose item is gone does nothing."""
    fields = protocol.model_dump()
    for change in changes:
        name, value = change.field, change.revised
        if name not in LIST_FIELDS:
            fields[name] = int(value)
        elif change.original in (items := fields[name]):
            at = items.index(change.original)
            items[at : at + 1] = [] if name == "controls" and value == DROPPED else [value]
    return Protocol.model_validate(fields)


def change_of(field: str, before: object, after: object, why: str, lost: str) -> SuggestionChange:
    return SuggestionChange(
        field=field, original=str(before), revised=str(after), reason=why, tradeoff=lost
    )


def substitution(
    item: Item, alternative: str, pack: Pack, cause: str | None = None
) -> SuggestionChange:
    """Return the replacement of an item, for a cause or for its status in the lab."""
    allowed = pack.study.swaps[item.key, alternative]
    cause = cause or f"'{item.label}' is {item.status_text}"
    why = f"{cause}; allowed {allowed.condition}."
    lost = lexicon.ended(lexicon.capitalised(allowed.tradeoff))
    return change_of(item.field, item.label, alternative, why, lost)


def substitutions(category: str, plan: PlanInLab, listed: set[str]) -> Iterator[SuggestionChange]:
    """Yield a substitution for each missing item that has one; its keys are added to ``listed``."""
    missing = {
        (item.field, item.label): item
        for item in plan.missing_items
        if item.options and item.category == category
    }
    for field in dict.fromkeys([field for field, _ in missing]):
        for label in getattr(plan.plan, field):  # one that is listed twice is replaced twice
            if (item := missing.get((field, label))) is None:
                continue
            free = (option for option in item.options if label_key(option) not in listed)
            if (alternative := next(free, None)) is not None:
                listed.add(label_key(alternative))
                yield substitution(item, alternative, plan.pack)


def fewer_days(plan: PlanInLab, _: set[str]) -> Iterator[SuggestionChange]:
    """Yield the change to the lab's days, unless it has none left."""
    days, limit, pack = plan.counts.days, plan.pack.lab.days_left, plan.pack
    if days > limit > 0:
        why = f"The lab has {pack.lab.days_text}."
        yield change_of("duration_days", days, limit, why, days_lost_text(days, limit, pack))


def days_lost_text(before: int, after: int, pack: Pack) -> str:
    if after < pack.min_days:
        return f"Below {count_text(pack.min_days, 'day')} the study's endpoint is lost."
    return f"{count_text(before - after, 'day')} less to run, and to repeat failed runs."


class LabLimit(NamedTuple):
    """An amount of the lab; ``grant`` returns the fields of a lab that has as much."""

    need: Callable[[Counts, Pack], Any]  # the amount that counts need
    has: Callable[[Lab], float]  # the amount that a lab has
    grant: Callable[[Lab, float], Mapping[str, Any]] | None = None
    smaller: tuple[str, ...] = ()  # fields to make smaller for a repair, in order
    halved: Callable[[float, Lab], str] | None = None  # reason of the Lab Manager's halving

    def needed(self, counts: Counts, pack: Pack) -> float:
        """Return the need of one plan, rounded as it is compared."""
        needed: float = self.need(counts, pack)
        return needed if isinstance(needed, int) else rounded(float(needed))


@dataclass(frozen=True)
class DimensionRow:
    """One dimension: a plan uses some of a limit, and fails if it uses more.

    Of items the limit is those that are free; of errors and broken restrictions it is 0. ``fix``
    yields the Lab Manager's changes, given the keys of the items in the plan.
    """

    key: str  # its name; for the document's seven a `Dimension`
    noun: str  # its unit
    reason: str  # a format string for each mapping of details of a failing plan
    details: Callable[[PlanWithFindings], Iterable[Mapping[str, object]]]
    measure: Callable[[PlanInLab], tuple[float, float]] | None = None  # used, limit
    lab_limit: LabLimit | None = None
    over: str = ""  # after the amount of a failure: too many, missing
    category: str = ""  # of the items whose lack fails it
    granted: str = ""  # participle for an item added to the lab: released
    by_wording: bool = False  # whether words decide it, not days or samples
    forbids: Callable[[Iterable[str], Pack], bool] | None = None  # any of some texts?
    fix: Callable[[PlanInLab, set[str]], Iterable[SuggestionChange]] | None = None
    currency: bool = False  # whether its unit is the lab's currency

    @property
    def is_addable(self) -> bool:
        return bool(self.category or (self.lab_limit and self.lab_limit.grant))

    def reasons(self, plan: PlanWithFindings) -> list[str]:
        return [self.reason.format_map(details) for details in self.details(plan)]

    def measured(self, plan: PlanInLab) -> tuple[float, float]:
        if self.measure is not None:
            return self.measure(plan)
        if self.lab_limit is None:
            return 0, 0
        return self.lab_limit.needed(plan.counts, plan.pack), self.lab_limit.has(plan.pack.lab)

    def amount_text(self, amount: float, currency: str = lexicon.CREDITS, word: str = "") -> str:
        """Return an amount in its unit: ``10 credits``, with a word ``10 more credits``."""
        if self.currency:
            return lexicon.money_text(amount, currency, word)
        return count_text(amount, self.noun, word)


@dataclass(frozen=True)
class Slack:
    """One dimension of a plan in numbers, in the row's noun."""

    dimension: str
    used: float
    limit: float

    @property
    def ok(self) -> bool:
        return self.used <= self.limit

    @property
    def row(self) -> DimensionRow:
        return DIMENSION_ROWS[self.dimension]

    @property
    def slack(self) -> float:
        return self.limit - self.used

    @property
    def use(self) -> float | None:
        """The share of the limit that is used; None if not an amount."""
        return self.used / self.limit if self.row.lab_limit and self.limit else None


def _items(category: str, plan: PlanInLab) -> tuple[int, int]:
    needed = plan.counts.equipment if category == "equipment" else plan.counts.reagents
    missing = [item.times for item in plan.missing_items if item.category == category]
    return needed, needed - sum(missing)


def _item_details(category: str, plan: PlanInLab) -> Iterator[dict[str, str]]:
    for item in plan.missing_items:
        if item.category == category:
            options = " or ".join(lexicon.quoted(item.options)) or "nothing in this lab"
            yield {"label": item.label, "status": item.status_text, "options": options}


def _day_details(plan: PlanInLab) -> Iterator[dict[str, str]]:
    days, has, text = plan.counts.days, plan.pack.lab.days_left, plan.pack.lab.left_text
    limit = f"; {text}" if text else f", {days - has} over the limit of {has}"
    yield {"used": count_text(days, "day"), "limit": limit}


def _staff_details(plan: PlanInLab) -> Iterator[dict[str, object]]:
    steps = [
        f", 1 for more than {count_text(step.threshold, step.noun)}"
        for step in plan.staff_steps
        if step.adds
    ]
    base, has = plan.pack.staff_model.base, plan.pack.lab.staff
    used = count_text(plan.staff, "staff unit")
    yield {"used": used, "base": base, "steps": "".join(steps), "limit": has}


def _item_row(key: Dimension, category: str, granted: str) -> DimensionRow:
    return DimensionRow(
        key=key,
        noun="item",
        reason="'{label}' is {status}; {options} may replace it.",
        details=partial(_item_details, category),
        measure=partial(_items, category),
        over=f"missing ({key})",
        category=category,
        granted=granted,
        by_wording=True,
        fix=partial(substitutions, category),
    )


_ROWS: Final = (
    DimensionRow(
        key=Dimension.PROTOCOL,
        noun="error",
        reason="{error}",
        details=lambda plan: [{"error": error} for error in plan.errors],
        measure=lambda plan: (count_errors(plan), 0),
    ),
    DimensionRow(
        key=Dimension.BUDGET,
        noun="credit",
        reason="The plan costs {used}, {over} over the budget of {limit}.",
        details=lambda plan: [
            {
                "used": plan.pack.lab.money(plan.cost),
                "over": lexicon.amount_text(plan.cost - plan.pack.lab.budget),
                "limit": lexicon.amount_text(plan.pack.lab.budget),
            }
        ],
        lab_limit=LabLimit(
            need=cost,
            has=lambda lab: lab.budget,
            grant=lambda _, credits: {"budget": credits},
            smaller=("sample_size",),
            halved=lambda lacking, lab: f"the budget is {lab.money(lacking)} short",
        ),
        over="over the budget",
        currency=True,
    ),
    _item_row(Dimension.EQUIPMENT, "equipment", "released"),
    _item_row(Dimension.REAGENTS, "reagent", "supplied"),
    DimensionRow(
        key=Dimension.SCHEDULE,
        noun="day",
        reason="The plan takes {used}{limit}.",
        details=_day_details,
        lab_limit=LabLimit(
            need=lambda counts, _: counts.days,
            has=lambda lab: lab.days_left,
            grant=lambda lab, days: {"days": int(days) + lab.start_day - 1},
            smaller=("duration_days",),
        ),
        over="too many",
        fix=fewer_days,
    ),
    DimensionRow(
        key=Dimension.STAFF,
        noun="staff unit",
        reason="The plan needs {used} ({base} to start{steps}); the lab has {limit}.",
        details=_staff_details,
        lab_limit=LabLimit(
            need=lambda counts, pack: staff(counts, pack.lab.staff_model),
            has=lambda lab: lab.staff,
            grant=lambda _, people: {"staff": int(people)},
            smaller=("sample_size", "duration_days", "controls"),
            halved=lambda _, lab: (
                f"at {count_text(lab.staff_model.sample_threshold, 'sample')} or fewer the plan "
                "needs one staff unit less"
            ),
        ),
        over="too few",
    ),
    DimensionRow(
        key=Dimension.POLICY,
        noun="breach",
        reason="'{phrase}' in {field} breaks the restriction: {restriction}",
        details=lambda plan: [
            {**broken._asdict(), "field": plan.pack.study.term(FIELD_LABELS[broken.field].lower())}
            for broken in plan.violations
        ],
        measure=lambda plan: (len(plan.violations), 0),
        by_wording=True,
        forbids=breaks_policy,
    ),
)

DIMENSION_ROWS: Final = {row.key: row for row in _ROWS}
"""The rows by key, the seven in the document's order."""

ITEM_DIMENSIONS: Final = {row.category: row.key for row in _ROWS if row.category}
"""The dimension of each category of items."""


def lab_limits() -> dict[str, LabLimit]:
    return {key: row.lab_limit for key, row in DIMENSION_ROWS.items() if row.lab_limit is not None}
