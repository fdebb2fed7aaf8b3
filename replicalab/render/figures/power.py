"""The curves of power analysis, and the frontier of a lab's plans."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import plotly.graph_objects as go

from replicalab.assessment import Assessment, Evidence, place_of
from replicalab.facts.curve_facts import fit_text, usable_text
from replicalab.facts.frontier_facts import ROOM, scale_end
from replicalab.facts.region_facts import YOUR_PLAN
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
    evidence, counted = curves.plan.evidence, curves.most_counted
    sheet = _of_evidence(curves, (0.0, curves.most_samples * (1 + _WIDER)))
    limits = [*sheet.bounds(evidence), *_limit(sheet, curves.largest, fit_text, _LARGEST)]
    if counted != curves.largest:
        limits += _limit(sheet, counted, usable_text, _COUNTED, "dot")
    sheet.draw(limits)
    _draw_curve(
        sheet, curves, curves.over_samples,
        lambda n, value: f"{count_text(n, 'sample')}: {_worth(curves, value)}",
        lambda plan: (plan.counts.samples, place_of(plan.evidence, sheet.y[0])),
    )  # fmt: skip
    axis = {"title": "samples planned", "tickformat": ","}
    return sheet.evidence_figure(title, evidence, axis)


def evidence_by_effect(curves: Curves, title: tuple[str, str] | None) -> go.Figure:
    """Return the evidence of the plan's samples over the effect; one is assumed."""
    evidence, name = curves.plan.evidence, _effect_name(curves)
    sheet = _of_evidence(curves, _padded(*curves.span))
    sheet.draw(sheet.bounds(evidence))
    _draw_curve(
        sheet, curves, curves.over_effects,
        lambda effect, value: f"{name} {effect:.3g}: {_worth(curves, value)}",
        lambda plan: (curves.effects[0].effect, place_of(plan.evidence, sheet.y[0])),
    )  # fmt: skip
    values = dict(curves.over_effects)
    sheet.note([
        (f"{label} {evidence.format(values[effect])}", (effect, values[effect]))
        for label, effect in curves.effects[1:] if effect in values
    ])  # fmt: skip
    return sheet.evidence_figure(title, evidence, {"title": name})


def samples_by_effect(curves: Curves, title: tuple[str, str] | None) -> go.Figure:
    """Return the fewest samples that reach the target over the effect; one is assumed."""
    needed, name = dict(curves.samples_over_effects), _effect_name(curves)
    values = [curves.effects[0].effect, *needed]
    sheet = sheets.Sheet(_padded(min(values), max(values)), (0.0, float(curves.highest_needed)))
    sheet.draw(_limit(sheet, curves.largest, fit_text, _LARGEST, level=True))
    _draw_curve(
        sheet, curves, curves.samples_over_effects,
        lambda effect, n: f"{name} {effect:.3g}: {count_text(n, 'sample')}",
        lambda plan: (curves.effects[0].effect, plan.counts.samples),
    )  # fmt: skip
    sheet.note([
        (f"{label}: {needed[effect]:,.0f}", (effect, needed[effect]))
        for label, effect in curves.effects if effect in needed
    ])  # fmt: skip
    margin = sheets.room_at_the_left(f"{curves.highest_needed:,.0f}")
    yaxis = {"title": "samples for the target", "tickformat": ","}
    return sheet.figure(title, margin, xaxis={"title": name}, yaxis=yaxis)


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
    return evidence.text_of(evidence.format(value))


def _draw_curve(
    sheet: sheets.Sheet,
    curves: Curves,
    points: Sequence[Point],
    hover: Callable[[float, float], str],
    at: Callable[[Assessment], sheets.Spot],
) -> None:
    seen, plan = [point for point in points if sheet.holds(*point)], curves.plan
    sheet.add(
        x=[x for x, _ in seen], y=[y for _, y in seen], mode="lines", name="curve",
        line={"color": sheets.EVIDENCE, "width": 3}, customdata=[hover(*point) for point in seen],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    if math.isfinite(at(plan)[1]):
        mark = sheets.Mark(YOUR_PLAN, plan, YOUR_PLAN, plan.evidence.number)
        sheet.mark([mark], at, lambda *_: plan.size_text)


def _limit(
    sheet: sheets.Sheet,
    at: int | None,
    text: Callable[[int], str],
    colour: str,
    dash: str = "solid",
    *,
    level: bool = False,
) -> list[sheets.ChartLine]:
    if at is None:
        return []
    (rest, right), (bottom, top) = sheet.x, sheet.y
    start, end = ((rest, at), (right, at)) if level else ((at, bottom), (at, top))
    return [sheets.ChartLine(text(at), [start, end], colour, dash)] if sheet.holds(*start) else []


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
    values = [evidence.target, evidence.floor, *(plan.value for plan in drawn)]
    values += [value for _, value in spots]
    pad = max(1.0, (max(costs) - min(costs)) * 0.08)
    top = min(max(values), end) * ROOM
    rest, right = min(costs) - pad, max(costs) + pad
    sheet = sheets.evidence_sheet((rest, right), evidence, top)
    upright: sheets.Path = [(budget, sheet.y[0]), (budget, sheet.y[1])]
    limit = sheets.ChartLine(f"budget {budget:,.0f}", upright, _LARGEST)
    sheet.draw([*reversed(sheet.bounds(evidence)), limit])
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
            f"<br>{evidence.text_of(evidence.format(plan.value))}"
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
