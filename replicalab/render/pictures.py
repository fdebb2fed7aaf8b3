"""The pictures of a document as SVG and as PNG."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from replicalab.planner import PlanAnalysis
from replicalab.planner.curves import Curves
from replicalab.render.figures import Mark, evidence_by_samples, frontier_figure, region_figure
from replicalab.render.figures.design import design_drawing
from replicalab.render.figures.drawing import Drawing
from replicalab.render.figures.region import region_marks
from replicalab.render.figures.still import still
from replicalab.views.blocks import Picture
from replicalab.views.design import DesignFacts
from replicalab.views.pictures import unbeaten_shown
from replicalab.views.region import limit_texts

Title = tuple[str, str] | None


def _curve(title: Title, found: Curves) -> Drawing:
    return still(evidence_by_samples(found, title))


def _frontier(title: Title, options: PlanAnalysis) -> Drawing:
    plans = unbeaten_shown(options)
    marks = [Mark(name, plan, name, plan.evidence.number) for name, plan in plans.items()]
    return still(frontier_figure(options.frontier, marks, title))


def _region(title: Title, found: Any, plans: Any, drawn: Any) -> Drawing:
    limits = {limit: text.label for limit, text in limit_texts(drawn.plan.pack).items()}
    return still(region_figure(found, region_marks(plans, drawn), limits, title))


def _still(_: Title, drawn: Callable[[], Drawing]) -> Drawing:
    """Return a chart as a page draws it, with a title of its own."""
    return drawn()


def _design(_: Title, facts: DesignFacts) -> Drawing:
    """Return a design, which needs no title in it."""
    return design_drawing(facts)


STILL: Final = "still"
CHARTS: Final[dict[str, Callable[..., Drawing]]] = {
    "curve": _curve,
    "design": _design,
    "frontier": _frontier,
    "region": _region,
    STILL: _still,
}
"""What draws each chart of a picture: under a title, or None, of the picture's facts."""


def picture_svg(picture: Picture, *, titled: bool = True) -> str:
    """Return a picture as SVG; in a document its title stands beside it."""
    return _drawing(picture, titled=titled).svg(alt_text(picture))


def picture_png(picture: Picture, *, titled: bool = True) -> bytes:
    """Return a picture as PNG; in a document its title stands beside it."""
    return _drawing(picture, titled=titled).png()


def alt_text(picture: Picture) -> str:
    """Return what stands in a picture's place for who cannot see it."""
    return f"{picture.title}. {picture.alt}"


def _drawing(picture: Picture, *, titled: bool) -> Drawing:
    title = (picture.title, "") if titled else None
    return CHARTS[picture.chart](title, **picture.facts)
