"""Who plays: the Scientist, the Lab Manager, for how many rounds; and what was opened instead."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.sentences import LAB_MANAGERS, RECORDED, SCIENTISTS
from replicalab.ui import state
from replicalab.ui.negotiation import recordings, table
from replicalab.ui.words import escaped
from replicalab.ui.workspace import MOST_ROUNDS

_SCIENTIST: Final = "scientist_choice"
_MANAGER: Final = "manager_choice"
_ROUNDS: Final = "rounds_choice"
_PRESENT: Final = "present_choice"
_RECORDED: Final = "recorded"


def draw() -> None:
    """Draw who plays, by which rule, for how long."""
    recorded = recordings.showing()
    _set_widgets(recorded)
    scientist, manager, rounds = st.columns([4, 4, 2])
    with scientist:
        _draw_scientist(recorded)
    with manager:
        if recorded:
            recordings.draw_choice()
        else:
            _draw_manager()
    with rounds:
        if not recorded:
            _draw_rounds()
        _draw_present()
    _draw_opened()
    _draw_aside()


def _set_widgets(recorded: bool) -> None:
    """Let the widgets show the workspace, whoever changed it."""
    work = state.workspace()
    st.session_state[_SCIENTIST] = _RECORDED if recorded else work.scientist.value
    st.session_state[_MANAGER] = work.lab_manager.value
    st.session_state[_ROUNDS] = work.max_rounds
    st.session_state[_PRESENT] = work.presenting


def _draw_scientist(recorded: bool) -> None:
    names = {kind.value: player.name for kind, player in SCIENTISTS.items()}
    if recorded or recordings.offered():
        names[_RECORDED] = RECORDED.name
    st.selectbox(
        "Scientist", list(names), format_func=names.__getitem__, key=_SCIENTIST, on_change=_seat
    )
    chosen = RECORDED if recorded else SCIENTISTS[state.workspace().scientist]
    st.caption(chosen.rule)


def _draw_manager() -> None:
    names = {kind.value: player.name for kind, player in LAB_MANAGERS.items()}
    st.selectbox(
        "Lab Manager",
        list(names),
        format_func=names.__getitem__,
        key=_MANAGER,
        on_change=_seat,
    )
    st.caption(LAB_MANAGERS[state.workspace().lab_manager].rule)


def _draw_rounds() -> None:
    st.number_input(
        "Rounds at most",
        min_value=1,
        max_value=MOST_ROUNDS,
        step=1,
        key=_ROUNDS,
        on_change=_set_rounds,
    )


def _draw_present() -> None:
    st.toggle(
        "Present",
        key=_PRESENT,
        on_change=_set_presenting,
        help="Hides the controls and enlarges the story. A button brings them back.",
    )


def _seat() -> None:
    """Seat the chosen players; a recorded run brings its own study and lab."""
    chosen = st.session_state[_SCIENTIST]
    table.put_aside()
    table.drop_branch()
    if chosen == _RECORDED:
        recordings.open_first()
        return
    manager = LabManagerKind(st.session_state[_MANAGER])
    state.seat(ScientistKind(chosen), manager)


def _set_rounds() -> None:
    state.set_rounds(st.session_state[_ROUNDS])


def _set_presenting() -> None:
    set_presenting(on=st.session_state[_PRESENT])


def set_presenting(*, on: bool) -> None:
    """Hide the controls for a presentation, or bring them back."""
    state.present(on=on)


def _draw_opened() -> None:
    """Say what was opened in place of what the fields above ask for, and how to close it."""
    opened = table.opened_one()
    if opened is None or opened.recorded:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="opened"):
        st.markdown(f"{escaped(opened.told)}. {_players_of(opened)}", width="content")
        st.button("Close it", icon=":material/close:", on_click=table.close_opened)


def _draw_aside() -> None:
    """Draw the way back to each opened negotiation that gave way to something else."""
    for number, one in enumerate(table.aside()):
        with st.container(horizontal=True, vertical_alignment="center", key=f"aside_{number}"):
            st.markdown(
                f"An opened negotiation is put aside: {escaped(one.told)}.", width="content"
            )
            st.button(
                "Go back to it",
                icon=":material/undo:",
                key=f"aside_{number}_back",
                on_click=table.go_back_to,
                args=(one,),
            )
            st.button(
                "Forget it",
                icon=":material/close:",
                key=f"aside_{number}_forget",
                on_click=table.forget,
                args=(one,),
            )


def _players_of(opened: table.Opened) -> str:
    setup = opened.talks.trace.setup
    scientist = SCIENTISTS[setup.scientist].name.lower()
    return f"Scientist: {scientist}. Lab Manager: {LAB_MANAGERS[setup.lab_manager].name.lower()}."
