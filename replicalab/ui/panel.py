"""How a panel comes onto a page: the one place that sends HTML, and the stylesheet before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from replicalab.panels import STAGE_STYLE, STYLE, Rows, tables_panel


def draw(*panels: str) -> None:
    """Draw panels one below the other, as a single element."""
    st.html("".join(panels))


def draw_tables(tables: Callable[[], Sequence[Rows]]) -> None:
    """Draw the place for a picture's numbers; what is closed is neither worked out nor sent."""
    place = st.expander("The same as a table", key="as_table", on_change="rerun")
    if place.open:
        with place:
            draw(tables_panel(tables()))


def beside(*panels: str) -> str:
    """Return panels in columns, where the page is wide enough."""
    return f'<div class="rl beside">{"".join(panels)}</div>'


def column(*panels: str) -> str:
    """Return panels one below the other, to stand beside others."""
    return f'<div class="rl">{"".join(panels)}</div>'


def draw_style(*, presenting: bool) -> None:
    """Draw the stylesheet of all panels: alone, for what stays is not read anew at each edit."""
    draw(STAGE_STYLE if presenting else STYLE)


def draw_scheme() -> None:
    """Let the panels of a drawer, which stands outside the page, follow the page's theme."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    st.html(f"<style>[data-testid=stDialog] {{ color-scheme: {theme}; }}</style>")
