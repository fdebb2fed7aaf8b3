"""Does a plan's wording break a restriction? Matching phrases clause by clause.

A phrase breaks its rule where it stands as whole words (a hyphen counts as a space) in a clause
in which no negation comes before it: "live trading" breaks the rule, "no live trading" does not.
Source: the behaviour contract, section 5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from replicalab.models import Protocol, Wording, wording_of
from replicalab.scenarios import PolicyRule

NEGATIONS: Final = frozenset(
    "no not never without none nobody nothing neither nor cannot avoid avoids avoiding refuse "
    "refuses forbid forbids forbidden prohibit prohibits prohibited".split()
)
_NEGATING_IDIOMS: Final = ("instead of", "rather than")
_NOT_A_NEGATION: Final = ("not only", "no doubt", "no matter", "not just", "not merely")
_CLAUSE_END: Final = re.compile(
    r"[,;:!?()\[\]\n\u2014]|\s\u2013\s|-{2,}|\.(?![^\W_])"
    r"|\b(?:but|however|although|though|yet|then|instead(?!\s+of\b))\b"
)
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'"})


class Violation(NamedTuple):
    """A phrase that breaks a rule, and the protocol field in which it stands."""

    restriction: str
    phrase: str
    field: str


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text))


def _folded(text: str) -> str:
    return text.casefold().translate(_QUOTES)


@lru_cache(maxsize=1024)
def _phrase_words(phrase: str) -> str:
    return _words(_folded(phrase))


@lru_cache(maxsize=1024)
def _clauses(text: str) -> tuple[str, ...]:
    parts = (_words(part) for part in _CLAUSE_END.split(_folded(text)))
    return tuple(part for part in parts if part)


def _negated(before: str) -> bool:
    said = f"{before} "
    for idiom in _NOT_A_NEGATION:
        said = said.replace(f" {idiom} ", " ")
    if any(f" {idiom} " in said for idiom in _NEGATING_IDIOMS):
        return True
    return any(word in NEGATIONS or word.endswith("n't") for word in said.split())


def breaks(text: str, phrase: str) -> bool:
    """Return whether a clause of ``text`` says ``phrase`` with no negation before it."""
    wanted = f" {_phrase_words(phrase)} "
    for clause in _clauses(text):
        before, found, _ = f" {clause} ".partition(wanted)
        if found and not _negated(before):
            return True
    return False


def violations(protocol: Protocol, rules: Sequence[PolicyRule]) -> list[Violation]:
    """Return every broken phrase once per field, in the order of the rules."""
    return wording_violations(wording_of(protocol), rules)


def wording_violations(wording: Wording, rules: Sequence[PolicyRule]) -> list[Violation]:
    """Return what `violations` does, of a plan's wording."""
    found = (
        Violation(rule.restriction, phrase, field)
        for rule in rules
        for phrase in rule.forbidden_phrases
        for field, text in wording.texts
        if breaks(text, phrase)
    )
    return list(dict.fromkeys(found))
