"""The worst that one session may send, and how long it delays what another one edits."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable, Coroutine
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from replicalab.models import LARGEST_PLANNED, MOST_LABELS, revise
from replicalab.negotiation.loading import MOST_BYTES
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.scenarios.reading import MAX_BYTES
from replicalab.server.messages import MOST_WIDGETS
from replicalab.ui.address import to_query
from replicalab.ui.scenarios.gallery import MAKE, TABS
from replicalab.ui.study_form import ADVANCED, PARTS_KEY
from replicalab.ui.workspace import Workspace
from tests.bench.chattering import SENT
from tests.bench.measuring import hold
from tests.bench.sessions import Session, visiting
from tests.browser.driving import APP, AppServer

pytestmark = [pytest.mark.bench, pytest.mark.page]

EDITS: Final = 25
THINK_SECONDS: Final = 0.1
OPENER: Final = "Open a saved negotiation or a recording"
EDITOR: Final = "Study file (YAML)"
START: Final = "Start the form"

Attack = Callable[[AppServer], Coroutine[None, None, None]]


def dearest_link(samples: int = LARGEST_PLANNED) -> str:
    """Return an address whose plan has as many, and as dear, parts as a plan may have."""
    pack = load_scenario("fin_momentum", "hard")
    plan = pack.reference_protocol
    plan = revise(
        plan,
        sample_size=samples,
        duration_days=LARGEST_PLANNED,
        controls=(plan.controls * MOST_LABELS)[:MOST_LABELS],
        required_equipment=[f"instrument number {n}" for n in range(MOST_LABELS)],
        required_reagents=[f"reagent number {n}" for n in range(MOST_LABELS)],
    )
    work = Workspace().changed(
        study=pack.scenario_id, lab=Difficulty.HARD, plan=plan, max_rounds=12
    )
    return urlencode(to_query(work))


async def _pages(server: AppServer) -> None:
    """Draw one page after the other with the dearest plan, without a pause."""
    while True:
        for page in ("Protocol", "Negotiation", "Trade-offs"):
            async with visiting(server, page, dearest_link()):
                pass


async def _negotiations(server: AppServer) -> None:
    """Play one dear negotiation after the other in one session, which keeps them."""
    async with visiting(server, "Negotiation") as session:
        for samples in count(LARGEST_PLANNED, -1):
            session.query = dearest_link(samples)
            await session.run()
            await asyncio.sleep(1.1)  # an address that comes sooner is taken for our own


async def _studies(server: AppServer) -> None:
    """Type study files of the largest size that is read."""
    texts = (
        "\n".join(f"k{n}: 1" for n in range(MAX_BYTES // 10)),
        f"[{'a,' * (MAX_BYTES // 2 - 2)}]",
        "\n" * (MAX_BYTES - 1) + "a",
        f"x: {'y' * (MAX_BYTES - 4)}",
    )
    async with visiting(server, "") as session:
        await session.run({TABS: MAKE})
        await session.run({TABS: MAKE, START: True})
        await session.run({TABS: MAKE, PARTS_KEY: ADVANCED})
        while True:
            for text in texts:
                await session.run({TABS: MAKE, PARTS_KEY: ADVANCED, EDITOR: text})


async def _runs(server: AppServer) -> None:
    """Open saved runs of the largest size that is read."""
    texts = (
        '{"format":2,"setup":null,"turns":' + json.dumps(["x"] * (MOST_BYTES // 6)) + "}",
        '{"format":2,"setup":null,"turns":' + json.dumps([{}] * (MOST_BYTES // 5)) + "}",
        json.dumps({f"k{n}": 1 for n in range(MOST_BYTES // 14)}),
    )
    while True:
        for text in texts:
            async with visiting(server, "Negotiation") as session:
                value = await session.hand_over(server, OPENER, text)
                await session.run({OPENER: value})


def _packed(widgets: int, size: int) -> bytes:
    message = BackMsg()
    message.rerun_script.page_name = "Protocol"
    for number in range(widgets):
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.string_value = f"$$ID-{number:032x}-None", "x" * size
    return bytes(message.SerializeToString())


async def _messages(server: AppServer) -> None:
    """Run a page with the most, and the longest, values of widgets that it does not have."""
    packed = _packed(MOST_WIDGETS, 3000)
    async with visiting(server, "Protocol") as session:
        while True:
            await session.socket.send(packed)
            await session.finished()


async def _flood(server: AppServer) -> None:
    """Ask for runs without waiting for one, and for what is too much for a run."""
    small, much = _packed(1, 1), _packed(30_000, 1)
    async with visiting(server, "Protocol") as session:
        while True:
            for _ in range(100):
                await session.socket.send(small)
            await session.socket.send(much)
            await asyncio.sleep(0)  # the one who edits lives in this loop too


async def _model(server: AppServer, sent: str) -> None:
    """Test the connection to a model's server that chatters, again and again."""
    command = (sys.executable, "-m", "tests.bench.chattering", sent)
    chatter = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert chatter.stdin
    assert chatter.stdout
    try:
        url = (await chatter.stdout.readline()).decode().strip()
        async with visiting(server, "Negotiation", "scientist=model") as session:
            await session.run({"Base URL": url})
            typed = {"Base URL": url, "Model": "m"}
            await session.run(typed)
            while True:
                await session.run({**typed, "Test the connection": None})
    finally:
        chatter.stdin.close()
        await chatter.wait()


async def _edits(session: Session) -> list[float]:
    times = []
    for turn in range(EDITS):
        await asyncio.sleep(THINK_SECONDS)
        times.append(await session.run({"Sample size": 100.0 + turn}))
    return times[2:]


async def _edits_beside(server: AppServer, attack: Attack | None) -> list[float]:
    async with visiting(server, "Protocol") as session:
        attacking = asyncio.create_task(attack(server)) if attack else None
        times = await _edits(session)
        if attacking:
            assert not attacking.done(), attacking.exception()
            attacking.cancel()
            await asyncio.wait([attacking])
        return times


ATTACKS: Final[dict[str, Attack]] = {
    "pages": _pages,
    "negotiations": _negotiations,
    "studies": _studies,
    "runs": _runs,
    "messages": _messages,
    **{f"a model's {sent} answer": partial(_model, sent=sent) for sent in SENT},
    "a flood": _flood,
}
"""The flood comes last: Streamlit logs a traceback when its socket is cut off later."""


def test_worst_input_of_one_session_delays_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with AppServer(APP, tmp_path / "server.log") as server:
        quiet = statistics.median(asyncio.run(_edits_beside(server, None)))
        for name, attack in ATTACKS.items():
            worst = max(asyncio.run(_edits_beside(server, attack)))
            detail = f"{name}: {worst * 1000:.0f} ms, alone {quiet * 1000:.0f} ms"
            hold(capsys, "a stranger delays an edit by, s", worst - quiet, detail)
        assert "Traceback" not in server.tail(2000)
