"""Sheets as laboratories write them: the right value, or one named fault."""

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Final

import pytest

from replicalab.errors import TableError
from replicalab.features import sheets
from replicalab.features.sheets import Answers, Reading, dates_of
from replicalab.scenarios import CATEGORIES, ItemState
from tests.factories import make_pack
from tests.tiers import batches

FOLDER: Final = Path(__file__).with_name("sheets")
FIRST: Final = date(2026, 5, 4)
HOW: Final = Answers(FIRST, last_day=60)


def proposed(text: bytes | str) -> dict[str, str]:
    return sheets.proposed_columns(table(text))


def table(text: bytes | str) -> sheets.Table:
    return sheets.read_table(text if isinstance(text, bytes) else text.encode(), "ours.csv")


def chosen(text: bytes | str) -> sheets.Table:
    frame = table(text)
    columns = sheets.proposed_columns(frame)
    cells = frame[[*columns.values()]].set_axis([*columns], axis=1)
    return cells if "kind" in columns else cells.assign(kind="reagent")


def read(text: bytes | str, how: Answers = HOW) -> Reading:
    return sheets.read_items(chosen(text), "ours.csv", how)


def refused(text: str, how: Answers = HOW) -> str:
    with pytest.raises(TableError) as caught:
        read(text, how)
    return str(caught.value)


def file(name: str) -> bytes:
    return (FOLDER / f"{name}.csv").read_bytes()


def test_heading_row_has_most_field_names() -> None:
    frame = table(file("heading_row"))
    assert frame.attrs["heading"] == 1
    assert proposed(file("heading_row")) == {"name": "Name"}
    titled = table("Our list of 2026,,\n\nitem,price,stock\nName,5,1\n")
    assert titled.attrs["heading"] == 3
    for rows in ("Label,Rack\nagar,price\nsalt,b\n", "Thing,Now,Of\nAntibody,free,reagent\n"):
        assert table(rows).attrs["heading"] == 1


@pytest.mark.parametrize("many", [1_001, 1_201, 5_000])
def test_too_many_rows_are_counted(many: int) -> None:
    text = "name,cas,stock\n" + "compound,1-00-0,1\n" * many
    data = file("too_many_rows") if many == 1_201 else text
    assert f"1,000 rows at most below the headings; this sheet has {many:,}" in refused(
        data if isinstance(data, str) else data.decode()
    )


def test_quantities_are_zero_or_more() -> None:
    out, some = ItemState.OUT_OF_STOCK, ItemState.AVAILABLE
    items = read(file("decimal_stock")).items
    assert [item.state for item in items] == [out, some, out, some]
    for text, state in {
        "957 mL": some, "0 mL": out, "0,0": out, "0.00 g": out, "1,200 mL": some, "0.5": some,
        "2 x 500 mL": some, "1200": some, "10 m3": some, "no": out, "yes": some, "": None,
        "~3": some, ">0.5": some, "2×500 mL": some, "0x10": out, "0 (5 ordered)": out, "TRUE": some,
        "500 mL x 4": some, "2 packs of 500 mL": some, "5.0e+02": some, "0.0e+00": out, "5+": some,
    }.items():  # fmt: skip
        assert read(f'Reagent;Stock;x\nagar;"{text}";1\n').items[0].state is state, text
    for text in ("-3", "some", "<5", "0-5 mL", ">0", "1.5.26", "0 or 5", "5 on order", "3 expired"):
        assert "is no quantity" in refused(f"Reagent,Stock\nagar,{text}\n")


def test_ids_are_not_proposed() -> None:
    assert proposed(file("elabftw_items")) == {
        "name": "title",
        "kind": "category_title",
        "state": "status_title",
    }
    items = read(file("elabftw_items")).items
    assert [item.category for item in items] == ["equipment", "equipment", "reagent"]
    assert proposed("item,title,type,status\nX-1,agar,5,2\nX-2,salt,6,1\n") == {"name": "title"}
    codes = "Stock #,Item #,Product,Price (EUR per g),Cost [$/mL]\n7,8,agar,1,2\n"
    assert proposed(codes) == {"name": "Product"}
    assert proposed("agar,reagent\nsalt,reagent\noven,equipment\n") == {}
    assert table("Instrument,Booked until,Consumables\noven,12,foil\n").shape == (1, 3)
    assert proposed("Item,Ab,Status\nagar,CD4,free\n") == {"name": "Item", "state": "Status"}


