"""A decision between what is compared: which one, why and by whom, kept in the library."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Final

import streamlit as st

from replicalab import library
from replicalab.assessment import Assessment
from replicalab.case import case_text
from replicalab.comparison import Side
from replicalab.errors import LibraryError, ReplicaLabError
from replicalab.lexicon import joined
from replicalab.models import LONGEST_TEXT
from replicalab.planner import rank
from replicalab.ui import notices, own_studies, panel, state, tray
from replicalab.ui.compare import sides
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


def draw_decided(kept: Sequence[TrayCase]) -> None:
    """Draw what was decided between these, if anything."""
    if decided := _between(_options(kept)):
        panel.draw(*map(_decision_panel, decided))


def draw_form(kept: Sequence[TrayCase], compared: Sequence[Side]) -> None:
    """Draw the way to record a decision, which begins at the best plan; what came of it below."""
    place = st.expander("Record a decision", icon=":material/gavel:", key=_PLACE, on_change="rerun")
    if place.open:
        _draw_fields(place, kept, compared)
    notices.draw(_PLACE)


def _draw_fields(
    place: AbstractContextManager[object], kept: Sequence[TrayCase], compared: Sequence[Side]
) -> None:
    with place, st.form("decision", border=False):
        st.radio(
            "Which one",
            range(len(kept)),
            index=_best(compared),
            format_func=lambda at: escaped(kept[at].name),
            horizontal=True,
            key=_WHICH,
        )
        st.text_area("Why this one", max_chars=LONGEST_TEXT, height=80, key=_WHY)
        st.text_input("Who decides", max_chars=library.LONGEST_NAME, width=360, key=_WHO)
        icon, record = ":material/gavel:", partial(_record, kept, compared)
        st.form_submit_button("Record it", icon=icon, type="primary", on_click=record)


def _best(compared: Sequence[Side]) -> int:
    """Return which plan gives up the least; of two that pass, say, the one that shows more."""
    ranks = [rank(side.plan, side.plan.plan).given_up for side in compared]
    return ranks.index(min(ranks))


def _record(kept: Sequence[TrayCase], compared: Sequence[Side]) -> None:
    """Keep the decision, and take its plan up."""
    typed = st.session_state
    if not typed[_WHY].strip():
        notices.leave_problem("Say why this one; nothing is recorded yet.", _PLACE)
        return
    decision = library.Decision(
        options=_options(kept),
        chosen=typed[_WHICH],
        why=typed[_WHY].strip(),
        who=typed[_WHO].strip(),
        when=datetime.now(UTC).replace(microsecond=0),
    )
    try:
        keep_beside(
            owner(), library.EntryKind.DECISION, decision.name, library.decision_text(decision)
        )
    except LibraryError as error:
        _leave_problem(error)
    else:
        typed[_PLACE] = False
        chosen = kept[decision.chosen]
        plan = compared[decision.chosen].plan.plan
        state.open_case(chosen.case.seated().with_plan(plan, own_studies.find))
        taken = f"Recorded. {chosen.name} is now the open plan; its brief and report say why."
        notices.leave(taken, _PLACE)


def draw_listed() -> None:
    """Draw the way to every decision that is kept; the list once it is unfolded."""
    place = st.expander("Decisions", icon=":material/history:", key=_LISTED, on_change="rerun")
    if not place.open:
        return
    with place:
        found = _kept()
        if not found:
            st.caption("None is recorded yet: compare two or more, then record which and why.")
        for entry_id, decision in found.items():
            panel.draw(_decision_panel(decision))
            key = f"decision_{entry_id}"
            button("Compare these again", "compare_arrows", partial(_open, decision), key=key)


def _options(kept: Sequence[TrayCase]) -> tuple[library.Option, ...]:
    return tuple(
        library.Option(
            name=each.name,
            kind=library.EntryKind.PLAN,
            content=case_text(kept_case(each.case)),
            run=each.run,
        )
        for each in kept
    )


# --- what was decided -------------------------------------------------------------------------


def _kept() -> dict[str, library.Decision]:
    """Return the latest decisions by their entries; none where the library cannot be read."""
    try:
        entries = shelf().entries(owner(), library.EntryKind.DECISION)[:_MOST]
        read = [(entry, _read(owner(), entry.id, entry.version)) for entry in entries]
    except LibraryError:
        return {}
    return {
        entry.id: decision.model_copy(update={"when": decision.when or entry.created})
        for entry, decision in read
        if decision
    }


@lru_cache(maxsize=256)
def _read(whose: library.Owner, entry_id: str, version: int) -> library.Decision | None:
    """Return a version of a decision, which never changes; None where it cannot be read."""
    kept = shelf().read(whose, entry_id, version)
    return None if kept.problem else library.read_decision(kept.content)


def about(plan: Assessment) -> library.Decision | None:
    """Return the latest decision for or against a plan, None where there is none."""
    return next((d for d in _kept().values() if any(o.is_plan(plan) for o in d.options)), None)


def keep(decision: library.Decision) -> None:
    """Keep a decision that came with a file, once.

    Raises:
        LibraryError: it cannot be kept.
    """
    if decision not in _kept().values():
        keep_beside(
            owner(), library.EntryKind.DECISION, decision.name, library.decision_text(decision)
        )


def _between(options: tuple[library.Option, ...]) -> list[library.Decision]:
    """Return the decisions between these very options, in whatever order they stood."""
    asked = set(map(tuple, options))
    return [each for each in _kept().values() if set(map(tuple, each.options)) == asked]


def _decision_panel(decision: library.Decision) -> Group:
    chosen, *others = decision.names
    who = f"{decision.who}, " if decision.who else ""
    refused = f"Not {joined(others, 'or')}." if others else ""
    when = f"{who}{moment_text(decision.when) if decision.when else ''}"
    return sentences_panel([refused, decision.why, when], title=f"Decided: {chosen}")


def _open(decision: library.Decision) -> None:
    try:
        open_again(decision)
    except ReplicaLabError as error:
        _leave_problem(error)


def _leave_problem(error: ReplicaLabError) -> None:
    problem = str(error).removesuffix(".")
    notices.leave_problem(f"Not recorded: {problem}.", _PLACE)


def open_again(decision: library.Decision) -> None:
    """Put what a decision was made between into the tray, alone.

    Raises:
        ReplicaLabError: one of it cannot be compared; nothing has changed.
    """
    tray.keep_only(
        [
            sides.side_of(each.kind, each.name, each.content)._replace(run=each.run)
            for each in decision.options
        ]
    )
