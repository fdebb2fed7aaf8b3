"""A failure of the program's own: one line and exit code 70; where it broke with ``--debug``."""

from __future__ import annotations

from typing import Final

import pytest

import replicalab
from replicalab.cli import DEBUG, asking
from tests.cli.asking import Asking

STUDY: Final = "psy_stroop"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError("a sum\nof \x1b[31mnothing")

    monkeypatch.setattr(asking, "analysis", fail)
    monkeypatch.delenv(DEBUG, raising=False)


@pytest.mark.usefixtures("broken")
def test_failure_is_one_line_with_exit_code_70(ask: Asking) -> None:
    registration = ask(f"check {STUDY}")
    assert (registration.code, registration.out) == (70, "")
    assert registration.err == (
        "ReplicaLab itself failed (ZeroDivisionError: a sum of ⟨U+001B⟩[31mnothing), through no "
        "fault of the input; run it again with REPLICALAB_DEBUG=1 for the traceback\n"
    )


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("by", ["option", "environment"])
def test_failure_tells_where_with_debug(
    ask: Asking, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "environment":
        monkeypatch.setenv(DEBUG, "1")
    registration = ask(f"{'--debug' if by == 'option' else ''} check {STUDY}")
    assert registration.code == 70
    assert registration.err.startswith("Traceback (most recent call last):\n")
    assert "in fail" in registration.err
    assert "\x1b" not in registration.err
    assert registration.err.splitlines()[-1].endswith("through no fault of the input")


def test_version_is_the_package_s(ask: Asking) -> None:
    registration = ask("--version")
    assert (registration.code, registration.out) == (0, f"replicalab {replicalab.__version__}\n")
