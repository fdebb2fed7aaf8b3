"""What may be kept is read on the way in, and what can no longer be read is told, never dropped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from replicalab.batch import Result, jobs_of, run_job
from replicalab.case import Case, case_text, read_case
from replicalab.errors import LibraryContentError
from replicalab.library import (
    Decision,
    EntryKind,
    KeptBatch,
    Library,
    Option,
    batch_text,
    decision_text,
    read_batch,
    read_decision,
)
from replicalab.library.contents import checked
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    ItemState,
    LabOverrides,
    OwnItem,
    study_text,
    template_text,
)
from tests.library.making import ANN, CONTENTS, STUDY, make_batch, make_plan


def decision(**changes: object) -> str:
    options = [
        Option(name=f"option {number}", kind=kind, content=content)
        for number, (kind, content) in enumerate(CONTENTS.items())
    ]
    said = {"options": tuple(options), "chosen": 1, "why": "it costs less", "who": "Ann"} | changes
    return decision_text(Decision.model_validate(said))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Library]:
    library = Library(f"sqlite:///{tmp_path / 'library.db'}")
    yield library
    library.close()


def test_plan_comes_back_with_its_workspace() -> None:
    item = OwnItem(label="our own laser", category="equipment", state=ItemState.AVAILABLE)
    plan = Case(
        study=STUDY,
        lab=Difficulty.HARD,
        seed=7,
        own_lab=LabOverrides(budget=1200, items=(item,)),
        question=EvidenceAssumptions(dropout=0.1, why={"dropout": "as in the last one"}),
        plan=read_case(make_plan(33)).plan,
        max_rounds=3,
    )
    assert read_case(case_text(plan)) == plan
    assert plan.pack().own_lab == plan.own_lab
    assert json.loads(case_text(plan))["format"] == 1


def test_plan_of_a_study_of_ones_own_holds_that_study(shelf: Library) -> None:
    own = CONTENTS[EntryKind.STUDY]
    content = case_text(Case(study="seedling_music", text=own, lab=Difficulty.EASY))
    assert shelf.keep(ANN, EntryKind.PLAN, "ours", content).about == "seedling_music"
    assert read_case(content).pack().scenario_id == "seedling_music"


def test_decision_holds_what_it_was_made_between(shelf: Library) -> None:
    entry = shelf.keep(ANN, EntryKind.DECISION, "for spring", decision())
    kept = read_decision(shelf.read(ANN, entry.id).content)
    assert (kept.chosen, kept.why, kept.who) == (1, "it costs less", "Ann")
    assert [option.content for option in kept.options] == list(CONTENTS.values())


PLAN = json.loads(make_plan())


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        (EntryKind.PLAN, "", "the text: Invalid JSON"),
        (EntryKind.PLAN, make_plan()[:-20], "the text: Invalid JSON"),
        (EntryKind.PLAN, json.dumps({**PLAN, "study": "gone"}), "gone"),
        (EntryKind.PLAN, json.dumps({**PLAN, "format": 2}), "format: 2"),
        (EntryKind.PLAN, json.dumps({**PLAN, "colour": "red"}), "colour: 'red'"),
        (
            EntryKind.PLAN,
            json.dumps({**PLAN, "text": CONTENTS[EntryKind.STUDY]}),
            "beside the file of 'seed",
        ),
        (EntryKind.PLAN, make_plan(2_000_000), "Sample size is 2,000,000"),
        (EntryKind.PLAN, json.dumps({**PLAN, "own_lab": {"budget": -1}}), "own_lab.budget: -1"),
        (EntryKind.PLAN, make_plan() + "\0", "U\\+0000, which is no text"),
        (EntryKind.PLAN, make_plan() + "\ud800", "U\\+D800, which is no text"),
        (EntryKind.LAB, '{"format": 1}', "lab"),
        (EntryKind.STUDY, "paper: none", "the study's file"),
        (EntryKind.RUN, "{}", "load a file"),
        (EntryKind.DECISION, decision(chosen=5), "chosen: 5 is none of the 5 options"),
        (
            EntryKind.DECISION,
            decision().replace('"format": 1,', '"format": 1, "when": "now",'),
            "when",
        ),
    ],
)
def test_content_that_cannot_be_read_is_refused_with_its_place(
    shelf: Library, kind: EntryKind, content: str, said: str
) -> None:
    with pytest.raises(LibraryContentError, match=said):
        shelf.keep(ANN, kind, "ours", content)
    assert shelf.entries(ANN) == []


def test_decision_between_contents_that_cannot_be_read_is_refused(shelf: Library) -> None:
    for wrong in (
        Option(name="ours", kind=EntryKind.PLAN, content="{"),
        Option(name="ours", kind=EntryKind.DECISION, content=decision()),
    ):
        with pytest.raises(LibraryContentError):
            shelf.keep(ANN, EntryKind.DECISION, "ours", decision(options=(wrong,), chosen=0))


def test_content_that_can_no_longer_be_read_is_told_and_stays(
    shelf: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "studies" / "finance_trading"
    folder.mkdir(parents=True)
    file = folder / "ours.yaml"
    file.write_text(study_text(STUDY).replace(f"scenario_id: {STUDY}", "scenario_id: ours"))
    monkeypatch.setenv("REPLICALAB_SCENARIO_DIR", str(folder.parent))
    content = case_text(Case(study="ours", lab=Difficulty.EASY))
    entry = shelf.keep(ANN, EntryKind.PLAN, "of our own folder", content)
    shelf.save_draft(ANN, content)
    file.unlink()
    kept, draft = shelf.read(ANN, entry.id), shelf.draft(ANN)
    assert draft
    assert kept.content == draft.content == content
    assert "ours" in kept.problem
    assert kept.problem == draft.problem
    assert shelf.entries(ANN) == [entry]
    assert shelf.duplicate(ANN, entry.id).name == "of our own folder (copy)"


def test_content_that_was_changed_behind_our_back_is_told(shelf: Library, tmp_path: Path) -> None:
    entry = shelf.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    engine = create_engine(f"sqlite:///{tmp_path / 'library.db'}")
    with engine.begin() as connection:
        connection.execute(text("UPDATE library_versions SET content = '{\"format\": 9}'"))
    engine.dispose()
    kept = shelf.read(ANN, entry.id)
    assert kept.content == '{"format": 9}'
    assert kept.problem.startswith("format: 9: ") or "study" in kept.problem


@pytest.mark.parametrize(
    "name", ["Ada\u00a0Lovelace", "\U0001f469\u200d\U0001f52c", "\u0645\u06cc\u200c\u062e"]
)
def test_name_may_hold_what_shapes_letters(shelf: Library, name: str) -> None:
    assert shelf.keep(ANN, EntryKind.PLAN, name, make_plan()).name == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("two\nlines", "on one line"),
        ("a\tb", "on one line"),
        ("ab\u202ecd", "character 3 is U+202E, which nobody sees"),
        ("ab\u2028cd", "character 3 is U+2028, which nobody sees"),
    ],
)
def test_name_that_hides_something_is_refused_with_what_it_is(
    shelf: Library, name: str, said: str
) -> None:
    with pytest.raises(LibraryContentError) as caught:
        shelf.keep(ANN, EntryKind.PLAN, name, make_plan())
    assert said in str(caught.value)


# --- batches ----------------------------------------------------------------------------------


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


def test_batch_that_was_kept_before_there_were_scores_opens_without() -> None:
    data = json.loads(batch_text(KeptBatch.of(results(), 9)))
    for row in data["results"]:
        for name in ("evidence_short", "fidelity_short"):
            row.pop(name, None)
    came = read_batch(json.dumps(data)).came()
    assert [result.outcome for result in came] == [result.outcome for result in results()]
    assert {result.regret for result in came} == {None}


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
