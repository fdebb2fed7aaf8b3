"""The one way in which the page asks a model: seen, stoppable, and over once the browser has gone.

A run of the script asks one thing, after all else is drawn. While it waits it touches the page ten
times a second; there Streamlit ends the run when anything is pressed, and when the browser's
connection closes, long before it gives the session up. The call ends with it, and leaves no thread
and no socket.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.lexicon import count_text
from replicalab.llm import Endpoint, Progress, build_generate_fn
from replicalab.ui.controls import button
from replicalab.ui.negotiation.table import Task, table
from replicalab.ui.words import escaped


class Asking(NamedTuple):
    """What is about to be asked of a model.

    Attributes:
        slot: where its progress is drawn.
        endpoint: whom to ask.
        what: what for, in a few words.
        ask: asks, through the function that it is given, and keeps what comes of it.
    """

    slot: DeltaGenerator
    endpoint: Endpoint
    what: str
    ask: Callable[[GenerateFn], None]


def start(task: Task) -> None:
    """Have the next run of the script ask for this; what came of earlier tasks is over."""
    now = table()
    now.task, now.stopped, now.tested, now.unworded = task, None, None, None


def draw_stop(task: Task, kept: str = "") -> None:
    """Draw what stops the model, with what is kept then."""
    with st.container(horizontal=True, vertical_alignment="center", key="model_stop"):
        button("Stop the model", "stop", partial(_stop, task), type="primary")
        st.caption(f"Anything else that you press stops it too. {kept}")


def _stop(task: Task) -> None:
    table().stopped = task


def draw_stopped(task: Task, kept: str = "") -> None:
    """Say once that this was stopped, with what was kept."""
    if table().stopped is task:
        st.caption(f"Stopped. {kept}")
        table().stopped = None


def carry_on(asking: Asking | None) -> None:
    """Ask the model, and run again to show what came of it."""
    if asking is None:
        return
    endpoint = asking.endpoint
    asked = f"{asking.what}: {escaped(endpoint.model)} on {escaped(endpoint.host)}"
    status = asking.slot.status(f"{asked} is asked …")

    def touch(progress: Progress) -> None:
        status.update(
            label=f"{asked}: {count_text(progress.characters, 'character')} in "
            f"{count_text(round(progress.seconds), 'second')}"
        )

    asking.ask(build_generate_fn(endpoint, on_progress=touch))
    st.rerun()
