"""The charts of region and frontier, and the places of their labels."""

import json
from functools import cache
from itertools import combinations, pairwise
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import Assessment, assess
from replicalab.facts.region_facts import BALANCED, LEAST_LOSS, OFFER, YOUR_PLAN
from replicalab.models import revise
from replicalab.planner import PlanAnalysis, RegionLimit, least_to_draw, plan_to_draw
from replicalab.planner.region import Region, region
from replicalab.render.figures import Mark, frontier_figure, placing, region_figure, spot_of
from replicalab.render.figures.power import LOOKS
from replicalab.render.figures.region_map import CAPS, COLOURS
from replicalab.render.figures.sheet import INK, PAPER
from replicalab.scenarios import load_scenario
from tests.golden import assert_golden
from tests.render.reading import described, labels, named
from tests.test_theme import MARK_CONTRAST, TEXT_CONTRAST, THEMES, contrast, theme
from tests.tiers import EVERY_LAB

LIMITS: Final[dict[str, str]] = {constraint: f"the {constraint}" for constraint in RegionLimit}
TITLE: Final = ("The region", "with 3,700 credits")


@cache
def opened(study: str = "fin_momentum", lab: str = "medium") -> PlanAnalysis:
    pack = load_scenario(study, lab)
    return PlanAnalysis(assess(pack.reference_protocol, pack))


@cache
def there(study: str = "fin_momentum", lab: str = "medium") -> Region:
    analysis = opened(study, lab)
    return region(plan_to_draw(analysis), [analysis.yours])


def marks_of(**plans: Assessment) -> list[Mark]:
    analysis = opened()
    named = plans or {
        YOUR_PLAN: analysis.yours,
        OFFER: analysis.offered,
        LEAST_LOSS: analysis.least.after,
    }
    return [Mark(name, plan, name, plan.evidence.number) for name, plan in named.items()]


def drawn(marks: list[Mark] | None = None, study: str = "fin_momentum", **how: bool) -> go.Figure:
    marks = marks_of() if marks is None else marks
    return region_figure(there(study), marks, LIMITS, TITLE, **how).figure


def test_region_chart_shows_the_evidence_of_the_region() -> None:
    result, heat = there(), drawn().data[0]
    assert heat.type == "heatmap"
    assert list(heat.x) == list(result.days)
    assert list(heat.y) == list(result.samples)
    values = np.array([[np.nan if v is None else v for v in row] for row in heat.z])
    np.testing.assert_allclose(values, result.evidence, atol=5e-5)


def sharing() -> go.Figure:
    yours, far = opened().yours, there().drawn.at(5000, 195)
    lean = assess(revise(yours.plan, controls=[]), yours.pack)
    return drawn([
        Mark(YOUR_PLAN, yours, "mine*", "0.9"),
        Mark(OFFER, yours, "offer", "0.8"),
        Mark(LEAST_LOSS, yours, "least", "0.8"),
        Mark(BALANCED, lean, "lean", "0.8"),
        Mark(BALANCED, far, "far", "0.1"),
    ])  # fmt: skip


def test_charts_read_as_pinned() -> None:
    charts = {
        "the region": drawn(),
        "lost samples": drawn(lost=True),
        "plans at one place share a label": sharing(),
        "less is better": drawn([], "phys_millikan"),
        "the frontier": frontier_drawn(),
        "the frontier where less is better": frontier_drawn("phys_millikan"),
    }
    texts = (f"=== {name} ===\n{described(chart)}" for name, chart in charts.items())
    assert_golden("charts_of_tradeoffs", "\n".join(texts))
    for chart in charts.values():
        visible = json.loads(chart.to_json())
        checked = json.loads(go.Figure(visible).to_json())  # here, not while it is built
        assert {**checked["layout"], "template": "none"} == visible["layout"]
        assert checked["data"] == visible["data"]


def tag_of(figure: go.Figure, text: str) -> Any:
    [tag] = [tag for tag in figure.layout.annotations if tag.text == text]
    return tag


def lines_of(figure: go.Figure) -> dict[str, go.Scatter]:
    return {trace.name: trace for trace in figure.data if trace.name in LIMITS.values()}


