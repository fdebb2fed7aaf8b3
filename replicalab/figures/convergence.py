"""How a negotiation converges: what each round's plan uses of the lab, and what it would show."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any, Final, NamedTuple

import plotly.graph_objects as go

from replicalab.assessment import Assessment, Evidence
from replicalab.figures.evidence import place_of, scale_of
from replicalab.figures.style import CAUTION, EVIDENCE, FAIL, PASS, QUIET, TITLE_SIZE
from replicalab.models import Dimension

_HEIGHT: Final = 350
_TOP: Final = 20
_BOTTOM: Final = 66
_SMALL: Final = 11
_LONGEST_LINE: Final = 44
_TITLE_LINE: Final = 20
_ABOVE: Final = 1.12
_UPPER: Final = (0.58, 1.0)
_LOWER: Final = (0.0, 0.42)
"""Where the two panels stand in the height of the plot."""
_AXIS_LINE: Final = 20
"""So many letters fit beside the lower panel."""


Rounds = Sequence[tuple[int, Assessment]]
"""The rounds of a negotiation that have a plan: each round's number from 1, and its plan."""


class _Line(NamedTuple):
    """How a resource is drawn: never by its colour alone."""

    dimension: Dimension
    name: str
    symbol: str
    dash: str
    colour: str


_LINES: Final = (
    _Line(Dimension.BUDGET, "budget", "circle", "solid", FAIL),
    _Line(Dimension.SCHEDULE, "days", "square", "dash", CAUTION),
    _Line(Dimension.STAFF, "staff", "diamond", "dot", PASS),
)


def convergence_chart(rounds: Rounds, at: int | None = None) -> go.Figure:
    """Return two panels over the rounds: use of budget, days and staff in percent; evidence.

    Each panel has an axis of its own, and the two share the rounds. A plan without evidence stands
    as a cross at the worst end.

    Args:
        rounds: the rounds with a plan, in order; at least one.
        at: the round to mark among several, counted from 1.
    """
    first = rounds[0][1].evidence
    levels = (
        _Level("y", 1.0, "all there is"),
        _Level("y2", first.target, f"target {first.amount(first.target)}", dashed=True,
               below=first.target < first.floor),
        _Level("y2", first.floor, f"floor {first.amount(first.floor)}", dashed=True,
               below=first.floor <= first.target),
    )  # fmt: skip
    bands = []
    if at is not None and len(rounds) > 1:
        bands = [_band(axis, at) for axis in ("y", "y2")]
    return go.Figure(
        {
            "data": [*(_use_line(rounds, line) for line in _LINES), _evidence_line(rounds)],
            "layout": {
                **_frame(rounds),
                "shapes": [*map(_level_line, levels), *bands],
                "annotations": [_level_name(level) for level in levels],
            },
        }
    )


class _Level(NamedTuple):
    """A limit: the panel's axis, its height, its name, and how both are drawn."""

    axis: str
    height: float
    name: str
    dashed: bool = False
    below: bool = False

    @property
    def across(self) -> str:
        """What spans the panel from side to side."""
        return "x domain" if self.axis == "y" else "x2 domain"


def _use_line(rounds: Rounds, line: _Line) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [number for number, _ in rounds],
        "y": [plan.slack[line.dimension].use for _, plan in rounds],
        "name": line.name,
        "mode": "lines+markers",
        "line": {"dash": line.dash, "color": line.colour, "width": 2},
        "marker": {"symbol": line.symbol, "size": 9},
        "hovertemplate": f"Round %{{x}}: {line.name} %{{y:.0%}}<extra></extra>",
        "xaxis": "x",
        "yaxis": "y",
    }


