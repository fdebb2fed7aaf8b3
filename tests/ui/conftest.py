"""Who visits the pages in a test of them."""

from __future__ import annotations

import pytest

from replicalab.ui import visitor
from tests.ui.visitors import Browsers, move


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> Browsers:
    """An empty server with an empty library, and the browsers that visit it; the first is there."""
    found = Browsers()
    move(monkeypatch)
    monkeypatch.setattr(visitor, "cookie", lambda: found.token)
    found.use()
    return found
