"""The figures of all pages as files, dark on white."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from replicalab.planner.curves import Curves
from replicalab.render import figures
from replicalab.ui import panel
from replicalab.ui.export.content import ExportContent, export_content
from replicalab.ui.files import download
from replicalab.ui.negotiation.page import plans_by_round
from replicalab.ui.protocol.assumptions import CHARTS, Chart
from replicalab.ui.tradeoffs.outlook import Outlook, look
from replicalab.ui.tradeoffs.pictures import empty_text, frontier_chart, region_chart
from replicalab.views.blocks import Picture
from replicalab.views.curves import assumed_text
from replicalab.views.design import TITLE as DESIGN
from replicalab.views.design import design_picture
from replicalab.views.frontier import frontier_title, standing_verdict
from replicalab.views.region import fillings_text, means_text, region_title

if TYPE_CHECKING:
    import plotly.graph_objects as go

_FORMS: Final = ("PNG", "SVG")
_WIDTH: Final = 800.0  # So that what stands above a chart has room, also on a phone
_READING: Final = (
    "PNG for slides and texts; SVG stays sharp at any size. Its numbers are under Tables, and "
    "beside the figure on its page."
)


def draw() -> None:
    """Draw which figure, in which form, its button, and the figure as it is saved."""
    from replicalab.render.figures.still import still  # noqa: PLC0415 - slow to load
    from replicalab.render.pictures import STILL, picture_png, picture_svg  # noqa: PLC0415

    found = export_content()
    charts = _charts(found)
    chosen = st.selectbox("Picture", [*charts, DESIGN], key="hand_picture")
    form = st.segmented_control("Form", _FORMS, key="hand_form", required=True, default="PNG")
    if chosen == DESIGN:
        picture = design_picture(found.options.yours)
    else:
        drawn = partial(still, charts[chosen](), _WIDTH)
        picture = Picture(chosen, _READING, f"{chosen}, as it is saved.", STILL, {"drawn": drawn})
    makers: dict[str, Callable[[], str | bytes]] = {
        "PNG": partial(picture_png, picture),
        "SVG": partial(picture_svg, picture),
    }
    download(f"Save as {form}", makers[form], found.name(chosen, form.lower()))
    panel.draw(picture)


def _charts(found: ExportContent) -> dict[str, Callable[[], go.Figure]]:
    """Return the figures that there are now, by what they are called; none is made yet."""
    view = look(found.options)
    curves = Curves(view.yours, view.real.design)
    charts: dict[str, Callable[[], go.Figure]] = {"Days and samples": partial(_region, view)}
    if found.options.frontier.plans:
        charts[f"Evidence for {view.pack.lab.currency}"] = partial(_frontier, view)
    for name, chart in CHARTS.items():
        if chart.fits(curves):
            charts[name] = partial(_curve, chart, curves)
    if found.run is not None and (plans := plans_by_round(found.run)):
        charts["The negotiation"] = partial(figures.convergence_chart, plans)
    return charts


def _region(view: Outlook) -> go.Figure:
    means = f"{means_text(view.pack)}<br>{fillings_text(view.region.plan.evidence)}"
    return region_chart(view, (region_title(view.region), means))


def _frontier(view: Outlook) -> go.Figure:
    means = "<br>".join(filter(None, (means_text(view.pack), empty_text(view))))
    title = frontier_title(standing_verdict(view.options), view.pack.lab.currency)
    return frontier_chart(view, (title, means))


def _curve(chart: Chart, curves: Curves) -> go.Figure:
    return chart.figure(curves, (chart.title(curves), assumed_text(curves)))
