"""What reading study files costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from replicalab.scenarios import (
    FOLDER_VARIABLE,
    Difficulty,
    copy_text,
    list_scenarios,
    load_scenario,
    loading,
)
from replicalab.ui.gallery import cards
from tests.bench.measuring import hold, say

pytestmark = pytest.mark.bench

OWN_STUDIES: Final = 200


def forget() -> None:
    """Empty the cache, as in a process that has just begun."""
    loading._outcome.cache_clear()  # noqa: SLF001


def milliseconds(work: Callable[[], object], *, cold: bool = False, times: int = 5) -> float:
    """Return the best of several times of one call, with empty caches if ``cold``."""

    def once() -> float:
        if cold:
            forget()
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) * 1000

    return min(once() for _ in range(times))


def load_all() -> None:
    for study in list_scenarios():
        for lab in Difficulty:
            load_scenario(study.scenario_id, lab)


@pytest.fixture
def full_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Name a folder of many studies in the variable, copies of the shipped ones in turn."""
    shipped = [study.scenario_id for study in list_scenarios()]
    for number in range(OWN_STUDIES):
        text = copy_text(shipped[number % len(shipped)], f"own_{number}")
        (tmp_path / f"own_{number}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    yield tmp_path
    forget()


def test_load_of_the_shipped_studies(capsys: pytest.CaptureFixture[str]) -> None:
    cold, warm = milliseconds(load_all, cold=True), milliseconds(load_all)
    hold(capsys, "all studies, ms", cold, f"12 studies in 3 labs each; then {warm:.1f} ms")


def test_load_beside_a_folder_of_many(
    full_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = milliseconds(list_scenarios, cold=True, times=2), milliseconds(list_scenarios)
    one = (
        milliseconds(lambda: load_scenario("own_7"), cold=True),
        milliseconds(lambda: load_scenario("own_7")),
    )
    drawn = milliseconds(cards, cold=True, times=1), milliseconds(cards)
    for what, (cold, warm) in (("list", listed), ("one study", one), ("gallery", drawn)):
        line = f"{what} beside {OWN_STUDIES} own files: {cold:.0f} ms at first, then {warm:.2f} ms"
        say(capsys, line)
    assert len(list_scenarios()) == OWN_STUDIES + 12, full_folder
