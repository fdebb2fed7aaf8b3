"""What to change: the Lab Manager's suggestion with a tick per change, and the least-loss plan."""

from __future__ import annotations

from collections.abc import Sequence
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


class Tick(NamedTuple):
    """One change of the suggestion.

    Attributes:
        key: of its box.
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
    ticks = [bool(st.session_state.get(key, True)) for key in keys]
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
    return f"tick_{crc32(repr(parts).encode()):08x}"


def draw(options: Options, found: Ticked) -> None:
    """Draw what the Lab Manager would change, and the plan that gives up the least."""
    with st.container(horizontal=True, key="manager"):
        _draw_suggestion(options, found)
    with st.container(key="least"):
        _draw_alternatives(options, found.known)


def _draw_suggestion(options: Options, found: Ticked) -> None:
    answer = ANSWERS[answer_to(options)]
    first = sentences_panel([first_of_all(options)], title="What to change", level=2)
    if not found.ticks:
        told = [answer.text, "It knows no change that would help." if options.offer else ""]
        panel.draw(first, sentences_panel(told, title=_MANAGER, verdict=answer))
        return
    changes = (
        Changed(number, tick.change, tick.step, on=tick.on)
        for number, tick in enumerate(found.ticks, start=1)
    )
    revised = revision_panel(PlanStep(found.yours, found.result), changes)
    panel.draw(first, sentences_panel([], title=_MANAGER), revised)
    taken, total = len(found.taken), len(found.ticks)
    for number, tick in enumerate(found.ticks, start=1):
        name = f"{number}. {FIELD_LABELS[tick.change.field]}"
        st.checkbox(name, value=True, key=tick.key, persist_state="session", width="content")
    below = found.result.evidence.tier is EvidenceTier.BELOW_FLOOR
    button(
        "Apply all" if taken == total else f"Apply {taken} of {total}",
        "done_all",
        partial(state.replace_plan, found.result.plan),
        type="primary" if found.result.feasible and not below else "secondary",
        key="apply_all",
        disabled=not taken,
    )


def _draw_alternatives(options: Options, known: Sequence[Assessment]) -> None:
    """Draw the least-loss plan, how it differs and its changes, and what more it would take."""
    least, take = options.least, take_panel(options)
    more = options.offer is None and least.changes
    title = "What more this lab could do" if more else "The least-loss plan"
    told = sentences_panel([difference_text(options), search_text(options)], title=title)
    if not least.changes or least.after.evidence.void:
        panel.draw(told, take)
        return
    panel.draw(told)
    steps = change_steps(options.yours, least.changes, known)
    changes = (
        Changed(number, change, step)
        for number, (change, step) in enumerate(zip(least.changes, steps, strict=True), start=1)
    )
    button(
        "Apply the least-loss plan",
        "balance",
        partial(state.replace_plan, least.plan),
        key="apply_least_loss",
    )
    panel.draw(revision_panel(PlanStep(options.yours, least.after), changes, folded=True), take)
