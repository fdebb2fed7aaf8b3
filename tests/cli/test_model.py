"""A language model in commands; serving; and standard input and output."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Lock
from typing import Final, cast

import pytest

from replicalab.__main__ import run
from replicalab.limits import MOST_FILE_BYTES
from replicalab.negotiation import ScientistKind, load, replay
from replicalab.scenarios import LabOverrides, lab_json, load_scenario, study_text
from tests.browser.driving import HOST, free_port
from tests.cli.asking import Asking, started
from tests.cli.test_commands import rows_of
from tests.features.language_model import serving
from tests.negotiation.playing import ACCEPT, propose, said
from tests.tiers import one_in

STUDY: Final = "psy_stroop"
PACK: Final = load_scenario(STUDY, "medium")
PROPOSAL: Final = said(propose(PACK.reference_protocol))
USAGE: Final = {"prompt_tokens": 2000, "completion_tokens": 300}
PLAYS: Final = f"negotiate {STUDY} --scientist model"
RUNS: Final = f"batch {STUDY} --lab medium --seeds 0-3 --scientist model"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[serving.Server], None]:
    for name in ("TIMEOUT", "MAX_TOKENS", "ALLOWED"):
        monkeypatch.delenv(f"REPLICALAB_LLM_{name}", raising=False)

    def set_it(server: serving.Server) -> None:
        names = {"BASE_URL": server.url, "MODEL": "m-1", "API_KEY": serving.CANARY}
        for name, value in names.items():
            monkeypatch.setenv(f"REPLICALAB_LLM_{name}", value)

    return set_it


At = Callable[[serving.Server], None]


def playing(exchange: serving.Exchange) -> None:
    messages = cast("list[dict[str, str]]", exchange.received.body["messages"])
    offered = "The Lab Manager's standing offer" in messages[-1]["content"]
    serving.streamed(said(ACCEPT) if offered else PROPOSAL, usage=USAGE)(exchange)


def waiting(exchange: serving.Exchange) -> None:
    exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    exchange.drip(serving.event(serving.piece(" ")), 0.05)


def test_model_plays_and_its_tokens_are_counted(ask: Asking, at: At) -> None:
    with serving.serve(playing) as server:
        at(server)
        answer = ask(f"{PLAYS} --save talk.json")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.strip() for line in answer.out.splitlines()]
    assert lines[1] == "Scientist: Language model (m-1). Lab Manager: Reference."
    assert any(line.startswith("Round 2: accepts") for line in lines)
    [spent] = [line for line in lines if "tokens" in line]
    assert spent.startswith("2 rounds, 4,000 tokens sent, 600 received, ")
    assert "Saved: talk.json" in lines
    assert "Regret 5.75, 0 is optimal. Evidence: 0.97 instead of 1.00." in answer.out
    transcript = load(Path("talk.json").read_text())
    assert transcript.recording
    assert transcript.recording.settings.model == "m-1"
    assert replay(transcript, PACK).rounds
    assert ask(f"negotiate {STUDY} --replay talk.json").code == 0
    assert serving.CANARY not in Path("talk.json").read_text() + answer.out


def test_failure_after_a_round_keeps_the_rounds(ask: Asking, at: At) -> None:
    refusal = serving.failing(401, {"error": {"message": serving.CANARY}})
    with serving.serve(playing, refusal) as server:
        at(server)
        answer = ask(f"{PLAYS} --save talk.json")
    assert answer.code == 2
    assert "refused the key (401); check REPLICALAB_LLM_API_KEY" in answer.err
    assert "Stopped after 1 round, the language model failed." in answer.out
    assert "Saved: talk.json" in answer.out
    assert "Regret" not in answer.out
    transcript = load(Path("talk.json").read_text())
    assert len(transcript.moves) == 1
    assert serving.CANARY not in answer.out + answer.err + Path("talk.json").read_text()


def test_unwritable_file_is_refused_before_a_call(ask: Asking, at: At) -> None:
    Path("folder").mkdir()
    with serving.serve(playing) as server:
        at(server)
        saves = "missing/talk.json", "folder", "missing/all.csv"
        for line in (f"{command} --save {path}" for command in (PLAYS, RUNS) for path in saves):
            answer = ask(line)
            assert (answer.code, answer.out) == (2, "")
            assert "cannot be written" in answer.err
    assert server.received == []
    assert [*Path().iterdir()] == [Path("folder")]


POSIX: Final = pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")


@pytest.fixture
def command(at: At) -> Iterator[Callable[[serving.Server, str], subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []

    def start(server: serving.Server, line: str) -> subprocess.Popen[str]:
        at(server)
        running.append(started(line, start_new_session=True))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def received(server: serving.Server, number: int) -> None:
    until = time.monotonic() + 30
    while len(server.received) < number:
        assert time.monotonic() < until
        time.sleep(0.02)


Command = Callable[[serving.Server, str], subprocess.Popen[str]]


@POSIX
@pytest.mark.parametrize("more", one_in(2, ["", "--json"]))
def test_stopped_negotiation_keeps_the_rounds(command: Command, tmp_path: Path, more: str) -> None:
    path = tmp_path / "talk.json"
    with serving.serve(playing, waiting) as server:
        process = command(server, f"{PLAYS} --save {path} {more}")
        received(server, 2)
        time.sleep(0.3)  # until the call is under way
        os.killpg(process.pid, signal.SIGINT)
        text, faults = process.communicate(timeout=60)
        assert server.left.wait(10)
    assert process.returncode == 130
    assert "Traceback" not in faults
    if more:
        assert json.loads(text)["stopped"] == "Stopped after 1 round, by Ctrl-C."
        assert json.loads(text)["score"] is None
    else:
        assert "Stopped after 1 round, by Ctrl-C." in text
        assert f"Saved: {path}" in text
    transcript = load(path.read_text())
    assert len(transcript.moves) == 1
    assert replay(transcript, PACK).rounds


def test_model_and_rule_play_a_batch(ask: Asking, at: At) -> None:
    with serving.serve(playing) as server:
        at(server)
        answer = ask(f"{RUNS} --scientist baseline --save all.csv")
    assert answer.code == 0
    lines = [line.strip() for line in answer.out.splitlines()]
    [regret] = [line.split() for line in lines if line.startswith("Language model   ")]
    assert regret == ["Language", "model", "4.93", "4", "–"]
    assert lines[-2].startswith("8 negotiations, 16,000 tokens sent, 2,400 received, ")
    assert lines[-1] == "Saved: all.csv"
    rows = rows_of(Path("all.csv"))
    assert Counter(row["scientist"] for row in rows) == {"model": 4, "baseline": 4}
    assert all(float(row["regret"]) > 0 for row in rows if row["scientist"] == "model")
    assert len(server.received) == 8


@POSIX
@pytest.mark.long
def test_stopped_batch_keeps_the_results(command: Command, tmp_path: Path) -> None:
    path, lock, calls = tmp_path / "some.csv", Lock(), list[int]()

    def tiring(exchange: serving.Exchange) -> None:
        with lock:
            calls.append(1)
            number = len(calls)
        (playing if number <= 6 else waiting)(exchange)

    with serving.serve(tiring) as server:
        process = command(server, f"{RUNS} --workers 1 --save {path}")
        received(server, 7)
        time.sleep(0.3)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        text, faults = process.communicate(timeout=60)
        assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert "Traceback" not in faults
    assert text.strip().startswith("Stopped: 3 of 4 negotiations are played.")
    assert [row["outcome"] for row in rows_of(path)] == ["agreed"] * 3
    assert {row["scientist"] for row in rows_of(path)} == {ScientistKind.MODEL.value}


def test_demo_is_served_opened_and_keeps_nothing(tmp_path: Path) -> None:
    browser, opened, folder = (tmp_path / name for name in ("browser", "opened", "data"))
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(browser), "REPLICALAB_DATA": str(folder)}
    port, deadline = free_port(), time.monotonic() + 60
    line = f"serve --demo --host demo.example.org --host {HOST} --port {port}"
    process = started(line, env=environment)
    while not opened.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    answers: dict[str, int] = {}
    for name in ("demo.example.org", "localhost"):
        with suppress(OSError), closing(HTTPConnection(HOST, port, timeout=30)) as connection:
            connection.request("GET", "/ready", headers={"Host": name})
            answers[name] = connection.getresponse().status
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert answers == {"demo.example.org": 200, "localhost": 400}, out + err
    assert opened.read_text() == f"http://{HOST}:{port}\n"
    assert f"http://{HOST}:{port}" in out
    assert "Traceback" not in out + err
    assert process.returncode == 1  # as in the help of all commands
    assert not folder.exists()


def test_taken_port_is_refused(
    ask: Asking, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        answer = ask(f"serve --port {port} --no-browser")
        monkeypatch.setattr(sys, "argv", ["/usr/bin/replicalab", "serve", f"--port={port}"])
        assert run() == 2
    assert (answer.code, answer.out) == (2, "")
    assert f"port {port} is not available (Address already in use)" in answer.err
    assert "--port" in answer.err.partition(";")[2]
    assert f"port {port} is not available" in capsys.readouterr().err
    assert ask("serve --help").out.startswith("Usage: replicalab serve")


Given = Callable[[bytes | str], None]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Given:
    def give(data: bytes | str) -> None:
        stored = data.encode() if isinstance(data, str) else data
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stored), encoding="ascii"))

    return give


def test_every_file_is_read_from_standard_input(ask: Asking, given: Given) -> None:
    ask(f"plan {STUDY} --save plan.json")
    ask(f"negotiate {STUDY} --save talk.json")
    Path("study.yaml").write_text(study_text(STUDY), encoding="utf-8")
    Path("lab.json").write_text(lab_json(LabOverrides(budget=5)))
    Path("items.csv").write_text("name,kind,state\nvoice-key booth,equipment,available\n")
    for line, file in (
        (f"check {STUDY} --plan {{}}", "plan.json"),
        (f"check {STUDY} --plan {{}}", "talk.json"),
        (f"compare {STUDY} --lab easy --lab hard --plan study --plan {{}}", "plan.json"),
        (f"check {STUDY} --lab {{}}", "lab.json"),
        (f"check {STUDY} --lab {{}}", "items.csv"),
        ("check {}", "study.yaml"),
        (f"negotiate {STUDY} --replay {{}}", "talk.json"),
    ):
        given(Path(file).read_bytes())
        streamed, named = ask(f"{line.format('-')} --json"), ask(f"{line.format(file)} --json")
        assert streamed.code == named.code, line
        assert streamed.out.replace("standard input", "plan") == named.out, line


def test_bad_standard_input_is_named(
    ask: Asking, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    for data, text in (
        (b"", "standard input: line 1: it is not JSON (it ends"),
        (b"\xff\xfe", "standard input: "),
        ("[1, 2]", "standard input: the file holds no plan; load a plan that was saved here"),
        (b" " * (MOST_FILE_BYTES + 1), "'standard input' has more than 6,291,456 bytes"),
    ):
        given(data)
        answer = ask(f"check {STUDY} --plan -")
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith(text)
    monkeypatch.setattr(sys, "stdin", None)
    answer = ask(f"check {STUDY} --plan -")
    assert answer.code == 2
    reason = "it is closed); name a file that exists and may be read"
    assert answer.err == f"'standard input' cannot be read ({reason}\n"


def test_standard_output_has_the_file_alone(ask: Asking) -> None:
    lines = (
        "lab {} --set own_lab.budget=5",
        "plan {}",
        "negotiate {}",
        "report {} --date 2026-01-31",
    )
    for line in (text.format(STUDY) for text in lines):
        streamed, named = ask(f"{line} --save -"), ask(f"{line} --save file.md")
        assert (streamed.code, streamed.err) == (named.code, named.err)
        assert streamed.out == Path("file.md").read_bytes().decode(), line
    assert not Path("-").exists()


def test_closed_pipe_ends_in_silence() -> None:
    with started(f"negotiate {STUDY} --save -") as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141
