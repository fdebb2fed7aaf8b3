"""Cautions on units and on soft constraints, by hand."""

from typing import Any, Final

import pytest

from replicalab.assessment import assess
from replicalab.scenarios import Arms, Units
from tests.factories import make_design, make_pack, make_protocol

ONE: Final = (
    "has only 1 tank: a difference between tanks cannot be separated from a treatment effect"
)
ONE_IN_AN_ARM: Final = ONE.replace("1 tank", "1 tank per arm")
INDEPENDENT: Final = (
    "treats samples in one tank as independent, because no intraclass correlation was given"
)


def tanks(kind: str = "two_group", icc: float | None = None, **more: object) -> Any:
    return make_design(kind=kind, units=Units(name="tank", samples=10, icc=icc), **more)


@pytest.mark.parametrize(
    ("design", "samples", "text"),
    [
        (make_design(), 4, ""),
        (tanks(icc=0.1), 0, ""),
        # Ten in each arm are a tank, eleven begin a second.
        (tanks(icc=0.1), 20, ONE_IN_AN_ARM), (tanks(icc=0.1), 22, ""),
        (tanks(), 20, ONE_IN_AN_ARM), (tanks(), 40, INDEPENDENT), (tanks(icc=0.0), 40, ""),
        # A quarter of 40 is the first arm's, one tank; the other has three.
        (tanks(icc=0.1, arms=Arms(share=0.25)), 40, ONE_IN_AN_ARM),
        (tanks(icc=0.1, arms=Arms(share=0.75)), 40, ONE_IN_AN_ARM),
        (tanks(icc=0.1, arms=Arms(share=0.25)), 44, ""),
        (tanks("paired", icc=0.1), 10, ONE),
        (tanks("paired", icc=0.1), 11, ""),
    ],
)  # fmt: skip
def test_units_too_few_or_uncorrelated(design: Any, samples: int, text: str) -> None:
    plan = assess(make_protocol(sample_size=samples), make_pack(design=design))
    assert plan.units_text == text
    if samples:
        assert plan.few_units_title == ("too few tanks" if text.startswith("has only 1") else "")
