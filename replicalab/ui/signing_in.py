"""Signing in and out, on the pages."""

from collections.abc import Callable

import streamlit as st

from replicalab import server
from replicalab.ui.controls import button


def draw() -> None:
    """Draw the sign-in button in place of a page."""
    st.title("ReplicaLab")
    st.markdown("Sign in to continue. What you save is then yours in any browser.")
    button("Sign in", "login", st.login, key="sign_in", type="primary")


def more() -> dict[str, tuple[str, Callable[[str], None]]]:
    """Return the menu entry that signs out, if somebody signed in."""
    name = server.user_name()
    return {f"Sign out ({name})": ("logout", lambda _: st.logout())} if name else {}
