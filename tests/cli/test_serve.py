"""``serve`` and standard streams: dashboard, ports, ``-`` for standard input or output."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from http.client import HTTPConnection
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Final

import pytest

from replicalab.__main__ import run
from replicalab.limits import MOST_FILE_BYTES
from replicalab.scenarios import LabOverrides, lab_json, study_text
from tests.browser.driving import HOST, free_port
from tests.cli.asking import Asking, started


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
    assert f"port {port} cannot be had (Address already in use)" in answer.err
    assert "--port" in answer.err.partition(";")[2]
    assert f"port {port} cannot be had" in capsys.readouterr().err
    assert ask("serve --help").out.startswith("Usage: replicalab serve")


STUDY: Final = "psy_stroop"
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
