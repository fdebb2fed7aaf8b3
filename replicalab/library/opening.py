"""Opening a library: a file of SQLite or a database of PostgreSQL, at the newest version.

SQLite keeps a write-ahead log, and waits for the disk at every commit (``synchronous=FULL``; with a
log, ``NORMAL`` may lose the last commits when the power fails): what is confirmed is on the disk.
A file that is damaged is set aside, never overwritten; an older one is copied before it is brought
forward; one that a newer version wrote is left alone. Alembic is loaded only where there is
something to do: it takes longer to load than a library takes to open.
"""

import logging
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import sqlalchemy
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from replicalab.errors import LibraryStorageError, LibraryVersionError
from replicalab.library import faults

VERSION_TABLE: Final = "library_version"
REVISIONS: Final = ["0001"]
"""Every version there has been, the newest last; the migrations' files are these."""
FOLDERS: Final = [Path(__file__).with_name("migrations") / "versions"]
_WRITES: Final = "library_writes"
# The lock that PostgreSQL holds while a library is brought forward: one process does it.
_MIGRATING: Final = 0x5265704C6162
_SIDE_FILES: Final = ("", "-wal", "-shm")
# Logs in which a lost connection is logged with its host, user and database.
_TELL_THE_SERVER: Final = ("sqlalchemy.pool", "psycopg")
_POSTGRES: Final = ("postgresql", "postgres", "postgresql+psycopg")


class OpenedLibrary(NamedTuple):
    """A library that is open.

    Attributes:
        reading, writing: the same connections; the second begins by taking the right to write.
        notices: what happened while it was opened, for people.
    """

    reading: sqlalchemy.Engine
    writing: sqlalchemy.Engine
    notices: tuple[str, ...]


def opened(address: str, now: datetime) -> OpenedLibrary:
    """Return the library at an address, made or brought forward where it is needed.

    Raises:
        LibraryStorageError: it cannot be used; says why.
        LibraryBusyError: another program holds it.
        LibraryVersionError: a newer version wrote it.
    """
    url, file = _url(address), None
    notices: list[str] = []
    if url.drivername == "sqlite":
        # Where a link leads to: what SQLite puts next to the file stands there.
        file = Path(os.path.realpath(url.database or ""))
        url = url.set(database=str(file))
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise faults.not_writable(error.strerror or type(error).__name__) from None
        notices += _others_kept_out(file)
        looked_at = _identity(file)
        if (damage := _damage(file)) and _identity(file) == looked_at:
            # Else another process has set it aside since, and what is there now is its new one.
            notices.append(_set_aside(file, damage, now))
        _begin_for_its_user(file)
    engine = _engine(url)
    writing = engine.execution_options(**{_WRITES: True})
    try:
        with faults.database_errors():
            if copy := _bring_forward(engine, writing, file, now):
                notices.append(
                    "The library was of an older version. A copy as it was stands beside it: "
                    f"{copy.name}."
                )
    except BaseException:
        engine.dispose()
        raise
    return OpenedLibrary(engine, writing, tuple(notices))


def _url(address: str) -> URL:
    try:
        url = sqlalchemy.make_url(address)
    except (ArgumentError, ValueError):  # a port that is no number
        url = None
    # Two slashes make a server of the first folder: SQLite has none, and its fault quotes them all.
    is_file = url and url.drivername == "sqlite" and not (url.query or url.host or url.username)
    if url and is_file and url.database not in (None, "", ":memory:"):
        return url
    if url and url.drivername in _POSTGRES and url.database:
        return url.set(drivername="postgresql+psycopg")
    # What it says is not shown, with stars in place of a password neither: they hide only one that
    # stands where it should.
    raise LibraryStorageError(
        "REPLICALAB_DATABASE_URL: what it says is no address of a library; write "
        "sqlite:////a/folder/library.db or postgresql://user:password@host/database, and in user "
        "and password %40 for @, %3A for : and %2F for /"
    )


def _engine(url: URL) -> sqlalchemy.Engine:
    """Return the engine; no error of it shows what was to be saved."""
    if url.drivername == "sqlite":
        engine = sqlalchemy.create_engine(
            url, hide_parameters=True, connect_args={"timeout": faults.WAIT_SECONDS}
        )
        sqlalchemy.event.listen(engine, "connect", _settle)
        sqlalchemy.event.listen(engine, "begin", _begin)
        return engine
    for name in _TELL_THE_SERVER:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    settings = f"-c lock_timeout={faults.WAIT_SECONDS:g}s -c synchronous_commit=on"
    try:
        return sqlalchemy.create_engine(
            url,
            hide_parameters=True,
            pool_pre_ping=True,  # a server that was started anew is noticed before it is used
            connect_args={"connect_timeout": int(faults.WAIT_SECONDS), "options": settings},
        )
    except ModuleNotFoundError as error:
        raise LibraryStorageError(
            "REPLICALAB_DATABASE_URL: PostgreSQL needs psycopg, which is not installed; run "
            "pip install 'psycopg[binary]'"
        ) from error
    except SQLAlchemyError as error:
        raise faults.fault_of(error) from None


