"""The Trade-offs page: the region of a plan, the lab's levers, and the plans that nothing beats."""

from typing import Final

import streamlit as st

from replicalab.facts.blocks import Status, Verdict, sentences_panel
from replicalab.facts.region import no_evidence_text
from replicalab.lexicon import CREDITS
from replicalab.planner import PlanAnalysis
from replicalab.ui import panel
from replicalab.ui.tradeoffs import charts, levers
from replicalab.ui.tradeoffs.outlook import look

_FRONTIER: Final = "Evidence for credits"


def draw(analysis: PlanAnalysis) -> None:
    """Draw the page: one picture at a time, and next to it what moves it."""
    view = look(analysis)
    if text := no_evidence_text(view.options):
        panel.draw(sentences_panel([text], verdict=Verdict(Status.FAIL, "No evidence", text)))
    picture, controls = st.columns([5, 3], gap="large")
    with picture:
        chosen = st.radio(
            "What could you have instead?",
            ["Days and samples", _FRONTIER],
            format_func=lambda name: name.replace(CREDITS, view.pack.lab.currency),
            horizontal=True,
            key="picture",
            persist_state="session",
        )
        draw_chosen = charts.draw_frontier if chosen == _FRONTIER else charts.draw_region
        draw_chosen(view)  # the other picture is not even worked out
    with controls:
        levers.draw_levers(view)
        levers.draw_point(view)
        panel.draw(levers.extras(view), charts.all_effects(view))
