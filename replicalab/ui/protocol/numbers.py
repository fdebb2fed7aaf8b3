"""The numbers that the evidence assumes: typed, refused in words, and taken back to the study's."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import effects_of
from replicalab.designs import GROUPINGS, KINDS, PARAMETERS
from replicalab.errors import ScenarioError
from replicalab.facts.plan import effect_text
from replicalab.facts.units import groupings, units_panel
from replicalab.lexicon import capitalised
from replicalab.limits import LONGEST_SHORT_TITLE
from replicalab.models import Record
from replicalab.planner.curves import Curves
from replicalab.scenarios import Arms, Design, EvidenceAssumptions, Units
from replicalab.scenarios.fields import ArmShare, Correlation, PerUnit
from replicalab.scenarios.own import QUESTION_FIELDS
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, between, bounds_of, button, complain
from replicalab.ui.words import escaped

_PER_GROUP: Final = "per_group"
_RENEWED: Final = "asked_again"
_REASON_LENGTH: Final = 300
_PERCENT: Final = 100
_DECIMALS: Final = 12  # of a percentage that becomes a share again


class Assumption(NamedTuple):
    """A number of a question, as it is typed.

    Attributes:
        own: the study's value; None if the kind of design has none.
        value: the value in use.
        factor: 100 for a percentage.
        why: the study's reason for its value.
    """

    name: str
    label: str
    own: float | None
    value: float | None
    factor: int
    step: float
    why: str = ""

    @property
    def key(self) -> str:
        """The key of its widget."""
        return widget_key(self.name)

    @property
    def is_yours(self) -> bool:
        """Whether it differs from the study's."""
        return self.value != self.own

    def shown(self, value: float | None) -> float | None:
        """Return a value as it is typed."""
        return None if value is None else round(value * self.factor, _DECIMALS)

    def text(self, value: float | None) -> str:
        """Return a value in words."""
        visible = self.shown(value)
        return "none" if visible is None else f"{visible:zg}{' %' * (self.factor == _PERCENT)}"

    def taken(self, typed: float | None) -> float | None:
        """Return the value of a typed number."""
        return None if typed is None else round(typed / self.factor, _DECIMALS + 2)

    def typed(self) -> float | None:
        """Return the value in its widget, None before it was drawn."""
        return self.taken(st.session_state.get(self.key))


def widget_key(name: str) -> str:
    """Return the key of a widget of the question."""
    return f"ask_{name}_{state.current().version}_{st.session_state.get(_RENEWED, 0)}"


def _ask(question: EvidenceAssumptions) -> None:
    """Use another question, and start the widgets again with its values."""
    state.ask(question)
    st.session_state[_RENEWED] = st.session_state.get(_RENEWED, 0) + 1


def assumptions(written: Design, asked: Design) -> list[Assumption]:
    """Return the numbers that may be asked of a study's evidence; an effect is the first."""
    row = KINDS[written.kind]
    factor, measure = row.scale.factor, row.measure
    share, step = (", %", 1.0) if factor == _PERCENT else ("", 0.05)
    # A tenth of the effect, in a round number.
    effect_step = float(f"{abs(written.effect_planning or 1.0) / 10:.0e}")
    rows = (
        ("effect", capitalised(row.effect.name) if row.effect else "", 1, effect_step),
        ("alpha", row.label("alpha") if row.uses("alpha") else "", 1, PARAMETERS["alpha"].step),
        ("target", f"Target: {measure}{share}", factor, step),
        ("floor", f"Floor: {measure}{share}", factor, step),
        ("dropout", "Dropout, %", _PERCENT, 1.0),
        *((name, row.label(name), 1, PARAMETERS[name].step) for name in row.extras),
    )
    return [
        Assumption(
            name,
            label,
            getattr(written, QUESTION_FIELDS[name]),
            getattr(asked, QUESTION_FIELDS[name]),
            times,
            by,
            written.why.get(QUESTION_FIELDS[name], ""),
        )
        for name, label, times, by in rows
        if label
    ]


