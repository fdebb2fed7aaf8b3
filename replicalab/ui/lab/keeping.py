"""Labs that are kept by name in the library, and a lab as a file."""

from functools import partial
from typing import Final

import streamlit as st

from replicalab.errors import LibraryError, ReplicaLabError
from replicalab.lexicon import CREDITS
from replicalab.library import Entry, EntryKind, LibraryConflictError
from replicalab.limits import LONGEST_SHORT_TITLE
from replicalab.scenarios import lab_json, read_lab
from replicalab.ui import notices, panel, state
from replicalab.ui.controls import button
from replicalab.ui.files import download, upload
from replicalab.ui.lab.fields import override, redraw
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.words import escaped

_NAME: Final = "lab_name"
_KEPT: Final = "lab_kept"
_FILE: Final = "lab_file"
_SHOWN: Final = 12  # The last that were kept; the library's page has all


def draw() -> None:
    """Draw the lab's name, the saved labs, the lab as a file, and what features add."""
    st.session_state.setdefault(_NAME, state.case().own_lab.name or "")
    st.text_input(
        "Name of this lab",
        key=_NAME,
        max_chars=LONGEST_SHORT_TITLE,
        placeholder="Our lab",
        help="A named lab goes along to other studies.",
    )
    name = str(st.session_state[_NAME]).strip()
    button("Save this lab", "bookmark_add", _keep, disabled=not name, key="keep_lab")
    notices.draw(_KEPT)
    _draw_kept()
    upload("Open a lab", _FILE, _take_file, ["json"], help="A file saved here.")
    download("This lab", lab_json(state.case().own_lab), "lab.json", key="get_lab")
    panel.draw_features("lab", state.analysis())


def _draw_kept() -> None:
    try:
        entries = shelf().entries(owner(), EntryKind.LAB)
    except LibraryError as error:
        st.error(escaped(str(error)), icon=":material/folder_off:")
        return
    overrides = state.case().own_lab
    for entry in entries[:_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center"):
            # Only one of the name of the lab in use is read.
            in_use = entry.about == (overrides.name or "") and _content(entry) == lab_json(
                overrides
            )
            st.markdown(f"{escaped(entry.name)}{' · in use' if in_use else ''}")
            button("Use", "check", partial(_use, entry), key=f"use_{entry.id}", disabled=in_use)
            button("Forget", "delete", partial(_forget, entry), key=f"forget_{entry.id}")
    if extra := len(entries[_SHOWN:]):
        st.caption(f"{extra} more under Library.")


def _content(entry: Entry) -> str:
    return shelf().read(owner(), entry.id).content


def _keep() -> None:
    """Keep the lab under its name, with budget, days and staff as its own.

    One that had the name stays in its history.
    """
    name = str(st.session_state[_NAME]).strip()
    lab, overrides = state.analysis().yours.pack.lab, state.case().own_lab
    means = {"budget": max(1, int(lab.budget)), "days": lab.days, "staff": lab.staff}
    money = {} if lab.currency == CREDITS else {"currency": lab.currency}
    try:
        named = overrides.model_copy(update={"name": name, **means, **money})
        _save(name, lab_json(named))
    except (ReplicaLabError, ValueError) as error:
        notices.leave_problem(str(error), _KEPT)
        return
    override(named)
    redraw()


def _save(name: str, content: str) -> None:
    try:
        shelf().keep(owner(), EntryKind.LAB, name, content)
    except LibraryConflictError as error:
        entry = error.now.entry
        shelf().update(owner(), entry.id, content, base_version=entry.version)


def _forget(entry: Entry) -> None:
    """Forget a lab that was kept; the one in use stays in use, and the library can undo it."""
    notices.attempt(lambda: shelf().delete(owner(), entry.id), _KEPT)


def _use(entry: Entry) -> None:
    def use() -> None:
        override(read_lab(_content(entry).encode()))
        st.session_state[_NAME] = entry.name
        redraw()

    notices.attempt(use, _KEPT)


def _take_file(data: bytes, name: str) -> None:
    overrides = read_lab(data)
    notices.leave(f"The lab of {name} is in use.", _FILE)
    override(overrides)
    redraw()
