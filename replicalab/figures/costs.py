"""What a plan costs against the budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import plotly.graph_objects as go

from replicalab.costs import CostTerm
from replicalab.figures.style import EVIDENCE, FAIL, PASS, QUIET, TITLE_SIZE
from replicalab.lexicon import amount_text

_ROW_HEIGHT: Final = 24
_ROWS_FRAME: Final = 102
_TITLE_LINE: Final = 20
TOTAL_LABEL: Final = "Your plan"
AFTER_LABEL: Final = "As ticked"
BUDGET_LABEL: Final = "Budget"
_ROOM: Final = 1.04
_NAMES: Final = 100
"""Pixels for the names of the rows: with a fixed margin the browser draws the chart once."""


class CostStep(NamedTuple):
    """A change of the plan: what the plan costs before it and after it, in credits."""

    label: str
    before: float
    after: float


def cost_chart(
    terms: Sequence[CostTerm], total: float, budget: float, steps: Sequence[CostStep] = ()
) -> go.Figure:
    """Return the cost as a waterfall of its five terms up to the total, against the budget.

    It runs from top to bottom, so that every name fits beside its bar on a phone too.

    Args:
        terms: the five terms of the plan's cost.
        total: their sum, in credits.
        budget: what remains to be spent, in credits.
        steps: the changes to the plan, in order; they lead on to what it costs after them.
    """
    bars = [*_term_bars(terms, total, budget), *_step_bars(steps, budget)]
    bars.append(_Bar(BUDGET_LABEL, 0.0, budget, amount_text(budget), EVIDENCE))
    highest = max(max(bar.base, bar.base + bar.credits) for bar in bars)
    title = _cost_title(total, budget, steps)
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


def _term_bars(terms: Sequence[CostTerm], total: float, budget: float) -> Iterator[_Bar]:
    reached = 0.0
    for term in terms:
        yield _Bar(term.label, reached, term.credits, amount_text(term.credits), QUIET)
        reached += term.credits
    yield _total_bar(TOTAL_LABEL, total, budget)


def _step_bars(steps: Sequence[CostStep], budget: float) -> Iterator[_Bar]:
    for number, step in enumerate(steps, start=1):
        added = round(step.after - step.before, 6)
        sign = "+" if added > 0 else "\u2212" if added < 0 else "±"
        text = f"{sign}{amount_text(abs(added))}"
        yield _Bar(f"{number}. {step.label}", step.before, added, text, EVIDENCE)
    if steps:
        yield _total_bar(AFTER_LABEL, steps[-1].after, budget)


def _total_bar(label: str, total: float, budget: float) -> _Bar:
    return _Bar(label, 0.0, total, amount_text(total), FAIL if total > budget else PASS)


def _cost_title(total: float, budget: float, steps: Sequence[CostStep]) -> str:
    title = f"The plan costs {_against(total, budget)}"
    if not steps:
        return title
    return f"{title}<br>As ticked {_against(steps[-1].after, budget)}"


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
