"""The scrubber: first, back, next, last, play, and the arrow keys. It never plays a round anew."""

from __future__ import annotations

import time
from typing import Final

import streamlit as st

from replicalab.ui import session
from replicalab.ui.negotiation.table import shown_round
from replicalab.ui.negotiation.talks import Talks

_PLAYING: Final = "playing_since"
_SECONDS_PER_ROUND: Final = 2.0


def draw(talks: Talks) -> None:
    """Draw first, back, next, last and play, and where we are."""
    at, last = shown_round(talks), talks.last
    playing = _PLAYING in st.session_state
    with st.container(horizontal=True, vertical_alignment="center", key="scrubber"):
        _jump("First", ":material/first_page:", -last, last, disabled=at == 0)
        _jump("Back", ":material/chevron_left:", -1, last, disabled=at == 0, shortcut="Left")
        st.markdown(f"**Round {at + 1} of {last + 1}**", width="content")
        _jump("Next", ":material/chevron_right:", 1, last, disabled=at == last, shortcut="Right")
        _jump("Last", ":material/last_page:", last, last, disabled=at == last)
        st.button(
            "Pause" if playing else "Play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            on_click=stop if playing else _play,
            args=() if playing else (at, last),
            disabled=last == 0,
        )
    if playing:
        _advance(last)


def _jump(
    label: str, icon: str, by: int, last: int, *, disabled: bool, shortcut: str | None = None
) -> None:
    st.button(label, icon=icon, on_click=_go, args=(by, last), disabled=disabled, shortcut=shortcut)


def _go(by: int, last: int) -> None:
    """Go on by some rounds from where we are now, so that quick presses add up."""
    stop()
    at = min(session.workspace().round_number, last)
    session.show_round(max(0, min(at + by, last)))


def _play(at: int, last: int) -> None:
    session.show_round(0 if at == last else at)
    st.session_state[_PLAYING] = time.monotonic()


def stop() -> None:
    """Stop going on by itself."""
    st.session_state.pop(_PLAYING, None)


@st.fragment(run_every=_SECONDS_PER_ROUND)
def _advance(last: int) -> None:
    """Go on by one round when its time has come; the fragment runs on a timer."""
    since = st.session_state.get(_PLAYING)
    if since is None or time.monotonic() - since < _SECONDS_PER_ROUND * 0.9:
        return
    at = min(session.workspace().round_number + 1, last)
    session.show_round(at)
    st.session_state[_PLAYING] = time.monotonic()
    if at == last:
        stop()
    st.rerun()
