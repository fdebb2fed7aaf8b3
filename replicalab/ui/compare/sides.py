"""The sides of a comparison: what is kept beside, judged and negotiated, or why it cannot be."""

from __future__ import annotations

from typing import Final, NamedTuple

from replicalab.assessment import assess
from replicalab.comparison import FEWEST_SIDES, Side, negotiated, recorded
from replicalab.errors import ReplicaLabError
from replicalab.ui import beside, own_studies, state
from replicalab.ui.workspace import Beside, Workspace

OPEN: Final = "On the workbench"
"""What the open plan is called where it is compared without being kept beside."""


class Found(NamedTuple):
    """What can be compared, its workspaces in the same order, and why the rest cannot be."""

    sides: list[Side]
    kept: list[Beside]
    problems: list[str]


def found() -> Found:
    """Return what is compared: what is beside, and the open plan beside a single one."""
    work = state.workspace()
    kept = list(work.beside)
    if len(kept) < FEWEST_SIDES and kept and beside.place_of(work) is None:
        kept.append(beside.named(OPEN, work, kept))
    sides, able, problems = [], [], []
    for each in kept:
        try:
            sides.append(side_of(each.name, each.work))
            able.append(each)
        except ReplicaLabError as error:
            problems.append(f"{each.name}: {error}")
    return Found(sides, able, problems)


def side_of(name: str, work: Workspace) -> Side:
    """Return a workspace as a side.

    Raises:
        ReplicaLabError: its study is not here, or its negotiation cannot be played.
    """
    plan = assess(work.plan(own_studies.find), work.pack(own_studies.find))
    if work.recording:
        return Side(name, plan, recorded(plan, work.recording))
    played = negotiated(
        plan,
        scientist=work.scientist,
        lab_manager=work.lab_manager,
        max_rounds=work.max_rounds,
        moves=work.moves,
    )
    return Side(name, plan, played)
