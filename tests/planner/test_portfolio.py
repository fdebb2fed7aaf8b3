"""Many studies in one lab: each plan against every plan tried, and what cannot be chosen from."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from math import inf, nan
from random import Random
from typing import Any, Final

import pytest
from scipy.optimize import OptimizeResult

from replicalab.assessment import Assessment
from replicalab.errors import PortfolioError
from replicalab.lexicon import label_key
from replicalab.models import Protocol
from replicalab.planner import (
    Lacking,
    PortfolioStudy,
    frontier,
    portfolio_of,
    variants,
)
from replicalab.planner.plan_options import plans_of
from replicalab.planner.portfolio import MOST_STUDIES, LeftOut, Portfolio
from replicalab.scenarios import (
    EvidenceAssumptions,
    EvidenceTier,
    LabOverrides,
    Pack,
    list_scenarios,
    load_scenario,
)
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    change_pack,
    make_constraint,
    make_control,
    make_design,
    make_pack,
    make_paper,
    make_protocol,
    make_substitution,
)
from tests.planner.brute_force import tried
from tests.planner.small_labs import small_lab
from tests.tiers import batches, one_in

SIZE = 20
OWN = LabOverrides(budget=6000, days=30, staff=5, start_day=1)


def in_lab(*names: str, **changes: Any) -> list[Pack]:
    own = OWN.model_copy(update=changes)
    return [load_scenario(n, "medium").with_own(own, EvidenceAssumptions()) for n in names]


def synthetic(**changes: Any) -> Pack:
    return make_pack(**{"budget": 5000.0, "days": 12, "staff": 5, **changes})


@pytest.mark.parametrize("first", batches(SIZE, short=3, long=30))
def test_best_plan_of_one_study_is_the_best_every_plan(first: int) -> None:
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
    listed = [*plans_of(PortfolioStudy(pack, 1, 0.5)).plans.values()]
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


@pytest.mark.parametrize(
    ("budget", "days", "staff"), one_in(3, [(15_000, 20, 3), (15_000, 45, 3), (40_000, 45, 9)])
)
def test_shipped_studies_are_proven_without_output(
    budget: int, days: int, staff: int, capfd: pytest.CaptureFixture[str]
) -> None:
    names = [study.scenario_id for study in list_scenarios()]
    packs = in_lab(*names, budget=budget, days=days, staff=staff)
    chosen = portfolio_of(PortfolioStudy(pack, 1, 0.5) for pack in packs)
    assert chosen.exact
    assert capfd.readouterr().out == ""


TANKS: Final = ("flume", "tank", "basin", "trough")


def sharing(name: str, losses: dict[str, int], booked: int) -> Pack:
    """Return a study of five days that wants the flume, or else another tank, in a lab of six."""
    plan = make_protocol(required_equipment=["flume"], sample_size=50, duration_days=5)
    return make_pack(
        scenario_id=name,
        paper=make_paper(title=name),
        equipment=("flume",),
        own_equipment=list(TANKS[1:]),
        booked={"flume": booked} if booked else {},
        allowed_substitutions=[
            make_substitution(original="flume", alternative=tank, fidelity_loss=loss)
            for tank, loss in losses.items()
        ],
        reference_protocol=plan,
        days=6,
        min_days=5,
        staff=9,
        budget=9000.0,
    )


@pytest.mark.parametrize("seed", range(12))
def test_studies_that_want_one_instrument_take_what_their_files_allow_in_its_place(
    seed: int,
) -> None:
    chance = Random(seed)
    booked = chance.choice((0, 99))
    losses = [
        {tank: chance.choice((1, 2)) for tank in TANKS[1:] if chance.random() < 0.5}
        for _ in range(3)
    ]
    found = portfolio_of(
        PortfolioStudy(sharing(f"study_{at}", each, booked)) for at, each in enumerate(losses)
    )
    # Two studies do not fit one after the other, so that none share a tank; each may be left out.
    ways = [[None, *({} if booked else {"flume": 0}), *each] for each in losses]
    best = min(
        (
            -sum(map(bool, taken)),
            sum(losses[at].get(tank or "", 0) for at, tank in enumerate(taken)),
        )
        for taken in product(*ways)
        if len({*filter(None, taken)}) == sum(map(bool, taken))
    )
    assert (-len(found.chosen), found.loss) == best
    assert found.exact
    assert all(each.plan.feasible for each in found.chosen)


def test_choice_among_some_of_the_ways_to_word_a_plan_is_not_said_to_be_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packs = [sharing("a", {"tank": 1}, 99), sharing("b", {"tank": 1, "basin": 1}, 99)]
    monkeypatch.setattr(variants, "MOST_COMBINATIONS", 1)
    found = portfolio_of(map(PortfolioStudy, packs))
    assert not found.exact
    assert found.most == 2


def test_studies_of_one_instrument_run_one_after_the_other() -> None:
    found = portfolio_of([PortfolioStudy(synthetic()), PortfolioStudy(synthetic())])
    one, other = found.chosen
    assert one.last < other.first
    three = portfolio_of([PortfolioStudy(synthetic(days=one.last * 2))] * 3)
    [left] = three.left_out
    assert left.lacking is Lacking.TIME


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
    cheapest = min(plan.cost for plan in plans_of(PortfolioStudy(plain)).plans.values())
    assert (left.lacking, left.credits) == (Lacking.CREDITS, cheapest)
    [never] = portfolio_of([PortfolioStudy(synthetic(days=1))]).left_out
    assert never.lacking is Lacking.EVIDENCE
    [nothing] = portfolio_of([PortfolioStudy(synthetic(), 0)]).left_out
    assert nothing.lacking is Lacking.EVIDENCE


def test_credits_lack_from_the_first_millionth_on() -> None:
    controls = [make_control(name=name, droppable=False) for name in CONTROLS]
    rigid = {"allowed_substitutions": [], "controls": controls}  # so that there is one plan
    one = portfolio_of([PortfolioStudy(synthetic(**rigid))])
    for budget, days, left in (
        (2 * one.credits, one.last, (Lacking.TIME, 0.0)),
        (2 * one.credits - 1e-6, one.last, (Lacking.CREDITS, 1e-6)),
        (2 * one.credits - 1e-6, 12, (Lacking.CREDITS, 1e-6)),
    ):
        studies = [PortfolioStudy(synthetic(budget=budget, days=days, **rigid))] * 2
        found = portfolio_of(studies).left_out
        assert [(each.lacking, each.credits) for each in found] == [left]


def test_two_labs_that_differ_in_a_number_are_not_shared() -> None:
    studies = [PortfolioStudy(synthetic(days=days)) for days in (10, 12)]
    with pytest.raises(PortfolioError, match=r"number of days of the lab: .* have 10 and 12; give"):
        portfolio_of(studies)


def test_study_whose_own_bound_no_sample_keeps_is_left_out_for_its_evidence() -> None:
    # The 44 samples that exist have a power of about 0.83 at d = 0.9.
    bound = make_constraint(key="more", bounds="evidence", comparator=">=", quantity=0.99)
    pack = synthetic(design=make_design(population_max=44), constraints=[bound])
    [left] = portfolio_of([PortfolioStudy(pack)]).left_out
    assert left.lacking is Lacking.EVIDENCE
    [one] = portfolio_of([PortfolioStudy(change_pack(pack, constraints=[]))]).chosen
    assert one.plan.plan.sample_size <= 44


@pytest.mark.parametrize("worth", [-1, nan, inf, -inf, 1e308, 10**10])
def test_worth_that_cannot_be_is_refused(worth: float) -> None:
    with pytest.raises(PortfolioError, match=r"worth of 'Blue light.*from 0 to 1,000,000,000"):
        PortfolioStudy(synthetic(), worth)
    with pytest.raises(PortfolioError, match=r"share at the floor"):
        PortfolioStudy(synthetic(), 1, worth)


def test_plan_counts_its_worth_at_the_target_a_share_at_the_floor_and_else_nothing() -> None:
    study = PortfolioStudy(synthetic(), 3, 0.25)
    assert [study.counts(tier) for tier in EvidenceTier] == [3, 0.75, 0]


def test_refused_worth_is_told_with_one_that_can_be() -> None:
    worth = "worth of 'Blue light and germination': -1 is no number from 0 to 1,000,000,000; "
    with pytest.raises(PortfolioError) as refused:
        PortfolioStudy(synthetic(), -1)
    assert str(refused.value) == worth + "write one such as 2, and 0 for what does not count"
    share = "share at the floor of 'Blue light and germination': 1.5 is no number from 0 to 1; "
    with pytest.raises(PortfolioError) as refused:
        PortfolioStudy(synthetic(), 1, 1.5)
    assert str(refused.value) == share + "write one such as 0.5, and 0 for what does not count"
    assert PortfolioStudy(synthetic(), 10**9, 1).worth == 10**9


def test_worth_of_any_size_counts() -> None:
    studies = [PortfolioStudy(synthetic(), 1e9), PortfolioStudy(synthetic(), 1e-6)]
    found = portfolio_of(studies)
    assert found.worth == 1e9 + 1e-6
    assert len(found.chosen) == 2


def test_labs_that_differ_and_too_many_studies_are_refused() -> None:
    with pytest.raises(PortfolioError, match=r"the budget of the lab: .*5,000 and 6,000; give"):
        portfolio_of(PortfolioStudy(synthetic(budget=each)) for each in (5000.0, 6000.0, 7000.0))
    assert len(portfolio_of([PortfolioStudy(synthetic())] * MOST_STUDIES).candidates) == 60
    with pytest.raises(PortfolioError, match="61 studies are named; name 60 at most"):
        portfolio_of([PortfolioStudy(synthetic())] * (MOST_STUDIES + 1))


def test_no_study_and_thirty_of_one_name_are_chosen_from() -> None:
    nothing = portfolio_of([])
    assert (nothing.budget, nothing.credits, nothing.last) == (0, 0, 0)
    assert (nothing.chosen, nothing.worth, nothing.exact) == ((), 0, True)
    found = portfolio_of([PortfolioStudy(synthetic(days=30, budget=50_000.0))] * 30)
    assert found.exact
    # Each takes both instruments, so that one follows the other.
    length = found.chosen[0].last - found.chosen[0].first + 1
    assert len(found.chosen) == 30 // length


# --- everything that is said of a choice ----------------------------------------------------


@cache
def _able() -> list[Pack]:
    """Return small studies that have a plan where nothing is out of stock."""
    means = {"days": 7, "staff": 5, "start_day": 1, "currency": "credits", "out_of_stock": ()}
    packs = [small_lab(seed)[1] for seed in range(90)]
    stocked = [pack.in_lab(pack.lab.model_copy(update=means)) for pack in packs]
    return [pack for pack in stocked if plans_of(PortfolioStudy(pack, 1, 1)).plans]


def _many(seed: int) -> list[PortfolioStudy]:
    """Return small studies in one lab, in which some are left out for every reason."""
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


def _richer(candidates: list[PortfolioStudy], budget: float) -> Portfolio:
    """Return what is chosen with another budget."""
    return portfolio_of(
        replace(each, pack=each.pack.in_lab(each.pack.lab.model_copy(update={"budget": budget})))
        for each in candidates
    )


def _held(plan: Assessment) -> set[str]:
    """Return what a plan holds while it runs."""
    return {*map(label_key, _items(plan.plan))}


def _cents(number: float) -> float:
    return round(number, 6)


@pytest.mark.parametrize("first", batches(SIZE, short=2, long=20))
def test_choice_keeps_to_the_lab_and_its_numbers_are_those_of_its_plans(first: int) -> None:
    for seed in range(first, first + SIZE):
        found = portfolio_of(_many(seed))
        lab = found.candidates[0].pack.lab
        runs = [(each.first, each.last, each.plan) for each in found.chosen]
        assert [(a, b) for a, b, _ in runs] == sorted((a, b) for a, b, _ in runs)
        for each in found.chosen:
            assert each.plan.feasible
            asked = found.candidates[each.place]
            meets = each.plan.evidence.tier is EvidenceTier.MEETS_TARGET
            assert meets or each.plan.evidence.tier is EvidenceTier.ABOVE_FLOOR
            assert each.worth == asked.worth * (1 if meets else asked.floor_share) > 0
            assert each.last - each.first + 1 == each.plan.plan.duration_days
        at_work = [
            sum(plan.staff for a, b, plan in runs if a <= day <= b)
            for day in range(lab.start_day, lab.days + 1)
        ]
        for day in range(1, lab.days + 1):
            held = [key for a, b, plan in runs if a <= day <= b for key in _held(plan)]
            assert len(held) == len({*held})
        assert max(at_work) <= lab.staff
        assert found.last == max((b for _, b, _ in runs), default=0) <= lab.days
        assert found.worth == _cents(sum(each.worth for each in found.chosen)) == found.most
        assert found.credits == _cents(sum(plan.cost for *_, plan in runs)) <= lab.budget
        assert found.budget == lab.budget
        assert found.loss == sum(plan.fidelity_loss for *_, plan in runs)
        assert found.exact
        left = {each.place: each for each in found.left_out}
        assert sorted([*left, *(each.place for each in found.chosen)]) == [*range(6)]
        for at, said in left.items():
            assert said == _reason(found, at), (seed, at)


def _reason(found: Portfolio, at: int) -> LeftOut:
    """Return why a study is left out: what its plans lack beside the choice, day by day."""
    candidate, lab = found.candidates[at], found.candidates[at].pack.lab
    plans = plans_of(candidate).plans
    if not plans:
        return LeftOut(at, Lacking.EVIDENCE)
    left = lab.budget - found.credits
    cheapest = min(plan.cost for plan in plans.values())
    if cheapest > left + 1e-9:
        return LeftOut(at, Lacking.CREDITS, credits=_cents(cheapest - left))
    return LeftOut(at, Lacking.TIME)


def _some() -> list[PortfolioStudy]:
    """Return studies in a lab that has hardly a credit, and enough of all else."""
    means = {"budget": 0.01, "days": 60, "staff": 99}
    return [PortfolioStudy(pack.in_lab(pack.lab.model_copy(update=means))) for pack in _able()[:8]]


def test_choice_without_any_solution_is_not_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_args: object, **_options: object) -> OptimizeResult:
        return OptimizeResult(x=None, status=1, mip_dual_bound=None)  # the time limit

    monkeypatch.setattr("scipy.optimize.milp", interrupted)
    found = _richer(_some(), 5000.0)
    assert not found.exact
    assert 0 < found.worth <= found.most
    assert found.credits <= found.budget
    assert all(run.plan.feasible for run in found.chosen)
