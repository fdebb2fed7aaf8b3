"""A study to begin with: one of which nothing is known but its numbers."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from replicalab.designs import KINDS, PARAMETERS, DesignParameters, Kind, PowerAnalysis
from replicalab.lexicon import is_given
from replicalab.limits import LARGEST_PLANNED
from replicalab.scenarios import Design, Difficulty
from replicalab.scenarios.lab import COST_PER_DAY, COST_PER_SAMPLE
from replicalab.scenarios.reading import Data

Block = dict[str, Data]  # A part of a study's file

YOUR_LAB: Final = Difficulty.MEDIUM.value  # The lab that a form asks for
UNSTATED: Final = "Not given."
"""What stands in a file that must say something where its author has said nothing."""
NEW_NAME: Final = "My study"  # What a study is called that nobody has named
DEFAULT: Final = "ReplicaLab’s default."  # Why a number is what it is that nobody has given
EFFECTS: Final = ("effect_published", "effect_planning", "sesoi")
NUMBERS: Final = (*EFFECTS, *PARAMETERS, "target", "floor")
"""The numbers of a design; which of them there are depends on its kind."""
OPTIONAL: Final = frozenset(name for row in KINDS.values() for name in row.extras)
"""Those that a kind can do without: a new study has them only where they are given."""
_FIRST: Final = next(iter(KINDS))
_DAYS: Final = 10
_LAB_DAYS: Final = 20
_ROUND: Final = 100


def new_study(
    scenario_id: str,
    kind: str = _FIRST,
    numbers: Mapping[str, Data] | None = None,
    sample: Data = None,
    days: Data = _DAYS,
    *,
    name: str = NEW_NAME,
) -> Block:
    """Return the file of a study of which only numbers are known, in a lab that can run it.

    Args:
        scenario_id: its short name.
        kind: its design.
        numbers: what is known of the design, by field, right or wrong.
        sample: how many samples are planned, right or wrong; None for as many as reach the target.
        days: how many days are planned, right or wrong.
        name: what it is called.
    """
    row, record = KINDS[kind], numbers or {}
    design: Block = {"kind": kind, **usual_numbers(row), **record}
    design["floor"] = _floor(row, design)
    named = [name for name in NUMBERS if name not in OPTIONAL or record.get(name) is not None]
    named += ["dropout"] if record.get("dropout") else []
    why = dict.fromkeys(named, UNSTATED) | ({} if "floor" in record else {"floor": DEFAULT})
    design |= {"unit_of_n": "samples", "source": UNSTATED, "why": {**why}}
    size = _enough_samples(design) if sample is None else sample
    credits = _planned(size) * COST_PER_SAMPLE + _planned(days) * COST_PER_DAY
    texts = ("hypothesis", "method", "key_finding", "goal", "published", "caution")
    parts = ("constraints", "equipment", "reagents", "substitutions", "controls", "policy_rules")
    return {
        "format": 1,
        "scenario_id": scenario_id,
        "domain_id": "my_studies",
        "paper": {
            "title": name,
            "citation": UNSTATED,
            "doi": None,
            **dict.fromkeys(texts, UNSTATED),
            "teaches": "A study of one's own.",
            "facts": [],
        },
        "design": {name: design[name] for name in Design.model_fields if name in design},
        "success_criteria": [UNSTATED],
        "hidden_reference": {
            "summary": UNSTATED,
            "required_elements": [],
            "flexible_elements": [],
            "target_metric": row.measure,
            "target_value": UNSTATED,
        },
        **{name: [] for name in parts},
        "min_days": 1,
        "samples_per_day": None,
        "reference_protocol": {
            "sample_size": size,
            "controls": [],
            "technique": UNSTATED,
            "duration_days": days,
            "required_equipment": [],
            "required_reagents": [],
            "rationale": UNSTATED,
        },
        "labs": {
            YOUR_LAB: {  # in which a plan of that size fits, at the usual rates
                "budget": math.ceil(credits / _ROUND) * _ROUND,
                "days": max(_LAB_DAYS, _planned(days)),
                "staff": 3,
            }
        },
    }


def stated(text: str) -> str:
    """Return what a study's file says, empty where its author has said nothing."""
    return text if is_given(text) else ""


def usual_numbers(row: Kind) -> Block:
    """Return the numbers that a new study of a kind begins with."""
    return {
        **dict.fromkeys(EFFECTS),
        "alpha": 0.05 if "alpha" in row.needs else None,
        "target": 0.8,
        "floor": 0.5,
        "population_max": None,
        **row.usual,
    }


def _floor(row: Kind, design: Block) -> Data:
    """Return the floor of a new design: its target where the usual one is better than that."""
    target, floor = design["target"], design["floor"]
    if not isinstance(target, int | float) or not isinstance(floor, int | float):
        return floor
    return target if row.scale.reaches(floor, target) else floor


def analysis_of(design: Design, samples: int) -> PowerAnalysis:
    """Return the power analysis that a design and so many planned samples are."""
    parameters, effect = DesignParameters.by(design), design.effect_planning
    row = KINDS[design.kind]
    return PowerAnalysis(row, parameters, effect, design.target, samples, design.dropout)


def _enough_samples(numbers: Block) -> int:
    """Return the fewest samples that reach the target, 1 where it cannot be said."""
    try:
        analysis = analysis_of(Design.model_validate(numbers), 0)
    except ValidationError:
        return 1

    def is_enough(n: int) -> bool:
        return replace(analysis, samples=n).reaches

    return bisect_left(range(LARGEST_PLANNED), True, 1, key=is_enough)


def _planned(count: Data) -> int:
    """Return a number of samples or days; 0 for one that cannot be planned."""
    return count if isinstance(count, int) and 0 <= count <= LARGEST_PLANNED else 0
