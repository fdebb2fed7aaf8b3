"""The drawer's list of items: choose its columns, correct its cells, take the items."""

from dataclasses import dataclass
from datetime import date
from functools import partial
from secrets import token_hex
from typing import Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.errors import TableError
from replicalab.features import sheets
from replicalab.features.sheets import HEADINGS, REQUIRED, Reading, Table
from replicalab.features.sheets.cells import MEANINGS, WORDS, Answers
from replicalab.lexicon import count_text, label_key
from replicalab.limits import MOST_FAULTS, MOST_OWN_ITEMS, MOST_SHEET_BYTES
from replicalab.planner import PlanAnalysis
from replicalab.ui import notices, state
from replicalab.ui.controls import button, complain, places
from replicalab.ui.files import download, upload
from replicalab.ui.lab.fields import use
from replicalab.ui.words import escaped

_NOTICES: Final = "lab_items"
_OPEN: Final = "lab_sheet"
_SUFFIXES: Final = ("csv", "tsv", "txt", "xlsx")
_LABELS: Final = {
    "name": "Item",
    "kind": "Equipment or reagent",
    "state": "State",
    "quantity": "Quantity in stock",
    "from": "Booked from",
    "until": "Booked until",
    "expiry": "Expiry",
    "price": "Price",
}
_ORDERS: Final = {True: "3 April", False: "4 March"}
_NUMBERS: Final = {"days": "days of the lab", "dates": "dates of Excel"}


@dataclass
class _Upload:
    name: str
    data: bytes
    frame: Table
    headings: dict[str, str]
    key: str


def panel(_: str, plan: PlanAnalysis) -> None:
    """Draw the open list, the field for another one, and a template."""
    if opened := st.session_state.get(_OPEN):
        _draw_list(opened)
    upload(
        "Open a list of items (CSV or Excel)",
        _NOTICES,
        _open,
        _SUFFIXES,
        most_mb=MOST_SHEET_BYTES // 2**20,
        help="Choose its columns and check its items before you take them. Only the first sheet "
        "of a workbook is read.",
    )
    template = sheets.inventory_template(plan.yours.pack)
    download("A template of items", template, "items.csv", key="get_items")


def _open(data: bytes, name: str, heading: int | None = None) -> None:
    frame = sheets.read_table(data, name, heading)
    headings = sheets.proposed_columns(frame)
    kind = MEANINGS["kind"].get(label_key(headings.get("name", "")))
    headings |= {"kind": _all_are(kind)} if kind and "kind" not in headings else {}
    st.session_state[_OPEN] = _Upload(on_one_line(name), data, frame, headings, token_hex())


def _open_at(upload: _Upload, key: str) -> None:
    """Open the file again with the headings in another row."""
    again = partial(_open, upload.data, upload.name, st.session_state[key])
    notices.attempt(again, _NOTICES)


def _close() -> None:
    st.session_state.pop(_OPEN, None)


def _term(word: object) -> str:
    return state.written().study.term(str(word))


def _all_are(kind: str) -> str:
    return f"all are {_term(kind)}"


def _take(name: str, reading: Reading, start: date | None) -> None:
    differing = state.written().changed_items(reading.items)
    taken = f"{count_text(len(reading.items), 'item')} read from {name}"
    notices.leave(f"{taken}, {len(differing)} of them unlike the study’s lab.", _NOTICES)
    changes = {"items": differing} | ({"start_date": start} if start else {})
    use(state.case().own_lab.model_copy(update=changes))
    _close()