def _settle(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    # We begin transactions ourselves: Python's module begins none before a table is made.
    connection.isolation_level = None
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")


def _begin(connection: sqlalchemy.Connection) -> None:
    # A writer takes its lock at once, so it waits for others; in the middle it would be refused.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# --- a file -----------------------------------------------------------------------------------


def _others_kept_out(file: Path) -> Iterator[str]:
    """Take the right to read from all but the file's user; yield a notice where that fails."""
    for side in _SIDE_FILES:
        part = Path(f"{file}{side}")
        try:
            mode = part.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:  # a closed folder, links that lead to each other, a long name
            raise faults.not_writable(error.strerror or type(error).__name__) from None
        if stat.S_ISREG(mode) and stat.S_IMODE(mode) & 0o077:
            try:
                part.chmod(0o600)
            except PermissionError:
                yield (
                    f"{part.name} may be read by others on this machine, and belongs to another "
                    "user, who can forbid it."
                )
            except OSError as error:  # a disk that is only read
                raise faults.not_writable(error.strerror or type(error).__name__) from None


def _begin_for_its_user(file: Path) -> None:
    """See that there is a file that its user alone can read, and so what SQLite puts next to it."""
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise faults.not_writable(error.strerror or type(error).__name__) from None


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _damage(file: Path) -> str:
    """Return what is wrong with a file, empty where nothing is or there is none yet."""
    if not file.exists():
        return ""
    try:
        with closing(sqlite3.connect(file, timeout=faults.WAIT_SECONDS)) as connection:
            [found] = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        if faults.is_damage(error):
            return str(error)
        raise faults.fault_of(error) from None
    return "" if found == "ok" else " ".join(str(found).split())


def _set_aside(file: Path, damage: str, now: datetime) -> str:
    """Give a damaged file another name; return a notice of it."""
    aside = _free(file.with_name(f"{file.stem}.damaged-{now:%Y%m%dT%H%M%SZ}{file.suffix}"))
    try:
        for side in _SIDE_FILES:
            with suppress(FileNotFoundError):
                Path(f"{file}{side}").replace(f"{aside}{side}")
    except OSError as error:
        raise faults.not_writable(error.strerror or type(error).__name__) from None
    return (
        f"The library's file was damaged ({damage}). It is set aside as {aside.name}, and a new, "
        "empty library was begun; docs/saving.md says how to get back what can be."
    )


def _free(file: Path) -> Path:
    tried, number = file, 1
    while tried.exists():
        number += 1
        tried = file.with_name(f"{file.stem}-{number}{file.suffix}")
    return tried


# --- its version ------------------------------------------------------------------------------


def _bring_forward(
    engine: sqlalchemy.Engine, writing: sqlalchemy.Engine, file: Path | None, now: datetime
) -> Path | None:
    """Bring a library to the newest version; return the copy of an older one, None without."""
    newest = REVISIONS[-1]
    with engine.connect() as connection:
        if _known_revision(connection) == newest:
            return None
    upgrade = upgrading()
    with writing.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_xact_lock(_MIGRATING)))
        found = _known_revision(connection)  # another process may have been first
        if found == newest:
            return None
        copy = _copied(file, found, now) if file and found else None
        upgrade(connection)
    return copy


def _known_revision(connection: sqlalchemy.Connection) -> str | None:
    found = revision_of(connection)
    if found is not None and found not in REVISIONS:
        raise LibraryVersionError(
            f"the library: a newer version of ReplicaLab wrote it ({found}; this one knows "
            f"{REVISIONS[-1]}); nothing of it was changed. Use that version, or name "
            "another folder in REPLICALAB_DATA"
        )
    return found


def _copied(file: Path, revision: str, now: datetime) -> Path:
    """Copy a file as it is, with what its log holds; return the copy."""
    copy = _free(
        file.with_name(f"{file.stem}.version-{revision}-{now:%Y%m%dT%H%M%SZ}{file.suffix}")
    )
    _begin_for_its_user(copy)
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def revision_of(connection: sqlalchemy.Connection) -> str | None:
    """Return the version of a library, None where there is none yet."""
    if not sqlalchemy.inspect(connection).has_table(VERSION_TABLE):
        return None
    rows = connection.execute(sqlalchemy.text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608 # ours
    return rows.scalar_one_or_none()


def upgrading() -> Callable[[sqlalchemy.Connection], None]:
    """Return what brings a library to the newest version, in the transaction that it is given.

    It is made before a transaction is begun, so that nobody waits while Alembic is loaded.
    """
    from alembic import command  # noqa: PLC0415 # see above
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", _escaped(str(FOLDERS[0].parent)))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", _escaped("\n".join(map(str, FOLDERS))))

    def upgrade(connection: sqlalchemy.Connection) -> None:
        config.attributes["connection"] = connection
        command.upgrade(config, REVISIONS[-1])

    return upgrade


def _escaped(value: str) -> str:
    return value.replace("%", "%%")
