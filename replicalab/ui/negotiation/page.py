"""The page from top to bottom, and what is done after it has been drawn."""

from __future__ import annotations

import streamlit as st

from replicalab.errors import NegotiationError, TraceError
from replicalab.negotiation import ScientistKind
from replicalab.sentences import Status, Verdict, round_caption
from replicalab.ui import frame, session
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.negotiation import (
    fork_view,
    keeping_view,
    model_settings,
    model_view,
    person_view,
    players_view,
    presenter_view,
    recordings,
    round_view,
    run_view,
    stepping_view,
    table,
)
from replicalab.ui.negotiation.model_view import Running
from replicalab.ui.negotiation.talks import Place, Talks
from replicalab.ui.session import Here
from replicalab.ui.words import escaped


def open_page() -> Here:
    """Set the page up and return what it is about; a presentation shows no navigation."""
    top = st.empty()
    with top.container():
        here = frame.open_page("Negotiation")
    if session.workspace().presenting:
        top.empty()
    return here


def draw(here: Here) -> Running | None:
    """Draw the page; return the round to ask of a model, None where none is running."""
    if not presenter_view.is_on():
        st.title("What the two sides come to")
        players_view.draw()
    talks = _current(here)
    if talks is None:
        keeping_view.draw(None)
        return None
    if presenter_view.is_on():
        presenter_view.draw(talks, here.pack)
        return None
    return _draw_talks(talks, here)


def _current(here: Here) -> Talks | None:
    """Return the negotiation on show; None, with the reason drawn, when there can be none."""
    try:
        return table.current(here, _model_name())
    except NegotiationError as error:
        st.error(f"The negotiation cannot start: {escaped(str(error))}.", icon=":material/block:")
        st.page_link(
            "pages/1_Protocol.py",
            label="Edit the protocol",
            icon=":material/tune:",
            query_params=session.address(),
        )
    except TraceError as error:
        st.error(f"The recording cannot be played: {escaped(str(error))}.", icon=":material/block:")
        with st.container(horizontal=True, key="recording_problem"):
            recordings.draw_way_in()
            st.button("Close the recording", on_click=_close_recording)
    if presenter_view.is_on():
        presenter_view.draw_way_out()
    return None


def _close_recording() -> None:
    work = session.workspace()
    session.open_workspace(work.with_players(work.scientist, work.lab_manager))


def _model_name() -> str | None:
    if session.workspace().scientist is not ScientistKind.MODEL:
        return None
    found = model_settings.usable_endpoint()
    return found.model if found else None


def _draw_talks(talks: Talks, here: Here) -> Running | None:
    played_by_model = model_view.is_model(talks) and not recordings.showing()
    confirmed = _is_confirmed()
    running = model_view.draw(talks, here.pack) if played_by_model and confirmed else None
    keeping_view.draw_replay()
    _draw_verdict(talks.verdict, confirmed=confirmed)
    if talks.trace.rounds:
        stepping_view.draw(talks)
        caption = round_caption(talks.trace, table.shown_round(talks), here.pack)
        st.markdown(f"**{escaped(caption)}**")
        round_view.draw(talks, here.pack)
        if confirmed:
            fork_view.draw(talks, here.pack)
    if confirmed:
        _draw_move(talks, here)
    if talks.trace.rounds:
        run_view.draw(talks, here.pack)
        run_view.draw_ledger(talks, here.pack)
        run_view.draw_judge(talks, here.pack)
    keeping_view.draw(talks)
    return running


def _is_confirmed() -> bool:
    """Return whether what is on show was played here, or replays here identically."""
    opened = table.opened_one()
    return opened is None or not opened.faults


def _draw_verdict(verdict: Verdict, *, confirmed: bool) -> None:
    if not confirmed:
        verdict = Verdict(Status.FAIL, "Not confirmed", f"Not confirmed: {verdict.text}")
    draw_verdict(verdict)


def _draw_move(talks: Talks, here: Here) -> None:
    """Draw a person's move where a person plays, or acts for the model.

    While a branch stands beside the negotiation, the move is one in the branch.
    """
    if recordings.showing() or table.branch_of(talks) is not None:
        return
    if not model_view.is_model(talks):
        if talks.trace.setup.scientist is ScientistKind.PERSON or not talks.finished:
            person_view.draw(Place.TABLE, talks, here.pack)
        return
    failure = model_view.failure_of(talks)
    if failure is not None and model_view.acting(talks):
        person_view.draw(Place.TABLE, talks, here.pack, failure.attempts)


def carry_on(here: Here, running: Running | None) -> None:
    """Play the round that a model was asked for; the last call of the page."""
    if running is not None:
        model_view.carry_on(running, here.pack)
