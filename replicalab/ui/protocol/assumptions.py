"""What the evidence assumes: a plan's question, number by number; its curves are in `power`."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment, effects_of
from replicalab.errors import ScenarioError
from replicalab.lexicon import capitalised
from replicalab.measures import KINDS
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, Question
from replicalab.text.plan import effect_text
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.protocol.power import CHARTS
from replicalab.ui.words import escaped

PLACE: Final = "assumptions"
PARTS: Final = "assumptions_part"
_TITLE: Final = "Assumptions: effect, alpha, target, dropout"
_NUMBERS: Final = "Numbers"
_PER_GROUP: Final = "per_group"
_LONGEST_REASON: Final = 300
_IN_PERCENT: Final = 100
_EXACT: Final = 12
"""So many decimals a percentage is taken back to a share with."""


class Field(NamedTuple):
    """A number of a question, as it is typed.

    Attributes:
        number: as a question names it.
        label: with its unit.
        own: the study's own; None where the kind of design has none.
        value: the one that is in force.
        factor: what a value is multiplied by to be typed: 100 for a percentage.
        step: what one press adds.
        why: the study's reason for its own.
    """

    number: str
    label: str
    own: float | None
    value: float | None
    factor: int
    step: float
    why: str

    @property
    def key(self) -> str:
        """The key of its widget."""
        again = st.session_state.get(self._again, 0)
        return f"ask_{self.number}_{state.current().version}_{again}"

    @property
    def _again(self) -> str:
        return f"asked_again_{self.number}"

    def renew(self) -> None:
        """Let its widget start again with the value that is in force."""
        st.session_state[self._again] = st.session_state.get(self._again, 0) + 1

    @property
    def asked(self) -> bool:
        """Whether it is the visitor's, and not the study's."""
        return self.value != self.own

    def shown(self, value: float | None) -> float:
        """Return a value as it is typed."""
        return round((value or 0.0) * self.factor, _EXACT)

    def text(self, value: float | None) -> str:
        """Return a value as it is told."""
        return f"{self.shown(value):zg}{' %' if self.factor == _IN_PERCENT else ''}"

    def typed(self) -> float | None:
        """Return what its widget holds, None before it was drawn."""
        found = st.session_state.get(self.key)
        return None if found is None else round(found / self.factor, _EXACT + 2)


def fields(written: Design, asked: Design) -> list[Field]:
    """Return the numbers that a study's evidence depends on and that may be asked anew."""
    row = KINDS[written.kind]
    factor, measure = row.scale.factor, row.measure
    share = ", %" if factor == _IN_PERCENT else ""
    effect = capitalised(row.effect.name) if row.effect else ""
    rows = (
        ("effect", "effect_planning", effect, 1, _step(written.effect_planning)),
        ("alpha", "alpha", f"Alpha, {row.level}" if row.uses("alpha") else "", 1, 0.01),
        ("target", "target", f"Target: {measure}{share}", factor, 0.05 if factor == 1 else 1.0),
        ("floor", "floor", f"Floor: {measure}{share}", factor, 0.05 if factor == 1 else 1.0),
        ("dropout", "dropout", "Dropout, %", _IN_PERCENT, 1.0),
    )
    return [
        Field(
            number=number,
            label=label,
            own=getattr(written, field),
            value=getattr(asked, field),
            factor=times,
            step=step,
            why=written.why.get(field, ""),
        )
        for number, field, label, times, step in rows
        if label
    ]


def _step(effect: float | None) -> float:
    """Return a step of an effect: a tenth of its size, in a round number."""
    size = abs(effect or 1.0)
    return float(f"{size / 10:.0e}")


def draw(yours: Assessment) -> None:
    """Draw the place; what is closed in it is neither worked out nor sent."""
    written, asked = state.written().design, yours.pack.design
    found = fields(written, asked)
    place = st.expander(_TITLE, key=PLACE, on_change="rerun")
    if not place.open:
        return
    with place:
        curves = Curves(yours, written)
        names = [_NUMBERS, *(name for name, chart in CHARTS.items() if chart.fits(curves))]
        part = st.radio(
            "Numbers or a curve",
            names,
            horizontal=True,
            label_visibility="collapsed",
            key=PARTS,
            persist_state="session",
        )
        if part in CHARTS:
            CHARTS[part].draw(curves)
        else:
            _draw_numbers(found, written)


