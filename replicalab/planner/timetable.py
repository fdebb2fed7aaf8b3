"""When each of several tasks runs, so that the people and the instruments of a lab suffice.

A task runs on consecutive days. On any day the people at work are no more than there are, and an
instrument is used by one task at a time. Some best timetable starts every task on its first day or
on the day after another one ends (the semi-active schedules), so only those starts are tried, from
day to day; a state that failed once is not tried again.
Source: Demeulemeester and Herroelen (1992), Management Science 38, 1803-1818.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

MOST_STATES: Final = 3_000
"""So many states are looked at for one timetable; where more are needed it is undecided."""

_SHUFFLES: Final = 12  # orders that are tried beside the usual ones


class LabTask(NamedTuple):
    """What a plan takes of a lab.

    Attributes:
        first: the first day on which it may start.
    """

    days: int
    staff: int
    instruments: frozenset[str]
    first: int


class UndecidedError(Exception):
    """Whether there is a timetable was not found out within `MOST_STATES`."""


Starts = tuple[int, ...]
"""The day on which each task starts, in the order of the tasks."""


def finish(tasks: Sequence[LabTask], starts: Starts) -> int:
    """Return the last day of all tasks; 0 without tasks."""
    return max((at + task.days - 1 for task, at in zip(tasks, starts, strict=True)), default=0)


def inserted(task: LabTask, tasks: Sequence[LabTask], starts: Starts, last: int, staff: int) -> int:
    """Return the earliest start of one more task beside others that stay; 0 where it has none."""
    spans = [
        (at, at + each.days, each.staff, bool(each.instruments & task.instruments))
        for each, at in zip(tasks, starts, strict=True)
    ]
    latest = last - task.days + 1
    for at in sorted({task.first, *(end for _, end, _, _ in spans if end > task.first)}):
        if at > latest:
            return 0
        beside = [each for each in spans if each[0] < at + task.days and each[1] > at]
        if any(shared for *_, shared in beside):
            continue
        days = [at, *(begin for begin, *_ in beside if begin > at)]
        room = staff - task.staff
        if all(sum(s for b, e, s, _ in beside if b <= day < e) <= room for day in days):
            return at
    return 0


def in_turn(tasks: Sequence[LabTask], last: int, staff: int) -> Starts | None:
    """Return a timetable that gives each task in turn its earliest start, None where that fails."""
    for order in _orders(tasks):
        placed, starts = list[int](), list[int]()
        for at in order:
            held = [tasks[each] for each in placed]
            start = inserted(tasks[at], held, tuple(starts), last, staff)
            if not start:
                break
            placed.append(at)
            starts.append(start)
        else:
            found = dict(zip(placed, starts, strict=True))
            return tuple(found[at] for at in range(len(tasks)))
    return None


def _orders(tasks: Sequence[LabTask]) -> Iterator[list[int]]:
    """Yield orders in which tasks may be placed: the largest first, then others near that."""
    places = range(len(tasks))
    yield sorted(places, key=lambda at: (-tasks[at].days * tasks[at].staff, at))
    yield sorted(places, key=lambda at: (-tasks[at].days, -tasks[at].staff, at))
    yield sorted(places, key=lambda at: (-tasks[at].staff, -tasks[at].days, at))
    rng = Random(0)  # noqa: S311 - the same orders every time
    for _ in range(_SHUFFLES):
        weights = [task.days * task.staff * rng.uniform(0.4, 1) for task in tasks]
        yield sorted(places, key=lambda at: (-weights[at], at))


def timetable(
    tasks: Sequence[LabTask], last: int, staff: int, states: int = MOST_STATES
) -> Starts | None:
    """Return a start of each task with which all end by the last day; None where none does.

    Raises:
        UndecidedError: there was too much to search.
    """
    if any(task.staff > staff for task in tasks) or earliest_end(tasks, staff) > last:
        return None
    found = in_turn(tasks, last, staff)
    return _Search(tasks, last, staff, states).starts() if found is None else found


def earliest(tasks: Sequence[LabTask], staff: int, found: Starts) -> tuple[Starts, bool]:
    """Return the timetable that ends first, given one, and whether that is proven."""
    low, high = earliest_end(tasks, staff), finish(tasks, found)
    proven = True
    while low < high:
        middle = (low + high) // 2
        try:
            sooner = timetable(tasks, middle, staff)
        except UndecidedError:
            sooner, proven = None, False
        if sooner is None:
            low = middle + 1
        else:
            found, high = sooner, finish(tasks, sooner)
    return found, proven


def earliest_end(tasks: Sequence[LabTask], staff: int) -> int:
    """Return a day before which no timetable ends."""
    if not tasks:
        return 0
    ends = [task.first + task.days - 1 for task in tasks]
    for begin in {task.first for task in tasks}:
        later = [task for task in tasks if task.first >= begin]
        ends.append(begin - 1 + _least_days(later, staff))
    return max(ends)


def _least_days(tasks: Sequence[LabTask], staff: int) -> int:
    """Return the fewest days that some tasks take whenever they start."""
    work = sum(task.days * task.staff for task in tasks)
    found = [-(-work // staff)] if staff else [0]
    # Two tasks of more than half of the people run one after the other; of just half, two abreast.
    half = sum(task.days * (2 if 2 * task.staff > staff else 1) for task in tasks
               if 2 * task.staff >= staff)  # fmt: skip
    found.append(-(-half // 2))
    names = {name for task in tasks for name in task.instruments}
    found += [sum(task.days for task in tasks if name in task.instruments) for name in names]
    return max(found)


class _Search:
    """The search for a timetable, day by day; tasks are numbered from the largest."""

    def __init__(self, tasks: Sequence[LabTask], last: int, staff: int, states: int) -> None:
        self._most = states
        order = sorted(range(len(tasks)), key=lambda at: (-tasks[at].days * tasks[at].staff, at))
        self._order, self._tasks = order, [tasks[at] for at in order]
        self._end, self._staff = last + 1, staff
        self._failed: set[object] = set()
        self._starts: dict[int, int] = {}
        self._placed: list[tuple[LabTask, int]] = []
        self._states = 0

    def starts(self) -> Starts | None:
        begin = min(task.first for task in self._tasks)
        if not self._found(begin, frozenset(range(len(self._tasks))), (), 0):
            return None
        where = {self._order[at]: day for at, day in self._starts.items()}
        return tuple(where[at] for at in range(len(where)))

    def _found(
        self, day: int, left: frozenset[int], active: tuple[tuple[int, int], ...], least: int
    ) -> bool:
        """Return whether the tasks left can be placed from a day on.

        Args:
            day: the day to start tasks on.
            left: the tasks without a start.
            active: the day after which each one at work ends, and the task.
            least: on this day only tasks from here on start; a set starts in one order only.
        """
        if not left:
            return True
        at_work = tuple(
            (end, self._tasks[at].staff, *sorted(self._tasks[at].instruments)) for end, at in active
        )
        key = (day, left, at_work, least)
        if key in self._failed or self._is_hopeless(day, left, active):
            return False
        self._states += 1
        if self._states > self._most:
            raise UndecidedError
        free = self._staff - sum(self._tasks[at].staff for _, at in active)
        busy = {name for _, at in active for name in self._tasks[at].instruments}
        tried: set[LabTask] = set()
        for at in sorted(left):
            task = self._tasks[at]
            starts = at >= least and task.first <= day and task.staff <= free
            if not starts or busy & task.instruments or (like := task._replace(first=0)) in tried:
                continue
            tried.add(like)
            if day > task.first and self._goes_before(task, day):
                continue  # all else as it is, that start was tried before, in vain
            self._starts[at] = day
            self._placed.append((task, day))
            now = tuple(sorted((*active, (day + task.days, at))))
            if self._found(day, left - {at}, now, at + 1):
                return True
            self._placed.pop()
        firsts = (self._tasks[at].first for at in left if self._tasks[at].first > day)
        later = min((*firsts, *(end for end, _ in active)), default=0)
        if later and self._found(later, left, tuple(a for a in active if a[0] > later), 0):
            return True
        self._failed.add(key)
        return False

    def _goes_before(self, task: LabTask, day: int) -> bool:
        """Return whether a task could start earlier, beside what has a start."""
        tasks = [each for each, _ in self._placed]
        starts = tuple(at for _, at in self._placed)
        return inserted(task, tasks, starts, self._end - 1, self._staff) < day

    def _is_hopeless(
        self, day: int, left: Iterable[int], active: Sequence[tuple[int, int]]
    ) -> bool:
        """Return whether what is left is too much for the days from this one on."""
        days, staff = self._end - day, self._staff
        spans = [(end - day, self._tasks[at]) for end, at in active]
        for at in left:
            task = self._tasks[at]
            if max(day, task.first) + task.days > self._end:
                return True
            spans.append((task.days, task))
        work = half = 0
        held: dict[str, int] = {}
        for length, task in spans:
            work += length * task.staff
            if 2 * task.staff >= staff:
                half += length if 2 * task.staff == staff else 2 * length
            for name in task.instruments:
                held[name] = held.get(name, 0) + length
        return work > staff * days or half > 2 * days or max(held.values(), default=0) > days


def most_at_work(tasks: Sequence[LabTask], starts: Starts) -> int:
    """Return the most people at work on any day."""
    changes: dict[int, int] = {}
    for task, at in zip(tasks, starts, strict=True):
        changes[at] = changes.get(at, 0) + task.staff
        changes[at + task.days] = changes.get(at + task.days, 0) - task.staff
    now, most = 0, 0
    for _, change in sorted(changes.items()):
        now += change
        most = max(most, now)
    return most
