"""Scenarios, the front door: pick a study and a lab, read both, and see what happens there."""

import streamlit as st

from replicalab.ui import frame, scenario_view, session

frame.open_page("Scenarios")
st.title("What can this lab run, and what does each cut cost?")
pack = session.pack()
scenario_view.draw_gallery()

st.subheader("The open study")
scenario_view.draw_lab_choice(pack)
scenario_view.draw_story(pack)
scenario_view.draw_study(pack)
frame.close_page()
