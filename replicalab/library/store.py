"""The library: saved entries by name, with all their versions; the migrations create its tables.

A method that saves returns when the save is on the disk; a repeated save adds nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple
from uuid import uuid4

import sqlalchemy
from sqlalchemy import BigInteger, Connection, Integer, String, delete, func, insert, select, update
from sqlalchemy.engine import Dialect

from replicalab import library
from replicalab.errors import LibraryBusyError, LibraryFullError, LibraryMissingError
from replicalab.lexicon import label_key, shortened
from replicalab.library import Entry, EntryKind, Owner, StoredVersion, Version
from replicalab.library.database import FileInUse, database_errors, open_database, writing_engine
from replicalab.limits import LONGEST_ENTRY_NAME, MOST_PURGED
from replicalab.places import library_url

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LIMITS: Final = library.LibraryLimits()
_now: Final = partial(datetime.now, UTC)


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


# A search reads ``words``. Contents are in another table, so that a list reads none.
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


def numbered_names(name: str, end: str = "") -> Iterator[str]:
    """Yield a name with an end, then with ``(2)``, ``(3)`` and on, cut to the longest name."""
    for number in count(1):
        text = f"{end} ({number})" if number > 1 else end
        yield name[: LONGEST_ENTRY_NAME - len(text)].rstrip() + text


def remove_overdue(connection: Connection, now: datetime) -> None:
    """Remove entries and drafts that are due, a few at a time, as the clock may be wrong."""
    for table, key, moment, days in (
        (ENTRIES, ENTRIES.c.id, ENTRIES.c.deleted, library.DELETED_DAYS),
        (DRAFTS, DRAFTS.c.owner, DRAFTS.c.saved, library.DRAFT_DAYS),
    ):
        overdue = select(key).where(moment < now - timedelta(days=days)).order_by(moment)
        keys = connection.execute(overdue.limit(MOST_PURGED)).scalars().all()
        connection.execute(delete(table).where(key.in_(keys)))


class OwnerRows:
    """An owner's rows, in one transaction; raises the errors of `Library`."""

    def __init__(
        self,
        connection: Connection,
        owner: Owner,
        limits: library.LibraryLimits,
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
        problem = f"the library has no {state} '{shortened(entry_id)}' of yours"
        raise LibraryMissingError(f"{problem}; look for it in the list")

    def find(self, kind: EntryKind, name: str) -> Entry | None:
        is_it = (ENTRIES.c.kind == kind) & (ENTRIES.c.name_key == label_key(name))
        return next(iter(self._entries(is_it, ENTRIES.c.deleted.is_(None))), None)

    def free_name(self, kind: EntryKind, name: str, end: str = "") -> str:
        """Return a name that no entry of a kind has; a number is added if needed."""
        return next(tried for tried in numbered_names(name, end) if self.find(kind, tried) is None)

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
            remedy = f"choose one of 1 to {entry.version}"
            raise LibraryMissingError(f"'{entry.name}' has no version {number}; {remedy}")
        return StoredVersion(entry, Version(*row[:-1]), row.content)

    def versions(self, entry: Entry) -> list[Version]:
        query = select(*_VERSION).where(VERSIONS.c.entry == entry.id)
        rows = self.connection.execute(query.order_by(VERSIONS.c.number.desc()))
        return [Version(*row) for row in rows]

    def draft(self) -> library.StoredDraft | None:
        query = select(DRAFTS.c.place, DRAFTS.c.content, DRAFTS.c.saved)
        row = self.connection.execute(query.where(DRAFTS.c.owner == self._digest)).first()
        return library.StoredDraft(*row) if row else None

    def usage(self) -> library.Usage:
        query = select(func.count(), func.coalesce(func.sum(ENTRIES.c.size), 0))
        entries, size = self.connection.execute(query.where(ENTRIES.c.owner == self._digest)).one()
        draft = select(DRAFTS.c.size).where(DRAFTS.c.owner == self._digest)
        return library.Usage(entries, int(size) + (self.connection.scalar(draft) or 0))

    def add(self, kind: EntryKind, name: str, new: NewVersion) -> Entry:
        self._require_room(new.size, entries=1)
        now = self._clock()
        entry = Entry(uuid4().hex, kind, name, new.notes, new.about, 1, new.size, now, now, None)
        self.connection.execute(insert(ENTRIES).values(**self._values(entry)))
        return self._add_version(entry, new)

    def add_as_new(self, kind: EntryKind, name: str, new: NewVersion) -> Entry:
        """Add an entry under a free name, or return the one that equals it."""
        for tried in numbered_names(name):
            entry = self.find(kind, tried)
            if entry is None:
                break
            if _is_same(self.version(entry), new):
                return entry
        return self.add(kind, tried, new)

    def add_version(self, entry: Entry, new: NewVersion) -> Entry:
        self._require_room(new.size)
        entry = entry._replace(version=entry.version + 1, size=entry.size + new.size)
        entry = entry._replace(notes=new.notes, about=new.about, changed=self._clock())
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

    def put_draft(self, draft: library.StoredDraft | None) -> None:
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
            problem = f"with this entry yours take {total:,} bytes of {limits.owner_bytes:,}"
        if problem:
            remedy = "delete one for good, then save again"
            raise LibraryFullError(f"{problem}, deleted ones included; {remedy}")


class Library:
    """An open library, for any thread; ``notices`` are messages about its opening.

    A method raises `LibraryMissingError` if an entry or version does not exist. A save raises
    `LibraryContentError`, `LibraryFullError` beyond a limit, and `LibraryConflictError` if the name
    is taken or another tab saved a later version.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        limits: library.LibraryLimits = _LIMITS,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._clock, self._limits = clock, limits
        self._engine, self.notices = open_database(url or library_url(), clock())
        self._file = FileInUse(self._engine)
        with suppress(LibraryBusyError), self._writing() as connection:
            remove_overdue(connection, clock())

    def close(self) -> None:
        self._engine.dispose()

    def keep(
        self, owner: Owner, kind: EntryKind, name: str, content: str, *, notes: str = ""
    ) -> Entry:
        name, new = library.check_name(name), self._checked(kind, content, notes)
        with self._saving(owner) as rows:
            if entry := rows.find(kind, name):
                problem = f"you have a {kind} named '{entry.name}' already"
                remedy = "save this one under another name, or as a version of that one"
                return _same_or_conflict(rows.version(entry), new, f"{problem}; {remedy}")
            return rows.add(kind, name, new)

    def save_as_new(
        self, owner: Owner, *parts: tuple[EntryKind, str, str], notes: str = ""
    ) -> list[Entry]:
        """Save new entries in one transaction; a name that is taken gets a number."""
        checks = [self._checked(kind, content, notes) for kind, _, content in parts]
        names = [library.check_name(name[:LONGEST_ENTRY_NAME]) for _, name, _ in parts]
        with self._saving(owner) as rows:
            return [
                rows.add_as_new(kind, name, new)
                for (kind, *_), name, new in zip(parts, names, checks, strict=True)
            ]

    def update(
        self,
        owner: Owner,
        entry_id: str,
        content: str | None = None,
        *,
        base_version: int,
        notes: str | None = None,
        name: str = "",
    ) -> Entry:
        """Save a further version of an entry; a state equal to the latest adds none.

        ``base_version`` is the version that was changed. Content and notes stay if they are None,
        the name if the new one is empty or taken.
        """
        with self._reading(owner) as rows:
            before = rows.version(rows.entry(entry_id))
        content = before.content if content is None else content
        notes = before.entry.notes if notes is None else notes
        new = self._checked(before.entry.kind, content, notes)
        with self._saving(owner) as rows:
            now = rows.version(rows.entry(entry_id))
            number = now.version.number
            if number != base_version or _is_same(now, new):
                problem = f"'{now.entry.name}' was saved elsewhere since: it is at version {number}"
                problem += f", and yours began from version {base_version}"
                remedy = "compare both, then save yours after it or under another name"
                return _same_or_conflict(now, new, f"{problem}. Nothing is lost: {remedy}")
            entry = rows.add_version(now.entry, new)
            if not name or rows.find(entry.kind, name):
                return entry
            return rows.write(entry._replace(name=library.check_name(name)))

    def entries(
        self,
        owner: Owner,
        kind: EntryKind | None = None,
        search: str = "",
        *,
        deleted: bool = False,
    ) -> list[Entry]:
        """Return an owner's entries or deleted entries, the last changed first."""
        with self._reading(owner) as rows:
            return rows.entries(kind, search, deleted=deleted)

    def read(self, owner: Owner, entry_id: str, number: int | None = None) -> StoredVersion:
        """Return a version of an entry, the latest without a number."""
        with self._reading(owner) as rows:
            return _with_problem(rows.version(rows.entry(entry_id, deleted=None), number))

    def versions(self, owner: Owner, entry_id: str) -> list[Version]:
        with self._reading(owner) as rows:
            return rows.versions(rows.entry(entry_id, deleted=None))

    def restore(self, owner: Owner, entry_id: str, number: int) -> Entry:
        """Save an earlier version of an entry again, as its latest."""
        with self._saving(owner) as rows:
            entry = rows.entry(entry_id)
            then = rows.version(entry, number)
            new = NewVersion(then.content, then.version.notes, entry.about, number)
            return rows.add_version(entry, new)

    def rename(self, owner: Owner, entry_id: str, name: str) -> Entry:
        name = library.check_name(name)
        with self._saving(owner) as rows:
            entry = rows.entry(entry_id)
            existing = rows.find(entry.kind, name)
            if existing and existing.id != entry.id:
                problem = f"you have a {entry.kind} named '{existing.name}' already"
                now = _with_problem(rows.version(existing))
                raise library.LibraryConflictError(f"{problem}; choose another name", now)
            return rows.write(entry._replace(name=name))

    def duplicate(self, owner: Owner, entry_id: str) -> Entry:
        """Save the latest version of an entry as a new entry, under a name of its own."""
        with self._saving(owner) as rows:
            entry = rows.entry(entry_id)
            name = rows.free_name(entry.kind, entry.name, " (copy)")
            content = rows.version(entry).content
            return rows.add(entry.kind, name, NewVersion(content, entry.notes, entry.about))

    def delete(self, owner: Owner, entry_id: str) -> Entry:
        """Delete an entry; `undelete` restores it for `DELETED_DAYS`."""
        with self._saving(owner) as rows:
            remove_overdue(rows.connection, self._clock())
            return rows.write(rows.entry(entry_id)._replace(deleted=self._clock()))

    def undelete(self, owner: Owner, entry_id: str) -> Entry:
        """Restore a deleted entry, with a number after its name if that is taken."""
        with self._saving(owner) as rows:
            entry = rows.entry(entry_id, deleted=True)
            name = rows.free_name(entry.kind, entry.name)
            return rows.write(entry._replace(name=name, deleted=None))

    def purge(self, owner: Owner, entry_id: str) -> None:
        """Remove a deleted entry for good, with its versions."""
        with self._saving(owner) as rows:
            rows.remove(rows.entry(entry_id, deleted=True))

    def forget(self, owner: Owner) -> None:
        """Remove everything of an owner's for good."""
        with self._saving(owner) as rows:
            rows.remove_all()

    def save_draft(self, owner: Owner, content: str, place: str = "") -> library.StoredDraft:
        """Replace an owner's draft with a plan's text; ``place`` names the tab that wrote it."""
        self._checked(None, content)
        draft = library.StoredDraft(place, content, self._clock())
        with self._saving(owner) as rows:
            rows.put_draft(draft)
        return draft

    def draft(self, owner: Owner) -> library.StoredDraft | None:
        with self._reading(owner) as rows:
            draft = rows.draft()
        return draft and draft._replace(problem=library.problem_of(None, draft.content))

    def discard_draft(self, owner: Owner) -> None:
        with self._saving(owner) as rows:
            rows.put_draft(None)

    def usage(self, owner: Owner) -> library.Usage:
        with self._reading(owner) as rows:
            return rows.usage()

    @contextmanager
    def _reading(self, owner: Owner) -> Iterator[OwnerRows]:
        self._file.require()
        with database_errors(), self._engine.connect() as connection:
            yield OwnerRows(connection, owner, self._limits, self._clock)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        self._file.require()
        with database_errors(), writing_engine(self._engine).begin() as connection:
            yield connection
            self._file.require()  # a save in a deleted file would be lost

    @contextmanager
    def _saving(self, owner: Owner) -> Iterator[OwnerRows]:
        with self._writing() as connection:
            # SQLite has one writer at a time already.
            if connection.dialect.name == "postgresql":
                lock = int(owner.digest[:15], 16)
                connection.execute(select(func.pg_advisory_xact_lock(lock)))
            yield OwnerRows(connection, owner, self._limits, self._clock)

    def _checked(self, kind: EntryKind | None, content: str, notes: str = "") -> NewVersion:
        if (size := size_of(content)) > self._limits.content_bytes:
            problem = f"the content has {size:,} bytes"
            most = f"{self._limits.content_bytes:,} are saved at most"
            raise LibraryFullError(f"{problem}, and {most}; shorten it, or download it")
        return NewVersion(content, library.check_notes(notes), library.check(kind, content))


def _is_same(now: StoredVersion, new: NewVersion) -> bool:
    return (now.content, now.entry.notes) == (new.content, new.notes)


def _same_or_conflict(now: StoredVersion, new: NewVersion, message: str) -> Entry:
    if _is_same(now, new):
        return now.entry
    raise library.LibraryConflictError(message, _with_problem(now))


def _with_problem(stored: StoredVersion) -> StoredVersion:
    return stored._replace(problem=library.problem_of(stored.entry.kind, stored.content))
