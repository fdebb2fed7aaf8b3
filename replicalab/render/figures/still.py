"""A chart as a still picture: what plotly is given, drawn without it and without a browser.

It reads what `sheet.py` and its charts use of plotly's figures, and nothing else of them. So a
document's pictures have the numbers, the labels and the places of the pages' charts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

import plotly.graph_objects as go

from replicalab.render.figures.drawing import (
    TEXT,
    Area,
    Drawing,
    Spot,
    Stroke,
    Text,
    ring,
)
from replicalab.render.figures.placing import width_of
from replicalab.render.figures.style import TITLE_LINE

WIDTH: Final = 680.0
"""Width of a picture, in px; the text of a page of A4 is about as wide."""
_GRID: Final = "#DFE1E5"
_QUIET: Final = "#5A5750"
_TICKS: Final = 6  # About so many numbers stand on an axis
_SHADES: Final = 48  # So many shades a map has
_JOIN: Final = 1.0  # How far a part of a map reaches below the next one, so that no seam is seen
_DASHES: Final[Mapping[str, tuple[float, ...]]] = {
    "solid": (),
    "dot": (2, 4),
    "dash": (9, 6),
    "longdash": (16, 7),
    "dashdot": (9, 4, 2, 4),
}
_TITLE: Final = 15.0
_BESIDE: Final = 76.0  # Room for an axis that takes what it needs, in px
_CHIP: Final = 18.0  # Height of a label, in px
_RGBA: Final = re.compile(r"rgba\((\d+), (\d+), (\d+), ([\d.]+)\)")


def still(figure: go.Figure, width: float = WIDTH) -> Drawing:
    """Return a chart as a picture of that width; its plots stand above each other."""
    return _Still(figure.to_dict(), width).drawing


class _Still:
    """A picture in the making."""

    def __init__(self, figure: Mapping[str, Any], width: float) -> None:
        self.layout = layout = figure["layout"]
        self.drawing = Drawing(width, layout["height"])
        self._draw_title()
        for number in ("", "2"):
            if f"yaxis{number}" not in layout:
                continue
            self._enter(number)
            self._draw_axes(layout[f"xaxis{number}"], layout[f"yaxis{number}"])
            for each in layout.get("shapes", ()):
                if each["yref"] == f"y{number}":
                    self._draw_level(each)
            for trace in figure["data"]:
                if trace.get("yaxis", "y") == f"y{number}":
                    self._draw(trace)
            for each in layout["annotations"]:
                if each.get("yref", "y") == f"y{number}":
                    self._label(each)
        if "legend" in layout:
            self._draw_legend(figure["data"])

    def _enter(self, number: str) -> None:
        """Turn to the plot whose axes have that number."""
        across, up = self.layout[f"xaxis{number}"], self.layout[f"yaxis{number}"]
        room, (low, high) = self.layout["margin"], up.get("domain", (0, 1))
        top, bottom = float(room["t"]), float(self.drawing.height - room["b"])
        self.left = float(_BESIDE if up.get("automargin") else room["l"])
        self.right = self.drawing.width - room["r"]
        self.top, self.bottom = bottom - high * (bottom - top), bottom - low * (bottom - top)
        self.x, self.y = across["range"], up["range"]

    def _px(self, x: float, y: float) -> Spot:
        (left, right), (low, high) = self.x, self.y
        across, up = (x - left) / (right - left), (y - low) / (high - low)
        return (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )

    # --- around the plot --------------------------------------------------------------------

    def _draw_title(self) -> None:
        title = self.layout.get("title")
        if title is None:
            return
        for at, line in enumerate(title["text"].split("<br>")):
            self.drawing.add(Text(line, 4, 14 + TITLE_LINE * at, _TITLE, bold=True))
        below = title.get("subtitle", {}).get("text", "")
        for at, line in enumerate(below.split("<br>") if below else []):
            self.drawing.add(Text(line, 4, 34 + 15 * at, TEXT, _QUIET))

    def _draw_axes(self, across: Mapping[str, Any], up: Mapping[str, Any]) -> None:
        for value, text in _ticks(up):
            _, y = self._px(self.x[0], value)
            if up.get("showgrid", True):
                self.drawing.add(Stroke([(self.left, y), (self.right, y)], _GRID))
            self.drawing.add(Text(text, self.left - 8, y, anchor="end"))
        for value, text in _ticks(across) if across.get("showticklabels", True) else ():
            x, _ = self._px(value, self.y[0])
            self.drawing.add(Text(text, x, self.bottom + 16, anchor="middle"))
        middle = (self.left + self.right) / 2, (self.top + self.bottom) / 2
        if name := across.get("title"):
            below = Text(name["text"], middle[0], self.bottom + 40, anchor="middle")
            self.drawing.add(below)
        for at, line in enumerate(up["title"]["text"].split("<br>")):
            self.drawing.add(Text(line, 10 + 15 * at, middle[1], anchor="middle", turned=True))

    def _draw_level(self, shape: Mapping[str, Any]) -> None:
        _, y = self._px(self.x[0], shape["y0"])
        look = shape["line"]
        ends = [(self.left, y), (self.right, y)]
        self.drawing.add(Stroke(ends, look["color"], look["width"], _DASHES[look["dash"]]))

    def _draw_legend(self, traces: Sequence[Mapping[str, Any]]) -> None:
        x, y = self.left, self.drawing.height - 12.0
        for trace in traces:
            if not trace.get("showlegend", True):
                continue
            look, mark = trace["line"], trace["marker"]
            dash = _DASHES[look.get("dash", "solid")]
            self.drawing.add(
                Stroke([(x, y), (x + 30, y)], look["color"], look["width"], dash),
                Area([_symbol(mark["symbol"], x + 15, y, mark["size"] / 2)], look["color"]),
                Text(trace["name"], x + 38, y),
            )
            x += 38 + width_of(trace["name"]) + 24

    # --- traces -----------------------------------------------------------------------------

    def _draw(self, trace: Mapping[str, Any]) -> None:
        if trace["type"] == "heatmap":
            self._draw_map(trace)
        elif trace.get("fill") == "toself":
            self._draw_area(trace)
        elif trace["mode"].startswith("lines"):
            look = trace["line"]
            dash = _DASHES[look.get("dash", "solid")]
            for run in self._runs(trace):
                for part in self._within(run):
                    self.drawing.add(Stroke(part, look["color"], look["width"], dash))
            if trace["mode"] == "lines+markers":
                self._draw_marks(trace, look["color"])
        elif trace["marker"].get("opacity") != 0:
            self._draw_marks(trace, trace["marker"]["color"])

    def _draw_map(self, trace: Mapping[str, Any]) -> None:
        """Draw a map, whose columns are as wide as they are apart; parts of one shade together."""
        across, up = trace["x"], trace["y"]
        half, high = (across[1] - across[0]) / 2, (up[1] - up[0]) / 2
        shades: dict[int, list[Sequence[Spot]]] = {}
        alike: dict[tuple[int, float, float], list[Spot]] = {}
        for x, column in zip(across, zip(*trace["z"], strict=True), strict=True):
            before, alike = alike, {}
            at = 0
            for shade, run in groupby(_shade(value, trace) for value in column):
                length = len([*run])
                low, top = up[at] - high, up[at + length - 1] + high
                at += length
                if shade is None:
                    continue
                (left, bottom), (right, ceiling) = self._px(x - half, low), self._px(x + half, top)
                bottom, ceiling = min(bottom, self.bottom), max(ceiling, self.top)
                key = shade, bottom, ceiling
                if box := before.get(key):  # The part at its left goes on
                    box[2] = box[3] = (right + _JOIN, ceiling)
                    box[3] = (right + _JOIN, bottom)
                else:
                    box = [(left, bottom), (left, ceiling - _JOIN)]
                    box += [(right + _JOIN, ceiling - _JOIN), (right + _JOIN, bottom)]
                    shades.setdefault(shade, []).append(box)
                alike[key] = box
        for shade, boxes in sorted(shades.items()):
            self.drawing.add(Area(boxes, _colour(shade / _SHADES, trace), crisp=True))

    def _draw_area(self, trace: Mapping[str, Any]) -> None:
        outlines = [
            [(min(max(x, self.left), self.right), min(max(y, self.top), self.bottom))
             for x, y in run]
            for run in self._runs(trace)
        ]  # fmt: skip
        if not outlines:
            return
        found, look = _RGBA.fullmatch(trace["fillcolor"]), trace["fillpattern"]
        if found:
            *rgb, opacity = found.groups()
            self.drawing.add(Area(outlines, _hex(map(int, rgb)), float(opacity)))
        self.drawing.add(Area(outlines, look["fgcolor"], hatching=look["shape"]))

    def _draw_marks(self, trace: Mapping[str, Any], colour: str) -> None:
        look, places = trace["marker"], [*zip(trace["x"], trace["y"], strict=True)]
        symbol = look.get("symbol", "circle")
        symbols = symbol if isinstance(symbol, list) else [symbol] * len(places)
        for place, each in zip(places, symbols, strict=True):
            if None in place:
                continue
            outline = _symbol(each, *self._px(*place), look["size"] / 2)
            self.drawing.add(Area([outline], colour))
            if line := look.get("line"):
                closed = [*outline, *outline[:2]]
                self.drawing.add(Stroke(closed, line["color"], line["width"]))

    def _runs(self, trace: Mapping[str, Any]) -> Iterator[list[Spot]]:
        """Yield the spots of a trace from one lifting of the pen to the next."""
        places = zip(trace["x"], trace["y"], strict=True)
        for is_gap, run in groupby(places, key=lambda place: None in place):
            if not is_gap:
                yield [self._px(*place) for place in run]

    def _within(self, run: Sequence[Spot]) -> Iterator[list[Spot]]:
        """Yield the parts of a line that lie in the plot."""
        part: list[Spot] = []
        for start, end in pairwise(run):
            inside = self._cut(start, end)
            if inside is None:
                continue
            if not part or part[-1] != inside[0]:
                if part:
                    yield part
                part = [inside[0]]
            part.append(inside[1])
        if part:
            yield part

    def _cut(self, start: Spot, end: Spot) -> tuple[Spot, Spot] | None:
        """Return what of a straight line lies in the plot (Liang and Barsky 1984)."""
        (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
        first, last = 0.0, 1.0
        for step, room in ((-dx, x - self.left), (dx, self.right - x),
                           (-dy, y - self.top), (dy, self.bottom - y)):  # fmt: skip
            if step == 0:
                if room < 0:
                    return None
            elif step < 0:
                first = max(first, room / step)
            else:
                last = min(last, room / step)
        if first > last:
            return None
        return (x + first * dx, y + first * dy), (x + last * dx, y + last * dy)

    def _label(self, label: Mapping[str, Any]) -> None:
        if "domain" in label.get("xref", ""):  # of a level: at its end, above or below it
            _, y = self._px(self.x[0], label["y"])
            y += 9 if label["yanchor"] == "top" else -9
            self.drawing.add(Text(label["text"], self.right, y, TEXT, _QUIET, "end"))
            return
        x, y = self._px(label["x"], label["y"])
        x, y = x + label.get("xshift", 0), y - label.get("yshift", 0)
        half = width_of(label["text"]) / 2
        x = min(max(x, half), self.drawing.width - half)
        box = [(x - half, y - _CHIP / 2), (x + half, y - _CHIP / 2),
               (x + half, y + _CHIP / 2), (x - half, y + _CHIP / 2)]  # fmt: skip
        self.drawing.add(
            Area([box], label["bgcolor"]),
            Text(label["text"], x, y, TEXT, label["font"]["color"], "middle"),
        )


# --- parts of plotly's figures --------------------------------------------------------------


def _ticks(axis: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """Yield the numbers on an axis, each as it is written."""
    if "tickvals" in axis:
        yield from ((value, f"{value:g}") for value in axis["tickvals"])
        return
    low, high = sorted(axis["range"])
    step = axis.get("dtick") or _round_step((high - low) / axis.get("nticks", _TICKS))
    form = axis.get("tickformat", "").replace("d", ".0f") or "g"
    for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        value = at * step
        # A comma alone leaves the decimals to the number.
        yield value, f"{value:{form if form != ',' else ',.10g'}}".replace("%", " %")


def _round_step(step: float) -> float:
    """Return the next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * by for by in (1, 2, 5, 10) if power * by >= step * (1 - 1e-9))


