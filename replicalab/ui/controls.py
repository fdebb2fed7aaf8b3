"""What acts on every page: a button with its symbol, a link that keeps the workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from replicalab.ui import state


def button(label: str, icon: str, pressed: Callable[[], None], **how: Any) -> None:
    """Draw a button with a Material symbol and what it calls; `st.button` takes the rest."""
    st.button(label, icon=f":material/{icon}:", on_click=pressed, **how)


def page_link(file: str, label: str, icon: str) -> None:
    """Draw a link to a page, which opens on the same workspace."""
    st.page_link(file, label=label, icon=f":material/{icon}:", query_params=state.address())
