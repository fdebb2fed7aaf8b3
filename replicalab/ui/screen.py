"""Blocks and stylesheets on a page."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from replicalab import features
from replicalab.facts.blocks import Block, Group, Table
from replicalab.render import figures
from replicalab.render.html import html


def draw(*blocks: Block) -> None:
    st.html(html(*blocks))


def draw_features(place: str, subject: object) -> dict[str, Any]:
    """Draw the features of a place, and return their entries by title."""
    entries: dict[str, Any] = {}
    for reply in features.ask("panel", place, subject, key=place):
        if reply.note:
            st.caption(reply.note)
        entries |= reply.value or {}
    return entries


def draw_chart(chart: Any, key: str, alt: str, **how: Any) -> None:
    """Draw a figure without Streamlit's theme; `st.plotly_chart` takes the rest."""
    st.plotly_chart(chart, key=key, config=figures.CONFIG, theme=None, alt=alt, **how)


def draw_tables(tables: Callable[[], Sequence[Table]]) -> None:
    """Draw an expander with a chart's numbers, computed when it opens."""
    with st.expander("Numbers as a table", key="as_table", on_change="rerun") as place:
        if place.open:
            draw(Group(tuple(tables())))


def draw_styles(*styles: str) -> None:
    """Draw stylesheets, or other HTML of `render.html`."""
    st.html("".join(styles))


def draw_scheme() -> None:
    theme = "dark" if st.context.theme.type == "dark" else "light"
    st.html(f"<style>[data-testid=stDialog] {{ color-scheme: {theme}; }}</style>")


def draw_skip(*, target: bool) -> None:
    """Draw a link that skips the navigation, visible when focused, or its target."""
    link = '<a class="skip" href="#content">Skip the navigation</a>'
    st.html('<i class="skip" id="content"></i>' if target else link)
