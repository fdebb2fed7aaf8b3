"""Shared parts of charts: colours, labels, and a sheet with marked plans and named lines.

Colours are Okabe and Ito's, which survive colour blindness; every mark also carries its number or
a symbol. The stylesheet of panels gives text and hover the theme's colours: Streamlit's own theme
for charts makes the browser draw each of them twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

import plotly.graph_objects as go

from replicalab.assessment import Assessment, Evidence
from replicalab.facts import region_facts
from replicalab.render.figures.placing import PLOT, LabelPlace, LabelRequest, along, around, arrange

PASS: Final = "#009E73"
CAUTION: Final = "#E69F00"
FAIL: Final = "#D55E00"
EVIDENCE: Final = "#0072B2"
QUIET: Final = "#7A8794"
TITLE_LINE: Final = 20  # Height of a line of a title, in px
LABEL_SIZE: Final = 11
# Text without its own colour; the stylesheet replaces it by the theme's.
_INK: Final = "#808495"
GRID: Final = "rgba(128, 132, 149, 0.25)"
_CLEAR: Final = "rgba(0, 0, 0, 0)"


def figure(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> go.Figure:
    # Streamlit hands a chart to plotly twice. Arrays with a revision and a template that is no
    # object equal their copies, so plotly draws nothing again.
    common = {
        "template": "none",
        "datarevision": 1,
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"family": '"Source Sans", sans-serif', "color": _INK},
    }
    records = [
        {name: _Held(part) if isinstance(part, list) else part for name, part in trace.items()}
        for trace in data
    ]
    # Plotly's own checks take four times as long; the tests make them.
    return go.Figure({"data": records, "layout": {**common, **layout}}, _validate=False)


class _Held(list[Any]):
    """Values of a trace; without this plotly copies each twice."""

    def __deepcopy__(self, _: object) -> Self:
        return self


def title_style(text: str, **place: Any) -> dict[str, Any]:
    font = {"size": 15, "weight": 700}
    return {"text": text, "font": font, "x": 0, "xanchor": "left", "pad": {"l": 4}, **place}


def label(text: str, **place: Any) -> dict[str, Any]:
    return {"text": text, "showarrow": False, "font": {"size": LABEL_SIZE}, **place}


def level(at: float, *, panel: str = "", **line: Any) -> dict[str, Any]:
    """Return a level line across a panel."""
    return {"type": "line", "x0": 0, "x1": 1, "xref": f"x{panel} domain", "y0": at, "y1": at,
            "yref": f"y{panel}", "layer": "below", "line": {"width": 1.5, **line}}  # fmt: skip


INK: Final = "#101418"
PAPER: Final = "#FCFBF8"
SYMBOLS: Final = {
    region_facts.YOUR_PLAN: "circle",
    region_facts.OFFER: "square",
    region_facts.LEAST_LOSS: "diamond",
    region_facts.BALANCED: "star",
    region_facts.CHEAPEST: "triangle-left",
    region_facts.STRONGEST: "triangle-right",
    region_facts.LAST: "triangle-up",
}
# Room around the plot in px.
_TITLE: Final = 34
_SUBTITLE: Final = 32
_UNTITLED: Final = 10
BELOW: Final = 54
RIGHT: Final = 14
_TEXT: Final = 13
_DIGIT: Final = 7.5  # width of a digit of that size, in px

Spot = tuple[float, float]
Path = list[tuple[float, float] | None]  # Corners of a line or an outline; None lifts the pen


class Mark(NamedTuple):
    """A plan to mark: its name, the plan, its title and its evidence."""

    name: str
    plan: Assessment
    title: str
    worth: str


class ChartLine(NamedTuple):
    """A line: name, corners, a colour dark enough for white letters, plotly's dash."""

    name: str
    path: Path
    colour: str
    dash: str = "solid"


class Tag(NamedTuple):
    """A label in its place."""

    text: str
    across: float  # its point, as shares of the plot
    up: float
    right: float  # from that point to its middle, in px
    above: float
    ground: str
    ink: str


def evidence_sheet(across: Spot, evidence: Evidence, top: float) -> Sheet:
    """Return a sheet whose height is the scale of the evidence up to ``top``; better is higher."""
    return Sheet(across, (top, 0.0) if evidence.row.scale.lower_is_better else (0.0, top))


