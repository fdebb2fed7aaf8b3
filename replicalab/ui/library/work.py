"""The workspace as the library keeps it, what it is called there, and back."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from replicalab.errors import LibraryContentError, ScenarioError
from replicalab.library import LONGEST_NAME, KeptPlan
from replicalab.scenarios import parse_study
from replicalab.text.lab import lab_text
from replicalab.ui import own_studies
from replicalab.ui.workspace import Workspace

_SAME: Final = (
    "seed",
    "own_lab",
    "question",
    "scientist",
    "lab_manager",
    "max_rounds",
    "recording",
    "moves",
)
"""What both call the same."""


def kept_plan(work: Workspace, text: str) -> KeptPlan:
    """Return a workspace as it is kept; ``text`` is the file of a visitor's study, else empty."""
    same = {name: getattr(work, name) for name in _SAME}
    return KeptPlan(
        study=work.scenario_id, text=text, lab=work.difficulty, plan=work.protocol, **same
    )


def workspace_of(plan: KeptPlan) -> Workspace:
    """Return the workspace that was kept, with a study of one's own now at hand.

    Raises:
        LibraryError: it cannot be shown here, or there is no room for its study.
        ScenarioError: its study cannot be read, or is not there.
    """
    own = None
    if plan.text:
        own = own_studies.at_hand(plan.text, parse_study(plan.text, "the study's file"))
    same = {name: getattr(plan, name) for name in _SAME}
    try:
        work = Workspace(
            scenario_id=plan.study, own=own, difficulty=plan.lab, protocol=plan.plan, **same
        )
    except ValidationError as error:
        said = error.errors(include_url=False)[0]
        place = ".".join(map(str, said["loc"])) or "the plan"
        raise LibraryContentError(
            f"{place}: {said['msg']}; it cannot be shown here, export it as a file"
        ) from error
    work.pack(own_studies.find)
    return work


def name_of(plan: KeptPlan) -> str:
    """Return what a plan is called until somebody renames it: its study, lab and sample size.

    Raises:
        ScenarioError: its study cannot be read.
    """
    pack = plan.pack()
    samples = (plan.plan or pack.reference_protocol).sample_size
    end = f" · {lab_text(pack)} · n {samples:,}"
    return pack.paper.name[: LONGEST_NAME - len(end)] + end


def any_name_of(plan: KeptPlan) -> str:
    """Return the same, or the study's id where it cannot be read."""
    try:
        return name_of(plan)
    except ScenarioError:
        return plan.study


def is_work(work: Workspace) -> bool:
    """Return whether anybody would miss it: something in it is not as the study's author wrote."""
    untouched = Workspace()
    said = (getattr(work, name) != getattr(untouched, name) for name in ("own_lab", "question"))
    return bool(work.protocol or work.moves or any(said))
