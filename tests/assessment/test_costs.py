"""The document's two formulas, term by term, at each boundary, for one plan and for arrays."""

from __future__ import annotations

from replicalab.assessment import assess
from replicalab.assessment.costs import counts_of
from tests.factories import make_pack, make_protocol


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
