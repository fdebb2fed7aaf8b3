"""What every page shows, as one value: a study, a lab, a plan, a round of its negotiation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator

from replicalab.models import Protocol, Record
from replicalab.negotiation import LabManagerKind, Move, ScientistKind
from replicalab.scenarios import MAX_ROUNDS, MOST, Difficulty, Identifier, Pack, load_scenario

Lever = Annotated[int, Field(strict=True, ge=1, le=MOST)]
"""A lab's amount that is pulled to another value."""

FindPack = Callable[[str, str, int, str | None], Pack]
"""Finds a study in its lab: (scenario_id, difficulty, seed, own); raises ScenarioError."""

DEFAULT_STUDY: Final = "fin_momentum"
DEFAULT_DIFFICULTY: Final = Difficulty.MEDIUM
LARGEST_SEED: Final = 999_999
MOST_ROUNDS: Final = 12
MOST_SLIDES: Final = 99


def on_the_shelf(scenario_id: str, difficulty: str, seed: int, own: str | None) -> Pack:
    """Return a study on the shelf in its lab; those of visitors are not looked for."""
    return load_scenario(scenario_id, difficulty, seed)


class Workspace(Record):
    """What every page shows: a study in a lab, a plan, and a round of its negotiation.

    ``own`` is the key of a visitor's study; None is one on the shelf. ``protocol`` is None while
    the plan is the study's reference protocol; ``round_number`` counts from 0. ``budget``
    (credits), ``days`` and ``staff`` are what the Trade-offs page supposes of the lab; None is the
    lab's own. ``scientist`` and ``lab_manager`` play the negotiation, unless ``recording`` names a
    recorded one; ``moves`` are what was played by hand in it. ``presenting`` is the slide that an
    audience sees, counted from 1; 0 while nothing is presented.
    """

    scenario_id: Identifier = DEFAULT_STUDY
    own: Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")] | None = None
    difficulty: Difficulty = DEFAULT_DIFFICULTY
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST_SEED)] = 0
    protocol: Protocol | None = None
    max_rounds: Annotated[int, Field(strict=True, ge=1, le=MOST_ROUNDS)] = MAX_ROUNDS
    round_number: Annotated[int, Field(strict=True, ge=0, lt=MOST_ROUNDS)] = 0
    budget: Lever | None = None
    days: Lever | None = None
    staff: Lever | None = None
    scientist: ScientistKind = ScientistKind.EVIDENCE_AWARE
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE
    recording: Identifier | None = None
    presenting: Annotated[int, Field(strict=True, ge=0, le=MOST_SLIDES)] = 0
    moves: Annotated[tuple[Move, ...], Field(max_length=MOST_ROUNDS)] = ()

    @model_validator(mode="after")
    def _is_played_here(self) -> Self:
        if self.moves and (self.recording or self.scientist is ScientistKind.MODEL):
            raise ValueError("nothing is played by hand in a recorded run, or in a model's place")
        return self

    def pack(self, find: FindPack = on_the_shelf) -> Pack:
        """Return the study in its lab.

        Raises:
            ScenarioError: the study is not found.
        """
        return find(*self.where)

    def plan(self, find: FindPack = on_the_shelf) -> Protocol:
        """Return the plan: the edited one, or the study's reference protocol."""
        return self.protocol or self.pack(find).reference_protocol

    def with_plan(self, protocol: Protocol | None, find: FindPack = on_the_shelf) -> Workspace:
        """Return this workspace with another plan, at the first round."""
        same = protocol is not None and protocol == self.pack(find).reference_protocol
        moves = self.moves if self.scientist is ScientistKind.PERSON else ()
        return self.changed(
            protocol=None if same else protocol, recording=None, round_number=0, moves=moves
        )

    def with_study(self, scenario_id: str, own: str | None = None) -> Workspace:
        """Return another study with its reference protocol, in the same lab and seed."""
        return self._elsewhere(scenario_id=scenario_id, own=own, protocol=None)

    def with_lab(self, difficulty: str, seed: int) -> Workspace:
        """Return the same study and plan in another lab."""
        return self._elsewhere(difficulty=difficulty, seed=seed)

    def _elsewhere(self, **changes: object) -> Workspace:
        """Return this workspace in another lab, at the first round, with nothing supposed of it."""
        anew = {"recording": None, "round_number": 0, "moves": (), **dict.fromkeys(LEVERS)}
        return self.changed(**anew, **changes)

    @property
    def where(self) -> tuple[str, str, int, str | None]:
        """The study and its lab, as `FindPack` asks for them."""
        return self.scenario_id, self.difficulty.value, self.seed, self.own

    def stepped_from(self, now: Workspace) -> Workspace:
        """Return this workspace as a step of undo or redo brings it back.

        Players, rounds and presentation stay as they are now; in the same lab so does what is
        supposed of it, and what a person plays there.
        """
        kept = ["max_rounds", "scientist", "lab_manager", "presenting"]
        same = self.where == now.where and self.recording == now.recording
        kept += LEVERS if self.where == now.where else []
        kept += ["moves"] if same and now.scientist is ScientistKind.PERSON else []
        found = {name: getattr(now, name) for name in kept}
        return self.changed(round_number=0, **{"moves": (), **found})

    def seated(self, **players: object) -> Workspace:
        """Return this workspace with other players, or rounds, and a negotiation from the start."""
        return self.changed(recording=None, round_number=0, moves=(), **players)

    @property
    def levers(self) -> dict[str, int]:
        """What is supposed of the lab, by `LEVERS`; empty for the lab as it is."""
        return {name: value for name in LEVERS if (value := getattr(self, name)) is not None}

    def changed(self, **changes: object) -> Workspace:
        """Return this workspace with some fields changed, built through validation.

        Raises:
            pydantic.ValidationError: a changed value is not allowed.
        """
        return Workspace.model_validate({**dict(self), **changes})


LEVERS: Final = ("budget", "days", "staff")
"""The fields of a workspace that suppose another lab, as `Lab.with_means` names them."""


def supposed_lab(pack: Pack, levers: Mapping[str, int]) -> Pack:
    """Return the study in the lab that the levers suppose; the lab itself where none is moved."""
    if all(value == getattr(pack.lab, name) for name, value in levers.items()):
        return pack
    budget, days, staff = map(levers.get, LEVERS)
    return pack.in_lab(pack.lab.with_means(budget=budget, days=days, staff=staff))
