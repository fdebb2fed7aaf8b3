"""The Trade-offs page: the region of a plan, the lab's levers, and the plans that nothing beats."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.planner import PlanAnalysis
from replicalab.ui import panel
from replicalab.ui.tradeoffs import frontier, levers, region
from replicalab.ui.tradeoffs.outlook import Outlook, look
from replicalab.views.blocks import Status, Verdict, sentences_panel
from replicalab.views.region import no_evidence_text

_REGION: Final = "Days and samples"
_FRONTIER: Final = "Evidence for credits"


def draw(analysis: PlanAnalysis) -> None:
    """Draw the page: one picture at a time, and beside it what moves it."""
    view = look(analysis)
    _draw_lead(view)
    picture, controls = st.columns([5, 3], gap="large")
    with picture:
        _draw_picture(view)
    with controls:
        levers.draw_levers(view)
        levers.draw_point(view)
        panel.draw(levers.extras(view), region.all_effects(view))


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
