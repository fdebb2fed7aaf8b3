"""A lab's inventory from a file: read, or refused with row, column, value and remedy."""

import datetime
from itertools import product
from typing import Any, Final

import pytest

from replicalab import limits
from replicalab.errors import TableError
from replicalab.features.sheets import COLUMNS, read_inventory
from replicalab.scenarios import ItemState, OwnItem
from tests.features.workbooks import SHEET, bounded_memory, with_parts, workbook
from tests.golden import assert_golden
from tests.tiers import one_in

HEADER: Final = ",".join(COLUMNS)
GROESSE: Final = f"{HEADER}\nGrößenmesser,equipment,,,\n"


def item(label: str, category: str = "equipment", **fields: Any) -> OwnItem:
    return OwnItem.model_validate({"label": label, "category": category, **fields})


def read(*rows: str, header: str = HEADER) -> tuple[OwnItem, ...]:
    return read_inventory("\n".join((header, *rows)).encode(), "ours.csv").items


def refused(data: bytes | str, name: str = "ours.csv") -> TableError:
    with pytest.raises(TableError) as caught:
        read_inventory(data.encode() if isinstance(data, str) else data, name)
    return caught.value


def places(error: TableError) -> list[tuple[int | None, str]]:
    return [(fault.row, fault.column) for fault in error.faults]


def test_every_column_is_read() -> None:
    assert read(
        "flume,equipment,booked,12,12.5",
        "autoclave,equipment,booked,,",
        "agar,reagent,out of stock,,0",
        "salt,reagent,,,",
        "scale,equipment,available,,3",
    ) == (
        item("flume", state=ItemState.BOOKED, until=12, price=12.5),
        item("autoclave", state=ItemState.BOOKED),
        item("agar", "reagent", state=ItemState.OUT_OF_STOCK, price=0),
        item("salt", "reagent"),
        item("scale", state=ItemState.AVAILABLE, price=3),
    )


def test_every_separator_line_end_and_encoding() -> None:
    lines = [list(COLUMNS), ["Größe", "equipment", "", "", '"12,5"'], ["b", "reagent", "", "", "1"]]
    expected = (item("Größe", price=12.5), item("b", "reagent", price=1))
    for delimiter, end in product(",;\t|", ("\n", "\r\n", "\r")):
        text = end.join(delimiter.join(line) for line in lines)
        for coding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le"):
            assert read_inventory(text.encode(coding), "ours.csv").items == expected


@pytest.mark.parametrize("gap", [2, 1_500])
def test_items_below_a_gap_are_read(gap: int) -> None:
    assert read("a,equipment,,,", *[",,\t,"] * gap, "b,reagent,,,")[1] == item("b", "reagent")
    rows = [("a", "equipment"), *[()] * gap, ("b", "zebra")]
    assert places(refused(workbook(*rows), "ours.xlsx")) == [(gap + 3, "kind")]


def test_quoted_line_breaks_and_separators_are_text() -> None:
    text = f'{HEADER}\n"two\nlines, one ""name""",equipment,,,\nb,zebra,,,\n'
    assert places(refused(text)) == [(3, "kind")]
    [result] = read_inventory(text.replace("b,zebra", ",").encode(), "ours.csv").items
    assert result.label == 'two\nlines, one "name"'


def test_formulas_and_missing_value_words_are_text() -> None:
    texts = ["=cmd|' /C calc'!A0", "+1", "-x", "@sum(A1)", "NA", "null", "nan"]
    assert [entry.label for entry in read(*(f'"{text}",reagent' for text in texts))] == texts


def test_prices_and_days_are_read() -> None:
    for text in "12,5 12.5 12 0,125 1250 12.50 1000000000 1250,5 1.2500".split():
        [result] = read(f'a,equipment,,,"{text}"')
        assert result.price == float(text.replace(",", "."))
    for text in ("12", "12.0", "12,0", " 12 "):
        assert read(f'a,equipment,booked,"{text}",') == (item("a", state="booked", until=12),)


def test_workbook_is_read_by_value() -> None:
    def change(book: Any) -> None:
        book.create_sheet("Notes")
        book.active["A5"].data_type = "s"
        for cell, form in (("E2", "[$€-407] 0.00"), ("E5", '"$"0'), ("D2", "[$-409]0")):
            book.active[cell].number_format = form

    rows = [
        ("flume", "equipment", "booked", 12.0, 1.125),
        (),
        ("agar", "reagent", None, None, "12,5"),
        ("=1+1", "reagent", None, "", 4),
    ]
    assert read_inventory(workbook(*rows, change=change), "ours.XLSX").items == (
        item("flume", state=ItemState.BOOKED, until=12, price=1.125),
        item("agar", "reagent", price=12.5),
        item("=1+1", "reagent"),  # of prices in euros
    )


def test_content_tells_a_workbook_whatever_its_name() -> None:
    for name in ("ours.csv", "ours.xlsm", "ours"):
        assert read_inventory(workbook(("a", "equipment")), name).items == (item("a"),)
    assert read_inventory(b"name,kind\na,equipment\n", "ours").items == (item("a"),)


@pytest.mark.parametrize("day", [12.5, datetime.date(2026, 5, 1), -1, 10**16])
def test_wrong_day_of_a_workbook_is_refused(day: object) -> None:
    error = refused(workbook((), ("a", "reagent", "booked", day)), "ours.xlsx")
    assert places(error) == [(3, "until")]


