"""Negotiation: the outcome, then every round of it, one step at a time."""

import streamlit as st

from replicalab.ui import frame, negotiation_view

here = frame.open_page("Negotiation")
st.title("How the two sides settle it")
negotiation_view.draw_setup()
trace = negotiation_view.current_trace(here.pack, here.plan)
if trace is not None:
    negotiation_view.draw_outcome(trace, here.pack)
    negotiation_view.draw_scrubber(trace)
    negotiation_view.draw_round(trace, here.pack)
    matrix, costs = st.columns(2, gap="large")
    with matrix:
        negotiation_view.draw_matrix(trace)
    with costs:
        negotiation_view.draw_costs(trace, here.pack)
frame.close_page()
