"""Every picture at the ends of the valid numbers: its size stays bounded."""

import math
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from random import Random
from typing import Any, Final

import plotly.graph_objects as go
import pytest
from pydantic import BaseModel, ValidationError

from replicalab.assessment import assess
from replicalab.designs import KINDS, PARAMETERS
from replicalab.facts.region_facts import LEAST_LOSS, OFFER, YOUR_PLAN
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis, RegionLimit, plan_to_draw
from replicalab.planner.curves import Curves
from replicalab.planner.region import region
from replicalab.render import figures
from replicalab.render.figures import Mark
from replicalab.scenarios import MOST, CostModel, Design, Lab, StaffModel, Throughput
from tests.designs.examples import design_of
from tests.factories import EQUIPMENT, make_pack, make_protocol, make_throughput
from tests.tiers import batches

MOST_NUMBERS: Final = 15_000  # and texts of a figure: the region has a map of 60 × 120
MOST_BYTES: Final = 8 * 2**20  # of memory while a figure is made
TITLE: Final = ("A title", "and its assumptions")
LIMITS: Final[dict[str, str]] = {constraint: f"the {constraint}" for constraint in RegionLimit}

_LEAST: Final = 5e-324


def _ends(model: type[BaseModel]) -> dict[str, tuple[Any, ...]]:
    record: dict[str, tuple[Any, ...]] = {}
    for name, field in model.model_json_schema()["properties"].items():
        for rules in (field, *field.get("anyOf", ())):
            if rules.get("type") == "integer":
                record[name] = (rules["minimum"], rules.get("maximum", MOST))
            elif rules.get("type") == "number":
                below = rules.get("exclusiveMaximum")
                limit = rules.get("maximum", MOST) if below is None else math.nextafter(below, 0.0)
                record[name] = (*{rules.get("minimum", _LEAST), _LEAST}, float(limit))
    return record


ENDS: Final = {
    model: _ends(model) for model in (Design, Lab, CostModel, StaffModel, Throughput, Protocol)
}
ENDS[Design]["alpha"] = (_LEAST, 0.5)  # a higher one is refused
ENDS[Lab]["prices"] = ({EQUIPMENT[0]: 0.0}, {EQUIPMENT[0]: float(MOST)})


Changes = Mapping[tuple[type[BaseModel], str], Any]
"""Changes of the usual study, lab and plan, by model and field."""


def options_of(kind: str, changes: Changes) -> PlanAnalysis | None:
    parts: dict[type[BaseModel], dict[str, Any]] = {model: {} for model in ENDS}
    for (model, name), value in changes.items():
        parts[model][name] = value
    if day := parts[Throughput]:
        parts[Lab]["samples_per_day"] = make_throughput(**day)
    numbers = parts[Design]
    bounds = [numbers[name] for name in ("target", "floor") if name in numbers]
    equal = dict.fromkeys(("target", "floor"), bounds[0]) if bounds else {}
    for record in (numbers, {**numbers, **equal}):
        try:
            design = Design.model_validate(dict(design_of(kind, **record)))
        except ValidationError:
            continue
        costs, staff = CostModel(**parts[CostModel]), StaffModel(**parts[StaffModel])
        pack = make_pack(design=design, cost_model=costs, staff_model=staff, **parts[Lab])
        return PlanAnalysis(assess(make_protocol(**parts[Protocol]), pack))
    return None


def _changes() -> Iterator[Changes]:
    yield {}
    for model, numbers in ENDS.items():
        for name, ends in numbers.items():
            for end in ends:
                yield {(model, name): end}


def _mixed(seed: int) -> tuple[str, Changes]:
    # A third of the numbers are at an end.
    rng = Random(seed)
    # The exact power of a correlation takes seconds at the ends: its cases have one end each.
    row = KINDS[rng.choice([kind for kind in KINDS if kind != "correlation"])]
    every = [
        (model, name, ends)
        for model, of in ENDS.items()
        for name, ends in of.items()
        if model is not Design or name not in PARAMETERS or row.uses(name)
    ]
    chosen = [item for item in every if rng.random() < 1 / 3]
    return row.kind, {(model, name): rng.choice(ends) for model, name, ends in chosen}


Figures = Iterator[tuple[str, Callable[[], go.Figure]]]


def _figures(here: PlanAnalysis | None) -> Figures:
    if here is None:
        return
    yours, curves = here.yours, Curves(here.yours)
    plans = {YOUR_PLAN: yours, OFFER: here.offered, LEAST_LOSS: here.least.after}
    marks = [Mark(name, plan, name, plan.evidence.number) for name, plan in plans.items()]
    drawn = plan_to_draw(here)

    def over(effect: float | None, **how: bool) -> go.Figure:
        shown = region(drawn, [*plans.values()], effect)
        chart = figures.region_figure(shown, marks, LIMITS, TITLE, **how)
        assert len(chart.tags) < 30
        return chart.figure

    yield "region_figure", lambda: over(None, lost=True)
    assumed = [item.effect for item in curves.effects]
    yield "region without labels", lambda: over(assumed[-1] if assumed else None, labelled=False)
    if here.frontier.plans:
        yield "frontier_figure", lambda: figures.frontier_figure(here.frontier, marks, TITLE)
    yield "evidence_by_samples", lambda: figures.evidence_by_samples(curves, TITLE)
    if curves.effects:
        yield "evidence_by_effect", lambda: figures.evidence_by_effect(curves, TITLE)
        yield "samples_by_effect", lambda: figures.samples_by_effect(curves, TITLE)
    yield "convergence_chart", lambda: figures.convergence_chart([*enumerate(plans.values(), 1)])


def _numbers_in(part: object) -> int:
    inside = part.values() if isinstance(part, Mapping) else part
    if isinstance(inside, str) or not isinstance(inside, Iterable):
        return 1
    return sum(map(_numbers_in, inside))


def is_bounded(kind: str, changes: Changes) -> bool:
    here = options_of(kind, changes)
    if here is None:
        return False
    drawings = [*_figures(here)]
    tracemalloc.start()
    try:
        for name, draw in drawings:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            figure = draw()
            _, limit = tracemalloc.get_traced_memory()
            assert limit - before < MOST_BYTES, (name, kind, changes)
            assert _numbers_in(figure.to_plotly_json()) < MOST_NUMBERS, (name, kind, changes)
    finally:
        tracemalloc.stop()
    return True


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    for _, draw in _figures(options_of("two_group", {})):
        draw()


UNBOUNDED: Final = "precision"  # its evidence has no largest value: more cases


@pytest.mark.parametrize(
    ("kind", "every"),
    [
        (UNBOUNDED, 40),
        *(
            pytest.param(kind, 15 if kind == UNBOUNDED else 30, marks=pytest.mark.long)
            for kind in KINDS
        ),
    ],
)
def test_pictures_at_one_end_are_bounded(kind: str, every: int) -> None:
    cases = islice(_changes(), 0, None, every)
    assert sum(is_bounded(kind, changes) for changes in cases) > 50 / every


@pytest.mark.parametrize("seeds", batches(30, quick=2, long=1))
def test_pictures_at_many_ends_are_bounded(seeds: range) -> None:
    assert sum(is_bounded(*_mixed(seed)) for seed in seeds) > len(seeds) / 10
