"""Charts of power, of a negotiation and of a batch: they draw what is known, and name it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import plotly.graph_objects as go
import pytest

from replicalab.assessment import Assessment, assess
from replicalab.models import Dimension, revise
from replicalab.planner.curves import Curves
from replicalab.render.figures import (
    YOUR_PLAN,
    convergence_chart,
    evidence_by_effect,
    evidence_by_samples,
    outcomes_figure,
    samples_by_effect,
)
from replicalab.scenarios import DesignKind, Difficulty, load_scenario
from tests.factories import make_design, make_pack, make_protocol
from tests.measures.designs import design_of

TITLE: Final = ("What 420 samples show", "planned, at an assumed Cohen's d of 0.131")
Draw = Callable[[Curves, tuple[str, str]], go.Figure]
OVER_EFFECT: Final[list[Draw]] = [evidence_by_effect, samples_by_effect]


def shipped(study: str = "fin_momentum") -> Curves:
    pack = load_scenario(study, Difficulty.MEDIUM)
    return Curves(assess(pack.reference_protocol, pack))


def of_kind(kind: DesignKind) -> Curves:
    pack = make_pack(design=design_of(kind, dropout=0.1))
    return Curves(assess(make_protocol(sample_size=60), pack))


def labels(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def trace(figure: go.Figure, name: str) -> go.Scatter:
    return next(each for each in figure.data if each.name == name)


def test_evidence_over_samples_draws_the_curve_the_bounds_and_what_fits_the_lab() -> None:
    found = shipped()
    figure = evidence_by_samples(found, TITLE)
    curve = trace(figure, "curve")
    assert list(zip(curve.x, curve.y, strict=True)) == [*found.over_samples]
    assert {"target 0.80", "floor 0.50", "285 fit this lab"} <= set(labels(figure))
    assert list(trace(figure, "285 fit this lab").x) == [285, 285]
    assert list(trace(figure, "target 0.80").y) == [0.8, 0.8]
    plan = trace(figure, "plans")
    assert (list(plan.x), list(plan.y)) == ([420], [found.plan.evidence.value])
    assert f"{YOUR_PLAN} 0.76" in labels(figure)
    assert figure.layout.title.text == TITLE[0]
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == (
        "samples planned",
        "power",
    )


def test_evidence_over_effect_marks_the_effects_worth_assuming() -> None:
    figure = evidence_by_effect(shipped(), TITLE)
    assert {"as published 0.95", "halved 0.44", "smallest of interest 0.45"} <= set(labels(figure))
    assert list(trace(figure, "noted").x) == [0.177, 0.0885, 0.09]
    assert figure.layout.xaxis.title.text == "Cohen's d"


def test_samples_over_effect_marks_what_the_target_takes_at_each() -> None:
    found = shipped()
    figure = samples_by_effect(found, TITLE)
    assert {"as published: 253", "285 fit this lab"} <= set(labels(figure))
    assert list(trace(figure, "285 fit this lab").y) == [285, 285]
    curve = trace(figure, "curve")
    assert list(zip(curve.x, curve.y, strict=True)) == [*found.samples_over_effects]


def test_narrower_interval_is_drawn_higher() -> None:
    bottom, top = evidence_by_samples(shipped("phys_millikan"), TITLE).layout.yaxis.range
    assert bottom > top == 0


@pytest.mark.parametrize("kind", DesignKind)
def test_chart_of_every_kind_is_one_that_plotly_takes(kind: DesignKind) -> None:
    found = of_kind(kind)
    charts: list[Draw] = [evidence_by_samples, *(OVER_EFFECT if found.effects else [])]
    for draw in charts:
        figure = draw(found, TITLE)
        go.Figure(json.loads(figure.to_json()))  # checks every name and value
        assert len(trace(figure, "curve").x) >= 2
        assert len(trace(figure, "curve").customdata) == len(trace(figure, "curve").x)


def test_own_mark_stands_on_the_curve_beyond_what_can_count() -> None:
    reef = load_scenario("eco_reef_fish", Difficulty.EASY)
    found = Curves(assess(revise(reef.reference_protocol, sample_size=400), reef))
    figure = evidence_by_samples(found, TITLE)
    [x], [y] = trace(figure, "plans").x, trace(figure, "plans").y
    curve = trace(figure, "curve")
    assert dict(zip(curve.x, curve.y, strict=True))[x] == y == found.plan.evidence.value
    assert list(trace(figure, "160 can count").x) == [160, 160]


def test_plan_without_an_endpoint_has_no_curve_and_says_that_it_shows_nothing() -> None:
    momentum = load_scenario("fin_momentum", Difficulty.MEDIUM)
    found = Curves(assess(revise(momentum.reference_protocol, duration_days=2), momentum))
    for draw in (evidence_by_samples, evidence_by_effect):
        assert len(trace(draw(found, TITLE), "curve").x) == 0
        assert f"{YOUR_PLAN} no evidence" in labels(draw(found, TITLE))


def test_largest_sample_that_lies_outside_or_does_not_exist_is_no_line() -> None:
    rich = Curves(assess(make_protocol(sample_size=20), make_pack(budget=1e6)))
    poor = Curves(assess(make_protocol(), make_pack(budget=1)))
    assert (rich.largest or 0) > rich.most_samples
    assert poor.largest is None
    for found in (rich, poor):
        assert not any("this lab" in text for text in labels(evidence_by_samples(found, TITLE)))


# --- how a negotiation converges --------------------------------------------------------------


def round_of(samples: int, days: int = 5, **design: object) -> Assessment:
    """Return a plan of 650 credits and 10 a sample, in a lab of 1,000 credits and 5 days."""
    pack = make_pack(budget=1000.0, days=5, staff=4, design=make_design(**design))
    return assess(make_protocol(sample_size=samples, duration_days=days), pack)


ROUNDS: Final = ((1, round_of(60, days=10)), (2, round_of(40)), (4, round_of(0)))
CHART: Final = convergence_chart(ROUNDS)
RESOURCES: Final = {
    "budget": Dimension.BUDGET, "days": Dimension.SCHEDULE, "staff": Dimension.STAFF
}  # fmt: skip


def title_of(figure: go.Figure) -> str:
    return str(figure.layout.title.text).replace("\u00a0", " ").replace("<br>", " ")


def test_each_resource_and_the_evidence_is_a_line_over_the_rounds() -> None:
    lines = {line.name: line for line in CHART.data}
    assert list(lines) == [*RESOURCES, "power"]
    assert all(tuple(line.x) == (1, 2, 4) for line in lines.values())
    for name, dimension in RESOURCES.items():
        assert lines[name].y == tuple(each.slack[dimension].use for _, each in ROUNDS)
    assert lines["budget"].y == (1.5, 1.05, 0.65)
    assert lines["days"].y == (2.0, 1.0, 1.0)
    assert lines["power"].y == tuple(each.evidence.value for _, each in ROUNDS)

    looks = {(lines[name].line.dash, lines[name].marker.symbol) for name in RESOURCES}
    assert len(looks) == 3, "they differ by more than their colour"
    assert lines["power"].marker.symbol == ("circle", "circle", "x")


def test_limits_stand_as_lines_with_their_names_each_in_a_panel_of_its_own() -> None:
    levels = {(shape.yref, shape.y0) for shape in CHART.layout.shapes if shape.type == "line"}
    assert levels == {("y", 1), ("y2", 0.8), ("y2", 0.5)}
    assert labels(CHART) == ["all there is", "target 0.80", "floor 0.50"]
    assert {line.yaxis for line in CHART.data} == {"y", "y2"}
    assert CHART.layout.yaxis2.overlaying is None
    assert CHART.layout.yaxis.domain[0] > CHART.layout.yaxis2.domain[1]


def test_half_width_says_that_lower_is_better_and_void_stands_at_the_worst_end() -> None:
    precise: dict[str, Any] = {
        "kind": "precision", "effect_published": None, "effect_planning": 0.1, "sesoi": None,
        "target": 0.015, "floor": 0.025,
    }  # fmt: skip
    figure = convergence_chart([(1, round_of(60, **precise)), (2, round_of(0, **precise))])
    assert "lower is better" in figure.layout.yaxis2.title.text
    first, second = trace(figure, "half-width").y
    assert first == round_of(60, **precise).evidence.value
    assert second > max(first, 0.025)


def test_title_says_from_where_to_where() -> None:
    only = convergence_chart(ROUNDS[:1])
    assert title_of(CHART) == "Budget used 150 % → 65 %, power 0.93 → none"
    assert title_of(only) == "Budget used 150 %, power 0.93"
    same = convergence_chart([(1, round_of(60)), (2, round_of(60, days=4))])
    assert title_of(same) == "Budget used 125 % → 120 %, power 0.93", "what stays is no change"
    pack = load_scenario("bio_jq1_myeloma", "medium")
    over = assess(revise(pack.reference_protocol, duration_days=28), pack)
    assert (over.cost, pack.lab.budget) == (2490, 2480)
    told = title_of(convergence_chart([(1, over)]))
    assert told.startswith("Budget used over 100 %, power"), "it is not rounded to all there is"


def test_use_over_the_limit_stays_in_the_panel() -> None:
    assert convergence_chart([(1, round_of(900))]).layout.yaxis.range[1] > 9.5


# --- a batch ----------------------------------------------------------------------------------


def test_each_cell_that_was_played_holds_its_share_beside_a_short_name_without_markup() -> None:
    shares: list[list[float | None]] = [[1.0, 0.5], [None, 0.0]]
    told = [["a", "b"], ["", "c"]]
    drawn = outcomes_figure(["one", "two"], ["easy", "hard"], shares, told, "T")
    cells = [(each.text, each.x, each.y) for each in drawn.layout.annotations]
    assert cells == [
        ("100%", "easy", "1. one"),
        ("50%", "hard", "1. one"),
        ("0%", "hard", "2. two"),
    ]
    assert [*map(list, drawn.data[0].z)] == shares
    go.Figure(drawn.to_dict())  # every name in it is one of plotly's
    name = f"<a href='x'>{'y' * 100}"
    heat = outcomes_figure([name], ["easy"], [[0.2]], [["<b>"]], "T").data[0]
    assert "<" not in heat.y[0] + heat.text[0][0]
    assert len(heat.y[0]) < 40
