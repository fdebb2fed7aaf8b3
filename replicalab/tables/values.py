"""What a cell of a lab's own sheet says: a date, a price with its currency, a word of its own."""

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Final, get_args

from replicalab.characters import on_one_line
from replicalab.scenarios import LONGEST_WORD, MOST, SheetCurrency, word_key
from replicalab.tables.sheet import number_of, quoted_cell, require_readable, require_short

NOTHING: Final = frozenset({"", "-", "\u2013", "\u2014"})
"""What stands in a cell that says nothing: nothing, or a dash."""

# --- a word -----------------------------------------------------------------------------------

NONE_LEFT: Final = "0"
SOME_LEFT: Final = "more than 0"
"""What a number is as a word."""
NUMBERS: Final = (NONE_LEFT, SOME_LEFT)


def word_in(cell: object) -> str:
    """Return the word of a cell as it is compared, of a number only whether it is 0.

    Raises:
        ValueError: it is no word, or a negative number; with the problem and the remedy.
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    require_readable(cell)
    text = str(cell).strip()
    if isinstance(cell, int | float) or text.removeprefix("-").isdecimal():
        return SOME_LEFT if number_of(cell, "12") else NONE_LEFT
    require_short(text, LONGEST_WORD)
    return word_key(on_one_line(text))


# --- a date -----------------------------------------------------------------------------------

_CLOCK: Final = r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?"
_ISO: Final = re.compile(rf"([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}}){_CLOCK}")
_DOTTED: Final = re.compile(r"([0-9]{1,2})\.[ ]?([0-9]{1,2})\.[ ]?([0-9]{4}|[0-9]{2})")
_SLASHED: Final = re.compile(r"([0-9]{1,2})([/-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})")
_CENTURY: Final = 2000  # Of a year of two digits


def looks_like_date(cell: object) -> bool:
    """Return whether a cell holds a date, right or wrong."""
    if not isinstance(cell, str):
        return isinstance(cell, date)
    text = cell.strip()
    return any(pattern.fullmatch(text) for pattern in (_ISO, _DOTTED, _SLASHED))


def told_order(cell: object) -> bool | None:
    """Return whether a date such as 13/4/2026 begins with its day; None where it does not tell."""
    found = _SLASHED.fullmatch(cell.strip()) if isinstance(cell, str) else None
    first, second = (int(found[1]), int(found[3])) if found else (0, 0)
    return first > second if max(first, second) > 12 >= min(first, second) else None


def is_slashed(cell: object) -> bool:
    """Return whether a cell holds a date that begins with its day to some, its month to others."""
    return isinstance(cell, str) and bool(_SLASHED.fullmatch(cell.strip()))


def date_in(cell: object, *, day_first: bool | None) -> date | None:
    """Return the date in a cell, None where it holds something else.

    Raises:
        ValueError: no calendar has it, or nothing says whether it begins with its day.
    """
    if isinstance(cell, datetime):
        return cell.date()
    if isinstance(cell, date):
        return cell
    if isinstance(cell, time | timedelta):
        raise ValueError(f"{quoted_cell(cell)} is a time", "write a date such as 2026-05-31")
    text = str(cell).strip()
    if found := _ISO.fullmatch(text):
        year, month, day = map(int, found.groups())
    elif found := _DOTTED.fullmatch(text):
        day, month, year = map(int, found.groups())
    elif found := _SLASHED.fullmatch(text):
        if day_first is None:
            problem = f"{quoted_cell(cell)} can be read in two ways"
            raise ValueError(problem, "say whether dates begin with the day")
        day, month, year = int(found[1]), int(found[3]), int(found[4])
        day, month = (day, month) if day_first else (month, day)
    else:
        return None
    try:
        return date(year + _CENTURY * (year < 100), month, day)
    except ValueError:
        problem = f"{quoted_cell(cell)} is no day of the calendar"
        raise ValueError(problem, "write a date such as 2026-05-31") from None


# --- a price ----------------------------------------------------------------------------------

_NAMES: Final = {
    "€": "EUR",
    "EURO": "EUR",
    "£": "GBP",
    "FR": "CHF",
    "SFR": "CHF",
    "US$": "USD",
    "₩": "KRW",
    "₹": "INR",
    "₺": "TRY",
    "₪": "ILS",
    "ZŁ": "PLN",
    "KČ": "CZK",
}
_CODES: Final = "|".join(map(re.escape, filter(None, [*_NAMES, *get_args(SheetCurrency)])))
_SIGN: Final = re.compile(rf"(?<![a-zA-Z])(?:{_CODES})(?![a-zA-Z])", re.IGNORECASE)
_PRICE: Final = re.compile(
    rf"(?P<before>(?:{_CODES})\.?)?\s*(?P<number>[0-9](?:[0-9.,'’ \u00a0\u2009\u202f]*[0-9])?)"
    rf"(?:[.,](?:-{{1,2}}|\u2013|\u2014))?\s*(?P<after>(?:{_CODES})\.?)?",
    re.IGNORECASE,
)
_GROUPS: Final = "'’ \u00a0\u2009\u202f"


def _digits(mark: str, other: str) -> re.Pattern[str]:
    """Return what a number is whose decimals follow a mark, and whose thousands the other may."""
    group = rf"(?P<group>[{other}{_GROUPS}])"
    whole = rf"[0-9]+|[0-9]{{1,3}}{group}[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*"
    return re.compile(rf"(?P<whole>{whole})(?:[{mark}](?P<rest>[0-9]+))?")


_COMMA: Final = _digits(",", ".")
_POINT: Final = _digits(".", ",")


def currency_in(text: str) -> str:
    """Return the currency that a heading or a price names, by its code or sign; empty for none."""
    found = _SIGN.search(text)
    return _currency(found[0]) if found else ""


def _currency(sign: str) -> str:
    code = sign.upper().rstrip(".")
    return _NAMES.get(code, code)


def told_comma(cell: object) -> bool | None:
    """Return whether a price has a decimal comma; None where it can be read both ways, or none."""
    found = _PRICE.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if not found:
        return None
    comma, point = _COMMA.fullmatch(found["number"]), _POINT.fullmatch(found["number"])
    return bool(comma) if bool(comma) is not bool(point) else None


def price_in(cell: object, *, comma: bool | None, currency: str) -> float:
    """Return the price in a cell, in the currency that is named.

    Raises:
        ValueError: it holds none, in another currency, or one that is read in two ways.
    """
    if not isinstance(cell, str):
        price = number_of(cell, "12.5")
    else:
        price = _written_price(cell.strip(), comma, currency)
    if price > MOST:
        raise ValueError(f"{quoted_cell(cell)} is too large", f"write at most {MOST}")
    return float(price)


def _written_price(text: str, comma: bool | None, currency: str) -> Decimal:
    said, found = quoted_cell(text), _PRICE.fullmatch(text)
    if not found:
        raise ValueError(f"{said} is no price that is 0 or more", "write a number such as 12.5")
    named = {_currency(sign) for sign in (found["before"], found["after"]) if sign}
    if named - {currency}:
        others = f"the others are in {currency}" if currency else "no currency was chosen"
        raise ValueError(f"{said} is in another currency: {others}", "write it in that one")
    ways = {
        number
        for mark, pattern in ((True, _COMMA), (False, _POINT))
        if comma in (None, mark)
        and (number := _number(pattern.fullmatch(found["number"]))) is not None
    }
    if len(ways) == 1:
        return ways.pop()
    if ways:
        remedy = "say whether prices have a decimal comma"
        raise ValueError(f"{said} can be read in two ways", remedy)
    mark, example = ("point", "12.5") if comma is False else ("comma", "12,5")
    raise ValueError(f"{said} is no number with a decimal {mark}", f"write one such as {example}")


def _number(found: re.Match[str] | None) -> Decimal | None:
    if not found:
        return None
    return Decimal(f"{re.sub('[^0-9]', '', found['whole'])}.{found['rest'] or 0}")
