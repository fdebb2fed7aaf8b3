"""The seven dimensions, one row each; the check, the Lab Manager and the planner read the rows.

Source: docs/methods.md, The check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from replicalab.assessment import fixes
from replicalab.assessment.costs import Counts, cost, staff
from replicalab.assessment.paper import breaks_policy, count_errors
from replicalab.assessment.phrases import left_text
from replicalab.lexicon import CREDITS, amount_text, count_text, money_text, quoted
from replicalab.models import FIELD_LABELS, Dimension
from replicalab.scenarios import Lab, Pack

if TYPE_CHECKING:
    from replicalab.assessment.assess import Assessment

_DIGITS: Final = 6  # Amounts are compared as rounded to a millionth


class Amount(NamedTuple):
    """An amount of the lab, of which a plan's counts need a part.

    Attributes:
        need: what counts need of it; of whole numbers a number, of arrays an array. It never falls
            when a count grows.
        has: how much a lab has.
        grant: the means (see `Lab.with_means`) of a lab that has so much, None if none can have.
        smaller: the fields of a plan that are made smaller to repair it, in this order.
        halved: why the Lab Manager halves the sample, for the amount that is lacking; None if it
            does not.
    """

    need: Callable[[Counts, Pack], Any]
    has: Callable[[Lab], float]
    grant: Callable[[Lab, float], Mapping[str, Any]] | None = None
    smaller: tuple[str, ...] = ()
    halved: Callable[[float, Lab], str] | None = None

    def needed(self, counts: Counts, pack: Pack) -> float:
        """Return what one plan needs, as it is compared with what the lab has."""
        needed: float = self.need(counts, pack)
        return needed if isinstance(needed, int) else _rounded(float(needed))

    def lacking(self, counts: Counts, pack: Pack) -> float:
        """Return how much a lab has too little of; negative if it has enough."""
        return self.needed(counts, pack) - self.has(pack.lab)


def _rounded(amount: float) -> float:
    # Most are whole, and rounding takes a fifth of the formula's time.
    return amount if amount.is_integer() else round(amount, _DIGITS)


@dataclass(frozen=True)
class DimensionRow:
    """One dimension: a plan uses some of a limit, and fails if it uses more.

    Of items it uses those that it needs, and the limit are those that are free; of paper and policy
    its errors and broken phrases, of which it may have none.

    Attributes:
        key: its name; of the document's seven a `Dimension`.
        noun: its unit.
        measure: used and limit of a plan; an amount needs none.
        reason: why a plan fails, a format string for each mapping of ``details``.
        amount: what the planner has to know of an amount; None if it is none.
        over: what a plan that fails has or lacks of it: ``too many``.
        category: of the items whose lack fails it.
        granted: how a lab that lacks an item comes by it: ``released``.
        by_wording: whether words decide it, not days or samples.
        forbids: whether one of some texts of a plan fails it.
        fix: the Lab Manager's changes, and the keys of the items that are in the plan already.
        currency: whether its unit is the lab's currency.
    """

    key: str
    noun: str
    reason: str
    details: Callable[[Assessment], Iterable[Mapping[str, object]]]
    measure: Callable[[Assessment], tuple[float, float]] | None = None
    amount: Amount | None = None
    over: str = ""
    category: str = ""
    granted: str = ""
    by_wording: bool = False
    forbids: Callable[[Iterable[str], Pack], bool] | None = None
    fix: Callable[[Assessment, set[str]], Iterable[fixes.SuggestionChange]] | None = None
    currency: bool = False

    @property
    def is_amount(self) -> bool:
        """Whether it is an amount, of which a share is used."""
        return self.amount is not None

    @property
    def is_granted(self) -> bool:
        """Whether a lab may add what a plan lacks of it."""
        return bool(self.category) or (self.amount is not None and self.amount.grant is not None)

    def measured(self, plan: Assessment) -> tuple[float, float]:
        """Return what a plan uses, and the limit."""
        if self.measure is not None:
            return self.measure(plan)
        if self.amount is None:
            return 0, 0
        return self.amount.needed(plan.counts, plan.pack), self.amount.has(plan.pack.lab)

    def reasons(self, plan: Assessment) -> list[str]:
        """Return why a plan that fails it does."""
        return [self.reason.format_map(details) for details in self.details(plan)]

    def amount_text(self, amount: float, currency: str = CREDITS, word: str = "") -> str:
        """Return an amount of its unit: ``10 credits``, with a word ``10 more credits``."""
        if self.currency:
            return money_text(amount, currency, word)
        return count_text(amount, self.noun, word)


@dataclass(frozen=True)
class Slack:
    """One dimension of a plan in numbers; the amounts are in the row's noun."""

    dimension: str
    used: float
    limit: float

    @property
    def ok(self) -> bool:
        """Whether the dimension passes."""
        return self.used <= self.limit

    @property
    def row(self) -> DimensionRow:
        """The dimension's row: its noun, and whether it is an amount."""
        return DIMENSION_ROWS[self.dimension]

    @property
    def slack(self) -> float:
        """What is left; negative when over."""
        return self.limit - self.used

    @property
    def use(self) -> float | None:
        """The share of the limit that is used, None where no share makes sense."""
        return self.used / self.limit if self.row.is_amount and self.limit else None


