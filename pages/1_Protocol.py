"""Protocol: edit the plan, see the seven dimensions, take the Lab Manager's changes."""

import streamlit as st

from replicalab.agents import check_feasibility
from replicalab.ui import check_view, frame, protocol_editor, session, suggestion_view

frame.open_page("Protocol")
st.title("Can this lab run your plan?")
plan, pack = session.plan(), session.pack()
check = check_feasibility(plan, pack)

editor, verdict = st.columns([2, 3], gap="large")
with editor:
    st.subheader("The plan")
    protocol_editor.draw(plan, pack)
with verdict:
    st.subheader("The check")
    check_view.draw(plan, check, pack)
    check_view.draw_cost(plan, check, pack)

st.subheader("What to change")
suggestion_view.draw(plan, check, pack)
frame.close_page()
