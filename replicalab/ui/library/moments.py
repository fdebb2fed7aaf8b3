"""When something was saved, as the visitor's own clock shows it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import streamlit as st


def moment_text(moment: datetime) -> str:
    """Return a moment: ``1 March 2026, 14:05``."""
    local = moment.astimezone(_zone())
    return f"{local.day} {local:%B %Y, %H:%M}"


def _zone() -> timezone:
    behind = st.context.timezone_offset  # minutes; nothing where no browser asks
    return UTC if behind is None else timezone(timedelta(minutes=-behind))
