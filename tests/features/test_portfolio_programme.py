"""The integer programme of a portfolio against a search through every choice."""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import pytest

from replicalab.features.portfolio.programme import (
    LabMeans,
    PlanOption,
    StudyChoice,
    best,
    undominated,
)
from tests.tiers import batches

SIZE = 100


def _fits(tasks: Sequence[PlanOption], starts: Sequence[int], means: LabMeans) -> bool:
    for task, start in zip(tasks, starts, strict=True):
        if start < task.first or start + task.days - 1 > means.last:
            return False
    for day in range(means.first, means.last + 1):
        at_work = [
            task
            for task, start in zip(tasks, starts, strict=True)
            if start <= day <= start + task.days - 1
        ]
        texts = [name for task in at_work for name in task.instruments]
        if sum(task.staff for task in at_work) > means.staff or len(texts) > len(set(texts)):
            return False
    return True


def _timetables(tasks: Sequence[PlanOption], means: LabMeans) -> Iterator[int]:
    days = range(means.first, means.last + 1)
    for starts in product(days, repeat=len(tasks)):
        if _fits(tasks, starts, means):
            yield max((at + task.days - 1 for at, task in zip(starts, tasks, strict=True)),
                      default=0)  # fmt: skip


def _objectives(
    studies: Sequence[Sequence[PlanOption]], means: LabMeans
) -> Iterator[tuple[int, int, int, int]]:
    for plans in product(*([None, *options] for options in studies)):
        chosen = [option for option in plans if option is not None]
        credits = sum(option.credits for option in chosen)
        if credits > means.credits:
            continue
        end = min(_timetables(chosen, means), default=None)
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
                rng.choice([0, 1, 1, 1, 2, 5]), rng.randint(0, 2), rng.randint(0, 12),
                rng.randint(1, 4), rng.randint(0, 3),
                frozenset(name for name in names if shared and rng.random() < 0.3),
                first + (rng.randint(0, 2) if rng.random() < 0.3 else 0),
            )
            for _ in range(rng.choice([0, 1, 2, 2, 3]))
        ]
        for _ in range(rng.choice([0, 1, 2, 3, 4, 4, 4]))
    ]  # fmt: skip
    return studies, means


def _objective(means: LabMeans, choice: StudyChoice) -> tuple[int, int, int, int]:
    plans = [*choice.plans.values()]
    assert _fits([option for option, _ in plans], [start for _, start in plans], means)
    return (
        -sum(option.worth for option, _ in plans),
        sum(option.loss for option, _ in plans),
        sum(option.credits for option, _ in plans),
        max((start + option.days - 1 for option, start in plans), default=0),
    )


def _useful(studies: Sequence[Sequence[PlanOption]]) -> list[list[PlanOption]]:
    return [[option for option in options if option.worth > 0] for options in studies]


@pytest.mark.parametrize("seeds", batches(SIZE, quick=50, long=4))
def test_choice_equals_a_search_through_all(seeds: range) -> None:
    for seed in seeds:
        studies, means = _small(seed)
        choice = best(studies, means)
        wanted = min(_objectives(_useful(studies), means))
        assert choice.exact, seed
        assert all(plan in studies[at] for at, (plan, _) in choice.plans.items()), seed
        *objectives, end = _objective(means, choice)
        assert objectives == [*wanted[:3]], seed
        assert end == min(_timetables([plan for plan, _ in choice.plans.values()], means)), seed
        assert choice.most == -wanted[0], seed


def test_undominated_options_equal_pairwise_comparison() -> None:
    rng = Random(0)
    for _ in range(SIZE):
        options = [
            PlanOption(
                rng.randint(1, 2), rng.randint(0, 1), rng.randint(0, 1), rng.randint(1, 2),
                rng.randint(1, 2), frozenset(name for name in "abc" if rng.random() < 0.5),
                rng.randint(1, 2),
            )
            for _ in range(rng.randint(0, 30))
        ]  # fmt: skip
        saved = undominated(options)
        assert len(saved) == len({*saved})
        assert {*saved} == {
            one for one in options if not any(_no_worse(other, one) for other in {*options} - {one})
        }


def _no_worse(one: PlanOption, other: PlanOption) -> bool:
    asks, row = (
        (-option.worth, option.loss, option.credits, option.days, option.staff, option.first)
        for option in (one, other)
    )
    takes = one.instruments <= other.instruments
    return takes and all(a <= b for a, b in zip(asks, row, strict=True))


def _one(worth: int, credits: int, first: int = 1) -> PlanOption:
    return PlanOption(worth, 0, credits, 1, 1, frozenset(), first)


@pytest.mark.parametrize(
    ("studies", "means", "chosen", "most"),
    [
        ([], LabMeans(10, 1, 5, 2), [], 0),
        ([[], [_one(0, 0)]], LabMeans(10, 1, 5, 2), [], 0),
        # two studies are worth more than the one that is worth more per credit
        ([[_one(12, 6)], [_one(9, 5)], [_one(9, 5)]], LabMeans(10, 1, 1, 9), [1, 2], 18),
        # one could only start after the last day
        ([[_one(9, 0, first=8)], [_one(1, 1)]], LabMeans(10, 1, 5, 9), [1], 1),
    ],
)
def test_small_choice_is_proven(
    studies: list[list[PlanOption]], means: LabMeans, chosen: list[int], most: int
) -> None:
    choice = best(studies, means)
    assert (sorted(choice.plans), choice.most, choice.exact) == (chosen, most, True)


def test_thirty_equal_studies_are_proven() -> None:
    option = PlanOption(1, 0, 7, 3, 2, frozenset(), 1)
    choice = best([[option]] * 30, LabMeans(1000, 1, 9, 5))
    assert choice.exact
    assert len(choice.plans) == 6  # two at a time, three times in a row
