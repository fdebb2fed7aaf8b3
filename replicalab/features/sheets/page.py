"""The drawer's list of items: choose its columns, correct its cells, take the items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from secrets import token_hex
from typing import Final, TypeVar

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.errors import TableError
from replicalab.features import sheets
from replicalab.features.sheets import HEADINGS, REQUIRED, Reading, Table
from replicalab.features.sheets.cells import KINDS, MEANINGS, STATES, Answers
from replicalab.lexicon import count_text, label_key
from replicalab.limits import MOST_FAULTS, MOST_OWN_ITEMS, MOST_SHEET_BYTES
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import OwnItem
from replicalab.ui import notices, state
from replicalab.ui.controls import button, complain, places
from replicalab.ui.files import download, upload
from replicalab.ui.lab.fields import use
from replicalab.ui.words import escaped

_Answer = TypeVar("_Answer")
_NOTICES: Final = "lab_items"
_OPEN: Final = "lab_sheet"
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
    headings: dict[str, str] = field(default_factory=dict)
    key: str = field(default_factory=token_hex)

    def __post_init__(self) -> None:
        self.headings = sheets.proposed_columns(self.frame)
        named = MEANINGS["kind"].get(label_key(self.headings.get("name", "")))
        if named and "kind" not in self.headings:
            self.headings["kind"] = f"all are {_term(named)}"


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


def _open(data: bytes, name: str, heading: int | None = None) -> None:
    frame = sheets.read_table(data, name, heading)
    st.session_state[_OPEN] = _Upload(on_one_line(name), data, frame)


def _close() -> None:
    st.session_state.pop(_OPEN, None)


def _term(word: object) -> str:
    return state.written().study.term(str(word))


def _label(column: str) -> str:
    return _term(_LABELS[column])


def _take(name: str, items: Sequence[OwnItem], start: date | None) -> None:
    differing = state.written().changed_items(items)
    taken = f"{count_text(len(items), 'item')} read from {name}"
    notices.leave(f"{taken}, {len(differing)} of them unlike the study’s lab.", _NOTICES)
    changes = {"items": differing} | ({"start_date": start} if start else {})
    use(state.case().own_lab.model_copy(update=changes))
    _close()


def _draw_list(upload: _Upload) -> None:
    st.markdown(f"Choose the columns of {escaped(upload.name)}.")
    top = int(upload.frame.attrs["heading"])
    last = int(upload.frame.index[-1]) - 1
    chosen = st.number_input("Row of the headings", 1, max(last, top), top, key=f"{upload.key}_top")
    if chosen != top:
        _open_at(upload, chosen)
    frame = _draw_cells(upload, _draw_pickers(upload))
    answers, start = _draw_questions(upload, frame)
    everything = named = Reading((), [])
    if missing := [_label(column) for column in REQUIRED if column not in frame]:
        complain(f"Choose a column for: {', '.join(missing)}.")
    else:
        named_rows = sheets.rows_named(frame, state.written())
        named = _read(named_rows, upload, answers, complains=len(frame) > MOST_OWN_ITEMS)
        everything = _read(frame, upload, answers)
    _draw_reading(everything if everything.items else named)
    with st.container(horizontal=True):
        for label, key, items in (
            (f"Take {count_text(len(everything.items), 'item')}", "take_sheet", everything.items),
            ("Take only what this study names", "take_named", named.items),
        ):
            take = partial(_take, upload.name, items, start)
            button(label, "check", take, key=key, disabled=not items)
        button("Take nothing", "close", _close, key="close_sheet")


def _open_at(upload: _Upload, heading: int) -> None:
    try:
        _open(upload.data, upload.name, heading)
    except TableError as error:
        complain(*str(error).splitlines())
    else:
        st.rerun()


def _read(frame: Table, upload: _Upload, how: Answers, *, complains: bool = True) -> Reading:
    try:
        return sheets.read_items(frame, upload.name, how)
    except TableError as error:
        if complains:
            complain(*str(error).splitlines())
        return Reading((), [])


def _draw_reading(reading: Reading) -> None:
    """Draw the items as they are read, and notes on cells that were read otherwise."""
    for note in reading.notes[:MOST_FAULTS]:
        st.caption(escaped(f"{on_one_line(str(note))}."))
    if more := len(reading.notes[MOST_FAULTS:]):
        st.caption(f"{count_text(more, 'more note')}.")
    if reading.items:
        rows = [item.model_dump(mode="json") for item in reading.items]
        st.dataframe(rows, hide_index=True)


def _choice(label: str, texts: Mapping[_Answer, str], key: str) -> _Answer | None:
    return st.radio(label, [*texts], None, lambda answer: texts[answer], key=key, horizontal=True)


def _draw_questions(upload: _Upload, frame: Table) -> tuple[Answers, date | None]:
    """Draw questions about the sheet's dates; return the answers and a start date to take."""
    lab, asked = state.analysis().yours.pack.lab, sheets.questions(frame)
    day_first = numbers = new = None
    if asked.numbers:
        numbers = _choice("Numbers among the dates are", _NUMBERS, f"{upload.key}_numbers")
    if asked.order:
        day_first = _choice("3/4/2026 is", _ORDERS, f"{upload.key}_order")
    if lab.start_date is None and (asked.dates or numbers == "dates"):
        new = st.date_input(
            "Date of the lab’s day 1", None, key=f"{upload.key}_start", format="YYYY-MM-DD"
        )
    answers = Answers(
        new or lab.start_date,
        lab.weekends,
        lab.start_day,
        lab.days,
        lab.currency,
        day_first,
        numbers or "",
    )
    return answers, new


def _draw_pickers(upload: _Upload) -> Table:
    """Draw a picker for each field of an inventory; return the chosen columns."""
    all_are = {f"all are {_term(kind)}": kind for kind in KINDS}
    cells = upload.frame.assign(**all_are)
    for column, place in zip(HEADINGS, places(2), strict=False):
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
