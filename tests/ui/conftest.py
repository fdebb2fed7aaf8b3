"""Who visits the pages in a test of them."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from replicalab import server
from tests.ui.visitors import Browsers, move


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> Browsers:
    result = Browsers()
    move(monkeypatch)
    monkeypatch.setattr(server, "cookie", lambda: result.token)
    result.use()
    return result


@pytest.fixture(scope="session", autouse=True)
def _installed_packages_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        scan = manifest_scanner.scan_component_manifests
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan))
        yield
