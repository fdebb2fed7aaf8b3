"""Many studies in one lab: the choice against every plan tried, and refused input."""

from functools import cache
from itertools import product
from math import inf, nan
from random import Random
from typing import Any, Final

import pytest
from scipy.optimize import OptimizeResult

from replicalab import scenarios
from replicalab.errors import PortfolioError
from replicalab.features.portfolio import (
    MAX_STUDIES,
    LeftOut,
    OmissionReason,
    Portfolio,
    PortfolioStudy,
    plans_of,
    portfolio_of,
)
from replicalab.lexicon import label_key
from replicalab.planner import variants
from tests import factories
from tests.planner.brute_force import tried
from tests.planner.small_labs import analysed, small_lab
from tests.tiers import batches, one_in

OWN = scenarios.LabOverrides(budget=6000, days=30, staff=5, start_day=1)


def in_lab(*names: str, **changes: Any) -> list[scenarios.Pack]:
    overrides = OWN.model_copy(update=changes)
    return [
        scenarios.load_scenario(n, "medium").with_own(overrides, scenarios.EvidenceAssumptions())
        for n in names
    ]


def synthetic(**changes: Any) -> scenarios.Pack:
    return factories.make_pack(**{"budget": 5000.0, "days": 12, "staff": 5, **changes})


@pytest.mark.parametrize("seeds", batches(20, quick=20, long=4))
def test_one_study_gets_the_best_plan_of_all(seeds: range) -> None:
    for seed in seeds:
        _, pack = small_lab(seed)
        # Bookings end within such a lab, which is tested below.
        pack = pack.in_lab(pack.lab.model_copy(update={"booked": {}, "start_day": 1}))
        result = portfolio_of([PortfolioStudy(pack, 2, 0.5)])
        reaches = [
            (-{0: 2.0, 1: 1.0}[study.tier], study.loss, study.credits, study.days)
            for study in tried(pack.reference_protocol, pack)
            if not study.failing and study.tier < 2 and not study.void
        ]
        if not reaches:
            assert not result.chosen, seed
            continue
        [one] = result.chosen
        assert one.plan.feasible, seed
        got = (-one.worth, one.plan.fidelity_loss, one.plan.cost, one.plan.counts.days)
        assert got == pytest.approx(min(reaches)), seed


@pytest.mark.parametrize("study", [study.scenario_id for study in scenarios.list_scenarios()])
def test_frontier_has_no_better_plan(study: str) -> None:
    [pack] = in_lab(study, budget=20_000, days=90, staff=8)
    listed = [*plans_of(PortfolioStudy(pack, 1, 0.5)).plans.values()]
    meets = scenarios.EvidenceTier.MEETS_TARGET
    for best in analysed(pack.reference_protocol, pack).frontier.plans:
        assert best.tier is scenarios.EvidenceTier.BELOW_FLOOR or any(
            plan.cost <= best.credits
            and plan.counts.days <= best.days
            and plan.fidelity_loss <= best.loss
            and plan.evidence.tier in {best.tier, meets}
            for plan in listed
        )


@pytest.mark.parametrize(
    ("number", "budget", "days", "staff"),
    one_in(4, [(5, 5_000, 20, 3), (12, 15_000, 20, 3), (12, 15_000, 45, 3), (12, 40_000, 45, 9)]),
)
def test_shipped_studies_are_proven_without_output(
    number: int, budget: int, days: int, staff: int, capfd: pytest.CaptureFixture[str]
) -> None:
    names = [study.scenario_id for study in scenarios.list_scenarios()[:number]]
    packs = in_lab(*names, budget=budget, days=days, staff=staff)
    chosen = portfolio_of(PortfolioStudy(pack, 1, 0.5) for pack in packs)
    assert chosen.exact
    assert capfd.readouterr().out == ""


TANKS: Final = ("flume", "tank", "basin", "trough")


