"""Opening: places, migrations, databases of other versions, damaged files."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text

from replicalab.errors import LibraryStorageError, LibraryVersionError
from replicalab.library import EntryKind, Library, database
from replicalab.library.database import open_database, writing_engine
from replicalab.places import data_folder, library_url
from tests.library.making import ANN, TIME, Clock, PostgresServer, engine_of, make_plan

LATER: Final = """
import sqlalchemy as sa
from alembic import op

revision = "later"
down_revision = "{before}"


def upgrade():
    op.add_column("library_entries", sa.Column("added", sa.Text))
    op.execute("UPDATE library_entries SET added = name")
    {more}
"""

FIRST_RELEASE: Final = (
    "CREATE TABLE library_version (version_num VARCHAR(32) NOT NULL)",
    "INSERT INTO library_version VALUES ('{revision}')",
    "CREATE TABLE library_entries (id VARCHAR(32) PRIMARY KEY, name TEXT)",
    "INSERT INTO library_entries VALUES ('1', 'Ours')",
)
"""A database of ReplicaLab 1, as far as it matters here."""


def add_migration(folder: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> None:
    shutil.copytree(database.MIGRATIONS, folder, dirs_exist_ok=True)
    script = LATER.format(before=database.REVISIONS[-1], more=more)
    (folder / "versions" / "v0002_later.py").write_text(script)
    monkeypatch.setattr(database, "MIGRATIONS", folder)
    monkeypatch.setattr(database, "REVISIONS", (*database.REVISIONS, "later"))


def asked(url: str, query: str) -> list[tuple[object, ...]]:
    engine = engine_of(url)
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return rows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "library-2.db"
    library = Library(f"sqlite:///{path}", clock=Clock())
    library.keep(ANN, EntryKind.PLAN, "Ours", make_plan())
    library.close()
    return path


def test_revisions_are_those_of_the_migrations() -> None:
    scripts = ScriptDirectory(str(database.MIGRATIONS))
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert tuple(revisions[::-1]) == database.REVISIONS


def test_failed_migration_changes_nothing(
    library: Library, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "Ours", make_plan())
    library.close()
    with monkeypatch.context() as patch:
        add_migration(tmp_path / "later", patch, 'op.execute("INSERT INTO nowhere VALUES (1)")')
        with pytest.raises(LibraryStorageError):
            Library(url)
    again = Library(url)
    assert again.entries(ANN) == [entry]
    again.close()


def test_migrated_library_is_refused_by_older_versions(
    library: Library, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = library.keep(ANN, EntryKind.PLAN, "Ours", make_plan())
    library.close()
    with monkeypatch.context() as patch:
        add_migration(tmp_path / "later", patch)
        migrated = Library(url)
        assert migrated.read(ANN, entry.id).content == make_plan()
        migrated.close()
    with pytest.raises(LibraryVersionError, match=r"newer version .* \(later; this one knows 2"):
        Library(url)
    assert asked(url, "SELECT added FROM library_entries") == [("Ours",)]
    assert asked(url, "SELECT version_num FROM library_version") == [("later",)]
    add_migration(tmp_path / "later", monkeypatch)
    again = Library(url)
    assert again.entries(ANN) == [entry]
    again.close()


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_database_of_first_release_is_refused_unchanged(url: str, revision: str) -> None:
    engine = engine_of(url)
    with engine.begin() as connection:
        for statement in FIRST_RELEASE:
            connection.execute(text(statement.format(revision=revision)))
    engine.dispose()
    path = Path(engine.url.database or "")
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(LibraryVersionError, match=r"ReplicaLab 1 wrote this database.*Export"):
        Library(url)
    if before:
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]
    assert asked(url, "SELECT * FROM library_entries") == [("1", "Ours")]
    assert asked(url, "SELECT version_num FROM library_version") == [(revision,)]


def test_every_connection_to_a_file_is_set_up(tmp_path: Path) -> None:
    engine, _ = open_database(f"sqlite:///{tmp_path / 'library.db'}", TIME)
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}
    with engine.connect() as one, writing_engine(engine).connect() as other:
        for connection in (one, other):
            rows = [
                (name, connection.exec_driver_sql(f"PRAGMA {name}").scalar()) for name in wanted
            ]
            record = dict(rows)
            assert record == wanted
    engine.dispose()


def test_server_confirms_only_what_is_on_its_disk(postgres: PostgresServer) -> None:
    engine, _ = open_database(postgres.fresh(), TIME)
    with writing_engine(engine).connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "5s"
    engine.dispose()


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: b"This is no database.\n" * 500,
        lambda data: data[: len(data) // 2],
        lambda data: b"\0" * 4096 + data[4096:],
        lambda data: data[: 2 * 4096] + random.Random(1).randbytes(4096) + data[3 * 4096 :],
    ],
    ids=["another file", "cut", "first page gone", "noise"],
)
def test_damaged_file_is_renamed(file: Path, harm: Callable[[bytes], bytes]) -> None:
    damaged = harm(file.read_bytes())
    file.write_bytes(damaged)
    library = Library(f"sqlite:///{file}", clock=Clock())
    renamed = file.with_name(f"library-2.damaged-{TIME:%Y%m%dT%H%M%SZ}.db")
    assert renamed.read_bytes() == damaged
    [notice] = library.notices
    assert renamed.name in notice
    assert str(file.parent) not in notice
    assert library.entries(ANN) == []
    entry = library.keep(ANN, EntryKind.PLAN, "Ours", make_plan())
    library.close()
    again = Library(f"sqlite:///{file}")
    assert (again.notices, again.entries(ANN)) == ((), [entry])
    again.close()


def test_file_that_is_damaged_while_open_is_named(file: Path) -> None:
    library = Library(f"sqlite:///{file}", clock=Clock())
    [entry] = library.entries(ANN)
    library.close()
    file.write_bytes(file.read_bytes()[:4096] + b"\xff" * (file.stat().st_size - 4096))
    with pytest.raises(LibraryStorageError, match=r"the file is damaged .* Restart the app"):
        library.read(ANN, entry.id)
    library.close()


def test_environment_names_folder_or_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/home/ann/.data")
    assert data_folder({}).name == "replicalab"
    assert library_url({}) == f"sqlite:///{data_folder({}) / 'library-2.db'}"
    named = {"REPLICALAB_DATA": " /srv/ours "}
    assert data_folder(named) == Path("/srv/ours")
    assert library_url(named) == "sqlite:////srv/ours/library-2.db"
    named["REPLICALAB_DATABASE_URL"] = "postgresql://ann@host/ours"
    assert library_url(named) == "postgresql://ann@host/ours"
    assert data_folder({"REPLICALAB_DATA": "~/ours"}) == Path.home() / "ours"
    for name in ("ours", "~nobody-here/x"):
        assert data_folder({"REPLICALAB_DATA": name}) == Path.cwd() / name


@pytest.mark.parametrize(
    "url", ["nonsense", "sqlite://", "sqlite:///:memory:", "mysql://host/x", "postgresql://host"]
)
def test_invalid_address_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICALAB_DATABASE_URL", url)
    with pytest.raises(LibraryStorageError, match=r"REPLICALAB_DATABASE_URL: .* is no address"):
        Library()


def test_new_library_is_readable_by_its_user_alone(tmp_path: Path) -> None:
    folder, before = tmp_path / "a" / "b", os.umask(0)
    try:
        library = Library(f"sqlite:///{folder / 'library-2.db'}")
        library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o077 == 0
    assert [file.stat().st_mode & 0o777 for file in folder.iterdir()] == [0o600] * 3
    library.close()


@pytest.mark.parametrize("name", ["what?", "%41", "100 %", "%3F?#", "a@b:c", "né", "\udcff"])
def test_library_is_in_the_named_folder(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    monkeypatch.delenv("REPLICALAB_DATABASE_URL", raising=False)
    monkeypatch.setenv("REPLICALAB_DATA", str(folder))
    Library().close()
    assert list(tmp_path.iterdir()) == [folder]
    assert sorted(file.name for file in folder.iterdir()) == ["library-2.db"]
