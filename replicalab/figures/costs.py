"""What a plan costs against the budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import plotly.graph_objects as go

from replicalab.assessment import Assessment
from replicalab.figures.style import EVIDENCE, FAIL, PASS, QUIET, TITLE_SIZE
from replicalab.lexicon import amount_text
from replicalab.models import FIELD_LABELS
from replicalab.planner import PlanStep

_ROW_HEIGHT: Final = 24
_ROWS_FRAME: Final = 102
_TITLE_LINE: Final = 20
TOTAL_LABEL: Final = "Your plan"
AFTER_LABEL: Final = "As ticked"
BUDGET_LABEL: Final = "Budget"
_ROOM: Final = 1.04
_NAMES: Final = 100
"""Pixels for the names of the rows: with a fixed margin the browser draws the chart once."""


def cost_chart(
    plan: Assessment, steps: Sequence[PlanStep] = (), after: Assessment | None = None
) -> go.Figure:
    """Return the cost as a waterfall of its five terms up to the total, against the budget.

    It runs from top to bottom, so that every name fits beside its bar on a phone too.

    Args:
        plan: the plan.
        steps: the changes to it, in order; they lead on to what it costs after them.
        after: the plan with all of them; None is the one that the last step leads to.
    """
    budget = plan.pack.lab.budget
    after = after or (steps[-1].after if steps else None)
    bars = [*_term_bars(plan, budget), *_step_bars(steps, budget)]
    if steps and after is not None:
        bars.append(_total_bar(AFTER_LABEL, after.cost, budget))
    bars.append(_Bar(BUDGET_LABEL, 0.0, budget, amount_text(budget), EVIDENCE))
    highest = max(max(bar.base, bar.base + bar.credits) for bar in bars)
    title = f"The plan costs {_against(plan.cost, budget)}"
    if steps and after is not None:
        title += f"<br>As ticked {_against(after.cost, budget)}"
    return go.Figure(
        {
            "data": [_bars(bars[:-1]), _bars(bars[-1:], "/"), _amounts(bars, highest)],
            "layout": {"shapes": [_line(budget)], **_row_frame(title, highest, len(bars))},
        }
    )


class _Bar(NamedTuple):
    label: str
    base: float
    credits: float
    text: str
    colour: str


def _term_bars(plan: Assessment, budget: float) -> Iterator[_Bar]:
    reached = 0.0
    for term in plan.cost_terms:
        yield _Bar(term.label, reached, term.credits, amount_text(term.credits), QUIET)
        reached += term.credits
    yield _total_bar(TOTAL_LABEL, plan.cost, budget)


def _step_bars(steps: Sequence[PlanStep], budget: float) -> Iterator[_Bar]:
    for number, step in enumerate(steps, start=1):
        added = round(-step.credits_saved, 6)
        sign = "+" if added > 0 else "\u2212" if added < 0 else "±"
        text = f"{sign}{amount_text(abs(added))}"
        yield _Bar(f"{number}. {_changed(step)}", step.before.cost, added, text, EVIDENCE)


def _changed(step: PlanStep) -> str:
    """Return the fields that a step changes, as people call them."""
    fields = [step.change.field] if step.change else [each.field for each in step.fields]
    return ", ".join(FIELD_LABELS[field] for field in fields)


def _total_bar(label: str, total: float, budget: float) -> _Bar:
    return _Bar(label, 0.0, total, amount_text(total), FAIL if total > budget else PASS)


def _against(total: float, budget: float) -> str:
    gap = f"{amount_text(abs(budget - total))} credits {'over' if total > budget else 'left'}"
    return f"{amount_text(total)} credits: {gap}"


def _bars(bars: Sequence[_Bar], pattern: str = "") -> dict[str, object]:
    """Return the bars as a trace; what saves credits is hatched, so that it shows in greyscale."""
    return {
        "type": "bar",
        "orientation": "h",
        "y": [bar.label for bar in bars],
        "base": [bar.base for bar in bars],
        "x": [bar.credits for bar in bars],
        "marker": {
            "color": [bar.colour for bar in bars],
            "pattern": {"shape": ["\\" if bar.credits < 0 else pattern for bar in bars]},
        },
        "hoverinfo": "skip",
    }


def _amounts(bars: Sequence[_Bar], highest: float) -> dict[str, object]:
    """Return each row's credits as a column on the right, where no bar or line runs through."""
    return {
        "type": "scatter",
        "x": [highest * _ROOM] * len(bars),
        "y": [bar.label for bar in bars],
        "mode": "text",
        "text": [bar.text for bar in bars],
        "textposition": "middle right",
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _line(budget: float) -> dict[str, object]:
    return {"type": "line", "x0": budget, "x1": budget, "y0": 0, "y1": 1, "yref": "paper",
            "layer": "below",
            "line": {"dash": "dash", "width": 1.5, "color": EVIDENCE}}  # fmt: skip


def _row_frame(title: str, highest: float, rows: int) -> dict[str, object]:
    lines = title.count("<br>") + 1
    return {
        "title": {"text": title, "font": {"size": TITLE_SIZE}},
        "height": _ROWS_FRAME + (lines - 1) * _TITLE_LINE + rows * _ROW_HEIGHT,
        "margin": {"l": _NAMES, "r": 76, "t": 24 + lines * _TITLE_LINE, "b": 54},
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
