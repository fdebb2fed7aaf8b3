"""Charts: numbers in, plotly Figure out. Nothing here computes a domain fact or shows anything."""

from replicalab.figures.convergence import RoundUse, convergence_chart
from replicalab.figures.costs import CostStep, cost_chart
from replicalab.figures.evidence import evidence_chart
from replicalab.figures.frontier import FrontierLine, FrontierPoint, PlanMark, frontier_figure
from replicalab.figures.region import Mark, region_figure
from replicalab.figures.region_lines import Level
from replicalab.figures.sheet import BALANCED, LEAST_LOSS, OFFER, POINT, YOUR_PLAN, Measure
from replicalab.figures.style import CONFIG

__all__ = [
    "BALANCED",
    "CONFIG",
    "LEAST_LOSS",
    "OFFER",
    "POINT",
    "YOUR_PLAN",
    "CostStep",
    "FrontierLine",
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
