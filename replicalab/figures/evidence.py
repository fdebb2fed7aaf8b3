"""What plans are worth: each on one scale with the study's floor and target."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

import plotly.graph_objects as go

from replicalab.assessment import Evidence
from replicalab.figures.style import CAUTION, EVIDENCE, PASS, QUIET, TITLE_SIZE

SYMBOLS: Final = {"●": "circle", "◆": "diamond", "▲": "triangle-up"}
"""A sign per row, first to last, and the marker that stands for it."""
_VOID: Final = "x"
_LONGEST_LINE: Final = 46
_FRAME_HEIGHT: Final = 112
_ROW_HEIGHT: Final = 22
_BEYOND_FLOOR: Final = 1.25
_SMALL: Final = 11
_ROOM_FOR_A_NAME: Final = 0.25
"""So much of the scale the middle zone must take to carry its name on a phone."""


def evidence_chart(marks: Sequence[tuple[str, Evidence]]) -> go.Figure:
    """Return up to three plans of one study on a track with the zones of its evidence.

    The better evidence always lies on the right, so a half-width runs from large to small. A plan
    without evidence stands as a cross at the worst end.

    The figure is built in one go from plain data: plotly checks every later change anew, which
    took fourteen times as long.

    Args:
        marks: the name and the evidence of each plan, your own first.
    """
    worst, best = scale_of([evidence for _, evidence in marks])
    return go.Figure(
        {
            "data": [_dots(marks, worst)],
            "layout": {
                "shapes": [*_zones(marks[0][1], worst, best), *_edges(marks[0][1])],
                "annotations": [*_names(marks[0][1], worst, best), *_values(marks)],
                **_frame(marks, worst, best),
            },
        }
    )


def _dots(marks: Sequence[tuple[str, Evidence]], worst: float) -> dict[str, object]:
    return {
        "type": "scatter",
        "x": [place_of(evidence, worst) for _, evidence in marks],
        "y": list(range(len(marks))),
        "mode": "markers",
        "text": [_value(evidence) for _, evidence in marks],
        "marker": {
            "symbol": [_symbol(row, evidence) for row, (_, evidence) in enumerate(marks)],
            "size": 13,
            "color": EVIDENCE,
        },
        "customdata": [str(evidence.tier) for _, evidence in marks],
        "hovertemplate": "%{text}, %{customdata}<extra></extra>",
        "cliponaxis": False,
    }


def _values(marks: Sequence[tuple[str, Evidence]]) -> Iterator[dict[str, object]]:
    """Write each row's value beside the track, where no line and no edge runs through it."""
    for row, (_, evidence) in enumerate(marks):
        yield {"x": 1, "xref": "paper", "y": row, "text": f"  {_value(evidence)}",
               "showarrow": False, "xanchor": "left", "yanchor": "middle"}  # fmt: skip


def scale_of(found: Sequence[Evidence]) -> tuple[float, float]:
    """Return the worst and the best end of the scale on which these evidences stand."""
    if not found[0].row.scale.lower_is_better:
        return 0.0, 1.0
    finite = [evidence.value for evidence in found if math.isfinite(evidence.value)]
    return max([found[0].floor, *finite]) * _BEYOND_FLOOR, 0.0


def place_of(evidence: Evidence, worst: float) -> float:
    """Return where an evidence stands on the scale: none at all at its worst end."""
    return evidence.value if evidence.void is None and math.isfinite(evidence.value) else worst


def _value(evidence: Evidence) -> str:
    return "no evidence" if evidence.void else evidence.amount(evidence.value)


def _symbol(row: int, evidence: Evidence) -> str:
    return _VOID if evidence.void else list(SYMBOLS.values())[row]


def _zones(evidence: Evidence, worst: float, best: float) -> Iterator[dict[str, object]]:
    floor, target = evidence.floor, evidence.target
    zones = ((worst, floor, CAUTION, 0.22), (floor, target, PASS, 0.14), (target, best, PASS, 0.36))
    for start, end, colour, opacity in zones:
        yield {"type": "rect", "x0": start, "x1": end, "y0": 0, "y1": 1, "yref": "paper",
               "layer": "below", "fillcolor": colour, "opacity": opacity,
               "line": {"width": 0}}  # fmt: skip


def _edges(evidence: Evidence) -> Iterator[dict[str, object]]:
    for edge in dict.fromkeys((evidence.floor, evidence.target)):
        yield {"type": "line", "x0": edge, "x1": edge, "y0": 0, "y1": 1, "yref": "paper",
               "layer": "below", "line": {"width": 1.5, "color": QUIET}}  # fmt: skip


def _names(evidence: Evidence, worst: float, best: float) -> Iterator[dict[str, object]]:
    """Name the zones from their edges outwards, where the names cannot collide."""
    floor, target = evidence.floor, evidence.target
    yield _name(floor, "right", f"below floor {evidence.amount(floor)} ")
    yield _name(target, "left", f" meets target {evidence.amount(target)}")
    if abs(target - floor) >= _ROOM_FOR_A_NAME * abs(best - worst):
        yield _name((floor + target) / 2, "center", "above floor")


def _name(at: float, anchor: str, text: str) -> dict[str, object]:
    return {"x": at, "y": 1, "yref": "paper", "text": text, "showarrow": False,
            "xanchor": anchor, "yanchor": "bottom", "font": {"size": _SMALL}}  # fmt: skip


def _frame(marks: Sequence[tuple[str, Evidence]], worst: float, best: float) -> dict[str, object]:
    lines = textwrap.wrap(_title(marks[0][1]), _LONGEST_LINE)
    extra = (TITLE_SIZE + 5) * (len(lines) - 1)
    row = marks[0][1].row
    plain = {"showgrid": False, "zeroline": False}
    return {
        "title": {"text": "<br>".join(lines), "font": {"size": TITLE_SIZE}},
        "height": _FRAME_HEIGHT + extra + _ROW_HEIGHT * len(marks),
        "margin": {"l": 82, "r": 92, "t": 52 + extra, "b": 36},
        "showlegend": False,
        "xaxis": {
            "title": {"text": row.axis_title, "font": {"size": _SMALL}, "standoff": 6},
            "range": [worst, best],
            "tickformat": row.scale.ticks,
            **plain,
        },
        "yaxis": {
            "range": [len(marks) - 0.5, -0.5],
            "tickvals": list(range(len(marks))),
            "ticktext": [f"{sign} {name}" for sign, (name, _) in zip(SYMBOLS, marks, strict=False)],
            **plain,
        },
    }


def _title(evidence: Evidence) -> str:
    if evidence.void:
        return f"No evidence: {evidence.void}"
    return f"{evidence.text[:1].upper()}{evidence.text[1:]}: {evidence.tier}"
