"""The Protocol page: edit the plan, see the check, choose what to change, see what it takes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from replicalab.models import revise
from replicalab.planner import Options
from replicalab.ui import state
from replicalab.ui.controls import button, page_link
from replicalab.ui.editor import Form, draw_fields
from replicalab.ui.protocol import asks, changes, check

__all__ = ["draw"]


def draw(here: Options) -> None:
    """Draw the page."""
    yours, found = here.yours, changes.ticked(here)
    st.title("Can this lab run your plan?")
    check.draw_verdict_and_way(here)
    check.draw_tiles(yours)
    editor, checked = st.columns([2, 3], gap="large")
    with editor:
        st.header("The plan")
        _draw_history_buttons()
        draw_fields(Form(f"plan_{state.current().version}", yours.plan, _take), yours.pack)
    with checked:
        st.header("Evidence and cost")
        check.draw_evidence(here, found)
        check.draw_reasons(yours)
        check.draw_cost(found)
    changes.draw(here, found)
    st.header("What it would take")
    asks.draw(here)
    page_link("pages/2_Negotiation.py", "Negotiate this plan", "forum")


def _take(field: str, value: object) -> None:
    state.edit(revise(state.plan(), **{field: value}))


def _draw_history_buttons() -> None:
    with st.container(horizontal=True, key="history"):
        button("Undo", "undo", state.undo, disabled=not state.current().past)
        button("Redo", "redo", state.redo, disabled=not state.current().future)
        button(
            "Reset to reference",
            "restart_alt",
            partial(state.replace_plan, None),
            disabled=state.workspace().protocol is None,
            help="Back to the study's reference protocol. Undo brings your plan back.",
        )
