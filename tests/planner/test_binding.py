"""Which limit binds, and which step beyond a limit is the smallest that buys something."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import Final

import pytest

from replicalab.assessment import AMOUNTS, assess
from replicalab.models import LAB_DIMENSIONS, Dimension, revise
from replicalab.planner import Addition, PlanAnalysis, least_loss
from replicalab.planner.least_loss import GivenUp, least_that_shows
from replicalab.planner.shortfalls import with_additions
from replicalab.scenarios import CostModel, Pack, load_scenario
from replicalab.scenarios.own import EvidenceAssumptions, LabOverrides
from tests.factories import (
    CONTROLS,
    make_control,
    make_pack,
    make_protocol,
    make_substitution,
    with_means,
)
from tests.planner.brute_force import ranked, tried
from tests.planner.small_labs import opened, shipped
from tests.tiers import EVERY_LAB, batches

LABS: Final = 20
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


def given_up(options: PlanAnalysis, pack: Pack) -> GivenUp:
    """Return what the least-loss plan gives up in another lab; what shows nothing is no gain."""
    least, now = PlanAnalysis(assess(options.yours.plan, pack)).least, options.least.rank.given_up
    return now if least.after.evidence.void_reason else least.rank.given_up


def is_too_short(pack: Pack) -> bool:
    """Return whether a lab's days lose the endpoint: then plans may be short, and so cheaper."""
    return pack.lab.days_left < pack.min_days


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
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


def best_of_all(options: PlanAnalysis, pack: Pack) -> tuple[float, ...] | None:
    """Return what the best of all plans gives up in another lab, None where it shows nothing.

    The plan itself and the Lab Manager's offer there are two of them.
    """
    plan = options.yours.plan
    there = PlanAnalysis(assess(plan, pack))
    theirs = [
        (ranked(x, plan), x.evidence.void_reason is not None) for x in (there.yours, there.offered)
    ]
    every = [(each.rank, each.void) for each in tried(plan, pack)]
    rank, void = min([*theirs, *every])
    return None if void else rank[:4]


BATCHES: Final = pytest.mark.parametrize("first", batches(LABS, short=1, long=15))


@BATCHES
def test_binding_limit_is_the_one_that_trying_every_plan_finds(first: int) -> None:
    for seed in range(first, first + LABS):
        options = opened(seed)
        yours, pack = options.yours, options.yours.pack
        days = max(yours.counts.samples, 60) + 6  # at one sample a day so many more can count
        tries = {limit: without(limit, pack, days) for limit in LAB_DIMENSIONS}
        best = {limit: best_of_all(options, there) for limit, there in tries.items()}
        now = ranked(options.least.after, yours.plan)[:4]
        buying = {limit: each for limit, each in best.items() if each is not None and each < now}
        least = min(buying, key=lambda limit: buying[limit], default=None)
        assert (seed, options.binding) == (seed, least)


def test_each_limit_binds_in_some_small_lab_and_none_in_others() -> None:
    assert {opened(seed).binding for seed in range(3 * LABS)} == {None, *LAB_DIMENSIONS}


@pytest.mark.parametrize("planned", [3, 6])
def test_binding_and_extras_look_at_the_samples_that_count(planned: int) -> None:
    # At six a day 18 of the 24 samples count in the three days that there are.
    found = {}
    for target in (0.8, 0.9):
        own, question = LabOverrides(days=3), EvidenceAssumptions(target=target)
        pack = load_scenario("chem_suzuki_ppb", "easy").with_own(own, question)
        plan = revise(pack.reference_protocol, duration_days=planned)
        options = PlanAnalysis(assess(plan, pack))
        assert (options.least.plan.sample_size, options.least.after.evidence.able) == (24, 18)
        gained = [(each.ask.text, each.after.after.evidence.able) for each in options.extras]
        found[target] = options.binding, gained
    # They show 0.85: the target is met, or a day more meets it.
    assert found == {0.8: (None, []), 0.9: (Dimension.SCHEDULE, [("1 more day", 24)])}


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
            options = PlanAnalysis(
                assess(revise(plan, sample_size=samples, duration_days=days), pack)
            )
            now = options.least.rank.given_up
            then = {limit: given_up(options, without(limit, pack)) for limit in LAB_DIMENSIONS}
            found = {limit: each.rank.given_up for limit, each in options.relieved.items()}
            assert found == {limit: each for limit, each in then.items() if each < now}
            bought += len(found)
    assert bought > LABS


# --- the smallest step ----------------------------------------------------------------------


