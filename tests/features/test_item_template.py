"""The template of items lists the lab's items and can be read back."""

import csv
from io import StringIO
from typing import Final

from hypothesis import assume, given
from hypothesis import strategies as st

from replicalab.features.sheets import COLUMNS, inventory_template, read_inventory
from replicalab.lexicon import label_key
from replicalab.scenarios import EvidenceAssumptions, ItemState, LabOverrides, OwnItem, Pack
from tests.factories import EQUIPMENT, REAGENTS, change_pack, make_lab, make_pack
from tests.strategies import own_labs, packs, seen

DANGEROUS: Final = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
hostile = st.builds(
    str.__add__,
    st.text("'\"=+-@\uff1d;,| \n\t", max_size=4),
    seen.filter(lambda name: "\ufffd" not in name),
).map(str.strip)
"""Names that a spreadsheet may calculate, or that end a cell or a row.

U+FFFD marks undecodable bytes and is refused in every cell.
"""


def read_back(pack: Pack) -> dict[str, OwnItem]:
    template = inventory_template(pack)
    return {item.label: item for item in read_inventory(template.encode(), "template.csv").items}


def facts(pack: Pack, item: OwnItem) -> tuple[ItemState, int | None, float | None]:
    key, lab = label_key(item.label), pack.lab
    days = [day for label, day in lab.booked.items() if label_key(label) == key]
    prices = [price for label, price in lab.prices.items() if label_key(label) == key]
    price = prices[0] if prices else None
    if key in map(label_key, lab.out_of_stock):
        return ItemState.OUT_OF_STOCK, None, price
    return (ItemState.BOOKED, days[0], price) if days else (ItemState.AVAILABLE, None, price)


def assert_says_what_is_there(pack: Pack) -> None:
    assume(not any(day >= 20_000 for day in pack.lab.booked.values()))  # may be dates
    items = read_back(pack)
    swaps = [swap.alternative for swap in pack.allowed_substitutions]
    study = [*pack.study.equipment, *pack.study.reagents, *swaps]
    texts = [*pack.lab.equipment, *pack.lab.reagents]
    assert {*map(label_key, items)} == {*map(label_key, [*study, *texts])}
    for item in items.values():
        assert (item.state, item.until, item.price) == facts(pack, item)


@given(packs(), own_labs().filter(lambda lab: all(i.label.isprintable() for i in lab.items)))
def test_template_lists_the_items_of_own_labs(pack: Pack, own_lab: LabOverrides) -> None:
    assert_says_what_is_there(pack.with_own(own_lab, EvidenceAssumptions()))


def test_template_of_a_small_lab() -> None:
    state = {"booked": {EQUIPMENT[0]: 4}, "out_of_stock": [REAGENTS[1]]}
    lab = make_lab(**state, prices={EQUIPMENT[1]: 12.5}, reagents=["=tap water"])
    pack = change_pack(make_pack(), lab=lab)
    assert inventory_template(pack).splitlines() == [
        '\ufeff"name","kind","state","until","price"',
        '"growth chamber","equipment","booked","4",""',
        '"light meter","equipment","available","","12.5"',
        '"window shelf","equipment","available","",""',
        '"agar plates","reagent","available","",""',
        '"nutrient broth","reagent","out of stock","",""',
        '"\'=tap water","reagent","available","",""',
    ]


@given(st.lists(hostile, min_size=1, max_size=5, unique_by=label_key))
def test_hostile_names_leave_as_text_and_come_back(names: list[str]) -> None:
    pack = make_pack(reagents=names, booked={}, out_of_stock=[])
    template = inventory_template(pack)
    [header, *rows] = csv.reader(StringIO(template.removeprefix("\ufeff"), newline=""))
    assert tuple(header) == COLUMNS
    assert not [cell for row in rows for cell in row if cell.startswith(tuple(DANGEROUS))]
    assert {*map(label_key, read_back(pack))} >= {*map(label_key, names)}
    assert_says_what_is_there(pack)