def test_workbook_that_unpacks_too_far_is_refused() -> None:
    data = with_parts(workbook(), **{SHEET: b" " * (limits.MOST_UNPACKED + 1)})
    assert len(data) < limits.MOST_SHEET_BYTES
    with bounded_memory():
        assert "unpacks to" in str(refused(data, "ours.xlsx"))


WRONG_ROWS: Final = (
    f"{'x' * (limits.LONGEST_LABEL + 1)},equipment,,,",
    ",equipment,,,",
    *(f"{name},equipment,,," for name in ("a\x07b", "hard \u202elab", "a\u200bb", "Good  One")),
    *(f"a,{kind},,," for kind in ("", "eqipment", "personnel", "equip\u200bment", "x" * 1000)),
    "a,equipment,bookd,5,",
    "a,equipment,,5,",
    "a,equipment,available,5,",
    "a,equipment,,12,5",
    *(f"a,equipment,booked,{day}," for day in (
        "12.5", "-1", "2026-05-01", "12.000", "9999999999999999",
    )),
    *(f"a,equipment,,,{price}" for price in (
        '"1,250"', "1.250", "€1.250", "1000000000.5",
    )),
    "a,equipment,booked,12,12,5",
)  # fmt: skip


WRONG_FILES: Final[dict[str, tuple[bytes | str, str]]] = {
    "empty": ("", "ours.csv"),
    "header only": (HEADER, "ours.csv"),
    "missing column": ("name,price\na,1\n", "ours.csv"),
    "unknown columns": ("nam,kind,prize\na,reagent,1\n", "ours.csv"),
    "column twice": ("name,kind,Name\na,reagent,b\n", "ours.csv"),
    "value without a column": (f"{HEADER},\na,reagent,,,,x\n", "ours.csv"),
    "open quote": (f'{HEADER}\na,reagent,,,\n"b,reagent,,,\nc,reagent,,,\n', "ours.csv"),
    "quote in the first row": ('Name,Price,Stock\n"agar,5,1\nsalt,6,1\n', "ours.csv"),
    "two open quotes": ('Name,Price,Stock\n"agar,5,1\n"salt,6,1\n', "ours.csv"),
    "quote over two rows": ('Name,Price,Stock\n"a,5,1\nb",6,1\n', "ours.csv"),
    "two tables": ("Name,Price,,Name,Price\nagar,5,,oven,6\n", "ours.csv"),
    "two adjacent tables": ("Name,Price,Name,Price\nagar,5,oven,6\n", "ours.csv"),
    "two lists without a gap": ("Reagent,Stock,Instrument,Status\nagar,5,oven,free\n", "ours.csv"),
    "two lists": ("Reagent,Stock,,Instrument,Until\nagar,5,,oven,6\n", "ours.csv"),
    "open quote in the header": ('"' + "x" * 200_000, "ours.csv"),
    "Windows-1252": (GROESSE.encode("cp1252"), "ours.csv"),
    "UTF-16 cut short": (GROESSE.encode("utf-16")[:-1], "ours.csv"),
    "no text": (f"{HEADER}\na\x00b,reagent\n", "ours.csv"),
    "a million rows": ("\n".join([HEADER, *["a"] * 10**6]), "ours.csv"),
    "a million columns": ("," * 10**6 + "\n" + HEADER, "ours.csv"),
    "too large": (b" " * (limits.MOST_SHEET_BYTES + 1), "ours.csv"),
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ours.xlsx"),
    "formula without a value": (workbook(("=1+1", "reagent")), "ours.xlsx"),
    "OpenDocument": (b"PK\x03\x04", "ours.ods"),
    "hostile name": (HEADER, "<b>\u202e.csv\n" + "x" * 300),
    "CSV called a workbook": (HEADER, "ours.xlsx"),
}


def test_refusals_have_problem_and_remedy() -> None:
    rows = [str(refused(f"{HEADER}\ngood one,reagent,,,\n{row}\n")) for row in WRONG_ROWS]
    files = [f"{what}\n{refused(*file)}" for what, file in WRONG_FILES.items()]
    assert_golden("inventory_faults", "\n".join([*rows, *files]))


def test_faults_beyond_the_limit_are_counted() -> None:
    rows = [f"item {n},zebra,,x,{n + 1}e" for n in range(limits.MOST_FAULTS)]
    error = refused("\n".join([HEADER, *rows]))
    assert places(error)[:4] == [(2, "kind"), (2, "until"), (3, "kind"), (3, "until")]
    assert (len(error.faults), error.more) == (limits.MOST_FAULTS, limits.MOST_FAULTS)


@pytest.mark.parametrize(
    "text",
    one_in(8, [
        *(part * limits.MOST_SHEET_BYTES for part in ("\n", ",", "\x00", '"')),
        "[" * 100_000,
        HEADER + "\n" + ",\n" * (limits.MOST_SHEET_BYTES // 2 - 20),
        f"{',' * 29}x\n" + f"{',' * 29}\n" * (limits.MOST_SHEET_BYTES // 30 - 2),
        "\U0001f9ea" + "\u202e" * (limits.MOST_SHEET_BYTES // 3 - 4),
        f"{HEADER}\n\U0001f9ea{'x' * (limits.MOST_SHEET_BYTES - 40)}",
    ]),
    ids=range(9),
)  # fmt: skip
def test_largest_files_take_bounded_memory(text: str) -> None:
    refused("warm up")
    data = text.encode()
    assert len(data) <= limits.MOST_SHEET_BYTES
    with bounded_memory(), pytest.raises(TableError):
        read_inventory(data, "ours.csv")
