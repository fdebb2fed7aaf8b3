"""The workspace as it is kept, what it is called, and back; and that of a file from elsewhere."""

from replicalab.case import Case
from replicalab.errors import LibraryContentError, ScenarioError, TraceError
from replicalab.facts.lab import lab_text
from replicalab.library import LONGEST_NAME
from replicalab.negotiation import Setup
from replicalab.reports import OpenedBundle, open_bundle
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, study_yaml
from replicalab.scenarios.reading import Values
from replicalab.ui import own_studies
from replicalab.ui.workspace import not_shown


def kept_case(case: Case) -> Case:
    """Return a case as it is kept, with the file of a study of one's own in it."""
    return case.changed(own=None, text=own_studies.text_of(case.own))


def case_here(kept: Case) -> Case:
    """Return a case that was kept, with a study of one's own now at hand.

    Raises:
        LibraryError: it cannot be shown here, or there is no room for its study.
        ScenarioError: its study cannot be read, or is not there, or another has its id.
    """
    for problem in not_shown(kept):
        raise LibraryContentError(problem)
    study = kept.own_study()
    own = own_studies.find_or_add(kept.text, study) if study else None
    case = kept.changed(own=own, text="")
    case.pack(own_studies.find)
    return case


def case_of_run(setup: Setup, now: Case) -> Case:
    """Return the case in which a negotiation from elsewhere is shown; ``now`` is open.

    Raises:
        TraceError: it has more rounds, or a larger seed, than can be shown.
    """
    same = now.study == setup.scenario_id
    case = Case.of_run(
        setup,
        own=now.own if same else own_studies.key_of(setup.scenario_id),
        plan=now.plan if same else None,
        scientist=now.scientist,
    )
    for problem in not_shown(case):
        raise TraceError(f"setup.{problem}")
    return case


def require_its_own(plan: Case) -> None:
    """Refuse a plan whose study is another than the shelf's of that id.

    Raises:
        ScenarioError: it is; or it cannot be read.
    """
    if study := plan.own_study():
        own_studies.is_on_the_shelf(study, "the plan’s study")


def bundle_here(values: Values, file: str) -> OpenedBundle:
    """Return a bundle, in the study that is on the shelf now where it has one of that id.

    Raises:
        ScenarioError: it cannot be read, or the study of now cannot be asked what it asks.
    """
    bundle = open_bundle(values, file)
    saved = bundle.written.study
    now = own_studies.on_the_shelf(saved.scenario_id)
    if now is None or now == saved:
        return bundle
    return open_bundle({**values, "study": now.model_dump(mode="json")}, file)


def bundled_case(bundle: OpenedBundle, file: str) -> Case:
    """Return the case of a bundle, with the study's file in it where it is not the shelf's.

    Raises:
        ScenarioError: another study of that id is on the shelf.
    """
    study = bundle.written.study
    text = "" if own_studies.is_on_the_shelf(study, file) else study_yaml(study)
    return bundle.case.changed(text=text)


def name_of(plan: Case) -> str:
    """Return what a plan is called until somebody renames it: its study, lab and sample size.

    Where its study cannot be read it is the study's id.
    """
    try:
        pack = plan.pack()
    except ScenarioError:
        return plan.study
    samples = (plan.plan or pack.reference_protocol).sample_size
    end = f" · {lab_text(pack)} · n {samples:,}"
    return pack.paper.name[: LONGEST_NAME - len(end)] + end


def is_work(case: Case) -> bool:
    """Return whether anybody would miss it: something in it is not as the study's author wrote."""
    asked = EvidenceAssumptions()
    return bool(case.plan or case.moves) or case.own_lab != LabOverrides() or case.question != asked
