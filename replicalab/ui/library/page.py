"""The page of what is kept: a list of it, and what may be done with each."""

from __future__ import annotations

import streamlit as st

from replicalab.errors import LibraryError
from replicalab.library import Entry
from replicalab.planner import Options
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.words import draw_table, escaped


def draw(here: Options) -> None:
    """Draw the library, or why it cannot be read."""
    try:
        entries = shelf().entries(owner())
    except LibraryError as error:
        st.error(escaped(str(error)), icon=":material/folder_off:")
        return
    if not entries:
        st.info("Nothing is kept yet.", icon=":material/bookmark:")
        return
    draw_table(("Name", "Kind", "About"), [_row(entry) for entry in entries])


def _row(entry: Entry) -> tuple[str, str, str]:
    return entry.name, entry.kind.value, entry.about
