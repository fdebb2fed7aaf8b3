"""The easy and the hard lab, made from the one that a form asks for."""

from __future__ import annotations

import math
from typing import Final, cast

from replicalab.assessment import Assessment, assess
from replicalab.scenarios import MOST, Difficulty, Lab, Study, pack_of
from replicalab.scenarios.reading import Data
from replicalab.scenarios.writing import study_data

YOUR_LAB: Final = Difficulty.MEDIUM.value
"""The lab that a form asks for."""
OTHER_LABS: Final = (Difficulty.EASY.value, Difficulty.HARD.value)
_HARD_SHARE: Final = 0.75


def made_labs(study: Study) -> dict[Difficulty, Data]:
    """Return three labs from a study's medium one.

    In the easy lab nothing is missing, and credits, days and people reach for the reference
    protocol. The hard one has three quarters of the credits and the days, and one person fewer.
    """
    lab = study.labs.medium.with_means()
    plan = assess(study.reference_protocol, pack_of(study, Difficulty.MEDIUM))
    easy = lab.model_copy(update={"booked": {}, "out_of_stock": [], **_enough(plan, lab)})
    hard = lab.with_means(
        budget=_less(lab.budget), days=max(1, int(_less(lab.days))), staff=max(1, lab.staff - 1)
    )
    whole = {Difficulty.EASY: easy, Difficulty.MEDIUM: study.labs.medium, Difficulty.HARD: hard}
    labs = study.labs.model_copy(update={level.value: each for level, each in whole.items()})
    written = cast("dict[str, Data]", study_data(study.model_copy(update={"labs": labs}))["labs"])
    return {level: written[level.value] for level in Difficulty}


def _enough(plan: Assessment, lab: Lab) -> dict[str, float]:
    days = plan.plan.duration_days + lab.start_day - 1
    return {
        "budget": min(MOST, max(lab.budget, math.ceil(plan.cost))),
        "days": min(MOST, max(lab.days, days)),
        "staff": min(MOST, max(lab.staff, plan.staff)),
    }


def _less(amount: float) -> float:
    less = amount * _HARD_SHARE
    return math.floor(less) if less >= 1 else less