def groups_typed(design: Design) -> int:
    """Return the groups of which the sample size is typed for one; 1 if it is typed in all."""
    per_group = st.session_state.get(_PER_GROUP) and not design.uneven
    return KINDS[design.kind].groups_of(design) if per_group else 1


def draw(lines: Curves) -> None:
    """Draw effect, alpha, target, floor, dropout, and what else the kind of design has."""
    written, design = state.written().design, lines.plan.pack.design
    numbers = assumptions(written, design)
    if numbers[0].name == "effect":
        _draw_effects(numbers[0], written)
    fields = [_field(number, partial(_asked, number, numbers, written)) for number in numbers]
    with st.container(horizontal=True, vertical_alignment="bottom", key="asked_numbers"):
        for number, field in zip(numbers, fields, strict=True):
            hint = f"The study’s: {number.text(number.own)}. {number.why}".strip()
            field.draw(format="%g", help=escaped(hint))
    if KINDS[written.kind].groups_of(written) > 1 and not design.uneven:
        label = "Type the sample size per group"
        st.toggle(label, key=_PER_GROUP, persist_state="session")
    complain(*(field.problem for field in fields))
    yours = [number for number in numbers if number.is_yours]
    for number in yours:
        _draw_reason(number, written)
    if len(yours) > 1:
        button("All as the study has it", "restart_alt", partial(_back, yours, written))


def _field(
    number: Assumption,
    ask: Callable[[float | None], EvidenceAssumptions],
    bounds: tuple[float, float] = (-math.inf, math.inf),
    *,
    can_be_empty: bool = False,
) -> NumberField:
    """Return the field of a number; ``ask`` returns the question with its value."""
    visible, written = number.shown(number.value), state.written().design

    def why_not(typed: float | None) -> str:
        problem, value = between(number.label, bounds)(typed), number.taken(typed)
        if problem or value == number.value or (value is None and not can_be_empty):
            return problem
        try:
            ask(value).over(written)
        except ScenarioError as error:
            fault, text = error.faults[0], number.text(number.value)
            return f"{number.label}: {fault.problem}; {fault.remedy}. It stays {text}."
        return ""

    if can_be_empty:  # Streamlit keeps an emptied field only if its value starts in the session
        st.session_state.setdefault(number.key, visible)
    return NumberField(
        f"{number.label} (yours)" if number.is_yours and not can_be_empty else number.label,
        number.key,
        None if can_be_empty else visible,
        take=lambda typed: state.ask(ask(number.taken(typed))),
        why_not=why_not,
        step=number.step,
    )


def _asked(
    touched: Assumption, numbers: list[Assumption], written: Design, value: float | None
) -> EvidenceAssumptions:
    """Return the question with all numbers in the fields, or with the touched one alone.

    A target beyond its floor is refused, stays in its field, and is asked together with the floor
    once that makes room for it.

    Raises:
        ScenarioError: the study cannot be asked the touched number.
    """
    typed = {number.name: number.typed() for number in numbers}
    with suppress(ScenarioError):
        record = {name: visible for name, visible in typed.items() if visible is not None}
        return _asking({**record}, written)
    return _asking({touched.name: value}, written)


def _asking(typed: dict[str, float | None], written: Design) -> EvidenceAssumptions:
    """Return the question with these numbers.

    Raises:
        ScenarioError: the study cannot be asked that.
    """
    question = state.case().question
    for number, value in typed.items():
        question = question.asking(number, value, written)
    question.over(written)
    return question


def _back(numbers: list[Assumption], written: Design) -> None:
    _ask(_asking({number.name: None for number in numbers}, written))


def _draw_effects(number: Assumption, written: Design) -> None:
    """Draw the effects worth planning with as choices, if there are any."""
    choices = effects_of(written)
    if not choices or number.value is None:
        return
    sizes = [choice.effect for choice in choices]
    names = [f"{choice.label} ({effect_text(choice.effect)})" for choice in choices]
    key = f"asked_effect_{state.current().version}_{number.value!r}"
    st.radio(
        "Effect to plan with",
        range(len(names)),
        index=sizes.index(number.value) if number.value in sizes else None,
        format_func=names.__getitem__,
        horizontal=True,
        key=key,
        on_change=lambda: _ask(_asking({number.name: sizes[st.session_state[key]]}, written)),
    )


