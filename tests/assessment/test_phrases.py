"""Cautions on units and on soft constraints, by hand."""

from typing import Any, Final

import pytest

from replicalab.assessment import assess
from replicalab.assessment.phrases import bounded_text, few_units_title, units_text
from replicalab.scenarios import Arms, Units
from tests.factories import make_constraint, make_design, make_pack, make_protocol

ONE: Final = (
    "has only 1 tank: a difference between tanks cannot be separated from a treatment effect"
)
ONE_IN_AN_ARM: Final = ONE.replace("1 tank", "1 tank per arm")
INDEPENDENT: Final = (
    "treats samples of one tank as independent, because no intraclass correlation was given"
)


def tanks(kind: str = "two_group", icc: float | None = None, **more: object) -> Any:
    return make_design(kind=kind, units=Units(name="tank", samples=10, icc=icc), **more)


@pytest.mark.parametrize(
    ("design", "samples", "text"),
    [
        (make_design(), 4, ""),
        (tanks(icc=0.1), 0, ""),
        # Ten in each arm are a tank, eleven begin a second.
        (tanks(icc=0.1), 20, ONE_IN_AN_ARM),
        (tanks(icc=0.1), 22, ""),
        (tanks(), 20, ONE_IN_AN_ARM),
        (tanks(), 40, INDEPENDENT),
        (tanks(icc=0.0), 40, ""),
        # A quarter of 40 is the first arm's, one tank; the other has three.
        (tanks(icc=0.1, arms=Arms(share=0.25)), 40, ONE_IN_AN_ARM),
        (tanks(icc=0.1, arms=Arms(share=0.75)), 40, ONE_IN_AN_ARM),
        (tanks(icc=0.1, arms=Arms(share=0.25)), 44, ""),
        (tanks("paired", icc=0.1), 10, ONE),
        (tanks("paired", icc=0.1), 11, ""),
    ],
)
def test_units_too_few_or_uncorrelated(design: Any, samples: int, text: str) -> None:
    plan = assess(make_protocol(sample_size=samples), make_pack(design=design))
    assert units_text(plan) == text
    if samples:
        assert few_units_title(plan) == ("too few tanks" if text.startswith("has only 1") else "")


# Of one sample the width of an interval can be anything.
ASSURED: Final = make_design(
    kind="precision", effect_planning=0.1, target=0.01, floor=0.1, assurance=0.8
)
WIDTH: Final = make_design(kind="precision", effect_planning=0.1, target=0.01, floor=0.1)


@pytest.mark.parametrize(
    ("design", "comparator", "bound", "samples", "days", "text"),
    [
        # Power at n = 40 and d = 0.9 is 0.7920 by SciPy.
        (make_design(), ">=", 0.9, 40, 5, "0.79"),
        (make_design(), ">=", 0.793, 40, 5, "0.792"),
        (make_design(), ">=", 0.9, 40, 1, "no evidence"),
        # 1.959964 · 0.1 / 49 is 0.0039999, which two decimals would make the bound.
        (WIDTH, "<=", 0.0, 49**2, 5, "0.004"),
        (ASSURED, "<=", 0.09, 1, 5, "an unbounded one"),
    ],
)
def test_evidence_differs_from_its_bound(
    design: Any, comparator: str, bound: float, samples: int, days: int, text: str
) -> None:
    limit = make_constraint(bounds="evidence", hard=False, comparator=comparator, quantity=bound)
    pack = make_pack(design=design, constraints=[limit])
    plan = assess(make_protocol(sample_size=samples, duration_days=days), pack)
    [broken] = plan.broken_wishes
    assert bounded_text(broken, plan) == text
