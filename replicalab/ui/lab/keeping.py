"""Labs that are kept by name, in the library."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from replicalab.errors import LibraryError, ReplicaLabError
from replicalab.library import Entry, Kind, LibraryConflictError
from replicalab.scenarios import LONGEST_SHORT_TITLE, OwnLab, lab_json, read_lab
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.lab import files
from replicalab.ui.lab.fields import begin, say
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.words import as_list, escaped

_NAME: Final = "lab_name"
_PROBLEM: Final = "lab_problem"
_MOST_SHOWN: Final = 12
"""The last that were kept; the library's page has all."""


def draw() -> None:
    """Draw the name under which the lab is kept, and the labs that are."""
    st.session_state.setdefault(_NAME, state.workspace().own_lab.name or "")
    st.text_input(
        "Name of this lab",
        key=_NAME,
        max_chars=LONGEST_SHORT_TITLE,
        placeholder="Our lab",
        help="A named lab goes along to other studies.",
    )
    name = str(st.session_state[_NAME]).strip()
    button("Keep this lab", "bookmark_add", _keep, disabled=not name, key="keep_lab")
    if problem := st.session_state.pop(_PROBLEM, ""):
        st.error(as_list(problem), icon=":material/error:")
    _draw_kept()
    files.draw()


def _draw_kept() -> None:
    try:
        kept = shelf().entries(owner(), Kind.LAB)
    except LibraryError as error:
        st.error(escaped(str(error)), icon=":material/folder_off:")
        return
    for each in kept[:_MOST_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center"):
            in_use = _is_in_use(each)
            st.markdown(f"{escaped(each.name)}{' · in use' if in_use else ''}")
            button("Use", "check", partial(_use, each), key=f"use_{each.id}", disabled=in_use)
            button("Forget", "delete", partial(_forget, each), key=f"forget_{each.id}")
    if more := len(kept[_MOST_SHOWN:]):
        st.caption(f"{more} more under Library.")


def _is_in_use(entry: Entry) -> bool:
    """Return whether the lab is the one in use; only one of its name is read for it."""
    own = state.workspace().own_lab
    return entry.about == (own.name or "") and _content(entry) == lab_json(own)


def _content(entry: Entry) -> str:
    return shelf().read(owner(), entry.id).content


def _keep() -> None:
    """Keep the lab under its name, with budget, days and staff as its own.

    One that had the name stays in its history.
    """
    name = str(st.session_state[_NAME]).strip()
    lab, own = state.here().yours.pack.lab, state.workspace().own_lab
    means = {"budget": max(1, int(lab.budget)), "days": lab.days, "staff": lab.staff}
    try:
        named = own.model_copy(update={"name": name, **means})
        _save(name, lab_json(named))
    except (ReplicaLabError, ValueError) as error:
        st.session_state[_PROBLEM] = str(error)
        return
    say(named)
    begin()


def _save(name: str, content: str) -> None:
    try:
        shelf().keep(owner(), Kind.LAB, name, content)
    except LibraryConflictError as error:
        there = error.now.entry
        shelf().update(owner(), there.id, content, base_version=there.version)


def _forget(entry: Entry) -> None:
    """Forget a lab that was kept; the one in use stays in use, and the library can undo it."""
    try:
        shelf().delete(owner(), entry.id)
    except LibraryError as error:
        st.session_state[_PROBLEM] = str(error)


def _use(entry: Entry) -> None:
    """Use a lab that was kept."""
    try:
        found: OwnLab = read_lab(_content(entry).encode())
    except ReplicaLabError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    st.session_state[_NAME] = entry.name
    say(found)
    begin()
