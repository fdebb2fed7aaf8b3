"""What is kept of a negotiation as a file, and opening one again."""

from __future__ import annotations

import json
from typing import Final

import streamlit as st
from pydantic import ValidationError

from replicalab.cassettes import ModelSettings, cassette_of, load_cassette, save_cassette
from replicalab.errors import ReplicaLabError, TraceError
from replicalab.lexicon import count_text
from replicalab.negotiation import Trace, load_trace, replay_differences, save_trace
from replicalab.negotiation.loading import MOST_BYTES
from replicalab.negotiation.rounds import start
from replicalab.scenarios import Pack
from replicalab.ui import own_studies, session
from replicalab.ui.negotiation import settings, model, recordings, table
from replicalab.ui.negotiation.talks import Talks, talks_of, told
from replicalab.ui.words import escaped
from replicalab.ui.workspace import MOST_ROUNDS

_UPLOAD: Final = "negotiation_file"
_VERSION: Final = "negotiation_file_version"
_PROBLEM: Final = "negotiation_file_problem"
_NAME: Final = "negotiation.json"


def draw(talks: Talks | None) -> None:
    """Draw saving and opening; with no negotiation there is only opening."""
    with st.expander("Save or open a negotiation", icon=":material/folder:"):
        if talks is not None and talks.trace.rounds:
            _draw_saving(talks)
        _draw_opening()


def _draw_saving(talks: Talks) -> None:
    saved = save_trace(talks.trace)
    with st.container(horizontal=True, key="saving"):
        st.download_button(
            "Save this negotiation",
            saved,
            file_name=_NAME,
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
        )
        recording = _recording_of(talks)
        if recording is not None:
            st.download_button(
                "Save this run as a recording",
                recording,
                file_name="recording.json",
                mime="application/json",
                icon=":material/voicemail:",
                on_click="ignore",
                help="What the model said, to be played again without it. No key is in it.",
            )
    _say_size(saved)


def _say_size(saved: str) -> None:
    """Say where a file will be larger than what is opened here."""
    size = len(saved.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        st.warning(
            f"This negotiation takes {size:,} bytes, and at most {MOST_BYTES:,} are opened again "
            "here. A recording of the run is shorter; or play fewer rounds.",
            icon=":material/warning:",
        )


def _recording_of(talks: Talks) -> str | None:
    """Return a model's run as a recording, None where a person acted in it or it came from one."""
    if not model.is_model(talks) or table.opened_one() or state.workspace().recording:
        return None
    found = settings.usable_endpoint()
    settings = ModelSettings(
        model=talks.trace.setup.model or "unknown",
        host=found.host if found else None,
        temperature=found.temperature if found else 0,
        max_tokens=found.max_tokens if found else 2000,
    )
    title = f"{settings.model} on {talks.trace.setup.scenario_id}"
    try:
        return save_cassette(cassette_of(talks.trace, settings, key="own_run", title=title))
    except (TraceError, ValidationError):
        return None


def _draw_opening() -> None:
    st.file_uploader(
        "Open a saved negotiation or a recording",
        type="json",
        key=_upload_key(),
        on_change=_open,
    )
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        st.error(f"That file cannot be opened: {escaped(problem)}", icon=":material/block:")


def _upload_key() -> str:
    return f"{_UPLOAD}_{st.session_state.get(_VERSION, 0)}"


def _open() -> None:
    """Open the file that was handed over, or say why it cannot be."""
    file = st.session_state[_upload_key()]
    if file is None:
        return
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1
    try:
        _open_text(file.getvalue().decode("utf-8"), file.name)
    except UnicodeDecodeError:
        st.session_state[_PROBLEM] = "it is no text; choose a JSON file that was saved here."
    except ReplicaLabError as error:
        st.session_state[_PROBLEM] = str(error)
    except ValidationError as error:
        st.session_state[_PROBLEM] = _first_fault(error)


def _first_fault(error: ValidationError) -> str:
    """Return the first value that does not fit, where it stands, and what to do."""
    first = error.errors(include_url=False)[0]
    place, value = ".".join(map(str, first["loc"])) or "the file", first["input"]
    shown = f" is {value}" if isinstance(value, int | float) else ""
    return f"{place}{shown}: {first['msg']}; load a file that was saved here and not edited since"


def _open_text(text: str, name: str) -> None:
    if _is_cassette(text):
        recordings.open_own(load_cassette(text))
    else:
        _open_trace(load_trace(text), name)


def _is_cassette(text: str) -> bool:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "turns" in found


def _open_trace(trace: Trace, name: str) -> None:
    if len(trace.rounds) > MOST_ROUNDS:
        played = count_text(len(trace.rounds), "round")
        raise TraceError(f"it has {played}; at most {MOST_ROUNDS} can be shown here")
    recordings.must_be_shown(trace.setup)
    work = recordings.workspace_of(trace.setup).changed(scientist=trace.setup.scientist)
    pack = work.pack(own_studies.find)
    state.open_workspace(work)
    faults = tuple(each.message for each in replay_differences(trace, pack))
    table.open_talks(_talks(trace, pack, faults), f"From the file {name}", faults=faults)


def _talks(trace: Trace, pack: Pack, faults: tuple[str, ...]) -> Talks:
    """Return a trace with where it stands; one that does not replay stands nowhere."""
    if faults:
        return told(trace, start(trace.setup), pack)
    return talks_of(trace, pack)


def draw_replay() -> None:
    """Say whether a negotiation from a file replays here, round by round."""
    opened = table.opened_one()
    if opened is None or opened.recorded:
        return
    if opened.faults:
        found = " ".join(opened.faults)
        st.error(
            f"This file does not replay here, so nothing in it is confirmed. {escaped(found)} "
            "Below stands what the file says.",
            icon=":material/gpp_bad:",
        )
    else:
        st.caption(":material/verified: Replays identically, round by round.")
