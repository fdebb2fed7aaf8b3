"""The evidence meter: what is drawn equals the evidence passed in, the better always right."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import plotly.graph_objects as go
import pytest

from replicalab.assessment import Evidence
from replicalab.figures import evidence_chart
from replicalab.scenarios import DesignKind, EvidenceTier

POWER: Final = Evidence(DesignKind.TWO_GROUP, 0.86, 0.8, 0.5, EvidenceTier.MEETS_TARGET, 300, 0.177)
BELOW: Final = replace(POWER, value=0.36, tier=EvidenceTier.BELOW_FLOOR)
VOID: Final = replace(
    POWER, value=0.0, tier=EvidenceTier.BELOW_FLOOR, void="no samples are planned"
)
WIDTH: Final = Evidence(DesignKind.PRECISION, 0.0129, 0.015, 0.025, EvidenceTier.MEETS_TARGET, 58, 0.05)
COVERAGE: Final = Evidence(DesignKind.COVERAGE, 0.5, 1.0, 1.0, EvidenceTier.BELOW_FLOOR, 316, None)


def zones(figure: go.Figure) -> list[tuple[float, float]]:
    """Return where the three zones begin and end, from the worst on."""
    return [(s.x0, s.x1) for s in figure.layout.shapes if s.type == "rect"]


def names(figure: go.Figure) -> list[str]:
    """Return the names of the zones, which stand above the track."""
    return [each.text.strip() for each in figure.layout.annotations if each.yref == "paper"]


def written(figure: go.Figure) -> list[tuple[float, str]]:
    """Return the values that stand beside the track: the row, and the text."""
    return [(e.y, e.text.strip()) for e in figure.layout.annotations if e.yref != "paper"]


def test_meter_places_each_plan_at_its_value_with_a_symbol_and_a_number_of_its_own() -> None:
    figure = evidence_chart([("Your plan", POWER), ("As ticked", BELOW), ("Least loss", POWER)])
    [dots] = figure.data
    assert list(dots.x) == [0.86, 0.36, 0.86]
    assert [text.strip() for text in dots.text] == ["0.86", "0.36", "0.86"]
    assert written(figure) == [(0, "0.86"), (1, "0.36"), (2, "0.86")]
    assert dots.mode == "markers"
    beside = [each for each in figure.layout.annotations if each.yref != "paper"]
    assert {(each.x, each.xref, each.xanchor) for each in beside} == {(1, "paper", "left")}
    assert len(set(dots.marker.symbol)) == 3
    assert list(figure.layout.yaxis.ticktext) == ["● Your plan", "◆ As ticked", "▲ Least loss"]


def test_meter_names_its_zones_with_floor_and_target() -> None:
    figure = evidence_chart([("Your plan", POWER)])
    assert zones(figure) == [(0.0, 0.5), (0.5, 0.8), (0.8, 1.0)]
    assert names(figure) == ["below floor 0.50", "meets target 0.80", "above floor"]
    assert {line.x0 for line in figure.layout.shapes if line.type == "line"} == {0.5, 0.8}


def test_meter_of_a_half_width_runs_from_large_to_small() -> None:
    figure = evidence_chart([("Your plan", WIDTH), ("As ticked", replace(WIDTH, value=0.04))])
    worst, best = figure.layout.xaxis.range
    assert (worst, best) == (pytest.approx(0.05), 0.0)
    assert zones(figure) == [(worst, 0.025), (0.025, 0.015), (0.015, 0.0)]
    assert names(figure)[:2] == ["below floor ±2.50 %", "meets target ±1.50 %"]
    assert [text.strip() for text in figure.data[0].text] == ["±1.29 %", "±4.00 %"]


def test_meter_draws_no_evidence_as_a_cross_at_the_worst_end_and_says_why() -> None:
    figure = evidence_chart([("Your plan", VOID), ("As ticked", POWER)])
    assert list(figure.data[0].x) == [0.0, 0.86]
    assert figure.data[0].marker.symbol[0] == "x"
    assert figure.data[0].text[0].strip() == "no evidence"
    assert figure.layout.title.text == "No evidence: no samples are planned"


def test_meter_of_an_unbounded_half_width_stays_on_the_scale() -> None:
    void = replace(WIDTH, value=math.inf, void="no samples are planned")
    figure = evidence_chart([("Your plan", void)])
    assert list(figure.data[0].x) == [pytest.approx(0.03125)]


def test_meter_without_room_between_floor_and_target_names_the_outer_zones_only() -> None:
    figure = evidence_chart([("Your plan", COVERAGE)])
    assert names(figure) == ["below floor 100 %", "meets target 100 %"]


def test_meter_breaks_a_long_title_for_a_phone() -> None:
    why = "the study's endpoint needs 22 days, and the plan has 14"
    figure = evidence_chart([("Your plan", replace(VOID, void=why))])
    lines = figure.layout.title.text.split("<br>")
    assert " ".join(lines) == f"No evidence: {why}"
    assert max(map(len, lines)) <= 46


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_meter_is_a_low_strip_with_a_title_and_an_axis(rows: int) -> None:
    figure = evidence_chart([("Your plan", POWER)] * rows)
    assert figure.layout.height <= 180
    assert figure.layout.title.text == "Power 0.86: meets target"
    assert figure.layout.xaxis.title.text == "power"
