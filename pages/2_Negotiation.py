"""Negotiation: the outcome, then every round of it, one step at a time."""

import streamlit as st

from replicalab.ui import frame, negotiation_view, session

frame.open_page("Negotiation")
st.title("How the two sides settle it")
pack = session.pack()
trace = negotiation_view.current_trace(pack, session.plan())
negotiation_view.draw_setup()
if trace is not None:
    negotiation_view.draw_outcome(trace, pack)
    negotiation_view.draw_scrubber(trace)
    negotiation_view.draw_round(trace, pack)
    matrix, costs = st.columns(2, gap="large")
    with matrix:
        negotiation_view.draw_matrix(trace)
    with costs:
        negotiation_view.draw_costs(trace, pack)
frame.close_page()
