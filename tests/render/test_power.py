"""The curves of power analysis as charts: they draw what is known, and name what they draw."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import plotly.graph_objects as go
import pytest

from replicalab.assessment import assess
from replicalab.models import revise
from replicalab.planner.curves import Curves
from replicalab.render.figures import (
    YOUR_PLAN,
    evidence_by_effect,
    evidence_by_samples,
    samples_by_effect,
)
from replicalab.scenarios import DesignKind, Difficulty, load_scenario
from tests.factories import make_pack, make_protocol
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
