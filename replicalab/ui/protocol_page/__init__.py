"""The Protocol page: edit the plan, see the check, choose what to change, see its effect."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final, NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.facts import change_facts
from replicalab.facts.blocks import Group, Heading, Sentence, group, sentences_panel
from replicalab.facts.check_facts import CHOSEN, check_panel, cost_panel, evidence_panel
from replicalab.facts.curve_facts import samples_panel
from replicalab.facts.negotiation_facts import step_changes
from replicalab.facts.plan_facts import groups_text
from replicalab.facts.verdicts import ANSWERS, answer_to
from replicalab.models import revise
from replicalab.planner import PlanAnalysis, PlanStep, change_steps, deciding_text
from replicalab.planner.curves import Curves
from replicalab.scenarios import EvidenceTier
from replicalab.ui import panel, state, tray
from replicalab.ui.controls import button, escaped, fold
from replicalab.ui.editor import PlanForm, draw_lists_and_texts, draw_numbers
from replicalab.ui.protocol_page import assumptions


def draw(analysis: PlanAnalysis) -> None:
    before = state.next_case(state.current().past)
    yours, hidden = analysis.yours, state.is_hidden()
    plan = before and (before.plan or yours.pack.reference_protocol)
    edited = PlanStep(analysis.yours.revised(plan), yours) if plan and plan != yours.plan else None
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
        ticks, result = _ticked(analysis)
        _draw_evidence(analysis, result)
        with st.container(key="folds"):
            assumptions.draw(yours)
            panel.draw_features("folds", yours)
        _draw_changes(analysis, ticks, result)


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
    yours, design = analysis.yours, analysis.yours.pack.design
    per_group = assumptions.groups_typed(design) > 1
    shares = groups_text(yours.plan.sample_size, design, per_group=per_group)
    panel.draw(
        *([change_facts.edit_sentence(edited)] if edited else []),
        *([Sentence(shares)] if shares else []),
        check_panel(yours, analysis.binding, analysis.mends),
    )
    for dimension, step in analysis.mends.items():
        button(
            escaped(change_facts.repair_label(step)),
            "build",
            partial(state.replace_plan, step.after.plan),
            help=escaped(change_facts.repair_effect(step)),
            key=f"mend_{dimension}",
            wrap=True,
        )


def _draw_evidence(analysis: PlanAnalysis, ticked: Assessment) -> None:
    yours, best = analysis.yours, analysis.least.after
    compared = {"Your plan": yours}
    if ticked.plan != yours.plan:
        compared[CHOSEN] = ticked
    if not best.evidence.void_reason and best.plan not in (yours.plan, ticked.plan):
        compared["Least loss"] = best
    evidence = group(evidence_panel(compared), samples_panel(Curves(yours)))
    panel.draw(Group((evidence, cost_panel(yours, ticked)), beside=True))


_MANAGER: Final = "The Lab Manager's changes"
_LEFT_OUT: Final = "changes_left_out"
_TICKS: Final = "changes_ticked"


class Tick(NamedTuple):
    """One change of the suggestion, and whether it is ticked."""

    key: str
    on: bool
    text: change_facts.ChangeText  # of a ticked change in its turn, of another one as the last


def _ticked(options: PlanAnalysis) -> tuple[list[Tick], Assessment]:
    """Return the ticks of the boxes, and the plan with them; a new change starts with a tick."""
    yours, left_out = options.yours, st.session_state.setdefault(_LEFT_OUT, frozenset())
    pack, changes = yours.pack, {}
    for number, change in enumerate(options.offer.changes if options.offer else []):
        # The key is made of the change and its lab: a tick never moves to another change.
        parts = (pack.scenario_id, pack.difficulty, pack.seed, number, *dict(change).values())
        changes[f"{crc32(repr(parts).encode()):08x}"] = change
    steps = change_steps(yours, [change for key, change in changes.items() if key not in left_out])
    result = steps[-1].after if steps else yours
    in_turn, ticks = iter(steps), []
    for key, change in changes.items():
        on = key not in left_out
        text = change_facts.change_text(next(in_turn) if on else change_steps(result, [change])[0])
        priced = text if on else text._replace(price=f"would add: {text.price}")
        ticks.append(Tick(key, on, priced))
    return ticks, result


def _draw_changes(options: PlanAnalysis, ticks: list[Tick], result: Assessment) -> None:
    loss = options.least
    is_void = bool(loss.after.evidence.void_reason)
    panel.draw(
        change_facts.needs_panel(options),
        sentences_panel([change_facts.first_advice(options)], title="What to change", level=2),
        Group((_offer(options, ticks, result), _least_loss(options, is_void=is_void)), beside=True),
    )
    applies_loss = loss.changes and not is_void
    if ticks or applies_loss:
        with st.container(horizontal=True, vertical_alignment="bottom", key="apply"):
            if ticks:
                _draw_ticks(ticks, result)
            if applies_loss:
                take = partial(state.replace_plan, loss.plan)
                button("Apply the least-loss plan", "balance", take, key="apply_least_loss")
    with fold("Other plans", "other_plans") as is_open:
        if is_open:
            if not options.ends:
                praise = "The least-loss plan is also the cheapest, and has the most evidence."
                none = options.least.none_above_floor
                st.caption("No plan reaches the floor here." if none else praise)
            for number, (name, plan) in enumerate(options.ends.items()):
                revised = change_facts.revision(PlanStep(options.yours, plan))
                panel.draw(Group((Heading(name), revised)))
                take = partial(state.replace_plan, plan.plan)
                button(f"Apply: {name.lower()}", "balance", take, key=f"apply_end_{number}")


def _offer(options: PlanAnalysis, ticks: list[Tick], result: Assessment) -> Group:
    """Return the Lab Manager's changes, and the plan with the ticked ones."""
    if not ticks:
        answer = ANSWERS[answer_to(options)]
        sentences = [answer.text, "It knows no change that would help." if options.offer else ""]
        return sentences_panel(sentences, title=_MANAGER, verdict=answer)
    revised = change_facts.revision(PlanStep(options.yours, result))
    changes = change_facts.changes_made([tick.text for tick in ticks])
    return Group((Heading(_MANAGER), revised, changes))


def _draw_ticks(ticks: list[Tick], result: Assessment) -> None:
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
        format_func=escaped,
        key=_TICKS,
        on_change=take,
    )
    below = result.evidence.tier is EvidenceTier.BELOW_FLOOR
    button(
        "Apply all" if len(chosen) == len(ticks) else f"Apply {len(chosen)} of {len(ticks)}",
        "done_all",
        partial(state.replace_plan, result.plan),
        type="primary" if result.feasible and not below else "secondary",
        key="apply_all",
        disabled=not chosen,
    )


def _least_loss(options: PlanAnalysis, *, is_void: bool) -> Group:
    loss = options.least
    is_extra = options.offer is None and loss.changes
    title = "What more this lab could do" if is_extra else "The least-loss plan"
    deciding = "" if is_void else deciding_text(loss.after, options.study)
    sentences = [change_facts.difference_text(options), deciding, change_facts.search_text(options)]
    summary = group(sentences_panel(sentences, title=title), change_facts.difference_table(options))
    if is_void or not loss.changes:
        return summary
    return Group((summary, change_facts.revision_panel(loss)))
