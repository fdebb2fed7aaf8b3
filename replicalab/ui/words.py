"""Texts of the interface: escaped text, statuses, tables and times."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.facts.blocks import Status, Verdict

_PUNCTUATION: Final = re.compile(r"([!-/:-@\[-`{-~])")
# A renderer makes a link of an address, and one sign of two.
_LIVE: Final = re.compile(
    r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?=@)|(?<=[-<>=~+])(?=[-<>=~])", re.IGNORECASE
)
_LONG_WORD: Final = re.compile(r"\S{30}(?=\S)")
_COLOURS: Final = {Status.PASS: "green", Status.CAUTION: "orange", Status.FAIL: "red"}
ICONS: Final = {
    Status.PASS: ":material/check_circle:",
    Status.CAUTION: ":material/warning:",
    Status.FAIL: ":material/cancel:",
}


def escaped(text: str) -> str:
    """Return foreign text as Markdown that shows it literally, on one line.

    Every ASCII punctuation mark is escaped, so no image, link, directive or formula is read. An
    invisible word joiner keeps addresses from becoming links and ``->`` from becoming an arrow, and
    an invisible space lets a long word break, so that it widens no page.
    """
    broken = _LONG_WORD.sub("\\g<0>\u200b", on_one_line(text))
    return _PUNCTUATION.sub(r"\\\1", _LIVE.sub("\u2060", broken))


def as_list(text: str) -> str:
    """Return foreign text of several lines as Markdown; lines that start with "- " are a list."""
    blocks: list[str] = []
    for line in text.split("\n"):
        item = line.startswith("- ")
        if not item or not blocks or not blocks[-1].startswith("- "):
            blocks.append("")
        blocks[-1] += f"- {escaped(line[2:])}\n" if item else escaped(line)
    return "\n\n".join(blocks)


def badge(status: Status, text: str) -> str:
    """Return our own text as a badge in the status's colour, as Markdown."""
    return f":{_COLOURS[status]}-badge[{ICONS[status]} {text}]"


def draw_verdict(verdict: Verdict) -> None:
    """Draw a verdict sentence in its colour, with its symbol."""
    box = {Status.PASS: st.success, Status.CAUTION: st.warning, Status.FAIL: st.error}
    box[verdict.status](escaped(verdict.text), icon=ICONS[verdict.status])


def draw_table(names: Sequence[str], rows: Sequence[Sequence[str]], alt: str | None = None) -> None:
    """Draw a table of foreign text; ``names`` is its header."""
    cells = ([escaped(cell) for cell in column] for column in zip(*rows, strict=True))
    st.table(dict(zip(names, cells, strict=True)), hide_index=True, alt=alt)


def moment_text(moment: datetime) -> str:
    """Return a moment in the visitor's time zone: ``1 March 2026, 14:05``."""
    behind = st.context.timezone_offset  # minutes; None without a browser
    zone = UTC if behind is None else timezone(timedelta(minutes=-behind))
    local = moment.astimezone(zone)
    return f"{local.day} {local:%B %Y, %H:%M}"
