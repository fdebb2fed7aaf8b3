"""What may be kept: the project's own formats as text, read on the way in and on the way out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import FailFast, Field

from replicalab.batch import MOST_JOBS, JobEnding, Result
from replicalab.case import Case, RuleCase, read_case, read_draft, read_record, record_text
from replicalab.characters import code, hidden
from replicalab.errors import LibraryContentError, ReplicaLabError
from replicalab.lexicon import shortened
from replicalab.library.records import EntryKind
from replicalab.models import LONGEST_TEXT, NonEmptyText, Record
from replicalab.negotiation import load
from replicalab.scenarios import Identifier, Seed, parse_study, read_lab

LONGEST_NAME: Final = 120
_OWN_FILE: Final = "the study's file"
_BREAKS: Final = frozenset("\t\n\r")
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
Name = Annotated[NonEmptyText, Field(max_length=LONGEST_NAME)]


def batch_text(batch: KeptBatch) -> str:
    """Return a batch as the text that is kept."""
    return record_text(batch, indent=None)


def read_batch(text: str) -> KeptBatch:
    """Return the batch that `batch_text` wrote; nothing is played again.

    Raises:
        LibraryContentError: the text holds no batch, or one that parts from itself.
    """
    batch = read_record(KeptBatch, text)
    for problem in batch.problems():
        raise LibraryContentError(f"{problem}; load what was saved here")
    return batch


def checked(kind: EntryKind | None, text: str) -> str:
    """Return what a content is about: the id of its study, or the name that its lab gives itself.

    ``kind`` is None for a draft, which is about nothing; its tray is not opened.

    Raises:
        LibraryContentError: it cannot be read as that kind; says why.
    """
    if no_text := _NO_TEXT.search(text):  # no database takes it
        raise LibraryContentError(
            f"the content: character {no_text.start() + 1} is {code(no_text.group())}, which is "
            "no text; delete it"
        )
    try:
        if kind is not None:
            return KINDS[kind].about(text)
        read_draft(text).pack()
    except ReplicaLabError as error:
        raise LibraryContentError(str(error)) from error
    return ""


def problem_of(kind: EntryKind | None, text: str) -> str:
    """Return why a content is refused; empty if it is not."""
    try:
        checked(kind, text)
    except LibraryContentError as error:
        return str(error)
    return ""


def checked_name(name: str) -> str:
    """Return a name without the spaces around it.

    Raises:
        LibraryContentError: it is empty, too long, or holds what nobody sees.
    """
    name = _seen("the name", name.strip())
    if not name or len(name) > LONGEST_NAME or not _BREAKS.isdisjoint(name):
        raise LibraryContentError(
            f"the name '{shortened(name)}' has {len(name)} characters; give one of 1 to "
            f"{LONGEST_NAME}, on one line"
        )
    return name


def checked_notes(notes: str) -> str:
    """Return notes without the spaces around them.

    Raises:
        LibraryContentError: they are too long, or hold what nobody sees.
    """
    notes = notes.strip()
    if len(notes) > LONGEST_TEXT:
        raise LibraryContentError(
            f"the notes have {len(notes):,} characters; {LONGEST_TEXT:,} are kept at most, "
            "shorten them"
        )
    return _seen("the notes", notes)


def _seen(what: str, text: str) -> str:
    for at in hidden(text):
        raise LibraryContentError(
            f"{what}: character {at + 1} is {code(text[at])}, which nobody sees; delete it"
        )
    return text


def _about_plan(text: str) -> str:
    plan = read_case(text)
    plan.pack()
    return plan.study


def _about_batch(text: str) -> str:
    """Return the id of a batch's study, all of them where it has several."""
    batch = read_batch(text)
    for study, file in batch.texts.items():
        if (named := parse_study(file, _OWN_FILE).scenario_id) != study:
            raise LibraryContentError(
                f"texts: '{study}' stands beside the file of '{named}'; name that one"
            )
    return ", ".join(dict.fromkeys(job.study for job in batch.jobs))


def _plan_facts(text: str) -> dict[str, object]:
    """Return a plan's facts; without a plan of its own, those of the study's reference protocol."""
    kept = read_case(text)
    plan = kept.plan or kept.pack().reference_protocol
    return {**plan.model_dump(mode="json"), **kept.model_dump(mode="json", exclude={"plan"})}


def _run_facts(text: str) -> dict[str, object]:
    run = load(text)
    return {
        **run.setup.model_dump(mode="json"),
        "moves": [move.model_dump(mode="json", exclude_defaults=True) for move in run.moves],
    }


