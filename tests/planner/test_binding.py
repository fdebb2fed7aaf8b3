"""Which limit binds, and which step beyond a limit is the smallest that buys something."""

from typing import Any, Final

import pytest

from replicalab.assessment import lab_limits
from replicalab.models import LAB_DIMENSIONS, Dimension
from replicalab.planner import Addition, PlanAnalysis
from replicalab.planner.shortfalls import with_additions
from replicalab.scenarios import CostModel, Pack
from tests import factories
from tests.planner.brute_force import Place, ranked, tried
from tests.planner.small_labs import analysed, opened
from tests.tiers import batches

LABS: Final = 22  # in the last of them an addition that is enough is not the smallest by far
ENDLESS: Final = {"budget": 10**9, "staff": 100}


def without(limit: Dimension, pack: Pack, days: int = 10**6) -> Pack:
    lab = pack.lab
    gone = {*lab.booked, *lab.out_of_stock}
    means: dict[Dimension, dict[str, object]] = {
        Dimension.BUDGET: {"budget": ENDLESS["budget"]},
        Dimension.SCHEDULE: {"days": max(lab.days, days)},
        Dimension.STAFF: {"staff": ENDLESS["staff"]},
        Dimension.EQUIPMENT: {"released": gone & {*pack.equipment}},
        Dimension.REAGENTS: {"released": gone & {*pack.reagents}},
    }
    return pack.in_lab(lab.with_means(**means[limit]))  # type: ignore[arg-type]


def best_of_all(options: PlanAnalysis, pack: Pack) -> Place | None:
    """Return the loss of the best of all plans in another lab, None if it is void.

    The plan itself and the Lab Manager's offer there are two of them.
    """
    plan = options.yours.plan
    analysis = analysed(plan, pack)
    theirs = [
        (ranked(x, plan), x.evidence.void_reason is not None)
        for x in (analysis.yours, analysis.offered)
    ]
    every = [(item.rank, item.void) for item in tried(plan, pack)]
    rank, void = min([*theirs, *every])
    return None if void else rank[:6]


BATCHES: Final = pytest.mark.parametrize("seeds", batches(LABS, quick=3, long=1))


@BATCHES
def test_binding_limit_matches_trying_every_plan(seeds: range) -> None:
    for seed in seeds:
        options = opened(seed)
        yours, pack = options.yours, options.yours.pack
        days = max(yours.counts.samples, 60) + 6  # at one sample a day 60 can count
        tries = {limit: without(limit, pack, days) for limit in LAB_DIMENSIONS}
        best = {limit: best_of_all(options, existing) for limit, existing in tries.items()}
        now = ranked(options.least.after, yours.plan)[:6]
        buying = {limit: item for limit, item in best.items() if item is not None and item < now}
        dimension = min(buying, key=lambda limit: buying[limit], default=None)
        assert (seed, options.binding) == (seed, dimension)


def test_each_limit_binds_in_some_small_lab() -> None:
    assert {opened(seed).binding for seed in range(2 * LABS)} == {None, *LAB_DIMENSIONS}


def test_unlimited_budget_covers_the_costliest_replacement() -> None:
    # Nothing but items has a price: the plan's own cost 175, with the shelf 900 more.
    chamber = factories.EQUIPMENT[0]
    shelf = factories.make_substitution(original=chamber, alternative="shelf")
    rates = CostModel(per_sample=0.0, per_day=0.0, per_control=0.0)
    pack = factories.make_pack(
        allowed_substitutions=[shelf],
        cost_model=rates,
        budget=1000.0,
        booked={chamber: 9},
        prices={"shelf": 1000.0},
    )
    options = analysed(factories.make_protocol(), pack)
    usual = 100 + 75 + 75  # the meter, and the two reagents
    assert options.least.after.failing == [Dimension.EQUIPMENT]
    [extra] = options.extras
    assert (extra.ask.dimension, extra.ask.more) == (Dimension.BUDGET, usual)
    assert extra.after.after.cost == usual + 1000


def buys(amount: str, more: float, options: PlanAnalysis) -> bool:
    has = options.yours.slack[amount].limit
    lab = with_additions([Addition(amount, has, has + more)], options.yours.pack)
    now, then = options.least, analysed(options.yours.plan, lab).least
    less = not then.after.evidence.void_reason and then.rank.given_up < now.rank.given_up
    alike = then.rank.given_up[:5] == now.rank.given_up[:5]
    return less and not (alike and then.after.evidence.text == now.after.evidence.text)


def _assert_extras_are_the_smallest(options: PlanAnalysis) -> int:
    offered = {extra.ask.dimension: int(extra.ask.more) for extra in options.extras}
    for amount in lab_limits():
        limit = 50 if amount is Dimension.BUDGET else 12
        first = next((m for m in range(1, limit + 1) if buys(amount, m, options)), None)
        number = offered.get(amount)
        assert first == (None if number is None or number > limit else number), amount
    return len(offered)


@BATCHES
def test_extra_is_the_first_addition_that_buys(seeds: range) -> None:
    labs = map(opened, seeds)
    assert sum(_assert_extras_are_the_smallest(lab) for lab in labs) > len(seeds) / 4


def _wish(number: str, comparator: str, quantity: float, *, hard: bool = False) -> Any:
    return factories.make_constraint(
        key=f"{number}_{quantity:.0f}",
        bounds=number,
        comparator=comparator,
        quantity=quantity,
        unit=None,
        hard=hard,
    )


@pytest.mark.parametrize(
    ("day", "bounds"),
    [
        (11.0, [_wish("samples", "<=", 12.0, hard=True)]),
        (15.0, [_wish("samples", "=", 12.0), _wish("samples", "=", 48.0)]),
    ],
)
def test_study_minimum_of_days_comes_before_soft_constraints(day: float, bounds: list[Any]) -> None:
    plan = factories.make_protocol(
        sample_size=48, duration_days=1, controls=[], required_equipment=[], required_reagents=[]
    )
    pack = factories.make_pack(
        reference_protocol=plan,
        controls=[],
        constraints=[*bounds, _wish("days", "<=", 1.0)],
        design=factories.make_design(effect_planning=0.2),  # nothing here reaches the floor
        cost_model=CostModel(per_sample=1.0, per_day=day),
        min_days=2,
        budget=10.0,
    )
    options = analysed(plan, pack)
    first = int(2 * day + 1)  # one sample in two days
    bought = [has for has in range(11, 90) if buys(Dimension.BUDGET, has - 10, options)]
    assert bought == [*range(first, 90)]
    [extra] = options.extras
    assert (extra.ask.dimension, extra.ask.needs) == (Dimension.BUDGET, first)
    assert extra.after.plan.duration_days == 2
