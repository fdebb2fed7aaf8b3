"""The form's fields: the widget of each row of the field table, and below it what is wrong there.

What cannot be used stays in its field, and in the draft.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial
from hashlib import sha256
from typing import Any, Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.designs import PARAMETERS
from replicalab.drafts import YOUR_LAB
from replicalab.drafts.fields import ITEM_LISTS, Input, StudyField, edited, fault_text, field_at
from replicalab.errors import Fault
from replicalab.lexicon import CREDITS, capitalised, shortened
from replicalab.limits import LONGEST_LABEL, LONGEST_TEXT
from replicalab.scenarios.lab import FIRST_YEAR, LAST_YEAR, read_date
from replicalab.scenarios.reading import Data, FieldPath, dotted
from replicalab.ui.controls import NumberField, button, complain, places
from replicalab.ui.study_form import record
from replicalab.ui.words import escaped

_LARGEST: Final = 10**15  # No field is drawn with a number beyond this, whatever was typed into it
_SHORT: Final = 60
AS_DOCUMENTS: Final = "%.6g"
"""The format of a number that may be worked out, as documents write it."""


# --- what is wrong ------------------------------------------------------------------------------


def draw_faults(faults: Sequence[Fault]) -> None:
    """Draw faults, each in a box of its own."""
    complain(*map(fault_text, faults))


def draw_faults_at(*path: str | int) -> None:
    """Draw what is wrong with a field, and with an entry of its list."""
    here = dotted(path)
    for place, faults in record.current().result.faults.items():
        if place == here or (place.startswith(f"{here}[") and "." not in place[len(here) :]):
            draw_faults(faults)


# --- one field ----------------------------------------------------------------------------------


def key(*path: str | int) -> str:
    """Return the key of the widget of a field, in which no foreign text stands."""
    place = "_".join(map(str, path))
    if not re.fullmatch(r"[a-z0-9_]+", place):
        place = sha256(place.encode("utf-8", "replace")).hexdigest()
    return f"make_{record.current().version}_{place}"


def path_of(text: str) -> FieldPath:
    """Return a path from its dotted form."""
    return tuple(int(step) if step.isdigit() else step for step in text.split("."))


def draw(place: str | FieldPath) -> None:
    """Draw the widget of a field by its path, and what is wrong with it."""
    path = path_of(place) if isinstance(place, str) else place
    draft = record.draft()
    field, at = field_at(path, draft.row), draft.at(*path)
    at = field.usual if at is None else at
    if field.input is Input.LABELS:
        at = [*draft.labels(*path)]
        if field.options and not (field.options(draft) or at):
            return
    currency = str(draft.at("labs", YOUR_LAB, "currency") or CREDITS)
    effect = draft.row.effect.name if draft.row.effect else ""
    label = record.term(field.label).format(
        effect=effect,
        Effect=capitalised(effect),
        measure=capitalised(draft.row.measure),
        currency=escaped(currency),
        item=escaped(str(path[-1])),
    )
    if field.input is Input.NUMBER:
        _draw_number(label, path, field, at)
    else:
        name = key(*path)
        how = {"key": name, "help": field.help or None, "on_change": partial(_take, path, name)}
        _draw_widget(label, field, at, how)
    draw_faults_at(*path)


def draw_columns(shares: Sequence[float], *fields: str) -> None:
    """Draw fields next to each other, in columns of these widths."""
    for column, field in zip(st.columns(shares), fields, strict=True):
        with column:
            draw(field)


def draw_rows(in_a_row: int, fields: Iterable[str | FieldPath]) -> None:
    """Draw fields in rows of so many."""
    for field, place in zip(fields, places(in_a_row), strict=False):
        with place:
            draw(field)


def _take(path: FieldPath, name: str) -> None:
    _put(path, st.session_state.get(name))


def _put(path: FieldPath, value: Any) -> None:
    draft = record.draft()
    record.current().change(edited(draft, field_at(path, draft.row), path, value))


def _draw_number(label: str, path: FieldPath, field: StudyField, at: Data) -> None:
    name, value = key(*path), as_number(at, whole=isinstance(field.step, int))
    extra: dict[str, Any] = {"help": field.help or None, "placeholder": field.placeholder or None}
    if field.optional:
        # The browser lets a field be emptied only if its default is empty. So the value comes
        # through the session, once: later it would overwrite what is being typed.
        st.session_state.setdefault(name, value)
        extra["value"] = None
    if path[:-1] == ("design",) and path[-1] not in PARAMETERS:
        extra["format"] = AS_DOCUMENTS
    NumberField(label, name, value, partial(_put, path), step=field.step).draw(**extra)


def as_number(at: Data, *, whole: bool) -> float | None:
    """Return a value as a number field can show it; None if it is no number."""
    if not isinstance(at, int | float):
        return None
    bounded = max(-_LARGEST, min(_LARGEST, at))
    return int(bounded) if whole else float(bounded)


def _draw_widget(label: str, field: StudyField, at: Data, how: dict[str, Any]) -> None:
    text = "" if at is None else str(at)
    options = list(field.options(record.draft())) if field.options else []
    match field.input:
        case Input.TEXT:
            visible = field.placeholder or None
            st.text_input(label, text, max_chars=field.longest, placeholder=visible, **how)
        case Input.PROSE:
            st.text_area(label, text, max_chars=LONGEST_TEXT, height=72, **how)
        case Input.SWITCH:
            st.toggle(label, bool(at), **how)
        case Input.DATE:
            try:
                day = read_date(at)
            except ValueError:  # none, or one whose fault stands below
                day = None
            minimum, limit = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)
            st.date_input(label, day, minimum, limit, format="YYYY-MM-DD", **how)
        case Input.CHOICE:
            names = options if at in options or at is None else [*options, at]
            index = names.index(at) if at in names else None
            shown_as = partial(_option_text, field)
            st.selectbox(label, names, index, format_func=shown_as, **how)
        case Input.LABELS:
            chosen = list(dict.fromkeys(at)) if isinstance(at, list) else []
            st.multiselect(
                label,
                list(dict.fromkeys([*map(str, options), *chosen])),
                chosen,
                format_func=on_one_line,
                accept_new_options=field.options is None,
                placeholder="Choose" if field.options else "Type a name and press Enter",
                wrap=True,
                **how,
            )


def _option_text(field: StudyField, option: Data) -> str:
    return field.words.get(option) or on_one_line(str(option))


# --- a list of items ----------------------------------------------------------------------------


def draw_items(part: str) -> None:
    """Draw a list: a field that adds an item by its name, the choice of one, and its fields."""
    row, draft, version = ITEM_LISTS[part], record.draft(), record.current().version
    columns = zip(*(draft.names(part, name) for name in row.named), strict=True)
    names = [" for ".join(parts) for parts in columns]
    opened, new = f"open_{part}_{version}", f"new_{part}_{version}"

    def add_item() -> None:
        if name := str(st.session_state[new]).strip():
            record.current().change(row.add(record.draft(), name))
            st.session_state[opened] = len(record.draft().items(part)) - 1
            st.session_state[new] = ""

    choose, write = st.columns([3, 2], vertical_alignment="bottom")
    write.text_input(
        f"Add a {row.noun}",
        key=new,
        max_chars=LONGEST_LABEL,
        placeholder=row.placeholder,
        on_change=add_item,
    )
    draw_faults_at(part)
    if not names:
        choose.caption(f"No {row.noun} yet.")
        return
    st.session_state[opened] = min(st.session_state.get(opened) or 0, len(names) - 1)
    place = choose.selectbox(
        f"{row.noun.capitalize()} ({len(names)})",
        range(len(names)),
        format_func=lambda n: f"{n + 1}. {shortened(on_one_line(names[n]), _SHORT)}",
        key=opened,
    )
    with st.container(border=True, key=f"entry_{part}"):
        for column, fields in zip(st.columns(len(row.columns)), row.columns, strict=True):
            with column:
                for field in fields:
                    draw((part, place, field))
        remove = partial(_remove, part, place)
        button(f"Remove this {row.noun}", "delete", remove, key=f"remove_{part}", type="tertiary")


def _remove(part: str, place: int) -> None:
    record.current().change(record.draft().without(part, place), redraw=True)
