"""Recorded runs: the shipped ones to choose from, and one's own from a file."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.cassettes import Cassette, play_cassette, shipped_cassettes
from replicalab.errors import TraceError
from replicalab.negotiation import Setup
from replicalab.sentences import LAB_MANAGERS
from replicalab.ui import own_studies, session
from replicalab.ui.negotiation import table
from replicalab.ui.negotiation.talks import talks_of
from replicalab.ui.words import escaped
from replicalab.ui.workspace import LARGEST_SEED, MOST_ROUNDS, Workspace

_CHOICE: Final = "recording_choice"
_LARGEST_SHOWN: Final = 10**12


def offered() -> bool:
    """Return whether there is a recorded run to choose."""
    try:
        return bool(shipped_cassettes())
    except TraceError:
        return False


def showing() -> bool:
    """Return whether a recorded run is on show: a shipped one, or one's own."""
    opened = table.opened_one()
    if opened is not None:
        return opened.recorded
    return state.workspace().recording is not None


def open_first() -> None:
    """Show the first of the shipped recordings, in its study and lab."""
    _open(shipped_cassettes()[0])


def _open(cassette: Cassette) -> None:
    found = workspace_of(cassette.setup)
    state.open_workspace(found.changed(recording=cassette.key))


def must_be_shown(setup: Setup) -> None:
    """Refuse a setup that this page has no room for.

    Raises:
        TraceError: it has more rounds, or a larger seed, than can be shown.
    """
    limits = {"max_rounds": (setup.max_rounds, MOST_ROUNDS), "seed": (setup.seed, LARGEST_SEED)}
    for name, (value, most) in limits.items():
        if value > most:
            shown = f"{value:,}" if value < _LARGEST_SHOWN else f"over {_LARGEST_SHOWN:,}"
            raise TraceError(
                f"setup.{name} is {shown}, and at most {most:,} can be shown here; play that "
                f"negotiation anew with {most:,} or less"
            )


def workspace_of(setup: Setup) -> Workspace:
    """Return the workspace in which a negotiation from elsewhere is shown, at its first round."""
    work = state.workspace()
    same = work.scenario_id == setup.scenario_id
    opened = work.with_study(setup.scenario_id).with_lab(setup.difficulty, setup.seed)
    kept = work.protocol if same else None
    return opened.changed(protocol=kept, max_rounds=setup.max_rounds, lab_manager=setup.lab_manager)


def draw_way_in() -> None:
    """Draw a button that opens the study and lab of the recording that is asked for."""
    key = state.workspace().recording
    found = next((each for each in shipped_cassettes() if each.key == key), None)
    if found is not None:
        st.button(
            "Open its study and lab", icon=":material/science:", on_click=_open, args=(found,)
        )


def draw_choice() -> None:
    """Draw which recorded run is on show, how it was made, and what to look at."""
    opened = table.opened_one()
    if opened is not None:
        st.markdown(escaped(opened.told))
        st.button("Close it", icon=":material/close:", on_click=table.close_opened)
        return
    found = {cassette.key: cassette for cassette in shipped_cassettes()}
    key = state.workspace().recording
    if key not in found:
        return
    st.session_state[_CHOICE] = key
    st.selectbox(
        "Recorded run",
        list(found),
        format_func=lambda each: found[each].title,
        key=_CHOICE,
        on_change=_choose,
    )
    st.caption(_described(found[key]))


def _choose() -> None:
    table.drop_branch()
    wanted = st.session_state[_CHOICE]
    _open(next(each for each in shipped_cassettes() if each.key == wanted))


def _described(cassette: Cassette) -> str:
    manager = LAB_MANAGERS[cassette.setup.lab_manager].name.lower()
    model = f"Model: {cassette.settings.model}. Lab Manager: {manager}. {cassette.note}"
    return f"**{cassette.made.value.capitalize()}.** {escaped(model)}"


def open_own(cassette: Cassette) -> None:
    """Play a recording from a file in its study and lab, and show it.

    Raises:
        TraceError: it cannot be played there, or has more rounds than can be shown.
        ScenarioError: its study is not known here.
    """
    must_be_shown(cassette.setup)
    before = state.workspace()
    found = workspace_of(cassette.setup).changed(recording=None)
    pack = found.pack(own_studies.find)
    talks = talks_of(play_cassette(cassette, pack), pack)
    if found != before:
        state.open_workspace(found)
    told = f"{cassette.title} ({cassette.made.value})"
    table.open_talks(talks, told, recorded=True)