def sharing(name: str, losses: dict[str, int], booked: int) -> scenarios.Pack:
    plan = factories.make_protocol(required_equipment=["flume"], sample_size=50, duration_days=5)
    return factories.make_pack(
        scenario_id=name,
        paper=factories.make_paper(title=name),
        equipment=("flume",),
        own_equipment=list(TANKS[1:]),
        booked={"flume": booked} if booked else {},
        allowed_substitutions=[
            factories.make_substitution(original="flume", alternative=tank, fidelity_loss=loss)
            for tank, loss in losses.items()
        ],
        reference_protocol=plan, days=6, min_days=5, staff=9, budget=9000.0,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_shared_instrument_is_substituted_with_least_loss(seed: int) -> None:
    chance = Random(seed)
    booked = chance.choice((0, 99))
    losses = [
        {tank: chance.choice((1, 2)) for tank in TANKS[1:] if chance.random() < 0.5}
        for _ in range(3)
    ]
    result = portfolio_of(
        PortfolioStudy(sharing(f"study_{at}", study, booked)) for at, study in enumerate(losses)
    )
    # Two studies do not fit one after the other, so that none share a tank; study may be left out.
    ways = [[None, *({} if booked else {"flume": 0}), *study] for study in losses]
    best = min(
        (
            -sum(map(bool, taken)),
            sum(losses[at].get(tank or "", 0) for at, tank in enumerate(taken)),
        )
        for taken in product(*ways)
        if len({*filter(None, taken)}) == sum(map(bool, taken))
    )
    assert (-len(result.chosen), result.loss) == best
    assert result.exact
    assert all(study.plan.feasible for study in result.chosen)


def test_choice_among_some_variants_is_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    packs = [sharing("a", {"tank": 1}, 99), sharing("b", {"tank": 1, "basin": 1}, 99)]
    monkeypatch.setattr(variants, "MOST_COMBINATIONS", 1)
    result = portfolio_of(map(PortfolioStudy, packs))
    assert not result.exact
    assert result.most == 2


def test_booked_item_is_waited_for() -> None:
    pack = synthetic(booked={factories.EQUIPMENT[0]: 3}, allowed_substitutions=[])
    [one] = portfolio_of([PortfolioStudy(pack)]).chosen
    assert one.first == 4
    assert one.plan.feasible


def test_missing_credits_count_from_a_millionth() -> None:
    controls = [factories.make_control(name=name, droppable=False) for name in factories.CONTROLS]
    rigid = {"allowed_substitutions": [], "controls": controls}  # so that there is one plan
    one = portfolio_of([PortfolioStudy(synthetic(**rigid))])
    for budget, days, pair in (
        (2 * one.credits, one.last, (OmissionReason.TIME, 0.0)),
        (2 * one.credits - 1e-6, one.last, (OmissionReason.CREDITS, 1e-6)),
        (2 * one.credits - 1e-6, 12, (OmissionReason.CREDITS, 1e-6)),
    ):
        studies = [PortfolioStudy(synthetic(budget=budget, days=days, **rigid))] * 2
        result = portfolio_of(studies).left_out
        assert [(study.lacking, study.credits) for study in result] == [pair]


def test_study_bound_beyond_the_population_leaves_it_out() -> None:
    # The 44 samples that exist have a power of about 0.83 at d = 0.9.
    bound = factories.make_constraint(key="more", bounds="evidence", comparator=">=", quantity=0.99)
    pack = synthetic(design=factories.make_design(population_max=44), constraints=[bound])
    [out] = portfolio_of([PortfolioStudy(pack)]).left_out
    assert out.lacking is OmissionReason.EVIDENCE
    [one] = portfolio_of([PortfolioStudy(factories.change_pack(pack, constraints=[]))]).chosen
    assert one.plan.plan.sample_size <= 44


@pytest.mark.parametrize("worth", [-1, nan, inf, -inf, 1e308, 10**10])
def test_impossible_worth_is_refused(worth: float) -> None:
    with pytest.raises(PortfolioError, match=r"worth of 'Blue light.*from 0 to 1,000,000,000"):
        PortfolioStudy(synthetic(), worth)
    with pytest.raises(PortfolioError, match=r"share at the floor"):
        PortfolioStudy(synthetic(), 1, worth)


def test_largest_and_smallest_worth_count() -> None:
    assert PortfolioStudy(synthetic(), 3, 0.25).counts(scenarios.EvidenceTier.ABOVE_FLOOR) == 0.75
    studies = [PortfolioStudy(synthetic(), 1e9), PortfolioStudy(synthetic(), 1e-6)]
    result = portfolio_of(studies)
    assert result.worth == 1e9 + 1e-6
    assert len(result.chosen) == 2


def test_studies_of_no_or_different_labs() -> None:
    assert not portfolio_of([]).chosen
    with pytest.raises(PortfolioError, match=r"the budget of the lab: .*5,000 and 6,000; give"):
        portfolio_of(PortfolioStudy(synthetic(budget=study)) for study in (5000.0, 6000.0, 7000.0))
    with pytest.raises(PortfolioError, match=r"the days of the lab: .* have 10 and 12; give"):
        portfolio_of(PortfolioStudy(synthetic(days=days)) for days in (10, 12))
    assert len(portfolio_of([PortfolioStudy(synthetic())] * MAX_STUDIES).candidates) == 60
    with pytest.raises(PortfolioError, match="61 studies are named; name 60 at most"):
        portfolio_of([PortfolioStudy(synthetic())] * (MAX_STUDIES + 1))


@cache
def _able() -> list[scenarios.Pack]:
    means = {"days": 7, "staff": 5, "start_day": 1, "currency": "credits", "out_of_stock": ()}
    packs = [small_lab(seed)[1] for seed in range(90)]
    stocked = [pack.in_lab(pack.lab.model_copy(update=means)) for pack in packs]
    return [pack for pack in stocked if plans_of(PortfolioStudy(pack, 1, 1)).plans]


def _many(seed: int) -> list[PortfolioStudy]:
    rng = Random(seed)
    means = {
        "budget": round(rng.uniform(0, rng.choice([500, 5000])), 2),
        "days": rng.randint(3, 7),
        "staff": rng.randint(2, 5),
        "start_day": rng.randint(1, 2),
    }
    packs = rng.sample(_able(), 6)
    ends = [{item: rng.randint(1, 3) for item in pack.lab.booked} for pack in packs]
    return [
        PortfolioStudy(
            pack.in_lab(pack.lab.model_copy(update={**means, "booked": booked})),
            rng.choice([1, 1, 1, 1, 1.5, 2, 4, 0, 1e-7]),
            rng.choice([0, 0.5, 0.5, 1]),
        )
        for pack, booked in zip(packs, ends, strict=True)
    ]


def _cents(number: float) -> float:
    return round(number, 6)


@pytest.mark.parametrize("seeds", batches(20, quick=10, long=4))
def test_choice_fits_the_lab_day_by_day(seeds: range) -> None:
    for seed in seeds:
        result = portfolio_of(_many(seed))
        lab = result.candidates[0].pack.lab
        runs = [(study.first, study.last, study.plan) for study in result.chosen]
        assert [(a, b) for a, b, _ in runs] == sorted((a, b) for a, b, _ in runs)
        for study in result.chosen:
            assert study.plan.feasible
            request = result.candidates[study.place]
            meets = study.plan.evidence.tier is scenarios.EvidenceTier.MEETS_TARGET
            assert meets or study.plan.evidence.tier is scenarios.EvidenceTier.ABOVE_FLOOR
            assert study.worth == request.worth * (1 if meets else request.floor_share) > 0
            assert study.last - study.first + 1 == study.plan.plan.duration_days
        at_work = [
            sum(plan.staff for a, b, plan in runs if a <= day <= b)
            for day in range(lab.start_day, lab.days + 1)
        ]
        for day in range(1, lab.days + 1):
            now = [plan.plan for a, b, plan in runs if a <= day <= b]
            items = [{*map(label_key, plan.required_equipment)} for plan in now]
            assert sum(map(len, items)) == len(set().union(*items))
        assert max(at_work) <= lab.staff
        assert result.last == max((b for _, b, _ in runs), default=0) <= lab.days
        assert result.worth == _cents(sum(study.worth for study in result.chosen)) == result.most
        assert result.credits == _cents(sum(plan.cost for *_, plan in runs)) <= lab.budget
        assert result.budget == lab.budget
        assert result.loss == sum(plan.fidelity_loss for *_, plan in runs)
        assert result.exact
        outs = {study.place: study for study in result.left_out}
        assert sorted([*outs, *(study.place for study in result.chosen)]) == [*range(6)]
        for at, out in outs.items():
            assert out == _reason(result, at), (seed, at)


def _reason(result: Portfolio, at: int) -> LeftOut:
    candidate, lab = result.candidates[at], result.candidates[at].pack.lab
    plans = plans_of(candidate).plans
    if not plans:
        return LeftOut(at, OmissionReason.EVIDENCE)
    rest = lab.budget - result.credits
    cheapest = min(plan.cost for plan in plans.values())
    if cheapest > rest + 1e-9:
        return LeftOut(at, OmissionReason.CREDITS, credits=_cents(cheapest - rest))
    return LeftOut(at, OmissionReason.TIME)


def test_choice_without_any_solution_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_args: object, **_options: object) -> OptimizeResult:
        return OptimizeResult(x=None, status=1, mip_dual_bound=None)  # the time limit

    monkeypatch.setattr("scipy.optimize.milp", interrupt)
    means = {"budget": 5000.0, "days": 60, "staff": 99}
    result = portfolio_of(
        PortfolioStudy(pack.in_lab(pack.lab.model_copy(update=means))) for pack in _able()[:8]
    )
    assert not result.exact
    assert 0 < result.worth <= result.most
    assert result.credits <= result.budget
    assert all(run.plan.feasible for run in result.chosen)
