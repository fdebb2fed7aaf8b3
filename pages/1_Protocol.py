"""Protocol: edit the plan, see the check, choose what to change, and see what it would take."""

import streamlit as st

from replicalab.ui import (
    check_view,
    evidence_view,
    frame,
    least_loss_view,
    options,
    protocol_editor,
    relief_view,
    session,
    suggestion_view,
)

here = frame.open_page("Protocol")
found = options.options(here)
ticked = suggestion_view.ticked(here, found.suggestion)

st.title("Can this lab run your plan?")
check_view.draw_plan_verdict(here, found)
check_view.draw_tiles(here)
editor, check = st.columns([2, 3], gap="large")
with editor:
    st.header("The plan")
    protocol_editor.draw(here.plan, here.pack)
with check:
    st.header("Evidence and cost")
    evidence_view.draw(here, found, ticked)
    check_view.draw_reasons(here)
    check_view.draw_cost(here, ticked)

st.header("What to change")
manager, least = st.columns(2, gap="large")
with manager:
    suggestion_view.draw(here, found, ticked)
with least:
    least_loss_view.draw(here, found)

st.header("What it would take")
relief_view.draw(here, found)
st.page_link(
    "pages/2_Negotiation.py",
    label="Negotiate this plan",
    icon=":material/forum:",
    query_params=session.address(),
)
frame.close_page()
