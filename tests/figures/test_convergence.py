"""The convergence chart: two panels, each with its own axis, and no number of its own."""

from __future__ import annotations

import math
from typing import Final

import plotly.graph_objects as go
import pytest

from replicalab.evidence import Evidence
from replicalab.figures import RoundUse, convergence_chart
from replicalab.scenarios import DesignKind, EvidenceTier


def power(value: float, void: str | None = None) -> Evidence:
    tier = EvidenceTier.MEETS_TARGET if value >= 0.8 else EvidenceTier.BELOW_FLOOR
    return Evidence(DesignKind.TWO_GROUP, value, 0.8, 0.5, tier, 10, 0.4, void)


def half_width(value: float, void: str | None = None) -> Evidence:
    return Evidence(
        DesignKind.PRECISION, value, 0.015, 0.025, EvidenceTier.BELOW_FLOOR, 10, 0.1, void
    )


ROUNDS: Final = (
    RoundUse(1, 1.48, 1.33, 1.0, power(0.86)),
    RoundUse(2, 0.87, 1.0, None, power(0.58)),
    RoundUse(4, 0.41, 0.5, 0.75, power(0.0, "no samples are planned")),
)


def traces(figure: go.Figure) -> dict[str, go.Scatter]:
    """Return the lines of a chart by name."""
    return {trace.name: trace for trace in figure.data}


def test_each_resource_and_the_evidence_is_a_line_over_the_rounds() -> None:
    lines = traces(convergence_chart(ROUNDS))
    assert list(lines) == ["budget", "days", "staff", "power"]
    assert all(tuple(line.x) == (1, 2, 4) for line in lines.values())
    assert tuple(lines["budget"].y) == (1.48, 0.87, 0.41)
    assert tuple(lines["staff"].y) == (1.0, None, 0.75)
    assert tuple(lines["power"].y) == (0.86, 0.58, 0.0)


def test_lines_differ_by_more_than_their_colour() -> None:
    lines = traces(convergence_chart(ROUNDS))
    looks = {(lines[name].line.dash, lines[name].marker.symbol) for name in ("budget", "days")}
    assert len(looks | {(lines["staff"].line.dash, lines["staff"].marker.symbol)}) == 3


def test_no_panel_has_two_axes() -> None:
    figure = convergence_chart(ROUNDS)
    assert {trace.yaxis for trace in figure.data} == {"y", "y2"}
    assert figure.layout.yaxis.side is None
    assert figure.layout.yaxis2.overlaying is None
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]


def test_limits_stand_as_lines_with_their_names() -> None:
    figure = convergence_chart(ROUNDS)
    levels = {(shape.yref, shape.y0) for shape in figure.layout.shapes if shape.type == "line"}
    assert levels == {("y", 1), ("y2", 0.8), ("y2", 0.5)}
    names = [note.text for note in figure.layout.annotations]
    assert names == ["all there is", "target 0.80", "floor 0.50"]


def test_plan_without_evidence_is_a_cross() -> None:
    assert traces(convergence_chart(ROUNDS))["power"].marker.symbol == ("circle", "circle", "x")


def test_half_width_says_that_lower_is_better_and_void_stands_at_the_worst_end() -> None:
    found = [
        RoundUse(1, 1.0, 1.0, 1.0, half_width(0.02)),
        RoundUse(2, 1.0, 1.0, 1.0, half_width(math.inf, "no samples are planned")),
    ]
    figure = convergence_chart(found)
    assert "lower is better" in figure.layout.yaxis2.title.text
    first, second = traces(figure)["half-width"].y
    assert first == 0.02
    assert second > 0.025


@pytest.mark.parametrize("shown", [1, 2, 4])
def test_round_on_show_is_marked(shown: int) -> None:
    figure = convergence_chart(ROUNDS, shown)
    bands = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert {(band.x0 + band.x1) / 2 for band in bands} == {shown}
    assert {band.xref for band in bands} == {"x", "x2"}


def test_title_says_from_where_to_where() -> None:
    title = convergence_chart(ROUNDS).layout.title.text.replace("\u00a0", " ").replace("<br>", " ")
    assert title == "Budget used 148 % → 41 %, power 0.86 → none"
    alone = convergence_chart(ROUNDS[:1]).layout.title.text.replace("\u00a0", " ")
    assert alone == "Budget used 148 %, power 0.86"


def test_use_over_the_limit_stays_in_the_panel() -> None:
    figure = convergence_chart([RoundUse(1, 9.5, 1.0, 1.0, power(0.86))])
    assert figure.layout.yaxis.range[1] > 9.5