def _shade(value: float | None, trace: Mapping[str, Any]) -> int | None:
    """Return which shade of a map a value has, None where it has none."""
    if value is None:
        return None
    share = (value - trace["zmin"]) / (trace["zmax"] - trace["zmin"])
    share = min(1.0, max(0.0, float(share)))
    return round((1 - share if trace.get("reversescale") else share) * _SHADES)


def _colour(share: float, trace: Mapping[str, Any]) -> str:
    """Return the colour of a share of a map's scale."""
    stops = trace["colorscale"]
    for (low, dark), (high, light) in pairwise(stops):
        if share <= high:
            part = (share - low) / (high - low)
            mixed = zip(_rgb(dark), _rgb(light), strict=True)
            return _hex(round(one + (other - one) * part) for one, other in mixed)
    return str(stops[-1][1])


def _rgb(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _hex(rgb: Iterator[int]) -> str:
    return "#" + "".join(f"{each:02X}" for each in rgb)


def _symbol(name: str, x: float, y: float, radius: float) -> list[Spot]:
    """Return the outline of a mark."""
    match name:
        case "square":
            return ring(x, y, radius * 1.25, 4, 1 / 8)
        case "diamond":
            return ring(x, y, radius * 1.3, 4)
        case "triangle-up":
            return ring(x, y, radius * 1.25, 3)
        case "star":
            outer, inner = ring(x, y, radius * 1.35, 5), ring(x, y, radius * 0.6, 5, 1 / 10)
            return [spot for pair in zip(outer, inner, strict=True) for spot in pair]
        case "x":
            outer, inner = ring(x, y, radius * 1.4, 8, 1 / 16), ring(x, y, radius * 0.5, 4)
            pairs = zip(inner, outer[::2], outer[1::2], strict=True)
            return [spot for three in pairs for spot in three]
        case _:
            return ring(x, y, radius)
