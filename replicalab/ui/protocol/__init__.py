"""The Protocol page: edit the plan, see the check, choose what to change, see what it takes."""

import time
from functools import partial
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.facts.blocks import Group, group
from replicalab.facts.check import check_panel, cost_panel, evidence_panel
from replicalab.facts.curves import samples_panel
from replicalab.facts.negotiation import step_changes
from replicalab.facts.options import edit_sentence, mend_price, mend_text
from replicalab.models import revise
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.planner.curves import Curves
from replicalab.ui import panel, state, tray
from replicalab.ui.controls import button
from replicalab.ui.editor import PlanForm, draw_lists_and_texts, draw_numbers
from replicalab.ui.protocol import assumptions, changes
from replicalab.ui.protocol.changes import Ticked
from replicalab.ui.words import escaped

_ON_CURVE: Final = "on_curve"
_FOLLOWED_AT: Final = "on_curve_followed_at"
_SETTLED: Final = 0.5  # seconds


def draw(analysis: PlanAnalysis) -> None:
    """Draw the page."""
    edited, hidden = _last_edit(analysis), state.is_hidden()
    if not hidden:
        panel.draw_features("protocol", analysis)
        tray.draw_line()
    with st.container(key="workbench"):
        with st.container(horizontal=True, key="editor"):
            _draw_editor(analysis.yours, edited)
        if hidden:
            with st.container():
                panel.draw_features("protocol", analysis)
            return
        _draw_check(analysis, edited)
        suggestion = changes.ticked(analysis)
        _draw_evidence(analysis, suggestion)
        assumptions.draw(analysis.yours)
        changes.draw(analysis, suggestion)


def _draw_editor(yours: Assessment, edited: PlanStep | None) -> None:
    def take(field: str, value: object) -> None:
        state.edit(revise(state.plan(), **{field: value}))

    groups = assumptions.groups_typed(yours.pack.design)
    key, term = f"plan_{state.current().version}", yours.pack.study.term
    form = PlanForm(key, yours.plan, take, groups, term)
    undone = _undone(edited)
    button(
        f"Undo: {escaped(undone)}" if undone else "Undo",
        "undo",
        state.undo,
        disabled=state.last_step() is None,
        key="undo",
        width="stretch",
        wrap=True,  # or the browser measures each new label before it draws the rest
    )
    draw_numbers(form, yours.pack)
    draw_lists_and_texts(form, yours.pack)
    # Last, for the browser redraws everything after an element that appears.
    if state.next_step():
        button("Redo", "redo", state.redo, key="redo", width="stretch")


def _last_edit(analysis: PlanAnalysis) -> PlanStep | None:
    """Return the edit that undo takes back, None if that is no edit of the plan."""
    before, yours = state.last_step(), analysis.yours
    plan = before and (before.plan or yours.pack.reference_protocol)
    return PlanStep(analysis.judged(plan), yours) if plan and plan != yours.plan else None


def _undone(edited: PlanStep | None) -> str:
    """Name the step that undo takes back, in a few words; empty if it is none of these."""
    before, now = state.last_step(), state.case()
    if edited or before is None:
        return step_changes(edited) if edited else ""
    changes = {
        f"{before.lab} → {now.lab} lab": before.lab != now.lab,
        f"seed {before.seed} → {now.seed}": before.seed != now.seed,
        "change to the lab": before.own_lab != now.own_lab,
        "change to the assumptions": before.question != now.question,
    }
    return ", ".join(text for text, is_new in changes.items() if is_new)


def _draw_check(analysis: PlanAnalysis, edited: PlanStep | None) -> None:
    """Draw the check, the slider below the curve, and the buttons that fix failing rows.

    The buttons come and go, and the browser redraws all elements after them. The slider precedes
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
            key=f"mend_{dimension}",
        )


def _move() -> None:
    # After an edit elsewhere the browser still sends the slider's old value for a moment.
    if time.monotonic() - st.session_state.get(_FOLLOWED_AT, -_SETTLED) >= _SETTLED:
        samples = st.session_state[_ON_CURVE]
        state.replace_plan(revise(state.plan(), sample_size=samples))


def _draw_evidence(analysis: PlanAnalysis, suggestion: Ticked) -> None:
    """Draw the evidence of the plan and its alternatives, and the costs."""
    yours, least, ticked = analysis.yours, analysis.least.after, suggestion.result
    compared = {"Your plan": yours}
    if ticked.plan != yours.plan:
        compared["As ticked"] = ticked
    if not least.evidence.void_reason and least.plan not in (yours.plan, ticked.plan):
        compared["Least loss"] = least
    # The curves below compare them at other effects, once they are opened.
    evidence = group(evidence_panel(compared, at_effects=False), samples_panel(Curves(yours)))
    panel.draw(Group((evidence, cost_panel(yours, ticked)), beside=True))
