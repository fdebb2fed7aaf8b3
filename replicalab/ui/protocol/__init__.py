"""The Protocol page: edit the plan, see the check, choose what to change, see what it takes."""

import time
from functools import partial
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.facts.blocks import Group, group
from replicalab.facts.changes import edit_sentence, edit_text, mend_price, mend_text
from replicalab.facts.check import check_panel, cost_panel, evidence_panel, mend_place
from replicalab.facts.curves import samples_panel
from replicalab.models import revise
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.planner.curves import Curves
from replicalab.ui import panel, state, tray
from replicalab.ui.controls import button
from replicalab.ui.editor import PlanForm, draw_lists_and_texts, draw_numbers
from replicalab.ui.protocol import assumptions, changes, numbers
from replicalab.ui.protocol.changes import Ticked
from replicalab.ui.words import escaped

_ON_CURVE: Final = "on_curve"
_FOLLOWED_AT: Final = "on_curve_followed_at"
_SETTLED: Final = 0.5  # seconds


def draw(analysis: PlanAnalysis) -> None:
    """Draw the page."""
    edited = _last_edit(analysis)
    if state.is_hidden():
        with st.container(key="workbench"):
            with st.container(horizontal=True, key="editor"):
                _draw_editor(analysis.yours, edited)
            with st.container():
                panel.draw_features("protocol", analysis)
        return
    panel.draw_features("protocol", analysis)
    suggestion = changes.ticked(analysis)
    tray.draw_line()
    with st.container(key="workbench"):
        with st.container(horizontal=True, key="editor"):
            _draw_editor(analysis.yours, edited)
        _draw_check(analysis, edited)
        _draw_evidence(analysis, suggestion)
        assumptions.draw(analysis.yours)
        changes.draw(analysis, suggestion)


def _take(field: str, value: object) -> None:
    state.edit(revise(state.plan(), **{field: value}))


def _draw_editor(yours: Assessment, edited: PlanStep | None) -> None:
    groups = numbers.groups_typed(yours.pack.design)
    form = PlanForm(
        f"plan_{state.current().version}", yours.plan, _take, groups, yours.pack.study.term
    )
    button(
        f"Undo: {escaped(undone)}" if (undone := _undone(edited)) else "Undo",
        "undo",
        state.undo,
        disabled=state.last_step() is None,
        key="undo",
        width="stretch",
        wrap=True,  # or the browser measures each new label before it draws the rest
    )
    draw_numbers(form, yours.pack)
    draw_lists_and_texts(form, yours.pack)
    # Last, for the browser draws anew all that stands after what comes or goes.
    if state.next_step():
        button("Redo", "redo", state.redo, key="redo", width="stretch")


def _last_edit(analysis: PlanAnalysis) -> PlanStep | None:
    """Return the edit of the plan that undo takes back; None where it takes back something else."""
    before = state.last_step()
    yours = analysis.yours
    plan = before and (before.plan or yours.pack.reference_protocol)
    return PlanStep(analysis.judged(plan), yours) if plan and plan != yours.plan else None


def _undone(edited: PlanStep | None) -> str:
    """Return what undo takes back, in a few words; empty where it is none of these."""
    before, now = state.last_step(), state.case()
    if edited or before is None:
        return edit_text(edited) if edited else ""
    changes = {
        f"{before.lab} → {now.lab} lab": before.lab != now.lab,
        f"seed {before.seed} → {now.seed}": before.seed != now.seed,
        "what is said of the lab": before.own_lab != now.own_lab,
        "what is assumed": before.question != now.question,
    }
    return ", ".join(text for text, is_new in changes.items() if is_new)


def _draw_check(analysis: PlanAnalysis, edited: PlanStep | None) -> None:
    """Draw the check, the slider below the curve, and the buttons that mend failing rows.

    The buttons come and go, and the browser redraws all that follows them. The slider precedes
    them and keeps the focus.
    """
    panel.draw(
        *([edit_sentence(edited)] if edited else []),
        check_panel(analysis.yours, analysis.binding, analysis.mends),
    )
    limit = max(1, Curves(analysis.yours).most_samples)
    samples = min(analysis.yours.plan.sample_size, limit)
    if st.session_state.get(_ON_CURVE, samples) != samples:
        st.session_state[_FOLLOWED_AT] = time.monotonic()
    st.session_state[_ON_CURVE] = samples
    st.slider(
        "Samples on the curve",
        0,
        limit,
        key=_ON_CURVE,
        on_change=_move,
        label_visibility="collapsed",
    )
    for dimension, step in analysis.mends.items():
        button(
            escaped(mend_text(step)),
            "build",
            partial(state.replace_plan, step.after.plan),
            help=escaped(mend_price(step)),
            key=mend_place(step.after.pack.study, dimension),
        )


def _move() -> None:
    # After an edit elsewhere the browser still sends the slider's old value for a moment.
    if time.monotonic() - st.session_state.get(_FOLLOWED_AT, -_SETTLED) < _SETTLED:
        return
    samples = st.session_state[_ON_CURVE]
    state.replace_plan(revise(state.plan(), sample_size=samples))


def _draw_evidence(analysis: PlanAnalysis, suggestion: Ticked) -> None:
    """Draw what the plan is worth beside others, and what it costs."""
    yours, plan = analysis.yours, analysis.least.after
    compared = {"Your plan": yours}
    if suggestion.result.plan != yours.plan:
        compared["As ticked"] = suggestion.result
    if not plan.evidence.void_reason and plan.plan not in (yours.plan, suggestion.result.plan):
        compared["Least loss"] = plan
    # At other effects the curves below compare it, once they are opened.
    evidence = group(evidence_panel(compared, at_effects=False), samples_panel(Curves(yours)))
    visible = Group((evidence, cost_panel(yours, suggestion.result)), beside=True)
    panel.draw(visible)
