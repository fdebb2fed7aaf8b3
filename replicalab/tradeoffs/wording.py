"""A plan as far as days and samples can decide about it: its missing items replaced if allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from replicalab.agents import check_feasibility, suggest_alternative
from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.models import DIMENSIONS, Dimension, Protocol, revise
from replicalab.planner import LeastLoss, least_loss
from replicalab.scenarios import Pack

_BY_WORDING: Final = (Dimension.EQUIPMENT, Dimension.REAGENTS, Dimension.POLICY)
_ITEM_FIELDS: Final = ("required_equipment", "required_reagents")


@dataclass(frozen=True)
class Worded:
    """A plan whose region is worth drawing.

    Attributes:
        plan: the plan, with substitutions made where they let some days and samples fit.
        changes: those substitutions.
        failing: what fails whatever the days and samples, also then.
    """

    plan: Protocol
    changes: tuple[SuggestionChange, ...]
    failing: tuple[Dimension, ...]


def wording_failing(protocol: Protocol, scenario: Pack) -> tuple[Dimension, ...]:
    """Return the dimensions that fail whatever the days and samples: items and restrictions."""
    check = check_feasibility(protocol, scenario)
    return tuple(d for d in DIMENSIONS if d in _BY_WORDING and not check.check(d).ok)


def worded(protocol: Protocol, scenario: Pack) -> Worded:
    """Return the plan with the Lab Manager's substitutions if they repair it, else the planner's.

    The plan itself is returned when nothing fails whatever the numbers, or nothing repairs that.
    """
    failing = wording_failing(protocol, scenario)
    for changes in _repairs(protocol, scenario) if failing else ():
        plan = apply_changes(protocol, list(changes))
        if not wording_failing(plan, scenario):
            return Worded(plan, changes, ())
    return Worded(protocol, (), failing)


def as_least_loss(least: LeastLoss, drawn: Worded, scenario: Pack) -> Worded | None:
    """Return the least-loss plan as one whose region may be drawn.

    None if it is worded as the plan that is drawn, or if it does not fit either.
    """
    numbers = {name: getattr(drawn.plan, name) for name in ("sample_size", "duration_days")}
    plan = revise(least.plan, **numbers)
    if plan == drawn.plan or least.none_feasible:
        return None
    changes = tuple(change for change in least.changes if change.field not in numbers)
    return Worded(plan, changes, wording_failing(plan, scenario))


def _repairs(protocol: Protocol, scenario: Pack) -> Iterator[tuple[SuggestionChange, ...]]:
    check = check_feasibility(protocol, scenario)
    suggestion = suggest_alternative(protocol, check, scenario)
    if suggestion is not None:
        yield _of_items(suggestion.applied_changes)
    yield _of_items(least_loss(protocol, scenario).changes)


def _of_items(
    changes: list[SuggestionChange] | tuple[SuggestionChange, ...],
) -> tuple[SuggestionChange, ...]:
    return tuple(change for change in changes if change.field in _ITEM_FIELDS)
