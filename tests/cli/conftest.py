"""The fixture with which a test asks commands."""

from pathlib import Path

import pytest

from tests.cli.asking import Asking


@pytest.fixture
def ask(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Asking:
    monkeypatch.chdir(tmp_path)
    return Asking(capsys)
