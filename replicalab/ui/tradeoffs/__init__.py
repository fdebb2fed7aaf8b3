"""The Trade-offs page: the region of a plan, the lab's levers, and the plans that nothing beats."""

from __future__ import annotations

import streamlit as st

from replicalab.planner import Options
from replicalab.ui.tradeoffs import frontier, levers, point, region
from replicalab.ui.tradeoffs.outlook import look

__all__ = ["draw"]


def draw(here: Options) -> None:
    """Draw the page."""
    view = look(here)
    st.header("What could you have instead?")
    region.draw_lead(view)
    chart, controls = st.columns([5, 3], gap="large")
    with chart:
        region.draw_region(view)
    with controls:
        levers.draw_levers(view)
        point.draw_point(view)

    st.header("The plans that nothing beats")
    frontier.draw_frontier(view)

    st.header("If the effect is not what was assumed")
    frontier.draw_effects(view)
