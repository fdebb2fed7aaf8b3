"""The page from top to bottom: who plays, how it ended, its rounds, and what may be done next."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.errors import NegotiationError, TraceError
from replicalab.negotiation import AUTOMATIC, ScientistKind
from replicalab.planner import PlanAnalysis
from replicalab.ui import panel, state
from replicalab.ui.controls import button, page_link
from replicalab.ui.negotiation import files, model, moves, rounds, table
from replicalab.ui.negotiation.model import PendingCall
from replicalab.ui.negotiation.table import NOT_DRAWN, RunSession, Task
from replicalab.ui.words import escaped
from replicalab.ui.workspace import MOST_ROUNDS
from replicalab.views.negotiation import LAB_MANAGERS, RECORDED, SCIENTISTS, Player, kept_text
from replicalab.views.rounds import outcome_panel

_SCIENTIST: Final = "scientist_choice"
_MANAGER: Final = "manager_choice"
_ROUNDS: Final = "rounds_choice"
_RECORDED: Final = "recorded"
# So many negotiations that may be forgotten are listed where there is no more room.
_MOST_LISTED: Final = 20


def draw(here: PlanAnalysis) -> PendingCall | None:
    """Draw the page; return what is to be asked of a model, None where nothing is."""
    task, table.table().task = table.table().task, None  # no later run asks it again
    if table.is_full() and task is Task.ROUND:
        task = None
    _draw_players()
    kept = _current(here.yours)
    _draw_full(kept)
    if kept is None:
        st.header("What the two sides come to")
    asking = _draw_negotiation(kept, task) if kept else None
    files.draw(kept)
    return asking


def _current(yours: Assessment) -> RunSession | None:
    """Return the negotiation on show; None, with the reason drawn, when there can be none."""
    try:
        return table.current(yours, model.seated_model())
    except NegotiationError as error:
        st.error(f"The negotiation cannot start: {escaped(str(error))}.", icon=":material/block:")
        if state.case().moves:
            button("Begin anew", "replay", table.start_again)
        page_link("pages/1_Protocol.py", "Edit the protocol", "tune")
    except TraceError as error:
        files.draw_recording_problem(str(error))
    return None


def _draw_full(shown: RunSession | None) -> None:
    """Say that no more can be played or opened, and offer what may be forgotten."""
    if not table.is_full():
        return
    st.warning(
        f"This session keeps {table.MOST_BYTES // 2**20} MiB of negotiations, the most there is "
        "room for: nothing more is played or opened. Save what you need, then forget some of it.",
        icon=":material/inventory_2:",
    )
    others = [run for run in table.played_by_hand() if run is not shown]
    for number, run in enumerate(others[:_MOST_LISTED]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"room_{number}"):
            st.markdown(escaped(kept_text(run.negotiation)), width="content")
            button("Forget it", "close", partial(table.forget, run), key=f"room_{number}_forget")


def _draw_negotiation(kept: RunSession, task: Task | None) -> PendingCall | None:
    branch = moves.branch_of(kept)
    original, other = moves.COURSES
    shown, name = kept, original if branch else ""
    if branch is not None and branch.kept.negotiation.ending is None:
        shown, name = branch.kept, other  # looked at round by round while it is played on
    negotiation = shown.negotiation
    _draw_by_hand(kept)
    by_model = kept.is_model and not kept.recorded and kept.confirmed
    asking = model.draw(kept, task) if by_model else None
    files.draw_replay(kept)
    panel.draw(outcome_panel(shown.verdict, is_open=negotiation.outcome is None))
    if negotiation.rounds:
        row = rounds.draw_scrubber(negotiation, name)
        if kept.confirmed and shown is kept:
            with row:
                moves.draw_fork_button(kept)
        asking = rounds.draw(negotiation, task, confirmed=kept.confirmed) or asking
        if kept.confirmed:
            moves.draw_fork(kept)
    if _may_move(kept):
        moves.draw_move(kept)
    if not kept.confirmed:
        st.caption(NOT_DRAWN)
    elif negotiation.rounds:
        rounds.draw_run(negotiation)
        rounds.draw_end(negotiation)
    return asking


def _may_move(kept: RunSession) -> bool:
    """Return whether a person plays here, or acts for the model.

    While a branch stands beside the negotiation, the move is one in the branch.
    """
    if kept.recorded or not kept.confirmed or moves.branch_of(kept) is not None:
        return False
    person = kept.negotiation.setup.scientist is ScientistKind.PERSON
    return kept.acting if kept.is_model else person or kept.negotiation.ending is None


# --- who plays --------------------------------------------------------------------------------


def _draw_players() -> None:
    """Draw who plays, by which rule, for how long; the widgets show what the workspace says."""
    case, recorded = state.case(), files.showing_a_recording()
    st.session_state[_SCIENTIST] = _RECORDED if recorded else case.scientist.value
    st.session_state[_MANAGER] = case.lab_manager.value
    st.session_state[_ROUNDS] = case.max_rounds
    scientists = {kind.value: player for kind, player in SCIENTISTS.items()}
    if recorded or files.recordings():
        scientists[_RECORDED] = RECORDED
    with st.container(horizontal=True, vertical_alignment="bottom", key="players"):
        _choice("Scientist", _SCIENTIST, scientists)
        if recorded:
            files.draw_choice()
        else:
            managers = {kind.value: player for kind, player in LAB_MANAGERS.items()}
            _choice("Lab Manager", _MANAGER, managers)
            _draw_rounds()
    if recorded:
        files.draw_recording()
    _draw_opened()
    if not table.is_away() and state.brings_back_a_run():
        button("Undo: bring back the last negotiation", "undo", state.undo, type="tertiary")


def _choice(label: str, key: str, offered: Mapping[str, Player]) -> None:
    st.selectbox(
        label,
        list(offered),
        format_func=lambda kind: offered[kind].name,
        key=key,
        on_change=_seat,
        help=offered[st.session_state[key]].rule,
    )


def _draw_rounds() -> None:
    st.number_input(
        "Rounds at most",
        min_value=1,
        max_value=MOST_ROUNDS,
        step=1,
        key=_ROUNDS,
        on_change=_limit,
        width=160,
    )


def _limit() -> None:
    """Take the most rounds as typed."""
    table.seat(max_rounds=st.session_state[_ROUNDS])


def _seat() -> None:
    """Seat the chosen players; a recorded run brings its own study and lab."""
    chosen = st.session_state[_SCIENTIST]
    moves.drop_branch()
    if chosen == _RECORDED:
        files.open_recording(next(iter(files.recordings())))
    elif table.is_away():
        table.close()
        table.seat(scientist=chosen)
    else:
        table.seat(scientist=chosen, lab_manager=st.session_state[_MANAGER])


def _draw_opened() -> None:
    """Say what was opened in place of what the fields above ask for, and how to close it."""
    opened = table.opened()
    if opened is None or opened.recorded:
        return
    setup = opened.negotiation.setup
    scientist, manager = SCIENTISTS[setup.scientist], LAB_MANAGERS[setup.lab_manager]
    players = f"Scientist: {scientist.name.lower()}. Lab Manager: {manager.name.lower()}."
    with st.container(horizontal=True, vertical_alignment="center", key="opened"):
        st.markdown(f"{escaped(opened.source)}. {players}", width="content")
        files.draw_way_back()


def _draw_by_hand(kept: RunSession) -> None:
    """Draw the way from a kept fork to how it was, and say what no address holds."""
    case, at = state.case(), kept.negotiation.setup.forked_at
    if table.opened() is not None or not case.moves:
        return
    if "moves" not in state.address():
        st.warning(
            "What was played by hand is too long for this page's address: it is gone once the "
            "page is loaded anew. Save it below.",
            icon=":material/link_off:",
        )
    if case.scientist in AUTOMATIC and at is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="forked"):
            st.markdown(f"Your fork from round {at + 1}.", width="content")
            button("Back to how it was", "undo", table.start_again)
