"""A kept batch is the batch that was run: its results in their order, each with its whole job."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from replicalab.batch import Result, jobs_of, run_job
from replicalab.errors import LibraryContentError
from replicalab.library import EntryKind, KeptBatch, batch_text, read_batch
from replicalab.library.contents import checked
from replicalab.scenarios import Difficulty, LabOverrides, template_text
from tests.library.making import STUDY, make_batch


def results() -> list[Result]:
    """Return what came of a batch on the shelf and on a study of one's own, in no order."""
    shelved = jobs_of((STUDY,), (Difficulty.EASY, Difficulty.HARD), (3, 0))
    own = jobs_of(("seedling_music",), (Difficulty.MEDIUM,), (1,))
    changes = {"text": template_text(), "own_lab": LabOverrides(budget=900)}
    jobs = [shelved[2], *[each.model_copy(update=changes) for each in own], *shelved[:2]]
    return [*map(run_job, jobs), Result(job=shelved[3], error="its process died")]


def test_batch_comes_back_with_every_result_in_its_order() -> None:
    came = results()
    text = batch_text(KeptBatch.of(came, 9))
    kept = read_batch(text)
    assert kept.came() == came
    assert kept.asked == 9
    assert json.loads(text)["format"] == 1


def test_batch_says_a_study_of_ones_own_once() -> None:
    kept = KeptBatch.of(results() * 1, 9)
    assert kept.texts == {"seedling_music": template_text()}
    assert not any(job.text for job in kept.jobs)


def test_batch_of_the_most_that_a_page_runs_is_small_enough_to_be_kept() -> None:
    [result] = map(run_job, jobs_of((STUDY,), (Difficulty.HARD,), (0,)))
    jobs = jobs_of((STUDY,), seeds=range(3333))
    came = [result.model_copy(update={"job": job}) for job in jobs]
    assert len(batch_text(KeptBatch.of(came, 10_000))) < 3 * 2**20


def test_batch_is_about_its_studies() -> None:
    assert checked(EntryKind.BATCH, make_batch()) == STUDY
    assert (
        checked(EntryKind.BATCH, batch_text(KeptBatch.of(results(), 9)))
        == f"{STUDY}, seedling_music"
    )


def _twice(data: dict[str, Any]) -> None:
    data["results"][1] = data["results"][0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.update(asked=5), "asked: 5 negotiations have 6 results"),
        (lambda data: data.update(results=[]), "results"),
        (lambda data: data["results"][4].update(job=3), "results.4.job: 3 is none of the 3 jobs"),
        (lambda data: data["results"][2].update(error="died"), "results.2: it needs an outcome"),
        (lambda data: data["results"][2].pop("outcome"), "results.2: it needs an outcome"),
        (lambda data: data["results"][2].update(credits=float("nan")), "results.2: its credits"),
        (lambda data: data["results"][2].update(seed=-1), "results.2.seed"),
        (lambda data: data["jobs"][0].update(seed=4), "jobs: one has a seed"),
        (lambda data: data["jobs"].append(data["jobs"][0]), "jobs: two are the same"),
        (lambda data: data.update(texts={STUDY: template_text()}), "the file of 'seedling_music'"),
        (_twice, "results.1: seed 0 of job 0 stands there twice"),
    ],
)
def test_batch_that_parts_from_itself_is_refused_with_the_place(
    change: Callable[[dict[str, Any]], object], said: str
) -> None:
    data = json.loads(make_batch())
    change(data)
    with pytest.raises(LibraryContentError) as caught:
        checked(EntryKind.BATCH, json.dumps(data))
    assert said in str(caught.value)
