"""How blocks come onto a page: the one place that sends HTML, and the stylesheet before it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from replicalab.render.html import STAGE_STYLE, STYLE, html, preview
from replicalab.views.blocks import Block, Document, Group, Table

# Not isolated, so that the stylesheet of the panels holds in it.
_IN_PLACE: Final = st.components.v2.component(
    "panel",
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def draw(*blocks: Block) -> None:
    """Draw blocks one below the other, as a single element."""
    st.html(html(*blocks))


def draw_in_place(key: str, *blocks: Block) -> None:
    """Draw them so that only what is another after an edit is changed, and what is open stays open.

    It costs a frame more than `draw` where the whole is new.
    """
    _IN_PLACE(key=key, data={"html": html(*blocks)})


def draw_tables(tables: Callable[[], Sequence[Table]]) -> None:
    """Draw the place for a picture's numbers; what is closed is neither worked out nor sent."""
    place = st.expander("The same as a table", key="as_table", on_change="rerun")
    if place.open:
        with place:
            draw(Group(tuple(tables())))


def draw_document(document: Document) -> None:
    """Draw what a document shows."""
    st.html(preview(document))


def draw_styles(*styles: str) -> None:
    """Draw stylesheets that a part of a page needs."""
    st.html("".join(styles))


def draw_style(*, presenting: bool) -> None:
    """Draw the stylesheet of all panels: alone, for what stays is not read anew at each edit."""
    draw_styles(STAGE_STYLE if presenting else STYLE)


def draw_scheme() -> None:
    """Let the panels of a drawer, which stands outside the page, follow the page's theme."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    st.html(f"<style>[data-testid=stDialog] {{ color-scheme: {theme}; }}</style>")
