"""The Lab Manager's answer, its suggestion with a tick per change, and applying the ticked ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.agents import (
    AlternativeSuggestion,
    SuggestionChange,
    compose_lab_manager_response,
)
from replicalab.agents.suggestions import apply_changes
from replicalab.concessions import Concession, change_concessions
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.sentences import ANSWER_MEANINGS, ANSWER_STATUS, ANSWER_TITLES, Options
from replicalab.ui import session
from replicalab.ui.change_view import Revised, change_title, draw_price, draw_totals, revised
from replicalab.ui.session import Here
from replicalab.ui.words import badge


class Ticked(NamedTuple):
    """The suggestion as ticked.

    Attributes:
        changes: all of them.
        ticks: which of them are taken.
        steps: the price of each: of a ticked one in its turn, of another as if it came last.
        result: the plan with exactly the ticked changes.
    """

    changes: tuple[SuggestionChange, ...]
    ticks: tuple[bool, ...]
    steps: tuple[Concession, ...]
    result: Revised

    @property
    def taken(self) -> tuple[Concession, ...]:
        """The steps of the ticked changes, in order."""
        return tuple(s for s, tick in zip(self.steps, self.ticks, strict=True) if tick)


def ticked(here: Here, suggestion: AlternativeSuggestion | None) -> Ticked:
    """Return the suggestion as the boxes now stand; a new change starts with a tick."""
    changes = tuple(suggestion.applied_changes) if suggestion else ()
    keys = _keys(changes, here.pack)
    ticks = tuple(bool(st.session_state.get(key, True)) for key in keys)
    chosen = [change for change, tick in zip(changes, ticks, strict=True) if tick]
    plan = apply_changes(here.plan, chosen)
    in_turn = iter(change_concessions(here.plan, chosen, here.pack))
    steps = tuple(
        next(in_turn) if tick else change_concessions(plan, [change], here.pack)[0]
        for change, tick in zip(changes, ticks, strict=True)
    )
    return Ticked(changes, ticks, steps, revised(here.plan, plan, here.pack))


def _keys(changes: tuple[SuggestionChange, ...], pack: Pack) -> list[str]:
    """Return a key per change, made of the change and its lab: a tick never moves to another."""
    return [_key(number, change, pack) for number, change in enumerate(changes)]


def _key(number: int, change: SuggestionChange, pack: Pack) -> str:
    parts = (pack.scenario_id, pack.difficulty, pack.seed, number, *dict(change).values())
    return f"tick_{crc32(repr(parts).encode()):08x}"


def draw(here: Here, options: Options, found: Ticked) -> None:
    """Draw the answer to the plan and, change by change, what the Lab Manager would do to it."""
    st.markdown("### The Lab Manager's changes")
    _draw_answer(options)
    if options.suggestion is None:
        st.caption("Nothing needs to change: the plan passes all seven dimensions.")
    elif not found.changes:
        st.caption("The Lab Manager knows no change that would help. Edit what fails above.")
    else:
        _draw_changes(here, found)


def _draw_answer(options: Options) -> None:
    answer = compose_lab_manager_response(options.check, options.suggestion).action_type
    st.markdown(f"{badge(ANSWER_STATUS[answer], ANSWER_TITLES[answer])} {ANSWER_MEANINGS[answer]}")


def _draw_changes(here: Here, found: Ticked) -> None:
    draw_totals(found.result, here.pack)
    st.button(
        _apply_label(found),
        type="primary" if _is_worth_taking(found.result) else "secondary",
        icon=":material/done_all:",
        key="apply_all",
        disabled=not any(found.ticks),
        on_click=session.replace_plan,
        args=(found.result.plan,),
    )
    for number, (key, change, tick, step) in enumerate(_rows(here, found), start=1):
        with st.container(border=True, gap="xsmall", key=f"change_{number}"):
            st.checkbox(change_title(number, change), value=True, key=key, persist_state="session")
            draw_price(change, step, here.pack)
            if not tick:
                st.caption("Not ticked: the price is what it would add to the ticked changes.")


def _rows(here: Here, found: Ticked) -> Iterator[tuple[str, SuggestionChange, bool, Concession]]:
    return zip(_keys(found.changes, here.pack), found.changes, found.ticks, found.steps,
               strict=True)  # fmt: skip


def _is_worth_taking(result: Revised) -> bool:
    return result.check.feasible and result.evidence.tier is not EvidenceTier.BELOW_FLOOR


def _apply_label(found: Ticked) -> str:
    if all(found.ticks):
        return "Apply all changes"
    return f"Apply the ticked changes ({found.ticks.count(True)} of {len(found.ticks)})"
