"""Rows of the library's tables as what they stand for, and the transactions they are changed in.

Whole transactions, one owner's saves after one another, bounds held.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from replicalab.errors import LibraryFullError, LibraryMissingError
from replicalab.lexicon import label_key, shortened
from replicalab.library.contents import LONGEST_NAME, checked_draft, problem_of
from replicalab.library.faults import database_errors
from replicalab.library.opening import OpenedLibrary
from replicalab.library.records import (
    DELETED_DAYS,
    DRAFT_DAYS,
    Entry,
    EntryKind,
    LibraryLimits,
    Owner,
    StoredDraft,
    StoredVersion,
    Usage,
    Version,
)
from replicalab.library.schema import DRAFTS, ENTRIES, OWNERS, VERSIONS

_ENTRY: Final = [ENTRIES.c[name] for name in Entry._fields]
_VERSION: Final = [VERSIONS.c[name] for name in Version._fields]


class New(NamedTuple):
    """A state that is to be saved, already checked; ``restored`` as in `Version`."""

    content: str
    notes: str
    about: str
    restored: int | None = None

    @property
    def size(self) -> int:
        """Its bytes."""
        return size_of(self.content) + size_of(self.notes)


def size_of(text: str) -> int:
    """Return the bytes of a text."""
    return len(text.encode("utf-8", "surrogatepass"))


# --- reading ----------------------------------------------------------------------------------


def entries_of(
    connection: Connection, owner: Owner, kind: EntryKind | None, search: str, *, deleted: bool
) -> list[Entry]:
    """Return an owner's entries that hold every word of a search, the last changed first."""
    is_deleted = ENTRIES.c.deleted.is_not(None)
    query = select(*_ENTRY).where(
        ENTRIES.c.owner == owner.digest, is_deleted if deleted else ~is_deleted
    )
    if kind is not None:
        query = query.where(ENTRIES.c.kind == kind)
    for word in label_key(search).split():
        # Escaped: a % or _ that is searched for stands for itself, and is no wildcard.
        query = query.where(ENTRIES.c.words.contains(word, autoescape=True))
    rows = connection.execute(query.order_by(ENTRIES.c.changed.desc(), ENTRIES.c.id))
    return [_as_entry(row) for row in rows]


def entry_of(
    connection: Connection, owner: Owner, entry_id: str, *, deleted: bool | None = False
) -> Entry:
    """Return an owner's entry; where ``deleted`` is None, whether or not it is.

    Raises:
        LibraryMissingError: there is none such.
    """
    is_it = (ENTRIES.c.id == entry_id) & (ENTRIES.c.owner == owner.digest)
    entry = _first(connection, select(*_ENTRY).where(is_it))
    if entry is None or deleted not in (None, entry.deleted is not None):
        state = "deleted entry" if deleted else "entry"
        raise LibraryMissingError(
            f"the library has no {state} '{shortened(entry_id)}' of yours, or no longer; look for "
            "it in the list"
        )
    return entry


def entry_named(connection: Connection, owner: Owner, kind: EntryKind, name: str) -> Entry | None:
    """Return an owner's entry of a kind and name, None where there is none."""
    query = select(*_ENTRY).where(
        ENTRIES.c.owner == owner.digest,
        ENTRIES.c.kind == kind,
        ENTRIES.c.name_key == label_key(name),
        ENTRIES.c.deleted.is_(None),
    )
    return _first(connection, query)


def free_name(connection: Connection, owner: Owner, kind: EntryKind, name: str) -> str:
    """Return a name that none of the owner's of that kind has: it, or with a number after it."""
    for number in count(1):
        end = f" {number}" if number > 1 else ""
        tried = name[: LONGEST_NAME - len(end)].rstrip() + end
        if entry_named(connection, owner, kind, tried) is None:
            break
    return tried


def kept_of(connection: Connection, entry: Entry, number: int | None = None) -> StoredVersion:
    """Return an entry's content in a version, the latest where None; not asked if it is readable.

    Raises:
        LibraryMissingError: there is no such version.
    """
    number = entry.version if number is None else number
    is_it = (VERSIONS.c.entry == entry.id) & (VERSIONS.c.number == number)
    row = connection.execute(select(*_VERSION, VERSIONS.c.content).where(is_it)).first()
    if row is None:
        raise LibraryMissingError(
            f"'{entry.name}' has no version {number}; choose one of 1 to {entry.version}"
        )
    return StoredVersion(entry, Version(*row[:-1]), row.content)


def versions_of(connection: Connection, entry: Entry) -> list[Version]:
    """Return an entry's history, the latest first."""
    query = select(*_VERSION).where(VERSIONS.c.entry == entry.id)
    return [Version(*row) for row in connection.execute(query.order_by(VERSIONS.c.number.desc()))]


def _first(connection: Connection, query: Select[Any]) -> Entry | None:
    row = connection.execute(query).first()
    return _as_entry(row) if row else None


def _as_entry(row: Row[Any]) -> Entry:
    fields = tuple(row)
    return Entry(fields[0], EntryKind(fields[1]), *fields[2:])


# --- saving -----------------------------------------------------------------------------------


def add_entry(connection: Connection, owner: Owner, entry: Entry, new: New) -> Entry:
    """Write a new entry with its first version, and return it."""
    connection.execute(insert(ENTRIES).values(owner=owner.digest, **_columns(entry)))
    _add_version(connection, entry, new)
    return entry


