"""Workbooks made to harm: refused before they grow, and never with another error."""

from __future__ import annotations

import random
import re
import time
import zipfile
import zlib
from io import BytesIO
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import TableError
from replicalab.scenarios import OwnItem, SheetMapping
from replicalab.tables import inventory_template, read_inventory
from replicalab.tables.opening import MOST_BYTES
from replicalab.tables.reading import MOST_PARTS, MOST_UNPACKED
from tests.factories import make_pack
from tests.tables.workbooks import SHEET, bounded_memory, sheet, with_parts, workbook

GOOD: Final = workbook(("flume", "equipment", "booked", 12, 12.5), ("agar", "reagent"))
# Every file is tried in the form of the template, and then through this.
MAPPING: Final = SheetMapping.model_validate(
    {
        "columns": {"name": "name", "kind": "kind", "until": "until", "price": "price"},
        "kinds": {"equipment": ("equipment",), "reagent": ("reagent",)},
    }
)
CSV: Final = inventory_template(make_pack()).encode()
DOCTYPE: Final = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
STYLES: Final = "xl/styles.xml"
TEXTS: Final = "xl/sharedStrings.xml"
TEXTS_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
TYPES: Final = "[Content_Types].xml"


def refused(data: bytes) -> str:
    with pytest.raises(TableError) as caught:
        read_inventory(data, "ours.xlsx", MAPPING)
    return str(caught.value)


def packed(compression: int) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(BytesIO(GOOD)) as old, zipfile.ZipFile(file, "w", compression) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return file.getvalue()


def with_password() -> bytes:
    """Return a workbook whose entries say that they are encrypted."""
    data = bytearray(GOOD)
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while (place := data.find(mark, place + 1)) >= 0:
            data[place + flags] |= 1
    return bytes(data)


def lying() -> bytes:
    """Return a workbook whose directory says that its largest part has a byte."""
    data = with_parts(GOOD, **{"xl/media/x.png": b"\0" * 10**6})
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.rfind(mark)
        data = data[: place + at] + (1).to_bytes(4, "little") + data[place + at + 4 :]
    return data


def hiding(data: bytes, more: int, checksum: bool = True) -> bytes:
    """Return a workbook whose last part goes on for so many bytes after those that it tells of.

    With a checksum nothing of what is told is wrong.
    """
    with zipfile.ZipFile(BytesIO(data)) as archive:
        name = archive.namelist()[-1]
        part = archive.read(name)
    data = with_parts(data, **{name: part + b" " * more})
    told = zlib.crc32(part if checksum else part[1:]).to_bytes(4, "little")
    told_size = len(part).to_bytes(4, "little")
    for mark, crc, size in ((b"PK\x03\x04", 14, 22), (b"PK\x01\x02", 16, 24)):
        at = data.rfind(mark)
        data = data[: at + crc] + told + data[at + crc + 4 :]
        data = data[: at + size] + told_size + data[at + size + 4 :]
    return data


def sheet_of(rows: str, after: str = "") -> bytes:
    """Return the good workbook with another sheet."""
    return with_parts(GOOD, **{SHEET: sheet(rows, after)})


def many(part: str, times: int, around: str = "{}") -> str:
    return around.format(part * times)


def part_of(data: bytes, name: str) -> str:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return archive.read(name).decode()


def with_sheets(number: int) -> bytes:
    """Return a workbook so many of whose sheets are one part."""
    book = "xl/workbook.xml"
    before, sheet, after = re.split("(<sheet .*?/>)", part_of(GOOD, book))
    more = (sheet.replace('"Sheet"', f'"S{n}"') for n in range(number - 1))
    return with_parts(GOOD, **{book: "".join([before, sheet, *more, after])})


def in_old_coding(text: str) -> bytes:
    """Return a part in an encoding in which no byte is that of ASCII, as its declaration says."""
    return b'<?xml version="1.0" encoding="cp037"?>' + text.encode("cp037")


