"""A killed process, a full disk, a lock or a stopped server lose no confirmed save."""

import logging
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from itertools import count, product
from pathlib import Path
from typing import Final, NamedTuple

import psycopg
import pytest

from replicalab.errors import LibraryBusyError, LibraryReplacedError, LibraryStorageError
from replicalab.library import EntryKind, Library, database
from tests.library.child import plan_of
from tests.library.making import ANN, PostgresServer, make_plan
from tests.tiers import one_in

ROOT: Final = Path(__file__).resolve().parents[2]


class Confirmed(NamedTuple):
    entry: str
    version: int
    number: int


class Child(subprocess.Popen[str]):
    """A process that does something with a library after `begin`."""

    def __init__(self, act: str, url: str) -> None:
        command = [sys.executable, "-m", "tests.library.child", act, url]
        pipe = subprocess.PIPE
        super().__init__(command, cwd=ROOT, text=True, bufsize=1, stdin=pipe, stdout=pipe)

    def begin(self) -> None:
        assert self.stdout
        assert self.stdin
        assert self.stdout.readline() == "ready\n"
        self.stdin.write("\n")
        self.stdin.flush()


def confirmed_in(text: str) -> list[Confirmed]:
    rows = re.findall(r"^saved (\w{32}) (\d+) (\d+)$", text, re.MULTILINE)
    return [Confirmed(entry, int(version), int(number)) for entry, version, number in rows]


def check_whole(url: str, confirmed: list[Confirmed]) -> None:
    library = Library(url)
    assert library.notices == ()
    for text in confirmed:
        assert library.read(ANN, text.entry, text.version).content == plan_of(text.number)
    entries = library.entries(ANN)
    size = 0
    for entry in entries:
        versions = library.versions(ANN, entry.id)
        assert [version.number for version in versions] == list(range(entry.version, 0, -1))
        for version in versions:
            saved = library.read(ANN, entry.id, version.number)
            assert saved.problem == ""
            assert version.size == len(saved.content.encode())
            size += version.size
    assert library.usage(ANN) == (len(entries), size)
    library.close()


@pytest.mark.parametrize("kills", [1, pytest.param(3, marks=pytest.mark.long)])
def test_killed_process_loses_no_confirmed_save(url: str, kills: int) -> None:
    chance, confirmed = random.Random(7), list[Confirmed]()
    for _ in range(kills):
        child = Child("save_on", url)
        child.begin()
        assert child.stdout
        first = child.stdout.readline()
        time.sleep(chance.uniform(0, 0.4))
        child.kill()
        saved = confirmed_in(first + child.communicate()[0])
        assert saved
        confirmed += saved
        check_whole(url, confirmed)


@pytest.mark.long
def test_processes_opening_together_all_save(url: str) -> None:
    children = [Child("save_once", url) for _ in range(4)]
    for child in children:
        child.begin()
    confirmed = [saved for child in children for saved in confirmed_in(child.communicate()[0])]
    assert len({saved.entry for saved in confirmed if saved.version == 1}) == 4
    check_whole(url, confirmed)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607


def test_full_disk_loses_no_confirmed_save(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 200 * 1024)
        url = f"sqlite:///{disk / 'library.db'}"
        library, confirmed = Library(url), list[Confirmed]()

        def save(numbers: Iterable[int]) -> None:
            for number in numbers:
                entry = library.keep(ANN, EntryKind.PLAN, f"plan {number}", plan_of(number))
                confirmed.append(Confirmed(entry.id, 1, number))

        with pytest.raises(LibraryStorageError, match=r"^the library: the disk is full; nothing"):
            save(count(1))
        ballast.unlink()
        save([100_001])
        library.close()
        check_whole(url, confirmed)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="replicalab-library-"))
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("place", "rights"),  # others may look at it, or not even that
    one_in(6, product(["library.db", "a/library.db", "ours"], [0o555, 0o700])),
)
def test_unwritable_folder_is_reported_unchanged(
    open_folder: Path, place: str, rights: int
) -> None:
    file, entries = open_folder / place, []
    open_folder.chmod(rights)
    url = f"sqlite:///{file}"
    if place == "ours":  # one from before
        open_folder.chmod(0o755)
        library = Library(url)
        entries = [library.keep(ANN, EntryKind.PLAN, "ours", make_plan())]
        library.close()
        file.chmod(0o444)
        open_folder.chmod(rights)
    text = Child("open_as_nobody", url).communicate("\n")[0].strip()
    assert "LibraryStorageError: the library: it cannot be written" in text
    assert str(open_folder) not in text
    if not entries:
        assert text.endswith("Make its folder writable, or name another in REPLICALAB_DATA")
        assert list(open_folder.iterdir()) == []
        return
    open_folder.chmod(0o755)
    file.chmod(0o644)
    library = Library(url)
    assert (library.notices, library.entries(ANN)) == ((), entries)
    library.close()


@contextmanager
def locked(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


def test_save_waits_while_another_program_holds_the_file(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path / 'library.db'}")
    library.keep(ANN, EntryKind.PLAN, "first", make_plan())
    with ThreadPoolExecutor(1) as threads:
        with locked(tmp_path / "library.db"):
            save = threads.submit(library.keep, ANN, EntryKind.PLAN, "second", make_plan())
            assert not wait([save], 0.5).done, "it waits"
            assert [e.name for e in library.entries(ANN)] == ["first"], "reading does not"
        save.result()
    assert [entry.name for entry in library.entries(ANN)] == ["second", "first"]
    library.close()


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.5)


