"""A lab's own sheet of items: how it is read is proposed, changed, seen row by row, and taken."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import streamlit as st
from pydantic import ValidationError

from replicalab.characters import on_one_line
from replicalab.lexicon import count_text
from replicalab.scenarios import (
    CATEGORIES,
    MOST_OWN_ITEMS,
    MOST_WITHOUT,
    MOST_WORDS,
    SHEET_COLUMNS,
    OwnItem,
    SheetColumn,
    SheetMapping,
    by_meaning,
)
from replicalab.scenarios.calendar import FIRST_YEAR, LAST_YEAR
from replicalab.tables import (
    ItemTable,
    OpenFile,
    Questions,
    ReadRow,
    Words,
    has_template_columns,
    items_of,
    open_inventory,
    proposed_columns,
    proposed_table,
    questions,
    read_rows,
    too_many,
)
from replicalab.ui import notices, panel, state
from replicalab.ui.controls import button, complain, places
from replicalab.ui.lab.fields import override, redraw
from replicalab.ui.words import escaped, in_label
from replicalab.views import sheet
from replicalab.views.blocks import sentences_panel

NOTICES: Final = "lab_file"
_OPEN: Final = "lab_sheet"
_NUMBER: Final = "lab_sheet_number"
# The last answers that were complete: the fields forget theirs while another tab is open.
_ANSWERS: Final = "lab_sheet_answers"
_NOT_USED: Final = "not used"
_PER_ROW: Final = 2
T = TypeVar("T", bound=str)


class _Sheet(NamedTuple):
    """A file that was handed in and is not taken yet; its widgets' keys end in its number."""

    name: str
    file: OpenFile
    number: int


def take_file(data: bytes, name: str) -> None:
    """Take a file in the form of the template; of any other, ask how it is read.

    Raises:
        TableError: it is no table, or one with the columns of the template and a fault.
    """
    found = open_inventory(data, name)
    if found.file is None:
        _take(name, found.items)
        return
    number = st.session_state[_NUMBER] = st.session_state.get(_NUMBER, 0) + 1
    _close()
    st.session_state[_OPEN] = _Sheet(name, found.file, number)
    if found.refusal and has_template_columns(found.file):
        raise found.refusal


def _take(name: str, items: Sequence[OwnItem], unread: int = 0, **others: object) -> None:
    """Let a lab have these items; what stands as the study says is not kept."""
    differ = state.written().said_otherwise(items)
    own = state.case().own_lab.model_copy(update={"items": differ, **others})
    notices.leave(sheet.taken_text(name, len(items), len(differ), unread), NOTICES)
    override(own)
    redraw()
    _close()


def _take_rows(name: str, rows: Sequence[ReadRow], mapping: SheetMapping) -> None:
    _take(name, items_of(rows), sum(bool(row.faults) for row in rows), sheet=mapping)


def _close() -> None:
    for key in (_OPEN, _ANSWERS):
        st.session_state.pop(key, None)


# --- the form -------------------------------------------------------------------------------


def draw_if_open() -> bool:
    """Draw how a sheet is read that was handed in, and return whether there is one."""
    handed_in: _Sheet | None = st.session_state.get(_OPEN)
    if handed_in is None:
        return False
    name, file, _ = handed_in
    notices.draw(NOTICES)
    saved = _in_calendar(state.case().own_lab.sheet)
    begun = proposed_table(file, saved)
    first = questions(begun, proposed_columns(begun, saved), saved)
    known = saved is not None and begun.fits(saved)
    panel.draw(sentences_panel([sheet.form_text(name, first, known=known)]))
    answers: SheetMapping | None = st.session_state.get(_ANSWERS, saved)
    with st.expander("How it is read", expanded=first.is_new):
        table = _draw_table(handed_in, proposed_table(file, answers))
        columns = _draw_columns(handed_in, table, proposed_columns(table, answers))
        asked = questions(table, columns, answers)
        said = _draw_questions(handed_in, columns, asked)
    try:
        mapping = SheetMapping.model_validate({"columns": columns, "western": file.western, **said})
    except ValidationError as error:
        complain(sheet.mapping_problem(error.errors(include_url=False)[0]["msg"]))
        rows = list[ReadRow]()
    else:
        st.session_state[_ANSWERS] = mapping
        rows = read_rows(table, mapping)
    _draw_ends(name, rows, partial(_take_rows, name, rows, mapping) if rows else _close)
    if rows:
        panel.draw(sheet.rows_panel(rows, state.analysis().yours.pack.lab.currency))
    return True


def _in_calendar(saved: SheetMapping | None) -> SheetMapping | None:
    """Return how the last sheet was read, with the start date that the lab has now."""
    lab = state.analysis().yours.pack.lab
    if saved is None or saved.first_day is None or lab.start_date is None:
        return saved
    return saved.model_copy(update={"first_day": lab.start_date, "weekends": lab.weekends})


def _draw_ends(name: str, rows: Sequence[ReadRow], take: Any) -> None:
    """Draw the buttons that take what is read, or nothing of it."""
    items = len(items_of(rows))
    if items > MOST_OWN_ITEMS:
        fault = too_many(items)
        complain(f"{name}: {fault.problem}; {fault.remedy}.")
    with st.container(horizontal=True):
        label = f"Take {count_text(items, 'item')}"
        full = not 0 < items <= MOST_OWN_ITEMS
        button(label, "check", take, key="take_sheet", type="primary", disabled=full)
        button("Take nothing", "close", _close, key="close_sheet")


