"""The choice among many studies against a search through everything, and against itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import floor, lcm
from random import Random

import pytest

from replicalab.planner import choosing
from replicalab.planner.choosing import (
    LabMeans,
    PlanOption,
    StudyChoice,
    best,
    cheapest,
    undominated,
)
from replicalab.planner.timetable import LabTask, earliest, finish, timetable
from tests.tiers import batches

SIZE = 100


def _fits(tasks: Sequence[LabTask], starts: Sequence[int], means: LabMeans) -> bool:
    """Return whether tasks with these starts keep to the lab, day by day."""
    for task, start in zip(tasks, starts, strict=True):
        if start < task.first or start + task.days - 1 > means.last:
            return False
    for day in range(means.first, means.last + 1):
        at_work = [
            task
            for task, start in zip(tasks, starts, strict=True)
            if start <= day <= start + task.days - 1
        ]
        held = [name for task in at_work for name in task.instruments]
        if sum(task.staff for task in at_work) > means.staff or len(held) > len(set(held)):
            return False
    return True


def _timetables(tasks: Sequence[LabTask], means: LabMeans) -> Iterator[int]:
    """Yield the last day of every timetable, whatever the start days."""
    days = range(means.first, means.last + 1)
    for starts in product(days, repeat=len(tasks)):
        if _fits(tasks, starts, means):
            yield max((at + task.days - 1 for at, task in zip(starts, tasks, strict=True)),
                      default=0)  # fmt: skip


def _objectives(
    studies: Sequence[Sequence[PlanOption]], means: LabMeans
) -> Iterator[tuple[int, int, int, int]]:
    """Yield worth, loss, credits and end of every choice that has a timetable, signed as loss."""
    for picked in product(*([None, *options] for options in studies)):
        chosen = [option for option in picked if option is not None]
        credits = sum(option.credits for option in chosen)
        if credits > means.credits:
            continue
        end = min(_timetables([option.task for option in chosen], means), default=None)
        if end is not None:
            worth = sum(option.worth for option in chosen)
            yield -worth, sum(option.loss for option in chosen), credits, end


def _small(seed: int) -> tuple[list[list[PlanOption]], LabMeans]:
    rng = Random(seed)
    means = LabMeans(rng.randint(0, 40), first := rng.randint(1, 2), first + rng.randint(1, 5),
                     rng.randint(2, 6))  # fmt: skip
    names = ["lamp", "oven"]
    shared = rng.random() < 0.5
    studies = [
        [
            PlanOption(
                rng.choice([0, 1, 1, 1, 2, 5]),
                rng.randint(0, 2),
                rng.randint(0, 12),
                LabTask(
                    rng.randint(1, 4),
                    rng.randint(0, 3),
                    frozenset(name for name in names if shared and rng.random() < 0.3),
                    first + (rng.randint(0, 2) if rng.random() < 0.3 else 0),
                ),
            )
            for _ in range(rng.choice([0, 1, 2, 2, 3]))
        ]
        for _ in range(rng.choice([0, 1, 2, 3, 4, 4, 4]))
    ]
    return studies, means


def _objective(
    studies: Sequence[Sequence[PlanOption]], means: LabMeans, found: StudyChoice
) -> tuple[int, int, int, int]:
    """Return the same of a choice, whose timetable is checked day by day."""
    pairs = zip(studies, found.options, found.starts, strict=True)
    picked = [(options[at], start) for options, at, start in pairs if at is not None]
    tasks = [option.task for option, _ in picked]
    starts = [start for _, start in picked if start is not None]
    assert _fits(tasks, starts, means)
    return (
        -sum(option.worth for option, _ in picked),
        sum(option.loss for option, _ in picked),
        sum(option.credits for option, _ in picked),
        max((s + t.days - 1 for s, t in zip(starts, tasks, strict=True)), default=0),
    )


def _useful(studies: Sequence[Sequence[PlanOption]]) -> list[list[PlanOption]]:
    return [[option for option in options if option.worth > 0] for options in studies]


@pytest.mark.parametrize("first", batches(SIZE, short=3, long=30))
def test_choosing_equals_a_search_through_every_choice(first: int) -> None:
    for seed in range(first, first + SIZE):
        studies, means = _small(seed)
        found = best(studies, means)
        wanted = min(_objectives(_useful(studies), means))
        assert (found.exact, found.ends_first) == (True, True), seed
        assert _objective(studies, means, found) == wanted, seed
        assert found.most == -wanted[0], seed


@pytest.mark.parametrize("first", batches(SIZE, short=3, long=30))
def test_cheapest_is_the_least_budget_that_is_worth_more(first: int) -> None:
    for seed in range(first, first + SIZE):
        studies, means = _small(seed)
        more = -min(_objectives(_useful(studies), means))[0] + 1
        rich = means._replace(credits=10**6)
        enough = [each[2] for each in _objectives(_useful(studies), rich) if -each[0] >= more]
        found, exact = cheapest(studies, means, more)
        assert exact, seed
        if found is None:
            assert not enough, seed
        else:
            assert _objective(studies, rich, found)[2] == min(enough), seed


def test_undominated_options_are_those_that_no_other_can_stand_in_for() -> None:
    rng = Random(0)
    for _ in range(SIZE):
        options = [
            PlanOption(
                rng.randint(1, 2),
                rng.randint(0, 1),
                rng.randint(0, 1),
                LabTask(
                    rng.randint(1, 2),
                    rng.randint(1, 2),
                    frozenset(name for name in "abc" if rng.random() < 0.5),
                    rng.randint(1, 2),
                ),
            )
            for _ in range(rng.randint(0, 30))
        ]
        kept = undominated(options)
        assert len(kept) == len({*kept})
        assert {*kept} == {
            one for one in options if not any(_no_worse(other, one) for other in {*options} - {one})
        }


def _no_worse(one: PlanOption, other: PlanOption) -> bool:
    """Return whether an option gives and takes what another does, or what is better."""
    asks, least = (
        (-each.worth, each.loss, each.credits, each.task.days, each.task.staff, each.task.first)
        for each in (one, other)
    )
    takes = one.task.instruments <= other.task.instruments
    return takes and all(a <= b for a, b in zip(asks, least, strict=True))


def test_timetable_runs_tasks_of_one_instrument_one_after_the_other() -> None:
    lamp = frozenset({"lamp"})
    tasks = [LabTask(3, 1, lamp, 1), LabTask(2, 1, lamp, 1), LabTask(4, 1, frozenset(), 1)]
    found, proven = earliest(tasks, 5, (1, 8, 4))
    assert proven
    assert finish(tasks, found) == 5
    assert timetable(tasks, 4, 5) is None


def test_timetable_waits_for_a_booking_to_end() -> None:
    tasks = [LabTask(3, 2, frozenset(), 4), LabTask(3, 2, frozenset(), 1)]
    assert earliest(tasks, 2, (7, 1)) == ((4, 1), True)
    assert timetable(tasks, 5, 2) is None


def test_choosing_from_thirty_equal_studies_is_proven() -> None:
    option = PlanOption(1, 0, 7, LabTask(3, 2, frozenset(), 1))
    found = best([[option]] * 30, LabMeans(1000, 1, 9, 5))
    assert found.exact
    # Two at a time beside one another, three times.
    assert sum(at is not None for at in found.options) == 6


def test_choosing_takes_numbers_of_any_size() -> None:
    option = PlanOption(10**15, 0, 10**15, LabTask(10**9, 10**6, frozenset(), 1))
    found = best([[option], [option]], LabMeans(2 * 10**15, 1, 10**12, 10**6))
    assert found.exact
    assert {*found.starts} == {1, 10**9 + 1}


def test_choosing_from_nothing_chooses_nothing() -> None:
    means = LabMeans(10, 1, 5, 2)
    assert best([], means) == ((), (), 0, True, True)
    assert best([[], [PlanOption(0, 0, 0, LabTask(1, 1, frozenset(), 1))]], means).options == (
        None,
        None,
    )
    assert cheapest([[]], means, 1) == (None, True)


# --- what is proven -------------------------------------------------------------------------


def _one(worth: int, credits: int, days: int = 1, staff: int = 1, *names: str) -> PlanOption:
    return PlanOption(worth, 0, credits, LabTask(days, staff, frozenset(names), 1))


def test_two_equal_studies_are_chosen_in_the_place_of_one_that_is_worth_more_a_credit() -> None:
    studies = [[_one(12, 6)], [_one(9, 5)], [_one(9, 5)]]
    found = best(studies, LabMeans(10, 1, 1, 9))
    assert (found.options, found.most, found.exact) == ((None, 0, 0), 18, True)


def test_what_could_start_only_after_the_last_day_is_not_chosen() -> None:
    late = PlanOption(9, 0, 0, LabTask(1, 1, frozenset(), 8))
    found = best([[late], [_one(1, 1)]], LabMeans(10, 1, 5, 9))
    assert (found.options, found.most, found.exact) == ((None, 0), 1, True)


def test_search_of_more_than_so_many_choices_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of one study there is one place to choose at, of two that differ there are three.
    means = LabMeans(10, 1, 5, 9)
    monkeypatch.setattr(choosing, "MOST_NODES", 1)
    assert best([[_one(1, 1)]], means).exact
    assert not best([[_one(12, 6)], [_one(9, 5)], [_one(9, 5)]], means).exact


def test_after_so_many_sets_without_a_timetable_no_further_one_is_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Three days of one person and then two of both are five, though the work is 7 of 4 x 2.
    studies = [[_one(1, 0, 3, 1, "oven")], [_one(1, 0, 3, 1, "lamp")], [_one(1, 0, 2, 2)]]
    means = LabMeans(9, 1, 4, 2)
    monkeypatch.setattr(choosing, "MOST_REFUSED", 2)
    assert best(studies, means) == ((0, 0, None), (1, 1, None), 2, True, True)
    monkeypatch.setattr(choosing, "MOST_REFUSED", 1)
    found = best(studies, means)
    assert (found.options, found.most, found.exact) == ((0, 0, None), 2, False)


def test_of_more_than_so_many_equal_choices_no_end_is_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A long plan of few people, and one as good that is short and takes many.
    studies, means = [[_one(1, 1, 4, 1), _one(1, 1, 1, 4)]], LabMeans(9, 1, 9, 9)
    monkeypatch.setattr(choosing, "MOST_EQUALS", 2)
    assert best(studies, means) == ((1,), (1,), 1, True, True)
    monkeypatch.setattr(choosing, "MOST_EQUALS", 1)
    assert best(studies, means) == ((0,), (1,), 1, True, False)


def test_what_counts_nothing_is_no_equal_choice() -> None:
    dear = [_one(0, 0), _one(1, 10)]
    assert best([dear] * (choosing.MOST_EQUALS + 1), LabMeans(9, 1, 99, 9)).ends_first


def test_of_choices_that_are_equal_in_everything_the_first_is_taken() -> None:
    # Either takes three days, before or after the two of both people.
    studies = [[_one(1, 0, 3, 1, "lamp"), _one(1, 0, 3, 1, "oven")], [_one(1, 0, 2, 2)]]
    found = best(studies, LabMeans(9, 1, 9, 2))
    assert (found.options, found.ends_first) == ((0, 0), True)


def test_end_that_is_not_proven_is_not_said_to_be_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choosing, "earliest", lambda _tasks, _staff, found: (found, False))
    found = best([[_one(1, 1)]], LabMeans(9, 1, 9, 9))
    assert (found.exact, found.ends_first) == (True, False)


# --- what no choice is worth more than ------------------------------------------------------


def _rounded(part: Fraction, k: int) -> Fraction:
    """Return the k-th function of Fekete and Schepers, the part itself for 0."""
    more = (k + 1) * part
    return part if k == 0 or more == floor(more) else Fraction(floor(more), k)


def _shares(means: LabMeans) -> Iterator[Callable[[PlanOption], Fraction]]:
    """Yield the share of each means that an option takes; the shares of a choice are 1 at most."""
    days = means.last - means.first + 1

    def credits(option: PlanOption) -> Fraction:
        return Fraction(option.credits, means.credits)

    def work(k: int, m: int) -> Callable[[PlanOption], Fraction]:
        return lambda option: (
            _rounded(Fraction(option.task.staff, means.staff), k)
            * _rounded(Fraction(option.task.days, days), m)
        )

    def both(a: int, m: int, b: int) -> Callable[[PlanOption], Fraction]:
        return lambda option: (a * credits(option) + b * work(0, m)(option)) / (a + b)

    def held(name: str) -> Callable[[PlanOption], Fraction]:
        return lambda option: Fraction(option.task.days * (name in option.task.instruments), days)

    def late(first: int) -> Callable[[PlanOption], Fraction]:
        return lambda option: Fraction(
            option.task.days * option.task.staff * (option.task.first >= first),
            (means.last - first + 1) * means.staff,
        )

    yield credits
    yield from (work(k, m) for k in range(4) for m in range(4))
    yield from (both(a, m, b) for a, b in ((1, 1), (1, 2), (2, 1)) for m in (0, 1))
    yield from map(held, ("lamp", "oven"))
    yield from (late(first) for first in range(means.first + 1, means.last + 1))


def _bound(studies: Sequence[Sequence[PlanOption]], means: LabMeans) -> int:
    """Return the most that a choice can be worth that takes no more of one means than there is."""
    choices = [
        [option for option in picked if option is not None]
        for picked in product(*([None, *options] for options in studies))
    ]
    best_first = sorted(
        ((sum(option.worth for option in each), each) for each in choices),
        key=lambda pair: -pair[0],
    )
    every = {option for each in studies for option in each}
    found = list[int]()
    for share in _shares(means):
        shares = {option: share(option) for option in every}
        whole = lcm(*(part.denominator for part in shares.values()))
        taken = {option: int(part * whole) for option, part in shares.items()}
        allowed = (w for w, each in best_first if sum(map(taken.__getitem__, each)) <= whole)
        found.append(next(allowed))
    return min(found)


def _possible(studies: Sequence[Sequence[PlanOption]], means: LabMeans) -> list[list[PlanOption]]:
    """Return the options that count and that the lab could run alone."""
    return [
        [
            option
            for option in options
            if option.worth > 0
            and option.credits <= means.credits
            and option.task.staff <= means.staff
            and option.task.first + option.task.days - 1 <= means.last
        ]
        for options in studies
    ]


def _scarce(seed: int) -> tuple[list[list[PlanOption]], LabMeans]:
    """Return studies of which a lab runs some, so that one means or two bind."""
    rng = Random(seed)
    means = LabMeans(rng.randint(1, 20), first := rng.randint(1, 2), first + rng.randint(0, 9),
                     rng.randint(1, 7))  # fmt: skip
    is_free, is_late, shared = rng.random() < 0.2, rng.random() < 0.3, rng.choice([0, 0.1, 0.5])
    size = rng.choice([1.0, 0.7, 0.5])

    def option() -> PlanOption:
        dear = rng.random()  # what costs more takes less work
        work = max(0.0, size * rng.uniform(0.9 - dear, 1 - dear / 2))
        long = max(0.1, rng.uniform(work, 1))
        return PlanOption(
            rng.choice([1, 1, 2, 3]),
            0 if is_free else rng.randint(0, 2),
            0 if is_free else round(means.credits * size * dear),
            LabTask(
                max(1, round((means.last - first + 1) * long)),
                round(means.staff * work / long),
                frozenset(name for name in ("lamp", "oven") if rng.random() < shared),
                first + (rng.randint(0, 3) if is_late else 0),
            ),
        )

    shape = rng.choice([[1] * 6, [1] * 6, [1, 2, 1, 2], [2, 1, 1], [1, 1]])
    return [[option() for _ in range(options)] for options in shape], means


@pytest.mark.parametrize("steps", [160, 1])
@pytest.mark.parametrize("first", batches(75, short=2, long=20))
def test_no_choice_is_worth_more_than_the_scarcest_means_allows(
    first: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "MOST_NODES", 0)  # what bounds the worth is all that is known
    monkeypatch.setattr(choosing, "_MOST_POINTS", steps)
    for seed in range(first, first + 75):
        studies, means = _scarce(seed)
        found = best(studies, means)
        assert not found.exact
        assert found.most == _bound(_possible(studies, means), means), seed


def test_stairs_of_fewer_steps_stay_near_what_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(0)
    for points in (1, 2, 5):
        monkeypatch.setattr(choosing, "_MOST_POINTS", points)
        for _ in range(40):
            pairs = [(0, 0), *((rng.randint(0, 60), rng.randint(0, 60)) for _ in range(20))]
            thin = choosing._thinned(pairs, capacity := rng.randint(0, 60), level=10)  # noqa: SLF001 - the search is right without
            exact = [
                max(value for taken, value in pairs if taken <= weight)
                for weight in range(capacity + 1)
            ]
            steps = sorted({*exact})
            together = -(-len(steps) // points)  # so many neighbours become one
            for weight, value in enumerate(exact):
                last = min(steps.index(value) + together, len(steps)) - 1
                assert value <= thin.most(weight) <= steps[last]
                assert -(-thin.most(weight) // 10) == -(-value // 10)
            assert len(thin.values) <= points + len({-(-value // 10) for value in steps})


def test_studies_that_are_worth_what_they_cost_are_chosen_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each of their 2**26 sets costs another sum, and none of them is a bargain.
    monkeypatch.setattr(choosing, "MOST_NODES", 30)
    rng = Random(1)
    costs = [rng.randint(10**8, 10**9) for _ in range(26)]
    studies = [[PlanOption(cost, 0, cost, LabTask(1, 1, frozenset(), 1))] for cost in costs]
    means = LabMeans(sum(costs) // 2, 1, 26, 26)
    found = best(studies, means)
    worth, _, credits, _ = _objective(studies, means, found)
    assert -worth == credits <= found.most
    least, _ = cheapest(studies, means, means.credits)
    assert least is None or _objective(studies, means, least)[0] <= -means.credits


def test_choice_that_uses_up_the_whole_lab_is_found_with_numbers_of_any_size() -> None:
    rng = Random(0)
    for _ in range(20):
        days, costs = ([rng.randint(10**17, 10**18) for _ in range(3)] for _ in range(2))
        staff = rng.randint(10**17, 10**18)
        studies = [
            [PlanOption(1, 0, cost, LabTask(each, staff, frozenset({"lamp"}), 1))]
            for each, cost in zip(days, costs, strict=True)
        ]
        assert best(studies, LabMeans(sum(costs), 1, sum(days), staff)).options == (0, 0, 0)
        assert best(studies, LabMeans(sum(costs), 1, sum(days) - 1, staff)).most == 2
        assert best(studies, LabMeans(sum(costs) - 1, 1, sum(days), staff)).most == 2
