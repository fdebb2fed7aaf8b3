"""The page from top to bottom: who plays, how it ended, its rounds, and what may be done next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.errors import NegotiationError, TraceError
from replicalab.negotiation import AUTOMATIC, ScientistKind
from replicalab.panels.negotiation import outcome_panel
from replicalab.planner import Options
from replicalab.text.negotiation import (
    LAB_MANAGERS,
    RECORDED,
    SCIENTISTS,
    Player,
)
from replicalab.ui import panel, state
from replicalab.ui.controls import button, page_link
from replicalab.ui.negotiation import (
    aside,
    files,
    fork,
    model,
    moves,
    room,
    rounds,
    run,
    settings,
    table,
)
from replicalab.ui.negotiation.asking import Asking
from replicalab.ui.negotiation.table import NOT_DRAWN, Kept, Left, Task
from replicalab.ui.words import escaped
from replicalab.ui.workspace import MOST_ROUNDS

_SCIENTIST: Final = "scientist_choice"
_MANAGER: Final = "manager_choice"
_ROUNDS: Final = "rounds_choice"
_RECORDED: Final = "recorded"
_MOST_ASIDE: Final = 3
"""So many ways back are drawn, the latest first; another comes where one is forgotten."""


def draw(here: Options) -> Asking | None:
    """Draw the page; return what is to be asked of a model, None where nothing is."""
    task, table.table().task = table.table().task, None  # no later run asks it again
    if table.is_full() and task is Task.ROUND:
        task = None
    aside.settle()
    _draw_players()
    kept = _current(here.yours)
    room.draw(kept)
    if kept is None:
        st.header("What the two sides come to")
    asking = _draw_negotiation(kept, task) if kept else None
    files.draw(kept)
    return asking


def _current(yours: Assessment) -> Kept | None:
    """Return the negotiation on show; None, with the reason drawn, when there can be none."""
    try:
        return table.current(yours, settings.seated_model())
    except NegotiationError as error:
        st.error(f"The negotiation cannot start: {escaped(str(error))}.", icon=":material/block:")
        if state.workspace().moves:
            button("Begin anew", "replay", table.start_again)
        page_link("pages/1_Protocol.py", "Edit the protocol", "tune")
    except TraceError as error:
        files.draw_recording_problem(str(error))
    return None


def _draw_negotiation(kept: Kept, task: Task | None) -> Asking | None:
    shown = fork.on_show(kept)
    negotiation = shown.kept.negotiation
    _draw_by_hand(kept)
    by_model = kept.is_model and not kept.recorded and kept.confirmed
    asking = model.draw(kept, task) if by_model else None
    files.draw_replay(kept)
    panel.draw(outcome_panel(shown.kept.verdict, is_open=negotiation.outcome is None))
    if negotiation.rounds:
        row = rounds.draw_scrubber(negotiation, shown.name)
        if kept.confirmed and shown.kept is kept:
            with row:
                fork.draw_button(kept)
        asking = rounds.draw(negotiation, task, confirmed=kept.confirmed) or asking
        if kept.confirmed:
            fork.draw(kept)
    if _may_move(kept):
        moves.draw(kept)
    if not kept.confirmed:
        st.caption(NOT_DRAWN)
    elif negotiation.rounds:
        run.draw(negotiation)
        run.draw_end(negotiation)
    return asking


def _may_move(kept: Kept) -> bool:
    """Return whether a person plays here, or acts for the model.

    While a branch stands beside the negotiation, the move is one in the branch.
    """
    if kept.recorded or not kept.confirmed or fork.branch_of(kept) is not None:
        return False
    person = kept.negotiation.setup.scientist is ScientistKind.PERSON
    return kept.acting if kept.is_model else person or kept.negotiation.ending is None


# --- who plays --------------------------------------------------------------------------------


def _draw_players() -> None:
    """Draw who plays, by which rule, for how long; the widgets show what the workspace says."""
    work, recorded = state.workspace(), files.showing_a_recording()
    st.session_state[_SCIENTIST] = _RECORDED if recorded else work.scientist.value
    st.session_state[_MANAGER] = work.lab_manager.value
    st.session_state[_ROUNDS] = work.max_rounds
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
    _draw_aside(list(reversed(table.table().aside[-_MOST_ASIDE:])))


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
    state.show(**dict(state.workspace().seated(max_rounds=st.session_state[_ROUNDS])))


def _seat() -> None:
    """Seat the chosen players; a recorded run brings its own study and lab."""
    chosen = st.session_state[_SCIENTIST]
    aside.put_aside()
    fork.drop()
    if chosen == _RECORDED:
        files.open_recording(next(iter(files.recordings())))
        return
    seats = {"scientist": chosen, "lab_manager": st.session_state[_MANAGER]}
    if table.table().own is not None:
        aside.go_back_to_own()
        del seats["lab_manager"]
    state.show(**dict(state.workspace().seated(**seats)))


def _draw_opened() -> None:
    """Say what was opened in place of what the fields above ask for, and how to close it."""
    opened = table.table().opened
    if opened is None or opened.recorded:
        return
    setup = opened.negotiation.setup
    scientist, manager = SCIENTISTS[setup.scientist], LAB_MANAGERS[setup.lab_manager]
    players = f"Scientist: {scientist.name.lower()}. Lab Manager: {manager.name.lower()}."
    with st.container(horizontal=True, vertical_alignment="center", key="opened"):
        st.markdown(f"{escaped(opened.source)}. {players}", width="content")
        files.draw_way_back()


def _draw_by_hand(kept: Kept) -> None:
    """Draw the way from a kept fork to how it was, and say what no address holds."""
    work, at = state.workspace(), kept.negotiation.setup.forked_at
    if table.table().opened is not None or not work.moves:
        return
    if "moves" not in state.address():
        st.warning(
            "What was played by hand is too long for this page's address: it is gone once the "
            "page is loaded anew. Save it below.",
            icon=":material/link_off:",
        )
    if work.scientist in AUTOMATIC and at is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="forked"):
            st.markdown(f"Your fork from round {at + 1}.", width="content")
            button("Back to how it was", "undo", table.start_again)


def _draw_aside(left: list[Left]) -> None:
    """Draw the ways back to what gave way to something else, and how long they stay."""
    for number, one in enumerate(left):
        with st.container(horizontal=True, vertical_alignment="center", key=f"aside_{number}"):
            st.markdown(f"Put aside: {escaped(one.name)}.", width="content")
            for label, icon, name, pressed in (
                ("Go back to it", ":material/undo:", "back", aside.go_back_to),
                ("Forget it", ":material/close:", "forget", aside.forget_left),
            ):
                key = f"aside_{number}_{name}"
                st.button(label, icon=icon, key=key, on_click=pressed, args=(one,))
    if left:
        st.caption("What is put aside is lost when this page is loaded anew; save what you need.")