@pytest.mark.parametrize("lost", [False, True])
def test_region_chart_names_each_limit_once(lost: bool) -> None:
    figure = drawn(lost=lost)
    for name, line in lines_of(figure).items():
        assert tag_of(figure, name).bgcolor == line.line.color
    colours = [line.line.color for line in lines_of(figure).values()]
    assert len(set(colours)) == len(colours)
    casing = named(figure, "casing")
    assert casing.line.color == PAPER
    for line in lines_of(figure).values():
        assert casing.line.width > line.line.width
        assert {*zip(line.x, line.y, strict=True)} <= {*zip(casing.x, casing.y, strict=True)}
    dashes = {name: line.line.dash for name, line in lines_of(figure).items()}
    caps = {LIMITS[limit] for limit in CAPS}
    assert {name for name, dash in dashes.items() if dash != "solid"} == caps & {*dashes}


def test_misfits_are_hatched_and_lost_samples_dotted() -> None:
    hatched = named(drawn(), "does not fit")
    assert hatched.fillpattern.shape == "/"
    corners = set(zip(hatched.x, hatched.y, strict=True))
    assert {(4.5, 300.5), (5.5, 300.5)} <= corners  # five days hold 300 samples
    assert "fits, but lost" not in [trace.name for trace in drawn().data]
    dotted = named(drawn(lost=True), "fits, but lost")
    assert dotted.fillpattern.shape == "."
    assert (3.5, 180.5) in set(zip(dotted.x, dotted.y, strict=True))  # 60 a day


def test_colours_have_contrast_in_both_themes() -> None:
    for colour in (*COLOURS.values(), *(colour for colour, _ in LOOKS), INK):
        assert contrast(colour, "#FFFFFF") >= TEXT_CONTRAST
        for name in THEMES if colour != INK else ():  # ink has a casing on the dark page
            assert contrast(colour, theme(name)["backgroundColor"]) >= MARK_CONTRAST
    shades = [contrast(shade, "#FFFFFF") for _, shade in drawn().data[0].colorscale]
    assert shades == sorted(shades), "better evidence is darker"


def test_points_to_click_describe_their_plans() -> None:
    result, points = there(), named(drawn(), "points")
    assert len(points.x) <= 24 * 30
    assert set(points.x) <= set(result.days.tolist())
    assert set(points.y) <= set(result.samples.tolist())
    assert points.marker.opacity == 0
    assert points.marker.maxdisplayed == 1
    for days, samples, text in list(zip(points.x, points.y, points.customdata, strict=True))[::37]:
        plan = result.drawn.at(int(days), int(samples))
        fits = "fits" if plan.feasible else "does not fit"
        assert text == f"{plan.evidence.text}<br>{plan.cost:,.0f} credits, {fits}"


def test_spot_has_the_place_of_its_plan() -> None:
    spot, figure = spot_of(there(), 4, 195), drawn()
    assert spot is not None
    (rest, right), (bottom, top) = figure.layout.xaxis.range, figure.layout.yaxis.range
    assert rest + spot[0] * (right - rest) == pytest.approx(4)
    assert bottom + spot[1] * (top - bottom) == pytest.approx(195)
    assert spot_of(there(), 5000, 195) is None


@pytest.mark.parametrize("lost", [False, True])
def test_labels_over_and_within_a_chart_agree(lost: bool) -> None:
    chart = region_figure(there(), marks_of(), LIMITS, TITLE, lost=lost, labelled=False)
    figure, tags, room = chart
    within = drawn(lost=lost)
    assert not figure.layout.annotations
    assert figure.data == within.data
    margin = within.layout.margin
    height = within.layout.height - margin.t - margin.b
    assert room == {"left": margin.l, "right": margin.r, "below": margin.b, "height": height}
    (rest, right), (bottom, top) = within.layout.xaxis.range, within.layout.yaxis.range
    for tag, written in zip(tags, within.layout.annotations, strict=True):
        assert (tag.text, tag.right, tag.above) == (written.text, *apart(written))
        assert (tag.ground, tag.ink) == (written.bgcolor, written.font.color)
        assert rest + tag.across * (right - rest) == pytest.approx(written.x)
        assert bottom + tag.up * (top - bottom) == pytest.approx(written.y)


