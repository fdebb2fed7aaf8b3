"""The study in the form: a widget per row of the field table; a wrong value stays in it."""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial
from hashlib import sha256
from itertools import count
from typing import Any, Final

import streamlit as st

from replicalab import designs, drafts, errors, lexicon, limits, scenarios
from replicalab.characters import on_one_line
from replicalab.drafts import draft_fields
from replicalab.drafts.draft import NEW_ID, FormSession
from replicalab.scenarios.lab import FIRST_YEAR, LAST_YEAR, read_date
from replicalab.scenarios.reading import Data, FieldPath, dotted
from replicalab.ui import own_studies, state
from replicalab.ui.controls import NumberField, button, complain, escape, places

SIGNIFICANT: Final = "%.6g"  # the format of a number that may be worked out
_SESSION: Final = "study_form"
_LARGEST: Final = 10**15  # number fields show no number beyond this


def kinds_shown() -> list[str]:
    return sorted(designs.KINDS, key=lambda kind: designs.KINDS[kind].sought is None)  # tests first


def session() -> FormSession:
    if _SESSION not in st.session_state:
        st.session_state[_SESSION] = FormSession(own_studies.usable_study)
    current: FormSession = st.session_state[_SESSION]
    return current


def draft() -> drafts.Draft:
    return session().draft


def new_id() -> str:
    shipped = (summary.scenario_id for summary in scenarios.list_scenarios())
    taken = {*own_studies.studies(), *shipped}
    ids = (NEW_ID if n == 1 else f"{NEW_ID}_{n}" for n in count(1))
    return next(free for free in ids if free not in taken)


def free_name() -> str:
    return drafts.free_name(drafts.NEW_NAME, own_studies.names())


def open_on_protocol(text: str, study: scenarios.Study) -> str:
    """Keep a study and open it on Protocol, or return why it cannot be kept."""
    refused = own_studies.refusal(text, study) or state.open_own_study(text, study)
    if not refused:
        st.switch_page("pages/1_Protocol.py", query_params=state.address())
    return refused


def draw_faults(faults: Sequence[errors.Fault]) -> None:
    complain(*map(draft_fields.fault_text, faults))


def draw_faults_at(*path: str | int) -> None:
    """Draw the faults of a field, and of an entry of its list."""
    here = dotted(path)
    for place, faults in session().result.faults.items():
        if place == here or (place.startswith(f"{here}[") and "." not in place[len(here) :]):
            draw_faults(faults)


def key(*path: str | int) -> str:
    """Return the key of a field's widget, which has no foreign text."""
    place = "_".join(map(str, path))
    if not re.fullmatch(r"[a-z0-9_]+", place):
        place = sha256(place.encode("utf-8", "replace")).hexdigest()
    return f"make_{session().version}_{place}"


def draw(place: str | FieldPath) -> None:
    """Draw the widget of a field by its path, and its faults."""
    path: FieldPath = tuple(place.split(".")) if isinstance(place, str) else place
    now = draft()
    field, value = draft_fields.field_at(path, now), now.at(*path)
    value = field.usual if value is None else value
    if field.input is draft_fields.Input.LABELS:
        value = [*now.labels(*path)]
        if field.options and not (field.options(now) or value):
            return
    effect = now.row.effect.name if now.row.effect else ""
    label = scenarios.term_in(str(now.at("domain_id")), field.label).format(
        effect=effect,
        Effect=lexicon.capitalised(effect),
        measure=now.row.measure,
        currency=escape(str(now.at("labs", drafts.YOUR_LAB, "currency") or lexicon.CREDITS)),
        item=escape(str(path[-1])),
    )
    drawn = _draw_number if field.input is draft_fields.Input.NUMBER else _draw_widget
    drawn(label, path, field, value)
    draw_faults_at(*path)


def draw_rows(columns: int | Sequence[float], fields: Iterable[str | FieldPath]) -> None:
    """Draw fields in rows of columns, by their number or widths."""
    for field, place in zip(fields, places(columns), strict=False):
        with place:
            draw(field)


def _put(path: FieldPath, value: Any) -> None:
    field = draft_fields.field_at(path, draft())
    session().change(draft_fields.edit_field(draft(), field, path, value))


