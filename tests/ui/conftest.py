"""Who visits the pages in a test of them."""

import pytest

from replicalab import server
from tests.ui.visitors import Browsers, move


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> Browsers:
    result = Browsers()
    move(monkeypatch)
    monkeypatch.setattr(server, "cookie", lambda: result.token)
    result.use()
    return result
