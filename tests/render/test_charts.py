"""Charts of power, of a negotiation and of a batch."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import plotly.graph_objects as go
import pytest

from replicalab.assessment import Assessment, assess
from replicalab.designs import KINDS
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.curves import Curves
from replicalab.render import figures
from replicalab.scenarios import Difficulty, Pack, load_scenario
from tests.designs.examples import design_of
from tests.factories import make_design, make_pack, make_protocol
from tests.golden import assert_golden
from tests.render.reading import described, named

TITLE: Final = ("What 420 samples show", "planned, at an assumed Cohen's d of 0.131")
Draw = Callable[[Curves, tuple[str, str]], go.Figure]
OVER_EFFECT: Final[list[Draw]] = [figures.evidence_by_effect, figures.samples_by_effect]


def shipped(study: str = "fin_momentum") -> Curves:
    pack = load_scenario(study, Difficulty.MEDIUM)
    return Curves(assess(pack.reference_protocol, pack))


def of(plan: Protocol, pack: Pack, **changes: object) -> Curves:
    return Curves(assess(revise(plan, **changes), pack))


def test_charts_read_as_pinned() -> None:
    momentum, reef = (load_scenario(study, "easy") for study in ("fin_momentum", "eco_reef_fish"))
    curves = {
        "momentum": shipped(),
        "a narrower interval is better": shipped("phys_millikan"),
        "more than can count": of(reef.reference_protocol, reef, sample_size=400),
        "no endpoint": of(momentum.reference_protocol, momentum, duration_days=2),
        "more fits than is drawn": of(make_protocol(sample_size=20), make_pack(budget=1e6)),
        "nothing fits": of(make_protocol(), make_pack(budget=1)),
    }
    texts = [
        f"=== {name}, {draw.__name__} ===\n{described(draw(curve, TITLE))}"
        for name, curve in curves.items()
        for draw in (figures.evidence_by_samples, *(OVER_EFFECT if name == "momentum" else ()))
    ]
    texts += [f"=== {name} ===\n{described(drawn)}" for name, drawn in NEGOTIATED.items()]
    assert_golden("charts", "\n".join(texts))


def test_module_of_a_chart_loads_no_other_chart() -> None:
    of_map = "replicalab.render.figures.region_map"
    code = f"import sys, {of_map}; print('replicalab.render.figures.power' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False", "two threads that load charts could wait for each other"


def test_curves_are_those_of_the_core() -> None:
    curves = shipped()
    for draw, points in (
        (figures.evidence_by_samples, curves.over_samples),
        (figures.evidence_by_effect, curves.over_effects),
        (figures.samples_by_effect, curves.samples_over_effects),
    ):
        curve = named(draw(curves, TITLE), "curve")
        assert list(zip(curve.x, curve.y, strict=True)) == [*points]
    plan = named(figures.evidence_by_samples(curves, TITLE), "plans")
    assert (list(plan.x), list(plan.y)) == ([420], [curves.plan.evidence.value])


@pytest.mark.parametrize("kind", KINDS)
def test_chart_of_every_kind_is_valid(kind: str) -> None:
    curves = of(make_protocol(sample_size=60), make_pack(design=design_of(kind, dropout=0.1)))
    charts: list[Draw] = [figures.evidence_by_samples, *(OVER_EFFECT if curves.effects else [])]
    for draw in charts:
        figure = draw(curves, TITLE)
        go.Figure(json.loads(figure.to_json()))  # checks every name and value
        assert len(named(figure, "curve").x) >= 2
        assert len(named(figure, "curve").customdata) == len(named(figure, "curve").x)


def round_of(samples: int, days: int = 5, **design: object) -> Assessment:
    pack = make_pack(budget=1000.0, days=5, staff=4, design=make_design(**design))
    return assess(make_protocol(sample_size=samples, duration_days=days), pack)


PRECISE: Final[dict[str, Any]] = {
    "kind": "precision", "effect_published": None, "effect_planning": 0.1, "sesoi": None,
    "target": 0.015, "floor": 0.025,
}  # fmt: skip
JQ1: Final = load_scenario("bio_jq1_myeloma", "medium")
OVER: Final = assess(revise(JQ1.reference_protocol, duration_days=28), JQ1)  # 2,490 of 2,480
ROUNDS: Final = ((1, round_of(60, days=10)), (2, round_of(40)), (4, round_of(0)))
CHART: Final = figures.convergence_chart(ROUNDS)
NEGOTIATED: Final = {
    "three rounds": CHART,
    "a round": figures.convergence_chart(ROUNDS[:1]),
    "what stays is no change": figures.convergence_chart(
        [(1, round_of(60)), (2, round_of(60, days=4))]
    ),
    "a little over is not rounded to all there is": figures.convergence_chart([(1, OVER)]),
    "far over": figures.convergence_chart([(1, round_of(900))]),
    "lower is better": figures.convergence_chart(
        [(1, round_of(60, **PRECISE)), (2, round_of(0, **PRECISE))]
    ),
}
RESOURCES: Final = {
    "budget": Dimension.BUDGET, "days": Dimension.SCHEDULE, "staff": Dimension.STAFF
}  # fmt: skip


def test_resources_and_evidence_are_lines_over_rounds() -> None:
    lines = {line.name: line for line in CHART.data}
    assert list(lines) == [*RESOURCES, "power"]
    assert all(tuple(line.x) == (1, 2, 4) for line in lines.values())
    for name, dimension in RESOURCES.items():
        assert lines[name].y == tuple(plan.slack[dimension].use for _, plan in ROUNDS)
    assert lines["budget"].y == (1.5, 1.05, 0.65)
    assert lines["days"].y == (2.0, 1.0, 1.0)
    assert lines["power"].y == tuple(plan.evidence.value for _, plan in ROUNDS)

    looks = {(lines[name].line.dash, lines[name].marker.symbol) for name in RESOURCES}
    assert len(looks) == 3, "they differ by more than their colour"
    assert lines["power"].marker.symbol == ("circle", "circle", "x")


def test_heatmap_has_shares_and_safe_names() -> None:
    shares: list[list[float | None]] = [[1.0, 0.5], [None, 0.0]]
    text = [["a", "b"], ["", "c"]]
    drawn = figures.outcomes_figure(["one", "two"], ["easy", "hard"], shares, text, "T")
    cells = [(cell.text, cell.x, cell.y) for cell in drawn.layout.annotations]
    rows = ("1. one", "1. one", "2. two")
    assert cells == [*zip(("100%", "50%", "0%"), ("easy", "hard", "hard"), rows, strict=True)]
    assert [*map(list, drawn.data[0].z)] == shares
    go.Figure(drawn.to_dict())  # every name in it is one of plotly's
    name = f"<a href='x'>{'y' * 100}"
    heat = figures.outcomes_figure([name], ["easy"], [[0.2]], [["<b>"]], "T").data[0]
    lines = heat.y[0].split("<br>")
    assert "<" not in "".join([*lines, heat.text[0][0]])
    assert ("".join(lines).count("y"), max(map(len, lines)) < 40) == (100, True)
