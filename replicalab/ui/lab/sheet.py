"""A lab's list of items: choose its columns, correct its cells, take the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.errors import TableError
from replicalab.lexicon import count_text
from replicalab.scenarios import OwnItem
from replicalab.tables import (
    COLUMNS,
    KINDS,
    STATES,
    InventoryTable,
    read_inventory,
    read_items,
    read_table,
)
from replicalab.ui import notices, state
from replicalab.ui.controls import button, complain, places
from replicalab.ui.lab.fields import override, redraw
from replicalab.ui.words import escaped

NOTICES: Final = "lab_file"
_OPEN: Final = "lab_sheet"
_NUMBER: Final = "lab_sheet_number"
_CHOICES: Final = "lab_sheet_choices"
_NO_COLUMN: Final = "not used"
_ALL: Final = {f"all are {kind}": kind for kind in KINDS}
_LABELS: Final = {
    "name": "Item",
    "kind": "Equipment or reagent",
    "state": "State",
    "until": "Booked until day",
    "price": "Price",
}


def take_file(data: bytes, name: str) -> None:
    """Take a file with the columns of the template; of any other, ask for its columns.

    Raises:
        TableError: the file cannot be read as a table.
    """
    table = InventoryTable(name, read_table(data, name))
    close()
    try:
        items = read_inventory(data, name)
    except TableError:
        st.session_state[_OPEN] = table
        st.session_state[_NUMBER] = st.session_state.get(_NUMBER, 0) + 1
    else:
        _take(name, items)


def close() -> None:
    """Forget the uploaded list."""
    for key in (_OPEN, _CHOICES):
        st.session_state.pop(key, None)


def _take(name: str, items: Sequence[OwnItem]) -> None:
    """Store the items that differ from the study's lab."""
    differing = state.written().said_otherwise(items)
    number = len(differing)
    verb = "differs" if number == 1 else "differ"
    taken = f"{count_text(len(items), 'item')} read from {name}"
    notices.leave(f"{taken}; {number:,} {verb} from the study’s lab.", NOTICES)
    override(state.case().own_lab.model_copy(update={"items": differing}))
    redraw()
    close()


def draw_if_open() -> bool:
    """Draw the column pickers and the cells of an uploaded list; return whether there is one."""
    table: InventoryTable | None = st.session_state.get(_OPEN)
    if table is None:
        return False
    notices.draw(NOTICES)
    st.markdown(f"Choose the columns of {escaped(on_one_line(table.source))}.")
    columns = _draw_pickers(table)
    corrected = _draw_cells(table, columns)
    problem, items = "", tuple[OwnItem, ...]()
    missing = [_LABELS[column] for column in COLUMNS[:2] if not columns[column]]
    if missing:
        problem = f"Choose a column for: {', '.join(missing)}."
    else:
        try:
            items = read_items(corrected)
        except TableError as error:
            problem = str(error)
    if problem:
        complain(*problem.splitlines())
    with st.container(horizontal=True):
        take = partial(_take, table.source, items)
        label = f"Take {count_text(len(items), 'item')}"
        button(label, "check", take, key="take_sheet", type="primary", disabled=not items)
        button("Take nothing", "close", close, key="close_sheet")
    return True


def _draw_pickers(table: InventoryTable) -> dict[str, str]:
    """Draw a picker for each column of an inventory; return the chosen headings."""
    headings = [*map(str, table.frame.columns)]
    equal = {" ".join(heading.split()).casefold(): heading for heading in headings}
    chosen: dict[str, str] = st.session_state.setdefault(_CHOICES, {})
    for column, place in zip(COLUMNS, places(2), strict=False):
        options = ["", *headings, *(_ALL if column == "kind" else ())]
        begin = chosen.get(column, equal.get(column, ""))
        with place:
            chosen[column] = st.selectbox(
                _LABELS[column],
                options,
                options.index(begin),
                lambda heading: on_one_line(heading) or _NO_COLUMN,
                key=f"{_OPEN}_{column}_{st.session_state[_NUMBER]}",
            )
    return chosen


def _draw_cells(table: InventoryTable, columns: Mapping[str, str]) -> InventoryTable:
    """Draw the chosen columns for correction; return their corrected cells."""
    chosen = table.choose({name: heading for name, heading in columns.items() if heading}, _ALL)
    cells = chosen.frame
    if cells.empty:
        return chosen
    pickers = st.column_config.SelectboxColumn
    key = "_".join((_OPEN, "cells", str(st.session_state[_NUMBER]), *columns.values()))
    edited = st.data_editor(
        cells,
        key=key,
        column_config={
            "_index": st.column_config.NumberColumn("Row", format="%d"),
            **{column: st.column_config.TextColumn(_LABELS[column]) for column in columns},
            "kind": pickers(_LABELS["kind"], options=_options(chosen, "kind", KINDS)),
            "state": pickers(_LABELS["state"], options=_options(chosen, "state", STATES)),
        },
        num_rows="delete",
    )
    return InventoryTable(on_one_line(table.source), edited.fillna(""))


def _options(table: InventoryTable, column: str, words: Sequence[str]) -> list[str]:
    """Return the allowed words, then the file's own, which the editor could not show otherwise."""
    own = dict.fromkeys(table.frame[column]) if column in table.frame else ()
    return [*words, *(word for word in own if word and word not in words)]
