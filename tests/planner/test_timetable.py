"""Timetables against a search through all start days, and their bounds by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

import pytest

from replicalab.planner import timetable as timetables
from replicalab.planner.timetable import (
    LabTask,
    Starts,
    UndecidedError,
    earliest,
    earliest_end,
    finish,
    in_turn,
    inserted,
    most_at_work,
    timetable,
)
from tests.tiers import batches

SIZE: Final = 300
NONE: Final = frozenset[str]()
LAMP: Final = frozenset({"lamp"})


def people_on(day: int, tasks: Sequence[LabTask], starts: Sequence[int]) -> int:
    """Return how many people are at work on a day."""
    pairs = zip(tasks, starts, strict=True)
    return sum(task.staff for task, at in pairs if at <= day < at + task.days)


def suffices(tasks: Sequence[LabTask], starts: Sequence[int], last: int, staff: int) -> bool:
    """Return whether tasks with these starts keep to a lab, day by day."""
    pairs = [*zip(tasks, starts, strict=True)]
    for day in range(1, last + 1):
        held = [
            name for task, at in pairs if at <= day < at + task.days for name in task.instruments
        ]
        if people_on(day, tasks, starts) > staff or len(held) > len({*held}):
            return False
    return all(task.first <= at and at + task.days - 1 <= last for task, at in pairs)


def every(tasks: Sequence[LabTask], last: int, staff: int) -> Iterator[Starts]:
    """Yield every timetable, whatever the start days."""
    at_work, used = [0] * (last + 1), set[tuple[int, str]]()

    def rest(number: int) -> Iterator[Starts]:
        if number == len(tasks):
            yield ()
            return
        task = tasks[number]
        for at in range(task.first, last - task.days + 2):
            days = range(at, at + task.days)
            held = {(day, name) for day in days for name in task.instruments}
            if held & used or any(at_work[day] + task.staff > staff for day in days):
                continue
            used.update(held)
            for day in days:
                at_work[day] += task.staff
            yield from ((at, *others) for others in rest(number + 1))
            used.difference_update(held)
            for day in days:
                at_work[day] -= task.staff

    return rest(0)


def small(seed: int, most: int) -> tuple[list[LabTask], int, int]:
    """Return some tasks, the last day and the people of a lab that hardly suffices for them."""
    rng = Random(seed)
    staff, rare = rng.randint(1, 5), rng.random() * 0.6
    tasks = [
        LabTask(
            rng.randint(1, 4),
            rng.randint(0, staff + (rng.random() < 0.1)),
            frozenset(name for name in ("lamp", "oven") if rng.random() < rare),
            rng.choice([1, 1, 1, 2, 3]),
        )
        for _ in range(rng.randint(1, most))
    ]
    work = sum(task.days * max(1, task.staff) for task in tasks)
    return tasks, min(8, max(1, -(-work // staff) + rng.randint(-1, 2))), staff


@pytest.mark.parametrize("first", batches(SIZE, short=1, long=10))
def test_timetable_is_found_where_there_is_one_in_turn_or_by_the_search(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(first, first + SIZE):
        tasks, last, staff = small(seed, 5)
        found = timetable(tasks, last, staff)
        with monkeypatch.context() as alone:
            alone.setattr(timetables, "in_turn", lambda *_: None)
            alone.setattr(timetables, "earliest_end", lambda *_: 0)
            searched = timetable(tasks, last, staff)
        there_is = next(every(tasks, last, staff), None) is not None
        for starts in (found, searched):
            assert (starts is not None) == there_is, seed
            assert starts is None or suffices(tasks, starts, last, staff), seed


@pytest.mark.parametrize("first", batches(SIZE, short=1, long=10))
def test_earliest_timetable_ends_first_whichever_is_given(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(first, first + SIZE):
        tasks, last, staff = small(seed, 4)
        ends = {finish(tasks, starts): starts for starts in every(tasks, last, staff)}
        if not ends:
            continue
        soonest, proven = earliest(tasks, staff, ends[max(ends)])
        with monkeypatch.context() as alone:
            alone.setattr(timetables, "earliest_end", lambda *_: 0)
            assert earliest(tasks, staff, ends[max(ends)]) == (soonest, proven), seed
        assert suffices(tasks, soonest, last, staff), seed
        assert (finish(tasks, soonest), proven) == (min(ends), True), seed
        assert earliest_end(tasks, staff) <= min(ends), seed


def test_earliest_timetable_is_not_proven_where_one_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def undecided(*_: object) -> None:
        raise UndecidedError

    tasks = [LabTask(3, 1, NONE, 1)]
    assert earliest(tasks, 1, (1,)) == ((1,), True)
    monkeypatch.setattr(timetables, "timetable", undecided)
    assert earliest(tasks, 1, (1,)) == ((1,), True)
    assert earliest(tasks, 1, (2,)) == ((2,), False)


@pytest.mark.parametrize(
    ("tasks", "staff", "end"),
    [
        ([], 3, 0),
        ([LabTask(5, 1, NONE, 2)], 9, 6),
        ([LabTask(2, 0, NONE, 1)], 0, 2),
        # 10 days of work, 3 of them a day.
        ([LabTask(2, 1, NONE, 1)] * 5, 3, 4),
        ([LabTask(1, 1, NONE, 1), *[LabTask(2, 1, NONE, 3)] * 5], 3, 6),
        # More than half of the people: one after the other, while 18 days of work would be five.
        ([LabTask(2, 3, NONE, 1)] * 3, 4, 6),
        # Half of them: two abreast, after the one of more than half.
        ([LabTask(4, 3, NONE, 1), *[LabTask(2, 2, NONE, 1)] * 2], 4, 6),
        ([LabTask(2, 1, LAMP, 1)] * 3, 9, 6),
        ([LabTask(3, 1, LAMP, 1), LabTask(2, 1, LAMP | {"oven"}, 1)], 9, 5),
    ],
)
def test_earliest_end_is_that_of_a_timetable(tasks: list[LabTask], staff: int, end: int) -> None:
    assert earliest_end(tasks, staff) == end
    found = timetable(tasks, end, staff, 0)
    assert found is not None
    assert suffices(tasks, found, end, staff)
    assert timetable(tasks, end - 1, staff, 0) is None


def test_no_task_takes_no_day() -> None:
    assert timetable([], 3, 1) == ()
    assert finish([], ()) == 0


def test_task_of_more_people_than_there_are_has_no_start() -> None:
    task = LabTask(1, 2, NONE, 1)
    assert inserted(task, [], (), 5, 1) == 0
    assert timetable([task], 5, 1, 0) is None


@pytest.mark.parametrize("first", batches(SIZE, short=1, long=10))
def test_tasks_are_placed_in_turn_the_largest_first(first: int) -> None:
    for seed in range(first, first + SIZE):
        tasks, last, staff = small(seed, 5)
        found = in_turn(tasks, last, staff)
        assert found is None or suffices(tasks, found, last, staff), seed
        starts = dict[int, int]()
        for at in sorted(range(len(tasks)), key=lambda at: (-tasks[at].days * tasks[at].staff, at)):
            placed = [tasks[each] for each in starts]
            days = range(1, last + 1)
            starts[at] = next(
                (
                    d
                    for d in days
                    if suffices([*placed, tasks[at]], [*starts.values(), d], last, staff)
                ),
                0,
            )
            if not starts[at]:
                break
        else:
            assert found == tuple(starts[at] for at in range(len(tasks))), seed


LOOKED_AT: Final = [
    # One state a task, of which the first day has room for two, and one for the day between.
    (5, [LabTask(3, 1, NONE, 1)] * 4, 6, 2),
    # Of equal tasks one is tried on a day.
    (6, [LabTask(2, 2, NONE, 1)] * 5, 5, 5),
    # What is too much work, takes too many people or an instrument too long, is not looked into.
    (0, [LabTask(2, 1, NONE, 1)] * 5, 3, 3),
    (0, [LabTask(2, 3, NONE, 1)] * 3, 5, 4),
    (0, [LabTask(4, 3, NONE, 1), *[LabTask(2, 2, NONE, 1)] * 2], 5, 4),
    (0, [*[LabTask(2, 1, LAMP | {"oven"}, 1)] * 2, LabTask(3, 1, LAMP, 1)], 6, 9),
    (3, [*[LabTask(1, 1, NONE, 1)] * 2, LabTask(3, 1, LAMP, 1)], 4, 3),
    (4, [*[LabTask(2, 2, NONE, 1)] * 2, LabTask(2, 3, NONE, 1)], 4, 4),
    # The tasks of a day start in one order: the third, not also the second after the third.
    (5, [*[LabTask(2, 2, NONE, 1)] * 2, LabTask(1, 2, NONE, 1)], 2, 5),
    # No task starts later than it could, and no state is looked at again.
    (13, [*[LabTask(2, 2, NONE, 2)] * 3, *[LabTask(3, 3, NONE, 1)] * 2], 9, 4),
    (8, [*[LabTask(3, 2, LAMP, 1)] * 2, *[LabTask(3, 4, NONE, 2)] * 2], 10, 4),
    (19, [*[LabTask(2, 2, NONE, 1)] * 3, *[LabTask(2, 4, NONE, 1)] * 2], 7, 5),
]
"""How many states a search looks at for some tasks, up to a day, with so many people."""


@pytest.mark.parametrize(("states", "tasks", "last", "staff"), LOOKED_AT)
def test_search_looks_at_no_more_states_than_it_must(
    states: int, tasks: list[LabTask], last: int, staff: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timetables, "in_turn", lambda *_: None)
    monkeypatch.setattr(timetables, "earliest_end", lambda *_: 0)
    there_is = next(every(tasks, last, staff), None) is not None
    assert (timetable(tasks, last, staff, states) is not None) == there_is
    if states:
        with pytest.raises(UndecidedError):
            timetable(tasks, last, staff, states - 1)


@pytest.mark.parametrize("first", batches(SIZE, short=1, long=10))
def test_task_is_inserted_on_the_first_day_with_room(first: int) -> None:
    for seed in range(first, first + SIZE):
        tasks, last, staff = small(seed, 5)
        placed, starts = list[LabTask](), list[int]()
        for task in tasks:
            days = range(1, last + 1)
            fits = (at for at in days if suffices([*placed, task], [*starts, at], last, staff))
            found = inserted(task, placed, tuple(starts), last, staff)
            assert found == next(fits, 0), seed
            if found:
                placed.append(task)
                starts.append(found)
        peak = max(people_on(day, placed, starts) for day in range(1, last + 1))
        assert most_at_work(placed, tuple(starts)) == peak, seed
