"""Thirty people editing at once.

Each is a raw web socket session that types a number, waits for the run to end, thinks for a
second and types again: the server's part of an edit, without a browser. The stock app stands
under the same load in the same run.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from pathlib import Path
from typing import Final

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.measuring import hold
from tests.bench.test_pages import STOCK
from tests.browser.driving import APP, AppServer

pytestmark = [pytest.mark.bench, pytest.mark.page]

PEOPLE: Final = 30
EDITS: Final = 15
THINK_SECONDS: Final = 1.0


class Person:
    """One session that edits a number field."""

    def __init__(self, socket: ClientConnection, page: str, label: str) -> None:
        self._socket = socket
        self._page = page
        self._label = label
        self._field = ""
        self.times: list[float] = []

    async def open(self) -> None:
        await self._run(None)
        assert self._field, f"no field '{self._label}' on the page"

    async def edit(self, times: int, seed: int) -> None:
        chance = random.Random(seed)
        for turn in range(times):
            await asyncio.sleep(THINK_SECONDS * (0.5 + chance.random()))
            began = time.perf_counter()
            await self._run(100 + turn)
            self.times.append(time.perf_counter() - began)

    async def _run(self, value: int | None) -> None:
        message = BackMsg()
        message.rerun_script.page_name = self._page
        if value is not None:
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.double_value = self._field, float(value)
        await self._socket.send(message.SerializeToString())
        async for received in self._socket:
            assert isinstance(received, bytes)
            if self._is_the_end(ForwardMsg.FromString(received)):
                return
        raise AssertionError("the server closed the session")

    def _is_the_end(self, message: ForwardMsg) -> bool:
        element = message.delta.new_element
        assert not element.HasField("exception"), element.exception.message
        if element.number_input.label == self._label:
            self._field = element.number_input.id
        if message.WhichOneof("type") != "script_finished":
            return False
        return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN


async def crowd(server: AppServer, page: str, label: str) -> tuple[list[float], float]:
    """Return the seconds of every edit, and the MiB that each session beyond the first took."""
    address = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    people: list[Person] = []
    sockets = []
    first = 0.0
    for number in range(PEOPLE):
        socket = await connect(address, subprotocols=["streamlit"], max_size=None)  # type: ignore[list-item]  # a plain name is a subprotocol
        sockets.append(socket)
        person = Person(socket, page, label)
        await person.open()
        people.append(person)
        if number == 0:
            await person.edit(3, 0)
            first = server.resident_mib
    await asyncio.gather(*(person.edit(EDITS, n) for n, person in enumerate(people)))
    grown = (server.resident_mib - first) / (PEOPLE - 1)
    for socket in sockets:
        await socket.close()
    return [taken for person in people for taken in person.times[2:]], grown


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
