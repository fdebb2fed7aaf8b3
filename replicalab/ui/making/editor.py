"""Advanced: the study's file in an editor, with every fault by its line."""

from __future__ import annotations

import json
from typing import Final

import streamlit as st

from replicalab.errors import Fault
from replicalab.panels import numbers_style
from replicalab.scenarios import study_schema
from replicalab.ui import panel
from replicalab.ui.making import record
from replicalab.ui.words import draw_table

_TEXT: Final = "own_text"
_LONGEST_TEXT: Final = 300_000
"""Characters that the editor takes: more than a file may have, so that its reader says by how much,
and a seventh of the largest message, which would end the page's connection."""


def draw() -> None:
    """Draw the editor, and what is wrong with the file in it."""
    now = record.current()
    st.session_state[_TEXT] = now.file
    panel.draw(numbers_style(_TEXT, now.file))
    st.text_area(
        "Study file (YAML)",
        key=_TEXT,
        height=460,
        max_chars=_LONGEST_TEXT,
        on_change=_take,
        help="Checked when you click outside, or press Ctrl and Enter.",
    )
    st.caption(
        f"At most {_LONGEST_TEXT:,} characters; a longer paste changes nothing. The form shows "
        "what you write here; when you change it there, notes (#) leave the file."
    )
    if now.faults:
        _draw_faults(now.faults)
    st.download_button(
        "Download the JSON Schema",
        json.dumps(study_schema(), indent=2),
        file_name="study.schema.json",
        mime="application/schema+json",
        icon=":material/schema:",
        type="tertiary",
        on_click="ignore",
    )


def _take() -> None:
    record.write(str(st.session_state[_TEXT]))


def _draw_faults(faults: list[Fault]) -> None:
    draw_table(
        ("Line", "Field", "What is wrong", "What to do"),
        [
            (str(fault.line or "–"), fault.path or "the file", fault.problem, fault.remedy)
            for fault in faults
        ],
        alt="Faults of the study file",
    )
