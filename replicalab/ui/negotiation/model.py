"""A language model at the table: run, stop, and what to do when it gives no valid action.

One run of the script plays one round, so every round that was played is kept, and whatever is
pressed meanwhile ends the call within a tenth of a second.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from replicalab.errors import ModelSettingsError
from replicalab.llm import Endpoint, Progress, build_generate_fn
from replicalab.negotiation import By, ModelAnswer, Turn, ask_model
from replicalab.ui.controls import button
from replicalab.ui.negotiation import settings
from replicalab.ui.negotiation.rounds import draw_attempts
from replicalab.ui.negotiation.table import Kept, back_to, play, table
from replicalab.ui.words import escaped


class Running(NamedTuple):
    """A round that is about to be asked of the model, and where its progress is drawn."""

    slot: DeltaGenerator
    endpoint: Endpoint
    kept: Kept


def draw(kept: Kept, *, asked: bool) -> Running | None:
    """Draw the model's settings and controls; return the round to ask for, if it is running.

    Args:
        kept: the negotiation.
        asked: whether the model is to be asked for the next round.
    """
    settings.draw()
    if kept.negotiation.ending is not None:
        if not kept.source:
            button(
                "Run it again",
                "replay",
                partial(_run_again, kept),
                help="Forgets this run. Save it below first if you want to keep it.",
            )
        return None
    try:
        endpoint = settings.endpoint()
    except ModelSettingsError as error:
        st.error(escaped(str(error)), icon=":material/cloud_off:")
        return None
    running = endpoint if asked else None
    _draw_controls(kept, running=running is not None, ready=endpoint is not None)
    if kept.failure is not None:
        _draw_failure(kept, kept.failure)
    return Running(st.empty(), running, kept) if running else None


def _run_again(kept: Kept) -> None:
    back_to(kept, 0)
    _run(kept)


def _draw_controls(kept: Kept, *, running: bool, ready: bool) -> None:
    played = len(kept.negotiation.rounds)
    with st.container(horizontal=True, vertical_alignment="center", key="model_controls"):
        if running:
            button("Stop the model", "stop", _stop, type="primary")
            st.caption("Anything else that you press stops it too. Rounds played are kept.")
            return
        button(
            "Go on" if played else "Run",
            "smart_toy",
            partial(_run, kept),
            type="primary",
            disabled=not ready,
        )
        if played:
            button("Undo last round", "undo", partial(back_to, kept, played - 1))
        if table().stopped:
            st.caption("Stopped. The rounds played so far are kept.")
            table().stopped = False


def _run(kept: Kept) -> None:
    """Ask for the next round; the settings are folded, as they are needed no more."""
    kept.failure, kept.acting = None, False
    table().settings_open, table().running = False, True


def _stop() -> None:
    table().stopped = True


def _draw_failure(kept: Kept, found: ModelAnswer) -> None:
    number = len(kept.negotiation.rounds)
    st.warning(
        f"**Round {number + 1}: the model gave no action, and its turn is over.** "
        f"{escaped(found.failure or '')} The rounds played so far are kept.",
        icon=":material/cloud_off:",
    )
    draw_attempts(found.attempts, "failed")
    with st.container(horizontal=True, key="model_failed"):
        button("Try again", "refresh", partial(_run, kept))
        button(
            "Act for the model in this round", "person", partial(_act, kept), disabled=kept.acting
        )
        button(
            "Let it walk away",
            "logout",
            partial(play, kept, number, Turn(action=None, by=By.MODEL, outputs=found.outputs)),
        )


def _act(kept: Kept) -> None:
    kept.acting = True


def carry_on(running: Running | None) -> None:
    """Ask the model for its turn, play it, and run again for the next round."""
    if running is None:
        return
    slot, endpoint, kept = running
    negotiation = kept.negotiation
    number = len(negotiation.rounds)
    asked = (
        f"Round {number + 1} of {negotiation.setup.max_rounds}: "
        f"{escaped(endpoint.model)} on {escaped(endpoint.host)}"
    )
    status = slot.status(f"{asked} is asked …")

    def progress(found: Progress) -> None:
        status.update(
            label=f"{asked}: {found.characters:,} characters in {found.seconds:.0f} seconds"
        )

    model = build_generate_fn(endpoint, on_progress=progress)
    answer = ask_model(model, negotiation.state, negotiation.pack)
    if answer.turn is None:
        kept.failure = answer
    else:
        play(kept, number, answer.turn)
        table().running = kept.negotiation.ending is None
    st.rerun()