def buys(amount: Dimension, more: float, options: PlanAnalysis) -> bool:
    """Return whether an addition lets less be given up, in what people see."""
    has = options.yours.slack[amount].limit
    lab = with_additions([Addition(amount, has, has + more)], options.yours.pack)
    now, then = options.least, least_loss(options.yours.plan, lab)
    less = not then.after.evidence.void_reason and then.rank.given_up < now.rank.given_up
    alike = then.rank.given_up[:3] == now.rank.given_up[:3]
    return less and not (alike and then.after.evidence.text == now.after.evidence.text)


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_extra_buys_something_and_the_next_smaller_one_does_not(study: str, lab: str) -> None:
    options = shipped(study, lab)
    for extra in options.extras:
        amount, more = extra.ask.dimension, extra.ask.more
        assert more == int(more) >= 1
        assert buys(amount, more, options)
        assert not any(buys(amount, m, options) for m in {more - 1, more // 2, 1} if m < more)
        assert extra.before == options.least
        assert extra.after.rank.given_up < extra.before.rank.given_up


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_amount_of_which_more_buys_something_has_an_extra(study: str, lab: str) -> None:
    options = shipped(study, lab)
    offered = {extra.ask.dimension for extra in options.extras}
    for amount in AMOUNTS:
        wide = {1, 10, 100} if amount is not Dimension.BUDGET else {100, 1000, 10_000}
        assert (amount in offered) == any(buys(amount, more, options) for more in wide)


def _assert_extras_are_the_smallest(options: PlanAnalysis, credits: int) -> int:
    """Check each amount's extra against every smaller addition, and return how many there are."""
    offered = {extra.ask.dimension: int(extra.ask.more) for extra in options.extras}
    for amount in AMOUNTS:
        most = credits if amount is Dimension.BUDGET else 12
        first = next((m for m in range(1, most + 1) if buys(amount, m, options)), None)
        more = offered.get(amount)
        assert first == (None if more is None or more > most else more), amount
    return len(offered)


def test_extra_of_a_small_lab_is_the_first_of_all_that_buy() -> None:
    steps = sum(_assert_extras_are_the_smallest(opened(seed), credits=25) for seed in range(LABS))
    assert steps > LABS / 2


@pytest.mark.parametrize("first", batches(LABS, short=0, long=15))
def test_extra_of_many_more_labs_is_the_first_of_all_that_buy(first: int) -> None:
    for seed in range(first, first + LABS):
        _assert_extras_are_the_smallest(opened(seed), credits=150)


def test_smallest_extra_is_found_where_more_lets_a_plan_win_that_shows_nothing() -> None:
    # The plan takes one day, in which nothing is shown; cut to 4 samples it passes from 515 credits
    # on. In two days 1 sample without controls passes from 460 on, but gives up all three of them;
    # only from 565 on 4 samples with every control do.
    names = [*CONTROLS, "third control"]
    plan = make_protocol(sample_size=48, duration_days=1, controls=names)
    controls = [make_control(name=name, droppable=True) for name in names]
    lab = {"budget": 440.0, "days": 9, "staff": 9, "min_days": 2}
    pack = make_pack(reference_protocol=plan, controls=controls, **lab)
    options = PlanAnalysis(assess(plan, pack))
    bought = [more for more in range(1, 200) if buys(Dimension.BUDGET, more, options)]
    gaps = [more for more in range(bought[0], bought[-1]) if more not in bought]
    assert gaps  # so bisection over all additions may miss the smallest
    [extra] = [each for each in options.extras if each.ask.dimension is Dimension.BUDGET]
    assert extra.ask.more == bought[0] == 20
    assert (gaps[0], gaps[-1]) == (75, 124)
    assert extra.after.after.feasible


def test_of_plans_that_show_something_the_best_never_gets_worse_with_more() -> None:
    for seed in range(LABS):
        options = opened(seed)
        for amount in AMOUNTS:
            has, ranks = options.yours.slack[amount].limit, list[tuple[float, ...]]()
            for more in (0, 1, 2, 5, 20, 300):
                lab = with_additions([Addition(amount, has, has + more)], options.yours.pack)
                best = least_that_shows(options.yours.in_lab(lab), options.variants)
                ranks.append(best.rank if best else (inf,))
            assert ranks == sorted(ranks, reverse=True)


def test_hundred_credits_buy_five_samples_that_show_and_sixty_buy_one_that_does_not() -> None:
    options = shipped("fin_momentum", "medium")
    [extra] = options.extras
    assert (extra.ask.dimension, extra.ask.more) == (Dimension.BUDGET, 100)
    assert extra.after.plan.sample_size - extra.before.plan.sample_size == 5
    sixty = with_means(options.yours.pack, budget=extra.ask.has + 60)
    least = PlanAnalysis(assess(options.yours.plan, sixty)).least
    assert least.plan.sample_size == extra.before.plan.sample_size + 1
    assert least.after.evidence.text == extra.before.after.evidence.text


def test_amount_that_waits_for_the_endpoint_is_added_up_to_it() -> None:
    plan = revise(make_protocol(), duration_days=6)
    pack = make_pack(reference_protocol=plan, days=2, budget=10**6, staff=9, min_days=6)
    options = PlanAnalysis(assess(plan, pack))
    [extra] = options.extras
    assert (extra.ask.dimension, extra.ask.more) == (Dimension.SCHEDULE, 4)
    assert options.binding is Dimension.SCHEDULE


def test_released_item_binds_before_its_poor_substitute() -> None:
    swap = make_substitution(fidelity_loss=2)
    plan = make_protocol(required_equipment=[swap.original])
    pack = make_pack(
        reference_protocol=plan, booked={swap.original: 3}, allowed_substitutions=[swap]
    )
    assert PlanAnalysis(assess(plan, pack)).binding is Dimension.EQUIPMENT


def test_nothing_binds_where_no_relief_lets_anything_be_shown() -> None:
    options = shipped("bio_jq1_myeloma", "hard")
    assert options.least.after.evidence.void_reason
    assert (options.binding, options.extras) == (None, ())


def test_budget_binds_where_only_a_dear_replacement_costs_anything() -> None:
    swap = make_substitution(alternative="hired chamber", fidelity_loss=0)
    free = CostModel(per_sample=0, per_day=0, per_control=0, per_equipment_item=0, per_reagent=0)
    plan, prices = make_protocol(sample_size=60), {"hired chamber": 900.0}
    lab = {"booked": {swap.original: 30}, "allowed_substitutions": [swap], "budget": 600}
    options = PlanAnalysis(assess(plan, make_pack(**lab, cost_model=free, prices=prices)))
    assert Dimension.BUDGET in options.relieved
    [extra] = [each for each in options.extras if each.ask.dimension is Dimension.BUDGET]
    assert extra.ask.more == 300
