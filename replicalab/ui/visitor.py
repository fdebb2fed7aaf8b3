"""Who looks at the pages: a secret that no page and no address shows."""

from __future__ import annotations

import secrets
from typing import Final

import streamlit as st

from replicalab.ui.wall import begins_with, is_over_tls, secret_shown

_SECRET: Final = "visitor_secret"


def cookie() -> str:
    """Return the secret that the visitor's browser shows; no text where it shows none of ours."""
    asked = st.context
    headers = {name.lower(): value for name, value in asked.headers.items()}
    return secret_shown(asked.cookies, over_tls=is_over_tls(headers))


def is_known() -> bool:
    """Return whether the visitor's browser keeps its secret, and so finds again what is kept."""
    return bool(cookie())


def begins() -> bool:
    """Return whether this is the first page of the visitor's browser: True once, when it begins.

    Nothing can have been kept for it before.
    """
    return begins_with(cookie())


def secret() -> str:
    """Return the visitor's secret: the cookie's, or where there is none one of this session."""
    if shown := cookie():
        return shown
    made: str = st.session_state.setdefault(_SECRET, secrets.token_urlsafe(32))
    return made
