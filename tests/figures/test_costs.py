"""The cost chart: what is drawn is what the plan costs, and each bar carries its number too."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import Assessment, assess
from replicalab.figures import cost_chart
from replicalab.figures.style import FAIL, PASS
from replicalab.models import revise
from replicalab.planner import PlanStep
from tests.factories import make_pack, make_protocol
from tests.strategies import protocols


def judged(budget: float = 2600.0, **plan: object) -> Assessment:
    """Return a plan of 1,050 credits: 400 for samples, 250 for days, then 50, 200 and 150."""
    return assess(make_protocol(**plan), make_pack(budget=budget))


def step(before: Assessment, **changes: object) -> PlanStep:
    return PlanStep(before, assess(revise(before.plan, **changes), before.pack))


def amounts_of(figure: go.Figure) -> dict[str, str]:
    """Return the amount that is written beside each row."""
    written = figure.data[-1]
    assert written.mode == "text"
    return dict(zip(written.y, written.text, strict=True))


def test_cost_chart_draws_the_five_terms_the_total_and_the_budget_from_top_to_bottom() -> None:
    figure = cost_chart(judged())
    bars, budget, _ = figure.data
    assert list(bars.y) == ["Samples", "Days", "Controls", "Equipment", "Reagents", "Your plan"]
    assert list(bars.base) == [0.0, 400.0, 650.0, 700.0, 900.0, 0.0]
    assert list(bars.x) == [400.0, 250.0, 50.0, 200.0, 150.0, 1050.0]
    assert (list(budget.y), list(budget.x)) == (["Budget"], [2600.0])
    assert list(amounts_of(figure).values()) == ["400", "250", "50", "200", "150", "1,050", "2,600"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.title.text == "credits"


def test_cost_chart_leads_on_through_the_changes_to_what_is_left() -> None:
    yours = judged(1000.0)
    shorter = step(yours, duration_days=3)
    swapped = step(shorter.after, required_equipment=["window shelf", "light meter"])
    larger = step(swapped.after, sample_size=60)
    figure = cost_chart(yours, [shorter, swapped, larger])
    bars = figure.data[0]
    assert list(bars.y)[6:] == ["1. Duration", "2. Equipment", "3. Sample size", "As ticked"]
    assert list(bars.base)[6:] == [1050.0, 950.0, 950.0, 0.0]
    assert list(bars.x)[6:] == [-100.0, 0.0, 200.0, 1150.0]
    assert list(bars.marker.color)[-1] == FAIL
    written = amounts_of(figure)
    assert [written[row] for row in list(bars.y)[6:]] == ["−100", "±0", "+200", "1,150"]
    assert figure.layout.title.text == (
        "The plan costs 1,050 credits: 50 credits over<br>As ticked 1,150 credits: 150 credits over"
    )


@pytest.mark.parametrize(
    ("budget", "title", "colour"),
    [
        (2600.0, "The plan costs 1,050 credits: 1,550 credits left", PASS),
        (1050.0, "The plan costs 1,050 credits: 0 credits left", PASS),
        (1049.0, "The plan costs 1,050 credits: 1 credit over", FAIL),
        (1049.5, "The plan costs 1,050 credits: 0.50 credits over", FAIL),
    ],
)
def test_cost_chart_says_and_shows_whether_the_budget_holds(
    budget: float, title: str, colour: str
) -> None:
    figure = cost_chart(judged(budget))
    assert figure.layout.title.text == title
    assert figure.data[0].marker.color[-1] == colour


@given(protocols(), st.integers(0, 10**6), st.floats(1, 1e15))
def test_cost_chart_leaves_room_beyond_the_longest_bar(
    plan: object, samples: int, budget: float
) -> None:
    yours = judged(budget, **dict(plan))  # type: ignore[call-overload]
    larger = step(yours, sample_size=samples)
    figure = cost_chart(yours, [larger])
    lowest, highest = figure.layout.xaxis.range
    assert lowest == 0
    assert highest >= max(yours.cost, budget, larger.after.cost)
    assert figure.data[0].x[-1] == larger.after.cost
    [line] = figure.layout.shapes
    assert line.x0 == line.x1 == budget