@pytest.mark.usefixtures("short_wait")
def test_blocked_save_fails_and_can_be_repeated(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'library.db'}"
    Library(url).close()
    with locked(tmp_path / "library.db"):
        library = Library(url)  # opening it needs no lock
        with pytest.raises(LibraryBusyError, match=r"another program has held it for 0\.5 seconds"):
            library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    assert library.entries(ANN) == []
    library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    library.close()


@pytest.mark.parametrize("replaced", [False, True])
def test_save_into_deleted_file_is_refused(tmp_path: Path, replaced: bool) -> None:
    file, copy = tmp_path / "library.db", tmp_path / "copy.db"
    library = Library(f"sqlite:///{file}")
    entry = library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    library.close()
    copy.write_bytes(file.read_bytes())
    file.unlink()
    if replaced:
        copy.rename(file)
    for use in (
        lambda: library.keep(ANN, EntryKind.PLAN, "lost", make_plan()),
        lambda: library.delete(ANN, entry.id),
        lambda: library.usage(ANN),
    ):
        with pytest.raises(LibraryReplacedError, match=r"deleted or replaced .* restart Replica"):
            use()
    assert file.exists() == replaced
    again = Library(f"sqlite:///{file}")
    assert again.entries(ANN) == ([entry] if replaced else [])
    again.close()


@pytest.mark.usefixtures("short_wait")
def test_locked_table_is_reported(postgres: PostgresServer) -> None:
    library = Library(postgres.fresh())
    library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    with psycopg.connect(postgres.url) as other:
        other.execute("LOCK TABLE library_entries IN EXCLUSIVE MODE")
        with pytest.raises(LibraryBusyError, match=r"for 0\.5 seconds"):
            library.keep(ANN, EntryKind.PLAN, "other", make_plan())
    library.keep(ANN, EntryKind.PLAN, "other", make_plan())
    library.close()


def test_restarted_server_loses_nothing_and_stays_secret(
    postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    library = Library(postgres.fresh())
    saved = library.keep(ANN, EntryKind.PLAN, "before", make_plan())
    postgres.stop()
    failure = pytest.raises(LibraryStorageError, match="the database failed")
    with caplog.at_level(logging.DEBUG), failure as error:
        library.keep(ANN, EntryKind.PLAN, "meanwhile", make_plan())
    with pytest.raises(LibraryStorageError):
        library.entries(ANN)
    with pytest.raises(LibraryStorageError):
        Library(postgres.url)
    postgres.start()
    private = make_plan(), "tester", "127.0.0.1", str(postgres.port)
    assert not [part for part in private if part in str(error.value) + caplog.text]
    assert library.entries(ANN) == [saved]
    library.keep(ANN, EntryKind.PLAN, "after", make_plan())
    assert [entry.name for entry in library.entries(ANN)] == ["after", "before"]
    library.close()


def test_missing_psycopg_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LibraryStorageError, match=r"pip install .psycopg\[binary\]"):
        Library("postgresql://ann@127.0.0.1/ours")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:hunter2@127.0.0.1:1/ours",
        "postgresql://127.0.0.1:1/ours?user=ann&password=hunter2",
        "postgresql://127.0.0.1:1/ours?user=ann&hunter2=hunter2",
        "postgresql://127.0.0.1:1/ours?plugin=hunter2",
        "postgresql://ann:x@hunter2@127.0.0.1:1/ours",
        "postgresql://ann:x/hunter2@127.0.0.1:1/ours",
        "postgresql://ann:x:hunter2@127.0.0.1:1/ours", "postgresql://ann@127.0.0.1:hunter2/ours",
        "postgresql://127.0.0.1?user=ann&password=hunter2",
        "mysql://ann:hunter2@127.0.0.1/ours?password=hunter2",
        "sqlite:////nowhere/ours.db?password=hunter2", "sqlite://hunter2/nowhere/ours.db",
        "postgresql://ann:hunter2\udcff@127.0.0.1:1/ours", "postgresql://127.0.0.1/ours?port=hunter2",
        "postgresql:///ours?service=hunter2", "hunter2://ann@127.0.0.1/ours", "postgresql://hunter2",
        "sqlite://ann:hunter2@host//nowhere/ours.db", "ann hunter2 127.0.0.1 ours",
    ],
)  # fmt: skip
def test_database_address_is_never_shown(address: str, caplog: pytest.LogCaptureFixture) -> None:
    assert os.environ.get("PGPASSWORD") is None
    with caplog.at_level(logging.DEBUG), pytest.raises(LibraryStorageError) as error:
        Library(address)
    trace = "".join(traceback.format_exception(error.value))
    quoted = {"ann:x", "127.0.0.1", "hunter2", "ours"}
    for text in (str(error.value), caplog.text):
        assert not [part for part in quoted if part in text]
    # A traceback has source lines and the texts of other errors.
    assert "hunter2" not in trace.replace(address, "")
