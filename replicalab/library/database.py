"""The database of a library: an SQLite file or PostgreSQL, migrated to the newest version.

A confirmed save is on the disk. A damaged file is renamed; one of another release is refused.
"""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final

import sqlalchemy
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from replicalab import errors

VERSION_TABLE: Final = "library_version"
REVISIONS: Final = ("2.0001",)  # the newest last
MIGRATIONS: Final = Path(__file__).with_name("migrations")
_FIRST_RELEASE: Final = frozenset({"0001", "0002"})  # revisions of ReplicaLab 1
_WRITES: Final = "library_writes"
_MIGRATION_LOCK: Final = 0x5265704C6162  # advisory lock: one process migrates
_SIDE_FILES: Final = ("-wal", "-shm", "")
_POSTGRES: Final = ("postgresql", "postgres", "postgresql+psycopg")


def open_database(address: str, now: datetime) -> tuple[sqlalchemy.Engine, tuple[str, ...]]:
    """Open the library at an address, created or migrated, with messages for the visitor."""
    url = _url(address)
    notices: tuple[str, ...] = ()
    if url.drivername == "sqlite":
        # SQLite puts its side files next to the target of a link.
        file = Path(os.path.realpath(url.database or ""))
        url, notices = url.set(database=str(file)), _prepare_file(file, now)
    engine = _engine(url)
    try:
        with database_errors():
            _migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine, notices


def writing_engine(engine: sqlalchemy.Engine) -> sqlalchemy.Engine:
    """Return the same connections; a transaction takes the write lock when it begins."""
    return engine.execution_options(**{_WRITES: True})


def _url(address: str) -> URL:
    try:
        url = sqlalchemy.make_url(address)
    except (ArgumentError, ValueError):  # a port that is not a number
        url = None
    # After two slashes SQLAlchemy reads the first folder as a server, and SQLite has no server.
    is_file = url and url.drivername == "sqlite" and not (url.query or url.host or url.username)
    if url and is_file and url.database not in (None, "", ":memory:"):
        return url
    is_text = address.isprintable()  # without bytes that cannot be decoded
    if url and url.drivername in _POSTGRES and url.database and is_text:
        return url.set(drivername="postgresql+psycopg")
    # The value is not shown: it may contain a password in an unexpected position.
    raise errors.LibraryStorageError(
        "REPLICALAB_DATABASE_URL: this is no address of a library; write "
        "sqlite:////a/folder/library-2.db or postgresql://user:password@host/database, and in user "
        "and password %40 for @, %3A for : and %2F for /"
    )


def _engine(url: URL) -> sqlalchemy.Engine:
    if url.drivername == "sqlite":
        waits = {"timeout": WAIT_SECONDS}
        engine = sqlalchemy.create_engine(url, hide_parameters=True, connect_args=waits)
        sqlalchemy.event.listen(engine, "connect", _configure)
        sqlalchemy.event.listen(engine, "begin", _begin)
        return engine
    for name in ("sqlalchemy.pool", "psycopg"):  # they log host, user and database
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    settings = f"-c lock_timeout={WAIT_SECONDS:g}s -c synchronous_commit=on"
    try:
        return sqlalchemy.create_engine(
            url,
            hide_parameters=True,
            pool_pre_ping=True,  # notices a restarted server
            connect_args={"connect_timeout": int(WAIT_SECONDS), "options": settings},
        )
    except ModuleNotFoundError as error:
        raise errors.LibraryStorageError(
            "REPLICALAB_DATABASE_URL: PostgreSQL needs psycopg, which is not installed; run "
            "pip install 'psycopg[binary]'"
        ) from error
    except SQLAlchemyError as error:
        raise fault_of(error) from None


