"""The region's and the frontier's charts: they draw what they are given, labels apart."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.figures import (
    BALANCED,
    LEAST_LOSS,
    OFFER,
    POINT,
    YOUR_PLAN,
    FrontierLine,
    FrontierPoint,
    Level,
    Mark,
    Measure,
    PlanMark,
    frontier_figure,
    region_figure,
)
from replicalab.figures.placing import LINE, NARROW, Box, beside, rows, spread, width_of
from replicalab.figures.sheet import PAPER, SYMBOLS
from replicalab.regions import Region, grid_for, region
from replicalab.scenarios import load_scenario
from replicalab.tradeoffs import Constraint, worded

POWER: Final = Measure("power", "{:.2f}".format, 0.0, 1.0)
HALF_WIDTH: Final = Measure("half-width", "{:.3f}".format, 0.0, 0.05, True, ".1%")
LIMITS: Final = {constraint: f"the {constraint}" for constraint in Constraint}
MARKS: Final = [Mark(YOUR_PLAN, 8, 300), Mark(OFFER, 6, 150), Mark(LEAST_LOSS, 4, 195)]
LEVELS: Final = [Level("target 0.80", 253), Level("floor 0.50", 125)]


def momentum() -> Region:
    pack = load_scenario("fin_momentum", "medium")
    plan = worded(pack.reference_protocol, pack).plan
    return region(plan, pack, *grid_for([plan], pack))


def drawn(marks: list[Mark] = MARKS, measure: Measure = POWER) -> go.Figure:
    return region_figure(
        momentum(), marks, limits=LIMITS, levels=LEVELS, measure=measure, title="What fits"
    )


def named(figure: go.Figure, name: str) -> go.Scatter:
    return next(trace for trace in figure.data if trace.name == name)


def labels(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


# --- the region ---


def test_region_chart_shows_the_evidence_of_the_region() -> None:
    found, heat = momentum(), drawn().data[0]
    assert heat.type == "heatmap"
    assert list(heat.x) == list(found.days)
    assert list(heat.y) == list(found.samples)
    shown = np.array([[np.nan if v is None else v for v in row] for row in heat.z])
    np.testing.assert_allclose(shown, found.evidence, atol=5e-5)


def test_region_chart_marks_the_plans_with_symbols_of_their_own() -> None:
    figure = drawn([*MARKS, Mark(POINT, 5, 100)])
    for mark in [*MARKS, Mark(POINT, 5, 100)]:
        trace = named(figure, mark.name)
        assert (list(trace.x), list(trace.y)) == ([mark.days], [mark.samples])
        assert trace.marker.symbol == SYMBOLS[mark.name]
        assert mark.name in labels(figure)
    assert len(set(SYMBOLS.values())) == len(SYMBOLS)


def test_plans_of_the_same_numbers_share_a_label() -> None:
    figure = drawn([Mark(YOUR_PLAN, 4, 195), Mark(LEAST_LOSS, 4, 195)])
    assert "your plan = least loss" in labels(figure)


def test_plan_outside_the_chart_is_not_marked() -> None:
    figure = drawn([Mark(YOUR_PLAN, 5000, 195)])
    assert YOUR_PLAN not in labels(figure)


def test_region_chart_labels_every_line_that_it_draws_and_no_other() -> None:
    figure = drawn()
    lines = {t.name for t in figure.data[1:] if t.mode == "lines" and t.name in LIMITS}
    assert lines == {"budget", "time limit", "endpoint", "throughput", "population"}
    assert {LIMITS[Constraint(name)] for name in lines} <= set(labels(figure))
    assert LIMITS[Constraint.STAFF] not in labels(figure)
    assert {"target 0.80", "floor 0.50"} <= set(labels(figure))


def test_lines_of_the_region_differ_without_colour() -> None:
    figure = drawn()
    dashes = [t.line.dash for t in figure.data[1:] if t.mode == "lines" and t.name in LIMITS]
    assert dashes.count("solid") == 2  # budget slopes, the time limit stands
    assert len(set(dashes)) == len(dashes) - 1


def test_lines_of_the_region_are_cased_so_that_greyscale_keeps_them() -> None:
    figure = drawn()
    names = [trace.name for trace in figure.data]
    for name in ("budget", "time limit", "endpoint", "throughput", "target 0.80"):
        line, casing = named(figure, name), named(figure, f"{name} casing")
        assert (list(casing.x), list(casing.y)) == (list(line.x), list(line.y))
        assert casing.line.width > line.line.width
        assert casing.line.color == PAPER
        assert names.index(f"{name} casing") < names.index(name)


def test_long_label_beside_the_plot_is_broken_into_lines() -> None:
    limits = {**LIMITS, Constraint.BUDGET: "at most 1,000,000 credits"}
    figure = region_figure(
        momentum(), MARKS, limits=limits, levels=LEVELS, measure=POWER, title="What fits"
    )
    assert "at most<br>1,000,000<br>credits" in labels(figure)


def test_what_does_not_fit_is_hatched_above_the_line() -> None:
    hatched = named(drawn(), "does not fit")
    assert hatched.fillpattern.shape == "/"
    corners = set(zip(hatched.x, hatched.y, strict=True))
    assert {(3.5, 195.5), (4.5, 195.5)} <= corners  # four days hold 195 samples


def test_points_to_click_lie_on_the_grid_and_are_few() -> None:
    found, points = momentum(), named(drawn(), "points")
    assert len(points.x) <= 24 * 30
    assert set(points.x) <= set(found.days.tolist())
    assert set(points.y) <= set(found.samples.tolist())
    assert points.marker.opacity == 0


def test_precision_is_shown_with_less_as_better() -> None:
    assert drawn(measure=HALF_WIDTH).data[0].reversescale is True
    assert drawn().data[0].reversescale is False


# --- the frontier ---

LINES: Final = [
    FrontierLine(0, (FrontierPoint(1000.0, 0.3, "a"), FrontierPoint(1500.0, 0.5, "b"))),
    FrontierLine(2, (FrontierPoint(1200.0, 0.4, "c"),)),
]


def frontier_drawn(measure: Measure = POWER) -> go.Figure:
    return frontier_figure(
        LINES,
        [PlanMark(YOUR_PLAN, 2000.0, 0.6), PlanMark(BALANCED, 1500.0, 0.5)],
        budget=1600.0,
        levels=[("target", 0.8), ("floor", 0.5)],
        measure=measure,
        title="Evidence for credits",
    )


def test_frontier_draws_one_labelled_line_for_each_fidelity_loss() -> None:
    figure = frontier_drawn()
    none, some = named(figure, "fidelity loss 0"), named(figure, "fidelity loss 2")
    assert (list(none.x), list(none.y)) == ([1000.0, 1500.0], [0.3, 0.5])
    assert (list(some.x), list(some.y)) == ([1200.0], [0.4])
    assert none.marker.symbol != some.marker.symbol
    assert none.line.dash != some.line.dash
    assert {"loss 0", "loss 2"} <= set(labels(figure))
    assert not figure.layout.showlegend


def test_frontier_marks_plans_budget_and_levels() -> None:
    figure = frontier_drawn()
    assert (list(named(figure, YOUR_PLAN).x), list(named(figure, YOUR_PLAN).y)) == ([2000.0], [0.6])
    assert {"budget 1,600", "target", "floor", YOUR_PLAN, BALANCED} <= set(labels(figure))
    lines = {(line.x0, line.y0) for line in figure.layout.shapes}
    assert (1600.0, 0) in lines
    low, high = figure.layout.xaxis.range
    assert low < 1000.0
    assert high > 2000.0


def test_frontier_puts_better_evidence_higher() -> None:
    low, high = frontier_drawn().layout.yaxis.range
    assert low < high
    bottom, top = frontier_drawn(HALF_WIDTH).layout.yaxis.range
    assert bottom > top


@pytest.mark.parametrize("figure", [drawn(), frontier_drawn()], ids=["region", "frontier"])
def test_chart_has_a_title_and_units_on_both_axes(figure: go.Figure) -> None:
    assert figure.layout.title.text
    assert figure.layout.xaxis.title.text in ("days", "credits")
    assert figure.layout.yaxis.title.text in ("samples", "power")
    assert figure.to_json()


# --- where labels go ---

heights: Final = st.lists(st.floats(0, 272), max_size=8)


@given(heights)
def test_labels_beside_the_plot_keep_their_order_and_distance(wanted: list[float]) -> None:
    placed = spread(wanted, [13.0] * len(wanted), 272)
    assert sorted(range(len(wanted)), key=lambda i: wanted[i]) == sorted(
        range(len(wanted)), key=lambda i: placed[i]
    )
    ordered = sorted(placed)
    assert all(b - a >= 13 - 1e-9 for a, b in pairwise(ordered))
    assert all(0 <= position <= 272 for position in placed)


@given(st.lists(st.tuples(st.floats(0, 272), st.sampled_from([13.0, 26.0])), max_size=7))
def test_labels_of_several_lines_beside_the_plot_never_cover_each_other(
    wanted: list[tuple[float, float]],
) -> None:
    placed = spread([at for at, _ in wanted], [height for _, height in wanted], 272)
    spans = sorted(
        (at - height / 2, at + height / 2) for at, (_, height) in zip(placed, wanted, strict=True)
    )
    assert all(low[1] <= high[0] + 1e-9 for low, high in pairwise(spans))
    assert all(top <= 272 + 13 + 1e-9 for _, top in spans)


@given(st.lists(st.tuples(st.floats(0, NARROW), st.sampled_from(["limit 6 days", "60 a day"]))))
def test_labels_above_the_plot_never_cover_each_other(marks: list[tuple[float, str]]) -> None:
    places = rows([x for x, _ in marks], [text for _, text in marks], overhang=38)
    boxes = [
        Box(x + p.shift - width_of(t) / 2, p.row * LINE, x + p.shift + width_of(t) / 2,
            (p.row + 1) * LINE)
        for (x, t), p in zip(marks, places, strict=True)
    ]  # fmt: skip
    assert not [1 for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
    assert all(box.left >= -38.001 and box.right <= NARROW + 38.001 for box in boxes)


@given(st.lists(st.tuples(st.floats(10, NARROW - 10), st.floats(10, 262)), max_size=4, unique=True))
def test_labels_of_up_to_four_points_do_not_cover_each_other(
    points: list[tuple[float, float]],
) -> None:
    texts = ["your plan", "Lab Manager's offer", "least loss", "point"][: len(points)]
    boxes = []
    for (x, y), text, chip in zip(points, texts, beside(points, texts, 272), strict=True):
        half = width_of(text) / 2
        middle = x + chip.right
        low = y + chip.up - LINE / 2
        boxes.append(Box(middle - half, low, middle + half, low + LINE))
    assert not [1 for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
