"""The library: saved entries, their versions and limits, and the texts that may be saved."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, Self

from pydantic import FailFast, Field

from replicalab import lexicon, models, scenarios
from replicalab.characters import code, hidden
from replicalab.errors import LibraryContentError, LibraryError, ReplicaLabError
from replicalab.limits import LONGEST_ENTRY_NAME, LONGEST_TEXT, MOST_JOBS
from replicalab.negotiation import case, load
from replicalab.negotiation.batch import JobEnding, Result

if TYPE_CHECKING:
    from replicalab.library.store import Library

DELETED_DAYS: Final = 30  # in which a deleted entry can be restored
DRAFT_DAYS: Final = 90  # after which an untouched draft is removed
_STUDY_FILE: Final = "the study's file"
_NOT_TEXT: Final = re.compile("[\0\ud800-\udfff]")  # no database takes it
Name = Annotated[models.NonEmptyText, Field(max_length=LONGEST_ENTRY_NAME)]


class EntryKind(StrEnum):
    """The content of an entry."""

    PLAN = "plan"
    LAB = "lab"
    STUDY = "study"
    RUN = "run"
    BATCH = "batch"


@dataclass(frozen=True)
class Owner:
    """The owner of entries: a hash of the visitor's secret."""

    digest: str

    @classmethod
    def of(cls, secret: str) -> Self:
        return cls(hashlib.sha256(f"replicalab library\n{secret}".encode()).hexdigest())


class LibraryLimits(NamedTuple):
    """Limits per owner, deleted entries included."""

    entries: int = 5_000
    owner_bytes: int = 64 * 2**20
    content_bytes: int = 5 * 2**20  # of one entry


class Entry(NamedTuple):
    """An entry; ``about`` names its studies or its lab, ``size`` are the bytes of all versions."""

    id: str
    kind: EntryKind
    name: str
    notes: str
    about: str
    version: int
    size: int
    created: datetime
    changed: datetime
    deleted: datetime | None


class Version(NamedTuple):
    """A saved state of an entry; ``restored`` is the number of the version that it repeats."""

    number: int
    notes: str
    size: int
    saved: datetime
    restored: int | None


class StoredVersion(NamedTuple):
    """An entry in one version, with its content; ``problem`` says why that cannot be read."""

    entry: Entry
    version: Version
    content: str
    problem: str = ""


class StoredDraft(NamedTuple):
    """An owner's draft: the browser tab that wrote it, the content, the time, and a problem."""

    place: str
    content: str
    saved: datetime
    problem: str = ""


class Usage(NamedTuple):
    """An owner's entries, deleted ones included, and bytes."""

    entries: int
    size: int


class LibraryConflictError(LibraryError):
    """Another tab saved first, or the name is taken; ``now`` is the stored version."""

    def __init__(self, message: str, now: StoredVersion) -> None:
        self.now = now
        super().__init__(message)


def check(kind: EntryKind | None, text: str) -> str:
    """Check a content; return its study's id or its lab's name, "" for a draft (kind None)."""
    if match := _NOT_TEXT.search(text):
        place = f"the content: character {match.start() + 1}"
        raise LibraryContentError(f"{place} is {code(match.group())}, which is no text; delete it")
    try:
        if kind is not None:
            return ENTRY_KINDS[kind].about(text)
        case.read_draft(text).pack()
    except ReplicaLabError as error:
        raise LibraryContentError(str(error)) from error
    return ""


def problem_of(kind: EntryKind | None, text: str) -> str:
    try:
        check(kind, text)
    except LibraryContentError as error:
        return str(error)
    return ""


def check_name(name: str) -> str:
    """Return a name without surrounding spaces."""
    name = _visible("the name", name.strip())
    if not name or len(name) > LONGEST_ENTRY_NAME or not {*"\t\n\r"}.isdisjoint(name):
        problem = f"the name '{lexicon.shortened(name)}' has {len(name)} characters"
        remedy = f"give one of 1 to {LONGEST_ENTRY_NAME}, on one line"
        raise LibraryContentError(f"{problem}; {remedy}")
    return name


def check_notes(notes: str) -> str:
    notes = notes.strip()
    if len(notes) > LONGEST_TEXT:
        problem = f"the notes have {len(notes):,} characters"
        raise LibraryContentError(f"{problem}; {LONGEST_TEXT:,} are kept at most, shorten them")
    return _visible("the notes", notes)


def _visible(what: str, text: str) -> str:
    for at in hidden(text):
        place = f"{what}: character {at + 1}"
        raise LibraryContentError(f"{place} is {code(text[at])}, which is invisible; delete it")
    return text


def _about_batch(text: str) -> str:
    batch = read_batch(text)
    for study, file in batch.texts.items():
        if (named := scenarios.parse_study(file, _STUDY_FILE).scenario_id) != study:
            raise LibraryContentError(f"texts: '{study}' has the file of '{named}'; name that one")
    return ", ".join(dict.fromkeys(job.study for job in batch.jobs))


