"""Reading and saving: whole transactions, one owner's saves after one another, bounds held."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from replicalab.errors import LibraryFullError
from replicalab.library.faults import database_errors
from replicalab.library.opening import OpenedLibrary
from replicalab.library.records import LibraryLimits, Owner, Usage
from replicalab.library.schema import OWNERS


@contextmanager
def reading(library: OpenedLibrary) -> Iterator[Connection]:
    """Give a connection that sees one state of the library."""
    with database_errors(), library.reading.connect() as connection:
        yield connection


@contextmanager
def saving(library: OpenedLibrary, owner: Owner) -> Iterator[Connection]:
    """Give a connection whose work is on the disk when the block ends, or not done at all.

    The owner's row is locked: what is read of theirs in the block holds until its end.
    """
    if usage(library, owner) is None:
        row = insert(OWNERS).values(owner=owner.digest, entries=0, size=0)
        # Another tab of theirs may be first.
        with database_errors(), suppress(IntegrityError), library.writing.begin() as connection:
            connection.execute(row)
    with database_errors(), library.writing.begin() as connection:
        mine = select(OWNERS.c.owner).where(OWNERS.c.owner == owner.digest)
        connection.execute(mine.with_for_update())
        yield connection


def usage(library: OpenedLibrary, owner: Owner) -> Usage | None:
    """Return how much an owner has, None for one who never had anything."""
    with reading(library) as connection:
        row = connection.execute(_mine(owner)).first()
    return Usage(*row) if row else None


def _mine(owner: Owner) -> Any:
    return select(OWNERS.c.entries, OWNERS.c.size).where(OWNERS.c.owner == owner.digest)


def count_up(connection: Connection, owner: str, entries: int, size: int) -> None:
    """Count what was saved, or with negative numbers what went."""
    more = {"entries": OWNERS.c.entries + entries, "size": OWNERS.c.size + size}
    connection.execute(update(OWNERS).where(OWNERS.c.owner == owner).values(more))


def charge(
    connection: Connection, owner: Owner, limits: LibraryLimits, *, entries: int = 0, size: int
) -> None:
    """Count what is being saved.

    Of owners who save at the same moment on PostgreSQL none sees the others' save: together they
    may pass `all_bytes` by these.

    Raises:
        LibraryFullError: there is no room for it.
    """
    count_up(connection, owner.digest, entries, size)
    mine = Usage(*connection.execute(_mine(owner)).one())
    if mine.entries > limits.entries and entries > 0:
        raise LibraryFullError(
            f"you keep {limits.entries:,} entries, the most there is room for, deleted ones "
            "counted; delete one for good, then save again"
        )
    if mine.size > limits.owner_bytes and size > 0:
        raise LibraryFullError(
            f"with this one yours take {mine.size:,} bytes, deleted ones counted, and there is "
            f"room for {limits.owner_bytes:,}; delete one for good, then save again"
        )
    if size > 0 and connection.scalar(select(func.sum(OWNERS.c.size))) > limits.all_bytes:
        raise LibraryFullError(
            f"everybody's together would take more than the {limits.all_bytes:,} bytes that there "
            "is room for; download yours, or delete something for good, then save again"
        )