@pytest.mark.parametrize(
    "written",
    [
        "2026-05-31", "31.05.2026", "31/05/2026", "05/31/2026", "2026/05/31", "31-May-2026",
        "31 May 2026", "May 31, 2026", "Sun 31 May 2026", "31st May 2026", "20260531", "2026.5.31",
        "2026-05-31 14:30", "2026-05-31T14:30:00Z", "31/05/2026 2:30 PM", "31.05.2026 23:59",
        "2026-05-31 00:00:00", "2026-05-31T14:30:00.123+02:00", "31-05-2026", "20260531.0",
        "31-May-26", "2026-May-31", "31. Mai 2026", "31 mai 2026 14:30 CEST", "20260531T143000Z",
        "So 31.05.2026 14:30", "31 de mayo de 2026", "31/05/2026 14h30", "31st of May 2026",
    ],
)  # fmt: skip
def test_dates_are_days_of_the_lab(written: str) -> None:
    [item] = read(f'Item;Booked until\nscope;"{written}"\n').items
    assert (item.state, item.until) == (ItemState.BOOKED, 28)
    how = HOW._replace(weekends=False)
    [item] = read(f'Item;Booked until\nscope;"{written}"\n', how).items
    assert item.until == 20


def test_date_files_are_read() -> None:
    assert [item.until for item in read(file("date_forms")).items] == [28, 28, 28]
    assert [item.until for item in read(file("compact_dates")).items] == [28, 32]


def test_ambiguous_dates_and_numbers_are_asked() -> None:
    either = "Item,Booked until\nscope,06/05/2026\n"
    asked = {"dates": True, "order": True, "numbers": False, "day_first": None}
    assert sheets.questions(chosen(either)) == asked
    assert "can be read in two ways; write 2026-05-06 or 2026-06-05" in refused(either)
    for day_first, day in ((True, 3), (False, 33)):
        assert read(either, HOW._replace(day_first=day_first)).items[0].until == day
    assert read(f"{either}oven,31/05/2026\n").items[0].until == 3
    mixed = f"{either}oven,31/05/2026\nlaser,05/31/2026\n"
    assert "two ways" in refused(mixed)
    assert "no day before its month" in refused(mixed, HOW._replace(day_first=True))

    number = "Item,Booked until\nscope,46173\n"
    assert sheets.questions(chosen(number))["numbers"]
    assert "may be a day or a date of Excel" in refused(number)
    assert read(number, HOW._replace(numbers="dates")).items[0].until == 28
    assert "no whole day below 20,000" in refused(number, HOW._replace(numbers="days"))
    days = "Item,Booked until\nscope,12\n"
    assert read(days, HOW._replace(numbers="days")).items[0].until == 12
    assert "no date of Excel" in refused(days, HOW._replace(numbers="dates"))
    assert "needs the date" in refused("Item,Booked until\nscope,2026-05-31\n", Answers())
    for text in ("-", "N/A", "never"):
        assert read(f"Item,Status,Booked until\nscope,booked,{text}\n").items[0].until is None
    for text in ("31/05/26", "tbd", "next week", "2026-02-30", "31052026", "May 2026"):
        assert refused(f"Item,Booked until\nscope,{text}\n")


def test_unknown_prices_keep_their_items() -> None:
    reading = read(file("price_unknown"))
    assert [item.price for item in reading.items] == [None, 120.0, None, None]
    assert [note.row for note in reading.notes] == [2, 4, 5]
    for text, price in {
        "€5": 5, "5.–€": 5, "1.250,50": 1250.5, "1,250,000": 1_250_000, "1 250": 1250, "$5": None,
        "-5": None, "free": None, "1e3": None, "TRUE": None, "12.50/mL": None, "": None, "5 eur": 5,
    }.items():  # fmt: skip
        reading = read(f'Item;Price\nagar;"{text}"\n', HOW._replace(currency="EUR"))
        assert reading.items[0].price == price, text
        assert bool(reading.notes) == bool(text and price is None)
    assert "two ways" in refused('Item;Price\nagar;"$1,250"\n')
    mixed = read("Item,Price\na,$5\nb,€5\n")
    assert [item.price for item in mixed.items] == [5, None]
    for sheet, dollars, euros in (
        ("Price (EUR)\na,5", None, 5), ("price_eur\na,5", None, 5), ("Price US$\na,5", 5, None),
        ("Price [k€]\na,5", None, None), ("Price,Currency\na,5,EUR", None, 5),
    ):  # fmt: skip
        for own, price in (("USD", dollars), ("EUR", euros)):
            [item] = read(f"Item,{sheet}\n", HOW._replace(currency=own)).items
            assert item.price == price, sheet


@pytest.mark.parametrize(
    ("first", "state"),
    [
        (date(2025, 7, 27), ItemState.AVAILABLE),
        (date(2025, 7, 28), ItemState.OUT_OF_STOCK),
        (date(2025, 7, 30), ItemState.OUT_OF_STOCK),
        (date(2025, 7, 31), ItemState.OUT_OF_STOCK),
        (date(2026, 5, 4), ItemState.OUT_OF_STOCK),
    ],
)
def test_expired_items_are_out_of_stock(first: date, state: ItemState) -> None:
    how = HOW._replace(start_date=first)
    reading = read(file("expired"), how)
    assert [item.state for item in reading.items] == [state, ItemState.AVAILABLE]
    assert reading.notes
    for month in ("07/2025", "2025-07", "Jul 2025", "July 2025", "7.2025"):  # its last day
        [item] = read(f"Reagent,Expiry\nagar,{month}\n", how).items
        assert (item.state is state) == (first > date(2025, 7, 30)), month


