"""The least that must be given up, what the lab would have to add, and what nothing beats."""

from replicalab.planner.asks import (
    EXTRA_CREDITS,
    Ask,
    Asks,
    Extra,
    Relief,
    Single,
    asks,
    asks_of,
    asks_text,
    extras,
    granted,
)
from replicalab.planner.frontier import (
    Frontier,
    FrontierPlan,
    LossLine,
    Standing,
    frontier,
    frontier_of,
)
from replicalab.planner.least_loss import (
    LeastLoss,
    Rank,
    least_loss,
    least_loss_of,
    least_loss_offer,
    rank,
    suggest_least_loss,
)
from replicalab.planner.limits import TIER_RANK, Constraint, largest_sample
from replicalab.planner.options import Options, options_of
from replicalab.planner.steps import FieldChange, PlanStep, change_steps, differences, judged
from replicalab.planner.worded import Worded, least_worded, worded
from replicalab.planner.wordings import Wording, Wordings, wordings

__all__ = [
    "EXTRA_CREDITS",
    "TIER_RANK",
    "Ask",
    "Asks",
    "Constraint",
    "Extra",
    "FieldChange",
    "Frontier",
    "FrontierPlan",
    "LeastLoss",
    "LossLine",
    "Options",
    "PlanStep",
    "Rank",
    "Relief",
    "Single",
    "Standing",
    "Worded",
    "Wording",
    "Wordings",
    "asks",
    "asks_of",
    "asks_text",
    "change_steps",
    "differences",
    "extras",
    "frontier",
    "frontier_of",
    "granted",
    "judged",
    "largest_sample",
    "least_loss",
    "least_loss_of",
    "least_loss_offer",
    "least_worded",
    "options_of",
    "rank",
    "suggest_least_loss",
    "worded",
    "wordings",
]
