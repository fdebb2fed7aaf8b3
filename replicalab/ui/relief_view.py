"""What it would take: what the lab would have to add, so that less, or nothing, is given up."""

from __future__ import annotations

import streamlit as st

from replicalab.planner import Relief
from replicalab.sentences import (
    Options,
    alone_lines,
    alone_text,
    bound_text,
    nothing_needed,
    run_lines,
    run_text,
    target_text,
    wasted_text,
)
from replicalab.ui.session import Here
from replicalab.ui.words import escaped


def draw(here: Here, options: Options) -> None:
    """Draw the lab's side: to run the plan as it is, to reach the target, and single additions."""
    if nothing_needed(options):
        goal = bound_text(here.evidence, "target")
        st.markdown(f"Nothing: the lab can run the plan as it is, and it reaches {goal}.")
        return
    run = options.asks.run
    parts: tuple[tuple[str, list[str], str], ...] = (
        ("To run this plan as it is", run_lines(run), _run_text(here, run)),
        ("To reach the target with your own items", [], target_text(options, here.pack)),
        ("One addition, the plan adapted", alone_lines(options, here.pack), alone_text(options)),
    )
    for column, (title, lines, text) in zip(st.columns(3, border=True), parts, strict=True):
        with column:
            _draw_part(title, lines, text)


def _run_text(here: Here, run: Relief) -> str:
    return f"{run_text(run)} {wasted_text(here.plan, here.pack)}".strip()


def _draw_part(title: str, lines: list[str], text: str) -> None:
    st.markdown(f"### {title}")
    if lines:
        st.markdown("\n".join(f"- {escaped(line)}" for line in lines))
    if text:
        st.markdown(escaped(text))