class KindRow(NamedTuple):
    """A kind of entry.

    Attributes:
        about: reads a content, and returns what it is about.
        facts: what a content says, by names; two versions are compared by them.
    """

    about: Callable[[str], str]
    facts: Callable[[str], Mapping[str, object]]


KINDS: Final[dict[EntryKind, KindRow]] = {
    EntryKind.PLAN: KindRow(_about_plan, _plan_facts),
    EntryKind.LAB: KindRow(
        lambda text: read_lab(text.encode()).name or "",
        lambda text: read_lab(text.encode()).model_dump(mode="json"),
    ),
    EntryKind.STUDY: KindRow(
        lambda text: parse_study(text, _OWN_FILE).scenario_id,
        lambda text: parse_study(text, "the study").model_dump(mode="json"),
    ),
    EntryKind.RUN: KindRow(lambda text: load(text).setup.scenario_id, _run_facts),
    EntryKind.BATCH: KindRow(_about_batch, lambda text: read_batch(text).model_dump(mode="json")),
}
"""Every kind of entry."""


# --- a batch ----------------------------------------------------------------------------------


class StoredResult(JobEnding):
    """An ending, the place of its job among the batch's, and the seed that it was played with."""

    job: Annotated[int, Field(strict=True, ge=0)]
    seed: Seed


_ENDING: Final = set(JobEnding.model_fields)


class KeptBatch(Record):
    """A batch, whole or as far as it came.

    Attributes:
        asked: how many negotiations it was to have.
        texts: the files of studies of one's own, by the ids that the jobs name.
        jobs: those that differ in more than their seed, each without seed and file.
        results: in the order in which they came.
    """

    format: Literal[2] = 2
    asked: Annotated[int, Field(strict=True, ge=1, le=MOST_JOBS)]
    texts: Annotated[dict[Identifier, str], FailFast()] = Field(default_factory=dict)
    jobs: Annotated[tuple[RuleCase, ...], Field(min_length=1, max_length=MOST_JOBS), FailFast()]
    results: Annotated[
        tuple[StoredResult, ...], Field(min_length=1, max_length=MOST_JOBS), FailFast()
    ]

    @classmethod
    def of(cls, came: Sequence[Result], asked: int) -> Self:
        """Return what came of a batch of so many."""
        places: dict[str, int] = {}
        jobs: list[Case] = []
        rows = []
        for result in came:
            job = result.job.model_copy(update={"seed": 0, "text": ""})
            place = places.setdefault(job.model_dump_json(), len(jobs))
            jobs += [job] if place == len(jobs) else []
            ending = result.model_dump(include=_ENDING)
            rows.append(StoredResult(job=place, seed=result.job.seed, **ending))
        texts = {result.job.study: result.job.text for result in came if result.job.text}
        return cls(asked=asked, texts=texts, jobs=tuple(jobs), results=tuple(rows))

    def came(self) -> list[Result]:
        """Return the results, each with its whole job."""
        texts = self.texts
        whole = [job.model_copy(update={"text": texts.get(job.study, "")}) for job in self.jobs]
        return [
            Result(
                job=whole[row.job].model_copy(update={"seed": row.seed}),
                **row.model_dump(include=_ENDING),
            )
            for row in self.results
        ]

    def problems(self) -> Iterator[str]:
        """Yield where it parts from what a batch can be, and what to do."""
        if len(self.results) > self.asked:
            yield f"asked: {self.asked:,} negotiations have {len(self.results):,} results"
        if len(set(map(Case.model_dump_json, self.jobs))) < len(self.jobs):
            yield "jobs: two are the same"
        if any(job.seed or job.text for job in self.jobs):
            yield "jobs: one has a seed or a file; a seed stands in results, a file in texts"
        seen: set[tuple[int, int]] = set()
        for at, row in enumerate(self.results):
            if row.job >= len(self.jobs):
                yield f"results[{at}].job: {row.job} is none of the {len(self.jobs)} jobs"
            elif (row.outcome is None) is (not row.error):
                yield f"results[{at}]: it needs an outcome, or the error why it has none, not both"
            elif not isfinite(row.credits) or not isfinite(row.evidence or 0):
                yield f"results[{at}]: its credits or its evidence is no finite number"
            elif (row.job, row.seed) in seen:
                yield f"results[{at}]: seed {row.seed} of job {row.job} stands there twice"
            seen.add((row.job, row.seed))
