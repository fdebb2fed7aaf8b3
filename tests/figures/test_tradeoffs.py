"""The region's and the frontier's charts: they draw what is known of the plans, labels apart."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import Assessment, assess
from replicalab.figures import (
    BALANCED,
    LEAST_LOSS,
    OFFER,
    POINT,
    YOUR_PLAN,
    frontier_figure,
    region_figure,
)
from replicalab.figures.placing import LINE, NARROW, PLOT, Box, beside, box_of, rows, spread
from replicalab.figures.sheet import PAPER, SYMBOLS
from replicalab.lexicon import plural
from replicalab.planner import Constraint, Options, worded
from replicalab.planner.region import Region, region
from replicalab.scenarios import load_scenario

LIMITS: Final = {constraint: f"the {constraint}" for constraint in Constraint}


@cache
def opened(study: str = "fin_momentum") -> Options:
    """Return what may be done about a study's reference protocol in its medium lab."""
    pack = load_scenario(study, "medium")
    return Options(assess(pack.reference_protocol, pack))


@cache
def there(study: str = "fin_momentum") -> Region:
    return region(worded(opened(study)), [opened(study).yours])


def plans_of(study: str = "fin_momentum") -> dict[str, Assessment]:
    found = opened(study)
    return {YOUR_PLAN: found.yours, OFFER: found.offered, LEAST_LOSS: found.least.after}


def drawn(
    plans: dict[str, Assessment] | None = None,
    limits: dict[Constraint, str] = LIMITS,
    study: str = "fin_momentum",
) -> go.Figure:
    return region_figure(there(study), plans or plans_of(study), limits, "What fits")


def named(figure: go.Figure, name: str) -> go.Scatter:
    return next(trace for trace in figure.data if trace.name == name)


