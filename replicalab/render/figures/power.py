"""The curves of power analysis, and the frontier of a lab's plans."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import plotly.graph_objects as go

from replicalab.assessment import Assessment, Evidence, place_of, size_text
from replicalab.facts.curves import able_text, fit_text
from replicalab.facts.frontier import ROOM, scale_end
from replicalab.facts.region import YOUR_PLAN
from replicalab.lexicon import count_text
from replicalab.planner import Frontier, FrontierPlan, LossLine
from replicalab.planner.curves import Curves, Point
from replicalab.render.figures import sheet as sheets
from replicalab.scenarios import Lab

_LARGEST: Final = "#B84E00"
# Colours of the lines of the lab's largest sample and budget, and of the countable samples.
_COUNTED: Final = "#007A80"
_WIDER: Final = 0.04


def evidence_by_samples(curves: Curves, title: tuple[str, str] | None) -> go.Figure:
    """Return the evidence over the samples planned, and the lab's largest sample."""
    sheet = _of_evidence(curves, (0.0, curves.most_samples * (1 + _WIDER)))
    sheet.draw(
        [*sheet.bounds(curves.plan.evidence), *_largest(sheet, curves), *_counted(sheet, curves)]
    )
    _draw_curve(sheet, curves.over_samples, [
        f"{count_text(n, 'sample')}: {_worth(curves, value)}" for n, value in curves.over_samples
    ])  # fmt: skip
    _mark(sheet, curves, lambda plan: (plan.counts.samples, _value(sheet, plan)))
    return sheet.evidence_figure(
        title, curves.plan.evidence, {"title": "samples planned", "tickformat": ","}
    )


def evidence_by_effect(curves: Curves, title: tuple[str, str] | None) -> go.Figure:
    """Return the evidence of the plan's samples over the effect; one is assumed."""
    sheet = _of_evidence(curves, _padded(*curves.span))
    sheet.draw(sheet.bounds(curves.plan.evidence))
    _draw_curve(sheet, curves.over_effects, [
        f"{_effect_name(curves)} {effect:.3g}: {_worth(curves, value)}"
        for effect, value in curves.over_effects
    ])  # fmt: skip
    _mark(sheet, curves, lambda plan: (curves.effects[0].effect, _value(sheet, plan)))
    values = dict(curves.over_effects)
    sheet.note([
        (f"{label} {curves.plan.evidence.amount(values[effect])}", (effect, values[effect]))
        for label, effect in curves.effects[1:] if effect in values
    ])  # fmt: skip
    return sheet.evidence_figure(title, curves.plan.evidence, {"title": _effect_name(curves)})


def samples_by_effect(curves: Curves, title: tuple[str, str] | None) -> go.Figure:
    """Return the fewest samples that reach the target over the effect; one is assumed."""
    values = [curves.effects[0].effect, *(point.x for point in curves.samples_over_effects)]
    sheet = sheets.Sheet(_padded(min(values), max(values)), (0.0, float(curves.highest_needed)))
    sheet.draw(_largest(sheet, curves, level=True))
    _draw_curve(sheet, curves.samples_over_effects, [
        f"{_effect_name(curves)} {effect:.3g}: {count_text(n, 'sample')}"
        for effect, n in curves.samples_over_effects
    ])  # fmt: skip
    _mark(sheet, curves, lambda plan: (curves.effects[0].effect, plan.counts.samples))
    needed = dict(curves.samples_over_effects)
    sheet.note([
        (f"{label}: {needed[effect]:,.0f}", (effect, needed[effect]))
        for label, effect in curves.effects if effect in needed
    ])  # fmt: skip
    return sheet.figure(
        title,
        sheets.room_at_the_left(f"{curves.highest_needed:,.0f}"),
        xaxis={"title": _effect_name(curves)},
        yaxis={"title": "samples for the target", "tickformat": ","},
    )


def _of_evidence(curves: Curves, across: sheets.Spot) -> sheets.Sheet:
    evidence = curves.plan.evidence
    end = scale_end(evidence)
    high = end if evidence.row.scale.lower_is_better else end * (1 + _WIDER)
    return sheets.evidence_sheet(across, evidence, high)


def _padded(low: float, high: float) -> sheets.Spot:
    pad = (high - low) * _WIDER or 1.0
    return low - pad, high + pad


def _effect_name(curves: Curves) -> str:
    effect = curves.plan.evidence.row.effect
    return effect.name if effect else ""


def _worth(curves: Curves, value: float) -> str:
    evidence = curves.plan.evidence
    return evidence.text_of(evidence.amount(value))


def _value(sheet: sheets.Sheet, plan: Assessment) -> float:
    return place_of(plan.evidence, sheet.y[0])


