"""What plans are worth: each on one scale with the study's floor and target."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from replicalab.assessment import Evidence
from replicalab.figures.style import (
    CAUTION,
    EVIDENCE,
    LABEL_SIZE,
    PASS,
    QUIET,
    TITLE_LINE,
    label,
    titled,
    upright,
    zone,
)
from replicalab.lexicon import capitalised

_SYMBOLS: Final = {"●": "circle", "◆": "diamond", "▲": "triangle-up"}
"""A sign per row, first to last, and the marker that stands for it."""
_LONGEST_LINE: Final = 46
_FRAME_HEIGHT: Final = 112
_ROW_HEIGHT: Final = 22
_BEYOND_FLOOR: Final = 1.25
_ROOM_FOR_A_NAME: Final = 0.25
"""So much of the scale the middle zone must take to carry its name on a phone."""


def evidence_chart(marks: Sequence[tuple[str, Evidence]]) -> go.Figure:
    """Return up to three plans of one study on a track with the zones of its evidence.

    The better evidence always lies on the right, so a half-width runs from large to small. A plan
    without evidence stands as a cross at the worst end.

    Args:
        marks: the name and the evidence of each plan, your own first.
    """
    found = [evidence for _, evidence in marks]
    rows = list(zip(_SYMBOLS.items(), marks, strict=False))
    yours = found[0]
    worst, best = scale_of(found)
    values = [evidence.number for evidence in found]
    lines = textwrap.wrap(_title(yours), _LONGEST_LINE)
    extra = TITLE_LINE * (len(lines) - 1)
    plain = {"showgrid": False, "zeroline": False}
    dots = {
        "type": "scatter",
        "x": [place_of(evidence, worst) for evidence in found],
        "y": list(range(len(found))),
        "mode": "markers",
        "text": values,
        "marker": {
            "symbol": ["x" if e.void else symbol for (_, symbol), (_, e) in rows],
            "size": 13,
            "color": EVIDENCE,
        },
        "customdata": [str(evidence.tier) for evidence in found],
        "hovertemplate": "%{text}, %{customdata}<extra></extra>",
        "cliponaxis": False,
    }
    layout = {
        "shapes": [
            zone(worst, yours.floor, CAUTION, 0.22),
            zone(yours.floor, yours.target, PASS, 0.14),
            zone(yours.target, best, PASS, 0.36),
            *(upright(edge, color=QUIET) for edge in dict.fromkeys((yours.floor, yours.target))),
        ],
        # The values stand beside the track, where no line and no edge runs through them.
        "annotations": _names(yours, abs(best - worst)) + [
            {"x": 1, "xref": "paper", "y": row, "text": f"  {value}", "showarrow": False,
             "xanchor": "left", "yanchor": "middle"} for row, value in enumerate(values)
        ],
        "title": titled("<br>".join(lines)),
        "height": _FRAME_HEIGHT + extra + _ROW_HEIGHT * len(marks),
        "margin": {"l": 82, "r": 92, "t": 52 + extra, "b": 36},
        "showlegend": False,
        "xaxis": {
            "title": {"text": yours.row.axis_title, "font": {"size": LABEL_SIZE}, "standoff": 6},
            "range": [worst, best],
            "tickformat": yours.row.scale.ticks,
            **plain,
        },
        "yaxis": {
            "range": [len(marks) - 0.5, -0.5],
            "tickvals": list(range(len(marks))),
            "ticktext": [f"{sign} {name}" for (sign, _), (name, _) in rows],
            **plain,
        },
    }  # fmt: skip
    return go.Figure({"data": [dots], "layout": layout})


def scale_of(found: Sequence[Evidence]) -> tuple[float, float]:
    """Return the worst and the best end of the scale on which these evidences stand."""
    if not found[0].row.scale.lower_is_better:
        return 0.0, 1.0
    finite = [evidence.value for evidence in found if math.isfinite(evidence.value)]
    return max([found[0].floor, *finite]) * _BEYOND_FLOOR, 0.0


def place_of(evidence: Evidence, worst: float) -> float:
    """Return where an evidence stands on the scale: none at all at its worst end."""
    return evidence.value if evidence.void is None and math.isfinite(evidence.value) else worst


def _names(evidence: Evidence, scale: float) -> list[dict[str, Any]]:
    """Return the names of the zones from their edges outwards, where they cannot collide."""
    floor, target = evidence.floor, evidence.target
    names = [
        (floor, "right", f"below floor {evidence.amount(floor)} "),
        (target, "left", f" meets target {evidence.amount(target)}"),
    ]
    if abs(target - floor) >= _ROOM_FOR_A_NAME * scale:
        names.append(((floor + target) / 2, "center", "above floor"))
    return [
        label(text, x=at, xanchor=anchor, y=1, yref="paper", yanchor="bottom")
        for at, anchor, text in names
    ]


def _title(evidence: Evidence) -> str:
    if evidence.void:
        return f"No evidence: {evidence.void}"
    return f"{capitalised(evidence.text)}: {evidence.tier}"
