"""Database errors as library errors with a remedy.

A driver's message may contain the server, its user, the file or the whole address. Visitors read
these errors, so they contain none of that.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from replicalab.errors import LibraryBusyError, LibraryError, LibraryStorageError

WAIT_SECONDS: Final = 5.0  # So long a save waits for somebody else's, and a server is waited for

# Error codes of SQLite and states of PostgreSQL. In two of these, saves waited for each other.
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, "55P03", "40P01", "40001"}
_FULL: Final = {sqlite3.SQLITE_FULL, "53100"}
_NOT_WRITABLE: Final = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


@contextmanager
def database_errors() -> Iterator[None]:
    """Let only errors of ours out of a block that uses the database."""
    try:
        yield
    except SQLAlchemyError as error:
        raise fault_of(error.orig if isinstance(error, DBAPIError) else error) from None
    except sqlite3.Error as error:
        raise fault_of(error) from None


def fault_of(error: BaseException | None) -> LibraryError:
    """Return an error of a database as one of ours."""
    is_file = isinstance(error, sqlite3.Error)
    code = _code(error) if is_file else getattr(error, "sqlstate", None)
    if code in _BUSY:
        return LibraryBusyError(
            f"the library: another program has held it for {WAIT_SECONDS:g} seconds; nothing was "
            "saved. Let that one finish, or close it, then save again"
        )
    if code in _FULL:
        return LibraryStorageError(
            "the library: the disk is full; nothing was saved. Make room there, then save again"
        )
    if code in _NOT_WRITABLE:
        return not_writable(str(error))
    if is_damage(error):
        return LibraryStorageError(
            f"the library: the file is damaged ({error}); nothing was saved. Restart the "
            "app: it renames the file and creates a new one"
        )
    if is_file:
        return LibraryStorageError(
            f"the library: the disk does not take or give it ({error}); nothing was saved. See "
            "that the disk is there and has room, then save again"
        )
    state = f"SQLSTATE {code}" if code else type(error).__name__
    return LibraryStorageError(
        f"the library: the database does not answer as it should ({state}); what was to be saved "
        "is not confirmed. See that it runs and may be used, then do it again: nothing is kept "
        "twice"
    )


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error says that a file is no database, or a broken one."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: BaseException | None) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF  # the rest is SQLite's detail


def not_writable(reason: str) -> LibraryStorageError:
    """Return that nothing can be written there."""
    return LibraryStorageError(
        f"the library: it cannot be written ({reason}); nothing was saved. Make its folder "
        "writable, or name another in REPLICALAB_DATA"
    )
