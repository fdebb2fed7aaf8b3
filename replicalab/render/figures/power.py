"""The curves of power analysis, with what fits this lab."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import plotly.graph_objects as go

from replicalab.assessment import Assessment, place_of, size_text
from replicalab.facts.curves import able_text, fit_text
from replicalab.facts.frontier import scale_end
from replicalab.lexicon import count_text
from replicalab.planner.curves import Curves, Point
from replicalab.render.figures.sheet import (
    YOUR_PLAN,
    ChartLine,
    Mark,
    Path,
    Sheet,
    Spot,
    evidence_sheet,
    room_at_the_left,
)
from replicalab.render.figures.style import EVIDENCE

_LARGEST: Final = "#B84E00"
# Of the lines of what fits the lab, and of what can count; white letters can be read on them.
_COUNTED: Final = "#007A80"
_WIDER: Final = 0.04


def evidence_by_samples(found: Curves, title: tuple[str, str] | None) -> go.Figure:
    """Return the evidence over the samples planned, and the lab's largest sample."""
    sheet = _of_evidence(found, (0.0, found.most_samples * (1 + _WIDER)))
    sheet.draw(
        [*sheet.bounds(found.plan.evidence), *_largest(sheet, found), *_counted(sheet, found)]
    )
    _draw_curve(sheet, found.over_samples, [
        f"{count_text(n, 'sample')}: {_worth(found, value)}" for n, value in found.over_samples
    ])  # fmt: skip
    _mark(sheet, found, lambda plan: (plan.counts.samples, _value(sheet, plan)))
    return sheet.evidence_figure(
        title, found.plan.evidence, {"title": "samples planned", "tickformat": ","}
    )


def evidence_by_effect(found: Curves, title: tuple[str, str] | None) -> go.Figure:
    """Return the evidence of the plan's samples over the effect; one is assumed."""
    sheet = _of_evidence(found, _padded(*found.span))
    sheet.draw(sheet.bounds(found.plan.evidence))
    _draw_curve(sheet, found.over_effects, [
        f"{_effect_name(found)} {effect:.3g}: {_worth(found, value)}"
        for effect, value in found.over_effects
    ])  # fmt: skip
    _mark(sheet, found, lambda plan: (found.effects[0].effect, _value(sheet, plan)))
    values = dict(found.over_effects)
    sheet.note([
        (f"{label} {found.plan.evidence.amount(values[effect])}", (effect, values[effect]))
        for label, effect in found.effects[1:] if effect in values
    ])  # fmt: skip
    return sheet.evidence_figure(title, found.plan.evidence, {"title": _effect_name(found)})


def samples_by_effect(found: Curves, title: tuple[str, str] | None) -> go.Figure:
    """Return the fewest samples that reach the target over the effect; one is assumed."""
    values = [found.effects[0].effect, *(point.x for point in found.samples_over_effects)]
    sheet = Sheet(_padded(min(values), max(values)), (0.0, float(found.highest_needed)))
    sheet.draw(_largest(sheet, found, level=True))
    _draw_curve(sheet, found.samples_over_effects, [
        f"{_effect_name(found)} {effect:.3g}: {count_text(n, 'sample')}"
        for effect, n in found.samples_over_effects
    ])  # fmt: skip
    _mark(sheet, found, lambda plan: (found.effects[0].effect, plan.counts.samples))
    needed = dict(found.samples_over_effects)
    sheet.note([
        (f"{label}: {needed[effect]:,.0f}", (effect, needed[effect]))
        for label, effect in found.effects if effect in needed
    ])  # fmt: skip
    return sheet.figure(
        title,
        room_at_the_left(f"{found.highest_needed:,.0f}"),
        xaxis={"title": _effect_name(found)},
        yaxis={"title": "samples for the target", "tickformat": ","},
    )


# --- what they share ------------------------------------------------------------------------


def _of_evidence(found: Curves, across: Spot) -> Sheet:
    """Return a sheet whose height is the scale of the evidence; better is higher."""
    evidence = found.plan.evidence
    end = scale_end(evidence)
    high = end if evidence.row.scale.lower_is_better else end * (1 + _WIDER)
    return evidence_sheet(across, evidence, high)


def _padded(low: float, high: float) -> Spot:
    pad = (high - low) * _WIDER or 1.0
    return low - pad, high + pad


def _effect_name(found: Curves) -> str:
    effect = found.plan.evidence.row.effect
    return effect.name if effect else ""


def _worth(found: Curves, value: float) -> str:
    evidence = found.plan.evidence
    return evidence.text_of(evidence.amount(value))


def _value(sheet: Sheet, plan: Assessment) -> float:
    """Return where a plan's evidence stands; none at all at the bottom."""
    return place_of(plan.evidence, sheet.y[0])


def _draw_curve(sheet: Sheet, points: Sequence[Point], hovers: Sequence[str]) -> None:
    pairs = [(at, text) for at, text in zip(points, hovers, strict=True) if sheet.holds(*at)]
    sheet.add(
        x=[x for (x, _), _ in pairs], y=[y for (_, y), _ in pairs], mode="lines", name="curve",
        line={"color": EVIDENCE, "width": 3}, customdata=[text for _, text in pairs],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def _largest(sheet: Sheet, found: Curves, *, level: bool = False) -> Sequence[ChartLine]:
    """Return the line of the lab's largest sample; none where it lies outside, or none fits."""
    if found.largest is None:
        return []
    at, (rest, right), (bottom, top) = found.largest, sheet.x, sheet.y
    path: Path = [(rest, at), (right, at)] if level else [(at, bottom), (at, top)]
    inside = sheet.holds(*path[0]) if path[0] else False
    return [ChartLine(fit_text(at), path, _LARGEST)] if inside else []


def _counted(sheet: Sheet, found: Curves) -> Sequence[ChartLine]:
    """Return the line beyond which no more samples count; none outside, and where no more fit."""
    at, (bottom, top) = found.most_counted, sheet.y
    if at is None or at == found.largest or not sheet.holds(at, bottom):
        return []
    return [ChartLine(able_text(at), [(at, bottom), (at, top)], _COUNTED, "dot")]


def _mark(sheet: Sheet, found: Curves, at: Callable[[Assessment], Spot]) -> None:
    plan = found.plan
    number = plan.evidence.number
    if math.isfinite(at(plan)[1]):
        sheet.mark([Mark(YOUR_PLAN, plan, YOUR_PLAN, number)], at, lambda *_: size_text(plan))