def room_at_the_left(highest: str) -> int:
    """Return the room in px for numbers at the left, by the longest."""
    return round(38 + _DIGIT * len(highest))


class Sheet:
    """A chart under construction; ``x`` and ``y`` are the ends of its axes."""

    def __init__(self, x: Spot, y: Spot) -> None:
        self.x, self.y = x, y
        self.traces: list[dict[str, Any]] = []
        self.marks: list[LabelPlace] = []  # the places of the plans
        # Labels of plans and of lines, each with its ground and its ink.
        self.chips: list[tuple[LabelRequest, str, str]] = []
        self.names: list[tuple[LabelRequest, str, str]] = []
        self.lines: list[Spot | None] = []  # those with a name; None lifts the pen

    def shares(self, x: float, y: float) -> Spot:
        """Return a place as shares of the plot, each from 0 to 1 within it."""
        (rest, right), (bottom, top) = self.x, self.y
        return (x - rest) / (right - rest), (y - bottom) / (top - bottom)

    def holds(self, x: float, y: float) -> bool:
        return all(0 <= share <= 1 for share in self.shares(x, y))

    def add(self, **trace: Any) -> None:
        """Add points, a line or an area."""
        self.traces.append({"type": "scatter", **trace})

    def mark(
        self,
        marks: Sequence[Mark],
        at: Callable[[Assessment], Spot],
        hover: Callable[[float, float], str],
    ) -> None:
        """Mark the plans within the plot and label them; those at one place share a label."""
        seen = [mark for mark in marks if self.holds(*at(mark.plan))]
        places = [at(mark.plan) for mark in seen]
        self.add(
            x=[x for x, _ in places], y=[y for _, y in places], mode="markers", name="plans",
            marker={"symbol": [SYMBOLS[mark.name] for mark in seen], "size": 15, "color": PAPER,
                    "line": {"color": INK, "width": 2.5}},
            customdata=[f"{mark.title}: {mark.worth}<br>{hover(*place)}"
                        for mark, place in zip(seen, places, strict=True)],
            unselected={"marker": {"opacity": 1}},
            hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
        # Plans at one place are equal if they cost the same: one may lack a control.
        spots: dict[Spot, dict[tuple[str, float], list[str]]] = {}
        for mark, place in zip(seen, places, strict=True):
            same = mark.worth, mark.plan.cost
            spots.setdefault(place, {}).setdefault(same, []).append(mark.title)
        for spot, titles in spots.items():
            text = ", ".join(f"{' = '.join(names)} {worth}" for (worth, _), names in titles.items())
            self._chip(text, spot)

    def note(self, spots: Sequence[tuple[str, Spot]]) -> None:
        """Mark points within the plot with a small ring and a label."""
        seen = [(text, spot) for text, spot in spots if self.holds(*spot)]
        self.add(
            x=[x for _, (x, _) in seen], y=[y for _, (_, y) in seen], mode="markers", name="noted",
            marker={"symbol": "circle", "size": 9, "color": PAPER,
                    "line": {"color": INK, "width": 1.5}},
            hoverinfo="skip",
        )  # fmt: skip
        for text, spot in seen:
            self._chip(text, spot)

    def _chip(self, text: str, spot: Spot) -> None:
        px = self._px(spot)
        self.marks.append(LabelPlace(*px))
        self.chips.append((LabelRequest(text, around(text, *px), keeps_off=True), PAPER, INK))

    def bounds(self, evidence: Evidence) -> list[ChartLine]:
        """Return the lines of floor and target; one if they are equal."""
        rest, right = self.x
        named = {evidence.floor: ("floor", "dash"), evidence.target: ("target", "solid")}
        return [
            ChartLine(f"{name} {evidence.format(at)}", [(rest, at), (right, at)], INK, dash)
            for at, (name, dash) in named.items()
        ]

    def draw(self, lines: Sequence[ChartLine]) -> None:
        """Draw lines in a paper casing, each with its name on it."""
        cased = [at for line in lines for at in (*line.path, None)]
        self.add_path("casing", cased, mode="lines", line={"color": PAPER, "width": 6})
        for name, path, colour, dash in lines:
            line = {"color": colour, "width": 3, "dash": dash}
            self.add_path(name, path, mode="lines", line=line)
            self.name_line(name, path, colour)

    def add_path(self, name: str, path: Path, **look: Any) -> None:
        self.add(
            x=[None if at is None else at[0] for at in path],
            y=[None if at is None else at[1] for at in path],
            hoverinfo="skip", name=name, **look,
        )  # fmt: skip

    def name_line(self, text: str, path: Path, colour: str) -> None:
        """Write the name of a line on it, if it lies within the plot."""
        line = [None if at is None else self._px(at) for at in path]
        places = along(text, line)
        if len(places):
            self.names.append((LabelRequest(text, places), colour, "#FFFFFF"))
            self.lines += [*line, None]

    def _px(self, at: Spot) -> Spot:
        across, up = self.shares(*at)
        return across, up * PLOT

    def tags(self) -> list[Tag]:
        """Return all labels, each at the best place that is free; a plan's comes first."""
        labels = [*self.chips, *self.names]
        places = arrange([wanted for wanted, _, _ in labels], self.marks, self.lines)
        return [
            Tag(wanted.text, at.across, at.height / PLOT, at.right, at.up, *colours)
            for at, (wanted, *colours) in zip(places, labels, strict=True)
        ]

    def _written(self, tag: Tag) -> dict[str, Any]:
        (rest, right), (bottom, top) = self.x, self.y
        apart: dict[str, Any] = {"xshift": tag.right, "yshift": tag.above}
        if tag.ground == PAPER:  # a plan's, with a line to its mark
            to_mark = {"arrowhead": 0, "arrowwidth": 1, "arrowcolor": INK, "standoff": 9}
            apart = {"showarrow": True, "ax": tag.right, "ay": -tag.above, **to_mark}
        return label(
            tag.text,
            x=rest + tag.across * (right - rest), y=bottom + tag.up * (top - bottom),
            xanchor="center", yanchor="middle", **apart,
            font={"size": _TEXT, "color": tag.ink}, bgcolor=tag.ground,
            bordercolor=PAPER, borderpad=1,
        )  # fmt: skip

    def figure(
        self,
        title: tuple[str, str] | None,
        left: int,
        xaxis: Mapping[str, object],
        yaxis: Mapping[str, object],
        *,
        labelled: bool = True,
        **layout: Any,
    ) -> go.Figure:
        """Return the figure, with room in px at the left; None as title if a page shows it."""
        # Fixed: layers over the chart stay in place, and a phone scrolls past it.
        # Level and visible, so that plotly does not measure each number of the scale.
        axis = {"tickfont": {"size": _TEXT}, "zeroline": False, "fixedrange": True,
                 "tickcolor": GRID, "tickangle": 0, "ticklabeloverflow": "allow"}  # fmt: skip
        above, named = _UNTITLED, {}
        if title is not None:
            below = {"subtitle": {"text": title[1], "font": {"size": _TEXT}}} if title[1] else {}
            above = _TITLE + (_SUBTITLE if title[1] else 0)
            named = {"title": title_style(title[0], y=0.985, yanchor="top", **below)}
        spec = {
            **named,
            "height": above + PLOT + BELOW,
            "margin": {"l": left, "r": RIGHT, "t": above, "b": BELOW, "pad": 8},
            "showlegend": False,
            "hovermode": "closest",
            "hoverlabel": {"font": {"size": _TEXT}},
            "dragmode": False,
            "xaxis": {"range": list(self.x), "showgrid": False, **axis, **_named(xaxis)},
            "yaxis": {"range": list(self.y), "gridcolor": GRID, **axis, **_named(yaxis)},
            "annotations": [self._written(tag) for tag in self.tags()] if labelled else [],
            **layout,
        }
        return figure(self.traces, spec)

    def evidence_figure(
        self, title: tuple[str, str] | None, evidence: Evidence, xaxis: Mapping[str, object]
    ) -> go.Figure:
        """Return the figure of a sheet whose height is the scale of the evidence."""
        ticks = {"title": evidence.measure, "tickformat": evidence.row.scale.ticks}
        rest = room_at_the_left(evidence.format(max(self.y)))
        return self.figure(title, rest, xaxis=xaxis, yaxis=ticks)


def _named(axis: Mapping[str, object]) -> dict[str, object]:
    title = {"text": axis["title"], "standoff": 8, "font": {"size": _TEXT}}
    return {**axis, "title": title, "automargin": False}
