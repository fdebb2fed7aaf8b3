"""Charts: numbers in, plotly Figure out. Nothing here computes a domain fact or shows anything."""

from replicalab.figures.costs import cost_chart, round_cost_chart
from replicalab.figures.style import CONFIG

__all__ = ["CONFIG", "cost_chart", "round_cost_chart"]
