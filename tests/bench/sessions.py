"""Raw web socket sessions: the server's part of a visit, without a browser."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html import unescape
from http.cookiejar import CookieJar
from typing import Final
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.browser.driving import AppServer

_TAG: Final = re.compile(r"<[^>]*>")
_TOKEN: Final = "_streamlit_xsrf"


class Session:
    """A visitor on one page.

    Attributes:
        query: its address, as a browser's follows what the page makes of it; an old one would be
            taken for one that the visitor went back to.
        fields: the ids of the page's widgets, by label, as far as they were drawn; those of its
            tabs, whose value is the name of the open one, by their keys.
        messages: how many messages the last run sent.
        drawn: the HTML on the page by its place, without its tags; a run sends what has changed.
    """

    def __init__(self, socket: ClientConnection, page: str, query: str = "") -> None:
        self.socket = socket
        self.page = page
        self.query = query
        self.fields: dict[str, str] = {}
        self.messages = 0
        self.drawn: dict[tuple[int, ...], str] = {}
        self._seen: set[tuple[int, ...]] = set()
        self._id = ""

    async def run(self, values: Mapping[str, object] | None = None) -> float:
        """Run the page with these values of widgets, by label; return the seconds that it took."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.query_string = self.query
        for label, value in (values or {}).items():
            state = message.rerun_script.widget_states.widgets.add()
            state.id = self.fields[label]
            match value:
                case str():
                    state.string_value = value
                case float():
                    state.double_value = value
                case bytes():
                    state.file_uploader_state_value.ParseFromString(value)
                case _:
                    state.trigger_value = True
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        await self.finished()
        return time.perf_counter() - began

    async def finished(self) -> None:
        """Read what the server sends until a run ends."""
        await self._until("script_finished")

    async def _until(self, kind: str) -> ForwardMsg:
        """Read what the server sends until a message of that kind, and return it."""
        self.messages = 0
        async for received in self.socket:
            assert isinstance(received, bytes)
            message: ForwardMsg = ForwardMsg.FromString(received)
            self.messages += 1
            self._learn(message)
            early = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if message.WhichOneof("type") == kind and not early:
                return message
        raise AssertionError("the server closed the session")

    def _learn(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        assert not element.HasField("exception"), element.exception.message
        drawn = getattr(element, element.WhichOneof("type") or "", None)
        place = tuple(message.metadata.delta_path)
        self._seen.add(place)
        if body := element.html.body:
            self.drawn[place] = unescape(_TAG.sub("", body))
        elif message.WhichOneof("type") == "delta":
            self.drawn.pop(place, None)
        if message.WhichOneof("type") == "new_session":
            self._seen.clear()
        ends = message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        ends = ends and message.WhichOneof("type") == "script_finished"
        if ends and not message.metadata.run.fragment_ids:
            self.drawn = {at: text for at, text in self.drawn.items() if at in self._seen}
        if label := getattr(drawn, "label", ""):
            self.fields[label] = getattr(drawn, "id", "")
        if tabs := message.delta.add_block.tab_container.id:
            self.fields[tabs.rsplit("-", 1)[-1]] = tabs
        if message.WhichOneof("type") == "page_info_changed":
            self.query = message.page_info_changed.query_string
        self._id = message.new_session.initialize.session_id or self._id

    async def hand_over(self, server: AppServer, label: str, text: str) -> bytes:
        """Upload a file as the browser does, and return the value of that uploader."""
        message = BackMsg()
        request = message.file_urls_request
        request.request_id, request.session_id = uuid.uuid4().hex, self._id
        request.file_names.append("file.json")
        await self.socket.send(message.SerializeToString())
        answer = await self._until("file_urls_response")
        [urls] = answer.file_urls_response.file_urls
        await asyncio.to_thread(_put, server.url, urls.upload_url, text)
        state = message.rerun_script.widget_states.widgets.add().file_uploader_state_value
        info = state.uploaded_file_info.add()
        info.name, info.size, info.file_id = "file.json", len(text), urls.file_id
        info.file_urls.CopyFrom(urls)
        return bytes(state.SerializeToString())


def _put(site: str, path: str, text: str) -> None:
    jar = CookieJar()
    opener: OpenerDirector = build_opener(HTTPCookieProcessor(jar))
    opener.open(f"{site}/_stcore/health").close()
    token = next(cookie.value for cookie in jar if cookie.name == _TOKEN)
    edge = uuid.uuid4().hex
    body = (
        f"--{edge}\r\nContent-Disposition: form-data; name=f; filename=file.json\r\n\r\n"
        f"{text}\r\n--{edge}--\r\n"
    )
    kind = f"multipart/form-data; boundary={edge}"
    headers = {"Content-Type": kind, "X-Xsrftoken": token or "", "Origin": site}
    request = Request(f"{site}/{path.lstrip('/')}", body.encode(), headers, method="PUT")
    opener.open(request).close()


@asynccontextmanager
async def visiting(server: AppServer, page: str, query: str = "") -> AsyncIterator[Session]:
    """Open a page in a session of its own."""
    address = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    async with connect(
        address,
        subprotocols=["streamlit"],  # type: ignore[list-item]  # a plain name is a subprotocol
        origin=server.url,  # type: ignore[arg-type]  # a plain address is an origin
        max_size=None,
    ) as socket:
        session = Session(socket, page, query)
        await session.run()
        yield session
