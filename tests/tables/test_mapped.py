"""A lab's own sheet, read through a mapping: whole, or refused row by row."""

from __future__ import annotations

import pytest

from replicalab.errors import TableError
from replicalab.tables import read_inventory
from replicalab.tables.mapped import read_rows
from replicalab.tables.opening import open_file, table_for
from replicalab.tables.proposal import proposed_columns, proposed_kinds, proposed_states, proposed_table
from tests.tables.messy import MESSY, ROWS


@pytest.mark.parametrize("make", MESSY.values(), ids=MESSY)
def test_messy_sheet_is_refused_without_a_mapping_and_read_wholly_with_it(make) -> None:
    messy = make()
    with pytest.raises(TableError):
        read_inventory(messy.data, messy.name)
    assert read_inventory(messy.data, messy.name, messy.mapping) == messy.items
    file = open_file(messy.data, messy.name)
    table = table_for(file, messy.mapping)
    rows = read_rows(table, messy.mapping)
    assert len(rows) == ROWS
    assert sum(row.same_as is not None for row in rows) == messy.repeated
    assert sum(bool(row.left_out) for row in rows) == messy.left_out

@pytest.mark.parametrize("make", MESSY.values(), ids=MESSY)
def test_pro(make) -> None:
    messy = make()
    file = open_file(messy.data, messy.name)
    table = proposed_table(file, None)
    print(table.title, table.header, proposed_columns(table))
    print(messy.mapping.columns)
    for c in ("state", "kind"):
        if h := messy.mapping.columns.get(c):
            print(proposed_states(table.words(h), h), proposed_kinds(table.words(h)), table.words(h))
