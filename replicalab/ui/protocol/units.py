"""Units and arms, as a part of what the evidence assumes: typed, and what they make of a plan."""

from typing import Any, Final, NamedTuple

import streamlit as st

from replicalab.errors import ScenarioError
from replicalab.measures import GROUPINGS, KINDS
from replicalab.models import Record
from replicalab.planner.curves import Curves
from replicalab.scenarios import Arms, Design, EvidenceAssumptions, Units
from replicalab.scenarios.arms import ArmShare
from replicalab.scenarios.fields import LONGEST_SHORT_TITLE
from replicalab.scenarios.units import Correlation, PerUnit
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, between, bounds_of, button, complain
from replicalab.ui.words import escaped
from replicalab.views.units import groupings, units_panel

TITLE: Final = "Units and arms"
_UNNAMED: Final = "unit"
_IN_PERCENT: Final = 100
_EXACT: Final = 12  # So many decimals a percentage is taken back to a share with
_RENEWED: Final = "units_renewed"


class _Field(NamedTuple):
    """A number of units or arms, as it is typed.

    Attributes:
        record: the field of the question that it is a part of.
        bound: what holds it in its record.
        factor: what a value is multiplied by to be typed.
    """

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
        "How much of the variance lies between units; empty where it is not known.",
    ),
    _Field(
        "arms",
        "share",
        "First arm, % of samples",
        ArmShare,
        5.0,
        "The first arm is the treated one.",
        _IN_PERCENT,
    ),
)


def fits(lines: Curves) -> bool:
    """Return whether the design can have units or arms."""
    row = KINDS[lines.plan.pack.design.kind]
    return any(row.uses(name) for name in GROUPINGS)


def draw(lines: Curves) -> None:
    """Draw the units and arms that are assumed, and what they make of the plan."""
    yours = lines.plan
    written, asked = state.written().design, yours.pack.design
    row, problems = KINDS[asked.kind], list[str]()
    for record in GROUPINGS:
        if not row.uses(record):
            continue
        with st.container(horizontal=True, vertical_alignment="bottom", key=f"asked_{record}"):
            if record == "units":
                _draw_name(written, asked)
            for each in _FIELDS:
                if each.record == record:
                    problems.append(_draw_field(each, written, asked))
    complain(*problems)
    if any(name in state.case().question.asked for name in GROUPINGS):
        own = "; ".join(f"{title}: {text}" for title, text in groupings(written).values())
        button(
            "Units and arms as the study has them",
            "restart_alt",
            _back,
            help=escaped(own or "The study names neither."),
        )
    panel.draw(units_panel(yours))


def _in_force(design: Design, record: str) -> Record:
    """Return the units or arms of a design, or those that begin where it has none."""
    begun: dict[str, Record] = {"units": Units(name=_UNNAMED, samples=1.0), "arms": Arms()}
    found: Record | None = getattr(design, record)
    return begun[record] if found is None else found


def _key(record: str, name: str) -> str:
    return f"ask_{record}_{name}_{state.current().version}_{st.session_state.get(_RENEWED, 0)}"


def _draw_name(written: Design, asked: Design) -> None:
    key = _key("units", "name")

    def take() -> None:
        if name := st.session_state[key].strip():
            _ask(written, asked, "units", name=name)

    st.text_input(
        "One unit is a",
        asked.units.name if asked.units else "",
        max_chars=LONGEST_SHORT_TITLE,
        placeholder="tank",
        help="What is treated as one: samples in it are alike.",
        key=key,
        on_change=take,
    )


def _draw_field(each: _Field, written: Design, asked: Design) -> str:
    """Draw a field, and return what is wrong with what stands in it."""
    key, value = _key(each.record, each.name), getattr(_in_force(asked, each.record), each.name)
    shown = None if value is None else round(value * each.factor, _EXACT)
    least, most = bounds_of(each.bound)
    # A number that may be taken away again starts in the session: see the form of a study.
    empties = each.name == "icc"
    if empties and key not in st.session_state:
        st.session_state[key] = shown
    in_bounds = between(each.label, (least * each.factor, most * each.factor))

    def why_not(typed: float | None) -> str:
        return in_bounds(typed) or _refused(_changed(each, typed), written, asked, each.record)

    field = NumberField(
        each.label,
        key,
        None if empties else shown,
        take=lambda typed: _ask(written, asked, each.record, **_changed(each, typed)),
        why_not=why_not,
        step=each.step,
    )
    field.draw(format="%g", help=escaped(each.hint))
    return field.problem


def _changed(each: _Field, typed: float | None) -> dict[str, Any]:
    return {each.name: None if typed is None else round(typed / each.factor, _EXACT + 2)}


def _refused(changes: dict[str, Any], written: Design, asked: Design, record: str) -> str:
    """Return why the study cannot be asked these units or arms; empty where it can."""
    if changes == {name: getattr(_in_force(asked, record), name) for name in changes}:
        return ""
    try:
        _question(written, asked, record, changes).over(written)
    except ScenarioError as error:
        fault = error.faults[0]
        return f"{fault.problem}; {fault.remedy}."
    return ""


def _question(
    written: Design, asked: Design, record: str, changes: dict[str, Any]
) -> EvidenceAssumptions:
    """Return the question with something changed of its units or arms."""
    made = _in_force(asked, record).model_copy(update=changes)
    asks = made != getattr(written, record)
    return state.case().question.model_copy(update={record: made if asks else None})


def _ask(written: Design, asked: Design, record: str, **changes: Any) -> None:
    state.ask(_question(written, asked, record, changes))


def _back() -> None:
    """Take units and arms back: the study's own are asked again."""
    state.ask(state.case().question.model_copy(update=dict.fromkeys(GROUPINGS)))
    st.session_state[_RENEWED] = st.session_state.get(_RENEWED, 0) + 1
