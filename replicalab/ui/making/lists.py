"""Lists of a study in the form: all entries at a glance, and the fields of the one that is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.drafts import Draft
from replicalab.lexicon import shortened
from replicalab.models import LONGEST_LABEL
from replicalab.ui.making import fields, record

_SHORT: Final = 60


def draw_list(
    part: str,
    noun: str,
    names: Sequence[str],
    *,
    add: Callable[[Draft, str], Draft],
    draw: Callable[[int], None],
    placeholder: str,
) -> None:
    """Draw a list: a field that adds an entry, the choice of one, and its fields.

    Args:
        part: the list's key in the file.
        noun: what an entry is called.
        names: what each entry is called in the choice.
        add: adds one of that name to a draft.
        draw: draws the fields of the entry at a place.
        placeholder: what the field says that adds one.
    """
    version = record.current().version
    opened, new = f"open_{part}_{version}", f"new_{part}_{version}"
    choose, write = st.columns([3, 2], vertical_alignment="bottom")
    write.text_input(
        f"Add a {noun}",
        key=new,
        max_chars=LONGEST_LABEL,
        placeholder=placeholder,
        on_change=partial(_add, part, add),
    )
    fields.say(part)
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
        st.button(
            f"Remove this {noun}",
            key=f"remove_{part}",
            icon=":material/delete:",
            type="tertiary",
            on_click=partial(_remove, part, place),
        )


def _add(part: str, add: Callable[[Draft, str], Draft]) -> None:
    """Add an entry of the name that was typed, and open it."""
    now = record.current()
    new: Any = f"new_{part}_{now.version}"
    name = str(st.session_state[new]).strip()
    if name:
        record.change(add(now.draft, name))
        st.session_state[f"open_{part}_{now.version}"] = len(now.draft.items(part)) - 1
        st.session_state[new] = ""


def _remove(part: str, place: int) -> None:
    now = record.current()
    record.change(now.draft.without(part, place))
    now.version += 1
