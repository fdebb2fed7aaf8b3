"""What every page shows, as one value: a study, a lab, a plan, a round of its negotiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from replicalab.models import Protocol, Record
from replicalab.scenarios import Difficulty, NormalizedScenarioPack, load_scenario
from replicalab.scenarios.models import MAX_ROUNDS, Identifier

FindPack = Callable[[str, str, int], NormalizedScenarioPack]
"""Finds a study in its lab: (scenario_id, difficulty, seed); raises ScenarioError."""

DEFAULT_STUDY: Final = "fin_momentum"
DEFAULT_DIFFICULTY: Final = Difficulty.MEDIUM
LARGEST_SEED: Final = 999_999
MOST_ROUNDS: Final = 12
LARGEST_PLANNED: Final = 1_000_000
"""The most samples, or days, that a workspace holds: what the evidence is computed for."""


class Workspace(Record):
    """What every page shows: a study in a lab, a plan, and a round of its negotiation.

    ``protocol`` is None while the plan is the study's reference protocol; ``round_number``
    counts from 0.
    """

    scenario_id: Identifier = DEFAULT_STUDY
    difficulty: Difficulty = DEFAULT_DIFFICULTY
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST_SEED)] = 0
    protocol: Protocol | None = None
    max_rounds: Annotated[int, Field(strict=True, ge=1, le=MOST_ROUNDS)] = MAX_ROUNDS
    round_number: Annotated[int, Field(strict=True, ge=0, lt=MOST_ROUNDS)] = 0

    def pack(self, find: FindPack = load_scenario) -> NormalizedScenarioPack:
        """Return the study in its lab.

        Raises:
            ScenarioError: the study is not found.
        """
        return find(self.scenario_id, self.difficulty.value, self.seed)

    def plan(self, find: FindPack = load_scenario) -> Protocol:
        """Return the plan: the edited one, or the study's reference protocol."""
        return self.protocol or self.pack(find).reference_protocol

    def with_plan(self, protocol: Protocol | None, find: FindPack = load_scenario) -> Workspace:
        """Return this workspace with another plan, at the first round."""
        same = protocol is not None and protocol == self.pack(find).reference_protocol
        return self.changed(protocol=None if same else protocol, round_number=0)

    def with_study(self, scenario_id: str) -> Workspace:
        """Return another study with its reference protocol, in the same lab and seed."""
        return self.changed(scenario_id=scenario_id, protocol=None, round_number=0)

    def with_lab(self, difficulty: str, seed: int) -> Workspace:
        """Return the same study and plan in another lab."""
        return self.changed(difficulty=difficulty, seed=seed, round_number=0)

    def with_rounds(self, most: int) -> Workspace:
        """Return this workspace with at most that many rounds, at the first."""
        return self.changed(max_rounds=most, round_number=0)

    def at_round(self, number: int) -> Workspace:
        """Return this workspace at a round, counted from 0."""
        return self.changed(round_number=number)

    def changed(self, **changes: object) -> Workspace:
        """Return this workspace with some fields changed, built through validation.

        Raises:
            pydantic.ValidationError: a changed value is not allowed.
        """
        return Workspace.model_validate({**dict(self), **changes})