def _evidence_line(rounds: Rounds) -> dict[str, Any]:
    found = [plan.evidence for _, plan in rounds]
    worst, _ = scale_of(found)
    return {
        "type": "scatter",
        "x": [number for number, _ in rounds],
        "y": [place_of(evidence, worst) for evidence in found],
        "text": [evidence.text for evidence in found],
        "name": found[0].measure,
        "mode": "lines+markers",
        "line": {"color": EVIDENCE, "width": 2},
        "marker": {"symbol": ["x" if e.void else "circle" for e in found], "size": 9},
        "hovertemplate": "Round %{x}: %{text}<extra></extra>",
        "showlegend": False,
        "xaxis": "x2",
        "yaxis": "y2",
    }


def _level_line(level: _Level) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": level.across,
        "x0": 0,
        "x1": 1,
        "yref": level.axis,
        "y0": level.height,
        "y1": level.height,
        "layer": "below",
        "line": {"width": 1.5, "color": QUIET, "dash": "dash" if level.dashed else "solid"},
    }


def _level_name(level: _Level) -> dict[str, Any]:
    return {
        "x": 1,
        "xref": level.across,
        "y": level.height,
        "yref": level.axis,
        "text": level.name,
        "showarrow": False,
        "xanchor": "right",
        "yanchor": "top" if level.below else "bottom",
        "font": {"size": _SMALL},
    }


def _band(axis: str, at: int) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "x" if axis == "y" else "x2",
        "x0": at - 0.3,
        "x1": at + 0.3,
        "yref": f"{axis} domain",
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "fillcolor": QUIET,
        "opacity": 0.16,
        "line": {"width": 0},
    }


def _frame(rounds: Rounds) -> dict[str, Any]:
    evidence = [plan.evidence for _, plan in rounds]
    row = evidence[0].row
    label = "<br>".join(wrap(row.axis_title, _AXIS_LINE, break_on_hyphens=False))
    uses = [plan.slack[line.dimension].use or 0.0 for _, plan in rounds for line in _LINES]
    numbers = [number for number, _ in rounds]
    ends = {"range": [numbers[0] - 0.5, numbers[-1] + 0.5], "tickvals": numbers, "showgrid": False}
    title = _title(rounds)
    top = _TOP + _TITLE_LINE * (title.count("<br>") + 1)
    return {
        "title": {"text": title, "font": {"size": TITLE_SIZE}},
        "height": _HEIGHT + top,
        "margin": {"l": 8, "r": 8, "t": top, "b": _BOTTOM},
        "legend": {"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
        "xaxis": {**ends, "anchor": "y", "showticklabels": False, "matches": "x2"},
        "xaxis2": {**ends, "anchor": "y2", "title": _small("round")},
        "yaxis": {"title": _small("used of the lab's"), "domain": _UPPER, "anchor": "x",
                  "tickformat": ".0%", **_upright(max([1.0, *uses]))},
        "yaxis2": {"title": _small(label), "domain": _LOWER, "anchor": "x2",
                   "tickformat": row.scale.ticks, **_upright(max(scale_of(evidence)))},
    }  # fmt: skip


def _small(text: str) -> dict[str, Any]:
    return {"text": text, "font": {"size": _SMALL}, "standoff": 4}


def _upright(highest: float) -> dict[str, Any]:
    return {"range": [0, highest * _ABOVE], "automargin": True, "zeroline": False,
            "showgrid": False}  # fmt: skip


def _title(rounds: Rounds) -> str:
    """Return what the lines show: how much of the budget, and how much evidence, first to last."""
    first, last = rounds[0][1], rounds[-1][1]
    if len(rounds) == 1:
        told = f"Budget used {_spent(last)}, {last.evidence.text}"
    else:
        told = (
            f"Budget used {_spent(first)} → {_spent(last)}, {first.evidence.measure} "
            f"{_amount(first.evidence)} → {_amount(last.evidence)}"
        )
    return told if len(told) <= _LONGEST_LINE else told.replace(", ", ",<br>", 1)


def _amount(evidence: Evidence) -> str:
    return "none" if evidence.void else evidence.amount(evidence.value)


def _spent(plan: Assessment) -> str:
    share = plan.slack[Dimension.BUDGET].use
    return "none" if share is None else f"{share:.0%}".replace("%", "\u00a0%")
