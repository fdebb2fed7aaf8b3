"""A language model at the table: run, stop, and what to do when it gives no valid action.

One run of the script plays one round, so every round that was played is kept, and whatever is
pressed meanwhile ends the call within a tenth of a second.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.negotiation import By, ModelAnswer, Turn, ask_model
from replicalab.panels.negotiation import attempts_panel
from replicalab.ui import panel
from replicalab.ui.controls import button
from replicalab.ui.negotiation import settings
from replicalab.ui.negotiation.asking import Asking, draw_stop, draw_stopped, start
from replicalab.ui.negotiation.table import Kept, Task, back_to, play, table
from replicalab.ui.words import escaped

_KEPT: Final = "The rounds played so far are kept."


def draw(kept: Kept, task: Task | None) -> Asking | None:
    """Draw the model's settings and controls; return what it is to be asked, if anything here.

    Args:
        kept: the negotiation.
        task: what the model is to be asked for.
    """
    test = settings.draw(task)
    if kept.negotiation.ending is not None:
        if not kept.source:
            button(
                "Run it again",
                "replay",
                partial(_run_again, kept),
                help="Forgets this run. Save it below first if you want to keep it.",
            )
        return test
    endpoint = settings.usable_endpoint()
    running = endpoint if task is Task.ROUND else None
    _draw_controls(kept, running=running is not None, ready=endpoint is not None)
    if kept.failure is not None:
        _draw_failure(kept, kept.failure)
    if running is None:
        return test
    negotiation = kept.negotiation
    number = len(negotiation.rounds) + 1
    what = f"Round {number} of at most {negotiation.setup.max_rounds}"
    return Asking(st.empty(), running, what, partial(_play_round, kept))


def _run_again(kept: Kept) -> None:
    back_to(kept, 0)
    _run(kept)


def _draw_controls(kept: Kept, *, running: bool, ready: bool) -> None:
    played = len(kept.negotiation.rounds)
    if running:
        draw_stop(Task.ROUND, _KEPT)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="model_controls"):
        button(
            "Go on" if played else "Run",
            "smart_toy",
            partial(_run, kept),
            type="primary",
            disabled=not ready,
        )
        if played:
            button("Undo last round", "undo", partial(back_to, kept, played - 1))
        draw_stopped(Task.ROUND, _KEPT)


def _run(kept: Kept) -> None:
    """Ask for the next round; the settings are folded, as they are needed no more."""
    kept.failure, kept.acting = None, False
    table().settings_open = False
    start(Task.ROUND)


def _draw_failure(kept: Kept, found: ModelAnswer) -> None:
    number = len(kept.negotiation.rounds)
    st.warning(
        f"**Round {number + 1}: the model gave no action, and its turn is over.** "
        f"{escaped(found.failure or '')} The rounds played so far are kept.",
        icon=":material/cloud_off:",
    )
    panel.draw(attempts_panel(found.attempts))
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


def _play_round(kept: Kept, generate: GenerateFn) -> None:
    """Ask the model for its turn, and play it; then the next round is asked for."""
    negotiation = kept.negotiation
    answer = ask_model(generate, negotiation.state, negotiation.pack)
    if answer.turn is None:
        kept.failure = answer
        return
    play(kept, len(negotiation.rounds), answer.turn)
    if kept.negotiation.ending is None:
        start(Task.ROUND)
