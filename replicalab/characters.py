"""Hidden characters: those that are not drawn, or that turn others round, are named.

Two texts can look alike and differ by a character that is not drawn, and a control of direction
can reverse the text after it: "hard lab" reads "bal drah" behind U+202E. A study file with
such a character is refused; other texts show its name, ⟨U+202E⟩.
"""

import re
from typing import Final
from unicodedata import category, name

_LAYOUT: Final = "\t\n\r"
_JOINERS: Final = "\u200c\u200d"  # they shape letters of Persian and of India, and join emoji
# Variation selectors choose a form of the letter before them.
_VARIANT: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# Letters, marks and signs that are not drawn.
_BLANK: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0]")
_STACKED_MARKS: Final = 8  # enough for any script; a larger pile covers other lines
_UNUSUAL: Final = re.compile(rf"[^ -~{_LAYOUT}]+")

_RIGHT_TO_LEFT: Final = (
    "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
)
# Letters that run from right to left, with the characters between them.
_RUN: Final = re.compile(rf"[{_RIGHT_TO_LEFT}]+(?:[\W\d_]+[{_RIGHT_TO_LEFT}]+)*")


def hidden(text: str) -> list[int]:
    """Return the places of hidden characters, and of marks beyond the limit on one letter."""
    # A joiner between two letters beyond ASCII and a variant after one are part of how they look.
    places: list[int] = []
    for part in _UNUSUAL.finditer(text):
        if part.group().isalpha() and not _BLANK.search(part.group()):
            continue
        marks = 0
        for at in range(part.start(), part.end()):
            marks = marks + 1 if category(text[at]) in ("Mn", "Me") else 0
            if marks > _STACKED_MARKS or (not _is_seen(text[at]) and not _shapes(text, at)):
                places.append(at)
    return places


def _is_seen(letter: str) -> bool:
    if _BLANK.match(letter) or _VARIANT.match(letter) or letter in _LAYOUT:
        return False
    return letter.isprintable() or category(letter) == "Zs"


def _shapes(text: str, at: int) -> bool:
    before, letter, after = text[max(at - 1, 0) : at], text[at], text[at + 1 : at + 2]
    if _VARIANT.match(letter):
        on_a_key = before in "#*0123456789" and after == "\u20e3"
        return on_a_key or (before > "\x7f" and _is_seen(before))
    joins = letter in _JOINERS and after > "\x7f" and _is_seen(after)
    return joins and before > "\x7f" and bool(_is_seen(before) or _VARIANT.match(before))


def code(letter: str) -> str:
    """Return the number of a character: ``U+202E``."""
    return f"U+{ord(letter):04X}"


def described(letter: str) -> str:
    """Return the number and the name of a character: ``U+202E (right-to-left override)``."""
    called = name(letter, "").lower()
    return f"{code(letter)} ({called})" if called else code(letter)


def shown(text: str) -> str:
    """Return a foreign text for people: hidden characters named, right-to-left runs isolated."""
    # Letters that run from right to left are isolated, so that they reorder nothing around them.
    if text.isascii() and text.isprintable():
        return text
    start, parts = 0, list[str]()
    for at in hidden(text):
        parts += [text[start:at], f"⟨{code(text[at])}⟩"]
        start = at + 1
    return _RUN.sub("\u2068\\g<0>\u2069", "".join([*parts, text[start:]]))


def on_one_line(text: str) -> str:
    """Return a foreign text as `shown` does, on one line: for labels, options and figures."""
    return shown(" ".join(text.split()))
