"""Does a plan's wording break a restriction? Matching phrases clause by clause.

A phrase breaks its rule where it stands as whole words (a hyphen counts as a space) in a clause
in which no negation comes before it: "live trading" breaks the rule, "no live trading" does not.
Source: docs/methods.md, The check.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from replicalab.lexicon import folded, words_of
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


class Violation(NamedTuple):
    """A phrase that breaks a rule, and the protocol field in which it stands."""

    restriction: str
    phrase: str
    field: str


def violations(
    texts: Sequence[tuple[str, str]], parts: frozenset[str], rules: Sequence[PolicyRule]
) -> list[Violation]:
    """Return every broken phrase once per field, in the order of the rules.

    The texts come with the protocol field that each stands in; ``parts`` are all their words, as
    `lexicon.parts_of` gives them.
    """
    broken = [
        Violation(rule.restriction, phrase, field)
        for rule in rules
        for phrase, wanted in zip(rule.forbidden_phrases, rule.phrase_parts, strict=True)
        # Most phrases have a word that no text of the plan has, so no text need be searched.
        if wanted <= parts
        for field, text in texts
        if breaks(text, phrase)
    ]
    return list(dict.fromkeys(broken))


def breaks(text: str, phrase: str) -> bool:
    """Return whether a clause of ``text`` says ``phrase`` with no negation before it."""
    wanted = words_of(phrase)
    for part in _CLAUSE_END.split(folded(text)):
        clause = words_of(part)
        before, match, _ = f" {clause} ".partition(f" {wanted} ")
        if clause and match and not _negated(before):
            return True
    return False


def _negated(before: str) -> bool:
    words = f"{before} "
    for idiom in _NOT_A_NEGATION:
        words = words.replace(f" {idiom} ", " ")
    if any(f" {idiom} " in words for idiom in _NEGATING_IDIOMS):
        return True
    return any(word in NEGATIONS or word.endswith("n't") for word in words.split())
