"""The smallest change that repairs one failing dimension of a plan."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.assessment import Assessment
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.limits import largest
from replicalab.planner.variants import control_variants

Changes = Sequence[SuggestionChange]
Judge = Callable[[Protocol], Assessment]


def fix_of(
    plan: Assessment, dimension: Dimension, changes: Sequence[Changes], judge: Judge
) -> Assessment | None:
    """Return the plan with a dimension repaired, None if its smallest change does not.

    Another dimension may fail then.

    Args:
        plan: fails the dimension.
        dimension: to repair.
        changes: those of revised plans, the preferred one first.
        judge: returns the assessment of a plan in this lab.
    """
    if dimension in _NUMBERS:
        revised = _NUMBERS[dimension](plan, judge)
    else:
        revised = (needed for some in changes for needed in _needed(plan, dimension, some, judge))
    tried = map(judge, revised)
    return next((after for after in tried if dimension not in after.failing), None)


def _days_of_the_lab(plan: Assessment, _: Judge) -> Iterator[Protocol]:
    yield revise(plan.plan, duration_days=plan.pack.lab.days_left)


def _fewer_samples(plan: Assessment, judge: Judge) -> Iterator[Protocol]:
    yield from _fewer(plan, "sample_size", judge, lambda after: after.cost <= plan.pack.lab.budget)


def _fewer_people(plan: Assessment, judge: Judge) -> Iterator[Protocol]:
    for name in ("sample_size", "duration_days"):
        yield from _fewer(plan, name, judge, lambda after: after.staff <= plan.pack.lab.staff)
    for variant in control_variants(plan):
        yield variant.applied_to(plan.plan)


def _fewer(
    plan: Assessment, name: str, judge: Judge, fits: Callable[[Assessment], bool]
) -> Iterator[Protocol]:
    """Yield the plan with the largest smaller number that fits, if any does."""

    def at(number: int) -> Protocol:
        return revise(plan.plan, **{name: number})

    most = largest(lambda n: fits(judge(at(n))), 1, getattr(plan.plan, name) - 1)
    if most is not None:
        yield at(most)


def _needed(
    plan: Assessment, dimension: Dimension, changes: Changes, judge: Judge
) -> Iterator[Protocol]:
    """Yield the plan with those of the changes without which the dimension fails."""
    needed = list(changes)
    for change in changes:
        rest = [each for each in needed if each is not change]
        if dimension not in judge(apply_changes(plan.plan, rest)).failing:
            needed = rest
    yield apply_changes(plan.plan, needed)


_NUMBERS: Final[dict[Dimension, Callable[[Assessment, Judge], Iterator[Protocol]]]] = {
    Dimension.SCHEDULE: _days_of_the_lab,
    Dimension.BUDGET: _fewer_samples,
    Dimension.STAFF: _fewer_people,
}
