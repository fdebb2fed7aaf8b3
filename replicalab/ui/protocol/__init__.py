"""The Protocol page: edit the plan, see the check, choose what to change, see its effect."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final, NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment
from replicalab.facts import options as facts
from replicalab.facts.blocks import Group, Heading, group, sentences_panel
from replicalab.facts.check import TICKED, check_panel, cost_panel, evidence_panel
from replicalab.facts.curves import samples_panel
from replicalab.facts.negotiation import step_changes
from replicalab.facts.verdicts import ANSWERS, answer_to
from replicalab.models import revise
from replicalab.planner import PlanAnalysis, PlanStep, change_steps, deciding_text
from replicalab.planner.curves import Curves
from replicalab.scenarios import EvidenceTier
from replicalab.ui import panel, state, tray
from replicalab.ui.controls import button
from replicalab.ui.editor import PlanForm, draw_lists_and_texts, draw_numbers
from replicalab.ui.protocol import assumptions
from replicalab.ui.words import escaped


def draw(analysis: PlanAnalysis) -> None:
    """Draw the page."""
    before = state.next_case(state.current().past)
    yours, hidden = analysis.yours, state.is_hidden()
    plan = before and (before.plan or yours.pack.reference_protocol)
    edited = PlanStep(analysis.judged(plan), yours) if plan and plan != yours.plan else None
    if not hidden:
        panel.draw_features("protocol", analysis)
        tray.draw_line()
    with st.container(key="workbench"):
        with st.container(horizontal=True, key="editor"):
            _draw_editor(yours, edited)
        if hidden:
            with st.container():
                panel.draw_features("protocol", analysis)
            return
        _draw_check(analysis, edited)
        suggestion = _ticked(analysis)
        _draw_evidence(analysis, suggestion)
        with st.container(key="folds"):
            assumptions.draw(yours)
            panel.draw_features("folds", yours)
        _draw_changes(analysis, suggestion)


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
        disabled=state.next_case(state.current().past) is None,
        key="undo",
        width="stretch",
        wrap=True,  # or the browser measures each new label before it draws the rest
    )
    draw_numbers(form, yours.pack)
    draw_lists_and_texts(form, yours.pack)
    # Last, for the browser redraws everything after an element that appears.
    if state.next_case(state.current().future):
        button("Redo", "redo", state.redo, key="redo", width="stretch")


def _undone(edited: PlanStep | None) -> str:
    before, now = state.next_case(state.current().past), state.case()
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
    panel.draw(
        *([facts.edit_sentence(edited)] if edited else []),
        check_panel(analysis.yours, analysis.binding, analysis.mends),
    )
    for dimension, step in analysis.mends.items():
        button(
            escaped(facts.mend_text(step)),
            "build",
            partial(state.replace_plan, step.after.plan),
            help=escaped(facts.mend_price(step)),
            key=f"mend_{dimension}",
            wrap=True,
        )


def _draw_evidence(analysis: PlanAnalysis, suggestion: Ticked) -> None:
    yours, ticked = analysis.yours, suggestion.result
    best = analysis.least.after
    compared = {"Your plan": yours}
    if ticked.plan != yours.plan:
        compared[TICKED] = ticked
    if not best.evidence.void_reason and best.plan not in (yours.plan, ticked.plan):
        compared["Least loss"] = best
    # The curves below compare them at other effects, once they are opened.
    evidence = group(evidence_panel(compared, at_effects=False), samples_panel(Curves(yours)))
    panel.draw(Group((evidence, cost_panel(yours, ticked)), beside=True))


_MANAGER: Final = "The Lab Manager's changes"
_LEFT_OUT: Final = "changes_left_out"


class Tick(NamedTuple):
    """One change of the suggestion, and whether it is ticked."""

    key: str
    on: bool
    change: SuggestionChange
    step: PlanStep  # of a ticked change in its turn, of another one as the last


class Ticked(NamedTuple):
    """The suggestion as ticked, and the plan with exactly those changes."""

    ticks: tuple[Tick, ...]
    result: Assessment


def _ticked(options: PlanAnalysis) -> Ticked:
    """Return the suggestion with the ticks of the boxes; a new change starts with a tick."""
    yours, left_out = options.yours, _left_out()
    pack, changes = yours.pack, {}
    for number, change in enumerate(options.offer.changes if options.offer else []):
        # The key is made of the change and its lab: a tick never moves to another change.
        parts = (pack.scenario_id, pack.difficulty, pack.seed, number, *dict(change).values())
        changes[f"{crc32(repr(parts).encode()):08x}"] = change
    chosen = [change for key, change in changes.items() if key not in left_out]
    steps = change_steps(yours, chosen, options.known)
    result = steps[-1].after if steps else yours
    in_turn, ticks = iter(steps), []
    for key, change in changes.items():
        on = key not in left_out
        step = next(in_turn) if on else change_steps(result, [change], options.known)[0]
        ticks.append(Tick(key, on, change, step))
    return Ticked(tuple(ticks), result)


def _left_out() -> frozenset[str]:
    return frozenset(st.session_state.get(_LEFT_OUT, ()))


def _draw_changes(options: PlanAnalysis, suggestion: Ticked) -> None:
    first = sentences_panel([facts.first_of_all(options)], title="What to change", level=2)
    panel.draw(facts.take_panel(options), first)
    with st.container(key="manager_changes"):
        _draw_suggestion(options, suggestion)
    with st.container(key="least_loss_plan"):
        _draw_least_loss(options)
    with st.expander("Other plans", key="other_plans", on_change="rerun") as fold:
        if fold.open:
            _draw_ends(options)


def _draw_ends(options: PlanAnalysis) -> None:
    if not options.ends:
        st.caption("The least-loss plan is also the cheapest, and has the most evidence.")
    for name, plan in options.ends.items():
        revised = facts.revision_panel(PlanStep(options.yours, plan))
        panel.draw(Group((Heading(name), revised)))
        take = partial(state.replace_plan, plan.plan)
        button(f"Apply: {name.lower()}", "balance", take, key=f"apply_{name[:4].lower()}")


def _draw_suggestion(options: PlanAnalysis, suggestion: Ticked) -> None:
    ticks, result = suggestion
    if not ticks:
        answer = ANSWERS[answer_to(options)]
        sentences = [answer.text, "It knows no change that would help." if options.offer else ""]
        panel.draw(sentences_panel(sentences, title=_MANAGER, verdict=answer))
        return
    panel.draw(Group((Heading(_MANAGER), facts.revision_panel(PlanStep(options.yours, result)))))
    times = Counter[str]()
    for tick in ticks:
        times[tick.change.field] += 1
        _draw_box(tick, times[tick.change.field])
    taken, total = sum(tick.on for tick in ticks), len(ticks)
    below = result.evidence.tier is EvidenceTier.BELOW_FLOOR
    button(
        "Apply all" if taken == total else f"Apply {taken} of {total}",
        "done_all",
        partial(state.replace_plan, result.plan),
        type="primary" if result.feasible and not below else "secondary",
        key="apply_all",
        disabled=not taken,
    )


def _draw_least_loss(options: PlanAnalysis) -> None:
    loss = options.least
    is_void = bool(loss.after.evidence.void_reason)
    is_extra = options.offer is None and loss.changes
    title = "What more this lab could do" if is_extra else "The least-loss plan"
    deciding = "" if is_void else deciding_text(loss.after, options.study, options.judged)
    sentences = [facts.difference_text(options), deciding, facts.search_text(options)]
    summary = group(sentences_panel(sentences, title=title), facts.difference_table(options))
    if is_void or not loss.changes:
        panel.draw(summary)
        return
    steps = change_steps(options.yours, loss.changes, options.known)
    panel.draw(Group((summary, facts.revision_panel(PlanStep(options.yours, loss.after), steps))))
    take = partial(state.replace_plan, loss.plan)
    button("Apply the least-loss plan", "balance", take, key="apply_least_loss")


def _draw_box(tick: Tick, of_field: int) -> None:
    """Draw the box of a change; its place is its field's, so an edit does not move it."""
    field = tick.change.field
    place = f"tick_{field}_{of_field}"

    def take() -> None:
        others = _left_out() - {tick.key}
        st.session_state[_LEFT_OUT] = others if st.session_state[place] else others | {tick.key}

    if st.session_state.get(place) != tick.on:
        st.session_state[place] = tick.on
    text = facts.change_text(tick.step)
    price = text.price if tick.on else f"would add: {text.price}"
    name = text.field if of_field == 1 else f"{text.field} {of_field}"
    st.checkbox(
        f"{escaped(name)}: **{escaped(text.values)}** {escaped(price)}",
        key=place,
        help=escaped(f"{text.why} {text.lost}"),
        on_change=take,
    )
