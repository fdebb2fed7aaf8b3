"""The break-evens in a fold on Protocol, and on a slide."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.facts.blocks import Panel, group
from replicalab.facts.blocks import panel as made_of
from replicalab.features.break_even import TITLE, BreakEven, break_even_blocks, break_evens, passes
from replicalab.ui import panel as blocks

_KEPT: Final = "break_evens"
_ON_A_SLIDE: Final = 6  # rows


def panel(place: str, plan: Assessment) -> Mapping[str, Panel]:
    """Return the slide of a plan that passes, or draw the fold, computed when it opens."""
    if place == "slides":
        if not passes(plan):
            return {}
        shown = group(*break_even_blocks(plan, _rows(plan), _ON_A_SLIDE))
        return {TITLE: made_of("slide_ledger", title=TITLE, ledger=shown, roomy=False)}
    with st.expander(TITLE, key="break_even", on_change="rerun") as fold:
        if fold.open:
            blocks.draw(group(*break_even_blocks(plan, _rows(plan))))
    return {}


def _rows(plan: Assessment) -> list[BreakEven]:
    kept, rows = st.session_state.get(_KEPT, (None, []))
    if kept is not plan:
        rows = break_evens(plan)
        st.session_state[_KEPT] = plan, rows
    return list(rows)
