"""Documents in each form, imported with the first one, for Jinja2; and bundles.

A bundle is a workspace as one JSON file. It holds the study, so it opens on any server.
"""

import json
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field, JsonValue, StringConstraints, ValidationError

from replicalab import __version__, scenarios
from replicalab.errors import Fault, ScenarioError, TraceError
from replicalab.facts.blocks import Document, Paper
from replicalab.facts.documents import brief, funding_request, input_hash, of_run
from replicalab.facts.report import report
from replicalab.models import NonEmptyText, Record
from replicalab.negotiation import Negotiation, Recording, Transcript, replay, save
from replicalab.negotiation.case import Case, in_labs_of
from replicalab.negotiation.records import ShortPlan
from replicalab.planner import PlanAnalysis
from replicalab.render.html import document_html, preview
from replicalab.render.markdown import csv_tables, excel, markdown
from replicalab.scenarios.reading import FORMAT, FileKind, Values, read_kind, record_error

__all__ = [
    "Document",
    "OpenedBundle",
    "Paper",
    "brief",
    "bundle",
    "csv_tables",
    "document_html",
    "excel",
    "funding_request",
    "input_hash",
    "markdown",
    "of_run",
    "open_bundle",
    "preview",
    "report",
]

SOURCE: Final = "the bundle"
_REMEDY: Final = "load a bundle that was saved here"
_CHANGED: Final = "The study, the lab or the plan differs from the one that was saved."
_SCHEMA: Final = "schema"  # an extra key of a bundle in the JSON answer of a command


class _Bundle(Record):
    format: Literal[2]
    version: Annotated[NonEmptyText, Field(max_length=40)]
    input_hash: Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
    study: dict[str, JsonValue]
    difficulty: scenarios.Difficulty
    seed: scenarios.Seed
    own_lab: scenarios.LabOverrides = scenarios.LabOverrides()
    question: scenarios.EvidenceAssumptions = scenarios.EvidenceAssumptions()
    plan: ShortPlan
    negotiation: Transcript | None = None


class OpenedBundle(NamedTuple):
    """The content of a bundle, computed again.

    Attributes:
        options: the analysis of the plan in its lab.
        written: the lab as the study's author wrote it.
        recording: the data on a recorded model, if any.
        run: the negotiation as it plays now, None if none was saved.
        caution: a warning if study, lab or plan differ from the saved ones.
    """

    options: PlanAnalysis
    written: scenarios.Pack
    recording: Recording | None
    run: Negotiation | None
    caution: str

    @property
    def case(self) -> Case:
        """The plan with its lab and question, the Lab Manager and the number of rounds."""
        yours, setup = self.options.yours, self.run and self.run.setup
        played = {n: getattr(setup, n) for n in ("lab_manager", "max_rounds")} if setup else {}
        return Case.of(yours.pack, yours.plan, **played)


def bundle(
    options: PlanAnalysis,
    written: scenarios.Pack,
    run: Negotiation | None = None,
    recording: Recording | None = None,
) -> str:
    """Return a plan in its lab, and its negotiation, as the text of a file."""
    yours, pack = options.yours, options.yours.pack
    record: dict[str, object] = {
        "format": FORMAT,
        "version": __version__,
        "input_hash": input_hash(yours),
        "study": written.study.model_dump(mode="json"),
        "difficulty": pack.difficulty,
        "seed": pack.seed,
        "own_lab": pack.own_lab.model_dump(mode="json", exclude_defaults=True),
        "question": pack.question.model_dump(mode="json", exclude_defaults=True),
        "plan": yours.plan.model_dump(mode="json"),
    }
    if run is not None:
        record["negotiation"] = json.loads(save(run, recording))
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def open_bundle(data: bytes | str | Values, source: str = SOURCE) -> OpenedBundle:
    """Return the content of a bundle, assessed and replayed.

    Raises:
        ScenarioError: with each fault, its place and its remedy.
    """
    values = read_kind(data, FileKind.BUNDLE, source)
    record = {name: value for name, value in values.items() if name != _SCHEMA}
    try:
        result = _Bundle.model_validate_json(json.dumps(record))
    except ValidationError as error:
        raise record_error(error, _Bundle, source) from error
    study = _study(result, source)
    case = Case(
        study=study.scenario_id,
        lab=result.difficulty,
        seed=result.seed,
        own_lab=result.own_lab,
        question=result.question,
        plan=result.plan,
    )
    here = in_labs_of(study)
    written, yours = case.written(here), case.assessed(here)
    try:
        run = replay(result.negotiation, yours.pack) if result.negotiation else None
    except TraceError as error:
        problem, _, remedy = str(error).rpartition("; ")
        fault = Fault("negotiation", problem or remedy, remedy if problem else _REMEDY)
        raise ScenarioError(source, [fault]) from error
    return OpenedBundle(
        options=PlanAnalysis(yours),
        written=written,
        recording=result.negotiation.recording if result.negotiation else None,
        run=run,
        caution="" if result.input_hash == input_hash(yours) else _CHANGED,
    )


def _study(bundled: _Bundle, source: str) -> scenarios.Study:
    try:
        return scenarios.parse_study(json.dumps(bundled.study, ensure_ascii=False), source)
    except ScenarioError as error:
        faults = [
            Fault(f"study.{fault.path}".rstrip("."), fault.problem, fault.remedy)
            for fault in error.faults
        ]
        raise ScenarioError(source, faults, error.more) from error
