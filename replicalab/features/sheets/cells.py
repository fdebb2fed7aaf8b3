"""Cells of a list of items: words, quantities, prices and days."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from math import inf
from typing import Any, Final, NamedTuple

from replicalab import limits
from replicalab.characters import described, hidden, on_one_line
from replicalab.lexicon import label_key, shortened
from replicalab.scenarios import ItemState
from replicalab.tables import TWO_WAYS, number_text, unguarded

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "kind": {
        "equipment": "equipment, instrument, instruments, device, devices, machine, machines",
        "reagent": "reagent, reagents, chemical, chemicals, solvent, solvents, antibody, "
        "antibodies, consumable, consumables, buffer, kit, enzyme, compound",
    },
    "state": {
        ItemState.AVAILABLE: "available, free",
        ItemState.BOOKED: "booked, reserved, in use",
        ItemState.OUT_OF_STOCK: "out of stock, empty, used up",
    },
    "quantity": {
        ItemState.AVAILABLE: "yes, available, in stock",
        ItemState.OUT_OF_STOCK: "no, none, empty, out of stock, out",
    },
}
"""The values of a column, and the words for each."""
MEANINGS: Final = {
    column: {word: value for value, words in values.items() for word in words.split(", ")}
    for column, values in WORDS.items()
}
EMPTY: Final = {"name": "", "kind": "", "from": -inf, "until": inf, "expiry": inf}
NUMBER: Final = re.compile(r"[0-9]{1,20}(?:[.,][0-9]{1,400})?")  # 326 for the smallest price
_THOUSANDS: Final = (("[ '’\u00a0\u202f]", "[.,]"), (",", "[.]"), ("[.]", ","))  # and decimals
_SIGN: Final = "[$€£¥]|USD|EUR|GBP|CHF|JPY|CNY|SEK|NOK|DKK|CAD|AUD|NZD|INR"
_MONEY: Final = re.compile(rf"({_SIGN})?\s*([^A-Za-z$€£¥]+?)\s*({_SIGN})?")
_CODES: Final = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_QUANTITY: Final = re.compile(r"([0-9]+(?:[ .,'][0-9]+)*)(?:\s*[^\W\d_][^\d]*[23]?|\s*%|\s*x\s.*)?")

_TIME: Final = re.compile(
    r"(?:T|,?\s+)[0-9]{1,2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?|(?=\s*[ap]))"
    r"\s*(?:[ap]\.?m\.?)?\s*(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?$",
    re.IGNORECASE,
)
_DECORATION: Final = re.compile(  # a weekday in front, and the letters of 31st
    r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?[.,]?\s+"
    r"|(?<=[0-9])(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_FORMATS: Final = ("%Y-%m-%d", "%d-%b-%Y", "%d-%B-%Y", "%b-%d-%Y", "%B-%d-%Y")
_EXCEL_DAY_0: Final = date(1899, 12, 30)
_SERIALS: Final = 20_000, 75_000  # of Excel, the years 1954 to 2105; too many for days of a lab
_WRONG_NUMBERS: Final = {
    "": ("may be a day or a date of Excel", "choose one, or write a date such as 2026-05-31"),
    "days": (f"is no whole day below {_SERIALS[0]:,}", "write 12 or 2026-05-31"),
    "dates": ("is no date of Excel", "write 2026-05-31"),
}


class Answers(NamedTuple):
    """A lab's calendar and currency, and the meaning of numbers and dates of its sheet.

    ``last_day`` ends the lab's work; ``day_first`` reads 3/4/2026 as 3 April, None asks;
    ``numbers`` in a column of dates are ``days`` of the lab or ``dates`` of Excel, empty asks.
    """

    start_date: date | None = None
    weekends: bool = True
    start_day: int = 1
    last_day: int = limits.LARGEST_COUNT
    currency: str = ""
    day_first: bool | None = None
    numbers: str = ""


class Problem(Exception):  # noqa: N818 - its text is the problem
    """The problem of a file or a cell and its remedy; of a file also the row, if known."""


def quoted(text: str) -> str:
    """Return a cell's text for a message."""
    return f"'{on_one_line(shortened(text))}'"


def _wrong(text: str, problem: str, remedy: str) -> Problem:
    return Problem(f"{quoted(text)} {problem}", remedy)


