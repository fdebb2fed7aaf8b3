"""People of the library: signed in and out, taken along, exported, forgotten, and noted."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from replicalab.errors import LibraryFullError, LibraryMissingError, LibraryRightsError
from replicalab.library import EntryKind, EventKind, Library, LibraryLimits, Owner
from replicalab.people import Person
from tests.library.making import ANN, BEN, Clock, make_plan

ISSUER = "https://issuer.example"
PERSON = Person(ISSUER, "ann", "Ann", "ann@example.org", ("staff",))
OTHER = Person(ISSUER, "ben")
MINE = Owner.of_person(PERSON)


def test_person_is_an_owner_by_issuer_and_subject_alone() -> None:
    assert Owner.of_person(PERSON) == Owner.of_person(Person(ISSUER, "ann"))
    others = [OTHER, Person("https://another.example", "ann"), Person(f"{ISSUER}\n", "ann")]
    assert len({Owner.of_person(each) for each in [PERSON, *others]}) == 4


def test_token_stands_for_a_person_until_its_time_is_up(library: Library, clock: Clock) -> None:
    people = library.people
    assert people.sign_in(PERSON, "one", "state", hours=24)
    assert people.signed_in("one") == PERSON
    assert [people.signed_in(each) for each in ("", "another", "state")] == [None] * 3
    clock.wait(days=1)
    assert people.signed_in("one") is None


def test_state_is_good_once_even_after_signing_out(library: Library) -> None:
    people = library.people
    assert people.sign_in(PERSON, "one", "state", hours=1)
    people.sign_out("one")
    assert people.signed_in("one") is None
    assert not people.sign_in(OTHER, "two", "state", hours=1)
    assert people.signed_in("two") is None


def test_person_is_what_the_issuer_said_last(library: Library) -> None:
    people = library.people
    people.sign_in(PERSON, "one", "1", hours=1)
    people.sign_in(PERSON._replace(groups=()), "two", "2", hours=1)
    assert people.signed_in("one") == PERSON._replace(groups=())


def test_what_a_browser_kept_is_taken_along_beside_ones_own(library: Library) -> None:
    mine = library.keep(MINE, EntryKind.PLAN, "Ours", make_plan(30))
    theirs = library.keep(ANN, EntryKind.PLAN, "Ours", make_plan(40))
    gone = library.delete(ANN, library.keep(ANN, EntryKind.PLAN, "Gone", make_plan(50)).id)
    library.update(ANN, theirs.id, make_plan(41), base_version=1)
    library.save_draft(ANN, make_plan(60), "a")
    kept = library.usage(MINE), library.usage(ANN)
    library.people.take_along(PERSON, ANN)
    assert {entry.name for entry in library.entries(MINE)} == {"Ours", "Ours 2"}
    assert library.read(MINE, mine.id).content == make_plan(30)
    assert library.read(MINE, theirs.id, 1).content == make_plan(40)
    assert library.undelete(MINE, gone.id).name == "Gone"
    draft = library.draft(MINE)
    assert draft
    assert draft.content == make_plan(60)
    assert library.usage(MINE) == tuple(map(sum, zip(*kept, strict=True)))
    assert (library.entries(ANN), library.drafts(ANN)) == ([], [])
    assert library.usage(ANN) == (0, 0)
    library.people.take_along(PERSON, ANN)
    assert len(library.entries(MINE)) == 3, "a second time there is nothing"


def test_what_there_is_no_room_for_stays_where_it_is(url: str) -> None:
    library = Library(url, limits=LibraryLimits(entries=2))
    for owner in (ANN, MINE):
        for name in ("One", "Two"):
            library.keep(owner, EntryKind.PLAN, name, make_plan())
    with pytest.raises(LibraryFullError, match="2 entries"):
        library.people.take_along(PERSON, ANN)
    assert [len(library.entries(owner)) for owner in (ANN, MINE)] == [2, 2]
    library.close()


def test_export_has_all_that_a_person_keeps_and_nothing_else(library: Library) -> None:
    library.people.sign_in(PERSON, "one", "state", hours=1)
    entry = library.keep(MINE, EntryKind.PLAN, "Ours", make_plan(30), notes="fewer")
    library.update(MINE, entry.id, make_plan(31), base_version=1)
    library.save_draft(MINE, make_plan(60), "a")
    library.keep(BEN, EntryKind.PLAN, "Theirs", make_plan(40))
    found = json.loads(json.dumps(library.people.export(PERSON, "by root")))
    [kept] = found["entries"]
    assert (kept["name"], kept["notes"]) == ("Ours", "fewer")
    assert [each["content"] for each in kept["versions"]] == [make_plan(30), make_plan(31)]
    assert [each["content"] for each in found["drafts"]] == [make_plan(60)]
    assert "Theirs" not in json.dumps(found)
    [event, _] = library.people.events(9)
    assert (event.event, event.note) == (EventKind.EXPORT, "by root")


def test_forgotten_person_is_signed_out_and_keeps_nothing(library: Library) -> None:
    library.people.sign_in(PERSON, "one", "1", hours=1)
    library.people.sign_in(OTHER, "two", "2", hours=1)
    library.keep(MINE, EntryKind.PLAN, "Ours", make_plan())
    library.keep(Owner.of_person(OTHER), EntryKind.PLAN, "Theirs", make_plan())
    library.people.forget(PERSON, "by root")
    assert [each.person for each in library.people.known()] == [OTHER]
    assert (library.people.signed_in("one"), library.people.signed_in("two")) == (None, OTHER)
    assert (library.entries(MINE), library.usage(MINE)) == ([], (0, 0))
    assert len(library.entries(Owner.of_person(OTHER))) == 1
    [event, *_] = library.people.events(9)
    assert (event.event, event.who) == (EventKind.DELETION, f"Ann (ann of {ISSUER})")


@pytest.mark.parametrize("name", ["ann", "ann@example.org", PERSON.key, PERSON.key[:8]])
def test_person_is_found_by_what_names_one_alone(library: Library, name: str) -> None:
    library.people.see(PERSON)
    library.people.see(OTHER)
    assert library.people.named(name) == PERSON


@pytest.mark.parametrize("name", ["", "nobody", "an", PERSON.key[:7]])
def test_person_is_not_guessed(library: Library, name: str) -> None:
    library.people.see(PERSON)
    with pytest.raises(LibraryMissingError, match="nobody who has signed in"):
        library.people.named(name)
    library.people.see(Person("https://another.example", "ann"))
    with pytest.raises(LibraryMissingError, match="2 people have"):
        library.people.named("ann")


def test_audit_log_goes_after_a_year(library: Library, clock: Clock) -> None:
    library.people.note(EventKind.REFUSAL, "", "x" * 1_000)
    [event] = library.people.events(9)
    assert len(event.note) == 501
    clock.wait(days=366)
    library.people.note(EventKind.SIGN_OUT, "Ann", "")
    entry = library.keep(ANN, EntryKind.PLAN, "Ours", make_plan())
    library.delete(ANN, entry.id)
    assert [event.event for event in library.people.events(9)] == [EventKind.SIGN_OUT]


def test_who_may_keep_nothing_reads_what_they_kept(library: Library) -> None:
    entry = library.keep(MINE, EntryKind.PLAN, "Ours", make_plan())
    reader = Owner.of_person(PERSON, may_keep=False)
    assert library.read(reader, entry.id).content == make_plan()
    attempts: list[Callable[[], object]] = [
        lambda: library.keep(reader, EntryKind.PLAN, "New", make_plan()),
        lambda: library.save_draft(reader, make_plan()),
        lambda: library.rename(reader, entry.id, "Mine"),
        lambda: library.delete(reader, entry.id),
        lambda: library.forget(reader),
    ]
    for attempt in attempts:
        with pytest.raises(LibraryRightsError, match="keep nothing"):
            attempt()
    assert library.entries(MINE) == [entry]
