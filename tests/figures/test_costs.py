"""Charts: what is drawn equals what was passed in, and carries its number in words too."""

from __future__ import annotations

from typing import Final

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.costs import CostTerm, cost_terms, counts_of
from replicalab.figures import CostStep, cost_chart
from replicalab.figures.style import EVIDENCE, FAIL, PASS
from replicalab.scenarios import CostModel
from tests.factories import make_protocol

TERMS: Final = cost_terms(counts_of(make_protocol()), CostModel())
"""400 for samples, 250 for days, 50, 200 and 150: 1050 credits."""
NOTHING: Final = [
    CostTerm("Samples", "samples", 0, 0.0),
    CostTerm("Days", "days", 0, 0.0),
]

amounts = st.floats(0, 1e15)


def budget_line(figure: go.Figure) -> float:
    """Return where the one straight line stands on the axis of the credits."""
    [line] = figure.layout.shapes
    across = line.x0 == line.x1
    assert across or line.y0 == line.y1
    return float(line.x0 if across else line.y0)


def end_of(axis: go.layout.XAxis | go.layout.YAxis) -> float:
    lowest, highest = axis.range
    assert lowest == 0
    return float(highest)


def amounts_of(figure: go.Figure) -> dict[str, str]:
    """Return the amount that is written beside each row."""
    written = figure.data[-1]
    assert written.mode == "text"
    return dict(zip(written.y, written.text, strict=True))


def test_cost_chart_draws_the_five_terms_the_total_and_the_budget() -> None:
    figure = cost_chart(TERMS, 1050.0, 2600.0)
    bars, budget, _ = figure.data
    assert list(bars.y) == ["Samples", "Days", "Controls", "Equipment", "Reagents", "Your plan"]
    assert list(bars.base) == [0.0, 400.0, 650.0, 700.0, 900.0, 0.0]
    assert list(bars.x) == [400.0, 250.0, 50.0, 200.0, 150.0, 1050.0]
    assert (list(budget.y), list(budget.x)) == (["Budget"], [2600.0])
    assert list(amounts_of(figure).values()) == ["400", "250", "50", "200", "150", "1,050", "2,600"]


def test_cost_chart_leads_on_through_the_changes_to_what_is_left() -> None:
    steps = [CostStep("Duration", 1050.0, 950.0), CostStep("Equipment", 950.0, 950.0),
             CostStep("Sample size", 950.0, 1150.5)]  # fmt: skip
    figure = cost_chart(TERMS, 1050.0, 1000.0, steps)
    bars = figure.data[0]
    assert list(bars.y)[6:] == ["1. Duration", "2. Equipment", "3. Sample size", "As ticked"]
    assert list(bars.base)[6:] == [1050.0, 950.0, 950.0, 0.0]
    assert list(bars.x)[6:] == [-100.0, 0.0, 200.5, 1150.5]
    assert list(bars.marker.color)[-1] == FAIL
    written = amounts_of(figure)
    assert [written[row] for row in list(bars.y)[6:]] == ["−100", "±0", "+200.50", "1,150.50"]
    assert figure.layout.title.text == (
        "The plan costs 1,050 credits: 50 credits over<br>"
        "As ticked 1,150.50 credits: 150.50 credits over"
    )


def test_cost_chart_reads_from_top_to_bottom() -> None:
    assert cost_chart(TERMS, 1050.0, 2600.0).layout.yaxis.autorange == "reversed"


@pytest.mark.parametrize(
    ("total", "budget", "title", "colour"),
    [
        (1050.0, 2600.0, "The plan costs 1,050 credits: 1,550 credits left", PASS),
        (1050.0, 1050.0, "The plan costs 1,050 credits: 0 credits left", PASS),
        (3850.0, 2600.0, "The plan costs 3,850 credits: 1,250 credits over", FAIL),
        (1050.5, 1050.0, "The plan costs 1,050.50 credits: 0.50 credits over", FAIL),
    ],
)
def test_cost_chart_says_and_shows_whether_the_budget_holds(
    total: float, budget: float, title: str, colour: str
) -> None:
    figure = cost_chart(TERMS, total, budget)
    assert figure.layout.title.text == title
    assert figure.data[0].marker.color[-1] == colour


FIGURES: Final = [
    cost_chart(TERMS, 1050.0, 2600.0),
    cost_chart(NOTHING, 0.0, 0.0),
]


@pytest.mark.parametrize("figure", FIGURES, ids=["costs", "no costs"])
def test_every_chart_names_its_unit_and_marks_the_budget(figure: go.Figure) -> None:
    assert figure.layout.title.text
    assert "credits" in {figure.layout.xaxis.title.text, figure.layout.yaxis.title.text}
    assert figure.layout.showlegend is False
    budget = figure.data[1]
    amount = budget.x[0] if budget.orientation == "h" else budget.y[0]
    assert budget_line(figure) == amount
    assert budget.marker.color in (EVIDENCE, (EVIDENCE,))
    assert figure.to_json()


@given(amounts, amounts, amounts)
def test_cost_chart_leaves_room_beyond_the_longest_bar(
    total: float, budget: float, after: float
) -> None:
    figure = cost_chart(TERMS, total, budget, [CostStep("Duration", total, after)])
    assert end_of(figure.layout.xaxis) >= max(total, budget, after)
    assert figure.data[0].x[-1] == after
    assert budget_line(figure) == budget
