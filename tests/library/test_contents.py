"""Contents are checked on the way in; unreadable ones are reported, never dropped."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from replicalab.errors import LibraryContentError
from replicalab.library import EntryKind, KeptBatch, Library, batch_text, read_batch
from replicalab.library.contents import checked
from replicalab.negotiation.batch import Result, jobs_of, run_job
from replicalab.negotiation.case import Case, record_text
from replicalab.scenarios import Difficulty, LabOverrides, study_text, template_text
from tests.golden import assert_golden
from tests.library.making import ANN, STUDY, make_batch, make_plan


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Library]:
    library = Library(f"sqlite:///{tmp_path / 'library.db'}")
    yield library
    library.close()


def test_plan_of_own_study_names_it(shelf: Library) -> None:
    custom = record_text(Case(study="seedling_music", text=template_text(), lab=Difficulty.EASY))
    assert shelf.keep(ANN, EntryKind.PLAN, "ours", custom).about == "seedling_music"


PLAN = json.loads(make_plan())

WRONG: Final[dict[str, tuple[EntryKind, str]]] = {
    **{
        what: (EntryKind.PLAN, content)
        for what, content in (
            ("nothing", ""),
            ("half a plan", make_plan()[:-20]),
            ("no study", json.dumps({**PLAN, "study": "gone"})),
            ("an older plan", json.dumps({**PLAN, "format": 1})),
            ("a field too many", json.dumps({**PLAN, "colour": "red"})),
            ("another study's file", json.dumps({**PLAN, "text": template_text()})),
            ("too many samples", make_plan(2_000_000)),
            ("a debt", json.dumps({**PLAN, "own_lab": {"budget": -1}})),
            ("a zero byte", make_plan() + "\0"),
            ("half a character", make_plan() + "\ud800"),
        )
    },
    "an older lab": (EntryKind.LAB, '{"format": 1, "lab": {}}'),
    "no lab": (EntryKind.LAB, '{"format": 2}'),
    "no study's file": (EntryKind.STUDY, "paper: none"),
    "no negotiation": (EntryKind.RUN, "{}"),
}


def wrong_batches() -> Iterator[tuple[str, tuple[EntryKind, str]]]:
    changes: dict[str, Callable[[dict[str, Any]], object]] = {
        "an older batch": lambda data: data.update(format=1),
        "fewer asked than came": lambda data: data.update(asked=5),
        "no results": lambda data: data.update(results=[]),
        "no job": lambda data: data["results"][4].update(job=3),
        "an outcome and an error": lambda data: data["results"][2].update(error="died"),
        "neither": lambda data: data["results"][2].pop("outcome"),
        "no number": lambda data: data["results"][2].update(credits=float("nan")),
        "no seed": lambda data: data["results"][2].update(seed=-1),
        "a seed of a job": lambda data: data["jobs"][0].update(seed=4),
        "a job twice": lambda data: data["jobs"].append(data["jobs"][0]),
        "a file of no job": lambda data: data.update(texts={STUDY: template_text()}),
        "a result twice": lambda data: data["results"].__setitem__(1, data["results"][0]),
    }
    for what, change in changes.items():
        data = json.loads(make_batch())
        change(data)
        yield what, (EntryKind.BATCH, json.dumps(data))


def test_unreadable_content_is_refused_with_place(shelf: Library) -> None:
    texts = []
    for what, (kind, content) in (*WRONG.items(), *wrong_batches()):
        with pytest.raises(LibraryContentError) as caught:
            shelf.keep(ANN, kind, "ours", content)
        texts.append(f"{what}: {caught.value}")
    assert shelf.entries(ANN) == []
    assert_golden("library_faults", "\n".join(texts))


def test_content_without_its_study_stays_with_problem(
    shelf: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "studies" / "finance_trading"
    folder.mkdir(parents=True)
    file = folder / "ours.yaml"
    file.write_text(study_text(STUDY).replace(f"scenario_id: {STUDY}", "scenario_id: ours"))
    monkeypatch.setenv("REPLICALAB_SCENARIO_DIR", str(folder.parent))
    content = record_text(Case(study="ours", lab=Difficulty.EASY))
    entry = shelf.keep(ANN, EntryKind.PLAN, "of our own folder", content)
    shelf.save_draft(ANN, content)
    file.unlink()
    version, draft = shelf.read(ANN, entry.id), shelf.draft(ANN)
    assert draft
    assert version.content == draft.content == content
    assert "ours" in version.problem
    assert version.problem == draft.problem
    assert shelf.entries(ANN) == [entry]
    assert shelf.duplicate(ANN, entry.id).name == "of our own folder (copy)"


def results() -> list[Result]:
    shelved = jobs_of((STUDY,), (Difficulty.EASY, Difficulty.HARD), (3, 0))
    cases = jobs_of(("seedling_music",), (Difficulty.MEDIUM,), (1,))
    changes = {"text": template_text(), "own_lab": LabOverrides(budget=900)}
    jobs = [shelved[2], *[item.model_copy(update=changes) for item in cases], *shelved[:2]]
    return [*map(run_job, jobs), Result(job=shelved[3], error="its process died")]


def test_batch_keeps_order_of_results() -> None:
    came = results()
    text = batch_text(KeptBatch.of(came, 9))
    batch = read_batch(text)
    assert (batch.came(), batch.asked) == (came, 9)
    assert json.loads(text)["format"] == 2
    assert checked(EntryKind.BATCH, text) == f"{STUDY}, seedling_music"
    assert batch.texts == {"seedling_music": template_text()}
    assert not any(job.text for job in batch.jobs), "a study of one's own is stored once"


def test_largest_batch_of_a_page_can_be_saved() -> None:
    [result] = map(run_job, jobs_of((STUDY,), (Difficulty.HARD,), (0,)))
    jobs = jobs_of((STUDY,), seeds=range(333_000, 333_333))
    came = [result.model_copy(update={"job": job}) for job in jobs]
    assert len(batch_text(KeptBatch.of(came, 1_000))) < 3 * 2**20 / 10, "a tenth of the largest"
