"""Words of all texts: comparing labels, counting, joining and rounding."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

EXACT_DIGITS: Final = 12  # decimals; a smaller difference is a rounding error
CREDITS: Final = "credits"  # the unit of cost unless a lab has a currency

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def folded(text: str) -> str:
    """Return a text in lower case and with straight quotes."""
    return text.casefold().replace("\u2019", "'").replace("\u2018", "'")


def words_of(text: str) -> str:
    """Return the words of a text, folded, with one space between them."""
    return " ".join(_WORD.findall(folded(text)))


_UNIMPORTANT: Final = frozenset(
    "a an the of for to in on at by with and or is are be must per from as".split()
)
_PART: Final = re.compile(r"[^\W_]+")
# Each letter and digit in lower case, a space for anything else.
_ASCII_PARTS: Final = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ")
    for code in range(256)
)


def parts_of(text: str) -> frozenset[str]:
    """Return the words of a text, folded; an apostrophe ends one."""
    if text.isascii():  # the table takes a third of the expression's time
        return frozenset(text.encode().translate(_ASCII_PARTS).decode().split())
    words = text.split()
    plain = " ".join(filter(str.isascii, words))
    foreign = " ".join([word for word in words if not word.isascii()])
    return parts_of(plain).union(_PART.findall(foreign.casefold()))


def content_words(text: str) -> frozenset[str]:
    """Return the words that count when one text is searched for in another."""
    return parts_of(text) - _UNIMPORTANT


@lru_cache(maxsize=4096)
def label_key(label: str) -> str:
    """Return the form in which two labels are equal: casefolded, trimmed, spaces collapsed."""
    return " ".join(label.casefold().split())


def repeated_labels(labels: Iterable[str]) -> list[str]:
    """Return each label that occurs again, as first written, in order."""
    first: dict[str, str] = {}
    repeated: dict[str, str] = {}
    for label in labels:
        key = label_key(label)
        if key in first:
            repeated[key] = first[key]
        first.setdefault(key, label)
    return list(repeated.values())


def amount_text(amount: float) -> str:
    """Return an amount for people: thousands separated, decimals only if there are any."""
    whole = int(amount)
    return f"{whole:,}" if whole == amount else f"{amount:z,.2f}"


def exact_text(number: float) -> str:
    """Return a number as its author wrote it: an integer in full, others to six digits."""
    if isinstance(number, int):
        return amount_text(number)
    return f"{number:z,g}".replace("-", "\u2212")


def percent_text(share: float) -> str:
    """Return a share in percent: ``7 %``, ``12.5 %``."""
    return f"{float(Decimal(repr(share)) * 100):z.12g} %"


def signed_text(amount: float, zero: str = "") -> str:
    """Return an amount with its sign: ``+350``, ``−2``, and ``0`` with the sign for zero."""
    digits = amount_text(abs(amount))
    sign = "+" if amount > 0 else "\u2212"
    return f"{sign if digits.strip('0.') else zero}{digits}"


def count_text(number: float, noun: str, word: str = "") -> str:
    """Return a number of things for people: ``1 day``, ``1,250 credits``, ``2 fewer days``."""
    between = f"{word} " if word else ""
    return f"{amount_text(number)} {between}{plural(noun, number)}"


def money_text(amount: float, currency: str = CREDITS, word: str = "") -> str:
    """Return an amount of money: ``1 credit``, ``1,250 credits``, ``10 more EUR``."""
    if currency == CREDITS:
        return count_text(amount, "credit", word)
    return f"{amount_text(amount)} {f'{word} ' if word else ''}{currency}"


_PLURALS: Final = {
    "mouse": "mice",
    "fish": "fish",
    "sheep": "sheep",
    "child": "children",
    "person": "people",
    "woman": "women",
    "man": "men",
    "larva": "larvae",
}


def plural(noun: str, number: float) -> str:
    """Return a noun as it follows a number: ``day`` after 1, else ``days``."""
    first, space, last = noun.rpartition(" ")
    if number != 1 and last in _PLURALS:
        return f"{first}{space}{_PLURALS[last]}"
    if number == 1 or noun[-1:] not in "hsxy":
        return noun if number == 1 else f"{noun}s"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "ch", "sh", "x")) else f"{noun}s"


def joined(texts: Sequence[str], last: str = "and") -> str:
    """Return texts as a list in words: ``budget, days and staff``."""
    if len(texts) < 2:
        return "".join(texts)
    comma = "," if any(f" {last} " in text for text in texts) else ""
    return f"{', '.join(texts[:-1])}{comma} {last} {texts[-1]}"


def quoted(labels: Iterable[str]) -> list[str]:
    return [f"'{label}'" for label in labels]


def section(title: str, items: Sequence[str]) -> list[str]:
    """Return a blank line and a titled list; one without items says ``none``."""
    return ["", f"{title}:", *([f"- {item}" for item in items] or ["- none"])]


def measured_text(quantity: float, unit: str | None) -> str:
    """Return a quantity as a model reads it: ``2.5 g``, a thousand without a comma."""
    return f"{quantity:z.12g} {unit or ''}".rstrip()


def lines_text(lines: Iterable[str]) -> str:
    """Return lines as a text; a line break within one of them, in a foreign label, is a space."""
    return "\n".join(map(one_line, lines))


def one_line(text: str) -> str:
    """Return a text with single spaces for runs of spaces and line breaks."""
    # Separators other than a space cannot be printed; most texts need only this check.
    if text.isprintable() and "  " not in text and text == text.strip(" "):
        return text
    return " ".join(text.split())


def capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


NOT_GIVEN: Final = "not given"  # the text of a missing answer


def is_given(text: str) -> bool:
    """Return whether a text is neither empty nor ``Not given.``."""
    return text.strip(" .\n").casefold() not in ("", NOT_GIVEN)


def ended(text: str) -> str:
    """Return a text as a sentence, with a full stop if it lacks an end."""
    return text if text.rstrip("\"'”’)").endswith((".", "?", "!", "…")) else f"{text}."


def shortened(text: str, length: int = 40) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def distinct_text(
    value: float, bounds: Iterable[float], digits: int, write: Callable[[float, int], str]
) -> str:
    """Return a value with enough digits to distinguish it from the bounds near it.

    ``0.797`` near a bound of ``0.80`` is written ``0.797`` and not ``0.80``; a value that equals a
    bound but for a rounding error is written like it. ``digits`` is the least number of decimals.
    """
    near = [b for b in bounds if not math.isclose(value, b, rel_tol=0, abs_tol=10**-EXACT_DIGITS)]
    while digits < EXACT_DIGITS and any(write(value, digits) == write(b, digits) for b in near):
        digits += 1
    return write(value, digits)
