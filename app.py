"""Scenarios, the front door: pick a study and a lab, read both, and see what happens there."""

import streamlit as st

from replicalab.ui import frame, gallery_view, own_study_view, scenario_view

here = frame.open_page("Scenarios")
st.title("What can this lab run, and what does each cut cost?")
st.markdown(
    "A published experiment assumes ideal conditions; a lab has a budget, a calendar and booked "
    "instruments. Open a story, or pick a study and a lab below."
)
gallery_view.draw_stories()
scenario_view.draw_story(here.pack)

studies, paper, lab, substitutions, rules, own = st.tabs(
    [
        "All studies",
        "The paper",
        "The lab",
        "Substitutions",
        "Restrictions and criteria",
        "Bring your own",
    ]
)
with studies:
    gallery_view.draw_gallery()
with paper:
    scenario_view.draw_paper(here.pack)
    scenario_view.draw_design(here.pack)
with lab:
    scenario_view.draw_lab(here.pack)
with substitutions:
    scenario_view.draw_substitutions(here.pack)
with rules:
    scenario_view.draw_rules(here.pack)
with own:
    own_study_view.draw()
frame.close_page()
