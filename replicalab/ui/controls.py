"""What acts on every page: a button, a link that keeps the workspace, a number that is typed."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import streamlit as st
from pydantic import TypeAdapter

from replicalab.lexicon import amount_text
from replicalab.ui import state
from replicalab.ui.words import escaped


def button(label: str, icon: str, pressed: Callable[[], None], **how: Any) -> None:
    """Draw a button with a Material symbol and what it calls; `st.button` takes the rest."""
    st.button(label, icon=f":material/{icon}:", on_click=pressed, **how)


def page_link(file: str, label: str, icon: str) -> None:
    """Draw a link to a page, which opens on the same workspace."""
    st.page_link(file, label=label, icon=f":material/{icon}:", query_params=state.address())


@contextmanager
def open_tab(names: Iterable[str], key: str) -> Iterator[str]:
    """Draw tabs, and yield the name of the open one, into which all that follows is drawn."""
    listed = list(names)
    pairs = list(zip(listed, st.tabs(listed, key=key, on_change="rerun"), strict=True))
    name, tab = next((pair for pair in pairs if pair[1].open), pairs[0])
    with tab:
        yield name


def places(in_a_row: int) -> Iterator[AbstractContextManager[object]]:
    """Yield a place for a field after the other, so many in a row, and below each other on a phone.

    Put what is to be drawn first where both are zipped: no row is begun for nothing.
    """
    while True:
        yield from st.columns(in_a_row)


# --- a number that is typed -----------------------------------------------------------------

WhyNot = Callable[[float | None], str]
"""Why a number that was typed cannot be; empty where it can. None stands for an empty field."""


class NumberField(NamedTuple):
    """A number that is typed: one that cannot be stays in its field, and below it stands why.

    The widget has no bounds: the browser would not send a number beyond them, and nobody could
    say what is wrong with it.

    Attributes:
        value: what the field starts with.
        take: takes a number that can be; None where `typed` is read later.
        step: what one press adds; a whole one makes the field take whole numbers alone.
    """

    label: str
    key: str
    value: float | None
    take: Callable[[Any], object] | None = None
    why_not: WhyNot = lambda _: ""
    step: float = 1

    @property
    def typed(self) -> Any:
        """What stands in the field; what it starts with before it is drawn."""
        return st.session_state.get(self.key, self.value)

    @property
    def problem(self) -> str:
        """Why what stands in the field cannot be; empty where it can."""
        return self.why_not(self.typed)

    def draw(self, **how: Any) -> None:
        """Draw the field alone; `st.number_input` takes the rest."""
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


def between(label: str, bounds: tuple[float, float], kept: str = "") -> WhyNot:
    """Return what says why a number is out of bounds: ``Days cannot be 0. Type 1 to 9.``.

    Args:
        label: what the number is called.
        bounds: the least and the most that it may be.
        kept: what holds instead, such as ``the lab keeps 6``.
    """
    minimum, limit = bounds

    def why_not(typed: float | None) -> str:
        if typed is None or minimum <= typed <= limit:
            return ""
        instead = f", so {kept}" if kept else ""
        between = f"{amount_text(minimum)} to {amount_text(limit)}"
        return f"{label} cannot be {amount_text(typed)}{instead}. Type {between}."

    return why_not


def bounds_of(number: Any) -> tuple[float, float]:
    """Return the least and the most that a number of a record may be, such as an `AtLeastOne`."""
    rules = TypeAdapter(number).json_schema()
    return rules["minimum"], rules["maximum"]


def complain(*problems: str) -> None:
    """Draw what is wrong with what was typed, each problem in a box of its own."""
    for problem in filter(None, problems):
        st.error(escaped(problem), icon=":material/edit_off:")
