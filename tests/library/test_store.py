"""Saved entries, versions and drafts, on each database."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from replicalab import errors
from replicalab.errors import LibraryContentError
from replicalab.library import (
    DELETED_DAYS,
    DRAFT_DAYS,
    EntryKind,
    KeptBatch,
    Library,
    LibraryConflictError,
    LibraryLimits,
    Owner,
    batch_text,
    check,
    read_batch,
)
from replicalab.limits import MOST_PURGED
from replicalab.negotiation.batch import Result, jobs_of, run_job
from replicalab.negotiation.case import Case, record_text
from replicalab.scenarios import Difficulty, LabOverrides, study_text, template_text
from tests.golden import assert_golden
from tests.library.making import (
    ANN,
    BEN,
    STUDY,
    TIME,
    Clock,
    content_of,
    engine_of,
    make_batch,
    make_plan,
)


@pytest.mark.parametrize("kind", EntryKind)
def test_kept_content_comes_back_as_it_was(library: Library, url: str, kind: EntryKind) -> None:
    entry = library.keep(ANN, kind, "ours", content_of(kind), notes="of Friday\nand later")
    version = library.read(ANN, entry.id)
    assert (version.content, version.problem) == (content_of(kind), "")
    assert version.entry == entry
    assert (version.version.number, version.version.notes) == (1, "of Friday\nand later")
    assert entry.created == entry.changed > TIME
    library.close()
    again = Library(url)
    assert again.entries(ANN) == [entry]
    again.close()


def test_entries_are_seen_by_their_owner_alone(library: Library) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    assert library.entries(BEN) == []
    for ask in (library.read, library.versions, library.delete, library.duplicate):
        with pytest.raises(errors.LibraryMissingError):
            ask(BEN, entry.id)
    assert library.entries(ANN) == [entry]


def test_file_does_not_contain_owner_secret(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path / 'library.db'}")
    secret = "x7Q-a-token-of-a-cookie"
    library.keep(Owner.of(secret), EntryKind.PLAN, "ours", make_plan())
    library.save_draft(Owner.of(secret), make_plan())
    data = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert Owner.of(secret).digest.encode() in data
    assert secret.encode() not in data
    library.close()


def test_entries_are_listed_by_kind_and_change(library: Library) -> None:
    entries = [library.keep(ANN, kind, f"a {kind}", content_of(kind)) for kind in EntryKind]
    assert library.entries(ANN) == entries[::-1]
    assert library.entries(ANN, EntryKind.LAB) == [entries[1]]
    first = library.update(ANN, entries[0].id, make_plan(41), base_version=1)
    assert library.entries(ANN)[0] == first


def test_search_finds_every_word_literally(library: Library) -> None:
    library.keep(ANN, EntryKind.PLAN, "Müller 100% é", make_plan(), notes="Friday")
    library.keep(ANN, EntryKind.PLAN, "second_plan", make_plan(), notes="/ and %")
    both = ["Müller 100% é", "second_plan"]
    for searches, texts in (
        (("", "fin_mom"), both),
        (("MÜLLER", "100%", "friday  É"), both[:1]),
        (("plan second", "d_p"), both[1:]),
        (("0%0", "q_p", "friday second"), []),
    ):
        for search in searches:
            assert sorted(entry.name for entry in library.entries(ANN, search=search)) == texts


def test_every_version_stays_and_can_be_restored(library: Library) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "ours", make_plan(40), notes="first")
    entry = library.update(ANN, entry.id, make_plan(30), base_version=1, notes="fewer")
    entry = library.restore(ANN, entry.id, 1)
    history = library.versions(ANN, entry.id)
    states = [(v.number, v.notes, v.restored) for v in history]
    assert states == [(3, "first", 1), (2, "fewer", None), (1, "first", None)]
    contents = [library.read(ANN, entry.id, number).content for number in (1, 2, 3)]
    assert contents == [make_plan(40), make_plan(30), make_plan(40)]
    assert history[0].saved > history[1].saved > history[2].saved
    assert (entry.version, entry.notes) == (3, "first")


def test_unchanged_state_adds_no_version(library: Library) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    assert library.keep(ANN, EntryKind.PLAN, "OURS ", make_plan()) == entry
    assert library.update(ANN, entry.id, make_plan(), base_version=1) == entry
    noted = library.update(ANN, entry.id, base_version=1, notes="why")
    assert (noted.version, noted.notes) == (2, "why")
    assert library.update(ANN, entry.id, base_version=1, notes="why") == noted


def test_save_from_stale_tab_conflicts_and_loses_nothing(library: Library) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "ours", make_plan(40))
    library.update(ANN, entry.id, make_plan(50), base_version=1)
    message = "at version 2, and yours began from version 1"
    with pytest.raises(LibraryConflictError, match=message) as error:
        library.update(ANN, entry.id, make_plan(60), base_version=1)
    now = error.value.now
    assert (now.version.number, now.content, now.problem) == (2, make_plan(50), "")
    library.update(ANN, entry.id, make_plan(60), base_version=now.version.number)
    contents = [library.read(ANN, entry.id, number).content for number in (1, 2, 3)]
    assert contents == [make_plan(40), make_plan(50), make_plan(60)]


def test_concurrent_saves_make_one_entry_or_version(library: Library) -> None:
    def save(samples: int, entry_id: str = "") -> str:
        content = make_plan(samples)
        try:
            if entry_id:
                return library.update(ANN, entry_id, content, base_version=1).id
            return library.keep(ANN, EntryKind.PLAN, "ours", content).id
        except LibraryConflictError as error:
            return "" if entry_id else error.now.entry.id

    with ThreadPoolExecutor(8) as pool:
        [entry_id] = set(pool.map(save, range(10, 18)))
        saved = list(pool.map(partial(save, entry_id=entry_id), range(20, 28)))
    assert [entry.id for entry in library.entries(ANN)] == [entry_id]
    assert sorted(saved) == [""] * 7 + [entry_id]
    assert [version.number for version in library.versions(ANN, entry_id)] == [2, 1]
    assert library.read(ANN, entry_id).content == make_plan(20 + saved.index(entry_id))


def test_name_is_given_once_for_each_kind(library: Library) -> None:
    plan = library.keep(ANN, EntryKind.PLAN, "Ours", make_plan(40))
    lab = library.keep(ANN, EntryKind.LAB, "Ours", content_of(EntryKind.LAB))
    other = library.keep(ANN, EntryKind.PLAN, "Theirs", make_plan(50))
    with pytest.raises(LibraryConflictError, match="a plan named 'Ours' already") as error:
        library.keep(ANN, EntryKind.PLAN, "ours", make_plan(50))
    assert error.value.now.content == make_plan(40)
    with pytest.raises(LibraryConflictError, match="a plan named 'Ours' already"):
        library.rename(ANN, other.id, "OURS")
    assert {entry.id for entry in library.entries(ANN)} == {plan.id, lab.id, other.id}
    assert library.rename(ANN, plan.id, " OURS ") == plan._replace(name="OURS")
    library.rename(ANN, plan.id, "Ours of spring")
    assert [entry.id for entry in library.entries(ANN, search="SPRING")] == [plan.id]
    assert library.keep(ANN, EntryKind.PLAN, "ours", make_plan(41)).id != plan.id


def test_duplicate_has_own_name_and_history(library: Library) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "ours", make_plan(40), notes="why")
    copies = [library.duplicate(ANN, entry.id) for _ in range(3)]
    assert [copy.name for copy in copies] == ["ours (copy)", "ours (copy) (2)", "ours (copy) (3)"]
    library.update(ANN, copies[0].id, make_plan(50), base_version=1)
    contents = [library.read(ANN, item.id).content for item in (entry, *copies)]
    assert contents == [make_plan(40), make_plan(50), make_plan(40), make_plan(40)]
    assert copies[1].notes == "why"


def test_long_name_is_cut_for_its_number(library: Library) -> None:
    parts = [(EntryKind.PLAN, "n" * 121, make_plan(samples)) for samples in (40, 41)]
    first, second = library.save_as_new(ANN, *parts)
    assert (first.name, second.name) == ("n" * 120, f"{'n' * 116} (2)")
    copies = [library.duplicate(ANN, first.id).name for _ in range(3)]
    assert len({*copies, first.name}) == 4
    assert {*map(len, copies)} == {120}


HIDING: Final = ("a\u202eb", "a\x00b", "a\ud800b")


def test_invisible_names_and_notes_are_refused(library: Library) -> None:
    for name in ("", "  ", "n" * 121, "a\nb", "a\tb", "a\u2028b", *HIDING):
        with pytest.raises(errors.LibraryContentError, match="the name"):
            library.keep(ANN, EntryKind.PLAN, name, make_plan())
    for notes in ("n" * 4001, *HIDING):
        with pytest.raises(errors.LibraryContentError, match="the notes"):
            library.keep(ANN, EntryKind.PLAN, "ours", make_plan(), notes=notes)
    assert library.usage(ANN).entries == 0
    message = r"character 3 is U\+202E, which is invisible"
    with pytest.raises(errors.LibraryContentError, match=message):
        library.keep(ANN, EntryKind.PLAN, "ab\u202ecd", make_plan())
    for name in ("Ada\u00a0Lovelace", "\U0001f469\u200d\U0001f52c", "\u0645\u06cc\u200c\u062e"):
        entry = library.keep(ANN, EntryKind.PLAN, name, make_plan())
        assert entry.name == name, "it may hold what shapes letters"


def test_deleted_entry_comes_back_with_its_history(library: Library, clock: Clock) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "ours", make_plan(40))
    entry = library.update(ANN, entry.id, make_plan(50), base_version=1)
    gone = library.delete(ANN, entry.id)
    assert library.entries(ANN) == []
    assert library.entries(ANN, deleted=True) == [gone]
    assert library.read(ANN, entry.id).content == make_plan(50)
    with pytest.raises(errors.LibraryMissingError):
        library.update(ANN, entry.id, make_plan(60), base_version=2)
    clock.wait(DELETED_DAYS - 1)
    assert library.undelete(ANN, entry.id) == entry
    assert len(library.versions(ANN, entry.id)) == 2
    library.delete(ANN, entry.id)
    library.keep(ANN, EntryKind.PLAN, "ours", make_plan(50))
    assert library.undelete(ANN, entry.id).name == "ours (2)"


def test_deleted_entry_goes_for_good_after_its_days(
    library: Library, url: str, clock: Clock
) -> None:
    stays, goes = (library.keep(ANN, EntryKind.PLAN, name, make_plan()) for name in ("a", "b"))
    library.delete(ANN, goes.id)
    clock.wait(DELETED_DAYS + 1)
    last = library.keep(ANN, EntryKind.PLAN, "c", make_plan())
    library.delete(ANN, last.id)
    assert [entry.name for entry in library.entries(ANN, deleted=True)] == ["c"]
    assert library.usage(ANN) == (2, stays.size + last.size)
    with pytest.raises(errors.LibraryMissingError):
        library.read(ANN, goes.id)
    clock.wait(DELETED_DAYS + 1)
    again = Library(url, clock=clock)
    assert again.usage(ANN) == (1, stays.size), "overdue entries go when it is opened"
    again.close()


def test_start_with_wrong_clock_deletes_little(library: Library, url: str, clock: Clock) -> None:
    names = [str(number) for number in range(MOST_PURGED + 2)]
    parts = [(EntryKind.PLAN, name, make_plan()) for name in names]
    for entry in library.save_as_new(ANN, *parts):
        library.delete(ANN, entry.id)
    clock.wait(DELETED_DAYS + 1)
    for rest in (2, 0):
        again = Library(url, clock=clock)
        assert len(again.entries(ANN, deleted=True)) == rest
        again.close()


def test_forgotten_owner_leaves_nothing(library: Library, url: str) -> None:
    theirs = library.keep(BEN, EntryKind.PLAN, "ours", make_plan())
    entry = library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    library.update(ANN, entry.id, make_plan(50), base_version=1)
    library.delete(ANN, library.keep(ANN, EntryKind.LAB, "our lab", content_of(EntryKind.LAB)).id)
    library.save_draft(ANN, make_plan(60))
    library.forget(ANN)
    library.forget(ANN)
    assert library.entries(ANN) == library.entries(ANN, deleted=True) == []
    assert library.draft(ANN) is None
    assert tuple(library.usage(ANN)) == (0, 0)
    assert library.entries(BEN) == [theirs]
    assert rows_in(url, "library_versions") == 1
    assert library.keep(ANN, EntryKind.PLAN, "ours", make_plan()).version == 1


def rows_in(url: str, table: str) -> int:
    engine = engine_of(url)
    with engine.connect() as connection:
        number = connection.scalar(text(f"SELECT count(*) FROM {table}"))  # noqa: S608
    engine.dispose()
    return int(number or 0)


SIZE: Final = len(make_plan().encode())


def test_draft_is_the_last_state_of_its_owner(library: Library) -> None:
    library.save_draft(ANN, make_plan(41), "tab 1")
    library.save_draft(ANN, make_plan(42), "tab 2")
    draft = library.draft(ANN)
    assert draft
    assert (draft.place, draft.content, draft.problem) == ("tab 2", make_plan(42), "")
    assert library.usage(ANN) == (0, SIZE)
    assert library.draft(BEN) is None
    library.discard_draft(BEN)
    library.discard_draft(ANN)
    assert (library.draft(ANN), library.usage(ANN)) == (None, (0, 0))


def test_draft_is_removed_after_its_days(library: Library, clock: Clock) -> None:
    library.save_draft(ANN, make_plan())
    clock.wait(DRAFT_DAYS + 1)
    library.delete(BEN, library.keep(BEN, EntryKind.PLAN, "ours", make_plan()).id)
    assert (library.draft(ANN), library.usage(ANN)) == (None, (0, 0))


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        (LibraryLimits(entries=2), "you have 2 entries"),
        (LibraryLimits(owner_bytes=2 * SIZE + 5), f"yours take {3 * SIZE:,} bytes"),
    ],
)
def test_entry_beyond_a_limit_is_refused(url: str, limits: LibraryLimits, problem: str) -> None:
    library = Library(url, limits=limits)
    first, _ = (library.keep(ANN, EntryKind.PLAN, name, make_plan()) for name in ("a", "b"))
    for _ in range(2):
        with pytest.raises(errors.LibraryFullError, match=problem):
            library.keep(ANN, EntryKind.PLAN, "c", make_plan())
    assert library.usage(ANN) == (2, 2 * SIZE)
    with pytest.raises(errors.LibraryMissingError):
        library.purge(ANN, first.id)
    library.delete(ANN, first.id)
    with pytest.raises(errors.LibraryFullError, match=problem):
        library.keep(ANN, EntryKind.PLAN, "c", make_plan())
    library.purge(ANN, first.id)
    assert rows_in(url, "library_versions") == 1
    library.keep(ANN, EntryKind.PLAN, "c", make_plan())
    library.close()


def test_bundle_is_saved_whole_or_not(url: str) -> None:
    library = Library(url, limits=LibraryLimits(entries=2))
    library.keep(ANN, EntryKind.PLAN, "first", make_plan())
    parts = [(EntryKind.PLAN, f"part {samples}", make_plan(samples)) for samples in (40, 41)]
    with pytest.raises(errors.LibraryFullError):
        library.save_as_new(ANN, *parts)
    assert library.usage(ANN).entries == 1
    library.close()


def test_limit_of_a_content(url: str) -> None:
    library = Library(url, limits=LibraryLimits(content_bytes=SIZE - 1))
    for save in (
        lambda: library.keep(ANN, EntryKind.PLAN, "b", make_plan()),
        lambda: library.save_draft(ANN, make_plan()),
    ):
        with pytest.raises(errors.LibraryFullError, match=f"the content has {SIZE:,} bytes"):
            save()
    library.close()


ACTS: Final = "keep update restore duplicate delete undelete purge draft forget".split()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 3)), max_size=25))
def test_what_is_counted_is_what_is_there(
    acts: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('counted') / 'library.db'}"
    library = Library(url, limits=LibraryLimits(entries=4, owner_bytes=8 * SIZE))
    for act, which in acts:
        try:
            _do(library, act, which)
        except errors.LibraryError:
            continue
    entries = [*library.entries(ANN), *library.entries(ANN, deleted=True)]
    draft = library.draft(ANN)
    versions = [version for entry in entries for version in library.versions(ANN, entry.id)]
    size = sum(version.size for version in versions)
    assert size == sum(entry.size for entry in entries)
    size += len(draft.content.encode()) if draft else 0
    assert library.usage(ANN) == (len(entries), size)
    assert len(entries) <= 4
    assert size <= 8 * SIZE
    library.close()


def _do(library: Library, act: str, which: int) -> None:
    entries = [*library.entries(ANN), *library.entries(ANN, deleted=True)]
    entry = entries[which % len(entries)] if entries else None
    if act == "keep":
        library.keep(ANN, EntryKind.PLAN, f"plan {which}", make_plan(which + 1))
    elif act == "draft":
        library.save_draft(ANN, make_plan(which + 1), str(which))
    elif act == "forget":
        library.discard_draft(ANN)
    elif entry and act == "update":
        library.update(ANN, entry.id, make_plan(which + 5), base_version=entry.version)
    elif entry and act == "restore":
        library.restore(ANN, entry.id, 1)
    elif entry:
        getattr(library, act)(ANN, entry.id)


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
    shipped = jobs_of((STUDY,), (Difficulty.EASY, Difficulty.HARD), (3, 0))
    cases = jobs_of(("seedling_music",), (Difficulty.MEDIUM,), (1,))
    changes = {"text": template_text(), "own_lab": LabOverrides(budget=900)}
    jobs = [shipped[2], *[item.model_copy(update=changes) for item in cases], *shipped[:2]]
    return [*map(run_job, jobs), Result(job=shipped[3], error="its process died")]


def test_batch_keeps_order_of_results() -> None:
    came = results()
    text = batch_text(KeptBatch.of(came, 9))
    batch = read_batch(text)
    assert (batch.unpack(), batch.asked) == (came, 9)
    assert json.loads(text)["format"] == 2
    assert check(EntryKind.BATCH, text) == f"{STUDY}, seedling_music"
    assert batch.texts == {"seedling_music": template_text()}
    assert not any(job.text for job in batch.jobs), "a study of one's own is stored once"


def test_largest_batch_of_a_page_can_be_saved() -> None:
    [result] = map(run_job, jobs_of((STUDY,), (Difficulty.HARD,), (0,)))
    jobs = jobs_of((STUDY,), seeds=range(333_000, 333_333))
    came = [result.model_copy(update={"job": job}) for job in jobs]
    assert len(batch_text(KeptBatch.of(came, 1_000))) < 3 * 2**20 / 10, "a tenth of the largest"
