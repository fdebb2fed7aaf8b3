"""What to change: the Lab Manager's suggestion with a tick per change, and the least-loss plan."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final, NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment
from replicalab.models import FIELD_LABELS
from replicalab.panels import Changed, revision_panel, sentences_panel, take_panel
from replicalab.planner import Options, PlanStep, change_steps
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.text.options import difference_text, first_of_all, search_text
from replicalab.text.verdicts import ANSWERS, answer_to
from replicalab.ui import panel, state
from replicalab.ui.controls import button

_MANAGER: Final = "The Lab Manager's changes"
_LEFT_OUT: Final = "changes_left_out"


class Tick(NamedTuple):
    """One change of the suggestion.

    Attributes:
        key: made of the change and its lab.
        on: whether it is taken.
        change: what is changed.
        step: what that does: a ticked one in its turn, another as if it came last.
    """

    key: str
    on: bool
    change: SuggestionChange
    step: PlanStep


class Ticked(NamedTuple):
    """The suggestion as ticked.

    Attributes:
        yours: the plan that it starts from.
        ticks: its changes.
        result: the plan with exactly the ticked ones.
        known: every plan that was judged on the way.
    """

    yours: Assessment
    ticks: tuple[Tick, ...]
    result: Assessment
    known: tuple[Assessment, ...]

    @property
    def taken(self) -> list[Tick]:
        """The ticked changes, in order."""
        return [tick for tick in self.ticks if tick.on]


def ticked(options: Options) -> Ticked:
    """Return the suggestion as the boxes now stand; a new change starts with a tick."""
    yours = options.yours
    changes = options.offer.changes if options.offer else []
    keys = [_key(number, change, yours.pack) for number, change in enumerate(changes)]
    ticks = [key not in _left_out() for key in keys]
    chosen = [change for change, tick in zip(changes, ticks, strict=True) if tick]
    taken = change_steps(yours, chosen, options.known)
    known = [*options.known, *(step.after for step in taken)]
    result = taken[-1].after if taken else yours
    in_turn, found = iter(taken), []
    for key, tick, change in zip(keys, ticks, changes, strict=True):
        step = next(in_turn) if tick else change_steps(result, [change], known)[0]
        found.append(Tick(key, tick, change, step))
        known.append(step.after)
    return Ticked(yours, tuple(found), result, tuple(known))


def _key(number: int, change: SuggestionChange, pack: Pack) -> str:
    """Return a key made of the change and its lab: a tick never moves to another."""
    parts = (pack.scenario_id, pack.difficulty, pack.seed, number, *dict(change).values())
    return f"{crc32(repr(parts).encode()):08x}"


def _left_out() -> frozenset[str]:
    """Return the keys of the changes whose ticks were taken away."""
    found: frozenset[str] = st.session_state.get(_LEFT_OUT, frozenset())
    return found


def _take_tick(key: str, place: str) -> None:
    """Remember of a change whether its box is ticked now."""
    without = _left_out() - {key}
    st.session_state[_LEFT_OUT] = without if st.session_state[place] else without | {key}


def draw(options: Options, found: Ticked) -> None:
    """Draw what the Lab Manager would change beside the plan that gives up the least.

    Below both what takes them over, then what the lab would have to add.
    """
    first = sentences_panel([first_of_all(options)], title="What to change", level=2)
    with st.container(horizontal=True, vertical_alignment="center", key="changes"):
        panel.draw(first, panel.beside(_suggestion(options, found), _least_loss(options, found)))
        _draw_actions(options, found)
    panel.draw(take_panel(options))


def _suggestion(options: Options, found: Ticked) -> str:
    """Return the Lab Manager's changes, or its answer where it has none."""
    answer = ANSWERS[answer_to(options)]
    if not found.ticks:
        told = [answer.text, "It knows no change that would help." if options.offer else ""]
        return sentences_panel(told, title=_MANAGER, verdict=answer)
    changes = (
        Changed(number, tick.change, tick.step, on=tick.on)
        for number, tick in enumerate(found.ticks, start=1)
    )
    revised = revision_panel(PlanStep(found.yours, found.result), changes)
    return panel.column(sentences_panel([], title=_MANAGER), revised)


def _least_loss(options: Options, found: Ticked) -> str:
    """Return the least-loss plan: how it differs, and its changes."""
    least = options.least
    more = options.offer is None and least.changes
    title = "What more this lab could do" if more else "The least-loss plan"
    told = sentences_panel([difference_text(options), search_text(options)], title=title)
    if not _applicable(options):
        return told
    steps = change_steps(options.yours, least.changes, found.known)
    changes = (
        Changed(number, change, step)
        for number, (change, step) in enumerate(zip(least.changes, steps, strict=True), start=1)
    )
    revised = revision_panel(PlanStep(options.yours, least.after), changes, folded=True)
    return panel.column(told, revised)


def _applicable(options: Options) -> bool:
    """Return whether the least-loss plan is another one that shows something."""
    return bool(options.least.changes) and not options.least.after.evidence.void


def _draw_actions(options: Options, found: Ticked) -> None:
    """Draw a tick per change, and what takes over the ticked ones or the least-loss plan."""
    times = Counter[str]()
    for number, tick in enumerate(found.ticks, start=1):
        times[tick.change.field] += 1
        _draw_box(number, tick, f"tick_{tick.change.field}_{times[tick.change.field]}")
    if found.ticks:
        taken, total = len(found.taken), len(found.ticks)
        below = found.result.evidence.tier is EvidenceTier.BELOW_FLOOR
        button(
            "Apply all" if taken == total else f"Apply {taken} of {total}",
            "done_all",
            partial(state.replace_plan, found.result.plan),
            type="primary" if found.result.feasible and not below else "secondary",
            key="apply_all",
            disabled=not taken,
        )
    if _applicable(options):
        button(
            "Apply the least-loss plan",
            "balance",
            partial(state.replace_plan, options.least.plan),
            key="apply_least_loss",
        )


def _draw_box(number: int, tick: Tick, place: str) -> None:
    """Draw the box of a change; it stays where an edit makes another change of it."""
    if st.session_state.get(place) != tick.on:
        st.session_state[place] = tick.on
    name = f"{number}. {FIELD_LABELS[tick.change.field]}"
    st.checkbox(name, key=place, width="content", on_change=_take_tick, args=(tick.key, place))
