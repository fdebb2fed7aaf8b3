"""The wall: what stands between the network and Streamlit, for every request and message."""

from __future__ import annotations

from typing import Final

from starlette.middleware import Middleware

from replicalab.ui.wall.callers import LONGEST_QUERY
from replicalab.ui.wall.visitors import (
    SECURE_COOKIE,
    VISITOR_COOKIE,
    away_seconds,
    begins_with,
    is_over_tls,
    secret_shown,
    value_of,
)
from replicalab.ui.wall.wall import Wall

MIDDLEWARE: Final = (Middleware(Wall),)
"""What `st.App` is given, so that nothing reaches it but through the wall."""

__all__ = [
    "LONGEST_QUERY",
    "MIDDLEWARE",
    "SECURE_COOKIE",
    "VISITOR_COOKIE",
    "Wall",
    "away_seconds",
    "begins_with",
    "is_over_tls",
    "secret_shown",
    "value_of",
]
