"""Settings that hold for every test, and which tests stay together where they run side by side."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("replicalab", deadline=None, database=None)
settings.load_profile("replicalab")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a module that starts a server in one process."""
    for item in items:
        if item.path.parent.name in ("browser", "llm"):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
