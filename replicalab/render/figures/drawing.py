"""A still picture of areas, lines and texts, as SVG and as PNG: no browser draws it.

Both are made of the same shapes, so a document shows one picture in every form. Places are in px
from the upper left corner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.util import find_spec
from io import BytesIO
from itertools import cycle, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from replicalab.characters import on_one_line

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

INK: Final = "#101418"
TEXT: Final = 12.0
"""Size of a text, in px."""
_FONT: Final = "Arial, Helvetica, 'DejaVu Sans', sans-serif"
_BASELINE: Final = 0.35  # From the middle of a line of text down to its baseline, of its size
_HATCH: Final = 7.0  # From one line or dot of a hatching to the next, in px
_SMOOTH: Final = 2  # So many times larger a PNG is drawn than it becomes

Spot = tuple[float, float]
Outline = Sequence[Spot]
Hatching = Literal["/", "."]
Anchor = Literal["start", "middle", "end"]


class Area(NamedTuple):
    """Filled outlines, or hatched ones; ``crisp`` where others adjoin."""

    outlines: Sequence[Outline]
    fill: str
    opacity: float = 1.0
    hatching: Hatching | None = None
    crisp: bool = False


class Stroke(NamedTuple):
    """A line through some spots; ``dash`` is how long it is drawn and left out by turns."""

    spots: Outline
    colour: str
    width: float = 1.0
    dash: tuple[float, ...] = ()


class Text(NamedTuple):
    """A text, its middle at that height; one that is turned is read from below."""

    text: str
    x: float
    y: float
    size: float = TEXT
    colour: str = INK
    anchor: Anchor = "start"
    bold: bool = False
    turned: bool = False


class Drawing:
    """A picture, dark on white; what is added later lies above."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.shapes: list[Area | Stroke | Text] = []

    def add(self, *shapes: Area | Stroke | Text) -> None:
        """Add shapes."""
        self.shapes += shapes

    def svg(self, alt: str) -> str:
        """Return it as SVG, without scripts or anything from elsewhere.

        Args:
            alt: what is said in its place.
        """
        alt = on_one_line(alt)
        wide, high = f"{self.width:g}", f"{self.height:g}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
            f'viewBox="0 0 {wide} {high}" role="img" aria-label="{escape(alt)}" '
            f'font-family="{_FONT}">'
            f"<title>{escape(alt)}</title>"
            f'<rect width="{wide}" height="{high}" fill="#FFFFFF"/>'
            f"{''.join(map(_svg, self.shapes))}</svg>"
        )

    def png(self, scale: int = 2) -> bytes:
        """Return it as PNG, so many times larger."""
        file = BytesIO()
        _Painter(self, scale * _SMOOTH).image().reduce(_SMOOTH).save(file, "PNG")
        return file.getvalue()


# --- SVG ------------------------------------------------------------------------------------


def _svg(shape: Area | Stroke | Text) -> str:
    match shape:
        case Area():
            return _svg_area(shape)
        case Stroke():
            dash = f' stroke-dasharray="{" ".join(map(_px, shape.dash))}"' if shape.dash else ""
            return (
                f'<path d="{_path(shape.spots)}" fill="none" stroke="{shape.colour}" '
                f'stroke-width="{_px(shape.width)}" stroke-linejoin="round"{dash}/>'
            )
        case Text():
            x, y = _px(shape.x), _px(shape.y + shape.size * _BASELINE)
            turn = f' transform="rotate(-90 {x} {_px(shape.y)})"' if shape.turned else ""
            bold = ' font-weight="700"' if shape.bold else ""
            return (
                f'<text x="{x}" y="{y}" font-size="{_px(shape.size)}" fill="{shape.colour}" '
                f'text-anchor="{shape.anchor}"{bold}{turn}>{escape(on_one_line(shape.text))}</text>'
            )


def _svg_area(area: Area) -> str:
    path = "".join(f"{_path(outline)}z" for outline in area.outlines)
    crisp = ' shape-rendering="crispEdges"' if area.crisp else ""
    opacity = f' fill-opacity="{area.opacity:g}"' if area.opacity < 1 else ""
    if area.hatching is None:
        return f'<path d="{path}" fill="{area.fill}"{opacity}{crisp}/>'
    side, drawn = _px(_HATCH), "".join(_svg(each) for each in _hatched(area, _HATCH, _HATCH))
    # One name for one look: several pictures on a page may share it.
    name = f"hatch-{'line' if area.hatching == '/' else 'dot'}-{area.fill.lstrip('#')}"
    return (
        f'<pattern id="{name}" patternUnits="userSpaceOnUse" width="{side}" height="{side}">'
        f'{drawn}</pattern><path d="{path}" fill="url(#{name})"/>'
    )


