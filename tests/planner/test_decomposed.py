"""The choice by integer programmes against a search through everything, and against `choosing`."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from replicalab.planner import decomposed
from replicalab.planner.choosing import LabMeans, PlanOption, Studies, StudyChoice, best, cheapest
from replicalab.planner.decomposed import (
    best_by_programme,
    best_of,
    cheapest_by_programme,
    cheapest_of,
)
from replicalab.planner.portfolio import PortfolioStudy, plans_of
from replicalab.planner.timetable import LabTask, Starts, UndecidedError, timetable
from replicalab.scenarios import list_scenarios, load_scenario
from tests.planner.test_choosing import SIZE, _objective, _objectives, _small, _useful
from tests.tiers import batches

ORDER = 3  # worth, loss and credits
DAY = LabTask(1, 1, frozenset(), 1)


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
        [plan.option for plan in plans_of(PortfolioStudy(pack.in_lab(lab))).listed]
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
    studies = [
        [PlanOption(1, 0, 10**15 + at, DAY), PlanOption(2, 0, 10**15, DAY)] for at in range(3)
    ]
    means = LabMeans(3 * 10**15, 1, 3, 1)
    assert best_by_programme([*studies, []], means) == (None, 6, False)
    assert cheapest_by_programme(studies, means, 4) == (None, False)
    long = [[PlanOption(1, 0, 0, LabTask(days, 1, frozenset(), 1))] for days in (10**7, 10**7 + 1)]
    assert best_by_programme(long, LabMeans(0, 1, 10**8, 1)) == (None, 2, False)


def test_numbers_of_a_larger_unit_choose_the_same() -> None:
    many = 10**12
    for seed in range(20):
        studies, means = _small(seed)
        large = [
            [
                option._replace(worth=option.worth * many, credits=option.credits * many)
                for option in each
            ]
            for each in studies
        ]
        rich = means._replace(credits=means.credits * many + 1)
        worth, loss, credits = min(_objectives(_useful(studies), means))[:ORDER]
        found, most, exact = best_by_programme(large, rich)
        assert exact
        assert most == -worth * many
        assert found is not None
        assert _objective(large, rich, found)[:ORDER] == (worth * many, loss, credits * many)


def test_solver_that_gives_up_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    studies, means = crowded()
    monkeypatch.setattr(decomposed, "MOST_NODES", 0)
    found, most, exact = best_by_programme(studies, means)
    assert not exact
    assert found is None or worth_of(studies, found) <= most


@pytest.mark.parametrize(("more", "left"), [(0, False), (1, True)])
def test_numbers_count_in_the_largest_unit_that_those_of_their_kind_share(
    more: int, left: bool
) -> None:
    # Ten million, and one; in units of a thousand where they are credits.
    for worth, credits in ((10**7 + more, 1), (10**7 + more, 10**9), (1, 1000 * (10**7 + more))):
        studies = [[PlanOption(worth, 0, credits, DAY)], [PlanOption(1, 0, 1000, DAY)]]
        studies = studies if credits > 1 else [studies[0]] * 2 + [[PlanOption(1, 0, 1, DAY)]]
        found, _, exact = best_by_programme(studies, LabMeans(10**12, 1, 3, 1))
        assert (found is None) == left
        assert exact != left


def test_each_of_three_values_takes_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    late = PlanOption(9, 0, 1, LabTask(2, 1, frozenset(), 2))  # takes no round: it is left out
    studies = [[PlanOption(1, 0, 1, DAY), PlanOption(3, 0, 1, DAY), late], []]
    means = LabMeans(1, 1, 2, 2)
    for rounds, most in enumerate((9, 3, 3, 3)):
        monkeypatch.setattr(decomposed, "MOST_ROUNDS", rounds)
        found, bound, exact = best_by_programme(studies, means)
        assert (bound, exact) == (most, rounds == 3)
        assert (found and found[:3]) == (None if rounds == 0 else ((1, None), (1, None), 3))
        least, exact = cheapest_by_programme(studies, means, 3)
        assert (exact, least is None) == (rounds > 0, rounds == 0)


def test_what_equal_plans_have_no_room_for_is_cut_off_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Six people in eight days: beside two long plans eight short ones, beside three only six, for
    # three days are left of each person's. By their work eight would fit there, too.
    long, short = LabTask(5, 2, frozenset(), 1), LabTask(2, 1, frozenset(), 1)
    studies = [[PlanOption(1, 0, 0, task)] for task in (long, short) for _ in range(8)]
    monkeypatch.setattr(decomposed, "MOST_ROUNDS", 4)  # the values' three, and one more
    found, most, exact = best_by_programme(studies, LabMeans(0, 1, 8, 6))
    assert (most, exact) == (10, True)
    assert found is not None
    assert worth_of(studies, found) == 10


def test_nothing_is_chosen_where_nothing_can_be_and_nothing_is_worth_more() -> None:
    means = LabMeans(10, 1, 2, 2)
    too_much = [
        PlanOption(1, 0, 11, DAY),
        PlanOption(1, 0, 1, LabTask(3, 1, frozenset(), 1)),
        PlanOption(1, 0, 1, LabTask(2, 1, frozenset(), 2)),
        PlanOption(1, 0, 1, LabTask(1, 3, frozenset(), 1)),
        PlanOption(0, 0, 0, DAY),
    ]
    nowhere: list[list[list[PlanOption]]] = [[], [[]], [too_much]]
    for studies in nowhere:
        nothing = (None,) * len(studies)
        found, most, exact = best_by_programme(studies, means)
        assert found == (nothing, nothing, 0, True, False)
        assert (most, exact) == (0, True)
    assert cheapest_by_programme([too_much[1:]], means, 1) == (None, True)
    assert cheapest_by_programme([[]], means, 1) == (None, True)


@pytest.mark.parametrize("nodes", [0, 1, 2])
@pytest.mark.parametrize("rounds", [0, 1, 3, 60])
def test_best_of_both_ways_is_the_better_and_proven_by_either(
    nodes: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replicalab.planner.choosing.MOST_NODES", nodes)
    monkeypatch.setattr(decomposed, "MOST_ROUNDS", rounds)
    for seed in range(15):
        studies, means = _small(seed)
        searched, (solved, most, exact) = best(studies, means), best_by_programme(studies, means)
        found = best_of(studies, means)
        ways = [_objective(studies, means, way)[:ORDER] for way in (searched, solved) if way]
        assert _objective(studies, means, found)[:ORDER] == min(ways)
        assert found.exact == (searched.exact or exact)
        assert found.most == (searched.most if searched.exact else min(searched.most, most))
        best_there_is = min(_objectives(_useful(studies), means))
        assert found.most >= -best_there_is[0]
        if found.exact:
            assert (-found.most, min(ways)) == (best_there_is[0], best_there_is[:ORDER])


@pytest.mark.parametrize("nodes", [0, 1, 2])
@pytest.mark.parametrize("rounds", [0, 1, 60])
def test_cheapest_of_both_ways_is_the_cheaper_and_proven_by_either(
    nodes: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replicalab.planner.choosing.MOST_NODES", nodes)
    monkeypatch.setattr(decomposed, "MOST_ROUNDS", rounds)
    for seed in range(15):
        studies, means = _small(seed)
        most = -min(_objectives(_useful(studies), means._replace(credits=10**6)))[0]
        for worth in (1, 3, most + 1):
            assert_cheaper(seed, worth)


@pytest.mark.parametrize(
    ("nodes", "seed", "worth"),
    [(3, 50, 3), (3, 91, 6), (2, 17, 6), (2, 98, 6), (1, 50, 3), (0, 30, 6)],
    ids=["as cheap", "as cheap again", "dearer", "none", "cheaper", "neither finds one"],
)
def test_where_a_search_is_not_proven_the_programme_may_find_what_is(
    nodes: int, seed: int, worth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replicalab.planner.choosing.MOST_NODES", nodes)
    assert not cheapest(*_small(seed), worth)[1]
    assert_cheaper(seed, worth)
    monkeypatch.setattr(decomposed, "timetable", found_out)
    assert_cheaper(seed, worth)


def assert_cheaper(seed: int, worth: int) -> None:
    """Check that the cheapest choice is the cheaper of both ways', and as well proven."""
    studies, means = _small(seed)
    (searched, proven), (solved, exact) = (
        way(studies, means, worth) for way in (cheapest, cheapest_by_programme)
    )
    found, sure = cheapest_of(studies, means, worth)
    spent = [spent_of(studies, way) for way in (searched, solved) if way]
    assert (found and spent_of(studies, found)) == min(spent, default=None)
    assert sure == (proven or exact)
    if sure:
        every = _objectives(_useful(studies), means._replace(credits=10**6))
        enough = [credits for more, _, credits, _ in every if -more >= worth]
        assert min(spent, default=None) == min(enough, default=None)


