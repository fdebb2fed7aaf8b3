"""A lab as a file: its items from CSV or Excel, all of it as a small file, and a template."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.errors import ReplicaLabError
from replicalab.scenarios import OwnLab, lab_json, read_lab
from replicalab.tables import SUFFIXES, inventory_template, read_inventory
from replicalab.ui import state
from replicalab.ui.lab.fields import begin, say, stamp
from replicalab.ui.words import as_list, escaped

_REPORT: Final = "lab_file_report"
_MOST_MB: Final = 2


def draw() -> None:
    """Draw opening a file, what came of the last one, and what can be downloaded."""
    st.file_uploader(
        "Open a lab, or a list of items (CSV or Excel)",
        type=["json", *SUFFIXES],
        key=f"lab_file_{stamp()}",
        max_upload_size=_MOST_MB,
        on_change=_take,
        help="A list has the columns name, kind, state, until and price; the template shows how.",
    )
    taken, text = st.session_state.pop(_REPORT, (True, ""))
    if text and taken:
        st.caption(f":material/check: {escaped(text)}")
    elif text:
        st.error(as_list(text), icon=":material/upload_file:")
    pack = state.here().yours.pack
    with st.container(horizontal=True):
        _download("This lab", lab_json(state.workspace().own_lab), "lab.json", "application/json")
        _download("A template of items", inventory_template(pack), "items.csv", "text/csv")


def _download(label: str, text: str, name: str, mime: str) -> None:
    st.download_button(
        label, text, name, mime, icon=":material/download:", on_click="ignore", key=f"get_{name}"
    )


def _take() -> None:
    """Take the file that was handed over, or tell why it cannot be; then nothing has changed."""
    upload = st.session_state[f"lab_file_{stamp()}"]
    if upload is None:
        return
    try:
        own, text = _read(upload.getvalue(), upload.name)
    except ReplicaLabError as error:
        st.session_state[_REPORT] = False, str(error)
    else:
        st.session_state[_REPORT] = True, text
        say(own)
    begin()


def _read(data: bytes, name: str) -> tuple[OwnLab, str]:
    """Return the lab of a file, and what was taken from it.

    Raises:
        ReplicaLabError: it holds none.
    """
    if name.lower().endswith(".json"):
        own = read_lab(data)
        return own, f"The lab of {name} is in use."
    items = read_inventory(data, name)
    differ = state.written().said_otherwise(items)
    own = state.workspace().own_lab.model_copy(update={"items": differ})
    return own, f"{len(items)} items read from {name}; {len(differ)} differ from the study’s lab."
