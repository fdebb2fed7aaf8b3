"""Who signed in, by the claims of a token or a header; and what they may do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.people import PROXY, Person, Right, packed, rights_of, unpacked

CLAIMS = {
    "iss": "https://issuer.example",
    "sub": "17",
    "name": "Ann",
    "email": "ann@example.org",
    "email_verified": True,
    "groups": ["staff"],
}
ANN = Person("https://issuer.example", "17", "Ann", "ann@example.org", ("staff",))


def test_person_is_what_the_claims_say() -> None:
    assert Person.of_claims(CLAIMS, "groups") == ANN


@pytest.mark.parametrize("verified", [None, False, "true", 1])
def test_address_that_is_not_verified_counts_for_nothing(verified: object) -> None:
    person = Person.of_claims(CLAIMS | {"email_verified": verified}, "groups")
    assert person == ANN._replace(email="")


@pytest.mark.parametrize("name", ["iss", "sub"])
@pytest.mark.parametrize("value", [None, "", 17, " 17", "1\n7", "a" * 256, ["17"], "\u202e17"])
def test_claims_that_name_nobody_are_nobodys(name: str, value: object) -> None:
    assert Person.of_claims(CLAIMS | {name: value}, "groups") is None


@pytest.mark.parametrize(
    ("value", "groups"),
    [(None, ()), ("staff", ()), ([7, None, "lab"], ("lab",)), (["x"] * 500, ("x",) * 200)],
)
def test_groups_are_a_list_of_texts(value: object, groups: tuple[str, ...]) -> None:
    person = Person.of_claims(CLAIMS | {"roles": value}, "roles")
    assert person
    assert person.groups == groups


def test_foreign_name_is_one_line_that_hides_nothing() -> None:
    person = Person.of_claims(CLAIMS | {"name": "A\u202en\nn" + "x" * 500}, "groups")
    assert person
    assert person.called.startswith("A⟨U+202E⟩n n")
    assert len(person.called) < 130


def test_header_names_a_person_and_groups() -> None:
    assert Person.of_header("ann", "staff, lab,") == Person(PROXY, "ann", groups=("staff", "lab"))
    assert Person.of_header("", "staff") is None


@pytest.mark.parametrize(
    ("listed", "may"),
    [
        (None, True),
        ("", False),
        (",", False),
        ("17", True),
        ("ben, 17", True),
        ("1 7", False),
        ("ann@example.org", True),
        ("Ann", False),
        ("group:staff", True),
        ("staff", False),
        ("group:", False),
    ],
)
def test_right_is_everybodys_until_a_list_says_whose(listed: str | None, may: bool) -> None:
    environment = {} if listed is None else {"REPLICALAB_MAY_ASK": listed}
    assert rights_of(ANN, environment) == set(Right) - (set() if may else {Right.ASK})


def test_person_without_an_address_is_not_in_a_list_with_a_gap() -> None:
    nobody = ANN._replace(email="", groups=("",))
    assert Right.KEEP not in rights_of(nobody, {"REPLICALAB_MAY_KEEP": " , group:, "})


@given(
    st.builds(Person, *[st.text()] * 4, st.lists(st.text(), max_size=3).map(tuple)),
    st.frozensets(st.sampled_from(list(Right))),
)
def test_header_of_the_wall_carries_a_person_whole(person: Any, rights: frozenset[Right]) -> None:
    value = packed(person, rights)
    assert value.isascii()
    assert value.isprintable()
    assert unpacked(value) == (person, rights)
