"""A lab's list of items from CSV or Excel: read, with faults by row and column, and written."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import defaultdict
from contextlib import suppress
from datetime import date, datetime, timedelta
from io import BytesIO, StringIO
from itertools import groupby, islice, repeat, zip_longest
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias
from zipfile import ZipFile

from pydantic import ValidationError

from replicalab import characters, limits, tables
from replicalab.errors import CellFault, TableError
from replicalab.lexicon import CREDITS, label_key, shortened
from replicalab.scenarios import ItemState, OwnItem, Pack, known_names
from replicalab.scenarios.reading import record_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

Table: TypeAlias = "pd.DataFrame"
COLUMNS: Final = ("name", "kind", "state", "until", "price")
"""The columns of the template."""
REQUIRED: Final = COLUMNS[:2]
DATED: Final = ("from", "until", "expiry")
_ROWS: Final = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
FIELDS: Final[Mapping[str, Mapping[str, str]]] = _ROWS["fields"]
WORDS: Final[Mapping[str, Mapping[str, str]]] = _ROWS["words"]
MEANINGS: Final = {
    column: {word: value for value, words in values.items() for word in words.split(", ")}
    for column, values in WORDS.items()
}
NO_DATE: Final[Sequence[str]] = _ROWS["no_date"].split(", ")
EMPTY: Final = {"name": "", "kind": "", "from": -inf, "until": inf, "expiry": inf}
NUMBER: Final = re.compile(r"[0-9]{1,20}(?:[.,][0-9]{1,400})?")  # 326 for the smallest price
_FIELD_OF: Final = {
    word: field for field, row in FIELDS.items() for word in row["headings"].split(", ")
}
_PARTS: Final = {"label": "name", "category": "kind", "state": "state", "price": "price"}
_ID: Final = re.compile(r"#?[A-Za-z]{0,4}[-_ ./]?[0-9][0-9._-]*|[0-9a-fA-F-]{32,}")
_NO_VALUE: Final = re.compile(  # a formula that no spreadsheet program has calculated
    rb'<c r="[A-Z]+([0-9]+)"(?![^<>]* t="str")[^<>]*>'
    rb"<f(?:[^<>]*/>|[^<>]*>[^<]*</f>)(?:<v ?/>|<v></v>)?</c>"
)
_ABOVE: Final = 20  # rows that may be above the headings
_THOUSANDS: Final = (("[ '’\u00a0\u202f]", "[.,]"), (",", "[.]"), ("[.]", ","))  # and decimals
_SIGN: Final = "(?:US|A|C)?[$]|[€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY|SEK|NOK|DKK|CAD|AUD|NZD|INR"
_MONEY: Final = re.compile(rf"(?i)({_SIGN})?\s*([^a-z$€£¥₹]+?)(?:[.,][-–—])?\s*({_SIGN})?")
_CURRENCY: Final = re.compile(rf"(?<![^\W_])k?(?:{_SIGN})(?![^\W_])", re.IGNORECASE)
_CODES: Final = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
_QUANTITY: Final = re.compile(  # about or more than a number, a unit or a pack, a remark
    r"(?:(?:[~≈>≥]|ca\.?|about|approx\.?)\s*(?=[0.,]*[1-9]))?"
    r"([0-9]+(?:[ .,'][0-9]{3})*(?:[.,][0-9]+)?)(?:[eE][+-]?[0-9]{1,3})?\+?"
    r"(?:\s*(?![^(]*(?:order|expire|empty|missing|broken|needed|reserved|\bused))[^\W\d_][^\d(]*+"
    r"(?:[23]|(?:(?<=[x×])|(?<=[x×] )|(?<= of ))[1-9].*+)?|\s*%|\s*[x×].*+)?(?:\s*\(.*\))?"
)
_BESIDE_DATE: Final = re.compile(  # a weekday in front, the letters of 31st, a time behind
    r"^(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|mo|di|mi|do|fr|sa|so"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|lun|mer|jeu|ven|sam|dim)[.,]*\s+"
    r"|(?<=[0-9])(?:st|nd|rd|th|er)\b|\b(?:de|of)\b"
    r"|(?:T|,?\s+)[0-9]{1,2}(?:[:h][0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?|(?=\s*[ap]))"
    r"\s*(?:[ap]\.?m\.?)?\s*(?:[A-Z]{1,4}|[+-][0-9]{2}:?[0-9]{2})?$",
    re.IGNORECASE,
)
_FORMATS: Final = ("%Y-%m-%d", "%d-%b-%Y", "%d-%b-%y", "%b-%d-%Y", "%Y-%b-%d")
_MONTHS: Final = ("%m-%Y", "%Y-%m", "%b-%Y", "%Y-%b")  # of an expiry; their last day is meant
_EXCEL_DAY_0: Final = date(1899, 12, 30)
_SERIALS: Final = 20_000, 75_000  # of Excel, the years 1954 to 2105; too many for days of a lab
_WRONG_NUMBERS: Final = {
    "": ("may be a day or a date of Excel", "choose one, or write a date such as 2026-05-31"),
    "days": (f"is no whole day below {_SERIALS[0]:,}", "write 12 or 2026-05-31"),
    "dates": ("is no date of Excel", "write 2026-05-31"),
}


class Answers(NamedTuple):
    """A lab's calendar and currency, and the meaning of dates and numbers of its sheet."""

    start_date: date | None = None
    weekends: bool = True
    start_day: int = 1
    last_day: int = limits.LARGEST_COUNT
    currency: str = ""
    day_first: bool | None = None  # whether 3/4/2026 is 3 April; None asks
    numbers: str = ""  # among dates: ``days`` of the lab, ``dates`` of Excel, or empty to ask


