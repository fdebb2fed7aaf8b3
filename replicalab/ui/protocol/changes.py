"""What to change: the Lab Manager's suggestion with a tick per change, and the least-loss plan."""

from collections import Counter
from functools import partial
from typing import Final, NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment
from replicalab.facts import options as facts
from replicalab.facts.blocks import Group, Heading, Sentence, group, sentences_panel
from replicalab.facts.verdicts import ANSWERS, answer_to
from replicalab.planner import PlanAnalysis, PlanStep, change_steps, deciding_text
from replicalab.scenarios import EvidenceTier
from replicalab.ui import panel, state
from replicalab.ui.controls import button
from replicalab.ui.words import escaped

_MANAGER: Final = "The Lab Manager's changes"
_LEFT_OUT: Final = "changes_left_out"


class Tick(NamedTuple):
    """One change of the suggestion, and whether it is ticked.

    ``step`` is what a ticked change does in its turn, another would do as the last one.
    """

    key: str
    on: bool
    change: SuggestionChange
    step: PlanStep


class Ticked(NamedTuple):
    """The suggestion as ticked, and the plan with exactly those changes."""

    ticks: tuple[Tick, ...]
    result: Assessment


def ticked(options: PlanAnalysis) -> Ticked:
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
    keys: frozenset[str] = st.session_state.get(_LEFT_OUT, frozenset())
    return keys


def draw(options: PlanAnalysis, suggestion: Ticked) -> None:
    """Draw what the lab would have to add, the Lab Manager's changes and the least-loss plan."""
    first = sentences_panel([facts.first_of_all(options)], title="What to change", level=2)
    panel.draw(facts.take_panel(options), first)
    with st.container(key="manager_changes"):
        panel.draw(_suggestion(options, suggestion))
        _draw_ticks(suggestion)
    with st.container(key="least_loss_plan"):
        panel.draw(_least_loss(options))
        if _applicable(options):
            button(
                "Apply the least-loss plan",
                "balance",
                partial(state.replace_plan, options.least.plan),
                key="apply_least_loss",
            )
    if options.ends:
        with st.expander("Other plans"):
            for name, plan in options.ends.items():
                revised = facts.revision_panel(PlanStep(options.yours, plan))
                panel.draw(Group((Heading(name), revised)))
                take = partial(state.replace_plan, plan.plan)
                button(f"Apply: {name.lower()}", "balance", take, key=f"apply_{name[:4].lower()}")


def _suggestion(options: PlanAnalysis, suggestion: Ticked) -> Group:
    """Return the Lab Manager's changes, or its answer without any."""
    if not suggestion.ticks:
        answer = ANSWERS[answer_to(options)]
        sentences = [answer.text, "It knows no change that would help." if options.offer else ""]
        return sentences_panel(sentences, title=_MANAGER, verdict=answer)
    revised = facts.revision_panel(PlanStep(options.yours, suggestion.result))
    return Group((Heading(_MANAGER), revised))


def _least_loss(options: PlanAnalysis) -> Group:
    """Return the least-loss plan: how it differs, and its changes."""
    loss = options.least
    is_extra = options.offer is None and loss.changes
    title = "What more this lab could do" if is_extra else "The least-loss plan"
    deciding = ""
    if not loss.after.evidence.void_reason:
        deciding = deciding_text(loss.after, options.study, options.judged)
    sentences = [facts.difference_text(options), deciding, facts.search_text(options)]
    summary = group(sentences_panel(sentences, title=title), facts.difference_table(options))
    if not _applicable(options):
        return summary
    steps = change_steps(options.yours, loss.changes, options.known)
    return Group((summary, facts.revision_panel(PlanStep(options.yours, loss.after), steps)))


def _applicable(options: PlanAnalysis) -> bool:
    """Return whether the least-loss plan is another one that shows something."""
    return bool(options.least.changes) and not options.least.after.evidence.void_reason


def _draw_ticks(suggestion: Ticked) -> None:
    """Draw a box per change, and the button that applies the ticked ones."""
    times = Counter[str]()
    for tick in suggestion.ticks:
        times[tick.change.field] += 1
        with st.container(gap=None):
            _draw_box(tick, times[tick.change.field])
    if suggestion.ticks:
        taken, total = sum(tick.on for tick in suggestion.ticks), len(suggestion.ticks)
        below = suggestion.result.evidence.tier is EvidenceTier.BELOW_FLOOR
        button(
            "Apply all" if taken == total else f"Apply {taken} of {total}",
            "done_all",
            partial(state.replace_plan, suggestion.result.plan),
            type="primary" if suggestion.result.feasible and not below else "secondary",
            key="apply_all",
            disabled=not taken,
        )


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
    st.checkbox(
        text.field if of_field == 1 else f"{text.field} {of_field}",
        key=place,
        help=escaped(f"{text.why} {text.lost}"),
        on_change=take,
    )
    panel.draw(Sentence(price, text.values))
