"""A key is masked in a text, also where it was written in another way."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from typing import Final

_SHORTEST_REAL_KEY: Final = 16
"""Shorter ones are placeholders of local servers (`ollama`, `none`), which are also plain words."""
_SHORTEST_WITH_A_DIGIT: Final = 8
"""From here on a word with a digit in it is taken for a key: no placeholder has one."""

_LOWER: Final = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_SEPARATORS: Final = " \t\r\n\v\f\u00a0\u200b_.,:;|/\\*'\"`+=%>-"
_FOLDING: Final = _LOWER | dict.fromkeys(map(ord, _SEPARATORS), "")
_ESCAPE: Final = re.compile(
    r"(?:\\u00|\\x|%)([0-9a-f]{2})|(&(?:#[0-9]{1,9};?|#x[0-9a-f]{1,8};?|[a-z0-9]{2,32};))|\\[nrt]",
    re.IGNORECASE,
)


def masked(text: str, key: str) -> str:
    """Return the text with ``[key]`` wherever a server repeated the key.

    Found are the key itself, in hex, and in base64 of either alphabet, alone or inside something
    longer; each also backwards, in other case, with separators put in or left out, and with any of
    its characters escaped as in JSON, an address or HTML. Whoever knows a key can write it in a way
    that nobody looks for; this is for servers that quote, log or wrap it.

    Time grows with the text and not with what it says: there are some dozen forms, and each is
    looked for as a plain string.
    """
    shortest = _SHORTEST_WITH_A_DIGIT if any(map(str.isdigit, key)) else _SHORTEST_REAL_KEY
    if len(key) < shortest:
        return text
    # Of a key that is made of separators nothing would be left to look for.
    folding = _FOLDING if len(key.translate(_FOLDING)) >= _SHORTEST_WITH_A_DIGIT else _LOWER
    forms = {form.translate(folding) for form in _forms(key)}
    forms = {form for form in forms if len(form) >= _SHORTEST_WITH_A_DIGIT}
    spans = [*_spans(text, forms, folding), *_spans(text, forms, folding, escapes=_ESCAPE)]
    return _without(text, sorted(spans))


def _forms(key: str) -> Iterator[str]:
    """Yield the key in each way in which it is looked for."""
    # A key may hold what reads as an escape, and then is unescaped with the text.
    unescaped = _ESCAPE.sub(_character, key)
    for form in (key, unescaped, key.encode().hex(), *_in_base64(key.encode())):
        yield form
        yield form[::-1]


def _in_base64(data: bytes) -> Iterator[str]:
    """Yield the data in base64: alone, and what it surely makes of something longer."""
    for coded in (base64.b64encode, base64.urlsafe_b64encode):
        yield coded(data).decode().rstrip("=")
        for before in range(3):
            bits_before, bits = 8 * before, 8 * (before + len(data))
            yield coded(bytes(before) + data).decode()[-(-bits_before // 6) : bits // 6]


def _spans(
    text: str, forms: set[str], folding: dict[int, str], escapes: re.Pattern[str] | None = None
) -> Iterator[tuple[int, int]]:
    """Yield where one of the forms stands, once the text is unescaped and folded."""
    folded = (escapes.sub(_character, text) if escapes else text).translate(folding)
    present = [form for form in forms if form in folded]
    places = _places(text, folding, escapes) if present else []
    for form in present:
        at = folded.find(form)
        while at >= 0:
            end = at + len(form)
            yield places[at][0], places[end - 1][1]
            at = folded.find(form, end)


def _places(
    text: str, folding: dict[int, str], escapes: re.Pattern[str] | None
) -> list[tuple[int, int]]:
    """Return the place in the text of each character that is left once it is folded."""
    places: list[tuple[int, int]] = []
    at = 0
    for escape in escapes.finditer(text) if escapes else ():
        places += _kept(text, at, escape.start(), folding)
        places += [escape.span()] * len(_character(escape).translate(folding))
        at = escape.end()
    return places + _kept(text, at, len(text), folding)


def _kept(text: str, start: int, end: int, folding: dict[int, str]) -> list[tuple[int, int]]:
    return [(at, at + 1) for at in range(start, end) if folding.get(ord(text[at])) != ""]


def _character(escape: re.Match[str]) -> str:
    """Return what an escape stands for; of a break in the line, a blank."""
    code, reference = escape.groups()
    return chr(int(code, 16)) if code else html.unescape(reference) if reference else " "


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with these stretches of it masked; they may overlap."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        if start >= at:
            pieces += [text[at:start], "[key]"]
        at = max(at, end)
    return "".join([*pieces, text[at:]])
