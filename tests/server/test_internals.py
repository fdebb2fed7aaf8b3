"""A Streamlit that lacks one of the names that it never promised: what is lost, and what is not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
import streamlit as st
from starlette.testclient import TestClient
from streamlit import delta_generator, file_util, runtime
from streamlit.proto import BackMsg_pb2, ForwardMsg_pb2
from streamlit.runtime import memory_uploaded_file_manager as files

from replicalab import server
from replicalab.server import internals, wall
from replicalab.server.internals import CannotServeError, Sent, read_sent
from replicalab.ui import startup
from tests.server.asking import OWN, STREAM, TOKEN, VISITOR, rerun
from tests.server.test_messages import message
from tests.ui.pages import SCENARIOS
from tests.ui.walking import visit

ROOT: Final = Path(__file__).parents[2]
Lacks = Callable[[ModuleType, str], None]


@pytest.fixture
def lacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lacks]:
    """Take a name out of a module of Streamlit's."""

    def remove(module: ModuleType, name: str) -> None:
        monkeypatch.delattr(module, name)
        internals._inside.cache_clear()  # noqa: SLF001 - as a new process has looked for nothing

    yield remove
    monkeypatch.undo()
    internals._inside.cache_clear()  # noqa: SLF001


def built() -> wall.Wall:
    """Return the wall as `app.py` has it built."""

    async def nothing(*_: object) -> None:
        raise AssertionError

    server.middleware(startup)
    return wall.Wall(nothing, startup)


def test_page_without_the_folder_of_streamlits_files_has_the_same_policy(lacks: Lacks) -> None:
    before = wall.fixed_headers()
    lacks(file_util, "get_static_dir")
    assert wall.fixed_headers() == before


def test_wall_without_the_page_that_it_guards_is_not_built(
    lacks: Lacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks(file_util, "get_static_dir")
    monkeypatch.setattr(st, "__file__", "/nowhere/__init__.py")
    with pytest.raises(CannotServeError, match=r"has no static/index\.html.*requirements\.txt"):
        built()


@pytest.mark.parametrize(
    ("version", "is_too_old"),
    [("1.66.1", True), ("0.99", True), ("1.67.0", False), ("1.67.0rc1", False), ("2.0", False)],
)
def test_streamlit_that_is_too_old_is_named_with_the_oldest_that_serves(
    monkeypatch: pytest.MonkeyPatch, version: str, is_too_old: bool
) -> None:
    monkeypatch.setattr(st, "__version__", version)
    if not is_too_old:
        internals.require_version()
        return
    with pytest.raises(CannotServeError, match=rf"Streamlit {version} is too old.*need 1\.67 or"):
        internals.require_version()


def test_first_run_looks_for_no_prompt(lacks: Lacks, monkeypatch: pytest.MonkeyPatch) -> None:
    """And runs in a release that has no such question, too."""
    asked = "_use_warning_has_been_displayed"
    monkeypatch.setattr(delta_generator, asked, False)
    internals.load_for_first_run()
    assert getattr(delta_generator, asked) is True
    lacks(delta_generator, asked)
    internals.load_for_first_run()
    assert not hasattr(delta_generator, asked)


def test_wall_that_can_read_no_message_of_a_browser_is_not_built(lacks: Lacks) -> None:
    lacks(BackMsg_pb2, "BackMsg")
    with pytest.raises(CannotServeError, match="has no BackMsg with a rerun_script"):
        built()


def test_messages_leave_at_once_where_their_kind_cannot_be_read(lacks: Lacks) -> None:
    assert read_sent(message("delta")["bytes"]).kind == "delta"
    lacks(ForwardMsg_pb2, "ForwardMsg")
    assert read_sent(message("delta")["bytes"]) == Sent()


def test_files_are_refused_where_sessions_cannot_be_told_apart(
    client: TestClient, lacks: Lacks
) -> None:
    lacks(ForwardMsg_pb2, "ForwardMsg")
    with client.websocket_connect(f"{STREAM}?begins=one", headers=VISITOR) as socket:
        socket.receive_bytes()
        socket.send_bytes(sent := rerun())
        assert socket.receive_bytes() == sent, "a page runs"
        path = "/_stcore/upload_file/one/file"
        assert client.put(path, content=b"x", headers=VISITOR).status_code == 403


@pytest.mark.parametrize(
    "lacking", ["MemoryUploadedFileManager", "remove_file", "uploaded_file_mgr"]
)
def test_files_are_refused_where_none_could_be_let_go_of(lacks: Lacks, lacking: str) -> None:
    owners: tuple[Any, ...] = (files, files.MemoryUploadedFileManager, runtime.Runtime)
    lacks(next(owner for owner in owners if hasattr(owner, lacking)), lacking)
    refusal = built()._uploads.refused()  # noqa: SLF001 - with a file, the whole app would be asked
    assert refusal is not None
    assert "No file can be opened here" in refusal.reason


def test_page_that_came_past_the_wall_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"Host": "localhost:8501"}
    monkeypatch.setattr(type(st.context), "headers", property(lambda _: asked))
    app = visit(SCENARIOS)
    assert [box.value.split(",")[0] for box in app.error] == ["Nothing protects the pages here"]
    assert not app.button
    asked[wall.MARK.title()] = "passed"
    assert visit(SCENARIOS).button


def test_session_of_another_visitor_is_never_sent(client: TestClient) -> None:
    """However a newer front end asked for it: here by its address."""
    with client.websocket_connect(f"{STREAM}?begins=one", headers=VISITOR) as socket:
        socket.receive_bytes()
    other = {"origin": OWN, "cookie": VISITOR["cookie"].replace(TOKEN, "B" * 43)}
    with client.websocket_connect(f"{STREAM}?begins=one", headers=other) as socket:
        assert socket.receive()["code"] == 1008


def test_one_module_names_streamlits_inside() -> None:
    private = ("streamlit.proto", "streamlit.runtime", "streamlit.web", "streamlit.file_util")
    naming = {
        file.relative_to(ROOT).as_posix()
        for file in [*ROOT.glob("replicalab/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
        for node in ast.walk(ast.parse(file.read_text()))
        if (isinstance(node, ast.Constant) and str(node.value).startswith(private))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(private))
        or (isinstance(node, ast.Import) and node.names[0].name.startswith(private))
    }
    assert naming == {"replicalab/server/internals.py"}


NAMED: Final = """
    streamlit.file_util.get_static_dir
    streamlit.proto.BackMsg_pb2.BackMsg
    streamlit.proto.ForwardMsg_pb2.ForwardMsg
    streamlit.runtime.Runtime
    streamlit.runtime.memory_uploaded_file_manager.MemoryUploadedFileManager
""".split()


@pytest.mark.parametrize("named", NAMED)
def test_streamlit_that_is_pinned_has_every_name(named: str) -> None:
    module, _, name = named.rpartition(".")
    assert hasattr(import_module(module), name)
