"""The numbers of the lab: a field each, what the study has beside it, and what is wrong with it."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.lexicon import amount_text, count_text
from replicalab.panels import sentences_panel
from replicalab.scenarios import MOST, Lab, OwnLab
from replicalab.text.lab import MEANS, RATES, STEPS
from replicalab.text.plan import staff_text
from replicalab.ui import panel, state
from replicalab.ui.controls import button
from replicalab.ui.words import escaped

_STAMP: Final = "lab_form"
_IN_THREES: Final = 3


class _Number(NamedTuple):
    """A number of the lab.

    Attributes:
        part: the field of `OwnLab` that has it among others, empty for a mean.
        field, label: its own.
        now, written: in the lab, and in the study's.
        least: what it may be at least; at most it may be `MOST`.
    """

    part: str
    field: str
    label: str
    now: float
    written: float
    least: int

    @property
    def key(self) -> str:
        """The key of its widget."""
        return f"lab_{self.field}_{stamp()}"

    @property
    def whole(self) -> int:
        """The number as its widget shows it; only a study's own budget may be more than whole."""
        return max(self.least, int(self.now))

    def problem(self) -> str:
        """Return why what its widget holds cannot be; empty where it can, or is not drawn."""
        typed = st.session_state.get(self.key, self.now)
        if typed is None:
            return f"{self.label}: empty, so the lab keeps {amount_text(self.now)}. Type a number."
        if self.least <= typed <= MOST:
            return ""
        return (
            f"{self.label} cannot be {amount_text(typed)}, so the lab keeps "
            f"{amount_text(self.now)}. Type {self.least} to {MOST:,}."
        )


def stamp() -> int:
    """Return what the keys of the drawer's widgets end in."""
    found: int = st.session_state.setdefault(_STAMP, 0)
    return found


def begin() -> None:
    """Let the widgets show what the lab has, and not what was typed before."""
    st.session_state[_STAMP] = stamp() + 1


def say(own_lab: OwnLab) -> None:
    """Say something else of the lab; the page behind draws its fields anew."""
    state.suppose(own_lab)
    state.current().version += 1


def go_back() -> None:
    """Take all that is said of the lab back."""
    say(OwnLab())
    begin()


def draw_means() -> None:
    """Draw budget, days, start day and staff."""
    now, written = _labs()
    _draw(
        [
            _Number("", field, label, *_both(now, written, field), 1)
            for field, label in MEANS.items()
        ]
    )
    if now.start_day > 1:
        left = count_text(now.days_left, "day")
        st.caption(f"From day {now.start_day} to day {now.days}: {left} to work in.")


def draw_rates() -> None:
    """Draw what things cost by rate, and when one more person is needed."""
    now, written = _labs()
    rates = [
        _Number("rates", field, label, *_both(now.cost_model, written.cost_model, field), 0)
        for field, label in RATES.items()
    ]
    steps = [
        _Number("steps", field, label, *_both(now.staff_model, written.staff_model, field), 0)
        for field, label in STEPS.items()
    ]
    _draw(rates, _IN_THREES)
    panel.draw(sentences_panel([f"Your plan’s staff: {staff_text(state.here().yours)}."]))
    _draw(steps, _IN_THREES)


def _both(now: object, written: object, field: str) -> tuple[float, float]:
    return getattr(now, field), getattr(written, field)


def _labs() -> tuple[Lab, Lab]:
    return state.here().yours.pack.lab, state.written().lab


def _draw(numbers: list[_Number], beside: int = 2) -> None:
    for first in range(0, len(numbers), beside):
        row = numbers[first : first + beside]
        for column, number in zip(st.columns(beside), row, strict=False):
            with column:
                _draw_number(number)


def _draw_number(number: _Number) -> None:
    is_rate = number.part == "rates"
    st.number_input(
        number.label,
        value=float(number.now) if is_rate else number.whole,
        step=None if is_rate else 1,
        format="%g" if is_rate else None,
        key=number.key,
        on_change=_take,
        args=(number,),
    )
    if problem := number.problem():
        st.error(escaped(problem), icon=":material/edit_off:")
    if number.now != number.written:
        label = f"The study’s: {amount_text(number.written)}"
        back = partial(_back, number)
        button(label, "undo", back, key=f"back_{number.key}", type="tertiary")
    elif not is_rate and number.now != number.whole:
        st.caption(f"The study’s: {amount_text(number.written)}")


def _take(number: _Number) -> None:
    """Take what a widget holds, where it can be."""
    if not number.problem():
        typed = st.session_state[number.key]
        _put(number, None if typed == number.written else typed)


def _back(number: _Number) -> None:
    """Take a number back to the study's."""
    _put(number, None)
    begin()


def _put(number: _Number, value: float | None) -> None:
    """Say a number of the lab; None leaves the study's."""
    own = state.workspace().own_lab
    if number.part:
        kept = dict(getattr(own, number.part))
        kept.pop(number.field, None)
        said: object = kept if value is None else kept | {number.field: value}
        say(own.model_copy(update={number.part: said}))
    else:
        say(own.model_copy(update={number.field: value}))
