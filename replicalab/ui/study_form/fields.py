"""The form's fields: a widget for each place of the file, and below it what is wrong there.

What cannot be used stays in its field, and in the draft.
"""

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from hashlib import sha256
from typing import Any, Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.designs import KINDS, PARAMETERS
from replicalab.drafts import Draft
from replicalab.errors import Fault
from replicalab.lexicon import capitalised, shortened
from replicalab.models import LONGEST_LABEL, LONGEST_TEXT
from replicalab.scenarios.calendar import FIRST_YEAR, LAST_YEAR, read_date
from replicalab.scenarios.reading import Data, FieldPath, dotted
from replicalab.ui.controls import NumberField, button, complain
from replicalab.ui.study_form import record

Change = Callable[[Draft, Any], Draft]
"""What a value does to a draft, where it is not only put at its place."""

_LARGEST: Final = 10**15  # No field is drawn with a number beyond this, whatever was typed into it
_SHORT: Final = 60
_WORDS: Final = {
    **{row.kind: f"“{row.title}”" for row in KINDS.values()},
    **{name: parameter.phrase for name, parameter in PARAMETERS.items()},
    "effect_planning": "the assumed effect",
    "effect_published": "the published effect",
    "sesoi": "the smallest effect of interest",
    "min_days": "the least days",
    "an empty value is not allowed": "nothing stands here",
    "'' is not allowed": "nothing stands here",
}
_NAMED: Final = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in _WORDS))
AS_DOCUMENTS: Final = "%.6g"
"""How a number that was worked out is shown, as documents write it; it stays as it is."""
# What a whole number ends in that nobody typed.
_POINT_ZERO: Final = re.compile(r"(?<=\d)\.0(?=[ :;,])")


# --- what is wrong ----------------------------------------------------------------------------


def fault_text(fault: Fault) -> str:
    """Return a fault as its field shows it: what stands there, and what to write instead."""
    remedy = f"it {fault.remedy}" if fault.remedy.startswith("must ") else fault.remedy
    text = _NAMED.sub(lambda match: _WORDS[match[0]], f"{fault.problem}: {remedy}")
    return f"{capitalised(_POINT_ZERO.sub('', text))}."


def draw_faults(faults: Sequence[Fault]) -> None:
    """Draw faults, each in a box of its own."""
    complain(*map(fault_text, faults))


def draw_faults_at(*path: str | int) -> None:
    """Draw what is wrong with a field, and with an entry of its list."""
    here = dotted(path)
    for place, faults in record.current().result.faults.items():
        if place == here or (place.startswith(f"{here}[") and "." not in place[len(here) :]):
            draw_faults(faults)


# --- one value --------------------------------------------------------------------------------


def key(*path: str | int) -> str:
    """Return the key of the widget of a field, in which no foreign text stands."""
    place = "_".join(map(str, path))
    if not re.fullmatch(r"[a-z0-9_]+", place):
        place = sha256(place.encode("utf-8", "replace")).hexdigest()
    return f"make_{record.current().version}_{place}"


def _take(path: FieldPath, change: Change | None, value: Any) -> None:
    draft = record.draft()
    record.change(change(draft, value) if change else draft.put(value, *path))


def _draw(
    widget: Callable[..., object], label: str, path: FieldPath, change: Change | None, **how: Any
) -> None:
    """Draw the widget of a field, what is wrong with it, and have its value taken."""
    name = key(*path)

    def take() -> None:
        _take(path, change, st.session_state.get(name))

    widget(label, key=name, on_change=take, **how)
    draw_faults_at(*path)


def number(
    label: str,
    *path: str | int,
    step: float = 1,
    change: Change | None = None,
    usual: float | None = None,
    **more: Any,
) -> None:
    """Draw a number, whole where its step is; ``usual`` is what holds where nothing stands."""
    at = record.draft().at(*path)
    shown = as_number(usual if at is None else at, whole=isinstance(step, int))
    take = partial(_take, path, change)
    NumberField(label, key(*path), shown, take, step=step).draw(**more)
    draw_faults_at(*path)


def optional_number(label: str, *path: str | int, step: float = 1, **more: Any) -> None:
    """Draw a number that can be taken away again."""
    # The browser lets a field be emptied only where its default is empty, so what stands there
    # comes through the session: once, for else it would overwrite what is being typed.
    if (widget := key(*path)) not in st.session_state:
        at = record.draft().at(*path)
        st.session_state[widget] = as_number(at, whole=isinstance(step, int))
    number(label, *path, step=step, **{"value": None, **more})


def as_number(at: Data, *, whole: bool) -> float | None:
    """Return what stands somewhere as a field can show it; None for what is no number."""
    if not isinstance(at, int | float):
        return None
    bounded = max(-_LARGEST, min(_LARGEST, at))
    return int(bounded) if whole else float(bounded)