def test_sets_whose_timetable_is_undecided_are_left_and_the_choice_is_not_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decomposed, "timetable", found_out)
    undecided = 0
    for seed in range(40):
        studies, means = _small(seed)
        found, most, exact = best_by_programme(studies, means)
        every = product(*([None, *options] for options in _useful(studies)))
        chosen = ([option for option in picked if option] for picked in every)
        decided = min(
            (-sum(o.worth for o in some), sum(o.loss for o in some), sum(o.credits for o in some))
            for some in chosen
            if sum(option.credits for option in some) <= means.credits
            and has_timetable([option.task for option in some], means)
        )
        assert found is not None
        assert _objective(studies, means, found)[:ORDER] == decided
        best_there_is = min(_objectives(_useful(studies), means))
        assert most >= -best_there_is[0]
        if exact:
            assert decided == best_there_is[:ORDER]
        undecided += decided != best_there_is[:ORDER]
    assert undecided > 3


def found_out(tasks: list[LabTask], last: int, staff: int, states: int) -> Starts | None:
    """Return a timetable, but of some sets, as if they took too many states."""
    if len(tasks) > 1 and sum(task.days * task.staff for task in tasks) % 2:
        raise UndecidedError
    return timetable(tasks, last, staff, states)


def has_timetable(tasks: list[LabTask], means: LabMeans) -> bool:
    try:
        return found_out(tasks, means.last, means.staff, 10**6) is not None
    except UndecidedError:
        return False


def test_solver_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    best_by_programme(*crowded())
    assert capfd.readouterr() == ("", "")