def _draw_curve(sheet: sheets.Sheet, points: Sequence[Point], hovers: Sequence[str]) -> None:
    pairs = [(at, text) for at, text in zip(points, hovers, strict=True) if sheet.holds(*at)]
    sheet.add(
        x=[x for (x, _), _ in pairs], y=[y for (_, y), _ in pairs], mode="lines", name="curve",
        line={"color": sheets.EVIDENCE, "width": 3}, customdata=[text for _, text in pairs],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def _largest(
    sheet: sheets.Sheet, curves: Curves, *, level: bool = False
) -> Sequence[sheets.ChartLine]:
    if curves.largest is None:
        return []
    at, (rest, right), (bottom, top) = curves.largest, sheet.x, sheet.y
    path: sheets.Path = [(rest, at), (right, at)] if level else [(at, bottom), (at, top)]
    inside = sheet.holds(*path[0]) if path[0] else False
    return [sheets.ChartLine(fit_text(at), path, _LARGEST)] if inside else []


def _counted(sheet: sheets.Sheet, curves: Curves) -> Sequence[sheets.ChartLine]:
    at, (bottom, top) = curves.most_counted, sheet.y
    if at is None or at == curves.largest or not sheet.holds(at, bottom):
        return []
    return [sheets.ChartLine(able_text(at), [(at, bottom), (at, top)], _COUNTED, "dot")]


def _mark(sheet: sheets.Sheet, curves: Curves, at: Callable[[Assessment], sheets.Spot]) -> None:
    plan = curves.plan
    number = plan.evidence.number
    if math.isfinite(at(plan)[1]):
        sheet.mark(
            [sheets.Mark(YOUR_PLAN, plan, YOUR_PLAN, number)], at, lambda *_: size_text(plan)
        )


# Colour and dash of the line of each fidelity loss; larger losses share the last ones.
LOOKS: Final = (
    ("#0072B2", "solid"),
    ("#806600", "dash"),
    ("#00795A", "dot"),
    ("#B5407E", "dashdot"),
    ("#5E6B78", "longdash"),
)
_MOST_POINTS: Final = 40  # of a line, evenly spaced


def frontier_figure(
    frontier: Frontier, marks: Sequence[sheets.Mark], title: tuple[str, str] | None
) -> go.Figure:
    """Return evidence against credits, a line for each fidelity loss; up is better."""
    evidence, lab, budget = marks[0].plan.evidence, frontier.pack.lab, frontier.pack.lab.budget
    scale, end = evidence.row.scale, scale_end(evidence)
    worst = end if scale.lower_is_better else 0.0

    def place(plan: Assessment) -> sheets.Spot:
        value = plan.evidence.value
        return plan.cost, value if math.isfinite(value) else worst

    spots = [place(mark.plan) for mark in marks]
    drawn = [plan for line in frontier.lines for plan in line.plans]
    costs = [budget, *(plan.credits for plan in drawn), *(cost for cost, _ in spots)]
    values = [
        evidence.target,
        evidence.floor,
        *(plan.value for plan in drawn),
        *(value for _, value in spots),
    ]
    pad = max(1.0, (max(costs) - min(costs)) * 0.08)
    top = min(max(values), end) * ROOM
    rest, right = min(costs) - pad, max(costs) + pad
    sheet = sheets.evidence_sheet((rest, right), evidence, top)
    upright: sheets.Path = [(budget, sheet.y[0]), (budget, sheet.y[1])]
    sheet.draw(
        [
            *reversed(sheet.bounds(evidence)),
            sheets.ChartLine(f"budget {budget:,.0f}", upright, _LARGEST),
        ]
    )
    for line in frontier.lines:
        _draw_line(sheet, line, evidence, lab)
    sheet.mark(marks, place, lambda cost, _: lab.money(round(cost)))
    xaxis = {"title": lab.currency, "tickformat": ",", "nticks": 6}
    return sheet.evidence_figure(title, evidence, xaxis)


def _draw_line(sheet: sheets.Sheet, line: LossLine, evidence: Evidence, lab: Lab) -> None:
    colour, dash = LOOKS[min(line.loss, len(LOOKS) - 1)]
    plans = _spaced(line.plans)
    path: sheets.Path = [(plan.credits, plan.value) for plan in plans]
    sheet.add(
        x=[plan.credits for plan in plans],
        y=[plan.value for plan in plans],
        customdata=[
            f"{count_text(plan.samples, 'sample')}, {count_text(plan.days, 'day')}"
            f"<br>{lab.money(plan.credits)}"
            f"<br>{evidence.text_of(evidence.amount(plan.value))}"
            for plan in plans
        ],
        mode="lines" if len(plans) > 1 else "markers",
        line={"color": colour, "width": 3, "dash": dash},
        marker={"color": colour, "size": 8},
        name=f"fidelity loss {line.loss}",
        hovertemplate="%{customdata}<extra></extra>",
    )
    sheet.name_line(f"loss {line.loss}", path if len(path) > 1 else path * 2, colour)


def _spaced(plans: Sequence[FrontierPlan]) -> list[FrontierPlan]:
    steps = min(len(plans), _MOST_POINTS) - 1
    return [plans[round(step * (len(plans) - 1) / max(1, steps))] for step in range(steps + 1)]
