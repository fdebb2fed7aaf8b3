"""Opening: older libraries are brought forward, newer ones refused, damaged ones set aside."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from replicalab.errors import LibraryStorageError, LibraryVersionError
from replicalab.library import (
    EntryKind,
    Library,
    opening,
)
from replicalab.library.opening import opened
from replicalab.library.schema import METADATA
from tests.library.making import ANN, BEN, TIME, Clock, PostgresServer, engine_of, make_plan

ROOT: Final = Path(__file__).resolve().parents[2]
DOCUMENT: Final = ROOT / "docs" / "library.md"
SAVED: Final = Path(__file__).with_name("saved")
FIRST: Final = SAVED / "version-0001.db"
"""As the first version wrote it: an entry of two versions, a run, a lab, a deleted one, a draft."""

LATER: Final = """
import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"


def upgrade():
    op.add_column("library_entries", sa.Column("{column}", sa.Text))
    op.execute("UPDATE library_entries SET {column} = name")
    {more}
"""


def later_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch, more: str = "", number: int = 3
) -> str:
    """Add a version after ours; returns its name."""
    revision, before = f"{number:04}", opening.REVISIONS[-1]
    said = LATER.format(revision=revision, before=before, column=f"added_{number}", more=more)
    folder.mkdir(exist_ok=True)
    (folder / f"v{revision}_later.py").write_text(said)
    monkeypatch.setattr(opening, "REVISIONS", [*opening.REVISIONS, revision])
    if folder not in opening.FOLDERS:
        monkeypatch.setattr(opening, "FOLDERS", [*opening.FOLDERS, folder])
    return revision


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A copy of what the first version wrote."""
    return Path(shutil.copy(FIRST, tmp_path / "library.db"))


def asked(file: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return list(connection.iterdump())


def written(entry: str, number: int = 1) -> str:
    """Return what the first version wrote as that version of an entry, read without the library."""
    query = "SELECT content FROM library_versions WHERE entry = ? AND number = ?"
    with closing(sqlite3.connect(FIRST)) as connection:
        [(content,)] = connection.execute(query, (entry, number)).fetchall()
    return str(content)


def check_first(file: Path) -> None:
    """Check that a file holds all that the first version wrote; its study has changed since."""
    library = Library(f"sqlite:///{file}", clock=Clock())
    by_kind = {entry.kind: entry for entry in library.entries(ANN)}
    plan, lab, run = by_kind[EntryKind.PLAN], by_kind[EntryKind.LAB], by_kind[EntryKind.RUN]
    assert len(library.entries(ANN)) == 3
    assert (plan.name, plan.notes, plan.version) == ("Ours", "fewer", 2)
    contents = [library.read(ANN, plan.id, number) for number in (1, 2)]
    assert [kept.content for kept in contents] == [written(plan.id, 1), written(plan.id, 2)]
    sizes = [json.loads(kept.content)["plan"]["sample_size"] for kept in contents]
    assert sizes == [40, 30]
    kept = [library.read(ANN, entry.id) for entry in (lab, run)]
    assert [each.content for each in kept] == [written(lab.id), written(run.id)]
    assert [each.problem for each in (*contents, *kept)] == [""] * 4
    [gone] = library.entries(ANN, deleted=True)
    assert library.undelete(ANN, gone.id).name == "Gone"
    draft = library.draft(BEN)
    assert draft
    assert draft.problem == ""
    assert json.loads(draft.content)["plan"]["sample_size"] == 50
    library.close()


# --- versions ---------------------------------------------------------------------------------


def test_tables_are_those_that_the_migrations_make(library: Library, url: str) -> None:
    engine = engine_of(url)
    with engine.connect() as connection:
        options = {"version_table": opening.VERSION_TABLE, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_library_of_this_version_opens_without_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'library.db'}"
    Library(url).close()
    code = f"import sys; from replicalab.library import Library; Library({url!r}).close()"
    said = f"{code}; print('alembic' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", said], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert process.stdout == "False\n"


def test_versions_are_those_of_the_migrations_and_each_has_a_saved_file() -> None:
    [folder] = opening.FOLDERS
    scripts = ScriptDirectory(str(folder.parent), version_locations=[str(folder)])
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert revisions[::-1] == opening.REVISIONS
    assert sorted(SAVED.iterdir()) == [SAVED / f"version-{name}.db" for name in revisions[::-1]]


