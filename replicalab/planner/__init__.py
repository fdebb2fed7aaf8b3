"""The least that must be given up, what the lab would have to add, and the Pareto frontier."""

from replicalab.planner.asks import (
    Ask,
    Shortfall,
    Single,
    Wait,
    asks_text,
)
from replicalab.planner.binding import Extra
from replicalab.planner.frontier import Frontier, FrontierPlan, LossLine, Standing
from replicalab.planner.least_loss import LeastLoss, Rank, least_loss_offer, rank
from replicalab.planner.limits import Constraint, largest_sample, leanest
from replicalab.planner.options import (
    Merit,
    PlanAnalysis,
    Surveyed,
    Worded,
    asks,
    frontier,
    least_loss,
    least_worded,
    surveyed,
    worded,
)
from replicalab.planner.steps import FieldChange, PlanStep, change_steps
