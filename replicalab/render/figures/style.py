"""What every chart shares: colours, sizes, lines and labels, and how it is shown.

Colours are Okabe and Ito's, which survive colour blindness; every mark also carries its number
or a symbol, so a chart reads in greyscale. The panels' stylesheet gives text and hover the
colours of the theme: Streamlit's own theme for charts makes the browser draw each of them twice.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import plotly.graph_objects as go

PASS: Final = "#009E73"
CAUTION: Final = "#E69F00"
FAIL: Final = "#D55E00"
EVIDENCE: Final = "#0072B2"
QUIET: Final = "#7A8794"
TITLE_LINE: Final = 20  # Height of a line of a title, in px
LABEL_SIZE: Final = 11
# Of all text without a colour of its own; the stylesheet puts the theme's in its place.
_INK: Final = "#808495"
GRID: Final = "rgba(128, 132, 149, 0.25)"
_CLEAR: Final = "rgba(0, 0, 0, 0)"


def figure(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> go.Figure:
    """Return a figure of these traces and this layout, in one go.

    Streamlit hands a chart to plotly twice. Only what differs is drawn again: nothing, where arrays
    have a revision, and where the template is no object, which never equals its copy.
    """
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
    # Plotly takes four times as long where it checks what is built; the tests check it.
    return go.Figure({"data": records, "layout": {**common, **layout}}, _validate=False)


class _Held(list[Any]):
    """Numbers or texts of a trace that nothing changes: plotly copies each twice otherwise."""

    def __deepcopy__(self, _: object) -> Self:
        return self


def titled(text: str, **place: Any) -> dict[str, Any]:
    """Return a chart's title."""
    font = {"size": 15, "weight": 700}
    return {"text": text, "font": font, "x": 0, "xanchor": "left", "pad": {"l": 4}, **place}


def label(text: str, **place: Any) -> dict[str, Any]:
    """Return a small text at a place."""
    return {"text": text, "showarrow": False, "font": {"size": LABEL_SIZE}, **place}


def level(at: float, *, panel: str = "", layer: str = "below", **line: Any) -> dict[str, Any]:
    """Return a line across a panel at that height."""
    return {"type": "line", "x0": 0, "x1": 1, "xref": f"x{panel} domain", "y0": at, "y1": at,
            "yref": f"y{panel}", "layer": layer, "line": {"width": 1.5, **line}}  # fmt: skip


def upright(at: float, *, layer: str = "below", **line: Any) -> dict[str, Any]:
    """Return a line from bottom to top at that place across."""
    return {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "y domain",
            "layer": layer, "line": {"width": 1.5, **line}}  # fmt: skip
