"""A language model at the table: run, stop, and what to do when it gives no valid action.

One run of the script plays one round, so every round that was played is kept, and whatever is
pressed meanwhile ends the call within a tenth of a second.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from replicalab.errors import ModelSettingsError
from replicalab.llm import Endpoint, Progress, build_generate_fn
from replicalab.negotiation import ModelAnswer, ScientistKind, Turn, ask_model
from replicalab.scenarios import Pack
from replicalab.ui.negotiation import model_settings, table
from replicalab.ui.negotiation.message_view import draw_attempts
from replicalab.ui.negotiation.talks import Place, Talks
from replicalab.ui.words import escaped

_RUNNING: Final = "model_running"
_FAILURE: Final = "model_failure"
_ACTING: Final = "acting_for_the_model"
_STOPPED: Final = "model_stopped"


class Running(NamedTuple):
    """A round that is about to be asked of the model, and where its progress is drawn."""

    slot: DeltaGenerator
    endpoint: Endpoint
    talks: Talks


def is_model(talks: Talks) -> bool:
    """Return whether a language model plays the Scientist."""
    return talks.trace.setup.scientist is ScientistKind.MODEL


def failure_of(talks: Talks) -> ModelAnswer | None:
    """Return how the model failed in the next round, None where it has not."""
    found: tuple[str, int, ModelAnswer] | None = st.session_state.get(_FAILURE)
    here = (table.origin_of(talks), len(talks.trace.rounds))
    return found[2] if found is not None and found[:2] == here else None


def acting(talks: Talks) -> bool:
    """Return whether a person acts for the model in the next round."""
    here = (table.origin_of(talks), len(talks.trace.rounds))
    return bool(st.session_state.get(_ACTING) == here)


def draw(talks: Talks, pack: Pack) -> Running | None:
    """Draw the model's settings and controls; return the round to ask for, if it is running."""
    model_settings.draw()
    if talks.finished:
        _draw_start_again(talks, pack)
        return None
    try:
        endpoint = model_settings.endpoint()
    except ModelSettingsError as error:
        st.error(escaped(str(error)), icon=":material/cloud_off:")
        return None
    running = st.session_state.pop(_RUNNING, False) and endpoint is not None
    _draw_controls(talks, pack, running=running, ready=endpoint is not None)
    _draw_failure(talks, pack)
    if not running or endpoint is None:
        return None
    return Running(st.empty(), endpoint, talks)


def _draw_start_again(talks: Talks, pack: Pack) -> None:
    if table.opened_one() is None:
        st.button(
            "Run it again",
            icon=":material/replay:",
            on_click=_start_again,
            args=(talks, pack),
            help="Forgets this run. Save it below first if you want to keep it.",
        )


def _start_again(talks: Talks, pack: Pack) -> None:
    table.start_again(talks, pack)
    _run()


def _draw_controls(talks: Talks, pack: Pack, *, running: bool, ready: bool) -> None:
    played = len(talks.trace.rounds)
    with st.container(horizontal=True, vertical_alignment="center", key="model_controls"):
        if running:
            st.button("Stop the model", icon=":material/stop:", on_click=_stop, type="primary")
            st.caption("Anything else that you press stops it too. Rounds played are kept.")
            return
        st.button(
            "Go on" if played else "Run",
            icon=":material/smart_toy:",
            on_click=_run,
            type="primary",
            disabled=not ready,
        )
        if played:
            st.button("Undo last round", on_click=_undo, args=(talks, pack), icon=":material/undo:")
        if st.session_state.pop(_STOPPED, False):
            st.caption("Stopped. The rounds played so far are kept.")


def _run() -> None:
    model_settings.fold()
    st.session_state[_RUNNING] = True
    st.session_state.pop(_FAILURE, None)
    st.session_state.pop(_ACTING, None)


def _stop() -> None:
    st.session_state[_STOPPED] = True


def _undo(talks: Talks, pack: Pack) -> None:
    table.undo(Place.TABLE, talks, pack)


def _draw_failure(talks: Talks, pack: Pack) -> None:
    found = failure_of(talks)
    if found is None:
        return
    number = len(talks.trace.rounds) + 1
    st.warning(
        f"**Round {number}: the model gave no action, and its turn is over.** "
        f"{escaped(found.failure or '')} The rounds played so far are kept.",
        icon=":material/cloud_off:",
    )
    draw_attempts(found.attempts, "failed")
    with st.container(horizontal=True, key="model_failed"):
        st.button("Try again", icon=":material/refresh:", on_click=_run)
        st.button(
            "Act for the model in this round",
            icon=":material/person:",
            on_click=_act,
            args=(talks,),
            disabled=acting(talks),
        )
        st.button(
            "Let it walk away",
            icon=":material/logout:",
            on_click=_walk_away,
            args=(talks, found, pack),
        )


def _act(talks: Talks) -> None:
    st.session_state[_ACTING] = (table.origin_of(talks), len(talks.trace.rounds))


def _walk_away(talks: Talks, found: ModelAnswer, pack: Pack) -> None:
    turn = Turn(action=None, reason=found.failure or "", attempts=found.attempts)
    table.play(Place.TABLE, talks, turn, pack)


def carry_on(running: Running, pack: Pack) -> None:
    """Ask the model for its turn, play it, and run again for the next round."""
    talks = running.talks
    answer = _ask(running, pack)
    if answer.turn is None:
        where = (table.origin_of(talks), len(talks.trace.rounds))
        st.session_state[_FAILURE] = (*where, answer)
    else:
        table.play(Place.TABLE, talks, answer.turn, pack)
        st.session_state[_RUNNING] = len(talks.trace.rounds) + 1 < talks.trace.setup.max_rounds
    st.rerun()


def _ask(running: Running, pack: Pack) -> ModelAnswer:
    state = running.talks.state
    asked = (
        f"Round {state.round_number + 1} of {state.max_rounds}: "
        f"{escaped(running.endpoint.model)} on {escaped(running.endpoint.host)}"
    )
    status = running.slot.status(f"{asked} is asked …")

    def progress(found: Progress) -> None:
        status.update(
            label=f"{asked}: {found.characters:,} characters in {found.seconds:.0f} seconds"
        )

    return ask_model(build_generate_fn(running.endpoint, on_progress=progress), state, pack)
