"""How a negotiation converges: what each round's plan uses of the lab, and what it would show."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Final, NamedTuple

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from replicalab.evidence import Evidence
from replicalab.figures.evidence import scale_of
from replicalab.figures.style import CAUTION, EVIDENCE, FAIL, PASS, QUIET, TITLE_SIZE

_HEIGHT: Final = 400
_SMALL: Final = 11
_LONGEST_LINE: Final = 44
_TITLE_LINE: Final = 20
_ABOVE: Final = 1.12
_AXES: Final = {
    "half-width": ("half-width<br>(lower is better)", ".1%"),
    "share examined": ("share examined", ".0%"),
    "probability of detection": ("probability<br>of detection", ".1f"),
}


class _Line(NamedTuple):
    """How a resource is drawn: never by its colour alone."""

    name: str
    symbol: str
    dash: str
    colour: str


_LINES: Final = (
    _Line("budget", "circle", "solid", FAIL),
    _Line("days", "square", "dash", CAUTION),
    _Line("staff", "diamond", "dot", PASS),
)


class RoundUse(NamedTuple):
    """What the plan of a round uses of the lab, and what it would show.

    Attributes:
        number: counted from 1.
        budget, days, staff: the share of the lab's means that is used, None where there is none.
        evidence: what the plan would show.
    """

    number: int
    budget: float | None
    days: float | None
    staff: float | None
    evidence: Evidence


def convergence_chart(rounds: Sequence[RoundUse], shown: int | None = None) -> go.Figure:
    """Return two panels over the rounds: use of budget, days and staff in percent; evidence.

    Each panel has an axis of its own, and the two share the rounds. A plan without evidence stands
    as a cross at the worst end.

    Args:
        rounds: the rounds with a plan, in order; at least one.
        shown: the round to mark, counted from 1.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.12)
    for line in _LINES:
        _add_use(figure, rounds, line)
    figure.add_hline(y=1, row=1, col=1, line={"width": 1.5, "color": QUIET}, layer="below")
    _name(figure, 1, 1, "all there is")
    _add_evidence(figure, rounds)
    if shown is not None:
        figure.add_vrect(
            x0=shown - 0.3, x1=shown + 0.3, fillcolor=QUIET, opacity=0.16, layer="below",
            line_width=0, row="all", col=1,
        )  # fmt: skip
    return _framed(figure, rounds)


def _add_use(figure: go.Figure, rounds: Sequence[RoundUse], line: _Line) -> None:
    name, symbol, dash, colour = line
    figure.add_scatter(
        x=[each.number for each in rounds],
        y=[getattr(each, name) for each in rounds],
        name=name,
        mode="lines+markers",
        line={"dash": dash, "color": colour, "width": 2},
        marker={"symbol": symbol, "size": 9},
        hovertemplate=f"Round %{{x}}: {name} %{{y:.0%}}<extra></extra>",
        row=1,
        col=1,
    )


def _add_evidence(figure: go.Figure, rounds: Sequence[RoundUse]) -> None:
    found = [each.evidence for each in rounds]
    worst, _ = scale_of(found)
    figure.add_scatter(
        x=[each.number for each in rounds],
        y=[_place(evidence, worst) for evidence in found],
        text=[evidence.text for evidence in found],
        name=found[0].measure,
        mode="lines+markers",
        line={"color": EVIDENCE, "width": 2},
        marker={"symbol": ["x" if e.void else "circle" for e in found], "size": 9},
        hovertemplate="Round %{x}: %{text}<extra></extra>",
        showlegend=False,
        row=2,
        col=1,
    )
    for level, word in ((found[0].target, "target"), (found[0].floor, "floor")):
        figure.add_hline(
            y=level, row=2, col=1, line={"width": 1.5, "color": QUIET, "dash": "dash"},
            layer="below",
        )  # fmt: skip
        _name(figure, 2, level, f"{word} {found[0].amount(level)}", below=word == "floor")


def _place(evidence: Evidence, worst: float) -> float:
    return evidence.value if evidence.void is None and math.isfinite(evidence.value) else worst


def _name(figure: go.Figure, row: int, level: float, text: str, *, below: bool = False) -> None:
    figure.add_annotation(
        x=1,
        xref="x domain" if row == 1 else "x2 domain",
        y=level,
        yref="y" if row == 1 else "y2",
        text=text,
        showarrow=False,
        xanchor="right",
        yanchor="top" if below else "bottom",
        font={"size": _SMALL},
    )


def _framed(figure: go.Figure, rounds: Sequence[RoundUse]) -> go.Figure:
    evidence = [each.evidence for each in rounds]
    label, tick_format = _AXES.get(evidence[0].measure, (evidence[0].measure, ".1f"))
    uses = [use for each in rounds for use in each[1:4] if use is not None]
    worst, best = scale_of(evidence)
    title = _title(rounds)
    extra = _TITLE_LINE * title.count("<br>")
    figure.update_layout(
        title={"text": title, "font": {"size": TITLE_SIZE}, "yanchor": "top", "y": 0.98,
               "yref": "container"},
        height=_HEIGHT + extra,
        margin={"l": 8, "r": 8, "t": 64 + extra, "b": 8},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_yaxes(
        title={"text": "used of the lab's", "font": {"size": _SMALL}, "standoff": 4},
        range=[0, max([1.0, *uses]) * _ABOVE], tickformat=".0%", automargin=True,
        zeroline=False, showgrid=False, row=1, col=1,
    )  # fmt: skip
    figure.update_yaxes(
        title={"text": label, "font": {"size": _SMALL}, "standoff": 4},
        range=[0, max(worst, best) * _ABOVE], tickformat=tick_format, automargin=True,
        zeroline=False, showgrid=False, row=2, col=1,
    )  # fmt: skip
    numbers = [each.number for each in rounds]
    ends = [numbers[0] - 0.5, numbers[-1] + 0.5]
    figure.update_xaxes(range=ends, tickvals=numbers, showgrid=False)
    figure.update_xaxes(title={"text": "round", "font": {"size": _SMALL}}, row=2, col=1)
    return figure


def _title(rounds: Sequence[RoundUse]) -> str:
    """Return what the lines show: how much of the budget, and how much evidence, first to last."""
    return "<br>".join(textwrap.wrap(_told(rounds), _LONGEST_LINE))


def _told(rounds: Sequence[RoundUse]) -> str:
    first, last = rounds[0], rounds[-1]
    was, now = _percent(first.budget), _percent(last.budget)
    if len(rounds) == 1:
        return f"Budget used {now}, {last.evidence.text}"
    return (
        f"Budget used {was} → {now}, {first.evidence.measure} "
        f"{_amount(first.evidence)} → {_amount(last.evidence)}"
    )


def _amount(evidence: Evidence) -> str:
    return "none" if evidence.void else evidence.amount(evidence.value)


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{share:.0%}".replace("%", "\u00a0%")
