"""Files that open or leave: a row for each kind, and for each form of a document."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from replicalab import features
from replicalab.errors import ArgumentError, Fault, ScenarioError
from replicalab.facts.blocks import Document, Paper, Part, Sentence, part
from replicalab.facts.documents import brief, funding_request, of_run
from replicalab.facts.report import report
from replicalab.lexicon import joined
from replicalab.library.contents import EntryKind
from replicalab.limits import MOST_FILE_BYTES
from replicalab.negotiation import Negotiation
from replicalab.planner import PlanAnalysis
from replicalab.registration import Registration
from replicalab.scenarios import Pack, pack_of, readable_text
from replicalab.scenarios.reading import FileKind, Values, kind_of, read_json

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
"""The type of every file that leaves, by the ending of its name."""

STUDY_SUFFIXES: Final = ("yaml", "yml")
STUDY_MB: Final = 1
SUFFIXES: Final = ("json", *STUDY_SUFFIXES)
_ALL: Final = "bundle, negotiation, plan, lab or study"


class DocumentRow(NamedTuple):
    """A kind of file that opens; `FileKind` has its marks.

    Attributes:
        kept_as: its entry in the library; None for a bundle, saved part by part, and for a bare
            plan, saved with the open study and lab.
        suffix: the ending of a saved file's name.
        opens: whether Open a file takes it; other kinds are imported into the library.
        is_compared: whether saved entries can be compared.
    """

    kept_as: EntryKind | None
    suffix: str = "json"
    opens: bool = True
    is_compared: bool = False


DOCUMENTS: Final = {
    FileKind.BUNDLE: DocumentRow(None),
    FileKind.RUN: DocumentRow(EntryKind.RUN, is_compared=True),
    FileKind.BATCH: DocumentRow(EntryKind.BATCH, opens=False),
    FileKind.STUDY: DocumentRow(EntryKind.STUDY, "yaml"),
    FileKind.KEPT_PLAN: DocumentRow(EntryKind.PLAN, is_compared=True),
    FileKind.LAB: DocumentRow(EntryKind.LAB, is_compared=True),
    FileKind.PLAN: DocumentRow(None),
}
"""Every kind of file that opens."""
KEPT: Final = {row.kept_as: kind for kind, row in DOCUMENTS.items() if row.kept_as}
"""As which file each kind of entry leaves the library."""


class FoundFile(NamedTuple):
    """A file of a known kind; the values of a study are not read yet."""

    kind: FileKind
    text: str
    values: Values


def detect_kind(data: bytes, file: str) -> FoundFile:
    """Return a file with its kind, which its values decide.

    Raises:
        ScenarioError: if it is no text or of no known kind, with place and remedy.
    """
    text = readable_text(data, file, MOST_FILE_BYTES)
    remedy = "choose one saved here; the name of a study ends in .yaml"
    try:
        values = read_json(text, file, _ALL, remedy)
    except ScenarioError:
        if file.lower().endswith(".json"):
            raise
        return FoundFile(FileKind.STUDY, text, {})
    if kind := kind_of(values):
        return FoundFile(kind, text, values)
    raise ScenarioError(file, [Fault("", f"the file holds no {_ALL}", remedy)])


class Form(NamedTuple):
    """A form of a document.

    Attributes:
        name: the label of its button.
        maker: its function in `replicalab.documents.forms`, or in its feature.
        is_button: whether each document has a button for it; a workbook is saved under Tables.
        feature: the feature that makes it, for a paper size; empty for the core.
    """

    name: str
    maker: str
    is_button: bool = True
    feature: str = ""

    def make(self, document: Document, paper: Paper = "A4") -> str | bytes:
        """Return the file of a document.

        Raises:
            FeatureError: its feature is not available.
        """
        content: str | bytes
        if self.feature:
            content = getattr(features.load(self.feature), self.maker)(document, paper)
        else:
            from replicalab.documents import forms  # noqa: PLC0415 - Jinja2, with the first document

            content = getattr(forms, self.maker)(document)
        return content


FORMS: Final = {
    "html": Form("HTML", "document_html"),
    "md": Form("Markdown", "markdown"),
    **{
        ending: Form(name, ending, is_button=False, feature=row.name)
        for row in features.FEATURES
        for ending, name in row.forms.items()
    },
    "xlsx": Form("Excel", "excel", is_button=False),
}

BUNDLE: Final = "json"
ENDINGS: Final = (*FORMS, BUNDLE)
OWN: Final = {kind: title for row in features.FEATURES for kind, title in row.documents.items()}
REPORTS: Final = ("report", "brief", "funding", *OWN)


def today() -> date:
    """Return the local date."""
    return datetime.now(UTC).astimezone().date()


@dataclass(frozen=True)
class Report:
    """A document about a plan; with a negotiation, about its final plan.

    Attributes:
        kind: one of `REPORTS`.
        answers: of the author.
        decision: the note of the saved plan.
    """

    options: PlanAnalysis = field(repr=False)
    run: Negotiation | None = field(default=None, repr=False)
    kind: str = "report"
    on: date = field(default_factory=today)
    answers: Registration = field(default_factory=Registration)
    decision: str = ""

    @property
    def shown(self) -> PlanAnalysis:
        """The plan of the document."""
        return of_run(self.options, self.run)

    @cached_property
    def document(self) -> Document:
        """Its content, as blocks."""
        if self.kind in OWN:
            [reply] = features.ask("section", self)
            note = part(reply.feature.title, Sentence(reply.note))
            return reply.value or Document(OWN[self.kind], "", (note,), (), self.on)
        if self.kind == "funding":
            return funding_request(self.shown, on=self.on, answers=self.answers)
        given: dict[str, Any] = {"on": self.on, "written": self._written, "run": self.run}
        if self.kind == "brief":
            page = brief(self.shown, **given, decision=self.decision)
            return replace(page, parts=(*page.parts, *self._more))
        return report(self.shown, **given, answers=self.answers, more=self._more)

    @property
    def _more(self) -> Iterator[Part]:
        for reply in features.ask("section", self):
            if reply.note:
                yield part(reply.feature.title, Sentence(reply.note))
            yield from reply.value or ()

    @property
    def _written(self) -> Pack:
        pack = self.options.yours.pack
        return pack_of(pack.study, pack.difficulty, pack.seed)

    def form(self, ending: str, paper: Paper = "A4") -> str | bytes:
        """Return the content of a file with one of the `ENDINGS`.

        JSON is the bundle, or the answers of a registration form by its own ids.

        Raises:
            ArgumentError: for another ending.
        """
        if ending in FORMS:
            return FORMS[ending].make(self.document, paper)
        if ending not in ENDINGS:
            fault = Fault("ending", f"'{ending}' is not allowed", f"use {joined(ENDINGS, 'or')}")
            raise ArgumentError("report", [fault])
        if self.kind in OWN:
            return json.dumps(dict(self.document.values), ensure_ascii=False, indent=1) + "\n"
        from replicalab.documents import forms  # noqa: PLC0415 - Jinja2

        return forms.bundle(self.options, self._written, self.run)

    def save(self, path: str | Path, paper: Paper = "A4") -> Path:
        """Write a file in the form of its ending, and return its path."""
        file = Path(path)
        content = self.form(file.suffix.lower().removeprefix("."), paper)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def _repr_html_(self) -> str:
        from replicalab.render.html import document_in_notebook  # noqa: PLC0415 - Jinja2

        return document_in_notebook(self.document)
