"""What only whoever registers a plan can say: a title, authors, the reasons of changes."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.models import FIELD_LABELS
from replicalab.planner.steps import differences
from replicalab.report import Said
from replicalab.ui.handing.whole import Whole

_LONGEST: Final = 300
"""Characters of a field: a line or two."""


def draw(found: Whole) -> Said:
    """Draw the fields, folded; return what stands in them, folded or not."""
    study = _study(found)
    place = st.expander(
        "Title, authors, your reasons",
        icon=":material/edit:",
        key="hand_filling",
        on_change="rerun",
    )
    if place.open:
        with place:
            st.caption(
                "They go into the report and its tables; what stays empty reads “not given”."
            )
            _field("Title", study)
            _field("Authors", study)
            for name in _changed(found):
                _field(_why(name), study)
    return said(found)


def said(found: Whole) -> Said:
    """Return what stands in the fields, drawn or not."""
    study = _study(found)
    reasons = {name: why for name in _changed(found) if (why := _held(_why(name), study))}
    return Said(_held("Title", study), _held("Authors", study), reasons)


def _study(found: Whole) -> str:
    return found.options.yours.pack.scenario_id


def _changed(found: Whole) -> list[str]:
    """Return the fields in which the plan is not the reference protocol."""
    yours = found.options.yours
    return [name for name, *_ in differences(yours.pack.reference_protocol, yours.plan)]


def _why(field: str) -> str:
    return f"{FIELD_LABELS[field]}: why it is changed"


def _key(label: str, study: str) -> str:
    return f"hand_{study}_{label}"


def _held(label: str, study: str) -> str:
    return str(st.session_state.get(_key(label, study), "")).strip()


def _field(label: str, study: str) -> None:
    st.text_input(label, key=_key(label, study), max_chars=_LONGEST, persist_state="session")