def _draw_reason(number: Assumption, written: Design) -> None:
    key, question = f"why_{number.key}", state.case().question
    reason = next((text for name, text in question.why.items() if name == number.name), "")
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"row_{number.key}"):
        st.text_input(
            f"Your reason for {number.name} {number.text(number.value)}",
            reason,
            max_chars=_REASON_LENGTH,
            placeholder="If you like",
            key=key,
            on_change=lambda: state.ask(
                question.because(number.name, st.session_state[key].strip())
            ),
        )
        back = partial(_back, [number], written)
        label = f"Back to the study’s {number.text(number.own)}"
        button(label, "undo", back, key=f"back_{number.key}")


# --- units and arms ---------------------------------------------------------------------------

UNITS_AND_ARMS: Final = "Units and arms"
_DEFAULTS: Final[dict[str, Record]] = {"units": Units(name="unit", samples=1.0), "arms": Arms()}
_PARTS: Final = (
    ("units", "samples", "Samples in one unit", PerUnit, 1.0, "On average.", 1),
    (
        *("units", "icc", "Intraclass correlation", Correlation, 0.01),
        *("Share of the variance between units; empty if unknown.", 1),
    ),
    (
        *("arms", "share", "First arm, % of samples", ArmShare, 5.0),
        *("The first arm is the treated one.", _PERCENT),
    ),
)
"""The numbers of units and arms: record, field, label, bounds, step, help, factor."""


def has_units(lines: Curves) -> bool:
    """Return whether the design can have units or arms."""
    return any(KINDS[lines.plan.pack.design.kind].uses(name) for name in GROUPINGS)


def draw_units(lines: Curves) -> None:
    """Draw units and arms, and their effect on the plan."""
    written, design = state.written().design, lines.plan.pack.design
    row, problems = KINDS[design.kind], list[str]()
    with st.container(horizontal=True, vertical_alignment="bottom", key="asked_units"):
        if row.uses("units"):
            _draw_unit_name(written, design)
        for record, name, label, bound, step, hint, factor in _PARTS:
            if row.uses(record):
                custom, value = (getattr(_held(of, record), name) for of in (written, design))
                minimum, limit = (edge * factor for edge in bounds_of(bound))
                field = _field(
                    Assumption(name, label, custom, value, factor, step),
                    partial(_with_part, written, design, record, name),
                    (minimum, limit),
                    can_be_empty=name == "icc",
                )
                field.draw(format="%g", help=escaped(hint))
                problems.append(field.problem)
    complain(*problems)
    if any(name in state.case().question.asked for name in GROUPINGS):
        custom = "; ".join(f"{title}: {text}" for title, text in groupings(written).values())
        study_s = state.case().question.model_copy(update=dict.fromkeys(GROUPINGS))
        button(
            "Units and arms as the study has them",
            "restart_alt",
            partial(_ask, study_s),
            help=escaped(custom or "The study names neither."),
        )
    panel.draw(units_panel(lines.plan))


def _draw_unit_name(written: Design, asked: Design) -> None:
    key = widget_key("unit_name")

    def take() -> None:
        if name := st.session_state[key].strip():
            state.ask(_with_part(written, asked, "units", "name", name))

    st.text_input(
        "One unit is a",
        asked.units.name if asked.units else "",
        max_chars=LONGEST_SHORT_TITLE,
        placeholder="tank",
        help="What is treated as one: samples in it are alike.",
        key=key,
        on_change=take,
    )


def _held(design: Design, record: str) -> Record:
    return getattr(design, record) or _DEFAULTS[record]


def _with_part(
    written: Design, asked: Design, record: str, name: str, value: object
) -> EvidenceAssumptions:
    """Return the question with changed units or arms; the study's own ask nothing."""
    changed = _held(asked, record).model_copy(update={name: value})
    custom = changed == getattr(written, record)
    return state.case().question.model_copy(update={record: None if custom else changed})
