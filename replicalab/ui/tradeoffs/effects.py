"""Trade-offs: the effect that the evidence assumes, and what the plans are worth at each."""

from __future__ import annotations

import streamlit as st

from replicalab.panels import effects_panel, sentences_panel
from replicalab.text.tradeoffs import effect_label, one_effect_text
from replicalab.ui.tradeoffs.outlook import Outlook, choose


def draw_choice(view: Outlook) -> None:
    """Draw the choice of the assumed effect, where the evidence assumes one."""
    if not view.effects:
        return
    key = f"effect_choice_{view.choice.study}"
    st.radio(
        "Effect assumed",
        range(len(view.effects)),
        index=view.effect_place,
        format_func=lambda place: effect_label(view.effects[place]),
        horizontal=True,
        key=key,
        help="To look at only. What the plan assumes is changed on Protocol.",
        on_change=lambda: choose(effect=st.session_state[key]),
    )


def told(view: Outlook) -> str:
    """Return what the plan and the least-loss plan are worth at every effect worth assuming."""
    if view.effects:
        return effects_panel(view.effects, view.compared)
    return sentences_panel([one_effect_text(view.yours)])
