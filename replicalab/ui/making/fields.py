"""The form's fields: a widget each, and beside it what is wrong with what stands there.

A number may be typed freely: the browser would keep back one out of bounds. What cannot be used
stays in its field, and is said below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.drafts import Draft
from replicalab.errors import Fault
from replicalab.lexicon import capitalised
from replicalab.measures import KINDS, PARAMETERS
from replicalab.models import LONGEST_LABEL, LONGEST_TEXT
from replicalab.scenarios.reading import Data, FieldPath, dotted
from replicalab.ui.making import record
from replicalab.ui.words import escaped

Change = Callable[[Draft, Any], Draft]
"""What a value does to a draft."""

_LARGEST: Final = 10**15
"""No field is drawn with a number beyond this, whatever was typed into it."""
_WORDS: Final = {
    **{row.kind.value: f"“{row.title}”" for row in KINDS.values()},
    **{name: parameter.phrase for name, parameter in PARAMETERS.items()},
    "effect_planning": "the assumed effect",
    "effect_published": "the published effect",
    "sesoi": "the smallest effect of interest",
    "min_days": "the least days",
    "an empty value is not allowed": "nothing stands here",
    "'' is not allowed": "nothing stands here",
}
_POINT_ZERO: Final = re.compile(r"(?<=\d)\.0(?=[ :;,])")
"""What a whole number ends in that nobody typed."""
_NAMED: Final = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in _WORDS))


def fault_text(fault: Fault) -> str:
    """Return a fault beside its field: what stands there, and what to write instead."""
    remedy = f"it {fault.remedy}" if fault.remedy.startswith("must ") else fault.remedy
    said = _NAMED.sub(lambda match: _WORDS[match[0]], f"{fault.problem}: {remedy}")
    return f"{capitalised(_POINT_ZERO.sub('', said))}."


def key(*path: str | int) -> str:
    """Return the key of the widget of a field, in which no foreign text stands."""
    place = "_".join(map(str, path))
    if not re.fullmatch(r"[a-z0-9_]+", place):
        place = sha256(place.encode("utf-8", "replace")).hexdigest()
    return f"make_{record.current().version}_{place}"


def say(*path: str | int) -> None:
    """Draw what is wrong with a field, and with an entry of its list."""
    here = dotted(path)
    for place, faults in record.current().found.faults.items():
        if place == here or (place.startswith(f"{here}[") and "." not in place[len(here) :]):
            draw_faults(faults)


def draw_faults(faults: Sequence[Fault]) -> None:
    """Draw faults, each in a box of its own."""
    for fault in faults:
        st.error(escaped(fault_text(fault)), icon=":material/edit_off:")


def _take(widget: str, path: FieldPath, change: Change | None) -> None:
    """Take what a field holds now."""
    draft, value = record.draft(), st.session_state.get(widget)
    record.change(change(draft, value) if change else draft.put(value, *path))


def _how(path: FieldPath, change: Change | None) -> dict[str, Any]:
    widget = key(*path)
    return {"key": widget, "on_change": _take, "args": (widget, path, change)}


def number(
    label: str,
    *path: str | int,
    step: float = 1,
    change: Change | None = None,
    usual: float | None = None,
    **more: Any,
) -> None:
    """Draw a number, whole where its step is.

    Args:
        label: what it is called.
        path: where it stands.
        step: by how much the buttons change it.
        change: what it does to the draft, where it is not only put there.
        usual: what holds where nothing stands there.
        more: for `st.number_input`.
    """
    at, whole = record.draft().at(*path), isinstance(step, int)
    shown = as_number(usual if at is None else at, whole=whole)
    form = None if whole else "%g"
    how = {"value": shown, "step": step, "format": form, **_how(path, change), **more}
    st.number_input(label, **how)
    say(*path)


def optional_number(label: str, *path: str | int, step: float = 1, **more: Any) -> None:
    """Draw a number that can be taken away again.

    The browser lets a field be emptied only where its default is empty, so that what stands there
    comes through the session; only once, for else it would overwrite what is being typed.
    """
    if (widget := key(*path)) not in st.session_state:
        whole = isinstance(step, int)
        st.session_state[widget] = as_number(record.draft().at(*path), whole=whole)
    number(label, *path, step=step, **{"value": None, **more})


def as_number(at: Data, *, whole: bool) -> float | None:
    """Return what stands somewhere as a field can show it; None for what is no number."""
    if not isinstance(at, int | float):
        return None
    bounded = max(-_LARGEST, min(_LARGEST, at))
    return int(bounded) if whole else float(bounded)


def text(label: str, *path: str | int, change: Change | None = None, **more: Any) -> None:
    """Draw a text of one line."""
    at = record.draft().at(*path)
    how = {"max_chars": LONGEST_LABEL, **_how(path, change), **more}
    st.text_input(label, "" if at is None else str(at), **how)
    say(*path)


def prose(label: str, *path: str | int, **more: Any) -> None:
    """Draw a text of several lines."""
    at = record.draft().at(*path)
    how = {"max_chars": LONGEST_TEXT, "height": 72, **_how(path, None), **more}
    st.text_area(label, "" if at is None else str(at), **how)
    say(*path)


def labels(
    label: str,
    *path: str | int,
    change: Change | None = None,
    options: Sequence[str] | None = None,
    **more: Any,
) -> None:
    """Draw a list of labels; new ones may be typed unless it chooses among others."""
    chosen = list(dict.fromkeys(record.draft().labels(*path)))
    known = list(dict.fromkeys([*(options or ()), *chosen]))
    how = {
        "format_func": on_one_line,
        "accept_new_options": options is None,
        "placeholder": "Type a name and press Enter" if options is None else "Choose",
        "wrap": True,
        **_how(path, change),
        **more,
    }
    st.multiselect(label, known, default=chosen, **how)
    say(*path)


def choice(
    label: str,
    options: Sequence[Any],
    *path: str | int,
    change: Change | None = None,
    **more: Any,
) -> None:
    """Draw a choice of one."""
    at = record.draft().at(*path)
    known = list(options) if at in options or at is None else [*options, at]
    place = known.index(at) if at in known else None
    how = {"format_func": on_one_line, **_how(path, change), **more}
    st.selectbox(label, known, index=place, **how)
    say(*path)


def switch(label: str, *path: str | int, **more: Any) -> None:
    """Draw a yes or no."""
    st.toggle(label, value=bool(record.draft().at(*path)), **_how(path, None), **more)
    say(*path)
