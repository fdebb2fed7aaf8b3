"""Negotiations as files, and the shipped recorded runs."""

from functools import partial

import streamlit as st
from pydantic import ValidationError

from replicalab import errors, library, limits
from replicalab import negotiation as core
from replicalab.facts.lab_facts import lab_text
from replicalab.facts.negotiation_facts import LAB_MANAGERS, SCIENTISTS, kept_text
from replicalab.negotiation import Negotiation, Recording, Setup, TurnAuthor
from replicalab.scenarios import readable_text
from replicalab.ui import controls, own_studies, state, workspace
from replicalab.ui.file_transfer import download, upload
from replicalab.ui.library_page import drafting, keeping
from replicalab.ui.negotiation_page import sessions
from replicalab.ui.negotiation_page.sessions import RunSession


def draw(session: RunSession | None) -> None:
    with st.expander("Save or open negotiations", icon=":material/folder:"):
        if session is not None and session.negotiation.rounds:
            _draw_saving(session)
        upload(
            "Open a saved negotiation",
            "negotiation_file",
            lambda data, name: open_text(readable_text(data, name, limits.MOST_FILE_BYTES), name),
            ["json"],
            refused="That file cannot be opened: {error}",
        )


def keep(session: RunSession) -> None:
    keeping.keep_new(library.EntryKind.RUN, kept_text(session.negotiation), _written(session))


def _written(session: RunSession) -> str:
    try:
        return core.save(session.negotiation, session.recording or recording_of(session))
    except (errors.TraceError, ValidationError):  # the record of the model is not valid
        return core.save(session.negotiation)


def _draw_saving(session: RunSession) -> None:
    hint = None
    if any(done.turn.by is TurnAuthor.MODEL for done in session.negotiation.rounds):
        hint = "The file holds the model’s answers, so it plays again without it. It holds no key."
    controls.button("Save to the library", "bookmark_add", partial(keep, session))
    download("Save this negotiation", _written(session), "negotiation.json", help=hint)


def recording_of(session: RunSession) -> Recording | None:
    """Return the record of the model set here, if it played this negotiation."""
    if not session.is_model or session.source:
        return None
    seat = sessions.model_seat()
    return seat.recording(session.negotiation.setup) if seat else None


def open_text(text: str, name: str) -> None:
    """Show the negotiation of a file, played again in its study and lab."""
    transcript = core.load(text)
    case = drafting.case_of_run(transcript.setup, state.case())
    again = core.replay(transcript, case.pack(own_studies.find))
    open_played(again, state.workspace().with_case(case), name, transcript.recording)


def open_played(
    negotiation: Negotiation, work: workspace.Workspace, name: str, record: Recording | None
) -> None:
    """Show a negotiation of a file; raise TraceError if there is no room for it."""
    ended = negotiation.ending is not None
    session = RunSession(
        negotiation,
        source=f"{record.title} ({record.made})" if record and ended else f"From the file {name}",
        recording=record,
        recorded=record is not None and ended,
    )
    if sessions.is_full(session.size):
        raise errors.TraceError(
            f"there is no room for it: it takes {session.size:,} bytes, a session keeps at most "
            f"{limits.MOST_GAME_BYTES:,} of negotiations; forget one, then open it again"
        )
    if not session.recorded:
        work = work.replace(scientist=negotiation.setup.scientist)
    sessions.open_run(session, work)


def recordings() -> dict[str, tuple[Recording, Setup]]:
    runs = core.shipped_recordings()
    return {run.recording.key: (run.recording, run.setup) for run in runs if run.recording}


def open_recording(key: str) -> None:
    _, setup = recordings()[key]
    case = drafting.case_of_run(setup, state.case()).replace(recording=key)
    sessions.leave_home()
    state.open_case(case, whole=True)


def draw_origin() -> None:
    """Draw the origin of a file or a recording, and the button that restores the workspace."""
    opened, key = sessions.opened_run(), state.case().recording
    pair = recordings().get(key) if key else None
    if opened is not None:
        setup = opened.negotiation.setup
        scientist = SCIENTISTS[setup.scientist].name.lower()
        manager = LAB_MANAGERS[setup.lab_manager].name.lower()
        players = f". Scientist: {scientist}. Lab Manager: {manager}."
        text = opened.source + ("" if opened.recorded else players)
    elif pair is not None:
        recording, setup = pair
        manager = LAB_MANAGERS[setup.lab_manager].name.lower()
        made = f"Model: {recording.settings.model}. Lab Manager: {manager}. {recording.note}"
        text = f"{recording.made.capitalize()}. {made}"
    else:
        return
    home, is_fork = sessions.table().home, opened is not None and pair is not None
    label, hint = "Close it", None
    if home is not None and not is_fork:
        pack = home.case.pack(own_studies.find)
        label, hint = "Back to your own", controls.escape(f"{pack.paper.title}, {lab_text(pack)}")
    with st.container(horizontal=True, vertical_alignment="center", key="opened"):
        st.markdown(controls.escape(text), width="content")
        controls.button(label, "undo", sessions.close, key="way_back", help=hint)
