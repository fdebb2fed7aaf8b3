"""The lab's side: what it would take to run a plan, and to reach the study's target."""

from __future__ import annotations

from replicalab.panels.drawing import drawn
from replicalab.planner import Options
from replicalab.text.options import (
    alone_lines,
    alone_text,
    bound_text,
    nothing_needed,
    run_text,
    target_text,
    wasted_text,
)


def take_panel(options: Options) -> str:
    """Return what the lab would have to add: for the plan, for the target, and one thing alone."""
    if nothing_needed(options):
        goal = bound_text(options.yours.evidence, "target")
        nothing = [("", [f"Nothing: the lab can run the plan as it is, and it reaches {goal}."])]
        return drawn("take", parts=nothing)
    run = run_text(options.asks.run), wasted_text(options.yours)
    alone = [*alone_lines(options), alone_text(options)]
    parts = [
        ("This plan as it is", run),
        ("The target, with your own items", [target_text(options)]),
        ("One addition, the plan adapted", alone),
    ]
    return drawn("take", parts=[(title, [*filter(None, texts)]) for title, texts in parts])
