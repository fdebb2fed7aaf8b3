"""What every page shows, as one value: a case, a round of its negotiation, what is compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator

from replicalab.case import MOST_SIDES, Case
from replicalab.models import Record
from replicalab.negotiation import ScientistKind
from replicalab.scenarios import Difficulty

DEFAULT_STUDY: Final = "fin_momentum"
DEFAULT_DIFFICULTY: Final = Difficulty.MEDIUM
LARGEST_SEED: Final = 999_999
MOST_ROUNDS: Final = 12
MOST_SLIDES: Final = 99
LONGEST_NAME: Final = 60  # Longest name in the comparison tray, in characters
_LARGEST_WRITTEN: Final = 10**12  # A larger number is not written out


class TrayCase(Record):
    """A case in the comparison tray, under a name.

    ``run`` is whether its negotiation is compared, and not its plan: one is judged by the plan that
    it comes to.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
    case: Case
    run: bool = False

    @property
    def is_run(self) -> bool:
        """Whether its negotiation is compared; what no plan stands for alone is a negotiation."""
        return self.run or self.case.is_run


class Workspace(Record):
    """What every page shows.

    Attributes:
        case: what is open.
        round_number: the round of its negotiation that is on show, counted from 0.
        presenting: the slide that an audience sees, counted from 1; 0 while nothing is presented.
        survey: whether the front door shows every study in the lab.
        challenge: whether the checks and the best plan are hidden until a plan is handed in.
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
        """Return this workspace with some fields changed, its case's too, built through validation.

        Raises:
            pydantic.ValidationError: a changed value is not allowed.
        """
        shown = {name: value for name, value in changes.items() if name in Workspace.model_fields}
        if of_case := {name: value for name, value in changes.items() if name not in shown}:
            shown["case"] = self.case.changed(**of_case)
        return self.model_copy(update=shown)

    def with_case(self, case: Case) -> Workspace:
        """Return this workspace with another case, at its first round."""
        return self.changed(case=case, round_number=0)

    def begun(self, case: Case) -> Workspace:
        """Return a workspace that begins with a case; what is compared stays."""
        return Workspace(case=case, tray=self.tray)

    def stepped_from(self, now: Workspace) -> Workspace:
        """Return this workspace as a step of undo or redo brings it back.

        Players, rounds, presentation, survey and challenge stay as they are now, and what is said
        in the registration of the same study; in the same lab so does what a person plays there.
        What was played comes back only to who played it.
        """
        case, last, moves = self.case, now.case, self.case.moves
        players = {n: getattr(last, n) for n in ("max_rounds", "scientist", "lab_manager")}
        same = case.where == last.where and case.recording == last.recording
        if same and last.scientist is ScientistKind.PERSON:
            moves = last.moves
        elif any(getattr(case, name) != value for name, value in players.items()):
            moves = ()
        shown = {name: getattr(now, name) for name in ("presenting", "survey", "challenge")}
        shown["round_number"] = 0
        is_same_study = (case.study, case.own) == (last.study, last.own)
        said = (last if is_same_study else case).registration
        return self.changed(case=case.changed(**players, moves=moves, registration=said), **shown)


def not_shown(case: Case) -> Iterator[str]:
    """Yield what of a case is more than the pages can show, and what to do."""
    for name, value, most in (
        ("seed", case.seed, LARGEST_SEED),
        ("max_rounds", case.max_rounds, MOST_ROUNDS),
        ("moves", len(case.moves), MOST_ROUNDS),
    ):
        if value > most:
            shown = f"{value:,}" if value < _LARGEST_WRITTEN else f"over {_LARGEST_WRITTEN:,}"
            yield (
                f"{name} is {shown}, and at most {most:,} can be shown here; play that negotiation "
                f"anew with {most:,} or less"
            )