def _draw_number(label: str, path: FieldPath, field: draft_fields.StudyField, at: Data) -> None:
    name, value = key(*path), as_number(at, whole=isinstance(field.step, int))
    look: dict[str, Any] = {"help": field.help or None, "placeholder": field.placeholder or None}
    if field.optional:
        # Streamlit lets a visitor empty a field only if its default is empty. So the value comes
        # through the session, once: later it would overwrite the typed text.
        st.session_state.setdefault(name, value)
        look["value"] = None
    if path[:-1] == ("design",) and path[-1] not in designs.PARAMETERS:
        look["format"] = SIGNIFICANT
    NumberField(label, name, value, partial(_put, path), step=field.step).draw(**look)


def as_number(value: Data, *, whole: bool) -> float | None:
    """Return a value as a number field can show it, None if it is no number."""
    if not isinstance(value, int | float):
        return None
    bounded = max(-_LARGEST, min(_LARGEST, value))
    return int(bounded) if whole else float(bounded)


def _draw_widget(label: str, path: FieldPath, field: draft_fields.StudyField, at: Data) -> None:
    name, text = key(*path), "" if at is None else str(at)
    options = list(field.options(draft())) if field.options else []
    look: dict[str, Any] = {
        "key": name,
        "help": field.help or None,
        "on_change": lambda: _put(path, st.session_state.get(name)),
    }
    match field.input:
        case draft_fields.Input.TEXT:
            placeholder = field.placeholder or None
            st.text_input(label, text, max_chars=field.longest, placeholder=placeholder, **look)
        case draft_fields.Input.PROSE:
            st.text_area(label, text, max_chars=limits.LONGEST_TEXT, height=72, **look)
        case draft_fields.Input.SWITCH:
            st.toggle(label, bool(at), **look)
        case draft_fields.Input.DATE:
            try:
                day = read_date(at)
            except ValueError:
                day = None
            first, last = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)
            st.date_input(label, day, first, last, format="YYYY-MM-DD", **look)
        case draft_fields.Input.CHOICE:
            names = options if at in options or at is None else [*options, at]
            index = names.index(at) if at in names else None
            look["format_func"] = lambda name: field.words.get(name) or on_one_line(str(name))
            st.selectbox(label, names, index, **look)
        case draft_fields.Input.LABELS:
            chosen = list(dict.fromkeys(at)) if isinstance(at, list) else []
            st.multiselect(
                label,
                list(dict.fromkeys([*map(str, options), *chosen])),
                chosen,
                format_func=on_one_line,
                accept_new_options=field.options is None,
                placeholder="Choose" if field.options else "Name, then Enter",
                wrap=True,
                **look,
            )


def draw_items(part: str) -> None:
    """Draw a list: a field that adds an item by its name, the choice of one, and its fields."""
    row, version = draft_fields.ITEM_LISTS[part], session().version
    columns = zip(*(draft().names(part, name) for name in row.named), strict=True)
    names = [" for ".join(parts) for parts in columns]
    opened, new = f"open_{part}_{version}", f"new_{part}_{version}"

    def add() -> None:
        if name := str(st.session_state[new]).strip():
            session().change(row.add(draft(), name))
            st.session_state[opened] = len(draft().items(part)) - 1
            st.session_state[new] = ""

    choose, write = st.columns([3, 2], vertical_alignment="bottom")
    label, length, hint = f"Add a {row.noun}", limits.LONGEST_LABEL, row.placeholder
    write.text_input(label, key=new, max_chars=length, placeholder=hint, on_change=add)
    draw_faults_at(part)
    if not names:
        choose.caption(f"No {row.noun} yet.")
        return
    st.session_state[opened] = min(st.session_state.get(opened) or 0, len(names) - 1)
    place = choose.selectbox(
        f"{row.noun.capitalize()} ({len(names)})",
        range(len(names)),
        format_func=lambda n: f"{n + 1}. {lexicon.shortened(on_one_line(names[n]), 60)}",
        key=opened,
    )
    with st.container(border=True, key=f"entry_{part}"):
        for column, fields in zip(st.columns(len(row.columns)), row.columns, strict=True):
            with column:
                for field in fields:
                    draw((part, place, field))
        button(
            f"Remove this {row.noun}",
            "delete",
            lambda: session().change(draft().without(part, place), redraw=True),
            key=f"remove_{part}",
            type="tertiary",
        )
