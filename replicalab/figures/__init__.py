"""Charts: numbers in, plotly Figure out. Nothing here computes a domain fact or shows anything."""

from replicalab.figures.convergence import convergence_chart
from replicalab.figures.costs import cost_chart
from replicalab.figures.evidence import evidence_chart
from replicalab.figures.style import CONFIG

__all__ = ["CONFIG", "convergence_chart", "cost_chart", "evidence_chart"]
