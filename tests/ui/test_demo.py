"""A demo saves nothing and takes no files."""

import pytest

from tests.ui.acting import can_press
from tests.ui.pages import LIBRARY, PROTOCOL
from tests.ui.reading import alerts, page_text
from tests.ui.walking import at_making, go, visit


def test_demo_saves_nothing_and_takes_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICALAB_DEMO", "1")
    app = visit(PROTOCOL)
    assert not can_press(app, "Save")
    [alert] = alerts(go(app, LIBRARY))
    assert alert.text.startswith("The library cannot be used. This demo saves nothing; download")
    assert "this demo takes no files. Install ReplicaLab" in page_text(at_making(app))
    assert not app.file_uploader
