"""A plan judged once: slack, cliffs, fidelity, and independent results."""

import math

import pytest
from hypothesis import given

from replicalab.assessment import Cliff, assess
from replicalab.models import Dimension, Protocol, revise
from replicalab.scenarios import Pack
from tests.designs.examples import t_power
from tests.factories import CONTROLS, EQUIPMENT, make_pack, make_protocol, make_substitution
from tests.strategies import itemised_protocols, studied_packs

CHAMBER = EQUIPMENT[0]


def test_slack_is_what_is_left_of_each_limit() -> None:
    pack = make_pack(budget=2600, days=4, staff=2, booked={CHAMBER: 9})
    slacks = assess(make_protocol(), pack).slack
    assert {d: (s.used, s.limit) for d, s in slacks.items()} == {
        "protocol": (1, 0), "budget": (1050, 2600), "equipment": (2, 1), "reagents": (2, 2),
        "schedule": (5, 4), "staff": (2, 2), "policy": (0, 0),
    }  # fmt: skip
    assert slacks[Dimension.SCHEDULE].use == 5 / 4
    assert slacks[Dimension.EQUIPMENT].use is None


def test_own_price_replaces_the_rate() -> None:
    items = {"required_equipment": ["lens", "prism", "LENS"], "required_reagents": ["ink", "lens"]}
    pack = make_pack(prices={"lens": 400.0, "ink": 0.0, "unused": 9.0})
    plan = assess(make_protocol(**items), pack)
    equipment, reagents = plan.cost_terms[3:]
    assert (equipment.credits, equipment.prices) == (900, {100.0: 1, 400.0: 2})
    assert (reagents.credits, reagents.prices) == (400, {0.0: 1, 400.0: 1})
    assert sum(term.credits for term in plan.cost_terms) == plan.cost


@given(itemised_protocols(), studied_packs())
def test_slack_is_negative_exactly_where_its_dimension_fails(plan: Protocol, pack: Pack) -> None:
    result = assess(plan, pack)
    for dimension, slack in result.slack.items():
        assert (slack.slack >= 0) == slack.ok == (dimension not in result.check.failing), dimension
        assert slack.ok == (not result.reasons[dimension])
    assert result.slack[Dimension.PROTOCOL].used == len(result.errors)


@pytest.mark.parametrize(
    ("changes", "cliffs"),
    [
        ({"sample_size": 20}, {Cliff("sample", more=True)}),
        ({"sample_size": 21}, {Cliff("sample", more=False)}),
        ({"sample_size": 19}, set()),
        ({"sample_size": 22}, set()),
        ({"duration_days": 5}, {Cliff("day", more=True)}),
        ({"duration_days": 3}, {Cliff("day", more=False, endpoint=True)}),
        ({"controls": [*CONTROLS, "x"]}, {Cliff("control", more=False)}),
    ],
)
def test_cliffs_are_single_large_steps(changes: dict[str, object], cliffs: set[Cliff]) -> None:
    quiet = {"sample_size": 40, "duration_days": 9, "controls": []}
    quiet |= {"required_equipment": [], **changes}
    assert set(assess(make_protocol(**quiet), make_pack()).cliffs) == cliffs


@given(itemised_protocols(), itemised_protocols(), studied_packs())
def test_revision_equals_a_fresh_assessment(plan: Protocol, other: Protocol, pack: Pack) -> None:
    judged = assess(plan, pack)
    assert judged.check.estimated_cost == judged.cost
    assert judged.evidence_factor
    assert judged.feasible is (judged.check.failing == [])
    resized = revise(plan, sample_size=other.sample_size, duration_days=other.duration_days)
    for revised in (resized, other):
        again, alone = judged.revised(revised), assess(revised, pack)
        assert again.check == alone.check
        assert (again.evidence, again.fidelity_loss) == (alone.evidence, alone.fidelity_loss)
    assert judged.revised(resized).items is judged.items


def test_dropped_controls_in_the_studys_order() -> None:
    pack = make_pack()
    first, *others = names = [control.name for control in pack.controls]
    assert others
    for texts, dropped in ((names, []), (others, [first]), ([first.upper()], others), ([], names)):
        controls = assess(make_protocol(controls=texts), pack).dropped
        assert [control.name for control in controls] == dropped


def test_fidelity_loss_adds_swaps_and_controls() -> None:
    swap = make_substitution(original=CHAMBER, alternative="window shelf", fidelity_loss=3)
    pack = make_pack(allowed_substitutions=[swap])
    plan = make_protocol(required_equipment=["window shelf", EQUIPMENT[1]], controls=CONTROLS[:1])
    assert assess(plan, pack).fidelity_loss == 3 + 1
    assert assess(revise(plan, controls=[]), pack).fidelity_loss == 3 + 2


def test_detectable_effect_matches_scipy() -> None:
    swap = make_substitution(original=CHAMBER, alternative="window shelf", evidence_factor=0.8)
    plan = assess(
        make_protocol(required_equipment=["window shelf", EQUIPMENT[1]]),
        make_pack(allowed_substitutions=[swap]),
    )
    effect = plan.detectable_effect
    assert effect is not None
    assert plan.evidence_at(effect).value == pytest.approx(0.8, abs=1e-9)
    # By scipy: of twenty an arm the t of d times 0.8.
    assert t_power(0.8 * effect * math.sqrt(10), 38) == pytest.approx(0.8, abs=1e-9)
    assert assess(make_protocol(duration_days=1), make_pack()).detectable_effect is None