class Problem(Exception):  # noqa: N818 - its text is the problem
    """The problem of a file or a cell and its remedy; of a file also the row, if known."""


def quoted(text: str) -> str:
    """Return a cell's text for a message."""
    return f"'{characters.on_one_line(shortened(text))}'"


def _wrong(text: str, problem: str, remedy: str) -> Problem:
    return Problem(f"{quoted(text)} {problem}", remedy)


def _heading_key(heading: str) -> str:
    """Return a heading in the form in which headings are compared: ``Price (EUR)`` is ``price``."""
    # "# in stock" is an amount, "Stock #" a code; a price per gram is no price of an item.
    remark = rf"[(\[](?!.*(?:\bper\b|(?:{_SIGN})/)).*?[)\]]"
    text = re.sub(rf"{remark}|[_\-./:*?]|^ *#", " ", heading[:200])
    return label_key(_CURRENCY.sub(" ", text))


def _matches(row: Iterable[str]) -> int:
    values = MEANINGS["state"].keys() | MEANINGS["quantity"].keys()  # of a row of data
    return len({*map(_FIELD_OF.get, {*map(_heading_key, row)} - values)} - {None})


def _refuse(name: str, faults: list[CellFault]) -> None:
    if faults:
        source = characters.on_one_line(shortened(name)).strip() or "the file"
        faults.sort(key=lambda fault: (fault.row or 0, fault.column))
        most = limits.MOST_FAULTS
        raise TableError(source, faults[:most], len(faults[most:])) from None


def read_table(data: bytes, name: str, heading: int | None = None) -> Table:
    """Return a file's cells as texts, without its empty rows and columns, or raise TableError.

    The index has the row numbers of the spreadsheet, and ``attrs["heading"]`` the row of the
    headings: ``heading``, by default the row with the most names of fields. A column without a
    heading is called by its letter (``column F``).
    """
    try:
        if len(data) > limits.MOST_SHEET_BYTES:
            problem = f"the file has more than {limits.MOST_SHEET_BYTES:,} bytes: {len(data):,}"
            raise Problem(problem, "keep the table alone, without pictures and other sheets")
        is_workbook = data.startswith(b"PK\x03\x04") or name.casefold().endswith(".xlsx")
        return _frame(_workbook_rows(data) if is_workbook else _text_rows(data), heading)
    except Problem as refused:
        problem, remedy, *row = refused.args
        _refuse(name, [CellFault(row[0] if row else None, "", problem, remedy)])
        raise


