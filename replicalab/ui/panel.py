"""How a panel comes onto a page: the one place that sends HTML, and the stylesheet before it."""

from __future__ import annotations

import streamlit as st

from replicalab.panels import STAGE_STYLE, STYLE


def draw(*panels: str) -> None:
    """Draw panels one below the other, as a single element."""
    st.html("".join(panels))


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