def _path(spots: Outline) -> str:
    return "M" + "L".join(f"{_px(x)} {_px(y)}" for x, y in spots)


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _hatched(area: Area, width: float, height: float) -> Iterator[Area | Stroke]:
    """Yield the lines or dots of a hatching, from the upper left corner on."""
    if area.hatching == "/":
        for at in range(1, math.ceil((width + height) / _HATCH) + 1):
            # A little longer than the tile, so that no corner is left out.
            over = at * _HATCH + 1
            yield Stroke([(-1.0, over), (over, -1.0)], area.fill, 1.0)
        return
    for down in range(math.ceil(height / _HATCH)):
        for across in range(math.ceil(width / _HATCH)):
            x, y = (across + 0.5) * _HATCH, (down + 0.5) * _HATCH
            yield Area([ring(x, y, 1.1)], area.fill)


def ring(x: float, y: float, radius: float, corners: int = 24, turn: float = 0.0) -> list[Spot]:
    """Return an outline of as many corners around a spot: a circle of many; ``turn`` in turns."""
    angles = [2 * math.pi * (at / corners + turn) for at in range(corners)]
    return [(x + radius * math.sin(angle), y - radius * math.cos(angle)) for angle in angles]


# --- PNG ------------------------------------------------------------------------------------


class _Painter:
    """Paints a drawing, so many times larger."""

    def __init__(self, drawing: Drawing, by: int) -> None:
        self.drawing, self.by = drawing, by
        self.size = round(drawing.width * by), round(drawing.height * by)

    def image(self) -> Image:
        from PIL import Image, ImageDraw  # noqa: PLC0415 - slow to load

        image = Image.new("RGB", self.size, "#FFFFFF")
        pen = ImageDraw.Draw(image)
        for shape in self.drawing.shapes:
            match shape:
                case Area(hatching=None, opacity=1.0):
                    for outline in shape.outlines:
                        pen.polygon(self._large(outline), fill=shape.fill)
                case Area():
                    image.paste(shape.fill, mask=self._mask(shape))
                case Stroke():
                    self._draw_line(pen, shape)
                case Text():
                    self._write(image, pen, shape)
        return image

    def _mask(self, area: Area) -> Image:
        from PIL import Image, ImageChops, ImageDraw  # noqa: PLC0415

        mask = Image.new("L", self.size, 0)
        pen = ImageDraw.Draw(mask)
        for outline in area.outlines:
            pen.polygon(self._large(outline), fill=round(255 * area.opacity))
        if area.hatching is None:
            return mask
        hatching = Image.new("L", self.size, 0)
        pen = ImageDraw.Draw(hatching)
        for each in _hatched(area, self.drawing.width, self.drawing.height):
            if isinstance(each, Stroke):
                pen.line(self._large(each.spots), 255, round(each.width * self.by))
            else:
                pen.polygon(self._large(each.outlines[0]), fill=255)
        return ImageChops.multiply(mask, hatching)

    def _draw_line(self, pen: ImageDraw, line: Stroke) -> None:
        for part in _dashed(line.spots, line.dash):
            pen.line(self._large(part), line.colour, max(1, round(line.width * self.by)), "curve")

    def _write(self, image: Image, pen: ImageDraw, text: Text) -> None:
        from PIL import Image, ImageDraw  # noqa: PLC0415

        font = _font(round(text.size * self.by), bold=text.bold)
        said, anchor = on_one_line(text.text), {"start": "l", "middle": "m", "end": "r"}
        place = text.x * self.by, text.y * self.by
        if not text.turned:
            pen.text(place, said, text.colour, font, f"{anchor[text.anchor]}m")
            return
        left, top, right, bottom = font.getbbox(said)
        level = Image.new("L", (math.ceil(right), math.ceil(bottom)), 0)
        ImageDraw.Draw(level).text((0, 0), said, 255, font)
        upright = level.rotate(90, expand=True)
        x, y = round(place[0] - (top + bottom) / 2), round(place[1] - (left + right) / 2)
        image.paste(text.colour, (x, y), upright)

    def _large(self, spots: Outline) -> list[Spot]:
        return [(x * self.by, y * self.by) for x, y in spots]


def _dashed(spots: Outline, dash: tuple[float, ...]) -> Iterator[Outline]:
    """Yield the parts of a line that are drawn."""
    if not dash:
        yield spots
        return
    lengths = cycle(dash)
    left, is_drawn = next(lengths), True
    part: list[Spot] = [spots[0]]
    for (x, y), (to_x, to_y) in pairwise(spots):
        length, done = math.hypot(to_x - x, to_y - y), 0.0
        while length - done > left:
            done += left
            at = x + (to_x - x) * done / length, y + (to_y - y) * done / length
            if is_drawn:
                yield [*part, at]
            part, is_drawn, left = [at], not is_drawn, next(lengths)
        left -= length - done
        part.append((to_x, to_y))
    if is_drawn and len(part) > 1:
        yield part


@cache
def _font(size: int, *, bold: bool) -> FreeTypeFont | ImageFont:
    """Return the letters of the pages, which Streamlit brings; else Pillow's own, fewer."""
    from PIL import ImageFont  # noqa: PLC0415

    brought = find_spec("streamlit")
    media = Path(brought.origin or "").parent / "static/static/media" if brought else Path()
    for file in sorted(media.glob("SourceSansVF-Upright*")):
        try:
            font = ImageFont.truetype(file, size)
            font.set_variation_by_axes([700 if bold else 400])
        except OSError:
            continue
        return font
    return ImageFont.load_default(size)
