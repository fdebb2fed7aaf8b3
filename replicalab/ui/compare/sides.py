"""The sides of a comparison: what is kept beside, judged and negotiated, or why it cannot be."""

from __future__ import annotations

from typing import Final, NamedTuple

from replicalab.comparison import FEWEST_SIDES, Side, negotiated, recorded, side_of_run
from replicalab.errors import ReplicaLabError
from replicalab.ui import own_studies, state, tray
from replicalab.ui.tray import TrayCandidate
from replicalab.ui.workspace import TrayCase

OPEN: Final = "On the workbench"
"""What the open plan is called where it is compared without being kept beside."""


class Found(NamedTuple):
    """What can be compared, its cases in the same order, and why the rest cannot be."""

    sides: list[Side]
    kept: list[TrayCase]
    problems: list[str]


def found() -> Found:
    """Return what is compared: what is beside, and the open plan beside a single one."""
    work = state.workspace()
    kept, alone = list(work.tray), work.case.seated()
    if len(kept) < FEWEST_SIDES and kept and tray.place_of(alone, run=False) is None:
        kept.append(tray.named(TrayCandidate(OPEN, alone), kept))
    sides, able, problems = [], [], []
    for each in kept:
        try:
            sides.append(side_of(each))
            able.append(each)
        except ReplicaLabError as error:
            problems.append(f"{each.name}: {error}")
    return Found(sides, able, problems)


def side_of(kept: TrayCase) -> Side:
    """Return what is kept beside as a side.

    Raises:
        ReplicaLabError: its study is not here, or its negotiation cannot be played.
    """
    case = kept.case if kept.is_run else kept.case.changed(moves=())
    plan = case.assessed(own_studies.find)
    played = recorded(plan, case.recording) if case.recording else negotiated(plan, case)
    if kept.is_run and played:
        return side_of_run(kept.name, played)
    return Side(kept.name, plan, played)
