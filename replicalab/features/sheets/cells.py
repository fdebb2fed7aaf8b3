"""Cells of a list of items: dates, days, quantities, prices and words."""

import re
from datetime import date, datetime
from typing import Final, NamedTuple

from replicalab import limits
from replicalab.characters import described, hidden, on_one_line
from replicalab.lexicon import label_key, shortened
from replicalab.scenarios import MOST, ItemState, known_names
from replicalab.tables import TWO_WAYS, number_text, unguarded

KINDS: Final = ("equipment", "reagent")
STATES: Final = tuple(state.value for state in ItemState)
_WORDS: Final = {"kind": KINDS, "state": STATES}
_SYNONYMS: Final = {
    "kind": {
        "equipment": "equipment, instrument, instruments, device, devices, machine, machines",
        "reagent": "reagent, reagents, chemical, chemicals, solvent, solvents, antibody, "
        "antibodies, consumable, consumables, buffer, kit, enzyme, compound",
    },
    "state": {
        "available": "available, free",
        "booked": "booked, reserved, in use",
        "out of stock": "out of stock, empty, used up",
    },
}
MEANINGS: Final = {
    column: {word: meaning for meaning, words in row.items() for word in words.split(", ")}
    for column, row in _SYNONYMS.items()
}
NUMBER: Final = re.compile(r"[0-9]{1,20}(?:[.,][0-9]{1,400})?")  # 326 for the smallest price
_GROUPED: Final = re.compile(
    r"[0-9]{1,3}([ ,.'’\u00a0\u202f])[0-9]{3}((?:\1[0-9]{3})*)([.,][0-9]{1,9})?"
)
_SIGN: Final = "[$€£¥]|USD|EUR|GBP|CHF|JPY|CNY|SEK|NOK|DKK|CAD|AUD|NZD|INR"
_MONEY: Final = re.compile(rf"({_SIGN})?\s*([^A-Za-z$€£¥]+?)\s*({_SIGN})?")
_CODES: Final = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_QUANTITY: Final = re.compile(r"([0-9]+(?:[ .,'][0-9]+)*)(?:\s*[^\W\d_][^\d]*[23]?|\s*%|\s*x\s.*)?")
_NONE_LEFT: Final = {"no", "none", "empty", "out of stock", "out"}
_SOME_LEFT: Final = {"yes", "available", "in stock"}

