"""Who looks at the pages: a secret that no page and no address shows."""

from __future__ import annotations

import secrets
from typing import Final

import streamlit as st

from replicalab.ui.wall import VISITOR_COOKIE, VISITOR_TOKEN, begins_with

_SECRET: Final = "visitor_secret"


def cookie() -> str:
    """Return what the visitor's browser shows as its secret; no text where no browser asks."""
    return str(st.context.cookies.get(VISITOR_COOKIE, ""))


def is_known() -> bool:
    """Return whether the visitor's browser keeps its secret, and so finds again what is kept."""
    return bool(VISITOR_TOKEN.fullmatch(cookie()))


def begins() -> bool:
    """Return whether this is the first page of the visitor's browser: True once, when it begins.

    Nothing can have been kept for it before.
    """
    return begins_with(cookie())


def secret() -> str:
    """Return the visitor's secret: the cookie's, or where there is none one of this session."""
    if is_known():
        return cookie()
    made: str = st.session_state.setdefault(_SECRET, secrets.token_urlsafe(32))
    return made
