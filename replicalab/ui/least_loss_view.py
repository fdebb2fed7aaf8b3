"""The plan for the same lab that gives up the least, and applying it."""

from __future__ import annotations

import streamlit as st

from replicalab.concessions import change_concessions
from replicalab.planner import LeastLoss
from replicalab.sentences import Options, difference_text, search_text
from replicalab.ui import session
from replicalab.ui.change_view import change_title, draw_price, draw_totals, revised
from replicalab.ui.session import Here
from replicalab.ui.words import escaped


def draw(here: Here, options: Options) -> None:
    """Draw how the least-loss plan differs, what is proven by it, its totals and its changes."""
    least = options.least
    more = options.suggestion is None and least.changes
    st.markdown("### What more this lab could do" if more else "### The least-loss plan")
    st.markdown(escaped(difference_text(options, here.pack)))
    proof = search_text(least, here.pack)
    if proof:
        st.caption(escaped(proof))
    if least.changes and not least.price.evidence.void:
        _draw_plan(here, least)


def _draw_plan(here: Here, least: LeastLoss) -> None:
    draw_totals(revised(here.plan, least.plan, here.pack), here.pack)
    st.button(
        "Apply the least-loss plan",
        icon=":material/balance:",
        key="apply_least_loss",
        on_click=session.replace_plan,
        args=(least.plan,),
    )
    steps = change_concessions(here.plan, least.changes, here.pack)
    for number, (change, step) in enumerate(zip(least.changes, steps, strict=True), start=1):
        with st.container(border=True, gap="xsmall", key=f"least_{number}"):
            st.markdown(change_title(number, change))
            draw_price(change, step, here.pack)
