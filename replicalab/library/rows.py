"""An owner's rows in the library's tables, which the migrations create."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final, NamedTuple
from uuid import uuid4

import sqlalchemy
from sqlalchemy import BigInteger, Connection, Integer, String, delete, func, insert, select, update
from sqlalchemy.engine import Dialect

from replicalab import limits
from replicalab.errors import LibraryFullError, LibraryMissingError
from replicalab.lexicon import label_key, shortened
from replicalab.library import contents
from replicalab.library.contents import Entry, EntryKind, StoredDraft, StoredVersion, Version

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(sqlalchemy.TypeDecorator[datetime]):
    """A time in UTC, as whole microseconds since 1970: the same number in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else _EPOCH + timedelta(microseconds=value)


_TYPES: Final[dict[str, type[sqlalchemy.types.TypeEngine[Any]]]] = {
    **dict.fromkeys(("created", "changed", "deleted", "saved"), Moment),
    **dict.fromkeys(("version", "number", "restored"), Integer),
    "size": BigInteger,
}


def _table(name: str, *columns: str) -> sqlalchemy.TableClause:
    typed = (sqlalchemy.column(column, _TYPES.get(column, String)) for column in columns)
    return sqlalchemy.table(name, *typed)


# A search looks through ``words``. The contents are in another table: a list reads none.
ENTRIES: Final = _table("library_entries", *Entry._fields, "owner", "name_key", "words")
VERSIONS: Final = _table("library_versions", *Version._fields, "entry", "content")
DRAFTS: Final = _table("library_drafts", "owner", "size", "place", "content", "saved")
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
        return size_of(self.content) + size_of(self.notes)


def size_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def numbered(name: str, end: str = "") -> Iterator[str]:
    """Yield a name with an end, then with each number from 2 on, cut to the longest name."""
    for number in count(1):
        text = f"{end} ({number})" if number > 1 else end
        yield name[: limits.LONGEST_ENTRY_NAME - len(text)].rstrip() + text


def remove_overdue(connection: Connection, now: datetime) -> None:
    """Remove some entries deleted, and drafts saved, too long ago: the clock may be wrong."""
    for table, key, moment, days in (
        (ENTRIES, ENTRIES.c.id, ENTRIES.c.deleted, contents.DELETED_DAYS),
        (DRAFTS, DRAFTS.c.owner, DRAFTS.c.saved, contents.DRAFT_DAYS),
    ):
        overdue = select(key).where(moment < now - timedelta(days=days)).order_by(moment)
        keys = connection.execute(overdue.limit(limits.MOST_PURGED)).scalars().all()
        connection.execute(delete(table).where(key.in_(keys)))


