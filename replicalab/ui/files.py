"""The one way in for a file, and the one way out."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from replicalab.documents import MIMES, MOST_MB, SUFFIXES
from replicalab.errors import ReplicaLabError
from replicalab.ui import notices

Take = Callable[[bytes, str], None]  # Takes a file's bytes and its name


def upload(
    label: str,
    key: str,
    take: Take,
    suffixes: Sequence[str] = SUFFIXES,
    *,
    most_mb: int = MOST_MB,
    stays: bool = False,
    refused: str = "{error}",
    **how: Any,
) -> None:
    """Draw where a file is handed in, and below why the last one was refused.

    Args:
        label: what is asked for.
        key: of the widget, and of its notices.
        take: takes the file; what it refuses with a ReplicaLabError has changed nothing.
        suffixes: how the file's name may end.
        most_mb: the largest file.
        stays: whether the widget goes on showing the file; otherwise it is empty for the next one.
        refused: the notice, of the ``error`` and the ``file``.
        **how: `st.file_uploader` takes it.
    """
    number = 0 if stays else st.session_state.get(_count(key), 0)
    widget = f"{key}_{number}" if number else key
    taken = partial(_take, key, widget, take, refused)
    st.file_uploader(
        label, type=list(suffixes), key=widget, max_upload_size=most_mb, on_change=taken, **how
    )
    notices.draw(key, stays=stays)


def _take(key: str, widget: str, take: Take, refused: str) -> None:
    file = st.session_state[widget]
    notices.clear(key)
    if file is None:
        return
    # A widget of another key is an empty one; a file has no other way to leave its widget.
    st.session_state[_count(key)] = st.session_state.get(_count(key), 0) + 1
    try:
        take(file.getvalue(), file.name)
    except ReplicaLabError as error:
        notices.leave_problem(refused.format(error=error, file=file.name), key, "upload_file")


def _count(key: str) -> str:
    return f"{key}_files"


def download(
    label: str, make: Callable[[], str | bytes] | str | bytes, name: str, **how: Any
) -> None:
    """Draw a button that saves a file, or makes it first; `st.download_button` takes the rest."""
    mime = MIMES[name.rpartition(".")[2]]
    look = {"icon": ":material/download:", "on_click": "ignore", "mime": mime}
    st.download_button(label, make, file_name=name, **(look | how))
