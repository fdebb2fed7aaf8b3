"""Charts: assessments in, plotly Figure out. Nothing here computes a domain fact or shows it."""

from typing import Final

from replicalab.figures.convergence import convergence_chart
from replicalab.figures.frontier import frontier_figure, shows_a_plan
from replicalab.figures.outcomes import outcomes_figure
from replicalab.figures.power import evidence_by_effect, evidence_by_samples, samples_by_effect
from replicalab.figures.region import labelled_region, region_figure, spotted
from replicalab.figures.sheet import BALANCED, LAST, LEAST_LOSS, OFFER, YOUR_PLAN, Mark, Tag
from replicalab.figures.style import CONFIG, on_paper, saved_as

__all__ = [
    "BALANCED",
    "CONFIG",
    "LAST",
    "LEAST_LOSS",
    "OFFER",
    "OF_A_PLAN",
    "OF_MANY",
    "YOUR_PLAN",
    "Mark",
    "Tag",
    "convergence_chart",
    "evidence_by_effect",
    "evidence_by_samples",
    "frontier_figure",
    "labelled_region",
    "on_paper",
    "outcomes_figure",
    "region_figure",
    "samples_by_effect",
    "saved_as",
    "shows_a_plan",
    "spotted",
]

OF_A_PLAN: Final = (
    "convergence_chart",
    "evidence_by_effect",
    "evidence_by_samples",
    "frontier_figure",
    "region_figure",
    "samples_by_effect",
)
"""The charts of a plan, and of its negotiation: each leaves as a picture too."""
OF_MANY: Final = ("outcomes_figure",)
"""The charts of many negotiations, which hold no number of a plan."""
