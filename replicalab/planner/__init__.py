"""The least that must be given up, what the lab would have to add, and what nothing beats."""

from replicalab.planner.asks import (
    Ask,
    Relief,
    Single,
    Wait,
    asks_text,
)
from replicalab.planner.binding import Extra
from replicalab.planner.frontier import Frontier, FrontierPlan, LossLine, Standing
from replicalab.planner.least_loss import LeastLoss, Rank, least_loss_offer, rank
from replicalab.planner.limits import Constraint, largest_sample, leanest
from replicalab.planner.options import (
    Options,
    Worded,
    asks,
    frontier,
    least_loss,
    least_worded,
    worded,
)
from replicalab.planner.steps import FieldChange, PlanStep, change_steps
from replicalab.planner.survey import Merit, Surveyed, surveyed

__all__ = [
    "Ask",
    "Constraint",
    "Extra",
    "FieldChange",
    "Frontier",
    "FrontierPlan",
    "LeastLoss",
    "LossLine",
    "Merit",
    "Options",
    "PlanStep",
    "Rank",
    "Relief",
    "Single",
    "Standing",
    "Surveyed",
    "Wait",
    "Worded",
    "asks",
    "asks_text",
    "change_steps",
    "frontier",
    "largest_sample",
    "leanest",
    "least_loss",
    "least_loss_offer",
    "least_worded",
    "rank",
    "surveyed",
    "worded",
]
