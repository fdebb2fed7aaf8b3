"""Thirty people editing at once by raw web sockets, compared with a stock app."""

import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.measuring import hold
from tests.bench.test_pages import STOCK
from tests.browser.driving import APP, AppServer

pytestmark = pytest.mark.bench

PEOPLE: Final = 30
EDITS: Final = 15
THINK_SECONDS: Final = 1.0


class PageSession:
    """A visitor on one page: its address, and the id and fragment of each widget by its label."""

    def __init__(self, socket: ClientConnection, page: str, query: str) -> None:
        self.socket, self.page, self.query = socket, page, query
        self.fields: dict[str, tuple[str, str]] = {}

    async def run(self, label: str = "", value: float = 0.0) -> float:
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.query_string = self.query
        if label:
            state = message.rerun_script.widget_states.widgets.add()
            state.id, message.rerun_script.fragment_id = self.fields[label]
            state.double_value = value
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        async for received in self.socket:
            assert isinstance(received, bytes)
            if self._ends(ForwardMsg.FromString(received)):
                return time.perf_counter() - began
        raise AssertionError("the server closed the session")

    def _ends(self, message: ForwardMsg) -> bool:
        element = message.delta.new_element
        assert not element.HasField("exception"), element.exception.message
        drawn = getattr(element, element.WhichOneof("type") or "", None)
        if label := getattr(drawn, "label", ""):
            self.fields[label] = (getattr(drawn, "id", ""), message.delta.fragment_id)
        if message.WhichOneof("type") == "page_info_changed":
            self.query = message.page_info_changed.query_string
        early = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        return message.WhichOneof("type") == "script_finished" and not early


@asynccontextmanager
async def visiting(server: AppServer, page: str, query: str = "") -> AsyncIterator[PageSession]:
    async with connect(
        f"ws://127.0.0.1:{server.port}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]  # a plain name is a subprotocol
        origin=server.url,  # type: ignore[arg-type]  # a plain address is an origin
        max_size=None,
    ) as socket:
        session = PageSession(socket, page, query)
        await session.run()
        yield session


async def edit(session: PageSession, label: str, times: int, seed: int) -> list[float]:
    chance, taken = random.Random(seed), []
    for turn in range(times):
        await asyncio.sleep(THINK_SECONDS * (0.5 + chance.random()))
        taken.append(await session.run(label, 100.0 + turn))
    return taken


async def crowd(server: AppServer, page: str, label: str) -> tuple[list[float], float]:
    async with AsyncExitStack() as stack:
        people = [await stack.enter_async_context(visiting(server, page, "study=fin_momentum"))]
        await edit(people[0], label, 3, 0)
        first = server.resident_mib
        people += [
            await stack.enter_async_context(visiting(server, page, "study=fin_momentum"))
            for _ in range(PEOPLE - 1)
        ]
        times = await asyncio.gather(
            *(edit(person, label, EDITS, n) for n, person in enumerate(people))
        )
        grown = (server.resident_mib - first) / (PEOPLE - 1)
    return [taken for time in times for taken in time[2:]], grown


def test_thirty_people_editing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stock = tmp_path / "stock.py"
    stock.write_text(STOCK)
    with AppServer(stock, tmp_path / "stock.log") as server:
        blank, _ = asyncio.run(crowd(server, "", "Number"))
    with AppServer(APP, tmp_path / "ours.log") as server:
        full, grown = asyncio.run(crowd(server, "Protocol", "Sample size"))
        assert "Traceback" not in server.tail(2000)
    slow, slow_blank = (statistics.quantiles(times, n=20)[-1] for times in (full, blank))
    detail = f"{slow * 1000:.0f} ms to {slow_blank * 1000:.0f} ms"
    hold(capsys, "thirty people, p95", slow / slow_blank, detail)
    hold(capsys, "a further session, MiB", grown)
