"""The library: what people make, kept by name, with every version of it.

Every method that saves returns once the save is on the disk, and not before: what it returned is
kept, whatever happens next. One that raises has saved nothing; where a server was lost at the very
end it may have, and doing the same again finds it there and keeps nothing twice.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import Final
from uuid import uuid4

from sqlalchemy import Connection

from replicalab.errors import LibraryContentError, LibraryFullError
from replicalab.library import rows
from replicalab.library.contents import (
    LONGEST_NAME,
    checked,
    checked_draft,
    checked_name,
    checked_notes,
    problem_of,
)
from replicalab.library.faults import database_errors
from replicalab.library.opening import opened
from replicalab.library.records import (
    LONGEST_PLACE,
    Entry,
    EntryKind,
    LibraryConflictError,
    LibraryLimits,
    Owner,
    StoredDraft,
    StoredVersion,
    Usage,
    Version,
)
from replicalab.library.rows import New, charge, reading, saving, size_of, usage
from replicalab.places import library_url

_LIMITS: Final = LibraryLimits()
_now: Final = partial(datetime.now, UTC)


class Library:
    """An open library; any thread may ask.

    Of an entry or a version that an owner does not have, or no longer, every method raises
    `LibraryMissingError`; of what there is no room for, every one that saves `LibraryFullError`.

    Attributes:
        notices: what happened while it was opened: a damaged file set aside, an older one copied.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        limits: LibraryLimits = _LIMITS,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """Open it; without an address where `library_url` says.

        Raises:
            LibraryError: it cannot be used, as `opened` says.
        """
        self._clock, self._limits = clock, limits
        self._opened = opened(url or library_url(), clock())
        self.notices = self._opened.notices
        self._purge_overdue()

    def close(self) -> None:
        """Let go of the file, or of the server."""
        self._opened.reading.dispose()

    @property
    def place(self) -> str:
        """Where it is: its file, or its address without the password."""
        url = self._opened.reading.url
        if url.drivername == "sqlite":
            return str(url.database)
        return url.render_as_string(hide_password=True)

    # --- entries ------------------------------------------------------------------------------

    def keep(
        self, owner: Owner, kind: EntryKind, name: str, content: str, *, notes: str = ""
    ) -> Entry:
        """Return a new entry.

        Raises:
            LibraryContentError: name, notes or content cannot be kept.
            LibraryConflictError: the owner has another of that kind and name; holds it.
        """
        name, new = checked_name(name), self._checked(kind, content, notes)
        with saving(self._opened, owner) as connection:
            if there := rows.entry_named(connection, owner, kind, name):
                return _same_or_conflict(
                    rows.kept_of(connection, there),
                    new,
                    f"you have a {kind} named '{there.name}' already; keep this one under another "
                    "name, or as a version of that one",
                )
            return self._add(connection, owner, kind, name, new)

    def keep_beside(
        self, owner: Owner, *parts: tuple[EntryKind, str, str], notes: str = ""
    ) -> list[Entry]:
        """Return new entries, of a kind, a name and a content each: all of them are kept, or none.

        One has a number after its name where another has that name, unless that is the same; a
        name that is too long is cut.

        Raises:
            LibraryContentError: a name, the notes or a content cannot be kept.
        """
        new = [
            (kind, checked_name(name[:LONGEST_NAME]), self._checked(kind, content, notes))
            for kind, name, content in parts
        ]
        with saving(self._opened, owner) as connection:
            return [self._add_beside(connection, owner, *each) for each in new]

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
        """Return an entry with a further version; a state like the latest is none.

        ``base_version`` is the version that the changes began from; without content or notes
        these stay as they are, and so does its name where another has the new one.

        Raises:
            LibraryContentError: notes or content cannot be kept.
            LibraryConflictError: there is a later version, from another tab; holds it.
        """
        with reading(self._opened) as connection:
            before = rows.kept_of(connection, rows.entry_of(connection, owner, entry_id))
        new = self._checked(
            before.entry.kind,
            before.content if content is None else content,
            before.entry.notes if notes is None else notes,
        )
        with saving(self._opened, owner) as connection:
            now = rows.kept_of(connection, rows.entry_of(connection, owner, entry_id))
            number = now.version.number
            if number == base_version and not _is_same(now, new):
                charge(connection, owner, self._limits, size=new.size)
                entry = rows.add_version(connection, now.entry, new, self._clock())
                return rows.named(connection, owner, entry, checked_name(name) if name else "")
            return _same_or_conflict(
                now,
                new,
                f"'{now.entry.name}' was saved elsewhere since: it is at version {number}, and "
                f"yours began from version {base_version}. Nothing is lost: look at both, then "
                "save yours after it or under another name",
            )

    def entries(
        self,
        owner: Owner,
        kind: EntryKind | None = None,
        search: str = "",
        *,
        deleted: bool = False,
    ) -> list[Entry]:
        """Return an owner's entries, the last changed first; the deleted ones where asked.

        A search finds every word of it in name, notes, or what the content is about.
        """
        with reading(self._opened) as connection:
            return rows.entries_of(connection, owner, kind, search, deleted=deleted)

    def read(self, owner: Owner, entry_id: str, number: int | None = None) -> StoredVersion:
        """Return an entry's content in one of its versions, the latest where none is named."""
        with reading(self._opened) as connection:
            entry = rows.entry_of(connection, owner, entry_id, deleted=None)
            kept = rows.kept_of(connection, entry, number)
        return _with_problem(kept)

    def versions(self, owner: Owner, entry_id: str) -> list[Version]:
        """Return an entry's history, the latest first."""
        with reading(self._opened) as connection:
            entry = rows.entry_of(connection, owner, entry_id, deleted=None)
            return rows.versions_of(connection, entry)

    def restore(self, owner: Owner, entry_id: str, number: int) -> Entry:
        """Return an entry whose latest version repeats an earlier one; those between stay."""
        with saving(self._opened, owner) as connection:
            entry = rows.entry_of(connection, owner, entry_id)
            return self._go_back(connection, owner, entry, number)

    def part(self, owner: Owner, entry_id: str, number: int, *, named: str, name: str) -> Entry:
        """Return a new entry with what another is now, while that one goes back to a version.

        That one is ``named`` so again where no other has that name; the new one ``name``, with a
        number after it where it is taken.
        """
        with saving(self._opened, owner) as connection:
            now = rows.kept_of(connection, rows.entry_of(connection, owner, entry_id))
            before = self._go_back(connection, owner, now.entry, number)
            rows.named(connection, owner, before, checked_name(named))
            new = New(now.content, "", now.entry.about)
            return self._add_beside(connection, owner, now.entry.kind, checked_name(name), new)

    def rename(self, owner: Owner, entry_id: str, name: str) -> Entry:
        """Return an entry under another name.

        Raises:
            LibraryContentError: it cannot be a name.
            LibraryConflictError: another of its kind has that name; holds it.
        """
        name = checked_name(name)
        with saving(self._opened, owner) as connection:
            entry = rows.entry_of(connection, owner, entry_id)
            there = rows.entry_named(connection, owner, entry.kind, name)
            if there and there.id != entry.id:
                raise LibraryConflictError(
                    f"you have a {entry.kind} named '{there.name}' already; choose another name",
                    _with_problem(rows.kept_of(connection, there)),
                )
            return rows.write_entry(connection, entry._replace(name=name))

    def duplicate(self, owner: Owner, entry_id: str) -> Entry:
        """Return a new entry with the latest version of another, under a name of its own."""
        with saving(self._opened, owner) as connection:
            kept = rows.kept_of(connection, rows.entry_of(connection, owner, entry_id))
            entry = kept.entry
            name = rows.free_name(connection, owner, entry.kind, f"{entry.name} (copy)")
            new = New(kept.content, entry.notes, entry.about)
            return self._add(connection, owner, entry.kind, name, new)

    # --- deleting -----------------------------------------------------------------------------

    def delete(self, owner: Owner, entry_id: str) -> Entry:
        """Return an entry, now deleted; for `DELETED_DAYS` `undelete` brings it back."""
        self._purge_overdue()
        with saving(self._opened, owner) as connection:
            entry = rows.entry_of(connection, owner, entry_id)
            return rows.write_entry(connection, entry._replace(deleted=self._clock()))

    def undelete(self, owner: Owner, entry_id: str) -> Entry:
        """Return an entry that was deleted, with a number after its name where that is taken."""
        with saving(self._opened, owner) as connection:
            entry = rows.entry_of(connection, owner, entry_id, deleted=True)
            name = rows.free_name(connection, owner, entry.kind, entry.name)
            return rows.write_entry(connection, entry._replace(name=name, deleted=None))

    def purge(self, owner: Owner, entry_id: str) -> None:
        """Take a deleted entry away for good, with its history."""
        with saving(self._opened, owner) as connection:
            entry = rows.entry_of(connection, owner, entry_id, deleted=True)
            rows.purge(connection, owner.digest, entry)

    def forget(self, owner: Owner) -> None:
        """Take everything of an owner's away for good: entries, their histories, and drafts."""
        with saving(self._opened, owner) as connection:
            rows.forget(connection, owner)

    def _purge_overdue(self) -> None:
        """Take away what is overdue; nothing is locked where nothing is."""
        now, library = self._clock(), self._opened
        with reading(library) as connection:
            if not rows.is_overdue(connection, now):
                return
        with database_errors(), library.writing.begin() as connection:
            rows.purge_overdue(connection, now)

    # --- drafts -------------------------------------------------------------------------------

    def save_draft(self, owner: Owner, content: str, place: str = "") -> StoredDraft:
        """Return the draft of a workspace, a plan's text, in place of the one before.

        ``place`` tells the owner's workspaces apart, such as by tab. Of more than so many the one
        that was saved longest ago gives way.

        Raises:
            LibraryContentError: the content is no plan, or the place no short text.
        """
        if len(place) > LONGEST_PLACE or not place.isprintable():
            raise LibraryContentError(
                f"the draft's place has {len(place)} characters; name it with at most "
                f"{LONGEST_PLACE}, on one line"
            )
        _fitting(content, self._limits.draft_bytes)
        checked_draft(content)
        draft = StoredDraft(place, content, self._clock())
        with saving(self._opened, owner) as connection:
            rows.put_draft(connection, owner, draft, self._limits)
        return draft

    def draft(self, owner: Owner, place: str | None = None) -> StoredDraft | None:
        """Return the draft of a workspace, of any the last saved; None where there is none."""
        with reading(self._opened) as connection:
            found = rows.latest_drafts(connection, owner, place, 1)
        return found[0] if found else None

    def drafts(self, owner: Owner) -> list[StoredDraft]:
        """Return all of an owner's drafts, the last saved first."""
        with reading(self._opened) as connection:
            return rows.latest_drafts(connection, owner, None, self._limits.drafts)

    def discard_draft(self, owner: Owner, place: str = "") -> None:
        """Forget a draft, if there is one."""
        with saving(self._opened, owner) as connection:
            rows.forget_draft(connection, owner, place)

    # --- room ---------------------------------------------------------------------------------

    def usage(self, owner: Owner) -> Usage:
        """Return how much an owner has here."""
        return usage(self._opened, owner) or Usage(0, 0)

    def _checked(self, kind: EntryKind, content: str, notes: str) -> New:
        _fitting(content, self._limits.content_bytes)
        return New(content, checked_notes(notes), checked(kind, content))

    def _go_back(self, connection: Connection, owner: Owner, entry: Entry, number: int) -> Entry:
        then = rows.kept_of(connection, entry, number)
        new = New(then.content, then.version.notes, entry.about, number)
        charge(connection, owner, self._limits, size=new.size)
        return rows.add_version(connection, entry, new, self._clock())

    def _add(
        self, connection: Connection, owner: Owner, kind: EntryKind, name: str, new: New
    ) -> Entry:
        charge(connection, owner, self._limits, entries=1, size=new.size)
        made, entry_id = self._clock(), uuid4().hex
        entry = Entry(entry_id, kind, name, new.notes, new.about, 1, new.size, made, made, None)
        return rows.add_entry(connection, owner, entry, new)

    def _add_beside(
        self, connection: Connection, owner: Owner, kind: EntryKind, name: str, new: New
    ) -> Entry:
        for number in count(1):
            end = f" ({number})" if number > 1 else ""
            tried = name[: LONGEST_NAME - len(end)].rstrip() + end
            there = rows.entry_named(connection, owner, kind, tried)
            if there is None:
                break
            if _is_same(rows.kept_of(connection, there), new):
                return there
        return self._add(connection, owner, kind, tried, new)


def _fitting(content: str, most: int) -> None:
    if (size := size_of(content)) > most:
        raise LibraryFullError(
            f"the content has {size:,} bytes, and {most:,} are kept at most; shorten it, or "
            "download it"
        )


def _is_same(now: StoredVersion, new: New) -> bool:
    return (now.content, now.entry.notes) == (new.content, new.notes)


def _same_or_conflict(now: StoredVersion, new: New, message: str) -> Entry:
    """Return what is there where it is what was to be saved: a save whose confirmation was lost.

    Raises:
        LibraryConflictError: it is another.
    """
    if _is_same(now, new):
        return now.entry
    raise LibraryConflictError(message, _with_problem(now))


def _with_problem(kept: StoredVersion) -> StoredVersion:
    return kept._replace(problem=problem_of(partial(checked, kept.entry.kind), kept.content))
