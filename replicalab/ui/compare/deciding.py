"""A decision between what is compared: which one, why and by whom, kept in the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.case import case_text
from replicalab.errors import LibraryError, ReplicaLabError
from replicalab.lexicon import joined
from replicalab.library import (
    LONGEST_NAME,
    Decision,
    Entry,
    EntryKind,
    Option,
    Owner,
    decision_text,
    read_decision,
)
from replicalab.models import LONGEST_TEXT
from replicalab.ui import notices, panel, tray
from replicalab.ui.compare import shelved
from replicalab.ui.controls import button
from replicalab.ui.library.cases import kept_case
from replicalab.ui.library.shelf import keep_beside, owner, shelf
from replicalab.ui.words import escaped, moment_text
from replicalab.ui.workspace import TrayCase
from replicalab.views.blocks import Group, sentences_panel

_PLACE: Final = "deciding"
_LISTED: Final = "decisions"
_WHICH: Final = "decision_which"
_WHY: Final = "decision_why"
_WHO: Final = "decision_who"
_MOST: Final = 20  # So many decisions are looked through and listed, the latest


class RecordedDecision(NamedTuple):
    """A decision, and the entry that keeps it."""

    entry: Entry
    decision: Decision


def draw_decided(kept: Sequence[TrayCase]) -> None:
    """Draw what was decided between these, if anything."""
    notices.draw(_PLACE)
    if decided := _between(_options(kept)):
        panel.draw(*map(_told, decided))


def draw_form(kept: Sequence[TrayCase]) -> None:
    """Draw the way to record a decision; the form once it is unfolded."""
    place = st.expander("Record a decision", icon=":material/gavel:", key=_PLACE, on_change="rerun")
    if place.open:
        with place:
            _draw_fields([each.name for each in kept], partial(_record, kept))


def draw_listed() -> None:
    """Draw the way to every decision that is kept; the list once it is unfolded."""
    place = st.expander("Decisions", icon=":material/history:", key=_LISTED, on_change="rerun")
    if not place.open:
        return
    with place:
        found = _kept()
        if not found:
            st.caption("None is recorded yet: compare two or more, then record which and why.")
        for each in found:
            panel.draw(_told(each))
            key = f"decision_{each.entry.id}"
            button("Compare these again", "compare_arrows", partial(_open, each), key=key)


def _options(kept: Sequence[TrayCase]) -> tuple[Option, ...]:
    """Return what is compared as a decision keeps it."""
    return tuple(
        Option(
            name=each.name,
            kind=EntryKind.PLAN,
            content=case_text(kept_case(each.case)),
            run=each.run,
        )
        for each in kept
    )


# --- what was decided -------------------------------------------------------------------------


def _kept() -> list[RecordedDecision]:
    """Return the latest decisions; none where the library cannot be read."""
    try:
        entries = shelf().entries(owner(), EntryKind.DECISION)[:_MOST]
        read = [(entry, _read(owner(), entry.id, entry.version)) for entry in entries]
    except LibraryError:
        return []
    return [
        RecordedDecision(
            entry, decision.model_copy(update={"when": decision.when or entry.created})
        )
        for entry, decision in read
        if decision
    ]


@lru_cache(maxsize=256)
def _read(whose: Owner, entry_id: str, version: int) -> Decision | None:
    """Return a version of a decision, which never changes; None where it cannot be read."""
    kept = shelf().read(whose, entry_id, version)
    return None if kept.problem else read_decision(kept.content)


def about(plan: Assessment) -> Decision | None:
    """Return the latest decision for or against a plan, None where there is none."""
    decisions = (each.decision for each in _kept())
    return next((d for d in decisions if any(o.is_plan(plan) for o in d.options)), None)


def keep(decision: Decision) -> None:
    """Keep a decision that came with a file, once.

    Raises:
        LibraryError: it cannot be kept.
    """
    if all(each.decision != decision for each in _kept()):
        keep_beside(owner(), EntryKind.DECISION, decision.name, decision_text(decision))


def _between(options: tuple[Option, ...]) -> list[RecordedDecision]:
    """Return the decisions between these very options, in whatever order they stood."""
    asked = set(map(tuple, options))
    return [each for each in _kept() if set(map(tuple, each.decision.options)) == asked]


def _told(each: RecordedDecision) -> Group:
    decision = each.decision
    chosen, *others = decision.names
    who = f"{decision.who}, " if decision.who else ""
    told = [f"Not {joined(others, 'or')}." if others else "", decision.why]
    title = f"Decided: {chosen}"
    return sentences_panel(
        [*told, f"{who}{moment_text(decision.when or each.entry.created)}"], title=title
    )


def _open(each: RecordedDecision) -> None:
    """Open a decision on this page, or have the page say why it cannot be."""
    try:
        open_again(each.decision)
    except ReplicaLabError as error:
        _leave_problem(error)


def _leave_problem(error: ReplicaLabError) -> None:
    problem = str(error).removesuffix(".")
    notices.leave_problem(f"Not recorded: {problem}.", _PLACE)


def open_again(decision: Decision) -> None:
    """Keep beside, alone, what a decision was made between.

    Raises:
        ReplicaLabError: one of it cannot be compared; nothing has changed.
    """
    found = [shelved.side_of(each.kind, each.name, each.content) for each in decision.options]
    runs = [each.run for each in decision.options]
    tray.keep_only(each._replace(run=run) for each, run in zip(found, runs, strict=True))


# --- recording --------------------------------------------------------------------------------


def _draw_fields(names: Sequence[str], record: Callable[[], None]) -> None:
    with st.form("decision", border=False):
        st.radio(
            "Which one",
            range(len(names)),
            format_func=lambda at: escaped(names[at]),
            horizontal=True,
            key=_WHICH,
        )
        st.text_area("Why", max_chars=LONGEST_TEXT, height=80, key=_WHY)
        st.text_input("Who decides", max_chars=LONGEST_NAME, width=360, key=_WHO)
        icon = ":material/gavel:"
        st.form_submit_button("Record it", icon=icon, type="primary", on_click=record)


def _record(kept: Sequence[TrayCase]) -> None:
    """Keep what the fields hold, and fold them."""
    typed = st.session_state
    decision = Decision(
        options=_options(kept),
        chosen=typed[_WHICH],
        why=typed[_WHY].strip(),
        who=typed[_WHO].strip(),
        when=datetime.now(UTC).replace(microsecond=0),
    )
    try:
        keep_beside(owner(), EntryKind.DECISION, decision.name, decision_text(decision))
    except LibraryError as error:
        _leave_problem(error)
    else:
        typed[_PLACE] = False
