"""Units and arms of the design: typed, with their effect on the evidence."""

from typing import Any, Final, NamedTuple

import streamlit as st

from replicalab.designs import GROUPINGS, KINDS
from replicalab.errors import ScenarioError
from replicalab.facts.units import groupings, units_panel
from replicalab.models import Record
from replicalab.planner.curves import Curves
from replicalab.scenarios import Arms, Design, EvidenceAssumptions, Units
from replicalab.scenarios.fields import LONGEST_SHORT_TITLE
from replicalab.scenarios.units import ArmShare, Correlation, PerUnit
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, between, bounds_of, button, complain
from replicalab.ui.words import escaped

TITLE: Final = "Units and arms"
_DECIMALS: Final = 12
_RENEWED: Final = "units_renewed"
_DEFAULTS: Final[dict[str, Record]] = {"units": Units(name="unit", samples=1.0), "arms": Arms()}


class _Field(NamedTuple):
    """A number of units or arms; it is typed multiplied by ``factor``."""

    record: str
    name: str
    label: str
    bound: Any
    step: float
    hint: str
    factor: int = 1


_FIELDS: Final = (
    _Field("units", "samples", "Samples in one unit", PerUnit, 1.0, "On average."),
    _Field(
        "units",
        "icc",
        "Intraclass correlation",
        Correlation,
        0.01,
        "How much of the variance lies between units; empty if unknown.",
    ),
    _Field(
        "arms",
        "share",
        "First arm, % of samples",
        ArmShare,
        5.0,
        "The first arm is the treated one.",
        100,
    ),
)


def fits(lines: Curves) -> bool:
    """Return whether the design can have units or arms."""
    return any(KINDS[lines.plan.pack.design.kind].uses(name) for name in GROUPINGS)


def draw(lines: Curves) -> None:
    """Draw the fields, and the effect of units and arms on the plan."""
    yours = lines.plan
    written, asked = state.written().design, yours.pack.design
    row, problems = KINDS[asked.kind], list[str]()
    with st.container(horizontal=True, vertical_alignment="bottom", key="asked_units"):
        if row.uses("units"):
            _draw_name(written, asked)
        for field in _FIELDS:
            if row.uses(field.record):
                problems.append(_draw_field(field, written, asked))
    complain(*problems)
    if any(name in state.case().question.asked for name in GROUPINGS):
        own = "; ".join(f"{title}: {text}" for title, text in groupings(written).values())
        help_text = escaped(own or "The study names neither.")
        button("Units and arms as the study has them", "restart_alt", _reset, help=help_text)
    panel.draw(units_panel(yours))


def _key(name: str) -> str:
    return f"ask_{name}_{state.current().version}_{st.session_state.get(_RENEWED, 0)}"


def _draw_name(written: Design, asked: Design) -> None:
    key = _key("unit_name")

    def take() -> None:
        if name := st.session_state[key].strip():
            state.ask(_question(written, asked, "units", name=name))

    st.text_input(
        "One unit is a",
        asked.units.name if asked.units else "",
        max_chars=LONGEST_SHORT_TITLE,
        placeholder="tank",
        help="What is treated as one: samples in it are alike.",
        key=key,
        on_change=take,
    )


def _draw_field(field: _Field, written: Design, asked: Design) -> str:
    """Draw a field, and return the problem of its value."""
    key, value = _key(field.name), getattr(_current(asked, field.record), field.name)
    shown = None if value is None else round(value * field.factor, _DECIMALS)
    least, most = (bound * field.factor for bound in bounds_of(field.bound))
    can_be_empty = field.name == "icc"
    if can_be_empty:  # Streamlit keeps an emptied field only if its value starts in the session
        st.session_state.setdefault(key, shown)

    def question(typed: float | None) -> EvidenceAssumptions:
        number = None if typed is None else round(typed / field.factor, _DECIMALS + 2)
        return _question(written, asked, field.record, **{field.name: number})

    def why_not(typed: float | None) -> str:
        problem = between(field.label, (least, most))(typed)
        if problem or typed == shown:
            return problem
        try:
            question(typed).over(written)
        except ScenarioError as error:
            return f"{error.faults[0].problem}; {error.faults[0].remedy}."
        return ""

    number = NumberField(
        field.label,
        key,
        None if can_be_empty else shown,
        take=lambda typed: state.ask(question(typed)),
        why_not=why_not,
        step=field.step,
    )
    number.draw(format="%g", help=escaped(field.hint))
    return number.problem


def _current(design: Design, record: str) -> Record:
    return getattr(design, record) or _DEFAULTS[record]


def _question(
    written: Design, asked: Design, record: str, **changes: object
) -> EvidenceAssumptions:
    """Return the question with a changed unit or arm; the study's own value asks nothing."""
    changed = _current(asked, record).model_copy(update=changes)
    own = changed == getattr(written, record)
    return state.case().question.model_copy(update={record: None if own else changed})


def _reset() -> None:
    state.ask(state.case().question.model_copy(update=dict.fromkeys(GROUPINGS)))
    st.session_state[_RENEWED] = st.session_state.get(_RENEWED, 0) + 1