def dates_of(text: str) -> dict[bool, date]:
    """Return the dates that a text may mean, by whether the day comes before the month."""
    text = _DECORATION.sub("", _TIME.sub("", " ".join(text.split())))
    text = re.sub(r"^([0-9]{4})([0-9]{2})([0-9]{2})(?:\.0)?$", r"\1-\2-\3", text)
    dashed = re.sub(r"\.?[\s./,-]\s*", "-", text)
    # With dots, no country writes the month first.
    orders = {True: "%d-%m-%Y", False: "%d-%m-%Y" if "." in text else "%m-%d-%Y"}
    found: dict[bool, date] = {}
    for day_first, order in orders.items():
        for form in (*_FORMATS, order):
            with suppress(ValueError):
                moment = datetime.strptime(dashed, form).date()  # noqa: DTZ007 - as written
                found |= {day_first: moment} if moment.year > 1900 else {}
    return found


def _day(text: str, how: Answers, *, begins: bool) -> int:
    """Return a lab's day; below 1 before its first. ``begins``: the first day of a period."""
    dates, (least, most) = dates_of(text), _SERIALS
    if not dates and NUMBER.fullmatch(text):
        number = _number(text) or 0
        if how.numbers == "days" and number < least and number % 1 == 0:
            return int(number)
        if how.numbers != "dates" or not least <= number < most:
            raise _wrong(text, *_WRONG_NUMBERS[how.numbers])
        dates = dict.fromkeys((True, False), _EXCEL_DAY_0 + timedelta(int(number)))
    moments = {*dates.values()} if how.day_first is None else {dates.get(how.day_first)}
    if not dates:
        raise _wrong(text, "is no day from 0 on and no date", "write 2026-05-31 or 12")
    if len(moments) > 1:
        ways = " or ".join(map(str, dates.values()))
        raise _wrong(text, "can be read in two ways", f"write {ways}")
    if not (moment := moments.pop()):
        order = "day before its month" if how.day_first else "month before its day"
        raise _wrong(text, f"has no {order}", "write 2026-05-31")
    if how.start_date is None:
        raise _wrong(text, "needs the date of the lab's day 1", "write a day such as 12")
    days = moment.toordinal() - how.start_date.toordinal() + (not begins)
    if how.weekends:
        return days + begins
    import numpy as np  # noqa: PLC0415 - slow to load

    start = np.datetime64(how.start_date)
    return int(np.busday_count(start, start + days)) + begins


def money_of(text: str) -> tuple[str, str]:
    """Return the currency and the number of a price, as written; each may be empty."""
    money = _MONEY.fullmatch(" ".join(text.split()))
    if not money or (money[1] and money[3]):
        return "", ""
    return money[1] or money[3] or "", money[2]


def _price(text: str, currency: str) -> float | None:
    """Return a price in a currency, or None if the text is none."""
    sign, number = money_of(text)
    is_same = _CODES.get(sign, sign) == _CODES.get(currency, currency)
    is_dollar = sign == "$" and currency.endswith("D")
    return _number(number) if is_same or is_dollar or not (sign and currency) else None


def _number(text: str) -> float | None:
    """Return a number from 0 on, or None if the text is none."""
    if two := TWO_WAYS.fullmatch(text):
        ways = f"{two[1]}{two[2]} or {number_text(float(f'{two[1]}.{two[2]}'))}"
        raise _wrong(text, "can be read in two ways", f"write {ways}")
    for mark, decimal in _THOUSANDS:
        if re.fullmatch(rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+(?:{decimal}[0-9]+)?", text):
            text = re.sub(mark, "", text)
    return float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None


def read_cell(column: str, text: str, how: Answers) -> Any:
    """Return the value of a cell; an unknown word stays as it is. Raises Problem."""
    text = unguarded(text)
    if places := hidden(text):
        character = described(text[places[0]])
        raise _wrong(text, f"holds {character}, which is invisible", "remove it")
    if not text:
        return EMPTY.get(column)
    if column == "price":
        return _price(text, how.currency)
    if column in ("from", "until", "expiry"):
        return _day(text, how, begins=column != "until")
    word = label_key(re.sub("[-_]", " ", text))
    if column != "quantity" or word in MEANINGS[column]:
        return MEANINGS.get(column, {}).get(word, text)
    if not (amount := _QUANTITY.fullmatch(text)):
        raise _wrong(text, "is no quantity", "write a number such as 0 or 2.5")
    is_left = re.search("[1-9]", amount[1])
    return ItemState.AVAILABLE if is_left else ItemState.OUT_OF_STOCK
