"""The library: saved entries by name, with all their versions.

A method that saves returns when the save is on the disk; a repeated save adds nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final

from sqlalchemy import Connection, func, select

from replicalab.errors import LibraryBusyError, LibraryFullError
from replicalab.library import contents
from replicalab.library.contents import (
    Entry,
    EntryKind,
    LibraryConflictError,
    Owner,
    StoredDraft,
    StoredVersion,
    Version,
)
from replicalab.library.database import FileInUse, database_errors, for_writing, opened
from replicalab.library.rows import NewVersion, OwnerRows, numbered, remove_overdue, size_of
from replicalab.limits import LONGEST_ENTRY_NAME
from replicalab.places import library_url

_LIMITS: Final = contents.LibraryLimits()
_now: Final = partial(datetime.now, UTC)


class Library:
    """An open library, for any thread; ``notices`` are messages about its opening.

    A method raises `LibraryMissingError` without such an entry or version. A save raises
    `LibraryContentError`, `LibraryFullError` beyond a limit, and `LibraryConflictError` if the name
    is taken or another tab saved a later version.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        limits: contents.LibraryLimits = _LIMITS,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """Open the library at an address, by default `library_url`."""
        self._clock, self._limits = clock, limits
        self._engine, self.notices = opened(url or library_url(), clock())
        self._file = FileInUse(self._engine)
        with suppress(LibraryBusyError), self._writing() as connection:
            remove_overdue(connection, clock())

    def close(self) -> None:
        self._engine.dispose()

    def keep(
        self, owner: Owner, kind: EntryKind, name: str, content: str, *, notes: str = ""
    ) -> Entry:
        name, new = contents.checked_name(name), self._checked(kind, content, notes)
        with self._saving(owner) as rows:
            if entry := rows.named(kind, name):
                problem = f"you have a {kind} named '{entry.name}' already"
                remedy = "save this one under another name, or as a version of that one"
                return _same_or_conflict(rows.version(entry), new, f"{problem}; {remedy}")
            return rows.add(kind, name, new)

    def keep_beside(
        self, owner: Owner, *parts: tuple[EntryKind, str, str], notes: str = ""
    ) -> list[Entry]:
        """Save new entries in one transaction; a name that is taken gets a number."""
        new = [
            (
                kind,
                contents.checked_name(name[:LONGEST_ENTRY_NAME]),
                self._checked(kind, content, notes),
            )
            for kind, name, content in parts
        ]
        with self._saving(owner) as rows:
            return [_kept_beside(rows, *part) for part in new]

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

        ``base_version`` is the version that the changes began from. Content and notes may be None,
        to stay as they are. So does a name that is empty or taken.
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
            if not name or rows.named(entry.kind, name):
                return entry
            return rows.write(entry._replace(name=contents.checked_name(name)))

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
        name = contents.checked_name(name)
        with self._saving(owner) as rows:
            entry = rows.entry(entry_id)
            existing = rows.named(entry.kind, name)
            if existing and existing.id != entry.id:
                problem = f"you have a {entry.kind} named '{existing.name}' already"
                now = _with_problem(rows.version(existing))
                raise LibraryConflictError(f"{problem}; choose another name", now)
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

    def save_draft(self, owner: Owner, content: str, place: str = "") -> StoredDraft:
        """Replace an owner's draft with a plan's text; ``place`` names the tab that wrote it."""
        self._checked(None, content)
        draft = StoredDraft(place, content, self._clock())
        with self._saving(owner) as rows:
            rows.put_draft(draft)
        return draft

    def draft(self, owner: Owner) -> StoredDraft | None:
        with self._reading(owner) as rows:
            draft = rows.draft()
        return draft and draft._replace(problem=contents.problem_of(None, draft.content))

    def discard_draft(self, owner: Owner) -> None:
        with self._saving(owner) as rows:
            rows.put_draft(None)

    def usage(self, owner: Owner) -> contents.Usage:
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
        with database_errors(), for_writing(self._engine).begin() as connection:
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
        return NewVersion(content, contents.checked_notes(notes), contents.checked(kind, content))


def _kept_beside(rows: OwnerRows, kind: EntryKind, name: str, new: NewVersion) -> Entry:
    places = ((tried, rows.named(kind, tried)) for tried in numbered(name))
    tried, entry = next(
        (tried, entry)
        for tried, entry in places
        if entry is None or _is_same(rows.version(entry), new)
    )
    return entry or rows.add(kind, tried, new)


def _is_same(now: StoredVersion, new: NewVersion) -> bool:
    return (now.content, now.entry.notes) == (new.content, new.notes)


def _same_or_conflict(now: StoredVersion, new: NewVersion, message: str) -> Entry:
    if _is_same(now, new):
        return now.entry
    raise LibraryConflictError(message, _with_problem(now))


def _with_problem(stored: StoredVersion) -> StoredVersion:
    return stored._replace(problem=contents.problem_of(stored.entry.kind, stored.content))
