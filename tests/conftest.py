"""Settings for every test, and groups of tests that run in one process."""

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("short", deadline=None, database=None, max_examples=10)
times = int(os.environ.get("REPLICALAB_SEARCH_TIMES", "1"))
settings.register_profile("long", deadline=None, database=None, max_examples=40 * times)
settings.load_profile("short")  # `make test-long` asks for the other

WITH_A_SERVER = {("browser", "test_signing_in"), ("browser", "test_wheel")}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = item.path.parent.name, item.path.stem
        if place[0] == "language_model" or place in WITH_A_SERVER:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def data_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="replicalab-kept-", ignore_cleanup_errors=True) as made:
        os.environ["REPLICALAB_DATA"] = made
        yield Path(made)
