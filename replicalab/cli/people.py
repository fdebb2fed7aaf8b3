"""``people``: who signed in, the audit log, and what somebody keeps: exported, or deleted."""

from __future__ import annotations

import argparse
import getpass
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from replicalab import library
from replicalab.cli.files import check_writable, written
from replicalab.cli.printing import Answer, CommandError
from replicalab.errors import LibraryMissingError
from replicalab.lexicon import count_text
from replicalab.library import Event, KnownPerson
from replicalab.people import Person
from replicalab.render import terminal

ABOUT: Final = "Who signed in, the audit log, and all that somebody keeps: exported or deleted."
CODES: Final = "0"
EXAMPLES: Final = ("people list", "people log --most 20")

if TYPE_CHECKING:
    from replicalab.library import Library

_LISTED: Final = 100
_ACTIONS: Final = ("list", "log", "export", "delete")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("action", choices=_ACTIONS, help="what is to be done")
    parser.add_argument(
        "person", nargs="?", help="whose work: their subject, e-mail address or key, as list has it"
    )
    parser.add_argument(
        "--save", metavar="WORK.json", type=Path, help="where export writes; - for standard output"
    )
    parser.add_argument("--yes", action="store_true", help="delete it for good, and sign them out")
    parser.add_argument(
        "--most", type=int, default=_LISTED, help=f"lines of the log, else {_LISTED}"
    )


def answer(asked: argparse.Namespace) -> Answer:
    """Return what was asked of the library that the environment names.

    Raises:
        CommandError: something is missing, or too much.
        LibraryError: the library does not answer, or nobody is called so.
    """
    _check(asked)
    opened = library.Library()
    try:
        return _answered(asked, opened)
    finally:
        opened.close()


def _check(asked: argparse.Namespace) -> None:
    about_one = asked.action in ("export", "delete")
    if about_one and not asked.person:
        raise CommandError(f"people {asked.action}: whose work? Name a person of `people list`")
    if asked.person and not about_one:
        raise CommandError(f"people {asked.action} takes no person; leave out '{asked.person}'")
    if asked.action == "export":
        if asked.save is None:
            raise CommandError("people export: name the file to write with --save")
        check_writable(asked.save)
    if asked.action == "delete" and not asked.yes:
        raise CommandError(
            "people delete takes all that somebody keeps away for good; export it first, and add "
            "--yes where that is meant"
        )
    if asked.most < 1:
        raise CommandError(f"--most {asked.most} is no number of lines; name 1 or more")


def _answered(asked: argparse.Namespace, opened: Library) -> Answer:
    people = opened.people
    if asked.action == "list":
        known = people.known()
        lines = (f"Library: {opened.place}", *_people_lines(known))
        return Answer(0, lines, lambda: {"people": [*map(_person, known)]})
    if asked.action == "log":
        events = people.events(asked.most)
        return Answer(0, _event_lines(events), lambda: {"events": [*map(_event, events)]})
    try:
        person = people.named(asked.person)
    except LibraryMissingError as error:
        raise CommandError(f"{error}; the library is {opened.place}") from error
    if asked.action == "export":
        held = people.export(person, _by())
        said = written(
            asked.save, json.dumps(held, indent=1, ensure_ascii=False) + "\n", private=True
        )
        number = count_text(len(held["entries"]), "entry")
        return Answer(
            0, [f"{number} of {person.called}", said], lambda: {"entries": len(held["entries"])}
        )
    people.forget(person, _by())
    return Answer(0, [f"Deleted for good: {_named(person)}"], lambda: {"deleted": person.key})


def _by() -> str:
    """Return who gives the command, for the audit log."""
    with suppress(OSError, KeyError, ImportError):  # nobody has that number on this machine
        return f"by {getpass.getuser()}, on the command line"
    return "on the command line"


def _named(person: Person) -> str:
    return f"{person.called} ({person.subject} of {person.issuer})"


def _people_lines(known: Sequence[KnownPerson]) -> Iterator[str]:
    if not known:
        yield "Nobody has signed in yet."
        return
    heads = ("KEY", "SUBJECT", "ISSUER", "NAME", "E-MAIL", "LAST SEEN", "ENTRIES", "BYTES")
    rows = (
        (
            each.person.key[:12],
            *(each.person.subject, each.person.issuer, each.person.name, each.person.email),
            f"{each.seen:%Y-%m-%d %H:%M}",
            *(f"{each.entries:,}", f"{each.size:,}"),
        )
        for each in known
    )
    yield from terminal.columns([heads, *rows], right=(6, 7))


def _person(known: KnownPerson) -> Mapping[str, object]:
    person = known.person
    return {
        "key": person.key,
        **person._asdict(),
        "seen": known.seen.isoformat(),
        "entries": known.entries,
        "bytes": known.size,
    }


def _event_lines(events: Sequence[Event]) -> Iterator[str]:
    if not events:
        yield "Nothing has been noted yet."
    for each in events:
        parts = (f"{each.at:%Y-%m-%d %H:%M:%S}", each.event, each.who, each.note)
        yield "  ".join(part for part in parts if part)


def _event(event: Event) -> Mapping[str, object]:
    return {**event._asdict(), "at": event.at.isoformat()}
