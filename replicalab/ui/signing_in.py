"""Signing in and out, on the pages."""

from collections.abc import Callable
from typing import Final

import streamlit as st

from replicalab.people import PROXY
from replicalab.server import visitor
from replicalab.ui.controls import button

NOT_ALLOWED: Final = "You may not {} here; ask whoever serves ReplicaLab to let you."


def draw() -> None:
    """Draw the way in, for whoever has not signed in."""
    st.title("ReplicaLab")
    st.markdown("Sign in to go on. What you save is then yours in any browser.")
    button("Sign in", "login", st.login, key="sign_in", type="primary")


def more() -> dict[str, tuple[str, Callable[[str], None]]]:
    """Return the way out, as the menu of every page has it; nothing where nobody signed in."""
    person = visitor.person()
    if person is None or person.issuer == PROXY:  # which has its own way out
        return {}
    return {f"Sign out ({person.called})": ("logout", lambda _: st.logout())}