def frontier_drawn(study: str = "fin_momentum") -> go.Figure:
    analysis = opened(study)
    assert analysis.balanced is not None
    marks = [
        (YOUR_PLAN, analysis.yours),
        (LEAST_LOSS, analysis.least.after),
        (BALANCED, analysis.balanced),
    ]
    return frontier_figure(analysis.frontier, marks_of(**dict(marks)), ("Evidence for credits", ""))


def test_frontier_has_a_line_per_fidelity_loss() -> None:
    figure, frontier = frontier_drawn(), opened().frontier
    assert len(frontier.lines) > 1
    for line in frontier.lines:
        trace = named(figure, f"fidelity loss {line.loss}")
        pairs = list(zip(trace.x, trace.y, strict=True))
        names = [(plan.credits, plan.value) for plan in line.plans]
        assert set(pairs) <= set(names)
        assert (pairs[0], pairs[-1]) == (names[0], names[-1])
        assert len(pairs) == min(len(names), 40)
        assert tag_of(figure, f"loss {line.loss}").bgcolor == trace.line.color
    dashes = [trace.line.dash for trace in figure.data if trace.name.startswith("fidelity")]
    assert len(set(dashes)) == len(dashes)
    assert not figure.layout.showlegend


HEIGHTS: Final = st.floats(12, placing.PLOT - 12)
NAMES: Final = ("your plan 0.86", "Lab Manager's offer 0.58", "least loss 0.69")


def overlap(one: placing.Box, other: placing.Box) -> bool:
    across = one.left < other.right and other.left < one.right
    return across and one.bottom < other.top and other.bottom < one.top


@given(st.lists(st.tuples(st.floats(0.03, 0.97), HEIGHTS), max_size=3, unique=True))
def test_labels_are_at_marks_and_apart(points: list[tuple[float, float]]) -> None:
    marks = [placing.LabelPlace(*point) for point in points]
    named = [*zip(points, NAMES, strict=False)]
    wanted = [placing.LabelRequest(text, placing.around(text, *at)) for at, text in named]
    places = placing.arrange(wanted, marks)
    boxes = [request.boxes(place) for place, request in zip(places, wanted, strict=True)]
    for on_a_screen in zip(*boxes, strict=True):
        assert not any(overlap(one, other) for one, other in combinations(on_a_screen, 2))
    # No further than its own length aside, or two lines up.
    assert all(abs(place.right) <= 110 and abs(place.up) <= 42 for place in places)


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_labels_of_shipped_studies_are_close(study: str, lab: str) -> None:
    analysis = opened(study, lab)
    draw = least_to_draw(analysis, plan_to_draw(analysis))
    for item in (plan_to_draw(analysis), *([draw] if draw else [])):
        plans = {
            YOUR_PLAN: analysis.yours,
            OFFER: analysis.offered,
            LEAST_LOSS: analysis.least.after,
        }
        shown = region(item, list(plans.values()))
        chart = region_figure(shown, marks_of(**plans), LIMITS, TITLE, lost=True).figure
        lines = [trace for trace in chart.data if trace.name in labels(chart)]
        for tag in chart.layout.annotations:
            right, up = apart(tag)
            assert abs(right) <= 180, tag.text
            assert abs(up) <= 42, tag.text
        for line in lines:
            tag = tag_of(chart, line.name)
            assert on_a_line(tag.x, tag.y, list(zip(line.x, line.y, strict=True))), tag.text


def apart(tag: Any) -> tuple[float, float]:
    return (tag.ax, -tag.ay) if tag.showarrow else (tag.xshift, tag.yshift)


def on_a_line(x: float, y: float, corners: list[tuple[float | None, float | None]]) -> bool:
    for (x0, y0), (x1, y1) in pairwise(corners):
        if x0 is None or y0 is None or x1 is None or y1 is None:
            continue
        across = min(x0, x1) - 1e-6 <= x <= max(x0, x1) + 1e-6
        if across and min(y0, y1) - 1e-6 <= y <= max(y0, y1) + 1e-6:
            return True
    return False
