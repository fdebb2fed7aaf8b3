"""A thousand runs listed and searched, in times of sqlite3 for the same columns."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replicalab.library import Entry, EntryKind, Library
from tests.bench.measuring import best, hold
from tests.library.making import ANN, make_run

pytestmark = pytest.mark.bench


def filled(file: Path, number: int) -> Library:
    library, runs = Library(f"sqlite:///{file}"), [make_run(seed) for seed in range(3)]
    for item in range(number):
        notes = "to be shown on Friday" if item % 50 == 0 else ""
        library.keep(ANN, EntryKind.RUN, f"run {item}", runs[item % 3], notes=notes)
    return library


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("full") / "library.db"


@pytest.fixture(scope="module")
def full(file: Path) -> Iterator[Library]:
    library = filled(file, 1000)
    yield library
    library.close()


@pytest.mark.parametrize(
    ("done", "asked", "found"),
    [("listed", (), 1000), ("searched", (EntryKind.RUN, "friday run"), 20)],
)
def test_thousand_runs_are_found_at_once(
    capsys: pytest.CaptureFixture[str],
    full: Library,
    file: Path,
    done: str,
    asked: tuple[Any, ...],
    found: int,
) -> None:
    assert len(full.entries(ANN)) == 1000
    query = f"SELECT {', '.join(Entry._fields)} FROM library_entries ORDER BY changed DESC"  # noqa: S608
    with closing(sqlite3.connect(file)) as connection:
        assert len(connection.execute(query).fetchall()) == 1000
        yardstick = best(lambda: connection.execute(query).fetchall(), times=20)
    assert len(full.entries(ANN, *asked)) == found
    taken = best(lambda: full.entries(ANN, *asked), times=20)
    bar = f"a thousand runs {done} / read by sqlite3"
    hold(capsys, bar, taken / yardstick, f"{taken * 1000:.1f} ms")
