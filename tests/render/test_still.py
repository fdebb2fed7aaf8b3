"""Still pictures: they have the numbers and labels of the pages' charts, in both forms."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any, Final, NamedTuple

import plotly.graph_objects as go
import pytest
from lxml.etree import fromstring
from PIL import Image

from replicalab.assessment import assess
from replicalab.planner import PlanAnalysis
from replicalab.planner.curves import Curves
from replicalab.render.figures import drawing as drawing_module
from replicalab.render.figures import evidence_by_samples, style
from replicalab.render.figures.drawing import Area, Drawing, Stroke, Text
from replicalab.render.figures.sheet import ChartLine, Sheet
from replicalab.render.figures.still import WIDTH, still
from replicalab.render.pictures import CHARTS, STILL, picture_png, picture_svg
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.views.blocks import Picture
from replicalab.views.pictures import curve_pictures, trade_off_blocks
from tests.hostile import ATTACK, UNSEEN
from tests.render.reading import labels
from tests.render.test_charts import CHART, ROUNDS
from tests.reports.making import work
from tests.tiers import EVERY_LAB, one_in

BLUE: Final = "#0072B2"
"""Of a curve."""
Spots = list[tuple[float, float]]


class Scale(NamedTuple):
    """Where two numbers of an axis stand, in px, as anyone would read a printed picture."""

    numbers: tuple[float, float]
    places: tuple[float, float]

    def value(self, place: float) -> float:
        (first, last), (start, end) = self.numbers, self.places
        return first + (place - start) / (end - start) * (last - first)


def analysis(study: str = "fin_momentum", lab: str = "medium") -> PlanAnalysis:
    pack = load_scenario(study, lab)
    return PlanAnalysis(assess(pack.reference_protocol, pack))


def pictures(options: PlanAnalysis) -> list[Picture]:
    curves = Curves(options.yours, options.yours.pack.design)
    found = [*curve_pictures(curves), *trade_off_blocks(options)]
    return [each for each in found if isinstance(each, Picture)]


def drawn(svg: str, tag: str) -> list[Any]:
    return list(fromstring(svg).iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in drawn(svg, "text")]


def spots(path: Any) -> Spots:
    numbers = [*map(float, re.findall(r"-?[\d.]+", path.attrib["d"]))]
    return [*zip(numbers[::2], numbers[1::2], strict=True)]


def scales(svg: str) -> tuple[Scale, Scale]:
    """Return the scales across and up, read off the numbers on the axes."""

    def scale(anchor: str, axis: str) -> Scale:
        found = [
            (float(each.text.replace(",", "")), float(each.attrib[axis]))
            for each in drawn(svg, "text")
            if each.attrib["text-anchor"] == anchor
            and each.attrib["fill"] == "#101418"
            and re.fullmatch(r"[\d,.]+", each.text or "")
            and each.text
        ]
        (first, start), (last, end) = found[0], found[-1]
        return Scale((first, last), (start, end))

    across, up = scale("middle", "x"), scale("end", "y")
    lowered = 12 * 0.35  # A number's baseline lies below its line
    return across, up._replace(places=(up.places[0] - lowered, up.places[1] - lowered))


def test_curve_runs_through_the_evidence_of_each_sample() -> None:
    curves = Curves(analysis().yours)
    svg = still(evidence_by_samples(curves, None)).svg("A curve")
    across, up = scales(svg)
    [path] = [each for each in drawn(svg, "path") if each.attrib.get("stroke") == BLUE]
    read = [(across.value(x), up.value(y)) for x, y in spots(path)]
    assert len(read) == len(curves.over_samples)
    for (samples, power), point in zip(read, curves.over_samples, strict=True):
        assert samples == pytest.approx(point.x, abs=0.1)
        assert power == pytest.approx(point.y, abs=0.001)


def test_map_is_as_dark_as_its_evidence_and_hatched_where_nothing_fits() -> None:
    [picture] = [each for each in pictures(analysis()) if each.chart == "region"]
    svg = picture_svg(picture, titled=False)
    across, up = scales(svg)
    found: Any = picture.facts["found"]
    image = Image.open(BytesIO(picture_png(picture, titled=False))).convert("L")
    dark: list[Any] = []
    for days, samples in ((4, 20), (4, 120), (4, 200)):
        x = across.places[0] + (days - across.numbers[0]) / (
            across.numbers[1] - across.numbers[0]
        ) * (across.places[1] - across.places[0])
        y = up.places[0] + (samples - up.numbers[0]) / (up.numbers[1] - up.numbers[0]) * (
            up.places[1] - up.places[0]
        )
        dark.append(image.getpixel((round(2 * x), round(2 * y))))
        assert found.feasible[[*found.samples].index(samples), [*found.days].index(days)]
    assert dark == sorted(dark, reverse=True)
    assert len({*dark}) == 3
    assert [each.attrib["id"] for each in drawn(svg, "pattern")] == ["hatch-line-7A8794"]


@pytest.mark.parametrize(("study", "lab"), one_in(6, (each.values for each in EVERY_LAB)))
def test_pictures_have_every_label_of_the_charts_within_their_width(
    study: str, lab: Difficulty
) -> None:
    for picture in pictures(analysis(study, lab.value)):
        svg = picture_svg(picture)
        assert picture.title in texts(svg)
        assert drawn(svg, "title")[0].text == f"{picture.title}. {picture.alt}"
        wide, high = (float(fromstring(svg).attrib[name]) for name in ("width", "height"))
        assert wide == WIDTH
        for x, y in (spot for each in drawn(svg, "path") for spot in spots(each)):
            assert -1 <= x <= wide + 1
            assert -1 <= y <= high + 1
        assert Image.open(BytesIO(picture_png(picture))).size == (2 * wide, 2 * high)
        assert picture_svg(picture) == svg


def test_every_label_of_a_chart_is_written() -> None:
    chart = evidence_by_samples(Curves(analysis().yours), ("A title", "of a lab"))
    told = texts(still(chart).svg("A curve"))
    assert {*labels(chart), "A title", "of a lab", "samples planned", "power"} <= {*told}


def chart_of(*lines: ChartLine) -> go.Figure:
    sheet = Sheet((0, 10), (0, 1))
    sheet.draw(lines)
    return sheet.figure(None, 50, xaxis={"title": "x"}, yaxis={"title": "y"})


def test_line_ends_where_the_plot_ends() -> None:
    far = ChartLine("far", [(-90.0, 0.5), (5.0, 0.5), (5.0, 9.0)], "#B84E00")
    svg = still(chart_of(far)).svg("")
    across, up = scales(svg)
    [path] = [each for each in drawn(svg, "path") if each.attrib.get("stroke") == "#B84E00"]
    read = [(across.value(x), up.value(y)) for x, y in spots(path)]
    assert read == [pytest.approx(spot, abs=0.01) for spot in ((0, 0.5), (5, 0.5), (5, 1))]


def test_dashes_are_drawn_and_left_out_in_both_forms() -> None:
    drawing = Drawing(100, 20)
    drawing.add(Stroke([(0, 10), (50, 10), (100, 10)], "#000000", 4, (10, 5)))
    assert 'stroke-dasharray="10 5"' in drawing.svg("")
    image = Image.open(BytesIO(drawing.png())).convert("L")
    row = [image.getpixel((x, 20)) for x in range(200)]
    dark = [x / 2 for x, level in enumerate(row) if level == 0]
    assert not [x for x in dark if x % 15 > 10.5]
    assert {int(x // 15) for x in dark} == set(range(7))


def test_shapes_are_where_they_are_said_to_be_in_both_forms() -> None:
    drawing = Drawing(40, 40)
    drawing.add(Area([[(10, 10), (30, 10), (30, 30), (10, 30)]], "#FF0000"))
    drawing.add(Area([[(10, 10), (20, 10), (20, 30), (10, 30)]], "#000000", opacity=0.5))
    image = Image.open(BytesIO(drawing.png()))
    read = [image.getpixel((2 * x, 40)) for x in (5, 15, 25, 35)]
    assert read == [(255, 255, 255), (127, 0, 0), (255, 0, 0), (255, 255, 255)]
    first, _ = drawn(drawing.svg(""), "path")
    assert spots(first) == [(10, 10), (30, 10), (30, 30), (10, 30)]


def test_hostile_texts_are_written_as_texts() -> None:
    drawing = Drawing(100, 20)
    hostile = f"{ATTACK}{UNSEEN}\ud800</text><script>&'\""
    drawing.add(Text(hostile, 0, 10), Text(hostile, 0, 10, turned=True))
    svg = drawing.svg(hostile)
    names = {each.tag.rpartition("}")[2] for each in fromstring(svg).iter()}
    assert names == {"svg", "title", "rect", "text"}
    assert "</text><script>&'\"" in texts(svg)[0]
    assert drawing.png().startswith(b"\x89PNG")


def test_png_is_drawn_without_the_letters_of_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = Drawing(60, 20)
    drawing.add(Text("A label", 30, 10, anchor="middle", bold=True))
    with_them = drawing.png()
    monkeypatch.setattr(drawing_module, "find_spec", lambda _: None)
    drawing_module._font.cache_clear()  # noqa: SLF001 - letters are loaded once
    without = drawing.png()
    drawing_module._font.cache_clear()  # noqa: SLF001
    assert with_them != without
    for png in (with_them, without):
        image = Image.open(BytesIO(png)).convert("L")
        left, top, right, bottom = image.point(lambda level: 255 - level).getbbox() or (0,) * 4
        assert (left + right) / 2 == pytest.approx(60, abs=4)
        assert (top + bottom) / 2 == pytest.approx(20, abs=4)


def test_every_chart_that_a_document_may_have_is_drawn() -> None:
    documents = [work("psy_stroop", lab.value).report() for lab in Difficulty]
    found = {picture.chart: picture for each in documents for picture in each.pictures}
    assert {*found, STILL} == CHARTS.keys()
    for picture in found.values():
        assert picture_svg(picture).startswith("<svg")
        assert picture_png(picture).startswith(b"\x89PNG")


def test_negotiation_stands_where_its_plans_do() -> None:
    picture = still(CHART)
    svg = picture.svg("A negotiation")
    assert {"all there is", "target 0.80", "floor 0.50", "budget", "days", "staff", "round"} <= {
        *texts(svg)
    }
    ticks = {
        each.text.replace("\u00a0", " "): float(each.attrib["y"]) - 12 * 0.35
        for each in drawn(svg, "text")
        if each.text and each.attrib["text-anchor"] == "end"
    }
    shares = Scale((0.0, 1.0), (ticks["0 %"], ticks["100 %"]))
    powers = Scale((0.0, 1.0), (ticks["0.0"], ticks["1.0"]))
    areas = [shape for shape in picture.shapes if isinstance(shape, Area)]

    def heights(colour: str) -> list[float]:
        """Return how high the marks of a colour stand, those of the legend left out."""
        found = [each.outlines[0] for each in areas if each.fill == colour]
        middles = [sum(y for _, y in outline) / len(outline) for outline in found]
        return [each for each in middles if each < picture.height - 20]

    used = {style.FAIL: [1.5, 1.05, 0.65], style.CAUTION: [2, 1, 1]}  # of 1,000 credits, 5 days
    for colour, shown in used.items():
        assert [shares.value(y) for y in heights(colour)] == pytest.approx(shown, abs=0.01)
    values = [plan.evidence.value or 0.0 for _, plan in ROUNDS]
    assert [powers.value(y) for y in heights(style.EVIDENCE)] == pytest.approx(values, abs=0.01)
