"""The convergence chart: two panels, each with its own axis, and no number of its own."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go

from replicalab.assessment import Assessment, assess
from replicalab.models import Dimension, revise
from replicalab.render.figures import convergence_chart
from replicalab.scenarios import load_scenario
from tests.factories import make_design, make_pack, make_protocol


def plan(samples: int, days: int = 5, **design: object) -> Assessment:
    """Return a plan of 650 credits and 10 a sample, in a lab of 1,000 credits and 5 days."""
    pack = make_pack(budget=1000.0, days=5, staff=4, design=make_design(**design))
    return assess(make_protocol(sample_size=samples, duration_days=days), pack)


ROUNDS: Final = ((1, plan(60, days=10)), (2, plan(40)), (4, plan(0)))
CHART: Final = convergence_chart(ROUNDS)
RESOURCES: Final = {
    "budget": Dimension.BUDGET, "days": Dimension.SCHEDULE, "staff": Dimension.STAFF
}  # fmt: skip


def traces(figure: go.Figure) -> dict[str, go.Scatter]:
    """Return the lines of a chart by name."""
    return {trace.name: trace for trace in figure.data}


def title_of(figure: go.Figure) -> str:
    return str(figure.layout.title.text).replace("\u00a0", " ").replace("<br>", " ")


def test_each_resource_and_the_evidence_is_a_line_over_the_rounds() -> None:
    lines = traces(CHART)
    assert list(lines) == [*RESOURCES, "power"]
    assert all(tuple(line.x) == (1, 2, 4) for line in lines.values())
    for name, dimension in RESOURCES.items():
        assert lines[name].y == tuple(each.slack[dimension].use for _, each in ROUNDS)
    assert lines["budget"].y == (1.5, 1.05, 0.65)
    assert lines["days"].y == (2.0, 1.0, 1.0)
    assert lines["power"].y == tuple(each.evidence.value for _, each in ROUNDS)


def test_lines_and_plans_without_evidence_differ_by_more_than_their_colour() -> None:
    lines = traces(CHART)
    looks = {(lines[name].line.dash, lines[name].marker.symbol) for name in RESOURCES}
    assert len(looks) == 3
    assert lines["power"].marker.symbol == ("circle", "circle", "x")


def test_no_panel_has_two_axes() -> None:
    assert {trace.yaxis for trace in CHART.data} == {"y", "y2"}
    assert CHART.layout.yaxis.side is None
    assert CHART.layout.yaxis2.overlaying is None
    assert CHART.layout.yaxis.domain[0] > CHART.layout.yaxis2.domain[1]


def test_limits_stand_as_lines_with_their_names() -> None:
    levels = {(shape.yref, shape.y0) for shape in CHART.layout.shapes if shape.type == "line"}
    assert levels == {("y", 1), ("y2", 0.8), ("y2", 0.5)}
    names = [note.text for note in CHART.layout.annotations]
    assert names == ["all there is", "target 0.80", "floor 0.50"]


def test_half_width_says_that_lower_is_better_and_void_stands_at_the_worst_end() -> None:
    precise: dict[str, Any] = {
        "kind": "precision", "effect_published": None, "effect_planning": 0.1, "sesoi": None,
        "target": 0.015, "floor": 0.025,
    }  # fmt: skip
    figure = convergence_chart([(1, plan(60, **precise)), (2, plan(0, **precise))])
    assert "lower is better" in figure.layout.yaxis2.title.text
    first, second = traces(figure)["half-width"].y
    assert first == plan(60, **precise).evidence.value
    assert second > max(first, 0.025)


def test_title_says_from_where_to_where() -> None:
    only = convergence_chart(ROUNDS[:1])
    assert title_of(CHART) == "Budget used 150 % → 65 %, power 0.93 → none"
    assert title_of(only) == "Budget used 150 %, power 0.93"
    same = convergence_chart([(1, plan(60)), (2, plan(60, days=4))])
    assert title_of(same) == "Budget used 125 % → 120 %, power 0.93", "what stays is no change"


def test_title_rounds_nothing_that_is_over_to_all_there_is() -> None:
    pack = load_scenario("bio_jq1_myeloma", "medium")
    over = assess(revise(pack.reference_protocol, duration_days=28), pack)
    assert (over.cost, pack.lab.budget) == (2490, 2480)
    assert title_of(convergence_chart([(1, over)])).startswith("Budget used over 100 %, power")


def test_use_over_the_limit_stays_in_the_panel() -> None:
    assert convergence_chart([(1, plan(900))]).layout.yaxis.range[1] > 9.5
