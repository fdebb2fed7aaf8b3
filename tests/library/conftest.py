"""Libraries to test: in a file, and on a server of PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from replicalab.library import Library
from tests.library.making import Clock, PostgresServer, find_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer(find_postgres()) as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'library.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.fresh()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def library(url: str, clock: Clock) -> Iterator[Library]:
    opened = Library(url, clock=clock)
    yield opened
    opened.close()
