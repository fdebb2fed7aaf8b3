"""The Protocol page: edit the plan, see the check, choose what to change, see what it takes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.models import revise
from replicalab.planner import Options
from replicalab.ui import beside, state
from replicalab.ui.controls import button
from replicalab.ui.editor import Form, draw_lists_and_texts, draw_numbers
from replicalab.ui.protocol import assumptions, changes, check

__all__ = ["draw"]


def draw(here: Options) -> None:
    """Draw the page."""
    found = changes.ticked(here)
    beside.draw_line()
    with st.container(key="workbench"):
        with st.container(horizontal=True, key="editor"):
            _draw_editor(here.yours)
        check.draw(here, found)
        assumptions.draw(here.yours)
        changes.draw(here, found)


def _take(field: str, value: object) -> None:
    state.edit(revise(state.plan(), **{field: value}))


def _draw_editor(yours: Assessment) -> None:
    groups = assumptions.groups_typed(yours.pack.design)
    form = Form(f"plan_{state.current().version}", yours.plan, _take, groups)
    _draw_history_buttons()
    draw_numbers(form, yours.pack)
    draw_lists_and_texts(form, yours.pack)


def _draw_history_buttons() -> None:
    button("Undo", "undo", state.undo, disabled=not state.current().past, width="stretch")
    button("Redo", "redo", state.redo, disabled=not state.current().future, width="stretch")
    button(
        "Reset",
        "restart_alt",
        partial(state.replace_plan, None),
        disabled=state.workspace().protocol is None,
        help="Back to the study's reference protocol. Undo brings your plan back.",
        width="stretch",
    )
    beside.draw_button()
