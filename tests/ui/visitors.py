"""Browsers of visitors, and a restarted server."""

import os
import secrets
import tempfile

import pytest

from replicalab.ui import own_studies
from replicalab.ui.library_page import shelf
from replicalab.ui.own_studies import StudyCache


class Browsers:
    def __init__(self) -> None:
        self.token = ""

    def use(self) -> str:
        self.token = secrets.token_hex(16)
        return self.token


def restart(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.finish()
    monkeypatch.setattr(own_studies, "STUDIES", StudyCache())
    monkeypatch.setattr(shelf, "SHELF", shelf.Shelf())  # as a new process has


def move(monkeypatch: pytest.MonkeyPatch) -> None:
    restart(monkeypatch)
    monkeypatch.setenv("REPLICALAB_DATA", tempfile.mkdtemp(dir=os.environ["REPLICALAB_DATA"]))
