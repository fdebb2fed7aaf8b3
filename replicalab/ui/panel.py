"""How blocks come onto a page: the one place that sends HTML, and the stylesheet before it."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from replicalab import features
from replicalab.facts.blocks import Block, Document, Group, Table
from replicalab.render.html import STAGE_STYLE, STYLE, html, preview


def draw(*blocks: Block) -> None:
    """Draw blocks one below the other, as a single element."""
    st.html(html(*blocks))


def draw_features(place: str, subject: object) -> dict[str, Any]:
    """Draw what features show at a place, and return the entries that they offer, by title."""
    entries: dict[str, Any] = {}
    for reply in features.ask("panel", place, subject):
        if reply.note:
            st.caption(reply.note)
        entries |= reply.value or {}
    return entries


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


def draw_skip_link() -> None:
    """Draw a link to the target below, seen when it has the focus."""
    st.html('<a class="skip" href="#content">Skip the navigation</a>')


def draw_skip_target() -> None:
    """Mark where the page begins after its navigation."""
    st.html('<i class="skip" id="content"></i>')