def with_texts(data: bytes, part: str) -> bytes:
    """Return a workbook with a part of shared texts, which its table of contents names."""
    told = f'<Override PartName="/{TEXTS}" ContentType="{TEXTS_TYPE}"/></Types>'
    types = part_of(data, TYPES).replace("</Types>", told)
    return with_parts(data, **{TYPES: types, TEXTS: part})


HARMFUL: Final = {
    "bomb behind a small part": hiding(GOOD, 200 * 2**20, checksum=False),
    "sheets": with_sheets(5_000),
    "zip bomb": with_parts(GOOD, x=b"\0" * (MOST_UNPACKED + 1)),
    "lying directory": lying(),
    "many parts": with_parts(GOOD, **{f"x{n}": b"" for n in range(MOST_PARTS)}),
    "bzip2": packed(zipfile.ZIP_BZIP2),
    "lzma": packed(zipfile.ZIP_LZMA),
    "password on its parts": with_password(),
    "no workbook inside": with_parts(b"PK\x05\x06" + b"\0" * 18, mimetype="text"),
    "entities": with_parts(GOOD, **{SHEET: DOCTYPE + sheet("&b;")}),
    "entities of texts": with_texts(GOOD, DOCTYPE + "<sst>&b;</sst>"),
    "entities of styles": with_parts(GOOD, **{STYLES: DOCTYPE + "<styleSheet>&b;</styleSheet>"}),
    "entities in an old encoding": with_parts(
        GOOD, **{SHEET: in_old_coding(DOCTYPE + sheet("&b;"))}
    ),
    "entities in UTF-16": with_parts(GOOD, **{SHEET: (DOCTYPE + sheet("&b;")).encode("utf-16")}),
    "deep": with_parts(GOOD, **{SHEET: many("<x>", 10**5)}),
    "deep styles": with_parts(GOOD, **{STYLES: many("<x>", 19_000)}),
    "styles": with_parts(GOOD, **{STYLES: many("<x/>", 10**6, "<styleSheet>{}</styleSheet>")}),
    "texts": with_texts(GOOD, many("<si/>", 10**6, "<sst>{}</sst>")),
    "runs": with_texts(GOOD, many("<r/>", 200_000, "<sst><si>{}</si></sst>")),
    "declarations": with_parts(GOOD, **{SHEET: "<?xml " * 10**6}),
    "cells": sheet_of(many('<row><c r="A1"/></row>', 250_000)),
    "cells of a row": sheet_of(many('<c r="A1"/>', 10**5, "<row>{}</row>")),
    "parts of a cell": sheet_of(many("<r/>", 10**5, "<row><c><is>{}</is></c></row>")),
    "parts after the rows": sheet_of("", many("<cfRule/>", 10**5)),
    "formulas": sheet_of(many("<row><c><f>1</f></c></row>", 19_999)),
    "merged over each other": sheet_of(
        many("<row><c><v>1</v></c></row>", 999),
        many('<mergeCell ref="A1:ZZZ9999999"/>', 1_900, "<mergeCells>{}</mergeCells>"),
    ),
    "far row": sheet_of('<row r="1048576"><c r="A1048576"><v>1</v></c></row>'),
    "far column": sheet_of('<row r="1"><c r="XFD1"><v>1</v></c></row>'),
    "rows out of order": sheet_of('<row r="5"/><row r="2"/>'),
    "endless number": sheet_of('<row r="1"><c r="A1"><v>1e999</v></c></row>'),
    **{
        f"in {coding}": with_parts(
            GOOD, **{SHEET: f'<?xml version="1.0" encoding="{coding}"?>{sheet("")}'}
        )
        for coding in ("nobody-knows", "hex", "utf-7", "idna")
    },
    "half a sheet": with_parts(GOOD, **{SHEET: sheet("<row>")[:-30]}),
    "no sheet": with_parts(GOOD, **{SHEET: ""}),
    "text that is not there": sheet_of('<row><c t="s"><v>7</v></c></row>'),
}


LONGEST: Final = 3
"""Seconds of a processor; the longest takes some 0.6 on an idle one."""