def groups_typed(design: Design) -> int:
    """Return of how many groups the sample size is typed for one; 1 where it is typed in all."""
    return KINDS[design.kind].groups_of(design) if st.session_state.get(_PER_GROUP) else 1


# --- the numbers ----------------------------------------------------------------------------


def _draw_numbers(found: list[Field], written: Design) -> None:
    _draw_effects(found[0], written)
    with st.container(horizontal=True, vertical_alignment="bottom", key="asked_numbers"):
        for field in found:
            st.number_input(
                f"{field.label} (yours)" if field.asked else field.label,
                value=field.shown(field.value),
                step=field.step,
                format="%g",
                key=field.key,
                help=escaped(f"The study’s: {field.text(field.own)}. {field.why}".strip()),
                on_change=_take,
                args=(field, found, written),
            )
    if KINDS[written.kind].groups_of(written) > 1:
        label = "Type the sample size per group"
        st.toggle(label, key=_PER_GROUP, persist_state="session")
    for field in found:
        if problem := _problem(field, written):
            st.error(escaped(problem), icon=":material/edit_off:")
    asked = [field for field in found if field.asked]
    for field in asked:
        _draw_reason(field, written)
    if len(asked) > 1:
        button("All as the study has it", "restart_alt", partial(_back, asked, written))


def _draw_effects(field: Field, written: Design) -> None:
    """Draw the effects that are one click away, where there are any."""
    choices = effects_of(written)
    if not choices or field.value is None:
        return
    sizes = [each.effect for each in choices]
    names = [f"{each.label} ({effect_text(each.effect)})" for each in choices]
    key = f"asked_effect_{state.current().version}_{field.value!r}"

    def take() -> None:
        state.ask(_asking({field.number: sizes[st.session_state[key]]}, written))
        field.renew()

    st.radio(
        "Effect to plan with",
        range(len(names)),
        index=sizes.index(field.value) if field.value in sizes else None,
        format_func=names.__getitem__,
        horizontal=True,
        key=key,
        on_change=take,
    )


def _draw_reason(field: Field, written: Design) -> None:
    key, question = f"why_{field.key}", state.workspace().question
    said = next((reason for name, reason in question.why.items() if name == field.number), "")

    def take() -> None:
        state.ask(question.because(field.number, st.session_state[key].strip()))

    with st.container(horizontal=True, vertical_alignment="bottom", key=f"row_{field.key}"):
        st.text_input(
            f"Your reason for {field.number} {field.text(field.value)}",
            said,
            max_chars=_LONGEST_REASON,
            placeholder="If you like",
            key=key,
            on_change=take,
        )
        back = partial(_back, [field], written)
        button(
            f"Back to the study’s {field.text(field.own)}", "undo", back, key=f"back_{field.key}"
        )


def _asking(typed: dict[str, float | None], written: Design) -> Question:
    """Return the question with these numbers.

    Raises:
        ScenarioError: the study cannot be asked that.
    """
    question = state.workspace().question
    for number, value in typed.items():
        question = question.asking(number, value, written)
    question.over(written)
    return question


def _take(touched: Field, found: list[Field], written: Design) -> None:
    """Ask all that the fields hold, or what was touched alone: a target may need its floor."""
    every = {field.number: value for field in found if (value := field.typed()) is not None}
    alone = {touched.number: touched.typed()}
    for typed in (every, alone):
        try:
            state.ask(_asking({**typed}, written))
        except ScenarioError:
            continue
        return


def _problem(field: Field, written: Design) -> str:
    """Return why what a field holds is not asked; empty where it is."""
    typed = field.typed()
    if typed is None or typed == field.value:
        return ""
    try:
        _asking({field.number: typed}, written)
    except ScenarioError as error:
        fault = error.faults[0]
        kept = f"It stays {field.text(field.value)}"
        return f"{field.label}: {fault.problem}; {fault.remedy}. {kept}."
    return ""


def _back(some: list[Field], written: Design) -> None:
    """Take numbers back: the study's own are asked again."""
    state.ask(_asking({field.number: None for field in some}, written))
    for field in some:
        field.renew()
