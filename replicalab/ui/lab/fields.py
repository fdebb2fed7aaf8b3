"""The numbers of the lab: a field for each, the study's number below it, and what is wrong."""

from __future__ import annotations

from typing import Final, NamedTuple

import streamlit as st

from replicalab.lexicon import amount_text, count_text
from replicalab.scenarios import LabOverrides
from replicalab.scenarios.fields import AtLeastOne, Rate, Step
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, between, bounds_of, button, complain
from replicalab.views.blocks import sentences_panel
from replicalab.views.lab import MEANS, RATES, STEPS
from replicalab.views.plan import staff_text

_STAMP: Final = "lab_form"
# The least and the most of the numbers of a part of `LabOverrides`, of a mean by ``""``.
_BOUNDS: Final = {"": bounds_of(AtLeastOne), "rates": bounds_of(Rate), "steps": bounds_of(Step)}
# The means that a visitor may state for every study at once.
_EVERYWHERE: Final = ("budget", "days", "staff")


def stamp() -> int:
    """Return what the keys of the drawer's widgets end in."""
    number: int = st.session_state.setdefault(_STAMP, 0)
    return number


def redraw() -> None:
    """Let the widgets show what the lab has, and not what was typed before."""
    st.session_state[_STAMP] = stamp() + 1


def override(own_lab: LabOverrides) -> None:
    """Use other overrides of the lab; the page behind draws its fields anew."""
    state.suppose(own_lab)
    state.current().version += 1


def go_back() -> None:
    """Take every override of the lab back."""
    override(LabOverrides())
    redraw()


# --- one study's lab ------------------------------------------------------------------------


class _Number(NamedTuple):
    """A number of the lab.

    Attributes:
        part: the field of `LabOverrides` that has it among others, empty for a mean.
        now, written: in the lab, and in the study's.
    """

    part: str
    name: str
    label: str
    now: float
    written: float

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that it may be."""
        return _BOUNDS[self.part]

    @property
    def shown(self) -> float:
        """The number as its field shows it; only a study's own budget may be other than whole."""
        return float(self.now) if self.part == "rates" else max(int(self.bounds[0]), int(self.now))

    @property
    def field(self) -> NumberField:
        return NumberField(
            self.label,
            f"lab_{self.name}_{stamp()}",
            self.shown,
            take=lambda typed: self.put(None if typed == self.written else typed),
            why_not=between(self.label, self.bounds, f"the lab keeps {amount_text(self.now)}"),
            step=0.01 if self.part == "rates" else 1,
        )

    def put(self, value: float | None) -> None:
        """Override the number; None leaves the study's."""
        own = state.case().own_lab
        if not self.part:
            override(own.model_copy(update={self.name: value}))
            return
        others = {name: was for name, was in getattr(own, self.part).items() if name != self.name}
        new = {} if value is None else {self.name: value}
        override(own.model_copy(update={self.part: others | new}))

    def back(self) -> None:
        """Take the number back to the study's."""
        self.put(None)
        redraw()


def draw_means() -> None:
    """Draw budget, days, start day and staff."""
    now, written = state.analysis().yours.pack.lab, state.written().lab
    _draw("", MEANS, now, written)
    if now.start_day > 1:
        left = count_text(now.days_left, "day")
        st.caption(f"From day {now.start_day} to day {now.days}: {left} to work in.")


def draw_rates() -> None:
    """Draw what things cost by rate, and when one more person is needed."""
    now, written = state.analysis().yours.pack.lab, state.written().lab
    _draw("rates", RATES, now.cost_model, written.cost_model, per_row=3)
    panel.draw(sentences_panel([f"Your plan’s staff: {staff_text(state.analysis().yours)}."]))
    _draw("steps", STEPS, now.staff_model, written.staff_model, per_row=3)


def _draw(
    part: str, labels: dict[str, str], now: object, written: object, per_row: int = 2
) -> None:
    """Draw the numbers of a part of the lab, so many in a row."""
    numbers = [
        _Number(part, name, label, getattr(now, name), getattr(written, name))
        for name, label in labels.items()
    ]
    for first in range(0, len(numbers), per_row):
        row = numbers[first : first + per_row]
        for column, number in zip(st.columns(per_row), row, strict=False):
            with column:
                _draw_number(number)


def _draw_number(number: _Number) -> None:
    field, written = number.field, f"The study’s: {amount_text(number.written)}"
    field.draw()
    complain(field.problem)
    if number.now != number.written:
        button(written, "undo", number.back, key=f"back_{field.key}", type="tertiary")
    elif number.now != number.shown:
        st.caption(written)


# --- the lab in every study -----------------------------------------------------------------


def draw_means_everywhere() -> list[str]:
    """Draw budget, days and staff for every study; return what is wrong with what was typed.

    They are empty where every study has its own.
    """
    fields = [_mean(name) for name in _EVERYWHERE]
    for name, field in zip(_EVERYWHERE, fields, strict=True):
        if not field.problem:  # the drawer, undo and a link change the same numbers
            st.session_state[field.key] = getattr(state.case().own_lab, name)
        field.draw(placeholder="study’s own")
    return [field.problem for field in fields]


def _mean(name: str) -> NumberField:
    own = state.case().own_lab
    now, label = getattr(own, name), MEANS[name]
    kept = "each study keeps its own" if now is None else f"the lab keeps {amount_text(now)}"
    return NumberField(
        label,
        f"said_{name}",
        None,
        take=lambda typed: override(state.case().own_lab.model_copy(update={name: typed})),
        why_not=between(label, _BOUNDS[""], kept),
    )
