"""Protocol: edit the plan, see the seven dimensions, take the Lab Manager's changes."""

import streamlit as st

from replicalab.ui import check_view, frame, protocol_editor, suggestion_view

here = frame.open_page("Protocol")
st.title("Can this lab run your plan?")
check_view.draw_plan_verdict(here)
editor, check = st.columns([2, 3], gap="large")
with editor:
    st.header("The plan")
    protocol_editor.draw(here.plan, here.pack)
with check:
    st.header("The check")
    check_view.draw(here)

st.header("What to change")
suggestion_view.draw(here)
frame.close_page()
