"""The server's press: one PDF at a time, few waiting, and none that holds the others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Final

import pytest

from replicalab.errors import PrintError
from replicalab.report import Document
from replicalab.ui.export import documents
from replicalab.ui.export.documents import Press

PAGE: Final = Document("", "", (), ())


def test_press_makes_one_at_a_time_and_refuses_who_would_wait_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on, running = Event(), Event(), list[int]()

    def make(*_: object) -> bytes:
        running.append(1)
        assert len(running) == 1, "two at a time"
        begun.set()
        assert go_on.wait(10)
        running.pop()
        return b"%PDF"

    monkeypatch.setattr(documents, "pdf_apart", make)
    press = Press(most_waiting=2)
    with ThreadPoolExecutor(2) as others:
        made = [others.submit(press.pdf, PAGE, "A4") for _ in range(2)]
        assert begun.wait(10)
        while press._room._value:  # noqa: SLF001 - until both have come
            pass
        with pytest.raises(PrintError, match="others are being made"):
            press.pdf(PAGE, "A4")
        go_on.set()
        assert [each.result(10) for each in made] == [b"%PDF", b"%PDF"]
    assert press.pdf(PAGE, "A4") == b"%PDF", "and then there is room again"


def test_press_has_room_again_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise PrintError("no PDF: it is not done")

    monkeypatch.setattr(documents, "pdf_apart", fail)
    press = Press(most_waiting=1)
    for _ in range(3):
        with pytest.raises(PrintError, match="not done"):
            press.pdf(PAGE, "A4")