def _text_rows(data: bytes) -> Iterator[list[str]]:
    try:
        is_wide = data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[1:2] == b"\0"
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise Problem("the text is not UTF-8", "save it as CSV UTF-8 or .xlsx", row) from None
    lines = [line for line in text[:20_000].splitlines() if line.strip()][:10] or [""]

    def headings(mark: str) -> tuple[int, int]:
        fields = max(_matches(line.replace('"', "").split(mark)) for line in lines)
        return fields, lines[0].count(mark)

    mark, row, width = max(",;\t|", key=headings), 1, 2
    try:
        for texts in csv.reader(StringIO(text, newline=""), delimiter=mark, strict=True):
            # A cell of several lines with the separators of a whole row has swallowed a row.
            if any("\n" in cell and cell.count(mark) >= width for cell in texts):
                raise csv.Error
            yield texts
            row, width = row + 1, max(width, len(texts) - 1)
    except csv.Error:
        remedy = "close or delete it, or save the table as .xlsx"
        raise Problem("a quotation mark is not closed", remedy, row) from None


def _workbook_rows(data: bytes) -> Iterator[tuple[object, ...]]:
    from openpyxl import load_workbook  # noqa: PLC0415 - slow to load

    try:
        with ZipFile(BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
            if unpacked > (most := limits.MOST_UNPACKED):
                problem = f"the workbook unpacks to {unpacked:,} bytes, more than {most:,}"
                raise Problem(problem, "keep the table alone in a new workbook")
            for part in filter(re.compile("xl/worksheets/[^/]+xml").fullmatch, archive.namelist()):
                if cell := _NO_VALUE.search(archive.read(part)):
                    remedy = "save the workbook in a spreadsheet program"
                    raise Problem("a formula has no value", remedy, int(cell[1]))
        book = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
        first = book.worksheets[0]
        first.reset_dimensions()  # a file may state fewer rows than it has
        yield from first.iter_rows(max_col=limits.MOST_SHEET_COLUMNS + 1)
    except Problem:
        raise
    except Exception:  # noqa: BLE001 - openpyxl raises any error for a damaged part
        remedy = "open it in a spreadsheet program and save it as .xlsx without one"
        raise Problem("the workbook is damaged or has a password", remedy) from None


def _cell_text(cell: object) -> str:
    value = getattr(cell, "value", cell)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:
        form = re.sub(r"\[[$](.*?)(?:-[^]]*)?]", r"\1", getattr(cell, "number_format", ""))
        code = f"{named[0]} " if (named := _CURRENCY.search(form)) else ""
        return f"{code}{'-' if value < 0 else ''}{tables.number_text(value)}"
    return "" if value is None else str(value).strip()


def _heading_row(rows: Mapping[int, Sequence[str]]) -> int:
    """Return the row with the most names of fields: at least two, else the first of two cells."""

    def fit(number: int) -> tuple[int, bool]:
        fields = _matches(rows[number])
        return fields if fields > 1 else 0, sum(map(bool, rows[number])) > 1

    return max([*rows][:_ABOVE], key=fit, default=0)


def _frame(lines: Iterable[Sequence[object]], heading: int | None) -> Table:
    import pandas as pd  # noqa: PLC0415 - slow to load
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - slow to load

    most, counted = limits.MOST_SHEET_ROWS, limits.MOST_COUNTED_ROWS
    wide = limits.MOST_SHEET_COLUMNS
    rows: dict[int, list[str]] = {}  # filled rows by number; beyond the limit without their cells
    for number, line in enumerate(islice(lines, counted + 2), start=1):
        if any(texts := [*map(_cell_text, line[: wide + 1])]):
            rows[number] = texts if len(rows) <= most + _ABOVE else []
    top = heading if heading in rows else _heading_row(rows)
    below = sum(number > top for number in rows)
    if not below:
        raise Problem("the file holds no items", "write one item per row below the headings")
    if below > most or not all(rows.values()):
        has = f"more than {counted:,}" if below > counted else f"{below:,}"
        problem = f"{most:,} rows at most below the headings; this sheet has {has}"
        raise Problem(problem, "keep the rows that your studies may need")
    columns = dict(enumerate(zip_longest(*rows.values(), fillvalue="")))
    frame = pd.DataFrame(columns, [*rows], dtype=object).loc[top:]
    filled = (frame != "").any()
    if filled[wide:].any():
        problem = f"the table has more than {wide} columns"
        raise Problem(problem, "delete the columns that are not needed")
    keys = frame.loc[top].map(_heading_key)
    # Two tables side by side both name items, are lists of two kinds, or repeat all headings.
    parts = [[*group] for is_filled, group in groupby(keys.index, filled.get) if is_filled]
    named = [part for part in parts if "name" in keys[part].map(_FIELD_OF.get).array]
    every = [*filter(None, keys)]
    half = len(every) // 2
    kinds = {kind: at for at, key in enumerate(every) if (kind := MEANINGS["kind"].get(key))}
    cut = max(kinds.values()) if len(kinds) > 1 else 0
    lists = cut and min(_matches(every[:cut]), _matches(every[cut:])) > 1
    if len(named) > 1 or lists or (half > 1 and every[:half] == every[half:]):
        problem = "two tables are side by side"
        raise Problem(problem, "keep one of them, or write one below the other", top)
    places = [place for place, is_filled in enumerate(filled) if is_filled]
    titles = [
        " ".join(text.split()) or f"column {get_column_letter(place + 1)}"
        for place, text in zip(places, frame.loc[top, places], strict=True)
    ]
    same = [*map(label_key, titles)]
    if repeated := [title for title in titles if same.count(label_key(title)) > 1]:
        problem = f"two columns are called '{shortened(repeated[0])}'"
        raise Problem(problem, "rename one of them", top)
    frame = _with_currencies(frame.iloc[1:, places].set_axis(titles, axis=1))
    frame.attrs["heading"] = top
    return frame


def _with_currencies(frame: Table) -> Table:
    """Write the currency of a heading, or of a column of its own, into the prices."""
    keys = {str(title): _heading_key(str(title)) for title in frame}
    codes = next((frame[title] for title, key in keys.items() if "currency" in key), repeat(""))
    for title, key in keys.items():
        if (named := _CURRENCY.search(title)) or _FIELD_OF.get(key) == "price":
            own = repeat(named[0].upper()) if named else codes
            frame[title] = [
                f"{code} {text}".strip() if re.fullmatch("[0-9][0-9.,'’ –-]*", text) else text
                for code, text in zip(own, frame[title], strict=False)
            ]
    return frame


def proposed_columns(frame: Table) -> dict[str, str]:
    """Return a heading for each field, as far as one fits; ids are no names, kinds or states."""
    headings: dict[str, str] = {_heading_key(text): text for text in reversed(frame.columns)}
    proposed: dict[str, str] = {}
    for field, row in FIELDS.items():
        fitting = [headings[word] for word in row["headings"].split(", ") if word in headings]
        if field in ("name", "kind", "state"):
            ids = {h: _are_all(frame[h], _ID) for h in fitting if not _are_all(frame[h], NUMBER)}
            fitting = sorted(ids, key=ids.__getitem__)
        if field == "name":  # below a first row of data, not of headings
            kinds = MEANINGS["kind"].keys()
            fitting = [h for h in fitting if not kinds >= {*map(label_key, frame[h])}]
        if fitting:
            proposed[field] = fitting[0]
    return proposed


def _are_all(column: Iterable[str], pattern: re.Pattern[str]) -> bool:
    return all(pattern.fullmatch(text) for text in column if text)


def dates_of(text: str, field: str = "") -> dict[bool, date]:
    """Return the dates that a text may mean, by whether the day comes before the month."""
    text = _BESIDE_DATE.sub("", " ".join(text.split()))
    text = re.sub(r"^([0-9]{4})([0-9]{2})([0-9]{2})(?:\.0|T[0-9]{4,6}Z?)?$", r"\1-\2-\3", text)
    text = re.sub(r"[^\W\d_]+", lambda word: MEANINGS["month"].get(word[0].lower(), word[0]), text)
    dashed = re.sub(r"\.?[\s./,–-]\s*", "-", text)
    # With dots, no country writes the month first.
    orders = {True: "%d-%m-%Y", False: "%d-%m-%Y" if "." in text else "%m-%d-%Y"}
    dates: dict[bool, date] = {}
    for day_first, order in orders.items():
        for form in (*_FORMATS, order, *(_MONTHS if field == "expiry" else ())):
            with suppress(ValueError):
                moment = datetime.strptime(dashed, form).date()  # noqa: DTZ007 - as written
                if form in _MONTHS:
                    moment = (moment + timedelta(31)).replace(day=1) - timedelta(1)
                dates |= {day_first: moment} if moment.year > 1900 else {}
    return dates


def _day(column: str, text: str, how: Answers) -> int:
    """Return a lab's day; below 1 before its first. ``until`` is the last day of a period."""
    begins, (least, most) = column != "until", _SERIALS
    dates = dates_of(text, column)
    if not dates and NUMBER.fullmatch(text):
        number = _number(text) or 0
        if how.numbers == "days" and number < least and number % 1 == 0:
            return int(number)
        if how.numbers != "dates" or not least <= number < most:
            raise _wrong(text, *_WRONG_NUMBERS[how.numbers])
        dates = dict.fromkeys((True, False), _EXCEL_DAY_0 + timedelta(int(number)))
    moments = {*dates.values()} if how.day_first is None else {dates.get(how.day_first)}
    if not dates:
        raise _wrong(text, "is no day from 0 on and no full date", "write 2026-05-31 or 12")
    if len(moments) > 1:
        ways = " or ".join(map(str, dates.values()))
        raise _wrong(text, "can be read in two ways", f"write {ways}")
    if not (moment := moments.pop()):
        order = "day before its month" if how.day_first else "month before its day"
        raise _wrong(text, f"has no {order}", "write 2026-05-31")
    if how.start_date is None:
        raise _wrong(text, "needs the date of the lab's day 1", "give it, or type a day: 12")
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
    return (money[1] or money[3] or "").upper(), money[2]


def _number(text: str) -> float | None:
    """Return a number from 0 on, or None if the text is none."""
    if two := tables.TWO_WAYS.fullmatch(text):
        ways = f"{two[1]}{two[2]} or {tables.number_text(float(f'{two[1]}.{two[2]}'))}"
        raise _wrong(text, "can be read in two ways", f"write {ways}")
    for mark, decimal in _THOUSANDS:
        if re.fullmatch(rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+(?:{decimal}[0-9]+)?", text):
            text = re.sub(mark, "", text)
    return float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None


def read_cell(column: str, text: str, how: Answers) -> Any:
    """Return the value of a cell; an unknown word stays as it is. Raises Problem."""
    text = tables.unguarded(text)
    if places := characters.hidden(text):
        character = characters.described(text[places[0]])
        raise _wrong(text, f"holds {character}, which is invisible", "remove it")
    if not text or (column in DATED and text.casefold() in NO_DATE):
        return EMPTY.get(column)
    if column == "price":
        (sign, number), own = money_of(text), how.currency
        is_own = _CODES.get(sign, sign) == _CODES.get(own, own) or (sign == "$" and own[-1:] == "D")
        return _number(number) if is_own or not (sign and own) else None
    if column in DATED:
        return _day(column, text, how)
    word = label_key(re.sub("[-_]", " ", text))
    if value := MEANINGS.get(column, {}).get(word):
        return value if column == "kind" else ItemState(value)
    if column != "quantity":
        return text
    if not (amount := _QUANTITY.fullmatch(text)):
        raise _wrong(text, "is no quantity", "write a number such as 0 or 2.5")
    is_left = re.search("[1-9]", amount[1])
    return ItemState.AVAILABLE if is_left else ItemState.OUT_OF_STOCK


def questions(frame: Table) -> dict[str, bool | None]:
    """Return whether a sheet has dates, dates of either order, and numbers among them.

    ``day_first`` is the only order that its dates allow, or None.
    """
    texts = [(text, field) for field in DATED if field in frame for text in frame[field] if text]
    dates = {text: dates_of(tables.unguarded(text), field) for text, field in texts}
    orders = {True, False}.intersection(*filter(None, dates.values()))
    return {
        "dates": any(dates.values()),
        "order": len(orders) != 1 and any(len({*days.values()}) > 1 for days in dates.values()),
        "numbers": any(NUMBER.fullmatch(text) and not dates[text] for text in dates),
        "day_first": orders.pop() if len(orders) == 1 else None,
    }


class Reading(NamedTuple):
    """The items of a sheet, and notes on cells that were not taken as they are."""

    items: tuple[OwnItem, ...]
    notes: list[CellFault]


class _ItemRow(NamedTuple):
    number: int
    item: OwnItem
    first: float
    last: float
    expiry: float


def read_inventory(data: bytes, name: str) -> Reading:
    """Read a file whose columns are fields; a TableError has every fault by row and column."""
    frame = read_table(data, name)
    fields = {heading: label_key(heading) for heading in frame.columns}
    missing = {*REQUIRED}.difference(fields.values())
    faults = [CellFault(None, field, "this column is missing", "add it") for field in missing]
    for heading, field in fields.items():
        filled = frame[heading][frame[heading] != ""]
        if len(filled) and field not in FIELDS:
            problem = f"{quoted(filled.iloc[0])} is in no column of an inventory"
            remedy = known_names(shortened(field), [*FIELDS])
            place = characters.on_one_line(shortened(heading))
            faults.append(CellFault(int(filled.index[0]), place, problem, remedy))
    _refuse(name, faults)
    return read_items(frame.set_axis([*fields.values()], axis=1), name, Answers(numbers="days"))


def read_items(frame: Table, name: str, how: Answers = Answers()) -> Reading:  # noqa: B008
    """Read a table whose columns are fields; rows of one item are its periods or its lots.

    A TableError has every fault by row and column.
    """
    if how.day_first is None:
        how = how._replace(day_first=questions(frame)["day_first"])
    if how.currency in ("", CREDITS):
        signs = (money_of(text)[0] for text in frame.get("price", ()))
        how = how._replace(currency=next(filter(None, signs), ""))
    faults, notes = list[CellFault](), list[CellFault]()
    by_label: dict[str, list[_ItemRow]] = defaultdict(list)
    for number, texts in zip(map(int, frame.index), frame.to_dict("records"), strict=True):
        if not (row := _row(number, texts, how, faults)):
            continue
        by_label[label_key(row.item.label)].append(row)
        if row.item.price is None and (price := texts.get("price", "").strip()):
            unit = f" in {how.currency}" if how.currency else ""
            problem = f"{quoted(price)} is no price of one item{unit}"
            notes.append(CellFault(number, "price", problem, "its price is missing"))
    for first, *others in by_label.values():
        for number, item, *_ in others:
            same = first.item.model_copy(update={"label": item.label, "state": item.state})
            states = [row.state == ItemState.BOOKED for row in (first.item, item)]
            if item != same or len({*states}) > 1:
                problem = f"{quoted(item.label)} is in row {first.number} already"
                faults.append(CellFault(number, "name", problem, "list it once"))
    if len(by_label) > limits.MOST_OWN_ITEMS:
        problem = f"{limits.MOST_OWN_ITEMS} items at most; this sheet has {len(by_label)}"
        faults.append(CellFault(None, "", problem, "keep those that your studies name"))
    _refuse(name, faults)
    return Reading(tuple(_in_periods(rows, how, notes) for rows in by_label.values()), notes)


def _row(
    number: int, texts: Mapping[Any, str], how: Answers, faults: list[CellFault]
) -> _ItemRow | None:
    values: dict[str, Any] = dict.fromkeys(FIELDS) | EMPTY
    wrong: dict[str, Sequence[str]] = {}
    for field, text in texts.items():
        try:
            values[field] = read_cell(field, text.strip(), how)
        except Problem as refused:
            wrong[field] = refused.args
    first, last, expiry = (values[field] for field in DATED)
    field, day = ("until", last) if isfinite(last) else ("from", first)
    if last < first:
        wrong["until"] = f"day {last} is before the first day {first}", "correct one of the two"
    try:
        item = OwnItem.model_validate({part: values[field] for part, field in _PARTS.items()})
    except ValidationError as error:
        for fault in record_error(error, OwnItem, "").faults:
            wrong.setdefault(_PARTS[fault.path], (fault.problem, fault.remedy))
    if not wrong and isfinite(day) and item.state != ItemState.BOOKED:
        if "state" in texts:
            problem = f"day {day} is given, but the item is not booked"
            wrong[field] = problem, "write booked as its state, or leave the day empty"
        item = item.model_copy(update={"state": ItemState.BOOKED})
    if wrong:
        faults.extend(CellFault(number, field, *args) for field, args in wrong.items())
        return None
    if values["quantity"] == ItemState.OUT_OF_STOCK or item.state is None:
        item = item.model_copy(update={"state": values["quantity"] or item.state})
    return _ItemRow(number, item, first, last, expiry)


def _in_periods(rows: Sequence[_ItemRow], how: Answers, notes: list[CellFault]) -> OwnItem:
    """Return an item, of several lots the best, on the start day; later days become notes."""
    number, item, _, _, expiry = max(
        rows, key=lambda row: (row.item.state is not ItemState.OUT_OF_STOCK, row.expiry)
    )
    label, until = quoted(item.label), 0.0

    def note(problem: str, effect: str = "a plan that begins or ends then cannot use it") -> None:
        notes.append(CellFault(number, "", f"{label} {problem}", effect))

    if expiry <= how.start_day:
        note("has expired", "out of stock")
        return item.model_copy(update={"state": ItemState.OUT_OF_STOCK})
    if expiry <= how.last_day:
        note(f"expires on day {expiry}")
    if item.state is not ItemState.BOOKED:
        return item
    for row in sorted(rows, key=lambda row: row.first):
        if row.first <= max(how.start_day, until + 1):
            until = max(until, row.last)
        elif row.first <= how.last_day:
            end = f" to {row.last}" if row.last < inf else ""
            note(f"is booked from day {row.first}{end}")
    state = ItemState.BOOKED if until >= 1 else ItemState.AVAILABLE
    day = int(until) if 1 <= until < inf else None
    return item.model_copy(update={"state": state, "until": day})


def rows_named(frame: Table, pack: Pack) -> Table:
    """Return the rows of the items that a study or its lab knows."""
    names = {*map(label_key, pack.known_items)}
    return frame[[label_key(str(label)) in names for label in frame["name"]]]


def inventory_template(pack: Pack) -> str:
    """Return a lab's stock of its study's items as CSV, to be changed and read back."""
    booked = {label_key(item): day for item, day in pack.lab.booked.items()}
    states = dict.fromkeys(booked, ItemState.BOOKED)
    states |= dict.fromkeys(map(label_key, pack.lab.out_of_stock), ItemState.OUT_OF_STOCK)
    rows: list[list[tables.Value]] = []
    for label, kind in sorted(pack.known_items.items(), key=lambda item: item[1]):
        price = pack.inventory.price(label)
        state = states.get(label_key(label), ItemState.AVAILABLE)
        until = booked[label_key(label)] if state is ItemState.BOOKED else ""
        rows.append([label, kind, state, until, "" if price is None else price])
    return tables.sheet(COLUMNS, rows)
