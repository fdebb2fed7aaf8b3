"""The drawer's list of items: choose its columns, correct its cells, take the items."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.errors import TableError
from replicalab.features import sheets
from replicalab.features.sheets import COLUMNS, KINDS, REQUIRED, STATES, Table
from replicalab.lexicon import count_text
from replicalab.limits import MOST_SHEET_BYTES
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import OwnItem
from replicalab.ui import notices, state
from replicalab.ui.controls import button, complain, places
from replicalab.ui.files import download, upload
from replicalab.ui.lab.fields import use
from replicalab.ui.words import escaped

_NOTICES: Final = "lab_items"
_OPEN: Final = "lab_sheet"
_LABELS: Final = {
    "name": "Item",
    "kind": "Equipment or reagent",
    "state": "State",
    "until": "Booked until day",
    "price": "Price",
}


@dataclass
class _Upload:
    name: str
    frame: Table
    headings: dict[str, str]
    key: str = field(default_factory=token_hex)


def panel(_: str, plan: PlanAnalysis) -> None:
    """Draw the open list, the field for another one, and a template."""
    opened: _Upload | None = st.session_state.get(_OPEN)
    if opened:
        _draw_list(opened)
    upload(
        "Open a list of items (CSV or Excel)",
        _NOTICES,
        _open,
        sheets.SUFFIXES,
        most_mb=MOST_SHEET_BYTES // 2**20,
        help="Choose its columns and check its items before you take them. Only the first sheet "
        "of a workbook is read.",
    )
    template = sheets.inventory_template(plan.yours.pack)
    download("A template of items", template, "items.csv", key="get_items")


def _open(data: bytes, name: str) -> None:
    frame = sheets.read_table(data, name)
    st.session_state[_OPEN] = _Upload(on_one_line(name), frame, sheets.columns_of(frame))


def _close() -> None:
    st.session_state.pop(_OPEN, None)


def _term(word: object) -> str:
    return state.written().study.term(str(word))


def _label(column: str) -> str:
    return _term(_LABELS[column])


def _take(name: str, items: Sequence[OwnItem]) -> None:
    differing = state.written().changed_items(items)
    taken = f"{count_text(len(items), 'item')} read from {name}"
    notices.leave(f"{taken}, {len(differing)} of them unlike the study’s lab.", _NOTICES)
    use(state.case().own_lab.model_copy(update={"items": differing}))
    _close()


def _draw_list(upload: _Upload) -> None:
    st.markdown(f"Choose the columns of {escaped(upload.name)}.")
    frame = _draw_cells(upload, _draw_pickers(upload))
    items: tuple[OwnItem, ...] = ()
    if missing := [_label(column) for column in REQUIRED if column not in frame]:
        complain(f"Choose a column for: {', '.join(missing)}.")
    else:
        try:
            items = sheets.read_items(frame, upload.name)
        except TableError as error:
            complain(*str(error).splitlines())
    with st.container(horizontal=True):
        take = partial(_take, upload.name, items)
        label = f"Take {count_text(len(items), 'item')}"
        button(label, "check", take, key="take_sheet", type="primary", disabled=not items)
        button("Take nothing", "close", _close, key="close_sheet")


def _draw_pickers(upload: _Upload) -> Table:
    """Draw a picker for each column of an inventory; return the chosen columns."""
    all_are = {f"all are {_term(kind)}": kind for kind in KINDS}
    cells = upload.frame.assign(**all_are)
    for column, place in zip(COLUMNS, places(2), strict=False):
        options = ["", *upload.frame, *(all_are if column == "kind" else ())]
        with place:
            upload.headings[column] = st.selectbox(
                _label(column),
                options,
                options.index(upload.headings.get(column, "")),
                lambda heading: on_one_line(heading) or "not used",
                key=f"{upload.key}_{column}",
            )
    chosen = {column: heading for column, heading in upload.headings.items() if heading}
    return cells[[*chosen.values()]].set_axis([*chosen], axis=1)


def _draw_cells(upload: _Upload, cells: Table) -> Table:
    """Draw the chosen columns for correction; return the corrected cells."""
    if cells.columns.empty:
        return cells
    columns = {
        "_index": st.column_config.NumberColumn("Row", format="%d"),
        **{name: st.column_config.TextColumn(_label(name)) for name in _LABELS},
    }
    for column, words in (("kind", KINDS), ("state", STATES)):
        words_in_cells = cells.get(column, ())  # the editor shows no other words than its options
        options = [*dict.fromkeys([*words, *filter(None, words_in_cells)])]
        columns[column] = st.column_config.SelectboxColumn(
            _label(column), options=options, format_func=_term
        )
    key = "_".join((upload.key, *upload.headings.values()))
    edited = st.data_editor(cells, key=key, column_config=columns, num_rows="delete")
    return edited.fillna("")