def add_version(connection: Connection, entry: Entry, new: New, now: datetime) -> Entry:
    """Return an entry with one more version."""
    entry = entry._replace(
        notes=new.notes,
        about=new.about,
        version=entry.version + 1,
        size=entry.size + new.size,
        changed=now,
    )
    _add_version(connection, entry, new)
    return write_entry(connection, entry)


def _add_version(connection: Connection, entry: Entry, new: New) -> None:
    version = Version(entry.version, new.notes, new.size, entry.changed, new.restored)
    values = {"entry": entry.id, "content": new.content, **version._asdict()}
    connection.execute(insert(VERSIONS).values(**values))


def named(connection: Connection, owner: Owner, entry: Entry, name: str) -> Entry:
    """Return an entry under another name, or as it is where that is taken, or none."""
    if not name or entry_named(connection, owner, entry.kind, name) is not None:
        return entry
    return write_entry(connection, entry._replace(name=name))


def write_entry(connection: Connection, entry: Entry) -> Entry:
    """Write an entry over what it was, and return it."""
    is_it = ENTRIES.c.id == entry.id
    connection.execute(update(ENTRIES).where(is_it).values(**_columns(entry)))
    return entry


def _columns(entry: Entry) -> dict[str, object]:
    name_key = label_key(entry.name)
    words = " ".join([name_key, label_key(entry.notes), label_key(entry.about)])
    return {**entry._asdict(), "name_key": name_key, "words": words}


# --- drafts -----------------------------------------------------------------------------------


def put_draft(
    connection: Connection, owner: Owner, draft: StoredDraft, limits: LibraryLimits
) -> None:
    """Save a draft in place of that workspace's; where there are too many the oldest goes.

    Raises:
        LibraryFullError: there is no room for it.
    """
    mine = select(DRAFTS.c.place, DRAFTS.c.size).where(DRAFTS.c.owner == owner.digest)
    rows = connection.execute(mine.order_by(DRAFTS.c.saved.desc())).all()
    others = [row for row in rows if row.place != draft.place]
    gone = [row for row in rows if row.place == draft.place] + others[limits.drafts - 1 :]
    for row in gone:
        connection.execute(delete(DRAFTS).where(_is_draft(owner, row.place)))
    size = size_of(draft.content)
    charge(connection, owner, limits, size=size - sum(row.size for row in gone))
    values = {"owner": owner.digest, "place": draft.place, "size": size, "saved": draft.saved}
    connection.execute(insert(DRAFTS).values(**values, content=draft.content))


def latest_drafts(
    connection: Connection, owner: Owner, place: str | None, most: int
) -> list[StoredDraft]:
    """Return so many drafts of a workspace, of any where None, the last saved first."""
    columns = (DRAFTS.c.place, DRAFTS.c.content, DRAFTS.c.saved)
    query = select(*columns).where(DRAFTS.c.owner == owner.digest)
    if place is not None:
        query = query.where(DRAFTS.c.place == place)
    rows = connection.execute(query.order_by(DRAFTS.c.saved.desc()).limit(most))
    return [StoredDraft(*row, problem=problem_of(checked_draft, row.content)) for row in rows]


def forget_draft(connection: Connection, owner: Owner, place: str) -> None:
    """Take a draft away, if there is one."""
    which = _is_draft(owner, place)
    size = connection.scalar(select(DRAFTS.c.size).where(which))
    connection.execute(delete(DRAFTS).where(which))
    count_up(connection, owner.digest, 0, -(size or 0))


def _is_draft(owner: Owner, place: str) -> ColumnElement[bool]:
    return (DRAFTS.c.owner == owner.digest) & (DRAFTS.c.place == place)


# --- taking away ------------------------------------------------------------------------------


def purge(connection: Connection, owner: str, entry: Entry) -> None:
    """Take an entry away for good, with its history."""
    connection.execute(delete(ENTRIES).where(ENTRIES.c.id == entry.id))
    count_up(connection, owner, -1, -entry.size)


def forget(connection: Connection, owner: Owner) -> None:
    """Take all of an owner's away for good; their row stays, which others may wait for."""
    for table in (DRAFTS, ENTRIES):
        connection.execute(delete(table).where(table.c.owner == owner.digest))
    nothing = update(OWNERS).where(OWNERS.c.owner == owner.digest)
    connection.execute(nothing.values(entries=0, size=0))


def is_overdue(connection: Connection, now: datetime) -> bool:
    """Return whether there is anything for `purge_overdue`."""
    one = (
        select(ENTRIES.c.id).where(_gone(now)),
        select(DRAFTS.c.place).where(_left(now)),
    )
    return any(connection.execute(query.limit(1)).first() for query in one)


def purge_overdue(connection: Connection, now: datetime) -> None:
    """Take away for good what was deleted, or left as a draft, long enough ago."""
    entries = delete(ENTRIES).where(_gone(now)).returning(ENTRIES.c.owner, ENTRIES.c.size)
    for row in connection.execute(entries).all():
        count_up(connection, row.owner, -1, -row.size)
    left = delete(DRAFTS).where(_left(now)).returning(DRAFTS.c.owner, DRAFTS.c.size)
    for row in connection.execute(left).all():
        count_up(connection, row.owner, 0, -row.size)


def _gone(now: datetime) -> ColumnElement[bool]:
    return ENTRIES.c.deleted < now - timedelta(days=DELETED_DAYS)


def _left(now: datetime) -> ColumnElement[bool]:
    return DRAFTS.c.saved < now - timedelta(days=DRAFT_DAYS)


# --- transactions -----------------------------------------------------------------------------


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
        # SQLite leaves FOR UPDATE out: BEGIN IMMEDIATE has locked its whole file already.
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
