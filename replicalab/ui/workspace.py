"""The workspace of every page: a case, a round of its negotiation, and the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator

from replicalab.case import Case
from replicalab.limits import MOST_SIDES
from replicalab.models import Record
from replicalab.negotiation import ScientistKind
from replicalab.scenarios import Difficulty

DEFAULT_STUDY: Final = "fin_momentum"
DEFAULT_DIFFICULTY: Final = Difficulty.MEDIUM
LARGEST_SEED: Final = 999_999
MOST_ROUNDS: Final = 12
MOST_SLIDES: Final = 99
LONGEST_NAME: Final = 60  # characters of a name in the tray


class TrayCase(Record):
    """A named case in the comparison tray; ``run`` compares the final plan of its negotiation."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
    case: Case
    run: bool = False

    @property
    def is_run(self) -> bool:
        """Whether its negotiation is compared: as chosen, or if it is more than a plan."""
        return self.run or self.case.is_run


class Workspace(Record):
    """The state that every page shows.

    Attributes:
        case: the open case.
        round_number: the shown round of its negotiation, from 0.
        presenting: the shown slide, from 1; 0 without a presentation.
        survey: whether the front door shows all studies in the visitor's lab.
        challenge: whether checks and the best plan are hidden until a plan is handed in.
        tray: the comparison tray.
    """

    case: Case = Case(study=DEFAULT_STUDY, lab=DEFAULT_DIFFICULTY)
    round_number: Annotated[int, Field(strict=True, ge=0, lt=MOST_ROUNDS)] = 0
    presenting: Annotated[int, Field(strict=True, ge=0, le=MOST_SLIDES)] = 0
    survey: bool = False
    challenge: bool = False
    tray: Annotated[tuple[TrayCase, ...], Field(max_length=MOST_SIDES)] = ()

    @model_validator(mode="after")
    def _can_be_shown(self) -> Self:
        for problem in not_shown(self.case):
            raise ValueError(problem)
        return self

    def changed(self, **changes: object) -> Workspace:
        """Return this workspace with changed fields, also of its case, validated."""
        record = {name: value for name, value in changes.items() if name in Workspace.model_fields}
        if of_case := {name: value for name, value in changes.items() if name not in record}:
            record["case"] = self.case.changed(**of_case)
        return self.model_copy(update=record)

    def with_case(self, case: Case) -> Workspace:
        """Return this workspace with another case at its first round."""
        return self.changed(case=case, round_number=0)

    def begun(self, case: Case) -> Workspace:
        """Return a new workspace with a case and the same tray."""
        return Workspace(case=case, tray=self.tray)

    def stepped_from(self, now: Workspace) -> Workspace:
        """Return this workspace as a step of undo or redo restores it.

        Players, rounds, presentation, survey, challenge and the registration of the same study
        stay as they are now; in the same lab also a person's moves. Other moves are restored only
        for the same players.
        """
        case, last, moves = self.case, now.case, self.case.moves
        players = {n: getattr(last, n) for n in ("max_rounds", "scientist", "lab_manager")}
        same = case.where == last.where and case.recording == last.recording
        if same and last.scientist is ScientistKind.PERSON:
            moves = last.moves
        elif any(getattr(case, name) != value for name, value in players.items()):
            moves = ()
        record = {name: getattr(now, name) for name in ("presenting", "survey", "challenge")}
        record["round_number"] = 0
        is_same_study = (case.study, case.own) == (last.study, last.own)
        registration = (last if is_same_study else case).registration
        return self.changed(
            case=case.changed(**players, moves=moves, registration=registration), **record
        )


def not_shown(case: Case) -> Iterator[str]:
    """Yield why pages cannot show a case, with a remedy."""
    for name, value, limit in (
        ("seed", case.seed, LARGEST_SEED),
        ("max_rounds", case.max_rounds, MOST_ROUNDS),
        ("moves", len(case.moves), MOST_ROUNDS),
    ):
        if value > limit:
            text = f"{value:,}" if value < 10**12 else "over 1,000,000,000,000"
            yield (
                f"{name} is {text}, and at most {limit:,} can be shown here; play that negotiation "
                f"anew with {limit:,} or less"
            )