# --- what the rows are made of ---------------------------------------------------------------


def _items(category: str, plan: Assessment) -> tuple[int, int]:
    """Return how many items of a category a plan needs, and how many of them are free."""
    needed = plan.counts.equipment if category == "equipment" else plan.counts.reagents
    missing = [item.times for item in plan.missing_items if item.category == category]
    return needed, needed - sum(missing)


def _missing(category: str, plan: Assessment) -> Iterator[dict[str, str]]:
    for item in plan.missing_items:
        if item.category == category:
            options = " or ".join(quoted(item.options)) or "nothing in this lab"
            yield {"label": item.label, "status": item.status_text, "options": options}


def _over_budget(plan: Assessment) -> Iterator[dict[str, str]]:
    has = plan.pack.lab.budget
    over, limit = amount_text(plan.cost - has), amount_text(has)
    yield {"used": plan.pack.lab.money(plan.cost), "over": over, "limit": limit}


def _too_long(plan: Assessment) -> Iterator[dict[str, str]]:
    days, has, text = plan.counts.days, plan.pack.lab.days_left, left_text(plan.pack.lab)
    limit = f"; {text}" if text else f", {days - has} over the limit of {has}"
    yield {"used": count_text(days, "day"), "limit": limit}


def _understaffed(plan: Assessment) -> Iterator[dict[str, object]]:
    steps = [
        f", 1 for more than {count_text(step.threshold, step.noun)}"
        for step in plan.staff_steps
        if step.adds
    ]
    yield {
        "used": count_text(plan.staff, "staff unit"),
        "base": plan.pack.staff_model.base,
        "steps": "".join(steps),
        "limit": plan.pack.lab.staff,
    }


def _broken(plan: Assessment) -> Iterator[dict[str, str]]:
    term = plan.pack.study.term
    for phrase in plan.violations:
        yield {**phrase._asdict(), "field": term(FIELD_LABELS[phrase.field].lower())}


def _item_row(key: Dimension, category: str, granted: str) -> DimensionRow:
    return DimensionRow(
        key=key,
        noun="item",
        reason="'{label}' is {status}; {options} may replace it.",
        details=partial(_missing, category),
        measure=partial(_items, category),
        over="missing",
        category=category,
        granted=granted,
        by_wording=True,
        fix=partial(fixes.substitutions, category),
    )


# --- the rows --------------------------------------------------------------------------------

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
        details=_over_budget,
        amount=Amount(
            need=cost,
            has=lambda lab: lab.budget,
            grant=lambda _, credits: {"budget": credits},
            smaller=("sample_size",),
            halved=lambda lacking, lab: f"the budget is {lab.money(lacking)} short",
        ),
        over="too many",
        currency=True,
    ),
    _item_row(Dimension.EQUIPMENT, "equipment", "released"),
    _item_row(Dimension.REAGENTS, "reagent", "supplied"),
    DimensionRow(
        key=Dimension.SCHEDULE,
        noun="day",
        reason="The plan takes {used}{limit}.",
        details=_too_long,
        amount=Amount(
            need=lambda counts, _: counts.days,
            has=lambda lab: lab.days_left,
            grant=lambda lab, days: {"days": int(days) + lab.start_day - 1},
            smaller=("duration_days",),
        ),
        over="too many",
        fix=fixes.fewer_days,
    ),
    DimensionRow(
        key=Dimension.STAFF,
        noun="staff unit",
        reason="The plan needs {used} ({base} to start{steps}); the lab has {limit}.",
        details=_understaffed,
        amount=Amount(
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
        details=_broken,
        measure=lambda plan: (len(plan.violations), 0),
        by_wording=True,
        forbids=breaks_policy,
    ),
)

DIMENSION_ROWS: Final = {row.key: row for row in _ROWS}
"""The rows by key, the seven in the document's order."""

ITEM_DIMENSIONS: Final = {row.category: row.key for row in _ROWS if row.category}
"""Which dimension fails by a missing item of a category."""


def amounts() -> dict[str, Amount]:
    """Return the dimensions that are amounts: budget, schedule, staff."""
    return {key: row.amount for key, row in DIMENSION_ROWS.items() if row.amount is not None}


@contextmanager
def registered(row: DimensionRow) -> Iterator[None]:
    """Judge plans by one dimension more while the context is open."""
    if row.key in DIMENSION_ROWS:
        raise ValueError(f"the dimension {row.key} is registered already")
    DIMENSION_ROWS[row.key] = row
    try:
        yield
    finally:
        del DIMENSION_ROWS[row.key]
