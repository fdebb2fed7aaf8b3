"""What every page shows, as one value: a study, a lab, a plan, a round of its negotiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator

from replicalab.comparison import MOST_SIDES
from replicalab.models import Protocol, Record
from replicalab.negotiation import AUTOMATIC, LabManagerKind, Move, ScientistKind
from replicalab.scenarios import (
    MAX_ROUNDS,
    Difficulty,
    Identifier,
    OwnLab,
    Pack,
    Question,
)

FindPack = Callable[[str, str, int, str | None], Pack]
"""Finds a study in its lab: (scenario_id, difficulty, seed, own); raises ScenarioError.

It is asked for wherever one is needed: what looks on the shelf alone misses a visitor's own."""

DEFAULT_STUDY: Final = "fin_momentum"
DEFAULT_DIFFICULTY: Final = Difficulty.MEDIUM
LARGEST_SEED: Final = 999_999
MOST_ROUNDS: Final = 12
MOST_SLIDES: Final = 99
LONGEST_NAME: Final = 60
"""The most characters of what is kept beside is called."""


class Beside(Record):
    """A workspace that was kept beside another under a name; it has none beside itself.

    ``run`` is whether its negotiation was, and not its plan: one is judged by the plan that it
    comes to.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
    work: Workspace
    run: bool = False

    @model_validator(mode="after")
    def _is_alone(self) -> Self:
        if self.work.beside:
            raise ValueError("what is kept beside has nothing beside itself")
        return self

    @property
    def is_run(self) -> bool:
        """Whether its negotiation is compared; what no plan stands for alone is a negotiation."""
        return self.run or self.work.is_run


class Workspace(Record):
    """What every page shows: a study in a lab, a plan, and a round of its negotiation.

    ``own`` is the key of a visitor's study; None is one on the shelf. ``protocol`` is None while
    the plan is the study's reference protocol; ``round_number`` counts from 0. ``own_lab`` and
    ``question`` are what the visitor says of the lab, and of what the evidence assumes, in place of
    the study. ``scientist`` and ``lab_manager`` play the negotiation, unless ``recording`` names a
    recorded one; ``moves`` are what was played by hand in it. ``presenting`` is the slide that an
    audience sees, counted from 1; 0 while nothing is presented. ``survey`` is whether the front
    door shows every study in the lab. ``beside`` are the workspaces that were kept beside, to be
    compared.
    """

    scenario_id: Identifier = DEFAULT_STUDY
    own: Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")] | None = None
    difficulty: Difficulty = DEFAULT_DIFFICULTY
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST_SEED)] = 0
    protocol: Protocol | None = None
    max_rounds: Annotated[int, Field(strict=True, ge=1, le=MOST_ROUNDS)] = MAX_ROUNDS
    round_number: Annotated[int, Field(strict=True, ge=0, lt=MOST_ROUNDS)] = 0
    own_lab: OwnLab = OwnLab()
    question: Question = Question()
    scientist: ScientistKind = ScientistKind.EVIDENCE_AWARE
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE
    recording: Identifier | None = None
    presenting: Annotated[int, Field(strict=True, ge=0, le=MOST_SLIDES)] = 0
    survey: bool = False
    moves: Annotated[tuple[Move, ...], Field(max_length=MOST_ROUNDS)] = ()
    beside: Annotated[tuple[Beside, ...], Field(max_length=MOST_SIDES)] = ()

    @model_validator(mode="after")
    def _is_played_here(self) -> Self:
        if self.moves and (self.recording or self.scientist is ScientistKind.MODEL):
            raise ValueError("nothing is played by hand in a recorded run, or in a model's place")
        return self

    def pack(self, find: FindPack) -> Pack:
        """Return the study in the lab, and with the question, that the visitor has given it.

        Raises:
            ScenarioError: the study is not found, or cannot be asked that question.
        """
        return self.written(find).with_own(self.own_lab, self.question)

    def written(self, find: FindPack) -> Pack:
        """Return the study in its lab as its author wrote both.

        Raises:
            ScenarioError: the study is not found.
        """
        return find(*self.where)

    def plan(self, find: FindPack) -> Protocol:
        """Return the plan: the edited one, or the study's reference protocol."""
        return self.protocol or self.pack(find).reference_protocol

    def with_plan(self, protocol: Protocol | None, find: FindPack) -> Workspace:
        """Return this workspace with another plan, at the first round."""
        same = protocol is not None and protocol == self.pack(find).reference_protocol
        return self._anew(protocol=None if same else protocol, moves=self._kept_moves)

    @property
    def _kept_moves(self) -> tuple[Move, ...]:
        """What a person plays whatever the plan and the lab; moves within a rule's run are not."""
        return self.moves if self.scientist is ScientistKind.PERSON else ()

    def with_study(self, scenario_id: str, own: str | None = None) -> Workspace:
        """Return another study with its reference protocol, in the same lab and seed.

        A named lab of one's own goes along; what else is said of a lab is said of this study's.
        """
        own_lab = self.own_lab if self.own_lab.name else OwnLab()
        asked = {"scenario_id": scenario_id, "own": own, "protocol": None, "question": Question()}
        return self._anew(own_lab=own_lab, **asked)

    def with_lab(self, difficulty: str, seed: int) -> Workspace:
        """Return the same study and plan in another of its labs, as that is written."""
        return self._anew(difficulty=difficulty, seed=seed, own_lab=OwnLab())

    def with_own(self, **said: object) -> Workspace:
        """Return the same plan in another ``own_lab``, or asked another ``question``."""
        return self._anew(moves=self._kept_moves, **said)

    def _anew(self, **changes: object) -> Workspace:
        """Return this workspace changed, and its negotiation at the first round."""
        return self.changed(**{"recording": None, "round_number": 0, "moves": (), **changes})

    @property
    def alone(self) -> Workspace:
        """This workspace as it is kept beside another: no round looked at, nothing beside it."""
        shown = {"round_number": 0, "presenting": 0, "survey": False, "beside": ()}
        return self.changed(**shown)

    @property
    def is_run(self) -> bool:
        """Whether it is open for one course of a negotiation: a recorded one, or a fork."""
        return self.recording is not None or bool(self.moves and self.scientist in AUTOMATIC)

    @property
    def has_run(self) -> bool:
        """Whether it says all of a negotiation, which is played again from it."""
        return self.is_run or bool(self.moves) or self.scientist in AUTOMATIC

    @property
    def where(self) -> tuple[str, str, int, str | None]:
        """The study and its lab, as `FindPack` asks for them."""
        return self.scenario_id, self.difficulty.value, self.seed, self.own

    def stepped_from(self, now: Workspace) -> Workspace:
        """Return this workspace as a step of undo or redo brings it back.

        Players, rounds, presentation and survey stay as they are now; in the same lab so does what
        a person plays there.
        """
        kept = ["max_rounds", "scientist", "lab_manager", "presenting", "survey"]
        same = self.where == now.where and self.recording == now.recording
        kept += ["moves"] if same and now.scientist is ScientistKind.PERSON else []
        found = {name: getattr(now, name) for name in kept}
        return self.changed(round_number=0, **{"moves": (), **found})

    def seated(self, **players: object) -> Workspace:
        """Return this workspace with other players, or rounds, and a negotiation from the start."""
        return self.changed(recording=None, round_number=0, moves=(), **players)

    def changed(self, **changes: object) -> Workspace:
        """Return this workspace with some fields changed, built through validation.

        Raises:
            pydantic.ValidationError: a changed value is not allowed.
        """
        return Workspace.model_validate({**dict(self), **changes})


Beside.model_rebuild()
