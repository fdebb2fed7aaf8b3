"""What the tests of the server ask, and as whom."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from streamlit.proto.BackMsg_pb2 import BackMsg

from replicalab.server.visitor import VISITOR_COOKIE

HOST: Final = "localhost:8501"
OWN: Final = f"http://{HOST}"
STREAM: Final = f"ws://{HOST}/_stcore/stream"
TOKEN: Final = "A" * 43
VISITOR: Final = {"origin": OWN, "cookie": f"{VISITOR_COOKIE}={TOKEN}"}
NOBODY: Final = "nobody"
"""A session that there is not."""

_R = TypeVar("_R")


def rerun(widgets: int = 1) -> bytes:
    """Return a message that asks for a run, with the values of so many widgets."""
    message = BackMsg()
    for number in range(widgets):
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.int_value = f"widget {number}", number
    return bytes(message.SerializeToString())


def awaited(work: Coroutine[Any, Any, _R]) -> _R:
    """Return its result, from a thread of its own: a browser may have left a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
