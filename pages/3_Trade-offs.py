"""Trade-offs: what else could be had, in this lab or in one with a little more."""

import streamlit as st

from replicalab.ui import frame
from replicalab.ui.tradeoffs import frontier, levers, outlook, point, region

with frame.page("Trade-offs") as here:
    st.title("What could you have instead?")
    view = outlook.look(here)
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
