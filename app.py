"""Scenarios, the front door: pick a study and a lab, read both, and see what happens there."""

import streamlit as st

from replicalab.ui import frame, scenario_view

here = frame.open_page("Scenarios")
st.title("What can this lab run, and what does each cut cost?")
scenario_view.draw_story(here.pack)

st.subheader("Studies")
scenario_view.draw_gallery()

st.subheader("About the open study")
scenario_view.draw_study(here.pack)
frame.close_page()
