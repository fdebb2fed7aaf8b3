"""The progress of long work: a bar with the time left in a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from itertools import count

import pytest

from replicalab.cli.progress import ProgressBar, time_text


def test_bar_tells_the_share_and_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    seconds = count(0, 30)  # 30 s for each of four
    progress = ProgressBar(4, "negotiation", now=lambda: next(seconds))
    for came in range(1, 5):
        progress.show(came)
    told = capsys.readouterr().err
    assert told.startswith("\r[")
    assert told.index("\n") == len(told) - 1
    assert [line.rstrip() for line in told[1:].split("\r")] == [
        "[######..................] 1 of 4 negotiations, about 90 s left",
        "[############............] 2 of 4 negotiations, about 60 s left",
        "[##################......] 3 of 4 negotiations, about 30 s left",
        "[########################] 4 of 4 negotiations",
    ]
    assert len({len(line.rstrip("\n")) for line in told[1:].split("\r")}) == 1, "all is covered"


def test_time_left_is_not_told_before_it_is_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ProgressBar(10, "negotiation", now=lambda: 5.0).show(1)
    assert capsys.readouterr().err == "\r[##......................] 1 of 10 negotiations"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (40, "[#################] 5 of 5 negotiations"),
        (24, "[#] 5 of 5 negotiations"),
        (20, "5 of 5 "),
    ],
)
def test_bar_is_no_wider_than_the_terminal(
    columns: int,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    ProgressBar(5, "negotiation").show(5)
    assert capsys.readouterr().err.startswith(f"\r{line}")


def test_file_has_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    progress = ProgressBar(1000, "negotiation")
    for came in range(1, 1001):
        progress.show(came)
    told = capsys.readouterr().err
    assert "\r" not in told
    assert told.splitlines()[0] == "100 of 1,000 negotiations"
    assert len(told.splitlines()) == 10


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1 s"),
        (0.2, "1 s"),
        (99.4, "99 s"),
        (100, "2 min"),
        (5900, "98 min"),
        (6000, "2 h"),
        (3.6e9, "1,000,000 h"),
    ],
)
def test_time_is_told_in_the_unit_that_fits(seconds: float, text: str) -> None:
    assert time_text(seconds) == text
