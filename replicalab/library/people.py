"""Who signed in, in which browsers, what they keep in all, and the audit log."""

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from replicalab.errors import LibraryMissingError
from replicalab.lexicon import count_text, shortened
from replicalab.library import rows
from replicalab.library.faults import database_errors
from replicalab.library.opening import OpenedLibrary
from replicalab.library.records import (
    Event,
    EventKind,
    KnownPerson,
    LibraryLimits,
    Owner,
)
from replicalab.library.schema import DRAFTS, ENTRIES, EVENTS, OWNERS, PEOPLE, SIGN_INS, VERSIONS
from replicalab.people import Person

_LONGEST_NOTE: Final = 500
_PERSON: Final = [PEOPLE.c[name] for name in Person._fields]


class People:
    """What an open library knows of people; any thread may ask.

    Every method raises `LibraryError` where the library does not answer.
    """

    def __init__(
        self, library: OpenedLibrary, limits: LibraryLimits, clock: Callable[[], datetime]
    ) -> None:
        self._library, self._limits, self._clock = library, limits, clock

    # --- signing in ---------------------------------------------------------------------------

    def sign_in(self, person: Person, token: str, state: str, hours: float) -> bool:
        """Let a browser's token stand for a person for so many hours.

        False, and nothing has changed, where the state was used before: it is good once.
        """
        self._note(person)
        now = self._clock()
        row = {"token": _hash(token), "state": _hash(state), "owner": person.key, "ended": False}
        until = now + timedelta(hours=hours)

        def write(connection: Connection) -> None:
            connection.execute(insert(SIGN_INS).values(**row, until=until))
            _add(connection, Event(now, EventKind.SIGN_IN, about(person), ""))

        return self._is_done(write)

    def see(self, person: Person) -> None:
        """Note a person whom a proxy vouches for."""
        self._note(person)
        self.note(EventKind.SIGN_IN, about(person), "by the proxy")

    def _note(self, person: Person) -> None:
        groups, is_it = json.dumps(person.groups), PEOPLE.c.owner == person.key
        values = {**person._asdict(), "groups": groups, "seen": self._clock()}

        def write(connection: Connection) -> None:
            if not connection.execute(update(PEOPLE).where(is_it).values(**values)).rowcount:
                connection.execute(insert(PEOPLE).values(owner=person.key, **values))

        self._is_done(write)  # where not, another browser of theirs was first

    def _is_done(self, write: Callable[[Connection], None]) -> bool:
        """Return whether something was written; not where what is to be unique is there."""
        with database_errors():
            try:
                with self._library.writing.begin() as connection:
                    write(connection)
            except IntegrityError:
                return False
            return True

    def signed_in(self, token: str) -> Person | None:
        """Return whom a browser's token stands for; None for nobody, or nobody any more."""
        query = select(*_PERSON).join(SIGN_INS, SIGN_INS.c.owner == PEOPLE.c.owner)
        is_good = (SIGN_INS.c.until > self._clock()) & ~SIGN_INS.c.ended
        with rows.reading(self._library) as connection:
            row = connection.execute(
                query.where((SIGN_INS.c.token == _hash(token)) & is_good)
            ).first()
        return _as_person(tuple(row)) if row else None

    def sign_out(self, token: str) -> None:
        """Let a browser's token stand for nobody."""
        person = self.signed_in(token)
        if person is None:
            return
        over = update(SIGN_INS).where(SIGN_INS.c.token == _hash(token)).values(ended=True)
        with database_errors(), self._library.writing.begin() as connection:
            connection.execute(over)
            _add(connection, Event(self._clock(), EventKind.SIGN_OUT, about(person), ""))

    # --- what they keep -----------------------------------------------------------------------

    def take_along(self, person: Person, browser: Owner) -> None:
        """Make all that a browser keeps a person's, beside what they keep already.

        A name that is taken gets a number after it; of the drafts of both the latest stay.

        Raises:
            LibraryFullError: there is no room for all of it; nothing has changed.
        """
        heir = Owner.of_person(person)
        with rows.saving(self._library, heir) as connection:
            count = rows.join(connection, browser, heir, self._limits)
            note = f"{count_text(count, 'entry')} that a browser had kept"
            event = EventKind.TAKEN_ALONG
            _add(connection, Event(self._clock(), event, about(person), note))

    def known(self) -> list[KnownPerson]:
        """Return everybody who has signed in, the last seen first."""
        query = select(
            *_PERSON,
            PEOPLE.c.seen,
            func.coalesce(OWNERS.c.entries, 0),
            func.coalesce(OWNERS.c.size, 0),
        ).outerjoin(OWNERS, OWNERS.c.owner == PEOPLE.c.owner)
        with rows.reading(self._library) as connection:
            found = connection.execute(query.order_by(PEOPLE.c.seen.desc())).all()
        return [KnownPerson(_as_person(row[:-3]), *row[-3:]) for row in found]

    def named(self, name: str) -> Person:
        """Return the one person with that subject, e-mail address, or beginning of their key.

        Raises:
            LibraryMissingError: there is none such, or more than one.
        """
        people = [each.person for each in self.known()]
        found = [each for each in people if name in (each.subject, each.email, each.key)]
        found = found or [each for each in people if len(name) >= 8 and each.key.startswith(name)]
        if len(found) != 1:
            problem = f"{len(found)} people have" if found else "nobody who has signed in has"
            raise LibraryMissingError(
                f"{problem} the subject, e-mail address or key '{shortened(name)}'; "
                "`people list` has each with a key"
            )
        return found[0]

    def export(self, person: Person, by: str) -> dict[str, Any]:
        """Return all that a person keeps, as JSON has it: entries, each version, and drafts."""
        with database_errors(), self._library.writing.begin() as connection:
            _add(connection, Event(self._clock(), EventKind.EXPORT, about(person), by))
            return {
                "person": person._asdict(),
                "entries": [_entry(connection, row) for row in _all(connection, ENTRIES, person)],
                "drafts": [_plain(row, "owner") for row in _all(connection, DRAFTS, person)],
            }

    def forget(self, person: Person, by: str, *, whole: bool = True) -> None:
        """Take all that a person keeps away for good.

        ``whole``: also what is known of them, and so sign them out everywhere.
        """
        owner = Owner.of_person(person)
        with rows.saving(self._library, owner) as connection:
            rows.forget(connection, owner)
            for table in (SIGN_INS, PEOPLE) if whole else ():
                connection.execute(delete(table).where(table.c.owner == owner.digest))
            _add(connection, Event(self._clock(), EventKind.DELETION, about(person), by))

    # --- the audit log ------------------------------------------------------------------------

    def note(self, event: EventKind, who: str, note: str) -> None:
        """Add a line to the audit log."""
        with database_errors(), self._library.writing.begin() as connection:
            _add(connection, Event(self._clock(), event, who, note))

    def events(self, most: int) -> list[Event]:
        """Return so many lines of the audit log, the latest first."""
        query = select(EVENTS.c.at, EVENTS.c.event, EVENTS.c.who, EVENTS.c.note)
        with rows.reading(self._library) as connection:
            found = connection.execute(query.order_by(EVENTS.c.id.desc()).limit(most)).all()
        return [Event(row.at, EventKind(row.event), row.who, row.note) for row in found]


