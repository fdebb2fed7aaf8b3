"""Which option of which study is chosen, so that all of them together are worth the most.

A branch and bound over the studies: each takes one of its options or none. A branch is left where
the options that it has chosen have no timetable, where a study was passed over whose option would
do as well in the place of one that is chosen, or where what is left can no longer be worth enough.
That bound is the best of a knapsack of one means alone, worked out beforehand for the studies from
each place on: credits, the people's days, the days of each instrument, and the people's days as
dual feasible functions round them, which see that two plans of more than half of the people never
run side by side. All numbers are whole, so nothing is rounded.
Source: Fekete and Schepers (2001), Mathematical Programming 91, 11-31 (the functions); Kellerer,
Pferschy and Pisinger (2004), Knapsack Problems, chapter 3 (undominated weights and values).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from replicalab.planner.timetable import (
    LabTask,
    Starts,
    UndecidedError,
    earliest,
    earliest_end,
    finish,
    inserted,
    timetable,
)

MOST_NODES: Final = 20_000
"""So many choices are looked at; a search that would need more is not proven.

`decomposed` goes on from there.
"""

MOST_EQUALS: Final = 20
"""Of so many choices that are equal but for their end, the one that ends first is looked for."""

MOST_REFUSED: Final = 200
"""So many sets of plans are proven to have no timetable; a search that meets more is not proven."""

_STATES: Final = 1_500  # of one timetable among many; none once the choice cannot be proven
_MOST_POINTS: Final = 160  # of a bound's steps; a bound of fewer is weaker, never wrong
_MOST_WORTHS: Final = 2_000  # that stay apart among more steps than those
_FUNCTIONS: Final = range(4)
_PARTS: Final = ((1, 1), (1, 2), (2, 1))  # of the credits and the work in a bound of both


class PlanOption(NamedTuple):
    """A plan of a study: what it is worth, and what it takes.

    Attributes:
        worth, credits: as whole numbers of the smallest unit that counts.
        loss: the fidelity that it gives up.
        task: the days, people and instruments.
    """

    worth: int
    loss: int
    credits: int
    task: LabTask


class LabMeans(NamedTuple):
    """What all plans share: credits, days from the first to the last, and people."""

    credits: int
    first: int
    last: int
    staff: int


class StudyChoice(NamedTuple):
    """What is chosen.

    Attributes:
        options: the place of the chosen option of each study, None where none is.
        starts: the day on which each study's plan starts, None where it has none.
        most: no choice is worth more.
        exact: whether nothing is worth more, or as much with less loss, or so with fewer credits.
        ends_first: whether of what is equal in these nothing ends sooner.
    """

    options: tuple[int | None, ...]
    starts: tuple[int | None, ...]
    most: int
    exact: bool = True
    ends_first: bool = True


Studies = Sequence[Sequence[PlanOption]]


def undominated(options: Iterable[PlanOption]) -> list[PlanOption]:
    """Return the options that no other one of the same study can stand in for."""
    kept: list[PlanOption] = []
    for option in sorted(options, key=_order):
        if not any(_stands_in(other, option) for other in kept):
            kept.append(option)
    return kept


def _order(option: PlanOption) -> tuple[object, ...]:
    """Return what puts an option after all that can stand in for it."""
    worth, loss, credits, (days, staff, instruments, first) = option
    return -worth, loss, credits, days, staff, first, len(instruments), sorted(instruments)


def _stands_in(one: PlanOption, other: PlanOption) -> bool:
    """Return whether an option is worth no less than another and takes no more of anything."""
    return (
        one.worth >= other.worth
        and one.loss <= other.loss
        and one.credits <= other.credits
        and one.task.days <= other.task.days
        and one.task.staff <= other.task.staff
        and one.task.first <= other.task.first
        and one.task.instruments <= other.task.instruments
    )


def best(studies: Studies, means: LabMeans) -> StudyChoice:
    """Return what is worth most; of equals what loses least, then costs least, then ends first."""
    return _Search(studies, means, is_cheapest=False).choice()


def cheapest(studies: Studies, means: LabMeans, worth: int) -> tuple[StudyChoice | None, bool]:
    """Return what is worth so much for the fewest credits, whatever there are; None if nothing.

    And whether that is proven.
    """
    search = _Search(studies, means, is_cheapest=True)
    search.wanted = worth
    found = search.choice()
    return found if search.found else None, search.exact


# --- bounds ---------------------------------------------------------------------------------


class Limit(NamedTuple):
    """One means of which the chosen options may take no more than there is."""

    capacity: int
    weigh: Callable[[PlanOption], int]


def limits(studies: Studies, means: LabMeans, *, combined: bool = True) -> list[Limit]:
    """Return what bounds a choice; the credits first; those of two means as one if ``combined``."""
    days, staff = max(0, means.last - means.first + 1), means.staff
    found = [Limit(means.credits, lambda option: option.credits)]
    for k in _FUNCTIONS:
        for m in _FUNCTIONS:
            capacity = _scaled(staff, staff, k) * _scaled(days, days, m)
            found.append(Limit(capacity, _work(staff, days, k, m)))
    if combined:
        found += [_together(found[0], work, *parts) for work in found[1:3] for parts in _PARTS]
    names = [{name for option in each for name in option.task.instruments} for each in studies]
    shared = [name for name in sorted(set().union(*names)) if sum(name in n for n in names) > 1]
    found += [Limit(days, _days_of(name)) for name in shared]
    for first in sorted({o.task.first for each in studies for o in each} - {means.first}):
        capacity = (means.last - first + 1) * staff
        found.append(Limit(capacity, _late_work(first)))
    return found


def _together(one: Limit, other: Limit, of_one: int, of_other: int) -> Limit:
    """Return the limit of two means as one: so many parts of the first and of the second."""
    first, second = other.capacity * of_one, one.capacity * of_other
    return Limit(
        one.capacity * first + other.capacity * second,
        lambda option: one.weigh(option) * first + other.weigh(option) * second,
    )


def _work(staff: int, days: int, k: int, m: int) -> Callable[[PlanOption], int]:
    return lambda o: _scaled(o.task.staff, staff, k) * _scaled(o.task.days, days, m)


def _late_work(first: int) -> Callable[[PlanOption], int]:
    return lambda o: o.task.days * o.task.staff if o.task.first >= first else 0


def _days_of(name: str) -> Callable[[PlanOption], int]:
    return lambda option: option.task.days if name in option.task.instruments else 0


def _scaled(number: int, whole: int, k: int) -> int:
    """Return the k-th dual feasible function of a part of a whole; the part itself for 0."""
    if not k or not whole:
        return number
    return number * k if (k + 1) * number % whole == 0 else (k + 1) * number // whole * whole


class _Steps(NamedTuple):
    """The most that the studies from a place on can be worth for a weight: stairs that go up."""

    weights: list[int]
    values: list[int]

    def most(self, weight: int) -> int:
        return self.values[bisect_right(self.weights, weight) - 1] if weight >= 0 else -1


def _steps(
    studies: Studies, limit: Limit, value: Callable[[PlanOption], int], level: int
) -> list[_Steps]:
    """Return the stairs from each place on; those from the last, which are nothing, come last."""
    found = [_Steps([0], [0])]
    for options in reversed(studies):
        after = found[-1]
        pairs = list(zip(after.weights, after.values, strict=True))
        gains = [(limit.weigh(option), value(option)) for option in options]
        pairs += [(w + more, v + gain) for w, v in pairs for more, gain in gains]
        found.append(_thinned(pairs, limit.capacity, level))
    return found[::-1]


def _thinned(pairs: list[tuple[int, int]], capacity: int, level: int) -> _Steps:
    weights, values = list[int](), list[int]()
    for weight, value in sorted(pairs, key=lambda pair: (pair[0], -pair[1])):
        if weight > capacity:
            break
        if not values or value > values[-1]:
            weights.append(weight)
            values.append(value)
    if len(weights) <= _MOST_POINTS:
        return _Steps(weights, values)
    # Neighbours become one that weighs as little as the first and is worth as much as the last.
    size = -(-len(weights) // _MOST_POINTS)
    worths = [-(-value // level) for value in values]  # what is lost and paid takes less than one
    are_apart = len({*worths}) <= _MOST_WORTHS
    thin = _Steps([], [])
    previous: object = None
    for at, (weight, value) in enumerate(zip(weights, values, strict=True)):
        group = at // size, are_apart and worths[at]
        if group == previous:
            thin.values[-1] = value
        else:
            thin.weights.append(weight)
            thin.values.append(value)
        previous = group
    return thin


# --- the search -----------------------------------------------------------------------------


@dataclass
class _Placed:
    """The options that are chosen so far, and a timetable of them."""

    options: tuple[tuple[int, int], ...] = ()
    tasks: tuple[LabTask, ...] = ()
    starts: Starts = ()


@dataclass
class _Search:
    """One search; `found` are the best so far.

    Attributes:
        is_cheapest: whether the fewest credits for the worth ``wanted`` are searched.
        _saved: by how many credits a choice has to stay below all that there are.
    """

    studies: Studies
    means: LabMeans
    is_cheapest: bool
    wanted: int = 0
    found: list[_Placed] = field(default_factory=list)
    exact: bool = True
    nodes: int = 0
    all_equals: bool = True
    _saved: int = 0
    _refused: int = 0
    _known: dict[object, Starts | None] = field(default_factory=dict)

    @cached_property
    def _scale(self) -> tuple[int, int]:
        """What a unit of worth and of loss counts, so that a lower one never outweighs it."""
        credits = 1 + self._total
        losses = 1 + sum(max((o.loss for o in each), default=0) for each in self.studies)
        return credits * losses, credits

    def _value(self, option: PlanOption) -> int:
        if self.is_cheapest:
            return option.worth
        of_worth, of_loss = self._scale
        return option.worth * of_worth - option.loss * of_loss - option.credits

    @cached_property
    def _total(self) -> int:
        """The credits of everything at its dearest."""
        return sum(max((o.credits for o in each), default=0) for each in self.studies)

    @cached_property
    def _order(self) -> list[int]:
        """The studies, those worth most for what they take first; those worth nothing left out."""
        means, days = self.means, max(1, self.means.last - self.means.first + 1)

        def density(at: int) -> float:
            return max(
                option.worth
                / (
                    1e-9
                    + option.credits / max(1, means.credits)
                    + option.task.days * option.task.staff / max(1, means.staff * days)
                )
                for option in self.studies[at]
            )

        useful = [at for at, each in enumerate(self.studies) if any(o.worth > 0 for o in each)]
        return sorted(useful, key=lambda at: (-density(at), at))

    def choice(self) -> StudyChoice:
        """Return the best that there is."""
        means = self.means
        if self.is_cheapest:
            means = means._replace(credits=self._total)
        order = self._order
        self._options = [
            sorted(
                (
                    (place, option)
                    for place, option in enumerate(self.studies[at])
                    if option.worth > 0 and option.credits <= means.credits
                    and option.task.first + option.task.days - 1 <= means.last
                    and option.task.staff <= means.staff
                ),
                key=lambda each: -self._value(each[1]),
            )
            for at in order
        ]  # fmt: skip
        listed = [[option for _, option in each] for each in self._options]
        self._limits = limits(listed, means)
        level = 1 if self.is_cheapest else self._scale[0]
        self._bounds = [_steps(listed, limit, self._value, level) for limit in self._limits]
        self._weights = [
            [[limit.weigh(option) for limit in self._limits] for option in each] for each in listed
        ]
        self._better = _better_before(listed)
        self._threshold = self.wanted if self.is_cheapest else 0
        if not self.is_cheapest:
            self.found = [_Placed()]
        left = [limit.capacity for limit in self._limits]
        top = min(steps[0].most(weight) for steps, weight in zip(self._bounds, left, strict=True))
        self._look(0, 0, left, _Placed(), 0)
        return self._answer(top if self.is_cheapest else -(-top // self._scale[0]))

    def _look(self, depth: int, value: int, left: list[int], placed: _Placed, skipped: int) -> None:
        """Look through the studies from a place on.

        Args:
            depth: the place.
            value: of what is chosen.
            left: what is left of each limit.
            placed: what is chosen.
            skipped: the places that were passed over, a bit each.
        """
        self.nodes += 1
        if depth == len(self._options):
            return
        left = [left[0] - self._saved, *left[1:]]
        for steps, weight in zip(self._bounds, left, strict=True):
            if value + steps[depth].most(weight) < self._threshold:
                return
        if self.nodes > MOST_NODES:
            self.exact = False
            return
        left[0] += self._saved
        for at, (place, option) in enumerate(self._options[depth]):
            if self._better[depth][at] & skipped:
                continue
            weights = self._weights[depth][at]
            rest = [have - take for have, take in zip(left, weights, strict=True)]
            if min(rest) < 0 or rest[0] < self._saved:
                continue
            more = self._with(placed, (self._order[depth], place), option.task)
            if more is None:
                continue
            gained = value + self._value(option)
            self._take(gained, rest[0], more)
            if not self.is_cheapest or gained < self.wanted:
                self._look(depth + 1, gained, rest, more, skipped)
        self._look(depth + 1, value, left, placed, skipped | 1 << depth)

    def _take(self, gained: int, left: int, chosen: _Placed) -> None:
        """Keep what is chosen where nothing so far is better."""
        if gained < self._threshold:
            return
        if self.is_cheapest:
            self.found, self._saved = [chosen], left + 1
        elif gained > self._threshold:
            self.found, self._threshold = [chosen], gained
        elif len(self.found) < MOST_EQUALS:
            self.found.append(chosen)
        else:
            self.all_equals = False

    def _with(self, placed: _Placed, chosen: tuple[int, int], task: LabTask) -> _Placed | None:
        """Return what is chosen with one option more; None where that has no timetable."""
        last, staff = self.means.last, self.means.staff
        options, tasks = (*placed.options, chosen), (*placed.tasks, task)
        if at := inserted(task, placed.tasks, placed.starts, last, staff):
            return _Placed(options, tasks, (*placed.starts, at))
        if tasks not in self._known:
            may_search = self.exact and self._refused < MOST_REFUSED
            try:
                self._known[tasks] = timetable(tasks, last, staff, _STATES if may_search else 0)
                self._refused += self._known[tasks] is None
            except UndecidedError:
                self.exact, self._known[tasks] = False, None
        starts = self._known[tasks]
        return None if starts is None else _Placed(options, tasks, starts)

    def _answer(self, top: int) -> StudyChoice:
        """Return the choice, of equals the one that ends first."""
        number = len(self.studies)
        first: _Placed | None = None
        ends_first = self.exact and self.all_equals
        for each in self.found:
            if first and earliest_end(each.tasks, self.means.staff) >= finish(
                first.tasks, first.starts
            ):
                continue
            starts, proven = each.starts, True
            if not self.is_cheapest:
                soonest = earliest(each.tasks, self.means.staff, each.starts)
                starts, proven = soonest
            ends_first = ends_first and proven
            if not first or finish(each.tasks, starts) < finish(first.tasks, first.starts):
                first = _Placed(each.options, each.tasks, starts)
        chosen = dict(first.options) if first else {}
        begun = dict(zip(chosen, first.starts, strict=True)) if first else {}
        worth = sum(self.studies[at][place].worth for at, place in chosen.items())
        return StudyChoice(
            tuple(chosen.get(at) for at in range(number)),
            tuple(begun.get(at) for at in range(number)),
            worth if self.exact else top,
            self.exact,
            ends_first,
        )


def _better_before(studies: Studies) -> list[list[int]]:
    """Return for each option which studies before its own have one that can stand in for it.

    A choice with an option and without such a study is no better than the one with that study
    instead, so it is left out. The studies are given as bits.
    """
    return [
        [
            sum(
                1 << before
                for before in range(at)
                if any(_stands_in(other, option) for other in studies[before])
            )
            for option in options
        ]
        for at, options in enumerate(studies)
    ]
