"""What a plan costs, and what each round's plan costs, against the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from replicalab.costs import CostTerm, amount_text
from replicalab.figures.style import EVIDENCE, FAIL, HEIGHT, PASS, QUIET, TITLE_SIZE

_MOST_LONG_LABELS: Final = 6


def cost_chart(terms: Sequence[CostTerm], total: float, budget: float) -> go.Figure:
    """Return the cost as a waterfall of its five terms up to the total, against the budget.

    Args:
        terms: the five terms of the plan's cost.
        total: their sum, in credits.
        budget: what remains to be spent, in credits.
    """
    over = total > budget
    verdict = f"{amount_text(abs(budget - total))} credits {'over' if over else 'left'}"
    figure = go.Figure(
        go.Waterfall(
            x=[term.label for term in terms] + ["Total"],
            y=[term.credits for term in terms] + [total],
            measure=["relative"] * len(terms) + ["total"],
            text=[amount_text(term.credits) for term in terms] + [amount_text(total)],
            textposition="outside",
            increasing={"marker": {"color": QUIET}},
            totals={"marker": {"color": FAIL if over else PASS}},
            connector={"line": {"width": 1, "color": QUIET}},
            hovertemplate="%{x}: %{text} credits<extra></extra>",
            cliponaxis=False,
        )
    )
    _draw_budget(figure, budget)
    title = f"The plan costs {amount_text(total)} credits: {verdict}"
    return _framed(figure, title, max(total, budget))


def round_cost_chart(
    rounds: Sequence[int], costs: Sequence[float], passes: Sequence[bool], budget: float
) -> go.Figure:
    """Return the cost of each round's plan against the budget.

    Args:
        rounds: the rounds with a plan, counted from 1.
        costs: the credits of each of them.
        passes: whether that plan passed all seven dimensions.
        budget: credits that remain to be spent.
    """
    figure = go.Figure(
        go.Bar(
            x=[_round_label(number, len(rounds)) for number in rounds],
            y=list(costs),
            text=[
                f"{'✓' if passed else '✗'} {amount_text(cost)}"
                for cost, passed in zip(costs, passes, strict=True)
            ],
            textposition="outside",
            marker={"color": [PASS if passed else FAIL for passed in passes]},
            hovertemplate="%{x}: %{y:,.0f} credits<extra></extra>",
            cliponaxis=False,
        )
    )
    _draw_budget(figure, budget)
    return _framed(figure, "Cost of each round's plan against the budget", max([*costs, budget]))


def _round_label(number: int, of: int) -> str:
    return f"Round {number}" if of <= _MOST_LONG_LABELS else str(number)


def _draw_budget(figure: go.Figure, budget: float) -> None:
    """Add the budget as a last bar, with a dashed line at its height."""
    figure.add_bar(
        x=["Budget"],
        y=[budget],
        text=[amount_text(budget)],
        textposition="outside",
        marker={"color": EVIDENCE, "pattern": {"shape": "/", "solidity": 0.25}},
        hovertemplate="Budget: %{text} credits<extra></extra>",
        cliponaxis=False,
    )
    figure.add_hline(
        y=budget, layer="below", line={"dash": "dash", "width": 1.5, "color": EVIDENCE}
    )


def _framed(figure: go.Figure, title: str, highest: float) -> go.Figure:
    figure.update_layout(
        title={"text": title, "font": {"size": TITLE_SIZE}},
        height=HEIGHT,
        margin={"l": 8, "r": 8, "t": 44, "b": 8},
        showlegend=False,
        yaxis={
            "title": {"text": "credits"},
            "range": [0, highest * 1.15],
            "tickformat": ",",
            "automargin": True,
        },
        xaxis={"automargin": True, "type": "category"},
        bargap=0.35,
        barmode="overlay",
    )
    return figure
