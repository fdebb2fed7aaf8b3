"""What it would take: what the lab would have to add, so that less, or nothing, is given up."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from replicalab.planner import Options
from replicalab.text.options import (
    alone_lines,
    alone_text,
    ask_text,
    bound_text,
    nothing_needed,
    run_text,
    target_text,
    wasted_text,
)
from replicalab.ui.words import escaped


def draw(options: Options) -> None:
    """Draw the lab's side: to run the plan as it is, to reach the target, and single additions."""
    if nothing_needed(options):
        goal = bound_text(options.yours.evidence, "target")
        st.markdown(f"Nothing: the lab can run the plan as it is, and it reaches {goal}.")
        return
    run = options.asks.run
    as_is = f"{run_text(run)} {wasted_text(options.yours)}".strip()
    parts: tuple[tuple[str, Sequence[str], str], ...] = (
        ("To run this plan as it is", [ask_text(ask) for ask in run.asks], as_is),
        ("To reach the target with your own items", (), target_text(options)),
        ("One addition, the plan adapted", alone_lines(options), alone_text(options)),
    )
    for column, (title, lines, text) in zip(st.columns(3, border=True), parts, strict=True):
        with column:
            st.markdown(f"### {title}")
            if lines:
                st.markdown("\n".join(f"- {escaped(line)}" for line in lines))
            if text:
                st.markdown(escaped(text))
