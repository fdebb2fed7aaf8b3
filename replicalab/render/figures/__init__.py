"""Charts: assessments in, plotly Figure out. Nothing here computes a domain fact or shows it."""

from typing import Final

from replicalab.render.figures.convergence import convergence_chart
from replicalab.render.figures.frontier import frontier_figure
from replicalab.render.figures.outcomes import outcomes_figure
from replicalab.render.figures.power import (
    evidence_by_effect,
    evidence_by_samples,
    samples_by_effect,
)
from replicalab.render.figures.region import (
    labelled_region,
    over_panel,
    region_figure,
    region_marks,
    spotted,
)
from replicalab.render.figures.sheet import BALANCED, LAST, LEAST_LOSS, OFFER, YOUR_PLAN, Mark, Tag
from replicalab.render.figures.style import CONFIG

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
