"""``serve``: the dashboard is served and opened, and a port that cannot be had is told before."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from replicalab.__main__ import run
from tests.browser.driving import HOST, free_port
from tests.cli.asking import Asking, started


def test_dashboard_is_served_and_opened(tmp_path: Path) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    port = free_port()
    process = started(f"serve --port {port}", env={**os.environ, "BROWSER": str(browser)})
    deadline = time.monotonic() + 60
    while not opened.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert opened.exists(), out + err
    assert opened.read_text() == f"http://{HOST}:{port}\n"
    assert f"http://{HOST}:{port}" in out
    assert "Traceback" not in out + err
    assert process.returncode == 1  # as the help of all commands has it, beside 130


def test_taken_port_is_refused(
    ask: Asking, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        registration = ask(f"serve --port {port} --no-browser")
        monkeypatch.setattr(sys, "argv", ["/usr/bin/replicalab", "serve", f"--port={port}"])
        assert run() == 2
    assert (registration.code, registration.out) == (2, "")
    assert f"port {port} cannot be had (Address already in use)" in registration.err
    assert "--port" in registration.err.partition(";")[2]
    assert f"port {port} cannot be had" in capsys.readouterr().err
    assert ask("serve --help").out.startswith("Usage: replicalab serve")


@pytest.mark.parametrize("port", ["0", "-1", "65536"])
def test_number_that_is_no_port_is_refused(ask: Asking, port: str) -> None:
    registration = ask(f"serve --port {port}")
    assert (registration.code, registration.out) == (2, "")
    assert f"--port {port} is no port; name one from 1024 to 65535" in registration.err
