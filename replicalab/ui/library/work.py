"""The workspace as it is kept, what it is called, and back; and that of a file from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from replicalab.errors import LibraryContentError, ScenarioError, TraceError
from replicalab.library import LONGEST_NAME, KeptPlan
from replicalab.negotiation import Setup
from replicalab.report import Opened
from replicalab.scenarios import study_yaml
from replicalab.text.lab import lab_text
from replicalab.ui import own_studies
from replicalab.ui.workspace import LARGEST_SEED, MOST_ROUNDS, Workspace

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
_PLAYED: Final = ("lab_manager", "max_rounds")
"""What of a negotiation's setup a plan is kept with; who plays in it is told when it is shown."""
_MOST: Final = {"seed": LARGEST_SEED, "max_rounds": MOST_ROUNDS}
_LARGEST_TOLD: Final = 10**12


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
        ScenarioError: its study cannot be read, or is not there, or another has its id.
    """
    for problem in _not_shown(seed=plan.seed, max_rounds=plan.max_rounds):
        raise LibraryContentError(problem)
    study = plan.own_study()
    own = own_studies.at_hand(plan.text, study) if study else None
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


def workspace_of_run(setup: Setup, now: Workspace) -> Workspace:
    """Return the workspace in which a negotiation from elsewhere is shown, at its first round.

    Raises:
        TraceError: it has more rounds, or a larger seed, than can be shown.
    """
    for problem in _not_shown(seed=setup.seed, max_rounds=setup.max_rounds):
        raise TraceError(f"setup.{problem}")
    same = now.scenario_id == setup.scenario_id
    own = now.own if same else own_studies.key_of(setup.scenario_id)
    opened = now.with_study(setup.scenario_id, own).with_lab(setup.difficulty, setup.seed)
    return opened.changed(
        own_lab=setup.own_lab,
        question=setup.question,
        protocol=now.protocol if same else None,
        max_rounds=setup.max_rounds,
        lab_manager=setup.lab_manager,
    )


def require_its_own(plan: KeptPlan) -> None:
    """Refuse a plan whose study is another than the shelf's of that id.

    Raises:
        ScenarioError: it is; or it cannot be read.
    """
    if study := plan.own_study():
        own_studies.is_on_the_shelf(study, "the plan’s study")


def plan_in(bundle: Opened, file: str) -> KeptPlan:
    """Return the plan of a bundle with all that it was made in.

    Raises:
        ScenarioError: another study of that id is on the shelf.
    """
    study, pack, plan = bundle.written.study, bundle.options.yours.pack, bundle.options.yours.plan
    run = bundle.run
    players = {name: getattr(run.setup, name) for name in _PLAYED} if run else {}
    return KeptPlan(
        study=study.scenario_id,
        text="" if own_studies.is_on_the_shelf(study, file) else study_yaml(study),
        lab=pack.difficulty,
        seed=pack.seed,
        own_lab=pack.own_lab,
        question=pack.question,
        plan=None if plan == pack.reference_protocol else plan,
        **players,
    )


def _not_shown(**values: int) -> Iterator[str]:
    """Yield what of some numbers is too large for the pages."""
    for name, value in values.items():
        if value > (most := _MOST[name]):
            told = f"{value:,}" if value < _LARGEST_TOLD else f"over {_LARGEST_TOLD:,}"
            yield (
                f"{name} is {told}, and at most {most:,} can be shown here; play that negotiation "
                f"anew with {most:,} or less"
            )


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
