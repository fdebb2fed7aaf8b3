"""Opening what was handed over, whatever it is: worked out anew, and held against the file."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.ui import panel, state
from replicalab.ui.controls import button, page_link
from replicalab.ui.documents import Opening, open_file
from replicalab.ui.files import upload
from replicalab.ui.words import ICONS, escaped
from replicalab.views.blocks import Status
from replicalab.views.check import header_panel

_FILE: Final = "handed_file"
_TOLD: Final = "handed_told"


def draw() -> None:
    """Draw where a file is handed in, and what came of the last one."""
    upload("A bundle, a negotiation, a plan, a lab (JSON), or a study (YAML)", _FILE, _take)
    told: Opening | None = st.session_state.get(_TOLD)
    if told is None:
        st.caption("It takes the place of what is open, which Undo brings back.")
    else:
        _draw_opened(told)


def begin() -> None:
    """Forget what came of the last file."""
    st.session_state.pop(_TOLD, None)


def _draw_opened(told: Opening) -> None:
    if told.differences:
        listed = "\n".join(f"- {escaped(each)}" for each in told.differences)
        st.error(
            f"Opened, but not verified: it is not what was saved.\n\n{listed}",
            icon=":material/gpp_bad:",
        )
    else:
        st.success(escaped(told.text), icon=":material/verified:")
    if told.caution:
        st.warning(escaped(told.caution), icon=ICONS[Status.CAUTION])
    panel.draw(header_panel(state.analysis().yours, yours=state.case().plan is not None))
    with st.container(horizontal=True):
        page_link("pages/1_Protocol.py", "Protocol", "tune")
        page_link("pages/2_Negotiation.py", "Negotiation", "forum")
        button("Undo", "undo", _take_back, key="handed_undo", disabled=not state.current().past)


def _take_back() -> None:
    begin()
    state.undo()


def _take(data: bytes, name: str) -> None:
    """Open a file that was handed in; what is refused has changed nothing."""
    begin()
    st.session_state[_TOLD] = open_file(data, name)
