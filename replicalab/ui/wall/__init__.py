"""The wall: what stands between the network and Streamlit, for every request and message."""

from __future__ import annotations

from typing import Final

from starlette.middleware import Middleware

from replicalab.ui.wall.answers import VISITOR_COOKIE, VISITOR_TOKEN, begins_with
from replicalab.ui.wall.callers import LONGEST_QUERY
from replicalab.ui.wall.wall import Wall

MIDDLEWARE: Final = (Middleware(Wall),)
"""What `st.App` is given, so that nothing reaches it but through the wall."""

__all__ = ["LONGEST_QUERY", "MIDDLEWARE", "VISITOR_COOKIE", "VISITOR_TOKEN", "Wall", "begins_with"]
