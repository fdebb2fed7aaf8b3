"""Trade-offs: what else could be had, in this lab or in one with a little more."""

import streamlit as st

from replicalab.ui import frame, frontier_view, lever_view, point_view, tradeoffs_view

here = frame.open_page("Trade-offs")
st.title("What could you have instead?")
view = tradeoffs_view.look(here)
tradeoffs_view.draw_lead(view)
chart, controls = st.columns([5, 3], gap="large")
with chart:
    tradeoffs_view.draw_region(view)
with controls:
    lever_view.draw(here.pack, view.pack, here.plan)
    point_view.draw_point(view)

st.header("The plans that nothing beats")
frontier_view.draw_frontier(view)

st.header("If the effect is not what was assumed")
frontier_view.draw_effects(view)
frame.close_page()