@pytest.mark.parametrize("data", HARMFUL.values(), ids=HARMFUL)
def test_harmful_workbook_is_refused_in_bounded_time_and_memory(data: bytes) -> None:
    read_inventory(GOOD, "warm_up.xlsx")
    before = time.process_time()
    refused(data)
    assert time.process_time() - before < LONGEST
    with bounded_memory():
        assert len(refused(data)) < 3000


def with_attributes(part: str, times: int, tags: int = 1) -> bytes:
    """Return the good workbook, a part of which begins with tags of so many attributes each."""
    first = "(<(?:sheetPr|numFmts).*?>)"
    before, tag, after = re.split(first, part_of(GOOD, part), maxsplit=1)
    attributes = " ".join(f'a{number}=""' for number in range(times))
    return with_parts(GOOD, **{part: f"{before}{f'<x {attributes}/>' * tags}{tag}{after}"})


@pytest.mark.parametrize(
    ("part", "times", "tags"), [(SHEET, 50_000, 1), (STYLES, 50_000, 1), (STYLES, 1_000, 300)]
)
def test_attributes_are_bounded_before_they_are_gathered(part: str, times: int, tags: int) -> None:
    # To gather 400,000 of them is one step of a C library, in which nobody else has a turn.
    assert read_inventory(with_attributes(part, 100), "ours.xlsx") == read_inventory(GOOD, "x.xlsx")
    assert "the workbook holds more than is read" in refused(with_attributes(part, times, tags))


def with_format(code: str) -> bytes:
    return workbook(
        ("mug", "reagent"), change=lambda book: setattr(book.active["A2"], "number_format", code)
    )


def with_area(name: str, area: str) -> bytes:
    """Return the good workbook with a name for an area."""
    told = f'<definedNames><definedName name="{name}" localSheetId="0">{area}</definedName>'
    book = part_of(GOOD, "xl/workbook.xml")
    changed = book.replace("<definedNames />", f"{told}</definedNames>")
    assert changed != book
    return with_parts(GOOD, **{"xl/workbook.xml": changed})


def test_format_that_is_searched_in_the_square_of_its_length_is_short() -> None:
    # 30,000 characters took 0.3 seconds each, in one step.
    read_inventory(with_format("[" * 300), "ours.xlsx")
    assert "the workbook holds more than is read" in refused(with_format("[" * 301))


NOT_READ: Final = {
    # 20,000 characters of an area took openpyxl 8 seconds, in one step.
    "area": with_area("_xlnm.Print_Area", "'" * 10**6),
    "titles": with_area("_xlnm.Print_Titles", "<x/>" + "'" * 10**6),
    "name": with_area("ours", "'" * 10**6),
    "shared formula": sheet_of(
        '<row r="1"><c r="A1"><f t="shared" si="0">' + "'" * 10**6 + "</f></c></row>"
    ),
    "entities that nobody opens": with_parts(GOOD, x=DOCTYPE + "<x>&b;</x>"),
    "texts that nobody names": with_parts(GOOD, **{TEXTS: many("<r/>", 10**5, "<sst>{}</sst>")}),
}


@pytest.mark.parametrize("data", NOT_READ.values(), ids=NOT_READ)
def test_what_no_value_needs_takes_no_time(data: bytes) -> None:
    before = time.process_time()
    taken(data, "ours.xlsx")
    assert time.process_time() - before < LONGEST / 3


def test_most_styles_that_are_read_take_bounded_time() -> None:
    many_styles = '<xf numFmtId="1"/>' * 19_000 + "</cellXfs>"
    data = with_parts(GOOD, **{STYLES: part_of(GOOD, STYLES).replace("</cellXfs>", many_styles)})
    before = time.process_time()
    assert taken(data, "ours.xlsx") == taken(GOOD, "ours.xlsx")
    assert time.process_time() - before < LONGEST


