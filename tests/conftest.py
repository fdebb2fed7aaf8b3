"""Settings for every test."""

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


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def data_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="replicalab-kept-", ignore_cleanup_errors=True) as made:
        os.environ["REPLICALAB_DATA"] = made
        yield Path(made)
