"""What every chart shares: colours, sizes, lines and labels, and how it is shown.

Colours are Okabe and Ito's, which survive colour blindness; every mark also carries its number
or a symbol, so a chart reads in greyscale. A chart is built in one go from plain data: plotly
checks every later change anew, which takes many times as long.
"""

from __future__ import annotations

from typing import Any, Final

PASS: Final = "#009E73"
CAUTION: Final = "#E69F00"
FAIL: Final = "#D55E00"
EVIDENCE: Final = "#0072B2"
QUIET: Final = "#7A8794"
CONFIG: Final = {"displayModeBar": False, "responsive": True}
"""What every chart is shown with."""
TITLE_LINE: Final = 20
"""Height of a line of a title, in px."""
LABEL_SIZE: Final = 11


def titled(text: str, **place: Any) -> dict[str, Any]:
    """Return a chart's title."""
    return {"text": text, "font": {"size": 15}, **place}


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
