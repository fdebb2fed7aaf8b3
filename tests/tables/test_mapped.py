"""A lab's own sheet, read through a mapping: whole, or what is wrong by row and column."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from replicalab.errors import TableError
from replicalab.scenarios import (
    LONGEST_WORD,
    MOST_OWN_ITEMS,
    MOST_WORDS,
    OwnItem,
    SheetMapping,
    by_meaning,
    lab_json,
    read_lab,
)
from replicalab.scenarios.own import LabOverrides
from replicalab.tables import (
    OpenFile,
    open_file,
    proposed_columns,
    proposed_table,
    questions,
    read_inventory,
    read_rows,
)
from replicalab.tables.opening import MOST_BYTES, MOST_HEADINGS, ItemTable, table_for
from replicalab.tables.sheet import NotPlain, SheetRow
from tests.golden import assert_golden
from tests.strategies import sheet_mappings
from tests.tables.messy import DAY_ONE, MESSY, ROWS, Messy, item
from tests.tables.workbooks import bounded_memory, saved, workbook

each_messy: Final = pytest.mark.parametrize("make", MESSY.values(), ids=MESSY)


@each_messy
def test_messy_sheet_is_refused_alone_and_read_wholly_through_its_mapping(
    make: Callable[[], Messy],
) -> None:
    messy = make()
    with pytest.raises(TableError):
        read_inventory(messy.data, messy.name)
    # The mapping is that of a lab that was kept.
    kept = read_lab(lab_json(LabOverrides(sheet=messy.mapping)).encode())
    assert read_inventory(messy.data, messy.name, kept.sheet) == messy.items
    table = table_for(open_file(messy.data, messy.name), messy.mapping)
    assert table is not None
    rows = read_rows(table, messy.mapping)
    assert len(rows) == ROWS
    assert sum(row.same_as is not None for row in rows) == messy.repeated
    assert sum(bool(row.left_out) for row in rows) == messy.left_out


@each_messy
def test_proposal_finds_the_headings_the_columns_and_the_words(make: Callable[[], Messy]) -> None:
    messy, mapping = make(), make().mapping
    table = proposed_table(open_file(messy.data, messy.name), None)
    columns = proposed_columns(table)
    asked = questions(table, columns, None)
    assert columns == mapping.columns
    assert (asked.kinds.begun, asked.states.begun) == (mapping.kind_of, mapping.state_of)
    assert (asked.comma.begun, asked.day_first.begun) == (mapping.comma, mapping.day_first)
    assert asked.currencies == ([mapping.currency] if mapping.currency else [])
    assert asked.first_day.asks is (mapping.first_day is not None)
    assert table.western is mapping.western
    assert asked.kind is None, "of all items nobody knows it but their lab"


def test_mapping_that_fits_goes_before_a_proposal_and_new_words_are_proposed() -> None:
    saved_one = SheetMapping.model_validate(
        {
            "columns": {"name": "Remark", "state": "STATUS"},
            "kind": "reagent",
            "states": by_meaning({"gone": "booked", "broken": "booked"}),
        }
    )
    table = proposed_table(
        file("Old", "Item;Status;Remark", "a;gone;b", "c;broken;d", "e;ok;f"), saved_one
    )
    columns = proposed_columns(table, saved_one)
    assert columns == {"name": "Remark", "state": "Status"}
    asked = questions(table, columns, saved_one)
    assert asked.states.begun == {"gone": "booked", "broken": "booked", "ok": "available"}
    assert asked.kind == "reagent"


def file(*rows: str) -> OpenFile:
    return open_file("\n".join(rows).encode(), "ours.csv")


MAPPING: Final = SheetMapping.model_validate(
    {
        "columns": {
            "name": "Item",
            "kind": "Type",
            "state": "State",
            "until": "Until",
            "price": "Price (€)",
        },
        "kinds": by_meaning({"tool": "equipment", "kit": "reagent", "desk": "left out"}),
        "states": by_meaning(
            {
                "here": "available",
                "lent": "booked",
                "broken": "out of stock",
                "?": "not said",
                "gone": "left out",
                "0": "out of stock",
                "more than 0": "available",
                "true": "available",
            }
        ),
        "first_day": DAY_ONE,
        "day_first": True,
        "comma": True,
        "currency": "EUR",
    }
)
HEADER: Final = ("Item", "Type", "State", "Until", "Price (€)")


def read(*rows: Sequence[str], mapping: SheetMapping = MAPPING) -> tuple[OwnItem, ...]:
    return read_inventory(as_csv(*rows), "ours.csv", mapping)


def as_csv(*rows: Sequence[str]) -> bytes:
    text = StringIO(newline="")
    csv.writer(text, delimiter=";").writerows([HEADER, *rows])
    return text.getvalue().encode()


def as_workbook(*rows: Sequence[object]) -> bytes:
    book = Workbook()
    for row in (HEADER, *rows):
        book.active.append(list(row))
    return saved(book)


def test_state_and_day_are_read_together() -> None:
    assert read(
        ("a", "tool", "lent", "12", ""),
        ("b", "tool", "lent", "14.05.2026", ""),  # day 1 is the fourth
        ("c", "tool", "?", "2026-05-05", ""),
        ("d", "tool", "", "4/5/2026", ""),
        ("e", "tool", "here", "03.05.26", ""),  # over before day 1
        ("f", "tool", "lent", "1.5.2026", ""),
        ("g", "tool", "?", "–", ""),
        ("m", "tool", "here", "0", ""),
        ("h", "kit", "Broken", "", ""),
        ("i", "kit", "0", "", ""),
        ("j", "kit", "17", "", ""),
        ("k", "desk", "?", "", ""),
        ("l", "tool", "gone", "", ""),
    ) == (
        item("a", "equipment", "booked", until=12),
        item("b", "equipment", "booked", until=11),
        item("c", "equipment", "booked", until=2),
        item("d", "equipment", "booked", until=1),
        item("e", "equipment", "available"),
        item("f", "equipment", "available"),
        item("g", "equipment"),
        item("m", "equipment", "available"),
        item("h", "reagent", "out of stock"),
        item("i", "reagent", "out of stock"),
        item("j", "reagent", "available"),
    )


def price_of(text: str, **said: object) -> float | None:
    [found] = read(("a", "kit", "", "", text), mapping=MAPPING.model_copy(update=said))
    return found.price


def test_price_is_read_with_its_mark_its_groups_and_its_sign() -> None:
    for text, price in (
        ("12", 12),
        ("12,5", 12.5),
        ("1.250", 1250),
        ("1.250,75 €", 1250.75),
        ("EUR 1.250.000", 1_250_000),
        ("1 250,-", 1250),
        ("1 250", 1250),
        ("0,05€", 0.05),
        ("-", None),
        ("–", None),
    ):
        assert price_of(text) == price
    for text, price in (
        ("$1,250.75", 1250.75),
        ("1'250.5 USD", 0),
        ("1,250", 1250),
        ("1.25", 1.25),
    ):
        if price:
            assert price_of(text, comma=False, currency="$") == price
    assert price_of("Fr. 1’250.--", comma=False, currency="CHF") == 1250
    assert price_of("12.5", comma=None) == 12.5, "it can be read in one way only"


def test_cells_of_a_workbook_are_read_as_they_are() -> None:
    day = datetime.datetime(2026, 5, 6, 9, 30)  # noqa: DTZ001 - as a spreadsheet has it
    data = as_workbook(
        ("a", "tool", "lent", day, 12.25),
        ("b", "kit", True, day.date(), 3),
        ("c", "kit", 4, None, None),
        ("d", "tool", "lent", 8, "1.000,5 €"),
    )
    with pytest.raises(TableError, match="row 3, Until: the item is available"):
        read_inventory(data, "ours.xlsx", MAPPING)
    later = MAPPING.model_copy(update={"first_day": datetime.date(2026, 5, 7)})
    assert read_inventory(data, "ours.xlsx", later) == (
        item("a", "equipment", "available", price=12.25),
        item("b", "reagent", "available", price=3),
        item("c", "reagent", "available"),
        item("d", "equipment", "booked", until=8, price=1000.5),
    )


# --- what is refused ------------------------------------------------------------------------

WRONG_ROWS: Final[dict[tuple[object, ...], str]] = {
    **{
        (name, "tool"): "Item"
        for name in ("", " ", "x" * 301, "a\u200bb", "hard \u202elab", 12, True)
    },
    ("=1+1", "tool"): "Item",
    ("#N/A", "tool"): "Item",
    ("Good  ONE", "kit"): "Item",
    **{("a", kind): "Type" for kind in ("", None, "person", "to\u200bol", "x" * 61, "=1", DAY_ONE)},
    **{
        ("a", "kit", state): "State"
        for state in (
            "lost",
            "x" * (LONGEST_WORD + 1),
            "h\u200bere",
            -1,
            "-3",
            False,
            DAY_ONE,
            "=2",
        )
    },
    **{
        ("a", "kit", "lent", until): "Until"
        for until in (
            *("31.02.2026", "2026-13-01", "0000-00-00", "soon", "12.5", "-1", "nan", "9" * 16),
            *(-1, 12.5, 1e300, datetime.time(9), True, "=TODAY()", "13/13/2026", "1.5."),
        )
    },
    ("a", "kit", "here", "05.05.2026"): "Until",
    ("a", "kit", "here", "1"): "Until",
    ("a", "kit", "broken", "12"): "Until",
    **{
        ("a", "kit", "", "", price): "Price (€)"
        for price in (
            *("-5", "1e3", "nan", "inf", "12.50", "1,2,3", "1.25.000", "$5", "5 Stück", "\u0663"),
            *(
                "(5)",
                "1000000000,5",
                "9" * 399,
                -1,
                2e9,
                True,
                DAY_ONE,
                "=2*3",
                "#DIV/0!",
                "€",
                "--",
            ),
        )
    },
}


def test_cell_that_cannot_be_read_is_told_by_row_and_column() -> None:
    told = []
    for row, column in WRONG_ROWS.items():
        data = as_workbook(("good one", "tool"), row)
        with pytest.raises(TableError) as caught:
            read_inventory(data, "ours.xlsx", MAPPING)
        assert [(fault.row, fault.column) for fault in caught.value.faults] == [(3, column)], row
        assert len(str(caught.value)) < 400
        told.append(str(caught.value))
    assert_golden("sheet_faults", "\n".join(told))


def test_merged_cells_below_the_headings_are_told_and_a_merged_title_is_none_of_them() -> None:
    book = Workbook()
    for row in (["Ours"], HEADER, ("a", "tool", "broken"), ("b", "tool", None), ("c", "kit", "")):
        book.active.append(list(row))
    book.active.merge_cells("A1:E1")
    book.active.merge_cells("C3:D4")
    with pytest.raises(TableError) as caught:
        read_inventory(saved(book), "ours.xlsx", MAPPING)
    assert [str(fault) for fault in caught.value.faults] == [
        f"row {row}, {column}: it is merged with the cell C3; unmerge them, and fill in each"
        for row, column in ((3, "Until"), (4, "State"), (4, "Until"))
    ]


def test_date_or_price_is_told_that_can_be_read_in_two_ways_and_a_date_without_a_first_day() -> (
    None
):
    open_ways = {"day_first": None, "comma": None, "first_day": None}
    data = as_csv(
        ("a", "kit", "lent", "3/4/2026", "1,250"), ("b", "kit", "lent", "2026-05-09", "1")
    )
    with pytest.raises(TableError) as caught:
        read_inventory(data, "ours.csv", MAPPING.model_copy(update=open_ways))
    assert [(fault.row, fault.problem) for fault in caught.value.faults] == [
        (2, "'3/4/2026' can be read in two ways"),
        (2, "'1,250' can be read in two ways"),
        (3, "'2026-05-09' is a date, and day 1 has none"),
    ]


def test_row_that_says_otherwise_than_another_is_told_and_one_that_says_the_same_is_not() -> None:
    rows = [("Kit", "kit", "here", "", "5"), (" KIT ", "kit", "17", "", "5,0")]
    assert read(*rows) == (item("Kit", "reagent", "available", price=5),)
    with pytest.raises(TableError, match="'Kit' stands in row 2 already, and otherwise"):
        read(rows[0], ("Kit", "kit", "here", "", "6"))


def test_more_items_than_a_lab_takes_are_refused_and_left_out_rows_do_not_count() -> None:
    rows = [(f"item {n}", "kit", "here", "", "") for n in range(MOST_OWN_ITEMS)]
    gone = [(f"old {n}", "kit", "gone", "", "") for n in range(99)]
    assert len(read(*rows, *gone)) == MOST_OWN_ITEMS
    with pytest.raises(TableError, match="the file lists 201 items"):
        read(*rows, ("one more", "kit", "", "", ""))


def test_words_of_a_column_are_listed_up_to_one_more_than_have_room() -> None:
    table = proposed_table(file("Item;State", *(f"a;s{n}x" for n in range(99))), None)
    assert len(table.words("State")) == MOST_WORDS + 1
    numbers = proposed_table(file("Item;Qty", *(f"a;{n}" for n in range(99))), None)
    assert numbers.words("Qty") == {"0": "0", "more than 0": "more than 0"}


def test_heading_that_is_missing_repeated_or_hidden_is_named_by_its_place() -> None:
    table = proposed_table(file("Name;Name;;a\u202eb;State;", "a;b;c;d;e;"), None)
    assert table.names == {"Name": 0, "Name (2)": 1, "column C": 2, "column D": 3, "State": 4}


def test_answer_is_proposed_only_where_the_heading_asks_for_what_is_there() -> None:
    for heading, begun in (
        ("In stock?", {"yes": "available", "no": "out of stock"}),
        ("In use", {}),
        ("Broken", {}),
    ):
        table = proposed_table(file(f"Item,{heading}", "a,yes", "b,no"), None)
        columns = {"name": "Item", "state": heading}
        assert questions(table, columns, None).states.begun == begun  # type: ignore[arg-type]


def test_currency_of_the_last_sheet_goes_before_the_headings_and_that_of_most() -> None:
    for heading, last, currencies in (
        ("Price (€)", "", ["EUR", "$", "CHF"]),
        ("Price (€)", "CHF", ["CHF", "EUR", "$"]),
        ("Price, from", "", ["$", "CHF"]),
    ):
        table = proposed_table(file(f"Item;{heading}", "a;$ 1", "b;$2", "c;Fr. 3"), None)
        saved_one = SheetMapping.model_validate(
            {"columns": {"name": "Item", "price": heading}, "kind": "reagent", "currency": last}
        )
        assert questions(table, saved_one.columns, saved_one).currencies == currencies


def test_headings_are_looked_for_in_the_first_rows_alone() -> None:
    table = ["Item;Status", "a;free", "b;free"]
    for above, first in ((MOST_HEADINGS - 1, "Item"), (MOST_HEADINGS, "title 0")):
        titles = [f"title {n}" for n in range(above)]
        assert proposed_table(file(*titles, *table), None).header.cells[0] == first


HOSTILE: Final[dict[str, tuple[bytes | str, str]]] = {
    "empty": ("", "ours.csv"),
    "empty workbook": (b"", "ours.xlsx"),
    "blank": ("\n \n;;\n", "ours.csv"),
    "header only": ("Item;State\n", "ours.csv"),
    "header only, in a workbook": (as_workbook(), "ours.xlsx"),
    "a million rows": ("a\n" * 10**6, "ours.csv"),
    "10 000 rows of a workbook": (workbook(*[("a", "reagent")] * 10_000), "ours.xlsx"),
    "a million columns": ("Item\n" + "a," * 10**6, "ours.csv"),
    "open quote": ('Item;State\na;b\n"c;d\n', "ours.csv"),
    "long value": ("Item;State\n" + "x" * 200_000, "ours.csv"),
    "too large": (b" " * (MOST_BYTES + 1), "ours.csv"),
    "other ending": ("Item;State\na;b\n", "ours.ods"),
}


@pytest.mark.parametrize(("data", "name"), HOSTILE.values(), ids=HOSTILE)
def test_file_that_holds_no_table_is_refused_before_anything_is_asked(
    data: bytes | str, name: str
) -> None:
    with bounded_memory(), pytest.raises(TableError) as caught:
        open_file(data if isinstance(data, bytes) else data.encode(), name)
    assert len(str(caught.value)) < 400


def test_text_that_is_no_utf_8_is_read_as_western_only_where_the_mapping_says_so() -> None:
    data = "Item;Price\nGröße;5\n".encode("cp1252")
    said: dict[str, Any] = {"columns": {"name": "Item", "price": "Price"}, "kind": "equipment"}
    [found] = read_inventory(data, "ours.csv", SheetMapping(**said, western=True))
    assert found.label == "Größe"
    with pytest.raises(TableError, match="could not be read"):
        read_inventory(data, "ours.csv", SheetMapping(**said))
    picture = b"\x89PNG\r\n\x1a\n\x00\x00"
    assert not open_file(picture + b"\na;b\nc;d", "ours.csv").western


# --- anything -------------------------------------------------------------------------------

CELLS: Final = st.one_of(
    st.text(max_size=12),
    st.text("0123456789.,-/ €$'\u0663", max_size=12),
    st.sampled_from(["", "-", "yes", "'=1", "'", "\u00a0", "3/4/2026", "1.250,5 €", "x" * 500]),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.datetimes(),
    st.times(),
    st.timedeltas(),
    st.just(NotPlain("a formula stands here", "write its value")),
)


@given(st.lists(st.lists(CELLS, max_size=6), max_size=6), sheet_mappings(), st.booleans())
def test_any_row_is_read_left_out_or_told(
    rows: list[list[object]], mapping: SheetMapping, fits: bool
) -> None:
    heading: list[object] = [*mapping.columns.values()] if fits else [*rows[:1], []][0]
    listed = [SheetRow(number, cells) for number, cells in enumerate(rows, start=2)]
    table = ItemTable("", SheetRow(1, heading), listed)
    columns = proposed_columns(table, mapping)
    assert set(columns.values()) <= set(table.names)
    asked = questions(table, columns, mapping)
    assert set(asked.states.begun) - set(mapping.state_of) <= set(asked.states.written)
    for row in read_rows(table, mapping):
        assert [row.item is not None, bool(row.faults), bool(row.left_out)].count(True) == 1
        assert all(len(str(fault)) < 900 for fault in row.faults)
        if row.item:
            assert OwnItem.model_validate(row.item.model_dump()) == row.item
