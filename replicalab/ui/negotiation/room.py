"""How much a session may hold: what no rule plays again is bounded in bytes, and never dropped."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.text.negotiation import kept_text
from replicalab.ui.negotiation.aside import forget
from replicalab.ui.negotiation.table import MOST_BYTES, Kept, is_full, played_by_hand
from replicalab.ui.words import escaped

_MOST_LISTED: Final = 20


def draw(shown: Kept | None) -> None:
    """Say that no more can be played or opened, and offer what may be forgotten."""
    if not is_full():
        return
    st.warning(
        f"This session keeps {MOST_BYTES // 2**20} MiB of negotiations, the most there is room "
        "for: nothing more is played or opened. Save what you need, then forget some of it.",
        icon=":material/inventory_2:",
    )
    others = [one for one in played_by_hand() if one is not shown]
    for number, one in enumerate(others[:_MOST_LISTED]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"room_{number}"):
            st.markdown(escaped(kept_text(one.negotiation)), width="content")
            st.button(
                "Forget it",
                icon=":material/close:",
                key=f"room_{number}_forget",
                on_click=forget,
                args=(one,),
            )
