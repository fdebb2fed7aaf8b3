"""The Protocol page: edit the plan, see the check, choose what to change, see what it takes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from replicalab.models import revise
from replicalab.panels import take_panel
from replicalab.planner import Options
from replicalab.ui import panel, state
from replicalab.ui.controls import button, page_link
from replicalab.ui.editor import Form, draw_fields
from replicalab.ui.protocol import changes, check

__all__ = ["draw"]


def draw(here: Options) -> None:
    """Draw the page."""
    found = changes.ticked(here)
    editor, checked = st.columns([2, 5], gap="medium")
    with editor:
        _draw_history_buttons()
        draw_fields(
            Form(f"plan_{state.current().version}", here.yours.plan, _take), here.yours.pack
        )
    with checked:
        check.draw(here, found)
    changes.draw(here, found)
    panel.draw(take_panel(here))
    page_link("pages/2_Negotiation.py", "Negotiate this plan", "forum")


def _take(field: str, value: object) -> None:
    state.edit(revise(state.plan(), **{field: value}))


def _draw_history_buttons() -> None:
    with st.container(horizontal=True, gap="xsmall", key="history"):
        button("Undo", "undo", state.undo, disabled=not state.current().past)
        button("Redo", "redo", state.redo, disabled=not state.current().future)
        button(
            "Reset",
            "restart_alt",
            partial(state.replace_plan, None),
            disabled=state.workspace().protocol is None,
            help="Back to the study's reference protocol. Undo brings your plan back.",
        )
