"""The Protocol page: edit the plan, see the check, choose what to change, see its effect."""

from collections import Counter
from functools import partial
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.facts.protocol_facts import ProtocolFacts, Tick
from replicalab.models import revise
from replicalab.planner import PlanAnalysis
from replicalab.ui import screen, state, tray
from replicalab.ui.controls import button, escape, fold
from replicalab.ui.editor import PlanForm, draw_lists_and_texts, draw_numbers
from replicalab.ui.protocol_page import assumptions

_LEFT_OUT: Final = "changes_left_out"
_TICKS: Final = "changes_ticked"


def draw(analysis: PlanAnalysis) -> None:
    yours, hidden = analysis.yours, state.is_hidden()
    facts = ProtocolFacts(
        analysis,
        before=state.next_case(state.current().past),
        now=state.case(),
        left_out=st.session_state.setdefault(_LEFT_OUT, frozenset()),
        per_group=assumptions.groups_typed(yours.pack.design) > 1,
    )
    if not hidden:
        screen.draw_features("protocol", analysis)
        tray.draw_line()
    with st.container(key="workbench"):
        with st.container(horizontal=True, key="editor"):
            _draw_editor(yours, facts)
        if hidden:
            with st.container():
                screen.draw_features("protocol", analysis)
            return
        screen.draw(*facts.check)
        for repair in facts.repairs:
            take, effect = partial(state.replace_plan, repair.plan), escape(repair.effect)
            button(escape(repair.label), "build", take, help=effect, key=repair.key, wrap=True)
        screen.draw(facts.evidence)
        with st.container(key="folds"):
            assumptions.draw(yours)
            screen.draw_features("folds", yours)
        _draw_changes(facts)


def _draw_editor(yours: Assessment, facts: ProtocolFacts) -> None:
    def take(field: str, value: object) -> None:
        state.edit(revise(state.plan(), **{field: value}))

    groups = assumptions.groups_typed(yours.pack.design)
    key, term = f"plan_{state.current().version}", yours.pack.study.term
    form = PlanForm(key, yours.plan, take, groups, term)
    undone = facts.undone
    button(
        f"Undo: {escape(undone)}" if undone else "Undo",
        "undo",
        state.undo,
        disabled=facts.before is None,
        key="undo",
        width="stretch",
        wrap=True,  # or the browser measures each new label before it draws the rest
    )
    draw_numbers(form, yours.pack)
    draw_lists_and_texts(form, yours.pack)
    # Last, for the browser redraws everything after an element that appears.
    if state.next_case(state.current().future):
        button("Redo", "redo", state.redo, key="redo", width="stretch")


def _draw_changes(facts: ProtocolFacts) -> None:
    screen.draw(*facts.changes)
    if facts.ticks or facts.least_plan:
        with st.container(horizontal=True, vertical_alignment="bottom", key="apply"):
            if facts.ticks:
                _draw_ticks(facts.ticks, facts)
            if facts.least_plan:
                take = partial(state.replace_plan, facts.least_plan)
                button("Apply the least-loss plan", "balance", take, key="apply_least_loss")
    with fold("Other plans", "other_plans") as is_open:
        ends = facts.other_plans if is_open else []
        if is_open and not ends:
            st.caption(facts.no_other_plans)
        for number, end in enumerate(ends):
            screen.draw(end.shown)
            take = partial(state.replace_plan, end.plan)
            button(f"Apply: {end.name.lower()}", "balance", take, key=f"apply_end_{number}")


def _draw_ticks(ticks: list[Tick], facts: ProtocolFacts) -> None:
    """Draw a pill for each change, named after its field: so an edit does not redraw it."""
    names, times = dict[str, Tick](), Counter[str]()
    for tick in ticks:
        name = tick.text.field
        times[name] += 1
        names[name if times[name] == 1 else f"{name} {times[name]}"] = tick

    def take() -> None:
        chosen = st.session_state[_TICKS]
        out = {tick.key for name, tick in names.items() if name not in chosen}
        st.session_state[_LEFT_OUT] = st.session_state[_LEFT_OUT] - {t.key for t in ticks} | out

    chosen = [name for name, tick in names.items() if tick.on]
    if st.session_state.get(_TICKS) != chosen:
        st.session_state[_TICKS] = chosen
    st.pills(
        "The Lab Manager’s changes",
        list(names),
        selection_mode="multi",
        format_func=escape,
        key=_TICKS,
        on_change=take,
    )
    button(
        "Apply all" if len(chosen) == len(ticks) else f"Apply {len(chosen)} of {len(ticks)}",
        "done_all",
        partial(state.replace_plan, facts.ticked.plan),
        type="primary" if facts.is_ticked_useful else "secondary",
        key="apply_all",
        disabled=not chosen,
    )
