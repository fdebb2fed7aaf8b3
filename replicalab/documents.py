"""Files to import and export: a row for each kind, and for each export format; bundles."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field, JsonValue, StringConstraints, ValidationError

from replicalab import __version__, features, scenarios
from replicalab.answers import Registration
from replicalab.errors import Fault, ScenarioError, TraceError
from replicalab.facts.blocks import Document, Paper, Part, Sentence, part
from replicalab.facts.document_facts import brief, funding_request, input_hash, of_run
from replicalab.facts.report_facts import report
from replicalab.library import EntryKind
from replicalab.limits import MOST_FILE_BYTES
from replicalab.models import NonEmptyText, Record
from replicalab.negotiation import Negotiation, Recording, Transcript, replay, save
from replicalab.negotiation.case import Case, in_labs_of
from replicalab.negotiation.records import ShortPlan
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Pack, reading
from replicalab.scenarios.reading import FileKind, Values

MIMES: Final = {
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "json": "application/json",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "yaml": "application/yaml",
}
"""The type of every exported file, by its extension."""

STUDY_SUFFIXES: Final = ("yaml", "yml")
STUDY_MB: Final = 1
SUFFIXES: Final = ("json", *STUDY_SUFFIXES)
_ALL: Final = "bundle, negotiation, plan, lab or study"


class DocumentRow(NamedTuple):
    """A kind of file to import; `FileKind` has its marks.

    A bundle is saved part by part, a bare plan with the open study and lab, so neither is an entry.
    """

    kept_as: EntryKind | None
    suffix: str = "json"
    opens: bool = True  # by Open a file; other kinds are imported into the library
    is_compared: bool = False  # whether saved entries can be compared


DOCUMENTS: Final = {
    FileKind.BUNDLE: DocumentRow(None),
    FileKind.RUN: DocumentRow(EntryKind.RUN, is_compared=True),
    FileKind.BATCH: DocumentRow(EntryKind.BATCH, opens=False),
    FileKind.STUDY: DocumentRow(EntryKind.STUDY, "yaml"),
    FileKind.KEPT_PLAN: DocumentRow(EntryKind.PLAN, is_compared=True),
    FileKind.LAB: DocumentRow(EntryKind.LAB, is_compared=True),
    FileKind.PLAN: DocumentRow(None),
}
"""Every kind of file to import."""
KEPT: Final = {row.kept_as: kind for kind, row in DOCUMENTS.items() if row.kept_as}
"""As which file each kind of entry is exported from the library."""


class FoundFile(NamedTuple):
    """A file of a known kind; the values of a study are not read yet."""

    kind: FileKind
    text: str
    values: Values


def detect_kind(data: bytes, file: str) -> FoundFile:
    """Return a file with its kind, which its values decide; raises ScenarioError."""
    text = scenarios.readable_text(data, file, MOST_FILE_BYTES)
    remedy = "choose one saved here; the name of a study ends in .yaml"
    try:
        values = reading.read_json(text, file, _ALL, remedy)
    except ScenarioError:
        if file.lower().endswith(".json"):
            raise
        return FoundFile(FileKind.STUDY, text, {})
    if kind := reading.kind_of(values):
        return FoundFile(kind, text, values)
    raise ScenarioError(file, [Fault("", f"the file holds no {_ALL}", remedy)])


class ExportFormat(NamedTuple):
    """An export format of a document."""

    name: str  # the label of its button
    maker: str  # its function in a module of `replicalab.render`
    is_button: bool = True  # a workbook has none: it is saved under Tables

    def make(self, document: Document) -> str | bytes:
        """Return the file of a document."""
        module, _, name = self.maker.rpartition(".")  # Jinja2 loads with the first document
        result: str | bytes = getattr(import_module(f"replicalab.render.{module}"), name)(document)
        return result


class Printout(NamedTuple):
    """A document on paper: `section` of a feature returns its file."""

    kind: str  # the file extension
    document: Document
    paper: Paper


FORMATS: Final = {
    "html": ExportFormat("HTML", "html.document_html"),
    "md": ExportFormat("Markdown", "markdown.markdown"),
    "xlsx": ExportFormat("Excel", "markdown.excel", is_button=False),
}
_CORE: Final = ("report", "brief", "funding")
_KINDS: Final = {kind: None for row in features.FEATURES for kind in row.section}
PRINTED: Final = tuple(filter(MIMES.__contains__, _KINDS))
"""Export formats of features."""
OWN: Final = tuple(kind for kind in _KINDS if kind not in (*_CORE, *PRINTED))
"""Documents of features."""
BUNDLE: Final = "json"
EXTENSIONS: Final = (*FORMATS, *PRINTED, BUNDLE)
REPORTS: Final = (*_CORE, *OWN)


def today() -> date:
    return datetime.now(UTC).astimezone().date()


@dataclass(frozen=True)
class Report:
    """A document about a plan; with a negotiation, about its final plan."""

    options: PlanAnalysis = field(repr=False)
    run: Negotiation | None = field(default=None, repr=False)
    kind: str = "report"  # one of `REPORTS`
    on: date = field(default_factory=today)
    answers: Registration = field(default_factory=Registration)
    decision: str = ""  # the note of the saved plan

    @property
    def shown(self) -> PlanAnalysis:
        return of_run(self.options, self.run)

    @cached_property
    def document(self) -> Document:
        """Its content, as blocks."""
        if self.kind in OWN:
            [reply] = features.ask("section", self, key=self.kind)
            note = part(reply.feature.title, Sentence(reply.note))
            return reply.value or Document(reply.feature.title, "", (note,), (), self.on)
        if self.kind == "funding":
            return funding_request(self.shown, on=self.on, answers=self.answers)
        arguments: dict[str, Any] = {"on": self.on, "written": self._written, "run": self.run}
        if self.kind == "brief":
            page = brief(self.shown, **arguments, decision=self.decision)
            return replace(page, parts=(*page.parts, *self._more))
        return report(self.shown, **arguments, answers=self.answers, more=self._more)

    @property
    def _more(self) -> Iterator[Part]:
        for reply in features.ask("section", self, key=self.kind):
            if reply.note:
                yield part(reply.feature.title, Sentence(reply.note))
            yield from reply.value or ()

    @property
    def _written(self) -> Pack:
        pack = self.options.yours.pack
        return scenarios.pack_of(pack.study, pack.difficulty, pack.seed)

    def form(self, extension: str, paper: Paper = "A4") -> str | bytes:
        """Return the content of a file with one of the `EXTENSIONS`; raises ArgumentError.

        JSON is the bundle, or the answers of a registration form by its own ids.
        """
        reading.require("report", "extension", extension, [*EXTENSIONS])
        if extension in FORMATS:
            return FORMATS[extension].make(self.document)
        if extension in PRINTED:
            page = Printout(extension, self.document, paper)
            file: str | bytes = features.require("section", page, key=extension)
            return file
        if self.kind in OWN:
            return json.dumps(dict(self.document.values), ensure_ascii=False, indent=1) + "\n"
        return bundle(self.options, self._written, self.run)

    @reading.checked_call
    def save(self, path: str | Path, paper: Paper = "A4") -> Path:
        """Write a file in the format of its extension, and return its path."""
        file = Path(path)
        content = self.form(file.suffix.lower().removeprefix("."), paper)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def _repr_html_(self) -> str:
        from replicalab.render.html import in_notebook, preview  # noqa: PLC0415 - Jinja2

        return in_notebook(preview(self.document))


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
    """The content of a bundle, computed again."""

    options: PlanAnalysis
    written: Pack  # the lab as the study's author wrote it
    recording: Recording | None
    run: Negotiation | None  # as it plays now
    caution: str  # a warning if study, lab or plan differ from the saved ones

    @property
    def case(self) -> Case:
        """The plan with its lab and question, the Lab Manager and the number of rounds."""
        yours, setup = self.options.yours, self.run and self.run.setup
        played = {n: getattr(setup, n) for n in ("lab_manager", "max_rounds")} if setup else {}
        return Case.of(yours.pack, yours.plan, **played)


def bundle(
    analysis: PlanAnalysis,
    written: Pack,
    run: Negotiation | None = None,
    recording: Recording | None = None,
) -> str:
    """Return a plan in its lab, and its negotiation, as the text of a file."""
    yours, pack = analysis.yours, analysis.yours.pack
    record: dict[str, object] = {
        "format": reading.FILE_FORMAT,
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
    """Return the content of a bundle, assessed and replayed; raises ScenarioError."""
    values = reading.read_kind(data, FileKind.BUNDLE, source)
    record = {name: value for name, value in values.items() if name != _SCHEMA}
    try:
        result = _Bundle.model_validate_json(json.dumps(record))
    except ValidationError as error:
        raise reading.record_error(error, _Bundle, source) from error
    study = _study(result, source)
    parts = ("seed", "own_lab", "question", "plan")
    changes = {part: getattr(result, part) for part in parts}
    case = Case(study=study.scenario_id, lab=result.difficulty, **changes)
    here = in_labs_of(study)
    written, yours = case.author_pack(here), case.assess(here)
    try:
        run = replay(result.negotiation, yours.pack) if result.negotiation else None
    except TraceError as error:
        fault = Fault("negotiation", error.problem, error.remedy or _REMEDY)
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