def test_older_file_is_copied_and_brought_forward(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(first)
    later_version(tmp_path / "later", monkeypatch)
    later_version(tmp_path / "later", monkeypatch, number=4)
    library = Library(f"sqlite:///{first}", clock=Clock())
    copy = tmp_path / f"library.version-0001-{TIME:%Y%m%dT%H%M%SZ}.db"
    assert library.notices == (
        f"The library was of an older version. A copy as it was stands beside it: {copy.name}.",
    )
    assert copy.stat().st_mode & 0o777 == 0o600
    library.close()
    check_first(first)
    assert dump(copy) == before
    assert asked(first, "SELECT version_num FROM library_version") == [("0004",)]
    assert ("Ours", "Ours") in asked(first, "SELECT added_3, added_4 FROM library_entries")
    again = Library(f"sqlite:///{first}")
    assert again.notices == ()
    again.close()


def test_step_forward_that_fails_changes_nothing(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(first)
    with monkeypatch.context() as later:
        later_version(tmp_path / "later", later)
        more = 'op.execute("INSERT INTO nowhere VALUES (1)")'
        later_version(tmp_path / "later", later, more, number=4)
        with pytest.raises(LibraryStorageError, match="nowhere"):
            Library(f"sqlite:///{first}")
    assert dump(first) == before
    check_first(first)


def test_newer_library_is_refused_and_left_as_it_is(
    library: Library, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "Ours", make_plan())
    library.close()
    with monkeypatch.context() as later:
        later_version(tmp_path / "later", later)
        forward = Library(url)
        assert forward.read(ANN, entry.id).content == make_plan(), "it is brought forward"
        forward.close()
    with pytest.raises(
        LibraryVersionError, match=r"newer version .* \(0003; this one knows 0001\)"
    ):
        Library(url)
    later_version(tmp_path / "later", monkeypatch)
    again = Library(url)
    assert again.entries(ANN) == [entry]
    again.close()


def test_every_connection_to_a_file_is_set_up(tmp_path: Path) -> None:
    library = opened(f"sqlite:///{tmp_path / 'library.db'}", TIME)
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}
    with library.reading.connect() as one, library.writing.connect() as other:
        for connection in (one, other):
            found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in wanted}
            assert found == wanted
    library.reading.dispose()


def test_server_confirms_only_what_is_on_its_disk(postgres: PostgresServer) -> None:
    library = opened(postgres.fresh(), TIME)
    with library.writing.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "5s"
    library.reading.dispose()


# --- damage -----------------------------------------------------------------------------------


def with_noise(data: bytes, page: int = 2) -> bytes:
    """Return a file with a page of noise; on the first page stands the list of the tables."""
    noise = random.Random(1).randbytes(4096)
    return data[: page * 4096] + noise + data[(page + 1) * 4096 :]


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: b"This is no database.\n" * 500,
        lambda data: data[: len(data) // 2],
        lambda data: b"\0" * 4096 + data[4096:],
        with_noise,
    ],
    ids=["another file", "cut", "first page gone", "noise"],
)
def test_damaged_file_is_set_aside_and_a_new_one_begun(
    first: Path, tmp_path: Path, harm: type
) -> None:
    harmed: bytes = harm(first.read_bytes())
    first.write_bytes(harmed)
    library = Library(f"sqlite:///{first}", clock=Clock())
    aside = tmp_path / f"library.damaged-{TIME:%Y%m%dT%H%M%SZ}.db"
    assert aside.read_bytes() == harmed
    [notice] = library.notices
    assert aside.name in notice
    assert str(tmp_path) not in notice
    assert "damaged" in notice
    assert library.entries(ANN) == []
    entry = library.keep(ANN, EntryKind.PLAN, "Ours", make_plan())
    library.close()
    again = Library(f"sqlite:///{first}")
    assert (again.notices, again.entries(ANN)) == ((), [entry])
    again.close()


def test_damaged_file_behind_a_link_is_set_aside_where_it_lies_under_a_name_of_its_own(
    first: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    there = first.rename(tmp_path / "there" / "ours.db")
    first.symlink_to(there)
    harmed = [f"No database {number}.".encode() * 500 for number in (1, 2)]
    for data in harmed:  # both in the same second
        there.write_bytes(data)
        Library(f"sqlite:///{first}", clock=Clock()).close()
    names = [f"ours.damaged-{TIME:%Y%m%dT%H%M%SZ}{more}.db" for more in ("", "-2")]
    assert [there.with_name(name).read_bytes() for name in names] == harmed
    assert Library(f"sqlite:///{there}").notices == ()


def test_file_that_is_damaged_while_open_is_told(first: Path) -> None:
    library = Library(f"sqlite:///{first}", clock=Clock())
    [entry] = library.entries(ANN, EntryKind.LAB)
    library.close()
    first.write_bytes(first.read_bytes()[:4096] + b"\xff" * (first.stat().st_size - 4096))
    with pytest.raises(LibraryStorageError, match=r"the file is damaged .* Start the app anew"):
        library.read(ANN, entry.id)
    library.close()