def test_what_is_opened_is_what_was_bounded() -> None:
    # The headers tell of a small part, with its checksum, and nobody else is to find the rest.
    read_inventory(GOOD, "warm_up.xlsx")
    data = hiding(GOOD, 200 * 2**20)
    assert len(data) < 10**6
    with bounded_memory():
        found = read_inventory(data, "ours.xlsx")
    assert found == read_inventory(GOOD, "ours.xlsx")


def test_largest_workbook_that_is_opened_takes_bounded_memory() -> None:
    long = "\U0001f9ea" + "x" * (MOST_UNPACKED - 20_000)
    data = sharing(["name", "kind", long], "012")
    rows = [(f"item {n}", "reagent", "booked", n, n + 0.5) for n in range(10_000)]
    for file in (data, workbook(*rows)):
        assert len(file) < MOST_BYTES
        with bounded_memory():
            refused(file)


def sharing(texts: list[str], row: str) -> bytes:
    """Return a workbook with its texts in a part of their own, as Excel writes them."""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    held = "".join(f"<si><t>{text}</t></si>" for text in texts)
    cells = [f'<c t="s"><v>{number}</v></c>' for number in row]
    rows = sheet_of(f"<row>{''.join(cells[:2])}</row><row>{''.join(cells[2:])}</row>")
    return with_texts(rows, f'<sst xmlns="{space}">{held}</sst>')


def test_workbook_with_shared_texts_is_read() -> None:
    [item] = read_inventory(sharing(["name", "kind", "Öl", "reagent"], "0123"), "ours.xlsx")
    assert (item.label, item.category) == ("Öl", "reagent")


def test_many_sheets_of_one_part_are_read_once_each() -> None:
    with pytest.raises(TableError, match="3 of its sheets hold something: 'Sheet', 'S0' and 'S1'"):
        read_inventory(with_sheets(3), "ours.xlsx")


# --- anything -------------------------------------------------------------------------------


def taken(data: bytes, name: str) -> tuple[OwnItem, ...] | None:
    """Return the items of a file, None where it is refused; any other error fails the test."""
    try:
        return read_inventory(data, name, MAPPING)
    except TableError as error:
        told = len(str(error))
    assert 0 < told < 20_000
    return None


NAMES: Final = st.sampled_from(["ours.csv", "ours.xlsx", "ours.txt"])
ALPHABET: Final = "namekindstateuntilprice,;\t\"'\n\r=.0123456789 \u202e\x00ü"


@given(st.binary() | st.binary().map(lambda data: b"PK\x03\x04" + data), NAMES)
def test_any_bytes_are_items_or_refused(data: bytes, name: str) -> None:
    taken(data, name)


@given(st.text(ALPHABET), st.sampled_from([",", ";", "\t"]))
def test_any_text_below_a_header_is_items_or_refused(text: str, delimiter: str) -> None:
    header = delimiter.join(("name", "kind", "state", "until", "price"))
    for item in taken(f"{header}\n{text}".encode(), "ours.csv") or ():
        assert OwnItem.model_validate(item.model_dump()) == item


def edited(data: bytes, rng: random.Random) -> bytes:
    """Return a file with a few bytes changed, left out or put in."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed))
        changed[at : at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
    return bytes(changed)


def with_edited_part(rng: random.Random) -> bytes:
    """Return a workbook one of whose parts is edited, as a damaged or a crafted one may be."""
    with zipfile.ZipFile(BytesIO(GOOD)) as archive:
        name = rng.choice(archive.namelist())
        part = archive.read(name)
    return with_parts(GOOD, **{name: edited(part, rng)})


def take_edited(rng: random.Random) -> None:
    taken(edited(CSV, rng), "ours.csv")
    taken(edited(GOOD, rng), "ours.xlsx")
    taken(with_edited_part(rng), "ours.xlsx")


@given(st.integers(0, 2**32))
def test_edited_file_is_items_or_refused(seed: int) -> None:
    take_edited(random.Random(seed))


@pytest.mark.long
def test_many_edited_files_are_items_or_refused() -> None:
    rng = random.Random(12)
    for _ in range(20_000):
        take_edited(rng)
