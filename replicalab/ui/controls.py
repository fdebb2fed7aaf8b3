"""Widgets and texts of every page: buttons, links, tabs, fields; escaped text, statuses, times."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final, NamedTuple

import streamlit as st
from pydantic import TypeAdapter

from replicalab.characters import on_one_line
from replicalab.facts.blocks import Status, Verdict
from replicalab.lexicon import amount_text
from replicalab.ui import state

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


def button(label: str, icon: str, pressed: Callable[[], Any], **how: Any) -> None:
    """Draw a button with a Material symbol; `st.button` takes the rest."""
    st.button(label, icon=f":material/{icon}:", on_click=pressed, **how)


def page_link(file: str, label: str, icon: str) -> None:
    """Draw a link to a page with the same workspace."""
    st.page_link(file, label=label, icon=f":material/{icon}:", query_params=state.address())


@contextmanager
def open_tab(names: Iterable[str], key: str) -> Iterator[str]:
    """Draw tabs, and yield the name of the open one, which holds the widgets that follow."""
    listed = list(names)
    pairs = list(zip(listed, st.tabs(listed, key=key, on_change="rerun"), strict=True))
    name, tab = next((pair for pair in pairs if pair[1].open), pairs[0])
    with tab:
        yield name


@contextmanager
def fold(title: str, key: str, **how: Any) -> Iterator[bool]:
    """Draw an expander, and yield whether it is open: closed, it needs no content."""
    place = st.expander(title, key=key, on_change="rerun", **how)
    with place:
        yield bool(place.open)


def choice_callback(
    key: str, options: Collection[object], take: Callable[[], object]
) -> Callable[[], None]:
    """Return a callback that takes a choice, or resets one of a stale page that is no option."""

    def check() -> None:
        if st.session_state[key] in options:
            take()
        else:
            del st.session_state[key]

    return check


def places(in_a_row: int | Sequence[float]) -> Iterator[AbstractContextManager[object]]:
    """Yield places for fields, ``in_a_row`` in a row, and below each other on a phone.

    As the second argument of `zip`, it begins no empty row.
    """
    while True:
        yield from st.columns(in_a_row)


WhyNot = Callable[[float | None], str]
"""Returns the problem of a typed number, empty if valid; None is an empty field."""


class NumberField(NamedTuple):
    """A number field: an invalid number stays in it, with its problem below.

    The widget has no bounds, as the browser would not send a number beyond them.

    Attributes:
        value: the first value.
        take: takes a valid number; None if `typed` is read later.
        step: the step of the buttons; a whole one allows whole numbers only.
    """

    label: str
    key: str
    value: float | None
    take: Callable[[Any], object] | None = None
    why_not: WhyNot = lambda _: ""
    step: float = 1

    @property
    def typed(self) -> Any:
        """The value in the field; before it is drawn, its first value."""
        return st.session_state.get(self.key, self.value)

    @property
    def problem(self) -> str:
        """The problem of the value in the field; empty if valid."""
        return self.why_not(self.typed)

    def draw(self, **how: Any) -> None:
        """Draw the field; `st.number_input` takes the rest."""
        look = {
            "value": self.value,
            "step": self.step,
            "format": None if isinstance(self.step, int) else "%g",
            "on_change": self.take and self._take,
        }
        st.number_input(self.label, key=self.key, **(look | how))

    def _take(self) -> None:
        if self.take and not self.problem:
            self.take(self.typed)


def between(label: str, bounds: tuple[float, float], fallback: str = "") -> WhyNot:
    """Return a check of bounds, with messages such as ``Days cannot be 0. Type 1 to 9.``.

    ``fallback`` names the value that is used instead, such as ``the lab keeps 6``.
    """
    minimum, limit = bounds

    def why_not(typed: float | None) -> str:
        if typed is None or minimum <= typed <= limit:
            return ""
        instead = f", so {fallback}" if fallback else ""
        between = f"{amount_text(minimum)} to {amount_text(limit)}"
        return f"{label} cannot be {amount_text(typed)}{instead}. Type {between}."

    return why_not


def bounds_of(number: Any) -> tuple[float, float]:
    """Return the bounds of a type of number, such as `AtLeastOne`."""
    rules = TypeAdapter(number).json_schema()
    return rules["minimum"], rules["maximum"]


def complain(*problems: str) -> None:
    """Draw each problem of typed values in a box of its own."""
    for problem in filter(None, problems):
        st.error(escape(problem), icon=":material/edit_off:")


def escape(text: str) -> str:
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
        blocks[-1] += f"- {escape(line[2:])}\n" if item else escape(line)
    return "\n\n".join(blocks)


def badge(status: Status, text: str) -> str:
    """Return our own text as a badge in the status's colour, as Markdown."""
    return f":{_COLOURS[status]}-badge[{ICONS[status]} {text}]"


def draw_verdict(verdict: Verdict) -> None:
    """Draw a verdict sentence in its colour, with its symbol."""
    box = {Status.PASS: st.success, Status.CAUTION: st.warning, Status.FAIL: st.error}
    box[verdict.status](escape(verdict.text), icon=ICONS[verdict.status])


def draw_table(names: Sequence[str], rows: Sequence[Sequence[str]], alt: str | None = None) -> None:
    """Draw a table of foreign text; ``names`` is its header."""
    cells = ([escape(cell) for cell in column] for column in zip(*rows, strict=True))
    st.table(dict(zip(names, cells, strict=True)), hide_index=True, alt=alt)


def moment_text(moment: datetime) -> str:
    """Return a moment in the visitor's time zone: ``1 March 2026, 14:05``."""
    behind = st.context.timezone_offset  # minutes; None without a browser
    zone = UTC if behind is None else timezone(timedelta(minutes=-behind))
    local = moment.astimezone(zone)
    return f"{local.day} {local:%B %Y, %H:%M}"
