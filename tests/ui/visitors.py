"""Browsers that visit the app in this process, and a server that is started anew."""

import os
import secrets
import tempfile
from typing import NoReturn

import pytest

from replicalab.errors import LibraryStorageError
from replicalab.ui import own_studies
from replicalab.ui.library import shelf
from replicalab.ui.own_studies import StudyCache


class Browsers:
    """Which browser the next runs of the app are for."""

    def __init__(self) -> None:
        self.token = ""

    def use(self) -> str:
        """Go on in a new browser and return its token."""
        self.token = secrets.token_hex(16)
        return self.token


def restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a server that is started anew has not; the library stays."""
    shelf.finish()
    monkeypatch.setattr(own_studies, "_STUDIES", StudyCache())
    monkeypatch.setattr(shelf, "_SHELF", shelf._Shelf())  # noqa: SLF001 - as a new process has


def move(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go on with a server that is started anew, with another library."""
    restart(monkeypatch)
    monkeypatch.setenv("REPLICALAB_DATA", tempfile.mkdtemp(dir=os.environ["REPLICALAB_DATA"]))


def full_disk(*_: object, **__: object) -> NoReturn:
    """Stand in for what a library does, on a disk that is full."""
    raise LibraryStorageError("/srv/library.db: the disk is full; nothing was saved")
