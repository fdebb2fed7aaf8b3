"""Charts: numbers in, plotly Figure out. Nothing here computes a domain fact or shows anything."""

from replicalab.figures.convergence import RoundUse, convergence_chart
from replicalab.figures.costs import CostStep, cost_chart
from replicalab.figures.evidence import evidence_chart
from replicalab.figures.frontier import FrontierPoint, PlanMark, frontier_figure
from replicalab.figures.region import Level, Mark, region_figure
from replicalab.figures.sheet import BALANCED, FIX, LEAST_LOSS, POINT, YOUR_PLAN, Measure
from replicalab.figures.style import CONFIG

__all__ = [
    "BALANCED",
    "CONFIG",
    "FIX",
    "LEAST_LOSS",
    "POINT",
    "YOUR_PLAN",
    "CostStep",
    "FrontierPoint",
    "Level",
    "Mark",
    "Measure",
    "PlanMark",
    "RoundUse",
    "convergence_chart",
    "cost_chart",
    "evidence_chart",
    "frontier_figure",
    "region_figure",
]
