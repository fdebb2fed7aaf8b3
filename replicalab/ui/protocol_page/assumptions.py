"""The assumptions of the evidence: numbers, units and arms, and the curves of power analysis."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment, effects_of
from replicalab.designs import GROUPINGS, KINDS, PARAMETERS
from replicalab.errors import ScenarioError
from replicalab.facts import curve_facts
from replicalab.facts.blocks import Cell, sentences_panel, table
from replicalab.facts.check_facts import design_table
from replicalab.facts.plan_facts import assumption_text, effect_text, groupings, units_panel
from replicalab.lexicon import capitalised
from replicalab.limits import LONGEST_SHORT_TITLE
from replicalab.models import Record
from replicalab.planner.curves import Curves
from replicalab.render import figures
from replicalab.scenarios import Arms, Design, EvidenceAssumptions, Units
from replicalab.scenarios.field_types import ArmShare, Correlation, PerUnit
from replicalab.scenarios.overrides import QUESTION_FIELDS
from replicalab.ui import controls, screen, state
from replicalab.ui.controls import escape

PLACE: Final = "assumptions"
PART_KEY: Final = "assumptions_part"
UNITS_AND_ARMS: Final = "Units and arms"
_NUMBERS: Final = "Numbers"
_PER_GROUP: Final = "per_group"
_RENEWED: Final = "asked_again"
_PERCENT: Final = 100
_DECIMALS: Final = 12  # so that a share survives its way through a percentage


def draw(yours: Assessment) -> None:
    """Draw the place; nothing is computed or sent while it is closed."""
    with controls.fold("Assumptions: effect, alpha, target", PLACE) as is_open:
        if not is_open:
            return
        parts = _parts(Curves(yours, state.author_pack().design))
        parts |= screen.draw_features(PLACE, yours)
        chosen = st.radio(
            "Numbers or a curve",
            list(parts),
            horizontal=True,
            label_visibility="collapsed",
            key=PART_KEY,
            persist_state="session",
        )
        parts.get(chosen or "", parts[_NUMBERS])()


def _parts(curves: Curves) -> dict[str, Callable[[], None]]:
    parts: dict[str, Callable[[], None]] = {_NUMBERS: partial(_draw_numbers, curves)}
    by_n = ("evidence_by_samples", curve_facts.samples_title, curve_facts.samples_rows)
    parts["Evidence over n"] = partial(_draw_chart, curves, *by_n, names=_BY_SAMPLES)
    if curves.effects:
        by_effect = ("evidence_by_effect", curve_facts.effect_title, curve_facts.effect_rows)
        parts["Evidence over effect"] = partial(_draw_chart, curves, *by_effect)
        n_by_effect = ("samples_by_effect", curve_facts.samples_title, curve_facts.effect_rows)
        parts["n over effect"] = partial(_draw_chart, curves, *n_by_effect)
    if curves.written and curves.written.original:
        parts[curve_facts.TITLE] = lambda: screen.draw(*curve_facts.original_blocks(curves))
    if any(map(KINDS[curves.plan.pack.design.kind].uses, GROUPINGS)):
        parts[UNITS_AND_ARMS] = partial(_draw_units, curves)
    return parts | {"The design": lambda: screen.draw(design_table(curves.plan))}


class _Assumption(NamedTuple):
    """A number that a visitor may change."""

    name: str
    label: str
    default: float | None  # the study's; None if its kind has none
    value: float | None  # in use
    factor: int  # 100 for a percentage
    step: float
    why: str = ""  # the study's reason

    @property
    def key(self) -> str:
        return _widget_key(self.name)

    @property
    def is_yours(self) -> bool:
        return self.value != self.default

    def to_type(self, value: float | None) -> float | None:
        return None if value is None else round(value * self.factor, _DECIMALS)

    def from_typed(self, typed: float | None) -> float | None:
        if typed is None or isinstance(typed, int):
            return typed
        return round(typed / self.factor, _DECIMALS + 2)

    def text(self, value: float | None) -> str:
        percent = " %" if self.factor == _PERCENT else ""
        return "none" if value is None else f"{self.to_type(value):zg}{percent}"


def _widget_key(name: str) -> str:
    return f"ask_{name}_{state.current().version}_{st.session_state.get(_RENEWED, 0)}"


def groups_typed(design: Design) -> int:
    """Return the groups if the sample size is typed per group; 1 if it is the total."""
    per_group = st.session_state.get(_PER_GROUP) and not design.uneven
    return KINDS[design.kind].groups_of(design) if per_group else 1


def _draw_numbers(curves: Curves) -> None:
    written, asked = state.author_pack().design, curves.plan.pack.design
    numbers = _assumptions(written, asked)
    if numbers[0].name == "effect":
        _draw_effects(numbers[0], written)
    fields = [_field(number, partial(_read_typed, number, numbers, written)) for number in numbers]
    with st.container(horizontal=True, vertical_alignment="bottom", key="asked_numbers"):
        for number, field in zip(numbers, fields, strict=True):
            hint = f"The study’s: {number.text(number.default)}. {number.why}".strip()
            field.draw(help=escape(hint))
    if KINDS[written.kind].groups_of(written) > 1 and not asked.uneven:
        label = "Type the sample size per group"
        st.toggle(label, key=_PER_GROUP, persist_state="session")
    controls.complain(*(field.problem for field in fields))
    yours = [number for number in numbers if number.is_yours]
    for number in yours:
        _draw_reason(number, written)
    if len(yours) > 1:
        controls.button("Reset to the study", "restart_alt", partial(_reset, yours, written))


def _assumptions(written: Design, asked: Design) -> list[_Assumption]:
    """Return the numbers that a visitor may change; an effect is the first."""
    row = KINDS[written.kind]
    factor, measure = row.scale.factor, row.measure
    share, step = (", %", 1.0) if factor == _PERCENT else ("", 0.05)
    # A tenth of the effect, in a round number.
    effect_step = float(f"{abs(written.effect_planning or 1.0) / 10:.0e}")

    def parameter(name: str) -> tuple[str, str, int, float]:
        return name, row.label(name, asked.sides), 1, PARAMETERS[name].step

    rows = (
        ("effect", capitalised(row.effect.name) if row.effect else "", 1, effect_step),
        *(parameter(name) for name in ("alpha", "sides") if row.uses(name)),
        ("target", f"Target: {measure}{share}", factor, step),
        ("floor", f"Floor: {measure}{share}", factor, step),
        ("dropout", "Dropout, %", _PERCENT, 1.0),
        *(parameter(name) for name in row.extras if name != "sides"),
    )
    numbers = []
    for name, label, times, by in rows:
        field = QUESTION_FIELDS[name]
        default, value = getattr(written, field), getattr(asked, field)
        if label:
            why = written.why.get(field, "")
            numbers.append(_Assumption(name, label, default, value, times, by, why))
    return numbers


def _field(
    number: _Assumption,
    ask: Callable[[float | None], EvidenceAssumptions],
    bounds: tuple[float, float] = (-math.inf, math.inf),
    *,
    can_be_empty: bool = False,
) -> controls.NumberField:
    """Return the field of a number; ``ask`` returns the question with its value."""
    visible, written = number.to_type(number.value), state.author_pack().design

    def why_not(typed: float | None) -> str:
        problem, value = controls.between(number.label, bounds)(typed), number.from_typed(typed)
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
    return controls.NumberField(
        f"{number.label} (yours)" if number.is_yours and not can_be_empty else number.label,
        number.key,
        None if can_be_empty else visible,
        take=lambda typed: state.change_assumptions(ask(number.from_typed(typed))),
        why_not=why_not,
        step=number.step,
    )


def _read_typed(
    touched: _Assumption, numbers: list[_Assumption], written: Design, value: float | None
) -> EvidenceAssumptions:
    # Take all fields if they are valid together, else the changed one: a refused target stays
    # typed until the floor is lowered.
    typed = {number.name: number.from_typed(st.session_state.get(number.key)) for number in numbers}
    with suppress(ScenarioError):
        return _question({name: typed[name] for name in typed if typed[name] is not None}, written)
    return _question({touched.name: value}, written)


def _question(numbers: Mapping[str, float | None], written: Design) -> EvidenceAssumptions:
    question = state.case().question
    for name, value in numbers.items():
        question = question.asking(name, value, written)
    question.over(written)
    return question


def _apply(question: EvidenceAssumptions) -> None:
    state.change_assumptions(question)
    st.session_state[_RENEWED] = st.session_state.get(_RENEWED, 0) + 1


def _reset(numbers: list[_Assumption], written: Design) -> None:
    _apply(_question({number.name: None for number in numbers}, written))


def _draw_effects(number: _Assumption, written: Design) -> None:
    choices = effects_of(written)
    if not choices or number.value is None:
        return
    sizes = [choice.effect for choice in choices]
    names = [f"{choice.label} ({effect_text(choice.effect)})" for choice in choices]
    key, places = f"asked_effect_{state.current().version}_{number.value!r}", range(len(names))

    def take() -> None:
        _apply(_question({"effect": sizes[st.session_state[key]]}, written))

    st.radio(
        "Effect to plan with",
        places,
        index=sizes.index(number.value) if number.value in sizes else None,
        format_func=names.__getitem__,
        horizontal=True,
        key=key,
        on_change=controls.choice_callback(key, places, take),
    )


def _draw_reason(number: _Assumption, written: Design) -> None:
    name, key, question = number.name, f"why_{number.key}", state.case().question
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"row_{number.key}"):
        st.text_input(
            f"Your reason for {name} {number.text(number.value)}",
            dict[str, str](question.why.items()).get(name, ""),
            max_chars=300,
            placeholder="If you like",
            key=key,
            on_change=lambda: state.change_assumptions(
                question.because(name, st.session_state[key].strip())
            ),
        )
        label = f"Back to the study’s {number.text(number.default)}"
        controls.button(label, "undo", partial(_reset, [number], written), key=f"back_{number.key}")


_DEFAULTS: Final[dict[str, Record]] = {"units": Units(name="unit", samples=1.0), "arms": Arms()}
_UNIT_FIELDS: Final = (
    ("units", "samples", "Samples in one unit", PerUnit, 1.0, "On average.", 1),
    ("units", "icc", "Intraclass correlation", Correlation, 0.01,
     "Share of the variance between units; empty if unknown.", 1),
    ("arms", "share", "First arm, % of samples", ArmShare, 5.0,
     "The first arm is the treated one.", _PERCENT),
)  # fmt: skip
"""The numbers of units and arms: record, field, label, bounds, step, help, factor."""


def _draw_units(curves: Curves) -> None:
    written, asked = state.author_pack().design, curves.plan.pack.design
    row, problems = KINDS[asked.kind], list[str]()
    with st.container(horizontal=True, vertical_alignment="bottom", key="asked_units"):
        if row.uses("units"):
            _draw_unit_name(written, asked)
        for record, name, label, bound, step, hint, factor in _UNIT_FIELDS:
            if row.uses(record):
                default, value = (getattr(_grouping(of, record), name) for of in (written, asked))
                low, high = controls.bounds_of(bound)
                field = _field(
                    _Assumption(name, label, default, value, factor, step),
                    partial(_with_grouping, written, asked, record, name),
                    (low * factor, high * factor),
                    can_be_empty=name == "icc",
                )
                field.draw(help=escape(hint))
                problems.append(field.problem)
    controls.complain(*problems)
    question = state.case().question
    if any(name in question.asked for name in GROUPINGS):
        default = "; ".join(f"{title}: {text}" for title, text in groupings(written).values())
        controls.button(
            "Units and arms as the study has them",
            "restart_alt",
            partial(_apply, question.model_copy(update=dict.fromkeys(GROUPINGS))),
            help=escape(default or "The study names neither."),
        )
    screen.draw(units_panel(curves.plan))


def _draw_unit_name(written: Design, asked: Design) -> None:
    key = _widget_key("unit_name")

    def take() -> None:
        if name := st.session_state[key].strip():
            state.change_assumptions(_with_grouping(written, asked, "units", "name", name))

    st.text_input(
        "One unit is a",
        asked.units.name if asked.units else "",
        max_chars=LONGEST_SHORT_TITLE,
        placeholder="tank",
        help="Samples in one unit are alike.",
        key=key,
        on_change=take,
    )


def _grouping(design: Design, record: str) -> Record:
    return getattr(design, record) or _DEFAULTS[record]


def _with_grouping(
    written: Design, asked: Design, record: str, name: str, value: object
) -> EvidenceAssumptions:
    changed = _grouping(asked, record).model_copy(update={name: value})
    new = None if changed == getattr(written, record) else changed
    return state.case().question.model_copy(update={record: new})


_BY_EFFECT: Final = ("Effect", "Evidence of your samples", "Samples for the target", "Which")
_BY_SAMPLES: Final = ("Samples planned", "Analysed", "Evidence", "Which")


def _draw_chart(
    curves: Curves,
    figure: str,
    title_of: Callable[[Curves], str],
    rows: Callable[[Curves], list[tuple[Cell, ...]]],
    names: tuple[str, ...] = _BY_EFFECT,
) -> None:
    """Draw a curve by the name of its function in `figures`, and its table."""
    title, assumed = title_of(curves), curve_facts.assumed_text(curves)
    st.plotly_chart(
        getattr(figures, figure)(curves, (title, assumed)),
        key="power_chart",
        config=figures.CONFIG,
        alt=f"{title}; {assumed}. The table below has the same numbers.",
    )
    sentences = [assumption_text(curves.plan), curve_facts.bound_text(curves)]
    screen.draw(sentences_panel(sentences, quiet=True))
    screen.draw_tables(lambda: [table(title, names, rows(curves), kind="plain")])
