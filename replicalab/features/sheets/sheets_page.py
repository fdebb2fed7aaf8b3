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
from replicalab.lexicon import count_text, label_key
from replicalab.limits import MOST_FAULTS, MOST_SHEET_BYTES
from replicalab.planner import PlanAnalysis
from replicalab.ui import notices, state
from replicalab.ui.controls import button, complain, escape, places
from replicalab.ui.file_transfer import download, upload
from replicalab.ui.lab_form.lab_fields import use

_NOTICES: Final = "lab_items"
_OPEN: Final = "lab_sheet"
_LABELS: Final = {name: row["label"] for name, row in sheets.FIELDS.items()}


@dataclass
class _Upload:
    name: str
    data: bytes
    frame: sheets.Table
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
        ("csv", "tsv", "txt", "xlsx"),
        most_mb=MOST_SHEET_BYTES // 2**20,
        help="Choose its columns and check its items before you take them. Only the first sheet "
        "of a workbook is read.",
    )
    template = sheets.inventory_template(plan.yours.pack)
    download("A template of items", template, "items.csv", key="get_items")


def _open(data: bytes, name: str, heading: int | None = None) -> None:
    frame = sheets.read_table(data, name, heading)
    headings = sheets.proposed_columns(frame)
    if kind := sheets.MEANINGS["kind"].get(label_key(headings.get("name", ""))):
        headings.setdefault("kind", _all_are(kind))
    st.session_state[_OPEN] = _Upload(on_one_line(name), data, frame, headings, token_hex())


def _close() -> None:
    st.session_state.pop(_OPEN, None)


def _term(word: object) -> str:
    return state.author_pack().study.term(str(word))


def _all_are(kind: str) -> str:
    return f"all are {_term(kind)}"


def _take(name: str, reading: sheets.Reading, start: date | None) -> None:
    differing = state.author_pack().changed_items(reading.items)
    taken = f"{count_text(len(reading.items), 'item')} read from {name}"
    notices.leave(f"{taken}, {len(differing)} of them unlike the study’s lab.", _NOTICES)
    changes = {"items": differing} | ({"start_date": start} if start else {})
    use(state.case().own_lab.model_copy(update=changes))
    _close()


def _draw_list(upload: _Upload) -> None:
    st.markdown(f"Choose the columns of {escape(upload.name)}.")
    top, last, key = upload.frame.attrs["heading"], upload.frame.index[-1], f"{upload.key}_top"

    def move() -> None:
        again = partial(_open, upload.data, upload.name, st.session_state[key])
        notices.attempt(again, _NOTICES)

    st.number_input("Row of the headings", 1, int(last) - 1, top, key=key, on_change=move)
    frame = _draw_cells(upload, _draw_pickers(upload))
    answers, reading = _draw_questions(upload, frame), sheets.Reading((), [])
    if missing := [_term(_LABELS[column]) for column in sheets.REQUIRED if column not in frame]:
        complain(f"Choose a column for: {', '.join(missing)}.")
    else:
        if st.toggle("Only this study’s items", key=f"{upload.key}_named"):
            frame = sheets.rows_named(frame, state.author_pack())
        try:
            reading = sheets.read_items(frame, upload.name, answers)
        except TableError as error:
            complain(*str(error).splitlines())
    notes = [escape(f"{on_one_line(str(note))}.") for note in reading.notes]
    more = [f"{count_text(len(notes) - MOST_FAULTS, 'more note')}."] if notes[MOST_FAULTS:] else []
    for note in (*notes[:MOST_FAULTS], *more):
        st.caption(note)
    if reading.items:
        st.dataframe([item.model_dump(mode="json") for item in reading.items], hide_index=True)
    start = None if state.analysis().yours.pack.lab.start_date else answers.start_date
    with st.container(horizontal=True):
        label = f"Take {count_text(len(reading.items), 'item')}"
        take = partial(_take, upload.name, reading, start)
        button(label, "check", take, key="take_sheet", disabled=not reading.items)
        button("Take nothing", "close", _close, key="close_sheet")


def _draw_pickers(upload: _Upload) -> sheets.Table:
    all_are = {_all_are(kind): kind for kind in sheets.WORDS["kind"]}
    for (column, label), place in zip(_LABELS.items(), places(2), strict=False):
        options = ["", *upload.frame, *(all_are if column == "kind" else ())]
        with place:
            upload.headings[column] = st.selectbox(
                _term(label),
                options,
                options.index(upload.headings.get(column, "")),
                lambda heading: on_one_line(heading) or "not used",
                key=f"{upload.key}_{column}",
            )
    chosen = {column: heading for column, heading in upload.headings.items() if heading}
    return upload.frame.assign(**all_are)[[*chosen.values()]].set_axis([*chosen], axis=1)


def _draw_cells(upload: _Upload, cells: sheets.Table) -> sheets.Table:
    if cells.columns.empty:
        return cells
    config = st.column_config
    columns = {name: config.TextColumn(_term(label)) for name, label in _LABELS.items()}
    columns["_index"] = config.NumberColumn("Row", format="%d")
    for column in ("kind", "state"):
        # The editor shows no words other than its options.
        words = [*dict.fromkeys([*sheets.WORDS[column], *filter(None, cells.get(column, ()))])]
        label = _term(_LABELS[column])
        columns[column] = config.SelectboxColumn(label, options=words, format_func=_term)
    key = "_".join((upload.key, *upload.headings.values()))
    return st.data_editor(cells, key=key, column_config=columns, num_rows="delete").fillna("")


def _draw_questions(upload: _Upload, frame: sheets.Table) -> sheets.Answers:
    lab, asked = state.analysis().yours.pack.lab, sheets.questions(frame)

    def ask(name: str, question: str, options: dict[str, str]) -> str | None:
        key = f"{upload.key}_{name}"
        return st.radio(question, [*options], None, options.get, key=key, horizontal=True)

    numbers, order, start = "", None, lab.start_date
    if asked["numbers"]:
        options = {"days": "days of the lab", "dates": "dates of Excel"}
        numbers = ask("numbers", "Numbers among the dates are", options) or ""
    if asked["order"]:
        order = ask("order", "3/4/2026 is", {"day": "3 April", "month": "4 March"})
    if start is None and (asked["dates"] or numbers == "dates"):
        key, label = f"{upload.key}_start", "Date of the lab’s day 1"
        start = st.date_input(label, None, key=key, format="YYYY-MM-DD")
    calendar = start, lab.weekends, lab.start_day, lab.days, lab.currency
    return sheets.Answers(*calendar, order == "day" if order else None, numbers)
