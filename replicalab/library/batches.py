"""A batch as it is kept: how many were asked for, and what each negotiation came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Annotated, Final, Literal, Self

from pydantic import FailFast, Field

from replicalab.batch import MOST_JOBS, JobEnding, Result
from replicalab.case import Case, RuleCase
from replicalab.models import Record
from replicalab.scenarios import Identifier, Seed


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

    format: Literal[1] = 1
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
                yield f"results.{at}.job: {row.job} is none of the {len(self.jobs)} jobs"
            elif (row.outcome is None) is (not row.error):
                yield f"results.{at}: it needs an outcome, or the error why it has none, not both"
            elif not isfinite(row.credits) or not isfinite(row.evidence or 0):
                yield f"results.{at}: its credits or its evidence is no finite number"
            elif (row.job, row.seed) in seen:
                yield f"results.{at}: seed {row.seed} of job {row.job} stands there twice"
            seen.add((row.job, row.seed))
