"""Many studies in one lab: each plan against every plan tried, and what cannot be chosen from."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from replicalab.assessment import Assessment
from replicalab.errors import PortfolioError
from replicalab.lexicon import label_key
from replicalab.models import Protocol
from replicalab.planner import Lacking, PortfolioStudy, frontier, portfolio_of
from replicalab.planner.portfolio import MOST_STUDIES, plans_of
from replicalab.scenarios import (
    EvidenceAssumptions,
    EvidenceTier,
    LabOverrides,
    Pack,
    list_scenarios,
    load_scenario,
)
from tests.factories import EQUIPMENT, make_pack
from tests.planner.brute_force import tried
from tests.planner.small_labs import small_lab
from tests.tiers import batches

SIZE = 20
OWN = LabOverrides(budget=6000, days=30, staff=5, start_day=1)


def in_lab(*names: str, **changes: Any) -> list[Pack]:
    own = OWN.model_copy(update=changes)
    return [load_scenario(n, "medium").with_own(own, EvidenceAssumptions()) for n in names]


def synthetic(**changes: Any) -> Pack:
    return make_pack(**{"budget": 5000.0, "days": 12, "staff": 5, **changes})


@pytest.mark.parametrize("first", batches(SIZE, short=3, long=30))
def test_best_plan_of_one_study_is_the_best_of_every_plan(first: int) -> None:
    for seed in range(first, first + SIZE):
        _, pack = small_lab(seed)
        # Bookings end within such a lab, which is tested below.
        pack = pack.in_lab(pack.lab.model_copy(update={"booked": {}, "start_day": 1}))
        found = portfolio_of([PortfolioStudy(pack, 2, 0.5)])
        reaches = [
            (-{0: 2.0, 1: 1.0}[each.tier], each.loss, each.credits, each.days)
            for each in tried(pack.reference_protocol, pack)
            if not each.failing and each.tier < 2 and not each.void
        ]
        if not reaches:
            assert not found.chosen, seed
            continue
        [one] = found.chosen
        assert one.plan.feasible, seed
        got = (-one.worth, one.plan.fidelity_loss, one.plan.cost, one.plan.counts.days)
        assert got == pytest.approx(min(reaches)), seed


@pytest.mark.parametrize("study", [each.scenario_id for each in list_scenarios()])
def test_no_plan_of_the_frontier_is_better_than_those_that_are_chosen_from(study: str) -> None:
    [pack] = in_lab(study, budget=20_000, days=90, staff=8)
    listed = [each.judged for each in plans_of(PortfolioStudy(pack, 1, 0.5))]
    for each in frontier(pack, pack.reference_protocol).plans:
        if each.tier is EvidenceTier.BELOW_FLOOR:
            continue
        assert any(
            plan.cost <= each.credits
            and plan.counts.days <= each.days
            and plan.fidelity_loss <= each.loss
            and (plan.evidence.tier is each.tier or plan.evidence.tier is EvidenceTier.MEETS_TARGET)
            for plan in listed
        )


def test_every_chosen_plan_passes_the_check_in_the_lab_from_its_first_day_on() -> None:
    packs = in_lab(*(each.scenario_id for each in list_scenarios()))
    found = portfolio_of(PortfolioStudy(pack, 1, 0.5) for pack in packs)
    assert found.exact
    assert len(found.chosen) > 3
    for each in found.chosen:
        assert each.plan.feasible
        assert each.plan.pack.lab.start_day == each.first
        assert each.last <= 30
    assert found.credits == sum(each.plan.cost for each in found.chosen) <= 6000
    _assert_lab_suffices([(each.plan, each.first, each.last) for each in found.chosen])
    assert {each.place for each in found.chosen} | {each.place for each in found.left_out} == {
        *range(len(packs))
    }


def _assert_lab_suffices(runs: list[tuple[Assessment, int, int]]) -> None:
    for day in range(1, 31):
        at_work = [plan for plan, first, last in runs if first <= day <= last]
        assert sum(plan.staff for plan in at_work) <= 5
        held = [key for plan in at_work for key in map(label_key, _items(plan.plan))]
        assert len(held) == len({*held})


def _items(plan: Protocol) -> list[str]:
    return plan.required_equipment


def test_more_credits_buy_what_a_lab_with_them_chooses() -> None:
    names = [each.scenario_id for each in list_scenarios()][:8]
    poor = portfolio_of(map(PortfolioStudy, in_lab(*names, budget=2000)))
    rise = poor.rises[0]
    assert rise.exact
    richer = portfolio_of(map(PortfolioStudy, in_lab(*names, budget=2000 + int(rise.more))))
    assert richer.worth == rise.worth > poor.worth
    less = portfolio_of(map(PortfolioStudy, in_lab(*names, budget=2000 + int(rise.more) - 1)))
    assert less.worth == poor.worth


def test_studies_of_one_instrument_run_one_after_the_other() -> None:
    found = portfolio_of([PortfolioStudy(synthetic()), PortfolioStudy(synthetic())])
    one, other = found.chosen
    assert one.last < other.first
    three = portfolio_of([PortfolioStudy(synthetic(days=one.last * 2))] * 3)
    [left] = three.left_out
    assert left.lacking is Lacking.INSTRUMENTS
    assert left.instruments == tuple(sorted(map(label_key, EQUIPMENT)))


def test_booked_item_is_waited_for() -> None:
    pack = synthetic(booked={EQUIPMENT[0]: 3}, allowed_substitutions=[])
    [one] = portfolio_of([PortfolioStudy(pack)]).chosen
    assert one.first == 4
    assert one.plan.feasible


def test_study_is_left_out_with_its_reason() -> None:
    dear, plain = synthetic(), synthetic()
    cost = portfolio_of([PortfolioStudy(plain)]).credits
    means = {"budget": cost, "days": 40}
    found = portfolio_of([PortfolioStudy(p.in_lab(p.lab.model_copy(update=means)))
                          for p in (dear, plain)])  # fmt: skip
    [left] = found.left_out
    cheapest = min(plan.judged.cost for plan in plans_of(PortfolioStudy(plain)))
    assert (left.lacking, left.credits) == (Lacking.CREDITS, cheapest)
    [never] = portfolio_of([PortfolioStudy(synthetic(days=1))]).left_out
    assert never.lacking is Lacking.EVIDENCE
    [nothing] = portfolio_of([PortfolioStudy(synthetic(), 0)]).left_out
    assert nothing.lacking is Lacking.WORTH


@pytest.mark.parametrize("worth", [-1, nan, inf, -inf, 1e308, 10**10])
def test_worth_that_cannot_be_is_refused(worth: float) -> None:
    with pytest.raises(PortfolioError, match=r"worth of 'Blue light.*from 0 to 1,000,000,000"):
        PortfolioStudy(synthetic(), worth)
    with pytest.raises(PortfolioError, match=r"share at the floor"):
        PortfolioStudy(synthetic(), 1, worth)


def test_worth_of_any_size_counts() -> None:
    studies = [PortfolioStudy(synthetic(), 1e9), PortfolioStudy(synthetic(), 1e-6)]
    found = portfolio_of(studies)
    assert found.worth == 1e9 + 1e-6
    assert len(found.chosen) == 2


def test_labs_that_differ_and_too_many_studies_are_refused() -> None:
    with pytest.raises(PortfolioError, match=r"the budget of the lab: .*5,000 and 6,000"):
        portfolio_of([PortfolioStudy(synthetic()), PortfolioStudy(synthetic(budget=6000.0))])
    with pytest.raises(PortfolioError, match=f"name {MOST_STUDIES} at most"):
        portfolio_of([PortfolioStudy(synthetic())] * (MOST_STUDIES + 1))


def test_no_study_and_thirty_of_one_name_are_chosen_from() -> None:
    nothing = portfolio_of([])
    assert (nothing.chosen, nothing.worth, nothing.exact, nothing.rises) == ((), 0, True, ())
    found = portfolio_of([PortfolioStudy(synthetic(days=30, budget=50_000.0))] * 30)
    assert found.exact
    # Each takes both instruments, so that one follows the other.
    length = found.chosen[0].last - found.chosen[0].first + 1
    assert len(found.chosen) == 30 // length
