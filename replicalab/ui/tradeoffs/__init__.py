"""The Trade-offs page: the region of a plan, the lab's levers, and the plans that nothing beats."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.panels import sentences_panel
from replicalab.planner import Options
from replicalab.text.tradeoffs import no_evidence_text
from replicalab.text.verdicts import Status, Verdict
from replicalab.ui import panel
from replicalab.ui.tradeoffs import effects, frontier, levers, point, region
from replicalab.ui.tradeoffs.outlook import Outlook, look

__all__ = ["draw"]

_REGION: Final = "Days and samples"
_FRONTIER: Final = "Evidence for credits"


def draw(here: Options) -> None:
    """Draw the page: one picture at a time, and beside it what moves it."""
    view = look(here)
    _draw_lead(view)
    picture, controls = st.columns([5, 3], gap="large")
    with picture:
        _draw_picture(view)
    with controls:
        levers.draw_levers(view)
        point.draw_point(view)
        panel.draw(levers.extras(view), effects.told(view))


def _draw_lead(view: Outlook) -> None:
    """Draw that the study should not be run in this lab, where no plan has evidence."""
    text = no_evidence_text(view.options)
    if text:
        panel.draw(sentences_panel([text], verdict=Verdict(Status.FAIL, "No evidence", text)))


def _draw_picture(view: Outlook) -> None:
    """Draw the picture that is chosen; the other one is not even worked out."""
    chosen = st.radio(
        "What could you have instead?",
        [_REGION, _FRONTIER],
        horizontal=True,
        key="picture",
        persist_state="session",
    )
    if chosen == _FRONTIER:
        frontier.draw_frontier(view)
    else:
        region.draw_region(view)