def test_item_of_several_lots_is_its_best() -> None:
    lots = "Reagent,Stock,Expiry\nagar,2,2025-01-01\nagar,0,2028-01-01\n"
    assert read(lots).items[0].state is ItemState.OUT_OF_STOCK
    assert read(f"{lots}Agar,1,2027-01-01\n").items[0].state is ItemState.AVAILABLE
    assert "in row 2 already" in refused("Reagent,Price\nagar,2\nagar,3\n")


@pytest.mark.parametrize(
    ("start", "until"), [(1, 5), (5, 5), (6, 5), (19, 5), (20, 30), (28, 30), (31, 30)]
)
def test_several_bookings_are_periods(start: int, until: int) -> None:
    text = "Item,From,Until\nscope,2026-05-23,2026-05-28\nscope,2026-05-04,2026-05-08\n"
    text += "scope,2026-05-29,2026-06-02\n"
    [item] = read(text, HOW._replace(start_day=start)).items
    assert item.until == until  # of the period on the start day, else of the last one before it


def test_a_later_booking_is_noted() -> None:
    reading = read("Item,From,Until\nscope,2026-05-23,2026-05-28\n")
    assert (reading.items[0].state, reading.items[0].until) == (ItemState.AVAILABLE, None)
    assert "booked from day 20 to 25" in str(reading.notes[0])
    assert "before the first day" in refused("Item,From,Until\nscope,2026-05-23,2026-05-08\n")


def test_large_inventory_gives_the_items_of_a_study() -> None:
    rows = [f"compound {number},1" for number in range(635)]
    frame = chosen("\n".join(["Reagent,Stock", "Agar  Plates,0", *rows, "nutrient broth,2 L"]))
    with pytest.raises(TableError, match="200 items at most; this sheet has 637"):
        sheets.read_items(frame, "ours.csv")
    items = sheets.read_items(sheets.rows_named(frame, make_pack()), "ours.csv").items
    assert [(item.label, item.state) for item in items] == [
        ("Agar  Plates", ItemState.OUT_OF_STOCK),
        ("nutrient broth", ItemState.AVAILABLE),
    ]


FORMS: Final = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%b-%Y", "%Y%m%d", "%B %d, %Y")
TIMES: Final = ("", " 14:30", " 2:30 PM", "T09:00:00Z")
QUANTITIES: Final = {"0": 0, "0.0": 0, "0 mL": 0, "2.5": 1, "957 mL": 1, "1,000 g": 1}
PRICES: Final = {"N/A": None, "TBD": None, "12.50 each": None, "12.50": 12.5, "$7": 7.0, "": None}


@pytest.mark.parametrize("numbers", batches(20, quick=20, long=500))
def test_generated_sheets_are_read_right(numbers: range) -> None:
    for number in numbers:
        chance = random.Random(number)
        form, mark = chance.choice(FORMS), chance.choice(";\t")
        names = [f"reagent of lot {place}" for place in range(chance.randrange(1, 5))]
        rows = []
        for name in names:
            expiry = FIRST + timedelta(chance.randrange(-400, 400))
            written = expiry.strftime(form) + chance.choice(TIMES if form != "%Y%m%d" else ("",))
            quantity, price = chance.choice([*QUANTITIES]), chance.choice([*PRICES])
            kind, number_of = chance.choice(CATEGORIES), chance.randrange(10**6)
            rows.append((name, number_of, written, quantity, price, kind, expiry))
        order = chance.sample(range(6), 6)
        headings = ("Item", "ID", "Expiry date", "Quantity", "Price", "Type")
        lines = [mark.join(str(row[place]) for place in order) for row in (headings, *rows)]
        text = "\n".join([*["Our stock"] * chance.randrange(2), *lines])
        cells = chosen(text)
        asked = sheets.questions(cells)["order"]
        assert not asked or form == "%d/%m/%Y"
        if asked:
            assert "two ways" in refused(text)
        how = HOW._replace(day_first=True if asked else None)
        items = sheets.read_items(cells, "ours.csv", how).items
        for item, (name, _, _, quantity, price, kind, expiry) in zip(items, rows, strict=True):
            is_left = QUANTITIES[quantity] and expiry > FIRST
            state = ItemState.AVAILABLE if is_left else ItemState.OUT_OF_STOCK
            read_as = item.label, item.category, item.state, item.price
            assert read_as == (name, kind, state, PRICES[price]), text


def test_every_written_date_means_its_day() -> None:
    for number in range(366):
        day = date(2028, 1, 1) + timedelta(number)
        for form in FORMS:
            assert day in dates_of(day.strftime(form)).values(), (day, form)