def labels(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


# --- the region ---


def test_region_chart_shows_the_evidence_of_the_region() -> None:
    found, heat = there(), drawn().data[0]
    assert heat.type == "heatmap"
    assert list(heat.x) == list(found.days)
    assert list(heat.y) == list(found.samples)
    shown = np.array([[np.nan if v is None else v for v in row] for row in heat.z])
    np.testing.assert_allclose(shown, found.evidence, atol=5e-5)


def test_region_chart_marks_the_plans_with_symbols_of_their_own() -> None:
    plans = {**plans_of(), POINT: there().drawn.at(5, 100)}
    figure = drawn(plans)
    for name, plan in plans.items():
        trace = named(figure, name)
        assert (list(trace.x), list(trace.y)) == ([plan.counts.days], [plan.counts.samples])
        assert trace.marker.symbol == SYMBOLS[name]
        assert name in labels(figure)
    assert len(set(SYMBOLS.values())) == len(SYMBOLS)


def test_plans_of_the_same_numbers_share_a_label_and_none_outside_has_one() -> None:
    yours, far = opened().yours, there().drawn.at(5000, 195)
    found = labels(drawn({YOUR_PLAN: yours, LEAST_LOSS: yours, POINT: far}))
    assert "your plan = least loss" in found
    assert POINT not in found


def test_region_chart_labels_every_line_that_it_draws_and_no_other() -> None:
    figure = drawn()
    lines = {t.name for t in figure.data[1:] if t.mode == "lines" and t.name in LIMITS}
    assert lines == {"budget", "time limit", "endpoint", "throughput", "population"}
    assert {LIMITS[Constraint(name)] for name in lines} <= set(labels(figure))
    assert not {LIMITS[Constraint.STAFF], LIMITS[Constraint.STUDY]} & set(labels(figure))
    assert {"target 0.80", "floor 0.50"} <= set(labels(figure))


def test_lines_of_the_region_are_told_apart_in_greyscale() -> None:
    figure = drawn()
    names = [trace.name for trace in figure.data]
    dashes = [t.line.dash for t in figure.data[1:] if t.mode == "lines" and t.name in LIMITS]
    assert dashes.count("solid") == 2  # budget slopes, the time limit stands
    assert len(set(dashes)) == len(dashes) - 1
    for name in ("budget", "time limit", "endpoint", "throughput", "target 0.80"):
        line, casing = named(figure, name), named(figure, f"{name} casing")
        assert (list(casing.x), list(casing.y)) == (list(line.x), list(line.y))
        assert casing.line.width > line.line.width
        assert casing.line.color == PAPER
        assert names.index(f"{name} casing") < names.index(name)


def test_long_label_beside_the_plot_is_broken_into_lines() -> None:
    limits = {**LIMITS, Constraint.BUDGET: "at most 1,000,000 credits"}
    assert "at most<br>1,000,000<br>credits" in labels(drawn(limits=limits))


def test_what_does_not_fit_is_hatched_above_the_line() -> None:
    hatched = named(drawn(), "does not fit")
    assert hatched.fillpattern.shape == "/"
    corners = set(zip(hatched.x, hatched.y, strict=True))
    assert {(3.5, 195.5), (4.5, 195.5)} <= corners  # four days hold 195 samples


def test_points_to_click_lie_on_the_grid_are_few_and_say_what_is_there() -> None:
    found, points = there(), named(drawn(), "points")
    assert len(points.x) <= 24 * 30
    assert set(points.x) <= set(found.days.tolist())
    assert set(points.y) <= set(found.samples.tolist())
    assert points.marker.opacity == 0
    for days, samples, text in list(zip(points.x, points.y, points.customdata, strict=True))[::37]:
        plan = found.drawn.at(int(days), int(samples))
        fits = "fits" if plan.feasible else "does not fit"
        size = f"{samples:,} {plural('sample', samples)}, {days} {plural('day', days)}"
        assert text == f"{size}<br>{plan.evidence.text}<br>{plan.cost:,.0f} credits, {fits}"


# --- the frontier ---


def frontier_drawn(study: str = "fin_momentum") -> go.Figure:
    found, plans = opened(study), plans_of(study)
    del plans[OFFER]
    assert found.balanced is not None
    plans[BALANCED] = found.balanced
    return frontier_figure(found.frontier, plans, "Evidence for credits")


def test_frontier_draws_one_labelled_line_for_each_fidelity_loss() -> None:
    figure, found = frontier_drawn(), opened().frontier
    assert len(found.lines) > 1
    traces = [named(figure, f"fidelity loss {line.loss}") for line in found.lines]
    for trace, line in zip(traces, found.lines, strict=True):
        assert list(trace.x) == [plan.credits for plan in line.plans]
        assert list(trace.y) == [plan.value for plan in line.plans]
        assert f"loss {line.loss}" in labels(figure)
    assert len({(trace.marker.symbol, trace.line.dash) for trace in traces}) == len(traces)
    assert not figure.layout.showlegend


def test_frontier_marks_plans_budget_and_levels() -> None:
    figure, yours = frontier_drawn(), opened().yours
    mark = named(figure, YOUR_PLAN)
    assert (list(mark.x), list(mark.y)) == ([yours.cost], [yours.evidence.value])
    assert {"budget 2,600", "target 0.80", "floor 0.50", YOUR_PLAN, BALANCED} <= set(labels(figure))
    assert (2600.0, 0) in {(line.x0, line.y0) for line in figure.layout.shapes}
    low, high = figure.layout.xaxis.range
    assert low < opened().frontier.plans[0].credits
    assert high > yours.cost


@pytest.mark.parametrize(
    ("study", "less_is_better"), [("fin_momentum", False), ("phys_millikan", True)]
)
def test_better_evidence_is_darker_and_higher(study: str, less_is_better: bool) -> None:
    assert drawn(study=study).data[0].reversescale is less_is_better
    bottom, top = frontier_drawn(study).layout.yaxis.range
    assert (bottom > top) is less_is_better


@pytest.mark.parametrize("figure", [drawn(), frontier_drawn()], ids=["region", "frontier"])
def test_chart_has_a_title_and_units_on_both_axes(figure: go.Figure) -> None:
    assert figure.layout.title.text
    assert figure.layout.xaxis.title.text in ("days", "credits")
    assert figure.layout.yaxis.title.text in ("samples", "power")
    assert figure.to_json()


# --- where labels go ---


def apart(boxes: list[Box]) -> bool:
    return not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@given(st.lists(st.tuples(st.floats(0, PLOT), st.sampled_from([13.0, 26.0])), max_size=8))
def test_labels_beside_the_plot_keep_their_order_and_never_cover_each_other(
    wanted: list[tuple[float, float]],
) -> None:
    heights = [height for _, height in wanted]
    placed = spread([at for at, _ in wanted], heights)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i][0])
    for low, high in pairwise(order):
        assert placed[high] - placed[low] >= (heights[low] + heights[high]) / 2 - 1e-9
    for at, height in zip(placed, heights, strict=True):
        assert at + height / 2 <= PLOT + min(heights) / 2 + 1e-9


@given(st.lists(st.floats(0, PLOT), max_size=8))
def test_labels_of_one_line_beside_the_plot_stay_within_it(wanted: list[float]) -> None:
    assert all(0 <= at <= PLOT for at in spread(wanted, [13.0] * len(wanted)))


@given(st.lists(st.tuples(st.floats(0, NARROW), st.sampled_from(["limit 6 days", "60 a day"]))))
def test_labels_above_the_plot_never_cover_each_other(marks: list[tuple[float, str]]) -> None:
    places = rows([x for x, _ in marks], [text for _, text in marks])
    boxes = [
        box_of(text, x + shift, row * LINE)
        for (x, text), (shift, row) in zip(marks, places, strict=True)
    ]
    assert apart(boxes)
    assert all(box.left >= -38.001 and box.right <= NARROW + 38.001 for box in boxes)


@given(st.lists(st.tuples(st.floats(10, NARROW - 10), st.floats(10, 262)), max_size=4, unique=True))
def test_labels_of_up_to_four_points_do_not_cover_each_other(
    points: list[tuple[float, float]],
) -> None:
    texts = ["your plan", "Lab Manager's offer", "least loss", "point"][: len(points)]
    chips = zip(points, texts, beside(points, texts), strict=True)
    assert apart([box_of(text, x + right, y + up) for (x, y), text, (right, up) in chips])
