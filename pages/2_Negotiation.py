"""Negotiation: the outcome, then every round of it, one step at a time."""

import streamlit as st

from replicalab.ui import frame, negotiation_view

here = frame.open_page("Negotiation")
st.title("What the two sides come to")
negotiation_view.draw_setup()
trace = negotiation_view.current_trace(here.pack, here.plan)
if trace is not None:
    negotiation_view.draw_outcome(trace, here.pack)
    negotiation_view.draw_scrubber(trace)
    negotiation_view.draw_round(trace, here.pack)
    negotiation_view.draw_run(trace, here.pack)
frame.close_page()
