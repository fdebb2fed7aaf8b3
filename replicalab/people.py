"""Who signed in, and what they may do: where a server asks people to say who they are.

A person is known by the issuer that vouches for them and by the subject that it calls them; both
together never name another. Name, e-mail and groups may change from one sign-in to the next.
"""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self

from replicalab.characters import on_one_line
from replicalab.lexicon import shortened

LONGEST_SUBJECT: Final = 255
"""Characters of a subject; OpenID Connect allows no more."""
_LONGEST_NAME: Final = 120
_MOST_GROUPS: Final = 200
_GROUP: Final = "group:"


class Right(StrEnum):
    """What not everybody may be allowed to do; the value names its list in the environment."""

    KEEP = "REPLICALAB_MAY_KEEP"
    ASK = "REPLICALAB_MAY_ASK"
    BATCH = "REPLICALAB_MAY_BATCH"


class Person(NamedTuple):
    """Somebody who signed in.

    Attributes:
        email: empty unless the issuer says that it verified it: rights may go by it.
        groups: what the issuer says they belong to.
    """

    issuer: str
    subject: str
    name: str = ""
    email: str = ""
    groups: tuple[str, ...] = ()

    @classmethod
    def of_claims(cls, claims: Mapping[str, Any], groups_claim: str) -> Self | None:
        """Return whom the claims of an ID token are about; None where they name nobody."""
        issuer, subject = claims.get("iss"), claims.get("sub")
        if not (_is_subject(issuer) and _is_subject(subject)):
            return None
        name = claims.get("name") or claims.get("preferred_username") or ""
        email = claims.get("email") if claims.get("email_verified") is True else ""
        groups = claims.get(groups_claim)
        groups = groups if isinstance(groups, list) else []
        return cls(
            str(issuer),
            str(subject),
            _line(name),
            _line(email),
            tuple(_line(each) for each in groups[:_MOST_GROUPS] if isinstance(each, str)),
        )

    @classmethod
    def of_header(cls, subject: str, groups: str) -> Self | None:
        """Return whom a proxy's header names, with groups between commas; None for nobody."""
        if not _is_subject(subject):
            return None
        listed = (_line(each.strip()) for each in groups.split(",")[:_MOST_GROUPS])
        return cls(PROXY, subject, groups=tuple(each for each in listed if each))

    @property
    def key(self) -> str:
        """A hash of issuer and subject, the same on every server."""
        named = json.dumps([self.issuer, self.subject])
        return hashlib.sha256(f"replicalab person\n{named}".encode()).hexdigest()

    @property
    def called(self) -> str:
        """What a page calls them."""
        return self.name or self.email or self.subject


PROXY: Final = "proxy"
"""The issuer of those whom a trusted proxy names in a header."""


def _is_subject(value: object) -> bool:
    return (
        isinstance(value, str)
        and value == value.strip()
        and 0 < len(value) <= LONGEST_SUBJECT
        and value.isprintable()
    )


def _line(value: object) -> str:
    return shortened(on_one_line(value), _LONGEST_NAME) if isinstance(value, str) else ""


def rights_of(person: Person, environment: Mapping[str, str] = os.environ) -> frozenset[Right]:
    """Return what a person may do: everything of which no list in the environment says who may.

    A list has subjects, verified e-mail addresses, and groups as ``group:NAME``, with commas
    between. An empty one allows nobody.
    """
    groups = {f"{_GROUP}{each}" for each in person.groups if each}
    names = {person.subject, person.email, *groups} - {""}

    def is_listed(right: Right) -> bool:
        return bool(names & {each.strip() for each in environment[right].split(",")})

    return frozenset(right for right in Right if right not in environment or is_listed(right))


# --- on a web socket, from the wall to a page -------------------------------------------------


def packed(person: Person, rights: frozenset[Right]) -> str:
    """Return a person and their rights as the value of a header."""
    text = json.dumps([*person, [right.name for right in sorted(rights)]])
    return base64.urlsafe_b64encode(text.encode()).decode()


def unpacked(value: str) -> tuple[Person, frozenset[Right]]:
    """Return the person and the rights of a header that `packed` made."""
    *texts, groups, rights = json.loads(base64.urlsafe_b64decode(value))
    issuer, subject, name, email = texts
    person = Person(issuer, subject, name, email, tuple(groups))
    return person, frozenset(Right[each] for each in rights)
