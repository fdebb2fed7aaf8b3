"""Which limit binds, and which step beyond a limit is the smallest that buys something."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest

from replicalab.assessment import AMOUNTS, DIMENSION_ROWS, assess
from replicalab.models import LAB_DIMENSIONS, Dimension, Protocol, revise
from replicalab.planner import Ask, Extra, Options, rank
from replicalab.planner.asks import granted
from replicalab.planner.least_loss import GivenUp
from replicalab.scenarios import CostModel, Pack
from tests.factories import make_pack, make_protocol, make_substitution, with_means
from tests.planner.brute_force import tried
from tests.planner.small_labs import SHIPPED, opened, shipped

LABS: Final = 60
ENDLESS: Final = {"budget": 10**9, "staff": 100}


def without(limit: Dimension, pack: Pack, days: int = 10**6) -> Pack:
    """Return the study in a lab without a limit, made without the planner."""
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


def given_up(options: Options, pack: Pack) -> GivenUp:
    """Return what the least-loss plan gives up in another lab; what shows nothing is no gain."""
    least, now = Options(assess(options.yours.plan, pack)).least, options.least.rank.given_up
    return now if least.after.evidence.void else least.rank.given_up


def is_too_short(pack: Pack) -> bool:
    """Return whether a lab's days lose the endpoint: then plans may be short, and so cheaper."""
    return pack.lab.days_left < pack.min_days


@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_binding_limit_is_the_one_whose_relief_buys_most(study: str, lab: str) -> None:
    options = shipped(study, lab)
    now, pack = options.least.rank.given_up, options.yours.pack
    then = {limit: given_up(options, without(limit, pack)) for limit in LAB_DIMENSIONS}
    assert all(each <= now for each in then.values()) or is_too_short(pack)
    if options.binding is None:
        assert min(then.values()) == now
    else:
        assert then[options.binding] == min(then.values()) < now
        assert options.binding == min(then, key=lambda limit: then[limit])


def best_of_all(plan: Protocol, pack: Pack) -> GivenUp:
    """Return what the best of all plans gives up, and the plan itself is one of them."""
    return min(rank(each, plan).given_up for each in (assess(plan, pack), *tried(plan, pack)))


def test_binding_limit_is_the_one_that_trying_every_plan_finds() -> None:
    found: set[Dimension | None] = set()
    for seed in range(LABS):
        options = opened(seed)
        yours, pack = options.yours, options.yours.pack
        days = yours.counts.samples + 4  # at one sample a day so many more can count
        if is_too_short(pack) or yours.counts.days < pack.min_days:
            continue  # there a plan that shows nothing may be the best
        tries = {limit: without(limit, pack, days) for limit in LAB_DIMENSIONS}
        best = {limit: best_of_all(yours.plan, there) for limit, there in tries.items()}
        now = best_of_all(yours.plan, pack)
        least = min(best, key=lambda limit: best[limit])
        assert options.binding == (least if best[least] < now else None), seed
        found.add(options.binding)
    assert found == {None, *LAB_DIMENSIONS}


def test_nothing_binds_where_nothing_is_given_up() -> None:
    options = shipped("psy_stroop", "easy")
    assert options.least.plan == options.yours.plan
    assert (options.binding, options.relieved, options.extras) == (None, {}, ())


def test_limit_that_is_used_most_does_not_bind_where_a_missing_item_costs_more() -> None:
    options = shipped("psy_stroop", "medium")
    slack = options.yours.slack
    assert max(AMOUNTS, key=lambda amount: slack[amount].use or 0) is not Dimension.EQUIPMENT
    assert options.binding is Dimension.EQUIPMENT
    assert options.relieved[Dimension.EQUIPMENT].rank.loss == 0


