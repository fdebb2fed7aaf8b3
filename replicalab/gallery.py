"""What the front door shows of each study: what it teaches, and how its three labs answer."""

from __future__ import annotations

from typing import NamedTuple

from replicalab.agents import (
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.models import Dimension, LabManagerActionType
from replicalab.scenarios import (
    Difficulty,
    NormalizedScenarioPack,
    ScenarioSummary,
    list_scenarios,
    load_scenario,
)


class LabAnswer(NamedTuple):
    """How one lab, as written, answers the study's reference protocol."""

    difficulty: Difficulty
    answer: LabManagerActionType
    failing: list[Dimension]


class Card(NamedTuple):
    """One study at a glance."""

    summary: ScenarioSummary
    labs: list[LabAnswer]


def cards() -> list[Card]:
    """Return a card per study on the shelf, in the shelf's order."""
    return [
        Card(
            summary,
            [_answer(load_scenario(summary.scenario_id, level.value)) for level in Difficulty],
        )
        for summary in list_scenarios()
    ]


def _answer(pack: NormalizedScenarioPack) -> LabAnswer:
    check = check_feasibility(pack.reference_protocol, pack)
    suggestion = suggest_alternative(pack.reference_protocol, check, pack)
    answer = compose_lab_manager_response(check, suggestion)
    return LabAnswer(pack.difficulty, answer.action_type, check.failing)