_TIME: Final = re.compile(
    r"(?:T|,?\s+)[0-9]{1,2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?\s*(?:[ap]\.?m\.?)?"
    r"|\s*[ap]\.?m\.?)\s*(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?$",
    re.IGNORECASE,
)
_DECORATION: Final = re.compile(  # a weekday in front, and the letters of 31st
    r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?[.,]?\s+"
    r"|(?<=[0-9])(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_FORMATS: Final = ("%Y-%m-%d", *(f"{day}-%Y" for day in ("%d-%b", "%d-%B", "%b-%d", "%B-%d")))
_EXCEL_DAY_0: Final = date(1899, 12, 30)
_SERIALS: Final = range(20_000, 100_000_000)  # too many for days of a lab: a date as a number


class Answers(NamedTuple):
    """A lab's calendar and currency, and what numbers and dates of its sheet mean.

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


def quoted(text: str) -> str:
    """Return a cell's text for a message."""
    return f"'{on_one_line(shortened(text))}'"


def dates_of(text: str) -> dict[bool, date]:
    """Return the dates that a text may mean, by whether the day comes before the month."""
    text = _DECORATION.sub("", _TIME.sub("", text.strip()))
    if re.fullmatch(r"[0-9]{8}(?:\.0)?", text):
        moment = _moment(text[:8], "%Y%m%d")
        return dict.fromkeys((True, False), moment) if moment else {}
    dashed = re.sub(r"\.?[\s./,-]\s*", "-", text)
    for form in _FORMATS:
        if moment := _moment(dashed, form):
            return dict.fromkeys((True, False), moment)
    # With dots, no country writes the month first.
    orders = {True: "%d-%m-%Y", False: "%d-%m-%Y" if "." in text else "%m-%d-%Y"}
    moments = {first: _moment(dashed, form) for first, form in orders.items()}
    return {first: moment for first, moment in moments.items() if moment}


def _moment(text: str, form: str) -> date | None:
    try:
        moment = datetime.strptime(text, form).date()  # noqa: DTZ007 - the date as written
    except ValueError:
        return None
    return moment if moment.year > 1900 else None


def read_day(text: str, how: Answers, *, begins: bool) -> int:
    """Return a lab's day; below 1 before its first. ``begins``: the first day of a period.

    Raises:
        ValueError: with the problem and the remedy.
    """
    dates = dates_of(text)
    if not dates and NUMBER.fullmatch(text):
        if how.numbers != "dates":
            return _day_number(text, how)
        if not 20_000 <= (serial := float(text.replace(",", "."))) < 75_000:
            raise ValueError(f"{quoted(text)} is no date of Excel", "write 2026-05-31")
        moment = date.fromordinal(_EXCEL_DAY_0.toordinal() + int(serial))
        dates = dict.fromkeys((True, False), moment)
    if not dates:
        raise ValueError(
            f"{quoted(text)} is no day from 0 on and no date", "write 2026-05-31 or 12"
        )
    if how.day_first is not None and how.day_first not in dates:
        order = "day before its month" if how.day_first else "month before its day"
        raise ValueError(f"{quoted(text)} has no {order}", "write 2026-05-31")
    moments = {*dates.values()} if how.day_first is None else {dates[how.day_first]}
    if len(moments) > 1:
        ways = " or ".join(moment.isoformat() for moment in dates.values())
        raise ValueError(f"{quoted(text)} can be read in two ways", f"write {ways}")
    if how.start_date is None:
        raise ValueError(
            f"{quoted(text)} needs the date of the lab's day 1", "write a day such as 12"
        )
    [moment] = moments
    return _days_between(how.start_date, moment.toordinal() + (not begins), how) + begins


def _day_number(text: str, how: Answers) -> int:
    number = _number(text, example := "a day such as 12", limits.LARGEST_COUNT)
    if not how.numbers:
        problem = f"{quoted(text)} may be a day or a date of Excel"
        raise ValueError(problem, "choose one, or write a date such as 2026-05-31")
    if number % 1:
        raise ValueError(f"{quoted(text)} is no whole day", f"write {example}")
    if int(number) in _SERIALS:
        problem = f"{quoted(text)} is too large for a day of a lab"
        raise ValueError(problem, "write a date such as 2026-05-31")
    return int(number)


def _days_between(start: date, end: int, how: Answers) -> int:
    """Return the lab's days from a date to the day before ``end``, an ordinal."""
    if how.weekends:
        return end - start.toordinal()
    import numpy as np  # noqa: PLC0415 - slow to load

    return int(np.busday_count(start, np.datetime64(start) + (end - start.toordinal())))


def price_of(text: str, currency: str) -> float | None:
    """Return a price in a currency, or None if the text is none; ValueError if ambiguous."""
    if not (money := _MONEY.fullmatch(text)) or (money[1] and money[3]):
        return None
    sign = money[1] or money[3] or ""
    is_other = sign and currency and _CODES.get(sign, sign) != _CODES.get(currency, currency)
    if is_other and not (sign == "$" and currency.endswith("D")):
        return None
    number = money[2]
    if grouped := _GROUPED.fullmatch(number):
        group, more, rest = grouped.groups()
        if (rest and rest[0] != group) or (not rest and (more or group not in ".,")):
            whole = number.removesuffix(rest or "").replace(group, "")
            number = whole + (rest or "")
    if not NUMBER.fullmatch(number):
        return None
    return _number(number, "a number such as 12.5", MOST)


def sign_of(text: str) -> str:
    """Return the currency that a price states, or an empty text."""
    money = _MONEY.fullmatch(text)
    return (money[1] or money[3] or "") if money else ""


def _number(text: str, example: str, most: float) -> float:
    if two := TWO_WAYS.fullmatch(text):
        whole, rest = two.groups()
        decimal = number_text(float(f"{whole}.{rest}"))
        problem = f"{quoted(text)} can be read in two ways"
        raise ValueError(problem, f"write {whole}{rest} or {decimal}")
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{quoted(text)} is no number from 0 on", f"write {example}")
    number = float(text.replace(",", "."))
    if number > most:
        raise ValueError(f"{quoted(text)} is too large", f"write at most {most:,}")
    return number


def read_cell(column: str, text: str, how: Answers) -> object:
    """Return the value of a cell, None if empty; a ValueError has the problem and the remedy."""
    text = unguarded(text)
    if not text and column in ("name", "kind"):
        raise ValueError("the cell is empty", "write a value, or delete the row")
    if not text:
        return None
    if places := hidden(text):
        problem = f"{quoted(text)} holds {described(text[places[0]])}, which is invisible"
        raise ValueError(problem, "remove it")
    if column == "name":
        if len(text) > limits.LONGEST_LABEL:
            problem = f"{quoted(text)} has {len(text):,} characters"
            raise ValueError(problem, f"write at most {limits.LONGEST_LABEL}")
        return text
    word = label_key(text.replace("_", " ").replace("-", " "))
    if column in _WORDS:
        if word not in MEANINGS[column]:
            remedy = known_names(shortened(word), _WORDS[column])
            raise ValueError(f"{quoted(text)} is no {column} of an item", remedy)
        return MEANINGS[column][word]
    if column == "quantity":
        return _stock(text, word)
    if column == "price":
        return price_of(text, how.currency)
    return read_day(text, how, begins=column != "until")


def _stock(text: str, word: str) -> ItemState:
    if word in _SOME_LEFT | _NONE_LEFT:
        return ItemState.AVAILABLE if word in _SOME_LEFT else ItemState.OUT_OF_STOCK
    if not (amount := _QUANTITY.fullmatch(text)):
        raise ValueError(f"{quoted(text)} is no quantity", "write a number such as 0 or 2.5")
    return ItemState.AVAILABLE if re.search("[1-9]", amount[1]) else ItemState.OUT_OF_STOCK
