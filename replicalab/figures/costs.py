"""What a plan costs against the budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import plotly.graph_objects as go

from replicalab.assessment import Assessment
from replicalab.figures.style import EVIDENCE, FAIL, PASS, QUIET, TITLE_LINE, titled, upright
from replicalab.lexicon import amount_text, count_text, signed_text
from replicalab.models import FIELD_LABELS
from replicalab.planner import PlanStep

_ROW_HEIGHT: Final = 24
_ROWS_FRAME: Final = 82
_ROOM: Final = 1.04
_NAMES: Final = 100
"""Pixels for the names of the rows: with a fixed margin the browser draws the chart once."""


class _Bar(NamedTuple):
    name: str
    base: float
    credits: float
    colour: str
    text: str


def cost_chart(plan: Assessment, steps: Sequence[PlanStep] = ()) -> go.Figure:
    """Return the cost as a waterfall of its five terms up to the total, against the budget.

    It runs from top to bottom, so that every name fits beside its bar on a phone too.

    Args:
        plan: the plan.
        steps: the changes to it, in order; they lead on to what it costs after them.
    """
    budget = plan.pack.lab.budget
    bars = list(_waterfall(plan, steps, budget))
    highest = max(max(bar.base, bar.base + bar.credits) for bar in bars)
    lines = [f"The plan costs {_against(plan.cost, budget)}"]
    lines += [f"As ticked {_against(steps[-1].after.cost, budget)}"] if steps else []
    amounts = {
        # On the right, where no bar and no line runs through them.
        "type": "scatter",
        "x": [highest * _ROOM] * len(bars),
        "y": [bar.name for bar in bars],
        "mode": "text",
        "text": [bar.text for bar in bars],
        "textposition": "middle right",
        "hoverinfo": "skip",
        "cliponaxis": False,
    }
    layout = {
        "shapes": [upright(budget, color=EVIDENCE, dash="dash")],
        "title": titled("<br>".join(lines)),
        "height": _ROWS_FRAME + len(lines) * TITLE_LINE + len(bars) * _ROW_HEIGHT,
        "margin": {"l": _NAMES, "r": 76, "t": 24 + len(lines) * TITLE_LINE, "b": 54},
        "showlegend": False,
        "xaxis": {
            "title": {"text": "credits", "standoff": 12},
            "range": [0, highest * _ROOM],
            "tickformat": ",",
        },
        "yaxis": {"type": "category", "autorange": "reversed"},
        "bargap": 0.25,
        "barmode": "overlay",
    }
    return go.Figure({"data": [_drawn(bars[:-1]), _drawn(bars[-1:], "/"), amounts],
                      "layout": layout})  # fmt: skip


def _waterfall(plan: Assessment, steps: Sequence[PlanStep], budget: float) -> Iterator[_Bar]:
    """Yield the bars from top to bottom: terms, total, changes, what is left, budget."""

    def total(name: str, cost: float) -> _Bar:
        return _Bar(name, 0.0, cost, FAIL if cost > budget else PASS, amount_text(cost))

    reached = 0.0
    for term in plan.cost_terms:
        yield _Bar(term.label, reached, term.credits, QUIET, amount_text(term.credits))
        reached += term.credits
    yield total("Your plan", plan.cost)
    for number, step in enumerate(steps, start=1):
        fields = [step.change.field] if step.change else [each.field for each in step.fields]
        name = f"{number}. {', '.join(FIELD_LABELS[field] for field in fields)}"
        added = round(-step.credits_saved, 6)
        yield _Bar(name, step.before.cost, added, EVIDENCE, signed_text(added, "±"))
    if steps:
        yield total("As ticked", steps[-1].after.cost)
    yield _Bar("Budget", 0.0, budget, EVIDENCE, amount_text(budget))


def _against(total: float, budget: float) -> str:
    gap = count_text(abs(budget - total), "credit")
    return f"{count_text(total, 'credit')}: {gap} {'over' if total > budget else 'left'}"


def _drawn(bars: Sequence[_Bar], pattern: str = "") -> dict[str, object]:
    """Return bars as a trace; what saves credits is hatched, so that it shows in greyscale."""
    return {
        "type": "bar",
        "orientation": "h",
        "y": [bar.name for bar in bars],
        "base": [bar.base for bar in bars],
        "x": [bar.credits for bar in bars],
        "marker": {
            "color": [bar.colour for bar in bars],
            "pattern": {"shape": ["\\" if bar.credits < 0 else pattern for bar in bars]},
        },
        "hoverinfo": "skip",
    }
