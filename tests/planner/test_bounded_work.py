"""Work is bounded, whatever comes in: studies and plans made to keep the planner busy."""

from typing import Final

import pytest

from replicalab.limits import MOST_VARIANTS
from replicalab.models import Protocol, revise
from replicalab.planner import PlanAnalysis, largest_sample, rank
from replicalab.scenarios import Pack, load_scenario
from tests import factories
from tests.planner.small_labs import analysed
from tests.tiers import one_in

ITEMS: Final = [f"item {number}" for number in range(40)]
OWN: Final = [f"own {n}" for n in range(80)]
CONTROLS: Final = [factories.make_control(name=f"control {n}", droppable=True) for n in range(40)]


def plan_of(reagents: int) -> Protocol:
    return factories.make_protocol(
        sample_size=100,
        controls=[control.name for control in CONTROLS] * 5,
        required_equipment=ITEMS[: len(ITEMS) - reagents],
        required_reagents=ITEMS[len(ITEMS) - reagents :],
    )


def booked(
    alternatives: list[str], reagents: int = 0, budget: float = 20_000.0, days: int = 40
) -> Pack:
    rows = [
        factories.make_substitution(
            original=ITEMS[place // 2],
            alternative=alternative,
            fidelity_loss=place * 5 % 4,
            evidence_factor=1 - 0.003 * (place * 7 % 60),
        )
        for place, alternative in enumerate(alternatives)
    ]
    rules = [
        factories.make_policy_rule(
            key=f"rule_{n}", forbidden_phrases=[f"bad {n} {m}" for m in range(5)]
        )
        for n in range(40)
    ]
    equipment = len(ITEMS) - reagents
    return factories.make_pack(
        equipment=ITEMS[:equipment],
        reagents=ITEMS[equipment:],
        booked=dict.fromkeys(ITEMS[:equipment], 9),
        out_of_stock=ITEMS[equipment:],
        allowed_substitutions=rows,
        controls=CONTROLS,
        policy_rules=rules,
        design=factories.make_design(effect_planning=0.4),
        budget=budget,
        days=days,
        staff=9,
    )


def everything(plan: Protocol, pack: Pack) -> PlanAnalysis:
    analysis = analysed(plan, pack)
    assert analysis.least.rank <= rank(analysis.offered, plan)
    assert analysis.asks.run.plan == plan
    assert all(extra.after.rank < analysis.least.rank for extra in analysis.extras)
    assert all(item.days <= pack.lab.days for item in analysis.frontier.plans)
    return analysis


def test_copies_of_a_control_count_as_one() -> None:
    pack = load_scenario("fin_momentum", "hard")
    plan, copies = pack.reference_protocol, 200
    droppable = next(control.name for control in pack.controls if control.droppable)
    listed = revise(plan, controls=[*plan.controls, *[droppable] * copies])
    analysis = everything(listed, pack)
    assert len(analysis.variants.listed) <= MOST_VARIANTS
    assert analysis.least.exact
    assert analysis.least.rank[:6] == analysed(plan, pack).least.rank[:6]


@pytest.mark.parametrize(
    ("shared", "reagents"),
    one_in(2, [([(n // 2 + n % 2) % 41 for n in range(80)], 0),
               ([n * 13 % 37 for n in range(80)], 20)]),
    ids=["a chain", "a tangle of both kinds"],
)  # fmt: skip
def test_forty_booked_items_claim_no_proof(shared: list[int], reagents: int) -> None:
    alternatives = [f"shared {n}" for n in shared]
    analysis = analysed(plan_of(reagents), booked(alternatives, reagents))
    assert len(analysis.variants.listed) <= MOST_VARIANTS
    assert not analysis.least.exact


def test_least_loss_of_forty_independent_items() -> None:
    controls = [control.name for control in CONTROLS]
    plan = revise(plan_of(reagents=20), sample_size=2000, controls=controls)
    loss = everything(plan, booked(OWN, reagents=20, budget=1e9, days=10**6)).least
    assert loss.exact
    assert loss.after.feasible
    assert loss.plan.controls == plan.controls
    rows = loss.after.pack.allowed_substitutions
    losses = (min(r.fidelity_loss for r in rows if r.original == item) for item in ITEMS)
    assert loss.after.fidelity_loss == sum(losses)


@pytest.mark.long
def test_eighty_alternatives_with_own_prices() -> None:
    pack = booked(OWN, reagents=20)
    prices = {name: 1.7 ** (place % 23) for place, name in enumerate([*ITEMS, *OWN])}
    custom = factories.change_pack(pack, prices=prices, booked={}, out_of_stock=[])
    analysis = everything(plan_of(reagents=20), custom)
    assert len(analysis.variants.listed) <= MOST_VARIANTS
    assert not analysis.least.exact


def test_huge_numbers_are_planned() -> None:
    pack = factories.change_pack(factories.make_pack(budget=1e15, days=10**9), samples_per_day=None)
    plan = factories.make_protocol(sample_size=10**6, duration_days=10**6)
    assert everything(plan, pack).least.after.feasible
    assert largest_sample(plan, pack)
