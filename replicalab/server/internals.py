"""Every touch of Streamlit's inside: what it is for, and what happens in a release without it.

Streamlit promises none of these names. Where one is gone, speed or a nicety goes with it, never the
page. Only what the wall cannot stand without ends the start, with a sentence that says so.
"""

import logging
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

import streamlit as st
from google.protobuf.message import DecodeError

_LOG: Final = logging.getLogger(__name__)


OLDEST: Final = (1, 67)
"""The oldest Streamlit that draws the pages: `st.grid` came with it."""


class CannotServeError(SystemExit):
    """The wall cannot be built with this Streamlit: the process ends, and the text says why."""

    def __init__(self, lacking: str) -> None:
        super().__init__(
            f"ReplicaLab does not start: Streamlit {st.__version__} {lacking}. "
            "Install the version that requirements.txt pins."
        )


_UNPROTECTED: Final = "and without that nothing would protect the pages"


def require_version() -> None:
    """Return where this Streamlit is not too old.

    Raises:
        CannotServeError: it is.
    """
    found = tuple(int(part) for part in re.findall(r"[0-9]+", st.__version__)[:2])
    if found < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise CannotServeError(f"is too old: the pages need {oldest} or later")


@cache
def _inside(module: str, name: str) -> Any:
    """Return what a module has under a name; None, with a line in the log, where it has nothing."""
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        _LOG.warning("Streamlit %s has no %s.%s", st.__version__, module, name)
        return None


def load_for_first_run() -> None:
    """Load what a process's first run would load, while the browser loads its own part.

    That run also asks whether somebody types at a prompt, for which Python reads the source of
    every call on its stack: nobody does here. Needs `_use_warning_has_been_displayed` of
    `streamlit.delta_generator` and the names of icons; without them the first page comes later.
    """
    _inside("streamlit.material_icon_names", "ALL_MATERIAL_ICONS")
    name = "_use_warning_has_been_displayed"
    if _inside("streamlit.delta_generator", name) is not None:
        setattr(import_module("streamlit.delta_generator"), name, True)


def index_page() -> str:
    """Return the HTML page that every address answers with, for the hashes of its scripts.

    Needs `streamlit.file_util.get_static_dir`; without it the page is looked for where it has been
    for years.

    Raises:
        CannotServeError: there is none, so that no policy can let its script run and no other.
    """
    static = _inside("streamlit.file_util", "get_static_dir")
    folder = static() if static else Path(st.__file__).with_name("static")
    try:
        return Path(folder, "index.html").read_text(encoding="utf-8")
    except OSError:
        raise CannotServeError(f"has no static/index.html, {_UNPROTECTED}") from None


Place = tuple[int | str, ...]
"""Of a part of a page: its number within what it stands in, from the page down."""


class Drawn(NamedTuple):
    """What a message draws, or says of a page as a whole."""

    place: Place
    form: str
    """Which widget, which block, or an element that passes; empty where that is not said."""
    content: str
    """By which equal ones are told; empty where they are not."""
    acts: bool = False
    """Whether it does something each time that it comes: sets a field, opens a dialog."""


class Sent(NamedTuple):
    """What a message to the browser is: its kind, and what is read of one of that kind."""

    kind: str = ""
    session: str = ""
    page: str = ""
    """That a run is announced of; empty where it runs a part of one."""
    drawn: Drawn | None = None
    is_success: bool = False
    """Whether a run of a page has come to its end."""


BEGIN: Final = "new_session"
END: Final = "script_finished"
"""The kinds of a message with which a run begins and ends."""
PASSING: Final = "new_transient"
"""The form of what stands before an element, and is gone when the next run begins."""
ELEMENTS: Final = frozenset({"delta", "ref_hash"})
"""The kinds of one that draws something; the second names what the browser has of before."""


def read_sent(data: bytes) -> Sent:
    """Return what a message to the browser is; nothing for what is no such message.

    Needs `ForwardMsg`. Without it every message leaves at once, so that a page is painted in three
    parts; and no session is known to be anybody's, so that none is joined again or given a file.
    Without its hash, or the run in its metadata, all of a page is sent at each run.
    """
    form = _inside("streamlit.proto.ForwardMsg_pb2", "ForwardMsg")
    message = _parsed(form, data)
    if message is None:
        return Sent()
    kind = message.WhichOneof("type") or ""
    if kind == BEGIN:
        parts = _at(message, "metadata.run.fragment_ids")
        page = "" if parts is None or parts else _at(message, "new_session.page_script_hash")
        return Sent(kind, str(_at(message, "new_session.initialize.session_id") or ""), page or "")
    if kind == END:
        is_success = message.script_finished == form.FINISHED_SUCCESSFULLY
        return Sent(kind, is_success=is_success)
    content = str(_at(message, "ref_hash") or _at(message, "hash") or "")
    if kind in ELEMENTS:
        return Sent(kind, drawn=_read_drawn(message, content))
    return Sent(kind, drawn=Drawn((kind,), kind, content) if kind == "navigation" else None)


