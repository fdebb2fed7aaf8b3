"""Read and write the rows of the library's tables."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final, NamedTuple

import sqlalchemy
from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update
from sqlalchemy.engine import Dialect

from replicalab.errors import LibraryFullError, LibraryMissingError
from replicalab.lexicon import label_key, shortened
from replicalab.library.contents import LONGEST_NAME
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

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(sqlalchemy.TypeDecorator[datetime]):
    """A time in UTC, as whole microseconds since 1970: the same number in every database."""

    impl = sqlalchemy.BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return the number of a time."""
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Return the time of a number."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)


METADATA: Final = sqlalchemy.MetaData()

ENTRIES: Final = sqlalchemy.Table(
    "library_entries",
    METADATA,
    sqlalchemy.Column("id", sqlalchemy.String(32), primary_key=True),
    sqlalchemy.Column("owner", sqlalchemy.String(64), nullable=False),
    sqlalchemy.Column("kind", sqlalchemy.String(16), nullable=False),
    sqlalchemy.Column("name", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("name_key", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("notes", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("about", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("words", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("version", sqlalchemy.Integer, nullable=False),
    sqlalchemy.Column("size", sqlalchemy.BigInteger, nullable=False),
    sqlalchemy.Column("created", Moment, nullable=False),
    sqlalchemy.Column("changed", Moment, nullable=False),
    sqlalchemy.Column("deleted", Moment),
)
"""``words`` is what a search looks through. The contents are not here: a list reads none."""

NAMES: Final = sqlalchemy.Index(
    "library_entries_names",
    ENTRIES.c.owner,
    ENTRIES.c.kind,
    ENTRIES.c.name_key,
    unique=True,
    sqlite_where=ENTRIES.c.deleted.is_(None),
    postgresql_where=ENTRIES.c.deleted.is_(None),
)
sqlalchemy.Index("library_entries_latest", ENTRIES.c.owner, ENTRIES.c.changed)
sqlalchemy.Index("library_entries_deleted", ENTRIES.c.deleted)

VERSIONS: Final = sqlalchemy.Table(
    "library_versions",
    METADATA,
    sqlalchemy.Column(
        "entry", sqlalchemy.ForeignKey("library_entries.id", ondelete="CASCADE"), primary_key=True
    ),
    sqlalchemy.Column("number", sqlalchemy.Integer, primary_key=True, autoincrement=False),
    sqlalchemy.Column("notes", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("size", sqlalchemy.BigInteger, nullable=False),
    sqlalchemy.Column("saved", Moment, nullable=False),
    sqlalchemy.Column("restored", sqlalchemy.Integer),
    sqlalchemy.Column("content", sqlalchemy.Text, nullable=False),
)

DRAFTS: Final = sqlalchemy.Table(
    "library_drafts",
    METADATA,
    sqlalchemy.Column("owner", sqlalchemy.String(64), primary_key=True),
    sqlalchemy.Column("place", sqlalchemy.String(64), nullable=False),
    sqlalchemy.Column("size", sqlalchemy.BigInteger, nullable=False),
    sqlalchemy.Column("saved", Moment, nullable=False),
    sqlalchemy.Column("content", sqlalchemy.Text, nullable=False),
)
sqlalchemy.Index("library_drafts_saved", DRAFTS.c.saved)


_ENTRY: Final = [ENTRIES.c[name] for name in Entry._fields]
_VERSION: Final = [VERSIONS.c[name] for name in Version._fields]


class NewVersion(NamedTuple):
    """A checked state to save; ``restored`` as in `Version`."""

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
    """Return an owner's entries that contain every word of a search, the last changed first."""
    is_deleted = ENTRIES.c.deleted.is_not(None)
    query = select(*_ENTRY).where(
        ENTRIES.c.owner == owner.digest, is_deleted if deleted else ~is_deleted
    )
    if kind is not None:
        query = query.where(ENTRIES.c.kind == kind)
    for word in label_key(search).split():
        # Escaped: % and _ are no wildcards.
        query = query.where(ENTRIES.c.words.contains(word, autoescape=True))
    rows = connection.execute(query.order_by(ENTRIES.c.changed.desc(), ENTRIES.c.id))
    return [_as_entry(row) for row in rows]


def entry_of(
    connection: Connection, owner: Owner, entry_id: str, *, deleted: bool | None = False
) -> Entry:
    """Return an owner's entry, deleted or not if ``deleted`` is None.

    Raises:
        LibraryMissingError: the owner has no such entry.
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
    """Return an owner's entry of a kind and name; None if missing."""
    query = select(*_ENTRY).where(
        ENTRIES.c.owner == owner.digest,
        ENTRIES.c.kind == kind,
        ENTRIES.c.name_key == label_key(name),
        ENTRIES.c.deleted.is_(None),
    )
    return _first(connection, query)


def free_name(connection: Connection, owner: Owner, kind: EntryKind, name: str) -> str:
    """Return a name that no entry of that kind has; a number is added if needed."""
    for number in count(1):
        tried = numbered(name, f" {number}" if number > 1 else "")
        if entry_named(connection, owner, kind, tried) is None:
            break
    return tried


def numbered(name: str, end: str) -> str:
    """Return a name with an end, cut to the longest name."""
    return name[: LONGEST_NAME - len(end)].rstrip() + end


def version_of(connection: Connection, entry: Entry, number: int | None = None) -> StoredVersion:
    """Return a version of an entry, the latest without a number; its content is not checked.

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
    """Return an entry's versions, the latest first."""
    query = select(*_VERSION).where(VERSIONS.c.entry == entry.id)
    return [Version(*row) for row in connection.execute(query.order_by(VERSIONS.c.number.desc()))]


def draft_of(connection: Connection, owner: Owner) -> StoredDraft | None:
    """Return an owner's draft; None if missing."""
    columns = select(DRAFTS.c.place, DRAFTS.c.content, DRAFTS.c.saved)
    row = connection.execute(columns.where(DRAFTS.c.owner == owner.digest)).first()
    return StoredDraft(*row) if row else None


def usage_of(connection: Connection, owner: Owner) -> Usage:
    """Count an owner's entries and bytes."""
    mine = select(func.count(), func.coalesce(func.sum(ENTRIES.c.size), 0))
    entries, size = connection.execute(mine.where(ENTRIES.c.owner == owner.digest)).one()
    draft = connection.scalar(select(DRAFTS.c.size).where(DRAFTS.c.owner == owner.digest))
    return Usage(entries, int(size) + (draft or 0))


def _first(connection: Connection, query: Select[Any]) -> Entry | None:
    row = connection.execute(query).first()
    return _as_entry(row) if row else None


def _as_entry(row: Row[Any]) -> Entry:
    fields = tuple(row)
    return Entry(fields[0], EntryKind(fields[1]), *fields[2:])


# --- writing ----------------------------------------------------------------------------------


def check_room(
    connection: Connection, owner: Owner, limits: LibraryLimits, *, entries: int = 0, size: int
) -> None:
    """Check the limits before a save.

    Raises:
        LibraryFullError: the save would exceed one.
    """
    used = usage_of(connection, owner)
    if entries and used.entries + entries > limits.entries:
        raise LibraryFullError(
            f"you have {limits.entries:,} entries, the most there is room for, deleted ones "
            "counted; delete one for good, then save again"
        )
    if size > 0 and used.size + size > limits.owner_bytes:
        raise LibraryFullError(
            f"with this one yours take {used.size + size:,} bytes, deleted ones counted, and "
            f"there is room for {limits.owner_bytes:,}; delete one for good, then save again"
        )


def add_entry(connection: Connection, owner: Owner, entry: Entry, new: NewVersion) -> Entry:
    """Insert an entry with its first version."""
    connection.execute(insert(ENTRIES).values(owner=owner.digest, **_columns(entry)))
    _add_version(connection, entry, new)
    return entry


def add_version(connection: Connection, entry: Entry, new: NewVersion, now: datetime) -> Entry:
    """Add a version to an entry; return the entry."""
    entry = entry._replace(
        notes=new.notes,
        about=new.about,
        version=entry.version + 1,
        size=entry.size + new.size,
        changed=now,
    )
    _add_version(connection, entry, new)
    return write_entry(connection, entry)


def _add_version(connection: Connection, entry: Entry, new: NewVersion) -> None:
    version = Version(entry.version, new.notes, new.size, entry.changed, new.restored)
    values = {"entry": entry.id, "content": new.content, **version._asdict()}
    connection.execute(insert(VERSIONS).values(**values))


def write_entry(connection: Connection, entry: Entry) -> Entry:
    """Update the row of an entry; return the entry."""
    is_it = ENTRIES.c.id == entry.id
    connection.execute(update(ENTRIES).where(is_it).values(**_columns(entry)))
    return entry


def _columns(entry: Entry) -> dict[str, object]:
    name_key = label_key(entry.name)
    words = " ".join([name_key, label_key(entry.notes), label_key(entry.about)])
    return {**entry._asdict(), "name_key": name_key, "words": words}


def put_draft(connection: Connection, owner: Owner, draft: StoredDraft) -> None:
    """Replace an owner's draft."""
    remove_draft(connection, owner)
    values = {"owner": owner.digest, "size": size_of(draft.content), "place": draft.place}
    connection.execute(insert(DRAFTS).values(**values, saved=draft.saved, content=draft.content))


def remove_draft(connection: Connection, owner: Owner) -> None:
    """Remove an owner's draft, if any."""
    connection.execute(delete(DRAFTS).where(DRAFTS.c.owner == owner.digest))


def remove_entry(connection: Connection, entry: Entry) -> None:
    """Remove an entry and its versions."""
    connection.execute(delete(ENTRIES).where(ENTRIES.c.id == entry.id))


def remove_all(connection: Connection, owner: Owner) -> None:
    """Remove an owner's entries and draft."""
    for table in (DRAFTS, ENTRIES):
        connection.execute(delete(table).where(table.c.owner == owner.digest))


def remove_overdue(connection: Connection, now: datetime) -> None:
    """Remove entries deleted, and drafts saved, too long ago."""
    connection.execute(
        delete(ENTRIES).where(ENTRIES.c.deleted < now - timedelta(days=DELETED_DAYS))
    )
    connection.execute(delete(DRAFTS).where(DRAFTS.c.saved < now - timedelta(days=DRAFT_DAYS)))