def test_relief_is_that_of_a_lab_without_the_limit_whatever_the_numbers() -> None:
    bought = 0
    for seed in range(LABS):
        plan, pack = opened(seed).yours.plan, opened(seed).yours.pack
        for samples, days in product({1, plan.sample_size // 2, plan.sample_size + 1}, {1, 3, 9}):
            options = Options(assess(revise(plan, sample_size=samples, duration_days=days), pack))
            now = options.least.rank.given_up
            then = {limit: given_up(options, without(limit, pack)) for limit in LAB_DIMENSIONS}
            found = {limit: each.rank.given_up for limit, each in options.relieved.items()}
            assert found == {limit: each for limit, each in then.items() if each < now}
            bought += len(found)
    assert bought > LABS


# --- the smallest step ----------------------------------------------------------------------


def buys(extra: Extra, options: Options, more: float) -> bool:
    """Return whether an addition lets less be given up, in what people see."""
    ask = Ask(extra.ask.dimension, extra.ask.has, extra.ask.has + more)
    new = given_up(options, granted([ask], options.yours.pack))
    now = options.least.rank.given_up
    amount = options.yours.evidence.amount
    return new < now and (new[:3] != now[:3] or amount(abs(new[3])) != amount(abs(now[3])))


@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_extra_buys_something_and_the_next_smaller_one_does_not(study: str, lab: str) -> None:
    options = shipped(study, lab)
    for extra in options.extras:
        more = extra.ask.more
        assert more == int(more) >= 1
        assert buys(extra, options, more)
        assert not any(buys(extra, options, m) for m in {more - 1, more // 2, 1} if m < more)
        assert extra.before == options.least
        assert extra.after.rank.given_up < extra.before.rank.given_up


@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_amount_of_which_more_buys_something_has_an_extra(study: str, lab: str) -> None:
    options = shipped(study, lab)
    offered = {extra.ask.dimension: extra for extra in options.extras}
    for amount in AMOUNTS:
        has = DIMENSION_ROWS[amount].limit(options.yours)
        probe = Extra(Ask(amount, has, has), options.least, options.least)
        wide = {1, 10, 100} if amount is not Dimension.BUDGET else {100, 1000, 10_000}
        assert (amount in offered) == any(buys(probe, options, more) for more in wide)


def test_extra_of_a_small_lab_is_the_first_that_buys() -> None:
    steps = 0
    for seed in range(LABS):
        options = opened(seed)
        if is_too_short(options.yours.pack):
            continue
        for extra in options.extras:
            more = int(extra.ask.more)
            assert [m for m in range(1, min(more, 40) + 1) if buys(extra, options, m)] == (
                [more] if more <= 40 else []
            ), seed
            steps += 1
    assert steps > LABS / 3


def test_more_of_an_amount_never_gives_up_more() -> None:
    for seed in range(LABS):
        options = opened(seed)
        pack = options.yours.pack
        if is_too_short(pack):
            continue
        for amount in AMOUNTS:
            has = DIMENSION_ROWS[amount].limit(options.yours)
            labs = [granted([Ask(amount, has, has + m)], pack) for m in (0, 1, 2, 5, 20, 300)]
            found = [given_up(options, lab) for lab in labs]
            assert found == sorted(found, reverse=True)


def test_twenty_credits_buy_two_samples_that_show_and_ten_buy_one_that_does_not() -> None:
    options = shipped("fin_momentum", "medium")
    [extra] = options.extras
    assert (extra.ask.dimension, extra.ask.more) == (Dimension.BUDGET, 20)
    assert extra.after.plan.sample_size - extra.before.plan.sample_size == 2
    ten = with_means(options.yours.pack, budget=extra.ask.has + 10)
    least = Options(assess(options.yours.plan, ten)).least
    assert least.plan.sample_size == extra.before.plan.sample_size + 1
    assert least.after.evidence.text == extra.before.after.evidence.text


def test_amount_that_waits_for_the_endpoint_is_added_up_to_it() -> None:
    plan = revise(make_protocol(), duration_days=6)
    pack = make_pack(reference_protocol=plan, days=2, budget=10**6, staff=9, min_days=6)
    options = Options(assess(plan, pack))
    [extra] = options.extras
    assert (extra.ask.dimension, extra.ask.more) == (Dimension.SCHEDULE, 4)
    assert options.binding is Dimension.SCHEDULE


def test_released_item_binds_before_its_poor_substitute() -> None:
    swap = make_substitution(fidelity_loss=2)
    plan = make_protocol(required_equipment=[swap.original])
    pack = make_pack(
        reference_protocol=plan, booked={swap.original: 3}, allowed_substitutions=[swap]
    )
    assert Options(assess(plan, pack)).binding is Dimension.EQUIPMENT


def test_nothing_binds_where_no_relief_lets_anything_be_shown() -> None:
    options = shipped("bio_jq1_myeloma", "hard")
    assert options.least.after.evidence.void
    assert (options.binding, options.extras) == (None, ())


def test_budget_binds_where_only_a_dear_replacement_costs_anything() -> None:
    swap = make_substitution(alternative="hired chamber", fidelity_loss=0)
    free = CostModel(per_sample=0, per_day=0, per_control=0, per_equipment_item=0, per_reagent=0)
    plan, prices = make_protocol(sample_size=60), {"hired chamber": 900.0}
    lab = {"booked": {swap.original: 30}, "allowed_substitutions": [swap], "budget": 600}
    options = Options(assess(plan, make_pack(**lab, cost_model=free, prices=prices)))
    assert Dimension.BUDGET in options.relieved
    [extra] = [each for each in options.extras if each.ask.dimension is Dimension.BUDGET]
    assert extra.ask.more == 300