def text(
    label: str, *path: str | int, change: Change | None = None, usual: str = "", **more: Any
) -> None:
    """Draw a text of one line; ``usual`` is what holds where nothing stands."""

    def put(draft: Draft, typed: str) -> Draft:
        return draft.put(typed.strip() or usual, *path)

    how = {"value": _text_at(path) or usual, "max_chars": LONGEST_LABEL, **more}
    _draw(st.text_input, label, path, put if usual else change, **how)


def prose(label: str, *path: str | int) -> None:
    """Draw a text of several lines."""
    _draw(st.text_area, label, path, None, value=_text_at(path), max_chars=LONGEST_TEXT, height=72)


def _text_at(path: FieldPath) -> str:
    at = record.draft().at(*path)
    return "" if at is None else str(at)


def labels(
    label: str,
    *path: str | int,
    change: Change | None = None,
    options: Sequence[str] | None = None,
    **more: Any,
) -> None:
    """Draw a list of labels; new ones may be typed unless it chooses among ``options``."""
    chosen = list(dict.fromkeys(record.draft().labels(*path)))
    how = {
        "options": list(dict.fromkeys([*(options or ()), *chosen])),
        "default": chosen,
        "format_func": on_one_line,
        "accept_new_options": options is None,
        "placeholder": "Type a name and press Enter" if options is None else "Choose",
        "wrap": True,
    }
    _draw(st.multiselect, label, path, change, **how, **more)


def choice(
    label: str, options: Sequence[Any], *path: str | int, usual: Data = None, **more: Any
) -> None:
    """Draw a choice of one; ``usual`` is what holds where nothing stands."""
    at = record.draft().at(*path)
    at = usual if at is None else at
    known = list(options) if at in options or at is None else [*options, at]
    index = known.index(at) if at in known else None
    how = {"options": known, "index": index, "format_func": on_one_line, **more}
    _draw(st.selectbox, label, path, None, **how)


def switch(label: str, *path: str | int, usual: bool = False) -> None:
    """Draw a yes or no; ``usual`` is what holds where nothing stands."""
    at = record.draft().at(*path)
    _draw(st.toggle, label, path, None, value=usual if at is None else bool(at))


def day(label: str, *path: str | int) -> None:
    """Draw a date on which a lab may start, which can be taken away again."""
    try:
        shown = read_date(record.draft().at(*path))
    except ValueError:  # none stands there, or what is wrong is told below
        shown = None

    def put(draft: Draft, typed: date | None) -> Draft:
        return draft.put(typed.isoformat() if typed else None, *path)

    how = {"min_value": date(FIRST_YEAR, 1, 1), "max_value": date(LAST_YEAR, 12, 31)}
    _draw(st.date_input, label, path, put, value=shown, format="YYYY-MM-DD", **how)


# --- a list of entries ------------------------------------------------------------------------


def entries(
    part: str,
    noun: str,
    names: Sequence[str],
    *,
    add: Callable[[Draft, str], Draft],
    draw: Callable[[int], None],
    placeholder: str,
) -> None:
    """Draw a list: a field that adds an entry of a name, the choice of one, and its fields.

    ``part`` is the list's key in the file, ``names`` are those of the choice.
    """
    version = record.current().version
    opened, new = f"open_{part}_{version}", f"new_{part}_{version}"

    def add_entry() -> None:
        """Add an entry of the name that was typed, and open it."""
        if name := str(st.session_state[new]).strip():
            record.change(add(record.draft(), name))
            st.session_state[opened] = len(record.draft().items(part)) - 1
            st.session_state[new] = ""

    choose, write = st.columns([3, 2], vertical_alignment="bottom")
    write.text_input(
        f"Add a {noun}",
        key=new,
        max_chars=LONGEST_LABEL,
        placeholder=placeholder,
        on_change=add_entry,
    )
    draw_faults_at(part)
    if not names:
        choose.caption(f"No {noun} yet.")
        return
    st.session_state[opened] = min(st.session_state.get(opened) or 0, len(names) - 1)
    place = choose.selectbox(
        f"{noun.capitalize()} ({len(names)})",
        range(len(names)),
        format_func=lambda n: f"{n + 1}. {shortened(on_one_line(names[n]), _SHORT)}",
        key=opened,
    )
    with st.container(border=True, key=f"entry_{part}"):
        draw(place)
        remove = partial(_remove, part, place)
        button(f"Remove this {noun}", "delete", remove, key=f"remove_{part}", type="tertiary")


def _remove(part: str, place: int) -> None:
    record.change(record.draft().without(part, place), redraw=True)
