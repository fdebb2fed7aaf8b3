"""Upload and download of files."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from replicalab import server
from replicalab.documents import MIMES, SUFFIXES
from replicalab.errors import ReplicaLabError
from replicalab.lexicon import shortened
from replicalab.limits import MOST_FILE_BYTES
from replicalab.ui import notices

Take = Callable[[bytes, str], None]  # takes a file's bytes and its name


def upload(
    label: str,
    key: str,
    take: Take,
    suffixes: Sequence[str] = SUFFIXES,
    *,
    most_mb: int = MOST_FILE_BYTES // 2**20,
    stays: bool = False,
    refused: str = "{error}",
    **how: Any,
) -> None:
    """Draw a field for a file, with notices below it; `st.file_uploader` takes the rest.

    If ``take`` raises a ReplicaLabError, the notice is ``refused`` with its error and file. If
    ``stays``, the widget keeps showing the file.
    """
    if server.is_demo():
        st.caption(f"{label}: this demo takes no files. Install ReplicaLab to open yours.")
        return
    number = 0 if stays else st.session_state.get(f"{key}_files", 0)
    widget = f"{key}_{number}" if number else key
    changed = partial(_take, key, widget, take, refused)
    st.file_uploader(
        label, type=list(suffixes), key=widget, max_upload_size=most_mb, on_change=changed, **how
    )
    notices.draw(key, stays=stays)


def _take(key: str, widget: str, take: Take, refused: str) -> None:
    file = st.session_state[widget]
    notices.clear(key)
    if file is None:
        return
    count = f"{key}_files"  # another key makes another, empty widget
    st.session_state[count] = st.session_state.get(count, 0) + 1
    try:
        take(file.getvalue(), file.name)
    except ReplicaLabError as error:
        notices.leave_problem(
            refused.format(error=error, file=shortened(file.name, 100)), key, "upload_file"
        )


def download(
    label: str, make: Callable[[], str | bytes] | str | bytes, name: str, **how: Any
) -> None:
    """Draw a button that makes and saves a file; `st.download_button` takes the rest."""
    mime = MIMES[name.rpartition(".")[2]]
    look = {"icon": ":material/download:", "on_click": "ignore", "mime": mime}
    st.download_button(label, make, file_name=name, **(look | how))