class OwnerRows:
    """An owner's rows, in one transaction; raises the errors of `Library`."""

    def __init__(
        self,
        connection: Connection,
        owner: contents.Owner,
        limits: contents.LibraryLimits,
        clock: Callable[[], datetime],
    ) -> None:
        self.connection = connection
        self._digest, self._limits, self._clock = owner.digest, limits, clock

    def entries(self, kind: EntryKind | None, search: str, *, deleted: bool) -> list[Entry]:
        """Return the entries that contain every word of a search, the last changed first."""
        is_deleted = ENTRIES.c.deleted.is_not(None)
        words = label_key(search).split()
        conditions = [ENTRIES.c.words.contains(word, autoescape=True) for word in words]
        if kind is not None:
            conditions.append(ENTRIES.c.kind == kind)
        return self._entries(is_deleted if deleted else ~is_deleted, *conditions)

    def entry(self, entry_id: str, *, deleted: bool | None = False) -> Entry:
        for entry in self._entries(ENTRIES.c.id == entry_id):
            if deleted in (None, entry.deleted is not None):
                return entry
        state = "deleted entry" if deleted else "entry"
        raise LibraryMissingError(
            f"the library has no {state} '{shortened(entry_id)}' of yours, or no longer; look for "
            "it in the list"
        )

    def named(self, kind: EntryKind, name: str) -> Entry | None:
        is_it = (ENTRIES.c.kind == kind) & (ENTRIES.c.name_key == label_key(name))
        return next(iter(self._entries(is_it, ENTRIES.c.deleted.is_(None))), None)

    def free_name(self, kind: EntryKind, name: str, end: str = "") -> str:
        """Return a name that no entry of a kind has; a number is added if needed."""
        return next(tried for tried in numbered(name, end) if self.named(kind, tried) is None)

    def _entries(self, *conditions: sqlalchemy.ColumnElement[bool]) -> list[Entry]:
        query = select(*_ENTRY).where(ENTRIES.c.owner == self._digest, *conditions)
        rows = self.connection.execute(query.order_by(ENTRIES.c.changed.desc(), ENTRIES.c.id))
        return [Entry(*row)._replace(kind=EntryKind(row.kind)) for row in rows]

    def version(self, entry: Entry, number: int | None = None) -> StoredVersion:
        """Return a version of an entry, the latest without a number; its content is not checked."""
        number = entry.version if number is None else number
        is_it = (VERSIONS.c.entry == entry.id) & (VERSIONS.c.number == number)
        row = self.connection.execute(select(*_VERSION, VERSIONS.c.content).where(is_it)).first()
        if row is None:
            raise LibraryMissingError(
                f"'{entry.name}' has no version {number}; choose one of 1 to {entry.version}"
            )
        return StoredVersion(entry, Version(*row[:-1]), row.content)

    def versions(self, entry: Entry) -> list[Version]:
        query = select(*_VERSION).where(VERSIONS.c.entry == entry.id)
        rows = self.connection.execute(query.order_by(VERSIONS.c.number.desc()))
        return [Version(*row) for row in rows]

    def draft(self) -> StoredDraft | None:
        query = select(DRAFTS.c.place, DRAFTS.c.content, DRAFTS.c.saved)
        row = self.connection.execute(query.where(DRAFTS.c.owner == self._digest)).first()
        return StoredDraft(*row) if row else None

    def usage(self) -> contents.Usage:
        query = select(func.count(), func.coalesce(func.sum(ENTRIES.c.size), 0))
        entries, size = self.connection.execute(query.where(ENTRIES.c.owner == self._digest)).one()
        draft = select(DRAFTS.c.size).where(DRAFTS.c.owner == self._digest)
        return contents.Usage(entries, int(size) + (self.connection.scalar(draft) or 0))

    def add(self, kind: EntryKind, name: str, new: NewVersion) -> Entry:
        self._require_room(new.size, entries=1)
        now = self._clock()
        entry = Entry(uuid4().hex, kind, name, new.notes, new.about, 1, new.size, now, now, None)
        self.connection.execute(insert(ENTRIES).values(**self._values(entry)))
        return self._add_version(entry, new)

    def add_version(self, entry: Entry, new: NewVersion) -> Entry:
        self._require_room(new.size)
        entry = entry._replace(
            notes=new.notes,
            about=new.about,
            version=entry.version + 1,
            size=entry.size + new.size,
            changed=self._clock(),
        )
        return self._add_version(self.write(entry), new)

    def _add_version(self, entry: Entry, new: NewVersion) -> Entry:
        version = Version(entry.version, new.notes, new.size, entry.changed, new.restored)
        values = {"entry": entry.id, "content": new.content, **version._asdict()}
        self.connection.execute(insert(VERSIONS).values(**values))
        return entry

    def write(self, entry: Entry) -> Entry:
        is_it = ENTRIES.c.id == entry.id
        self.connection.execute(update(ENTRIES).where(is_it).values(**self._values(entry)))
        return entry

    def remove(self, entry: Entry) -> None:
        self.connection.execute(delete(ENTRIES).where(ENTRIES.c.id == entry.id))

    def remove_all(self) -> None:
        for table in (DRAFTS, ENTRIES):
            self.connection.execute(delete(table).where(table.c.owner == self._digest))

    def put_draft(self, draft: StoredDraft | None) -> None:
        self.connection.execute(delete(DRAFTS).where(DRAFTS.c.owner == self._digest))
        if draft:
            values = {**draft._asdict(), "owner": self._digest, "size": size_of(draft.content)}
            del values["problem"]
            self._require_room(values["size"])
            self.connection.execute(insert(DRAFTS).values(**values))

    def _values(self, entry: Entry) -> dict[str, object]:
        name_key = label_key(entry.name)
        words = " ".join([name_key, label_key(entry.notes), label_key(entry.about)])
        return {**entry._asdict(), "owner": self._digest, "name_key": name_key, "words": words}

    def _require_room(self, size: int, entries: int = 0) -> None:
        used, limits = self.usage(), self._limits
        total, problem = used.size + size, ""
        if entries and used.entries + entries > limits.entries:
            problem = f"you have {limits.entries:,} entries, the most there is room for"
        elif size > 0 and total > limits.owner_bytes:
            problem = f"with this one yours take {total:,} bytes of {limits.owner_bytes:,}"
        if problem:
            remedy = "delete one for good, then save again"
            raise LibraryFullError(f"{problem}, deleted ones counted; {remedy}")
