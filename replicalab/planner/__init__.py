"""The least-loss plan, additions to the lab, and the Pareto frontier."""

from replicalab.planner.frontier import BetterPlans, Frontier, FrontierPlan, LossLine
from replicalab.planner.least_loss import (
    ORDER,
    LeastLoss,
    PlanStep,
    Rank,
    change_steps,
    deciding_text,
    rank,
)
from replicalab.planner.plan_analysis import (
    PlanAnalysis,
    PlanToDraw,
    SurveyedStudy,
    least_to_draw,
    plan_to_draw,
    surveyed,
)
from replicalab.planner.sample_limits import RegionLimit, largest_sample, leanest
from replicalab.planner.shortfalls import (
    Addition,
    Shortfall,
    Shortfalls,
    SmallestAddition,
    additions_text,
    shortfall_of,
)
