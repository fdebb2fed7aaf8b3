"""The choice by integer programmes against a search through everything, and against `choosing`."""

from __future__ import annotations

from functools import cache

import pytest

from replicalab.planner import decomposed
from replicalab.planner.choosing import LabMeans, PlanOption, Studies, StudyChoice, best
from replicalab.planner.decomposed import (
    best_by_programme,
    best_of,
    cheapest_by_programme,
    cheapest_of,
)
from replicalab.planner.portfolio import PortfolioStudy, plans_of
from replicalab.planner.timetable import LabTask
from replicalab.scenarios import list_scenarios, load_scenario
from tests.planner.test_choosing import SIZE, _objective, _objectives, _small, _useful
from tests.tiers import batches

ORDER = 3  # worth, loss and credits


@pytest.mark.parametrize("first", batches(SIZE, short=5, long=30))
def test_programme_equals_a_search_through_every_choice(first: int) -> None:
    for seed in range(first, first + SIZE):
        studies, means = _small(seed)
        wanted = min(_objectives(_useful(studies), means))
        found, most, exact = best_by_programme(studies, means)
        assert exact, seed
        assert most == -wanted[0], seed
        assert found is not None, seed
        assert _objective(studies, means, found)[:ORDER] == wanted[:ORDER], seed
        assert best(studies, means).most == most, seed


@pytest.mark.parametrize("first", batches(SIZE, short=2, long=20))
def test_programme_finds_the_least_budget_that_is_worth_more(first: int) -> None:
    for seed in range(first, first + SIZE):
        studies, means = _small(seed)
        more = -min(_objectives(_useful(studies), means))[0] + 1
        rich = means._replace(credits=10**6)
        enough = [each[2] for each in _objectives(_useful(studies), rich) if -each[0] >= more]
        found, exact = cheapest_by_programme(studies, means, more)
        assert exact, seed
        if found is None:
            assert not enough, seed
        else:
            assert _objective(studies, rich, found)[2] == min(enough), seed


@cache
def crowded() -> tuple[list[list[PlanOption]], LabMeans]:
    """Return the shelf's studies in two labs each, which compete for everything."""
    means = {"budget": 26_000.0, "days": 64, "staff": 5, "expected": None}
    packs = [
        load_scenario(each.scenario_id, level)
        for each in list_scenarios()
        for level in ("easy", "medium")
    ]
    studies = [
        [plan.option for plan in plans_of(PortfolioStudy(pack.in_lab(lab)))]
        for pack in packs
        for lab in [pack.lab.model_copy(update=means)]
    ]
    return studies, LabMeans(26_000_000_000, 1, 64, 5)


def test_programme_proves_what_the_search_leaves_open(monkeypatch: pytest.MonkeyPatch) -> None:
    studies, means = crowded()
    monkeypatch.setattr("replicalab.planner.choosing.MOST_NODES", 300)
    searched, found = best(studies, means), best_of(studies, means)
    assert not searched.exact
    assert found.exact
    worth, *_ = _objective(studies, means, found)
    assert found.most == -worth >= -_objective(studies, means, searched)[0]
    assert found.most <= searched.most
    again = best_of(studies, means)
    assert again == found
    least, proven = cheapest_of(studies, means, found.most)
    assert proven
    assert least is not None
    assert _objective(studies, means._replace(credits=10**12), least)[0] <= -found.most
    assert spent_of(studies, least) <= spent_of(studies, found)


def worth_of(studies: Studies, found: StudyChoice) -> int:
    pairs = zip(studies, found.options, strict=True)
    return sum(options[at].worth for options, at in pairs if at is not None)


def spent_of(studies: Studies, found: StudyChoice) -> int:
    pairs = zip(studies, found.options, strict=True)
    return sum(options[at].credits for options, at in pairs if at is not None)


def test_what_neither_proves_is_not_said_to_be_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    studies, means = crowded()
    best_there_is = best_of(studies, means).most
    monkeypatch.setattr("replicalab.planner.choosing.MOST_NODES", 50)
    monkeypatch.setattr(decomposed, "MOST_ROUNDS", 0)
    found = best_of(studies, means)
    assert not found.exact
    assert worth_of(studies, found) <= best_there_is <= found.most
    assert cheapest_of(studies, means, best_there_is)[1] is False


def test_numbers_beyond_the_solver_s_tolerance_are_left_to_the_search() -> None:
    free = LabTask(1, 1, frozenset(), 1)
    studies = [[PlanOption(1, 0, 10**15 + at, free)] for at in range(3)]
    found, most, exact = best_by_programme(studies, LabMeans(3 * 10**15, 1, 3, 1))
    assert (found, most, exact) == (None, 3, False)


def test_solver_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    best_by_programme(*crowded())
    assert capfd.readouterr() == ("", "")