def about(person: Person) -> str:
    """Return how the audit log names a person."""
    return f"{person.called} ({person.subject} of {person.issuer})"


def _hash(secret: str) -> str:
    return hashlib.sha256(f"replicalab sign-in\n{secret}".encode()).hexdigest()


def _add(connection: Connection, event: Event) -> None:
    values = {**event._asdict(), "note": shortened(event.note, _LONGEST_NOTE)}
    connection.execute(insert(EVENTS).values(**values))


def _as_person(row: Sequence[Any]) -> Person:
    issuer, subject, name, email, groups = row
    return Person(issuer, subject, name, email, tuple(json.loads(groups)))


def _all(connection: Connection, table: Any, person: Person) -> list[Row[Any]]:
    mine: Select[Any] = select(table).where(table.c.owner == person.key)
    return list(connection.execute(mine))


def _entry(connection: Connection, row: Row[Any]) -> dict[str, Any]:
    versions = select(VERSIONS).where(VERSIONS.c.entry == row.id).order_by(VERSIONS.c.number)
    history = [_plain(each, "entry") for each in connection.execute(versions)]
    return _plain(row, "owner", "name_key", "words") | {"versions": history}


def _plain(row: Row[Any], *without: str) -> dict[str, Any]:
    """Return a row as JSON has it, times in ISO 8601."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row._mapping.items()  # noqa: SLF001 - SQLAlchemy's public name for it
        if name not in without
    }
