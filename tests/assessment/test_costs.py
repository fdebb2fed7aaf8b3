"""The cost of a plan with priced staff and an overhead."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import Counts, assess, credits_needed
from replicalab.facts.plan_facts import term_text
from replicalab.models import Protocol, revise
from replicalab.planner.region import numeric_checks
from replicalab.scenarios import CostModel, Pack
from tests.factories import make_pack, make_protocol
from tests.strategies import itemised_protocols, studied_packs

PLAN = make_protocol(
    sample_size=30, duration_days=6, controls=["blank"], required_equipment=[], required_reagents=[]
)


def priced(**rates: float) -> Pack:
    return make_pack(cost_model=CostModel(**rates), currency="EUR")


def test_staff_and_overhead_by_hand() -> None:
    # 30 x 10 + 6 x 50 + 25 = 625. Staff: 1, and 1 each above 20 samples and 5 days: 3, for 6 days.
    # 3 x 6 x 40 = 720; 15 % of 1,345 = 201.75.
    plan = assess(PLAN, priced(per_staff_day=40.0, overhead_percent=15.0))
    assert plan.staff == 3
    assert [(term.label, term.credits) for term in plan.cost_terms[5:]] == [
        ("Staff days", 720.0),
        ("Overhead", 201.75),
    ]
    assert [term_text(term) for term in plan.cost_terms[5:]] == ["18 × 40", "15 % of 1,345"]
    assert plan.cost == 1546.75


def test_overhead_is_rounded_once() -> None:
    plan = assess(revise(PLAN, sample_size=1), priced(overhead_percent=0.00005, per_sample=1.0))
    # 326 x 1.0000005 = 326.000163
    assert plan.cost == 326.000163


def exactly(plan: Protocol, pack: Pack) -> Fraction:
    rates = {name: Fraction(value) for name, value in dict(pack.lab.cost_model).items()}
    steps = pack.lab.staff_model
    days, samples = plan.duration_days, plan.sample_size
    listed = plan.required_equipment, plan.required_reagents
    people = steps.base + sum(
        (
            samples > steps.sample_threshold,
            len(plan.controls) > steps.control_threshold,
            days > steps.day_threshold,
            len(listed[0]) > steps.equipment_threshold,
        )
    )
    total = samples * rates["per_sample"] + days * rates["per_day"]
    total += len(plan.controls) * rates["per_control"]
    for labels, rate in zip(listed, ("per_equipment_item", "per_reagent"), strict=True):
        for label in labels:
            custom = pack.inventory.price(label)
            total += rates[rate] if custom is None else Fraction(custom)
    total += people * days * rates["per_staff_day"]
    return total * (100 + rates["overhead_percent"]) / 100


@given(itemised_protocols(), studied_packs())
def test_cost_is_the_exact_sum_to_a_millionth(plan: Protocol, pack: Pack) -> None:
    assert abs(Fraction(assess(plan, pack).cost) - exactly(plan, pack)) < Fraction(1, 10**6)


@given(itemised_protocols(), studied_packs(), st.integers(0, 30), st.integers(0, 30))
def test_cost_never_falls_with_counts(plan: Protocol, pack: Pack, samples: int, days: int) -> None:
    protocol = revise(
        plan, sample_size=plan.sample_size + samples, duration_days=plan.duration_days + days
    )
    assert assess(protocol, pack).cost >= assess(plan, pack).cost


def test_array_rounds_as_the_single_check() -> None:
    # The doubles next to these halves lie above or below; numpy alone rounds them to even.
    pack = priced(per_sample=0.0000005, per_day=0.0, per_control=0.0)
    samples = np.arange(1, 400)
    counts = Counts(samples, np.ones_like(samples), 0, 0, 0)
    single = [credits_needed(counts._replace(samples=int(n), days=1), pack) for n in samples]
    assert numeric_checks(counts, pack).needs["budget"].tolist() == single
    plain = (samples * 0.0000005).round(6).tolist()
    assert plain != single, "numpy's own rounding would do, so this shows nothing"
