"""The document's two formulas, term by term, at each boundary, for one plan and for arrays."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import assess
from replicalab.assessment.costs import Counts, cost, cost_terms, counts_of, staff, staff_steps
from replicalab.scenarios import CostModel, StaffModel
from tests.factories import make_pack, make_protocol

NOTHING: Final = Counts(0, 0, 0, 0, 0)
COST: Final = CostModel()
STAFF: Final = StaffModel()

numbers = st.integers(0, 10**6)
own_prices = st.integers(-1000, 1000).map(float)
plans = st.builds(Counts, numbers, numbers, numbers, numbers, numbers, own_prices)
rates = st.integers(0, 10**4).map(float)
cost_models = st.builds(
    CostModel,
    per_sample=rates,
    per_day=rates,
    per_control=rates,
    per_equipment_item=rates,
    per_reagent=rates,
)
thresholds = st.integers(0, 50)
staff_models = st.builds(
    StaffModel,
    base=thresholds,
    sample_threshold=thresholds,
    control_threshold=thresholds,
    day_threshold=thresholds,
    equipment_threshold=thresholds,
)


@pytest.mark.parametrize(
    ("term", "price"),
    [("samples", 10), ("days", 50), ("controls", 25), ("equipment", 100), ("reagents", 75)],
)
def test_cost_of_one_more_is_the_documents_rate(term: str, price: int) -> None:
    assert cost(NOTHING._replace(**{term: 1}), COST) == price


@pytest.mark.parametrize(
    ("term", "threshold"), [("samples", 20), ("controls", 2), ("days", 5), ("equipment", 2)]
)
def test_staff_step_is_taken_above_the_threshold_not_at_it(term: str, threshold: int) -> None:
    needed = [
        staff(NOTHING._replace(**{term: number}), STAFF)
        for number in (threshold - 1, threshold, threshold + 1, 100 * threshold)
    ]
    assert needed == [1, 1, 2, 2]


def test_counts_bill_duplicates_as_listed() -> None:
    protocol = make_protocol(
        controls=["a", "a", "A "],
        required_equipment=["b", "B"],
        required_reagents=["c", "c", "c", "c"],
    )
    pack = make_pack(prices={"B ": 130.0, "C": 0.5})
    assert counts_of(protocol, pack) == (40, 5, 3, 2, 4, 2 * 30 - 4 * 74.5)


def test_cost_of_an_item_with_its_own_price_is_that_price() -> None:
    items = {"required_equipment": ["lens", "prism", "LENS"], "required_reagents": ["ink", "lens"]}
    pack = make_pack(prices={"lens": 400.0, "ink": 0.0, "unused": 9.0})
    plan = assess(make_protocol(**items), pack)
    equipment, reagents = plan.cost_terms[3:]
    assert (equipment.credits, equipment.prices) == (900, {100.0: 1, 400.0: 2})
    assert (reagents.credits, reagents.prices) == (400, {0.0: 1, 400.0: 1})
    assert sum(term.credits for term in plan.cost_terms) == plan.cost


@given(plans, cost_models)
def test_cost_terms_are_the_documents_five_and_add_up(counts: Counts, model: CostModel) -> None:
    terms = cost_terms(counts, model)
    labels = [term.label for term in terms]
    assert labels == ["Samples", "Days", "Controls", "Equipment", "Reagents"]
    assert tuple(term.number for term in terms) == counts[:5]
    assert [term.rate for term in terms] == list(dict(model).values())
    assert sum(term.credits for term in terms) == cost(counts._replace(own_prices=0), model)


@given(plans, staff_models)
def test_staff_steps_add_up_to_the_staff(counts: Counts, model: StaffModel) -> None:
    steps = staff_steps(counts, model)
    assert [step.noun for step in steps] == ["sample", "control", "day", "equipment item"]
    assert model.base + sum(step.adds for step in steps) == staff(counts, model)


@given(st.lists(plans, min_size=1, max_size=20), cost_models, staff_models)
def test_arrays_of_plans_agree_with_single_plans(
    many: list[Counts], rates_of_lab: CostModel, steps_of_lab: StaffModel
) -> None:
    columns = Counts(*(np.array(column) for column in zip(*many, strict=True)))
    assert cost(columns, rates_of_lab).tolist() == [cost(one, rates_of_lab) for one in many]
    assert staff(columns, steps_of_lab).tolist() == [staff(one, steps_of_lab) for one in many]