def _draw_list(upload: _Upload) -> None:
    st.markdown(f"Choose the columns of {escaped(upload.name)}.")
    top, last, key = upload.frame.attrs["heading"], upload.frame.index[-1], f"{upload.key}_top"
    moved = partial(_open_at, upload, key)
    st.number_input("Row of the headings", 1, int(last) - 1, top, key=key, on_change=moved)
    frame = _draw_cells(upload, _draw_pickers(upload))
    answers = _draw_questions(upload, frame)
    everything = named = Reading((), [])
    if missing := [_term(_LABELS[column]) for column in REQUIRED if column not in frame]:
        complain(f"Choose a column for: {', '.join(missing)}.")
    else:
        rows = sheets.rows_named(frame, state.written())
        named = _read(rows, upload, answers, complains=len(frame) > MOST_OWN_ITEMS)
        everything = _read(frame, upload, answers)
    _draw_reading(everything if everything.items else named)
    start = None if state.analysis().yours.pack.lab.start_date else answers.start_date
    with st.container(horizontal=True):
        for label, widget, reading in (
            (f"Take {count_text(len(everything.items), 'item')}", "take_sheet", everything),
            ("Take only what this study names", "take_named", named),
        ):
            take = partial(_take, upload.name, reading, start)
            button(label, "check", take, key=widget, disabled=not reading.items)
        button("Take nothing", "close", _close, key="close_sheet")


def _read(frame: Table, upload: _Upload, how: Answers, *, complains: bool = True) -> Reading:
    try:
        return sheets.read_items(frame, upload.name, how)
    except TableError as error:
        if complains:
            complain(*str(error).splitlines())
        return Reading((), [])


def _draw_reading(reading: Reading) -> None:
    notes = [escaped(f"{on_one_line(str(note))}.") for note in reading.notes]
    more = [f"{count_text(len(notes) - MOST_FAULTS, 'more note')}."] if notes[MOST_FAULTS:] else []
    for note in (*notes[:MOST_FAULTS], *more):
        st.caption(note)
    if reading.items:
        st.dataframe([item.model_dump(mode="json") for item in reading.items], hide_index=True)


def _draw_questions(upload: _Upload, frame: Table) -> Answers:
    """Draw questions about the sheet's dates; return the answers."""
    lab, asked = state.analysis().yours.pack.lab, sheets.questions(frame)
    day_first, numbers, start = None, None, lab.start_date
    if asked.numbers:
        key, label = f"{upload.key}_numbers", "Numbers among the dates are"
        numbers = st.radio(label, [*_NUMBERS], None, _NUMBERS.get, key=key, horizontal=True)
    if asked.order:
        key = f"{upload.key}_order"
        day_first = st.radio("3/4/2026 is", [*_ORDERS], None, _ORDERS.get, key=key, horizontal=True)
    if start is None and (asked.dates or numbers == "dates"):
        key, label = f"{upload.key}_start", "Date of the lab’s day 1"
        start = st.date_input(label, None, key=key, format="YYYY-MM-DD")
    calendar = start, lab.weekends, lab.start_day, lab.days, lab.currency
    return Answers(*calendar, day_first, numbers or "")


def _draw_pickers(upload: _Upload) -> Table:
    """Draw a picker for each field of an inventory; return the chosen columns."""
    all_are = {_all_are(kind): kind for kind in WORDS["kind"]}
    for column, place in zip(HEADINGS, places(2), strict=False):
        options = ["", *upload.frame, *(all_are if column == "kind" else ())]
        with place:
            upload.headings[column] = st.selectbox(
                _term(_LABELS[column]),
                options,
                options.index(upload.headings.get(column, "")),
                lambda heading: on_one_line(heading) or "not used",
                key=f"{upload.key}_{column}",
            )
    chosen = {column: heading for column, heading in upload.headings.items() if heading}
    return upload.frame.assign(**all_are)[[*chosen.values()]].set_axis([*chosen], axis=1)


def _draw_cells(upload: _Upload, cells: Table) -> Table:
    """Draw the chosen columns for correction; return the corrected cells."""
    if cells.columns.empty:
        return cells
    config = st.column_config
    columns = {name: config.TextColumn(_term(label)) for name, label in _LABELS.items()}
    columns["_index"] = config.NumberColumn("Row", format="%d")
    for column in ("kind", "state"):
        # The editor shows no words other than its options.
        words = dict.fromkeys([*WORDS[column], *filter(None, cells.get(column, ()))])
        columns[column] = config.SelectboxColumn(
            _term(_LABELS[column]), options=[*words], format_func=_term
        )
    key = "_".join((upload.key, *upload.headings.values()))
    edited = st.data_editor(cells, key=key, column_config=columns, num_rows="delete")
    return edited.fillna("")
