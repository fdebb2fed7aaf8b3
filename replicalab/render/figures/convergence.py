"""Charts of a negotiation's rounds and of a batch's outcomes."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any, Final

import plotly.graph_objects as go

from replicalab.assessment import Assessment, place_of, scale_of
from replicalab.models import Dimension
from replicalab.render.figures import sheet

_HEIGHT: Final = 350
_TOP: Final = 20
_BOTTOM: Final = 66
_LINE_LENGTH: Final = 30  # of the numbers in a title of one line
_ABOVE: Final = 1.12
_UPPER: Final = [0.58, 1.0]
_LOWER: Final = [0.0, 0.42]  # heights of the two panels
_AXIS_LINE: Final = 20  # letters along the lower panel

Rounds = Sequence[tuple[int, Assessment]]
"""The rounds of a negotiation that have a plan: each round's number from 1, and its plan."""

# How each resource is drawn, never by its colour alone: name, symbol, dash and colour.
_LINES: Final = (
    (Dimension.BUDGET, "budget", "circle", "solid", sheet.FAIL),
    (Dimension.SCHEDULE, "days", "square", "dash", sheet.CAUTION),
    (Dimension.STAFF, "staff", "diamond", "dot", sheet.PASS),
)


def convergence_chart(rounds: Rounds) -> go.Figure:
    """Return two panels over the rounds: use of budget, days and staff in percent; evidence."""
    numbers, plans = [number for number, _ in rounds], [plan for _, plan in rounds]
    evidences = [plan.evidence for plan in plans]
    worst, best = scale_of(evidences)
    first, row = evidences[0], evidences[0].row
    uses = {line[0]: [plan.slack[line[0]].use for plan in plans] for line in _LINES}
    data: list[dict[str, Any]] = [
        {
            "y": uses[dimension],
            "name": name,
            "line": {"dash": dash, "color": colour, "width": 2},
            "marker": {"symbol": symbol, "size": 9},
            "hovertemplate": f"Round %{{x}}: {name} %{{y:.0%}}<extra></extra>",
            "xaxis": "x",
            "yaxis": "y",
        }
        for dimension, name, symbol, dash, colour in _LINES
    ]
    data.append({
        "y": [place_of(evidence, worst) for evidence in evidences],
        "text": [evidence.text for evidence in evidences],
        "name": first.measure,
        "line": {"color": sheet.EVIDENCE, "width": 2},
        "marker": {"symbol": ["x" if e.void_reason else "circle" for e in evidences], "size": 9},
        "hovertemplate": "Round %{x}: %{text}<extra></extra>",
        "showlegend": False,
        "xaxis": "x2",
        "yaxis": "y2",
    })  # fmt: skip
    levels = [
        ("", 1.0, "all there is", "solid", False),
        ("2", first.target, f"target {first.format(first.target)}", "dash",
         first.target < first.floor),
        ("2", first.floor, f"floor {first.format(first.floor)}", "dash",
         first.floor <= first.target),
    ]  # fmt: skip
    title = _title(plans)
    top = _TOP + sheet.TITLE_LINE * (title.count("<br>") + 1)
    ends = {"range": [numbers[0] - 0.5, numbers[-1] + 0.5], "tickvals": numbers, "showgrid": False,
            "zeroline": False, "fixedrange": True}  # fmt: skip
    axis = "<br>".join(wrap(row.axis or row.measure, _AXIS_LINE, break_on_hyphens=False))
    layout = {
        "shapes": [
            sheet.level(height, panel=panel, color=sheet.QUIET, dash=dash)
            for panel, height, _, dash, _ in levels
        ],
        "annotations": [
            sheet.label(name, x=1, xref=f"x{panel} domain", xanchor="right",
                  y=height, yref=f"y{panel}", yanchor="top" if below else "bottom")
            for panel, height, name, _, below in levels
        ],
        "title": sheet.title_style(title),
        "height": _HEIGHT + top,
        "margin": {"l": 8, "r": 8, "t": top, "b": _BOTTOM, "pad": 8},
        "legend": {"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
        "xaxis": {**ends, "anchor": "y", "showticklabels": False, "matches": "x2"},
        "xaxis2": {**ends, "anchor": "y2", "title": _small("round")},
        "yaxis": {"title": _small("share of the lab's limit"), "domain": _UPPER, "anchor": "x",
                  "tickformat": ".0%",
                  **_upright(max([1.0, *(use or 0.0 for of in uses.values() for use in of)]))},
        "yaxis2": {"title": _small(axis), "domain": _LOWER, "anchor": "x2",
                   "tickformat": row.scale.ticks, **_upright(max(worst, best))},
    }  # fmt: skip
    common = {"type": "scatter", "x": numbers, "mode": "lines+markers"}
    return sheet.figure([{**common, **trace} for trace in data], layout)


def _small(text: str) -> dict[str, Any]:
    return {"text": text, "font": {"size": sheet.LABEL_SIZE}, "standoff": 4}


def _upright(highest: float) -> dict[str, Any]:
    return {"range": [0, highest * _ABOVE], "automargin": True, "zeroline": False,
            "showgrid": False, "fixedrange": True}  # fmt: skip


def _title(plans: Sequence[Assessment]) -> str:
    first, last = plans[0], plans[-1]
    spent = " → ".join(dict.fromkeys([_spent(first), _spent(last)]))
    moved = " → ".join(dict.fromkeys([first.evidence.number, last.evidence.number]))
    evidence = first.evidence.text_of(moved) if len(plans) > 1 else last.evidence.text
    is_short = len(spent) + len(evidence) <= _LINE_LENGTH
    return f"Budget used {spent},{' ' if is_short else '<br>'}{evidence}"


def _spent(plan: Assessment) -> str:
    share = plan.slack[Dimension.BUDGET].use
    if share is None:
        return "none"
    # An excess below half a percent would read as 100 %.
    return f"{'over ' if 1 < share < 1.005 else ''}{100 * share:.0f}\u00a0%"


_ROW: Final = 34
_AROUND: Final = 96
_NAME_LENGTH: Final = 34  # characters of a line
_LINE: Final = 17
# From none to all; each cell also holds its number.
_SHADES: Final = ((0.0, "#FBE3D2"), (0.5, "#CFE3EE"), (1.0, "#00659D"))
_DARK: Final = 0.75  # shades from this share on are dark


def outcomes_figure(
    names: Sequence[str],
    labs: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    title: str,
) -> go.Figure:
    """Return the shares as a heatmap, a row for each name; None if unplayed."""
    # Plotly reads tags in every label, so "<" goes.
    many = enumerate(names, start=1)
    lines = [wrap(f"{at}. {name.replace('<', '')}", _NAME_LENGTH) for at, name in many]
    rows = ["<br>".join(parts) for parts in lines]
    heat = {
        "type": "heatmap",
        "x": list(labs),
        "y": rows,
        "z": [list(row) for row in shares],
        "zmin": 0,
        "zmax": 1,
        "text": [[cell.replace("<", "") for cell in row] for row in texts],
        "hovertemplate": "%{y}, %{x}: %{text}<extra></extra>",
        "colorscale": _SHADES,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
    }
    fonts = [{"size": sheet.LABEL_SIZE + 1, "color": colour} for colour in ("#15181C", "#FFFFFF")]
    numbers = [
        sheet.label(f"{share:.0%}", x=lab, y=name, font=fonts[share > _DARK])
        for name, row in zip(rows, shares, strict=True)
        for lab, share in zip(labs, row, strict=True)
        if share is not None
    ]
    return sheet.figure([heat], {
        "annotations": numbers,
        "title": sheet.title_style(title, y=1, yref="container", yanchor="top"),
        "height": _AROUND + len(names) * max([_ROW, *(_LINE * len(parts) for parts in lines)]),
        "margin": {"l": 8, "r": 8, "t": 2 * sheet.TITLE_LINE + 8, "b": 8},
        "xaxis": {"side": "top", "title": "lab", "automargin": True},
        "yaxis": {"autorange": "reversed", "automargin": True, "ticklabelstandoff": 6},
    })  # fmt: skip
