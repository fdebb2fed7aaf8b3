"""The editor: one widget per protocol field; what cannot be a plan is said and not taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st
from pydantic import ValidationError

from replicalab.lexicon import repeated_labels
from replicalab.models import (
    FIELD_LABELS,
    LARGEST_PLANNED,
    LONGEST_TEXT,
    Protocol,
    revise,
    too_large,
)
from replicalab.scenarios import ItemStatus, Pack
from replicalab.ui import session
from replicalab.ui.words import escaped

_PROBLEMS: Final = "editor_problems"
_CATEGORIES: Final = {"required_equipment": "equipment", "required_reagents": "reagent"}
_REMEDIES: Final = {
    "technique": "Write in a few words what is done.",
    "rationale": "Write why this plan answers the question.",
}


def draw(plan: Protocol, pack: Pack) -> None:
    """Draw the editor for a plan in a lab.

    Each widget is given its value as its default, not through the session: a default travels with
    the widget, so one that the browser draws late still starts with the plan's value.
    """
    _draw_history_buttons()
    left, right = st.columns(2)
    with left:
        _number("sample_size", plan, f"In {pack.design.unit_of_n}.")
    with right:
        _number("duration_days", plan, "Whole days in the lab.")
    _labels("controls", plan, [control.name for control in pack.controls], str)
    for field, category in _CATEGORIES.items():
        _labels(field, plan, _offered(pack, category), _status_of(pack, category))
    _text("technique", plan, st.text_area)
    _text("rationale", plan, st.text_area)


def _draw_history_buttons() -> None:
    with st.container(horizontal=True, key="history"):
        st.button(
            "Undo", icon=":material/undo:", on_click=session.undo, disabled=not session.can_undo()
        )
        st.button(
            "Redo", icon=":material/redo:", on_click=session.redo, disabled=not session.can_redo()
        )
        st.button(
            "Reset to reference",
            icon=":material/restart_alt:",
            on_click=session.replace_plan,
            args=(None,),
            disabled=session.workspace().protocol is None,
            help="Back to the study's reference protocol. Undo brings your plan back.",
        )


def _key(field: str) -> str:
    return f"plan_{field}_{session.editor_version()}"


def _take(field: str) -> None:
    """Take what a widget now holds into the plan, or say why it cannot be."""
    value = st.session_state[_key(field)]
    problems = st.session_state.setdefault(_PROBLEMS, {})
    problems.pop(_key(field), None)
    try:
        revised = revise(session.plan(), **{field: value})
    except ValidationError:
        problems[_key(field)] = (value, _empty_text(field))
        return
    large = [each for each in too_large(revised) if each not in too_large(session.plan())]
    if large:
        problems[_key(field)] = (value, f"{large[0]}. The plan keeps what it had; shorten it.")
    else:
        session.edit(revised)


def _empty_text(field: str) -> str:
    if field in _REMEDIES:
        kept = getattr(session.plan(), field)
        return f"{FIELD_LABELS[field]} is empty, so the plan keeps “{kept}”. {_REMEDIES[field]}"
    return (
        f"{FIELD_LABELS[field]} has an entry without a name, so the plan keeps what it had. "
        "Remove that entry, or type a name."
    )


def _say_problem(field: str) -> None:
    """Say why what the widget still holds is not in the plan."""
    value, problem = st.session_state.get(_PROBLEMS, {}).get(_key(field), (None, None))
    if problem and st.session_state[_key(field)] == value:
        st.error(escaped(problem), icon=":material/edit_off:")


def _number(field: str, plan: Protocol, help_text: str) -> None:
    st.number_input(
        FIELD_LABELS[field] if field != "duration_days" else "Duration (days)",
        value=getattr(plan, field),
        min_value=0,
        max_value=LARGEST_PLANNED,
        step=1,
        key=_key(field),
        help=escaped(help_text),
        on_change=_take,
        args=(field,),
    )


def _labels(field: str, plan: Protocol, offered: list[str], shown_as: Callable[[str], str]) -> None:
    chosen: list[str] = getattr(plan, field)
    st.multiselect(
        FIELD_LABELS[field],
        list(dict.fromkeys([*offered, *chosen])),
        default=list(dict.fromkeys(chosen)),
        format_func=shown_as,
        key=_key(field),
        accept_new_options=True,
        wrap=True,
        placeholder="Pick, or type a new one",
        on_change=_take,
        args=(field,),
    )
    _say_problem(field)
    for label in repeated_labels(chosen):
        st.caption(f"“{escaped(label)}” stands in the plan more than once and is billed so; "
                   "any change here lists it once.")  # fmt: skip


def _offered(pack: Pack, category: str) -> list[str]:
    own = [r.label for r in pack.resources if r.category.value == category]
    return [*own, *pack.inventory.usable_alternatives(category)]


def _status_of(pack: Pack, category: str) -> Callable[[str], str]:
    def shown(label: str) -> str:
        status = pack.inventory.status(label, category)
        if status in (ItemStatus.AVAILABLE, ItemStatus.UNKNOWN):
            return label
        until = pack.inventory.booked_until(label)
        return f"{label} ({status}{f' until day {until}' if until is not None else ''})"

    return shown


def _text(field: str, plan: Protocol, widget: Callable[..., str]) -> None:
    widget(
        FIELD_LABELS[field],
        getattr(plan, field),
        max_chars=LONGEST_TEXT,
        key=_key(field),
        on_change=_take,
        args=(field,),
    )
    _say_problem(field)
