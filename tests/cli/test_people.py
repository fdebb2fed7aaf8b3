"""``people``: who administers a server sees who signed in, exports and deletes their work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from replicalab.library import EntryKind, EventKind, Library, Owner
from replicalab.people import Person
from tests.cli.asking import Asking
from tests.library.making import make_plan

PERSON = Person("https://issuer.example", "17", "Ann", "ann@example.org")


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """The library of a server on which Ann has signed in and saved a plan."""
    monkeypatch.setenv("REPLICALAB_DATA", str(tmp_path / "data"))
    opened = Library()
    opened.people.sign_in(PERSON, "token", "state", hours=1)
    opened.keep(Owner.of_person(PERSON), EntryKind.PLAN, "Ours", make_plan())
    yield opened
    opened.close()


def test_people_are_listed_and_exported_and_deleted(ask: Asking, library: Library) -> None:
    listed = ask("people list")
    assert all(each in listed.out for each in ("17", "Ann", "ann@example.org", PERSON.key[:12]))
    assert f"Library: {library.place}" in listed.out
    [known] = ask("people list --json").data["people"]
    assert (known["key"], known["entries"]) == (PERSON.key, 1)
    assert ask("people export ann@example.org --save ann.json").code == 0
    assert Path("ann.json").stat().st_mode & 0o777 == 0o600
    exported = json.loads(Path("ann.json").read_text())
    [entry] = exported["entries"]
    assert entry["versions"][0]["content"] == make_plan()
    assert json.loads(ask("people export 17 --save -").out) == exported
    assert ask(f"people delete {PERSON.key[:12]}").code == 2, "only where that is meant"
    assert library.people.signed_in("token") == PERSON
    assert ask("people delete 17 --yes").code == 0
    assert library.people.signed_in("token") is None
    assert library.entries(Owner.of_person(PERSON)) == []
    events = ask("people log --json").data["events"]
    assert [each["event"] for each in events] == [
        *(EventKind.DELETION, EventKind.EXPORT, EventKind.EXPORT, EventKind.SIGN_IN),
    ]
    assert "command line" in events[0]["note"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("people", "action"),
        ("people forget", "is unknown"),
        ("people export", "whose work"),
        ("people delete --yes", "whose work"),
        ("people export 17", "--save"),
        ("people export 17 --save /nowhere/x.json", "cannot be written"),
        ("people export 17 --save - --json", "leave out"),
        ("people list 17", "takes no person"),
        ("people log --most 0", "1 or more"),
        ("people export somebody --save x.json", "the library is"),
    ],
)
def test_people_says_what_it_lacks(ask: Asking, library: Library, line: str, said: str) -> None:
    answer = ask(line)
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert [each.event for each in library.people.events(9)] == [EventKind.SIGN_IN]
