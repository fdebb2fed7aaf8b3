"""The least that must be given up, what the lab would have to add, and what nothing beats."""

from replicalab.planner.asking import Ask, Relief, asks_text, granted
from replicalab.planner.curves import FrontierPlan
from replicalab.planner.frontier import Frontier, Standing, frontier, nash_point
from replicalab.planner.leastloss import LeastLoss, least_loss, suggest_least_loss
from replicalab.planner.limits import Limits, largest_sample
from replicalab.planner.order import Rank, rank
from replicalab.planner.relief import Asks, asks
from replicalab.planner.singles import Single, singles

__all__ = [
    "Ask",
    "Asks",
    "Frontier",
    "FrontierPlan",
    "LeastLoss",
    "Limits",
    "Rank",
    "Relief",
    "Single",
    "Standing",
    "asks",
    "asks_text",
    "frontier",
    "granted",
    "largest_sample",
    "least_loss",
    "nash_point",
    "rank",
    "singles",
    "suggest_least_loss",
]
