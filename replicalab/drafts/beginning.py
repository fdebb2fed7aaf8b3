"""A new study, of which only numbers are known."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from replicalab import designs, lexicon, limits, scenarios
from replicalab.scenarios.lab import COST_PER_DAY, COST_PER_SAMPLE
from replicalab.scenarios.reading import Data

Block = dict[str, Data]  # a part of a study file

YOUR_LAB: Final = scenarios.Difficulty.MEDIUM.value  # the lab of the form
UNSTATED: Final = "Not given."  # for a required text that its author has not written
NEW_NAME: Final = "My study"
DEFAULT: Final = "ReplicaLab’s default."  # the reason for a number that was not given
_EFFECTS: Final = ("effect_published", "effect_planning", "sesoi")
NUMBERS: Final = (*_EFFECTS, *designs.PARAMETERS, "target", "floor")
"""The numbers of a design; a kind has some of them."""
_OPTIONAL: Final = frozenset(name for row in designs.KINDS.values() for name in row.extras)
_FIRST: Final = next(iter(designs.KINDS))
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
    """Return a study of these numbers only, valid or not, in a lab that can run it."""
    row = designs.KINDS[kind]
    # A file does not state the usual sides.
    stated = {name: x for name, x in (numbers or {}).items() if (name, x) != ("sides", 2)}
    design: Block = {"kind": kind, **usual_numbers(row), **stated}
    target, floor = design["target"], design["floor"]
    if isinstance(target, int | float) and isinstance(floor, int | float):
        design["floor"] = target if row.scale.reaches(floor, target) else floor
    named = [name for name in NUMBERS if name not in _OPTIONAL or stated.get(name) is not None]
    named += ["dropout"] if stated.get("dropout") else []
    why = dict.fromkeys(named, UNSTATED) | ({} if "floor" in stated else {"floor": DEFAULT})
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
        "design": {name: design[name] for name in scenarios.Design.model_fields if name in design},
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
            YOUR_LAB: {  # a plan of that size fits, at the usual rates
                "budget": math.ceil(credits / _ROUND) * _ROUND,
                "days": max(_LAB_DAYS, _planned(days)),
                "staff": 3,
            }
        },
    }


def stated_text(text: str) -> str:
    """Return a text of a study file, empty if its author has not written it."""
    return text if lexicon.is_given(text) else ""


def usual_numbers(row: designs.Kind) -> Block:
    return {
        **dict.fromkeys(_EFFECTS),
        "alpha": 0.05 if "alpha" in row.needs else None,
        "target": 0.8,
        "floor": 0.5,
        "population_max": None,
        **row.usual,
    }


def analysis_of(design: scenarios.Design, samples: int) -> designs.PowerAnalysis:
    parameters, effect = designs.DesignParameters.by(design), design.effect_planning
    row = designs.KINDS[design.kind]
    return designs.PowerAnalysis(row, parameters, effect, design.target, samples, design.dropout)


def _enough_samples(numbers: Block) -> int:
    try:
        analysis = analysis_of(scenarios.Design.model_validate(numbers), 0)
    except ValidationError:
        return 1
    counts = range(limits.LARGEST_PLANNED)
    return bisect_left(counts, True, 1, key=lambda n: replace(analysis, samples=n).reaches)


def _planned(count: Data) -> int:
    return count if isinstance(count, int) and 0 <= count <= limits.LARGEST_PLANNED else 0