def _plan_facts(text: str) -> dict[str, object]:
    saved = case.read_case(text)
    plan = saved.plan or saved.pack().reference_protocol
    return {**plan.model_dump(mode="json"), **saved.model_dump(mode="json", exclude={"plan"})}


def _run_facts(text: str) -> dict[str, object]:
    run = load(text)
    moves = [move.model_dump(mode="json", exclude_defaults=True) for move in run.moves]
    return {**run.setup.model_dump(mode="json"), "moves": moves}


class KindRow(NamedTuple):
    """A kind of entry: functions of a content that return its subject, and its facts by name."""

    about: Callable[[str], str]
    facts: Callable[[str], Mapping[str, object]]


ENTRY_KINDS: Final[dict[EntryKind, KindRow]] = {
    EntryKind.PLAN: KindRow(lambda text: case.read_case(text).pack().scenario_id, _plan_facts),
    EntryKind.LAB: KindRow(
        lambda text: scenarios.read_lab(text.encode()).name or "",
        lambda text: scenarios.read_lab(text.encode()).model_dump(mode="json"),
    ),
    EntryKind.STUDY: KindRow(
        lambda text: scenarios.parse_study(text, _STUDY_FILE).scenario_id,
        lambda text: scenarios.parse_study(text, "the study").model_dump(mode="json"),
    ),
    EntryKind.RUN: KindRow(lambda text: load(text).setup.scenario_id, _run_facts),
    EntryKind.BATCH: KindRow(_about_batch, lambda text: read_batch(text).model_dump(mode="json")),
}


def batch_text(batch: KeptBatch) -> str:
    return case.record_text(batch, indent=None)


def read_batch(text: str) -> KeptBatch:
    batch = case.read_record(KeptBatch, text)
    for problem in batch.problems():
        raise LibraryContentError(f"{problem}; load a batch saved here")
    return batch


class StoredResult(JobEnding):
    """An ending, the index of its job in the batch, and its seed."""

    job: Annotated[int, Field(strict=True, ge=0)]
    seed: scenarios.Seed


_ENDING: Final = set(JobEnding.model_fields)
_SOME: Final = Field(min_length=1, max_length=MOST_JOBS)


class KeptBatch(models.Record):
    """A batch of ``asked`` negotiations; ``jobs`` have no seed, ``texts`` are own studies by id."""

    format: Literal[2] = 2
    asked: Annotated[int, Field(strict=True, ge=1, le=MOST_JOBS)]
    texts: Annotated[dict[scenarios.Identifier, str], FailFast()] = Field(default_factory=dict)
    jobs: Annotated[tuple[case.RuleCase, ...], _SOME, FailFast()]
    results: Annotated[tuple[StoredResult, ...], _SOME, FailFast()]

    @classmethod
    def of(cls, results: Sequence[Result], asked: int) -> Self:
        places: dict[str, int] = {}
        jobs: list[case.Case] = []
        rows = []
        for result in results:
            job = result.job.model_copy(update={"seed": 0, "text": ""})
            place = places.setdefault(job.model_dump_json(), len(jobs))
            jobs += [job] if place == len(jobs) else []
            ending = result.model_dump(include=_ENDING)
            rows.append(StoredResult(job=place, seed=result.job.seed, **ending))
        texts = {result.job.study: result.job.text for result in results if result.job.text}
        return cls(asked=asked, texts=texts, jobs=tuple(jobs), results=tuple(rows))

    def unpack(self) -> list[Result]:
        jobs = [job.model_copy(update={"text": self.texts.get(job.study, "")}) for job in self.jobs]
        return [
            Result(job=jobs[row.job].replace(seed=row.seed), **row.model_dump(include=_ENDING))
            for row in self.results
        ]

    def problems(self) -> Iterator[str]:
        if len(self.results) > self.asked:
            yield f"asked: {self.asked:,} negotiations have {len(self.results):,} results"
        if len(set(map(case.Case.model_dump_json, self.jobs))) < len(self.jobs):
            yield "jobs: two are the same"
        if any(job.seed or job.text for job in self.jobs):
            yield "jobs: one has a seed or a file; seeds belong in results, files in texts"
        seen: set[tuple[int, int]] = set()
        for at, row in enumerate(self.results):
            if row.job >= len(self.jobs):
                yield f"results[{at}].job: {row.job} is not one of the {len(self.jobs)} jobs"
            elif (row.outcome is None) is (not row.error):
                yield f"results[{at}]: give either an outcome or an error"
            elif not isfinite(row.credits) or not isfinite(row.evidence or 0):
                yield f"results[{at}]: credits or evidence is not finite"
            elif (row.job, row.seed) in seen:
                yield f"results[{at}]: seed {row.seed} of job {row.job} is there twice"
            seen.add((row.job, row.seed))


def __getattr__(name: str) -> object:
    if name == "Library":  # SQLAlchemy is slow to import, and the first page does not need it
        return import_module("replicalab.library.store").Library
    raise AttributeError(name)
