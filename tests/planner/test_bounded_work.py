"""Work is bounded, whatever comes in: studies and plans made to keep the planner busy."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.models import Protocol, revise
from replicalab.planner import Options, largest_sample, rank
from replicalab.planner.asks import MOST_ITEMS_TRIED
from replicalab.planner.wordings import MOST_WORDINGS
from replicalab.scenarios import Pack, load_scenario
from tests.factories import (
    change_pack,
    make_control,
    make_design,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)

ITEMS: Final = [f"item {number}" for number in range(40)]
CONTROLS: Final = [make_control(name=f"control {n}", droppable=True) for n in range(40)]
PLAN: Final = make_protocol(
    sample_size=100,
    controls=[control.name for control in CONTROLS] * 5,
    required_equipment=ITEMS,
    required_reagents=[],
)


def booked(*alternatives: str) -> Pack:
    """Return a lab in which all forty items are booked, two alternatives for each in turn."""
    rows = [
        make_substitution(
            original=ITEMS[place // 2],
            alternative=alternative,
            fidelity_loss=place * 5 % 4,
            evidence_factor=1 - 0.003 * (place * 7 % 60),
        )
        for place, alternative in enumerate(alternatives)
    ]
    return make_pack(
        equipment=ITEMS,
        reagents=[],
        booked=dict.fromkeys(ITEMS, 9),
        allowed_substitutions=rows,
        controls=CONTROLS,
        policy_rules=[
            make_policy_rule(key=f"rule_{n}", forbidden_phrases=[f"bad {n} {m}" for m in range(5)])
            for n in range(40)
        ],
        design=make_design(effect_planning=0.4),
        budget=20_000.0,
        days=40,
        staff=9,
    )


def everything(plan: Protocol, pack: Pack) -> Options:
    """Return the options of a plan, every one of them worked out."""
    found = Options(assess(plan, pack))
    assert found.least.rank <= rank(found.offered, plan)
    assert found.asks.run.plan == plan
    assert len(found.extras) == 3
    assert all(each.days <= pack.lab.days for each in found.frontier.plans)
    return found


def test_two_hundred_copies_of_a_control_are_one_with_a_count() -> None:
    pack = load_scenario("fin_momentum", "hard")
    plan, copies = pack.reference_protocol, 200
    droppable = next(control.name for control in pack.controls if control.droppable)
    listed = revise(plan, controls=[*plan.controls, *[droppable] * copies])
    found = everything(listed, pack)
    assert len(found.wordings.found) <= MOST_WORDINGS
    assert found.least.exact
    assert found.least.rank[:4] == Options(assess(plan, pack)).least.rank[:4]


@pytest.mark.parametrize(
    ("alternatives", "exact"),
    [
        ([f"own {n}" for n in range(80)], True),
        ([f"shared {(n // 2 + n % 2) % 41}" for n in range(80)], False),
        ([f"shared {n * 13 % 37}" for n in range(80)], False),
    ],
    ids=["each its own", "a chain", "a tangle"],
)
def test_forty_booked_items_are_planned_and_what_is_not_proven_is_not_claimed(
    alternatives: list[str], exact: bool
) -> None:
    found = everything(PLAN, booked(*alternatives))
    assert len(found.wordings.found) <= MOST_WORDINGS
    assert found.least.exact is exact
    assert not found.least.none_feasible or exact
    assert found.asks.untried == len(ITEMS) - MOST_ITEMS_TRIED


def test_huge_numbers_are_planned() -> None:
    pack = change_pack(make_pack(budget=1e15, days=10**9), samples_per_day=None)
    plan = make_protocol(sample_size=10**6, duration_days=10**6)
    assert everything(plan, pack).least.after.feasible
    assert largest_sample(plan, pack)
