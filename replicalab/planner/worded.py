"""A plan as far as days and samples can decide about it: its missing items replaced if allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.assessment import Assessment, assess
from replicalab.models import Dimension, revise
from replicalab.planner.options import Options

_BY_WORDING: Final = (Dimension.EQUIPMENT, Dimension.REAGENTS, Dimension.POLICY)
_ITEM_FIELDS: Final = ("required_equipment", "required_reagents")


@dataclass(frozen=True)
class Worded:
    """A plan whose region is worth drawing.

    Attributes:
        plan: the plan, with substitutions made where they let some days and samples fit.
        changes: those substitutions.
    """

    plan: Assessment
    changes: tuple[SuggestionChange, ...] = ()

    @property
    def failing(self) -> tuple[Dimension, ...]:
        """What fails whatever the days and samples: items and restrictions."""
        return tuple(dimension for dimension in self.plan.failing if dimension in _BY_WORDING)

    def at(self, days: int, samples: int) -> Assessment:
        """Return the plan with other numbers."""
        plan = self.plan
        return assess(revise(plan.plan, sample_size=samples, duration_days=days), plan.pack)


def worded(options: Options) -> Worded:
    """Return the plan with the Lab Manager's substitutions if they repair it, else the planner's.

    The plan itself is returned when nothing fails whatever the numbers, or nothing repairs that.
    """
    yours = Worded(options.yours)
    if not yours.failing:
        return yours
    repairs = (
        _with_items(options, options.offer.changes if options.offer else ()),
        _with_items(options, options.least.changes),
    )
    return next((found for found in repairs if not found.failing), yours)


def _with_items(options: Options, changes: Iterable[SuggestionChange]) -> Worded:
    """Return the plan with those of the changes that replace an item."""
    items = tuple(change for change in changes if change.field in _ITEM_FIELDS)
    return Worded(options.judged(apply_changes(options.yours.plan, items)), items)


def least_worded(options: Options, drawn: Worded) -> Worded | None:
    """Return the least-loss plan as one whose region may be drawn.

    None if it is worded as the plan that is drawn, or if it does not fit either.
    """
    least, now = options.least, drawn.plan.plan
    numbers = {name: getattr(now, name) for name in ("sample_size", "duration_days")}
    plan = revise(least.plan, **numbers)
    if plan == now or not least.after.feasible:
        return None
    changes = tuple(change for change in least.changes if change.field not in numbers)
    return Worded(options.judged(plan), changes)