def _configure(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    # Python's module begins no transaction before DDL statements; `_begin` does.
    connection.isolation_level = None
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")


def _begin(connection: sqlalchemy.Connection) -> None:
    # A writer takes its lock at once and waits; later in the transaction SQLite would refuse it.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


class FileInUse:
    """The file of a library as it was opened; PostgreSQL has none."""

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        self._path = engine.url.database if engine.url.drivername == "sqlite" else None
        self._opened = self._identity()

    def require(self) -> None:
        """Raise LibraryReplacedError if the file was deleted or replaced."""
        if self._identity() != self._opened:
            raise errors.LibraryReplacedError(
                "the library: its file was deleted or replaced while ReplicaLab ran; nothing was "
                "saved. Put the file back, then restart ReplicaLab"
            )

    def _identity(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        with suppress(OSError):
            status = Path(self._path).stat()
            return status.st_dev, status.st_ino
        return 0, 0


def _prepare_file(file: Path, now: datetime) -> tuple[str, ...]:
    notices: tuple[str, ...] = ()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.is_file():
            inode = file.stat().st_ino
            damage = _damage(file)
            # Another process may have renamed the damaged file already.
            if damage and file.exists() and file.stat().st_ino == inode:
                notices = (_rename_damaged(file, damage, now),)
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise not_writable(error.strerror or type(error).__name__) from None
    return notices


def _damage(file: Path) -> str:
    # Raises LibraryVersionError if ReplicaLab 1 wrote the file.
    try:
        # A read-only connection leaves a file of ReplicaLab 1 unchanged.
        address = f"{file.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS)) as connection:
            tables = "SELECT name FROM sqlite_master WHERE name = ?"
            if connection.execute(tables, (VERSION_TABLE,)).fetchone():
                row = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()  # noqa: S608
                _check_revision(row and row[0])
            [result] = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        if is_damage(error):
            return str(error)
        raise fault_of(error) from None
    return "" if result == "ok" else " ".join(str(result).split())


def _rename_damaged(file: Path, damage: str, now: datetime) -> str:
    name = f"{file.stem}.damaged-{now:%Y%m%dT%H%M%SZ}"
    ends = ("" if number == 1 else f"-{number}" for number in count(1))
    places = (file.with_name(f"{name}{end}{file.suffix}") for end in ends)
    renamed = next(place for place in places if not place.exists())
    for side in _SIDE_FILES:
        with suppress(FileNotFoundError):
            Path(f"{file}{side}").replace(f"{renamed}{side}")
    now_empty = f"It was renamed to {renamed.name}, and a new, empty library was created."
    return f"The library's file was damaged ({damage}). {now_empty}"


def _migrate(engine: sqlalchemy.Engine) -> None:
    with engine.connect() as connection:
        if _revision(connection) == REVISIONS[-1]:
            return
    from alembic import command  # noqa: PLC0415 # see the module's docstring
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    with writing_engine(engine).begin() as connection:
        if connection.dialect.name == "postgresql":
            lock = sqlalchemy.func.pg_advisory_xact_lock(_MIGRATION_LOCK)
            connection.execute(sqlalchemy.select(lock))
        if _revision(connection) != REVISIONS[-1]:  # another process may have migrated it
            config.attributes["connection"] = connection
            command.upgrade(config, REVISIONS[-1])


def _revision(connection: sqlalchemy.Connection) -> str | None:
    if not sqlalchemy.inspect(connection).has_table(VERSION_TABLE):
        return None
    query = sqlalchemy.text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608
    return _check_revision(connection.execute(query).scalar_one_or_none())


def _check_revision(revision: str | None) -> str | None:
    if revision in _FIRST_RELEASE:
        raise errors.LibraryVersionError(
            "the library: ReplicaLab 1 wrote this database, and ReplicaLab 2 does not read it; it "
            "is unchanged. Export its entries with ReplicaLab 1, and name another database in "
            "REPLICALAB_DATABASE_URL"
        )
    if revision is not None and revision not in REVISIONS:
        raise errors.LibraryVersionError(
            f"the library: a newer version of ReplicaLab wrote it ({revision}; this one knows "
            f"{REVISIONS[-1]}); it is unchanged. Use that version, or name another folder in "
            "REPLICALAB_DATA"
        )
    return revision


# A driver's message may contain the server, its user, the file or the whole address. Visitors
# read these errors, so they omit that.
WAIT_SECONDS: Final = 5.0  # for another save, or for a server
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, "55P03", "40P01", "40001"}
_FULL: Final = {sqlite3.SQLITE_FULL, "53100"}
_NOT_WRITABLE: Final = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


@contextmanager
def database_errors() -> Iterator[None]:
    """Turn errors of the database into library errors with a remedy."""
    try:
        yield
    except SQLAlchemyError as error:
        raise fault_of(error.orig if isinstance(error, DBAPIError) else error) from None
    except sqlite3.Error as error:
        raise fault_of(error) from None


def fault_of(error: BaseException | None) -> errors.LibraryError:
    is_file = isinstance(error, sqlite3.Error)
    code = _code(error) if is_file else getattr(error, "sqlstate", None)
    if code in _BUSY:
        problem = f"the library: another program has held it for {WAIT_SECONDS:g} seconds"
        remedy = "Let that one finish, or close it, then save again"
        return errors.LibraryBusyError(f"{problem}; nothing was saved. {remedy}")
    if code in _NOT_WRITABLE:
        return not_writable(str(error))
    state = f"SQLSTATE {code}" if code else type(error).__name__
    problem = f"the database failed ({state}); the save is not confirmed"
    remedy = "Check that it runs and may be used, then save again: nothing is saved twice"
    if code in _FULL:
        problem = "the disk is full; nothing was saved"
        remedy = "Make room there, then save again"
    elif is_damage(error):
        problem = f"the file is damaged ({error}); nothing was saved"
        remedy = "Restart the app: it renames the file and creates a new one"
    elif is_file:
        problem = f"the disk failed ({error}); nothing was saved"
        remedy = "Check that it is there and has room, then save again"
    return errors.LibraryStorageError(f"the library: {problem}. {remedy}")


def is_damage(error: BaseException | None) -> bool:
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: BaseException | None) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF  # the rest is SQLite's detail


def not_writable(reason: str) -> errors.LibraryStorageError:
    return errors.LibraryStorageError(
        f"the library: it cannot be written ({reason}); nothing was saved. Make its folder "
        "writable, or name another in REPLICALAB_DATA"
    )