def _key(handed_in: _Sheet, *parts: object) -> str:
    return "_".join(map(str, (_OPEN, *parts, handed_in.number)))


def _draw_table(handed_in: _Sheet, begun: ItemTable) -> ItemTable:
    """Draw which sheet and which row of headings, and return its table."""
    file, title = handed_in.file, begun.title
    if file.western:
        st.caption(sheet.western_text())
    if len(file.sheets) > 1:
        titles = list(file.sheets)
        key = _key(handed_in, "title")
        title = st.selectbox("Sheet", titles, titles.index(title), on_one_line, key=key)
    tables = {table.header.number: table for table in file.tables() if table.title == title}
    place = list(tables).index(begun.header.number) if title == begun.title else 0
    number = st.selectbox(
        "Row of the headings",
        list(tables),
        place,
        lambda row: sheet.heading_text(tables[row]),
        key=_key(handed_in, "row", title),
    )
    return tables[number]


def _draw_columns(
    handed_in: _Sheet, table: ItemTable, begun: Mapping[SheetColumn, str]
) -> dict[SheetColumn, str]:
    """Draw which column holds what, and return those that are used."""
    names, chosen = ["", *table.names], dict[SheetColumn, str]()
    for column, part in zip(SHEET_COLUMNS, places(_PER_ROW), strict=False):
        key = _key(handed_in, "column", column, table.title, table.header.number)
        with part:
            name = st.selectbox(
                sheet.COLUMNS[column],
                names,
                names.index(begun.get(column, "")),
                lambda name: on_one_line(name) or _NOT_USED,
                key=key,
            )
        if name:
            chosen[column] = name
    return chosen


def _draw_questions(
    handed_in: _Sheet, columns: Mapping[SheetColumn, str], asked: Questions
) -> dict[str, object]:
    """Draw what a table asks besides its columns, and return the answers by their fields."""
    said: dict[str, object] = {}
    if "kind" not in columns:
        kind = asked.kind and CATEGORIES.index(asked.kind)
        key = _key(handed_in, "kind")
        said["kind"] = st.radio("All items are", CATEGORIES, kind, key=key, horizontal=True)
    said["kinds"] = _draw_words(handed_in, "kind", columns, asked.kinds, sheet.KINDS)
    said["states"] = _draw_words(handed_in, "state", columns, asked.states, sheet.STATES)
    lab = state.analysis().yours.pack.lab
    if asked.first_day.asks and lab.start_date:
        said |= {"first_day": lab.start_date, "weekends": lab.weekends}
        st.caption(sheet.first_day_text(lab))
    elif asked.first_day.asks:
        said["first_day"] = st.date_input(
            "Date of the lab’s day 1",
            asked.first_day.begun,
            date(FIRST_YEAR, 1, 1),
            date(LAST_YEAR, 12, 31),
            key=_key(handed_in, "first_day"),
            format="YYYY-MM-DD",
        )
    for name, way, label, ways in (
        ("day_first", asked.day_first, "3/4/2026 is", ("3 April", "4 March")),
        ("comma", asked.comma, "A price of 1,250 is", ("1.25", "1250")),
    ):
        if way.asks:
            place = None if way.begun is None else int(not way.begun)
            key = _key(handed_in, name, *columns.values())
            chosen = st.radio(label, ways, place, key=key, horizontal=True)
            said[name] = None if chosen is None else chosen == ways[0]
    said["currency"] = _draw_currency(handed_in, asked.currencies)
    said["without"] = st.multiselect(
        "Leave these out",
        asked.labels,
        asked.without,
        on_one_line,
        key=_key(handed_in, "without", columns.get("name")),
        max_selections=MOST_WITHOUT,
        placeholder="None",
    )
    return said


def _draw_words(
    handed_in: _Sheet,
    column: SheetColumn,
    columns: Mapping[SheetColumn, str],
    words: Words[T],
    meanings: Mapping[T, str],
) -> dict[T, tuple[str, ...]]:
    """Draw what each word of a column means, and return those that were given a meaning."""
    if len(words.written) > MOST_WORDS:
        complain(sheet.words_problem(column, MOST_WORDS))
    known, said = list(meanings), dict[str, T]()
    listed = [*words.written.items()][:MOST_WORDS]
    for (word, written), part in zip(listed, places(_PER_ROW), strict=False):
        with part:
            meaning = st.selectbox(
                f"“{in_label(written)}” means",
                known,
                known.index(words.begun[word]) if word in words.begun else None,
                lambda name: meanings[name],
                key=_key(handed_in, "word", column, columns[column], word),
                placeholder="Choose",
            )
        if meaning is not None:
            said[word] = meaning
    return by_meaning(said)


def _draw_currency(handed_in: _Sheet, currencies: Sequence[str]) -> str:
    """Draw in which currency the prices are, where there are several, and return it."""
    if not currencies:
        return ""
    currency = currencies[0]
    if len(currencies) > 1:
        key = _key(handed_in, "currency")
        currency = st.radio("Prices are in", currencies, 0, key=key, horizontal=True)
    if said := sheet.price_text(currency, state.analysis().yours.pack.lab):
        st.caption(escaped(said))
    return currency