def _read_drawn(message: Any, content: str) -> Drawn:
    """Return what a message draws."""
    place, delta = tuple(message.metadata.delta_path), message.delta
    form = str(delta.WhichOneof("type") or "")
    acts = form == PASSING
    if form == "new_element":
        element = delta.new_element
        widget = getattr(element, element.WhichOneof("type") or "", None)
        form = f"{form} {getattr(widget, 'id', '')}"
        acts = bool(getattr(element, "has_one_shot_effect", False))
    elif form == "add_block":
        form = str(delta.add_block.WhichOneof("type") or form)
        if form == "dialog":  # another dialog takes nothing over, and each opens when it comes
            form, acts = f"{form} {delta.add_block.id}", True
    return Drawn(place, form, content, acts)


def as_part_of_page(data: bytes) -> bytes:
    """Return the message that ends the run of a page as that of a part of it, without a name.

    The browser then keeps what no message of the run drew. Needs what `read_sent` finds a page by.
    """
    message = _parsed(_inside("streamlit.proto.ForwardMsg_pb2", "ForwardMsg"), data)
    message.metadata.run.fragment_ids.append("changes")
    return bytes(message.SerializeToString())


class Asked(NamedTuple):
    """What a browser's message asks for, and how much it names and brings along."""

    kind: str
    operation: str
    names: tuple[str, ...]
    """A page, a part, a hash, a file: all that Streamlit quotes where it does not know it."""
    files: tuple[str, ...]
    query: str
    widgets: int
    hashes: int


def read_asked(data: bytes) -> Asked | None:
    """Return what a browser's message asks for; None for what is no message.

    Needs `BackMsg`, see `require_messages`. Of a field that a release has no more nothing can come.
    """
    message = _parsed(_inside("streamlit.proto.BackMsg_pb2", "BackMsg"), data)
    if message is None:
        return None
    hashes = tuple(_at(message, "rerun_script.cached_message_hashes") or ())
    operation = _at(message, "backend_operation_request")
    return Asked(
        message.WhichOneof("type") or "",
        (operation.WhichOneof("payload") or "") if operation else "",
        (*(str(_at(message, path) or "") for path in _NAMES), *hashes),
        tuple(_at(message, "file_urls_request.file_names") or ()),
        str(_at(message, "rerun_script.query_string") or ""),
        len(_at(message, "rerun_script.widget_states.widgets") or ()),
        len(hashes),
    )


_NAMES: Final = (
    *("rerun_script.page_name", "rerun_script.page_script_hash", "rerun_script.fragment_id"),
    *("backend_operation_request.request_id", "backend_operation_request.session_id"),
    "backend_operation_request.deferred_file.file_id",
)


def require_messages() -> None:
    """Return where a browser's messages can be read.

    Raises:
        CannotServeError: they cannot: what a page has no use for could not be kept out.
    """
    form = _inside("streamlit.proto.BackMsg_pb2", "BackMsg")
    if form is None or "rerun_script" not in form.DESCRIPTOR.fields_by_name:
        raise CannotServeError(f"has no BackMsg with a rerun_script, {_UNPROTECTED}")


def can_drop_files() -> bool:
    """Return whether handed-over files can be let go of; where not, the wall takes none.

    Needs the `uploaded_file_mgr` of the `Runtime`: a `MemoryUploadedFileManager` with
    `file_storage` and `remove_file`.
    """
    runtime = _inside("streamlit.runtime", "Runtime")
    manager = _inside("streamlit.runtime.memory_uploaded_file_manager", "MemoryUploadedFileManager")
    return (
        hasattr(runtime, "uploaded_file_mgr")
        and manager is not None
        and hasattr(manager, "remove_file")
        and isinstance(getattr(manager("/"), "file_storage", None), Mapping)
    )


def held_files() -> dict[tuple[str, str], int]:
    """Return the bytes of each file that is held, by session and file."""
    return {
        (session, file): len(record.data)
        for session, files in list(_file_manager().file_storage.items())
        for file, record in list(files.items())
    }


def drop_file(session: str, file: str) -> None:
    """Let go of a file."""
    _file_manager().remove_file(session, file)


def _file_manager() -> Any:
    return import_module("streamlit.runtime").Runtime.instance().uploaded_file_mgr


def _parsed(form: Any, data: bytes) -> Any:
    """Return a message of that form; None where the bytes are none, or there is no such form."""
    if form is None:
        return None
    try:
        return form.FromString(data)
    except DecodeError:
        return None


def _at(message: Any, path: str) -> Any:
    """Return what stands at a path of a message; None where a release has no such field."""
    for name in path.split("."):
        message = getattr(message, name, None)
    return message
