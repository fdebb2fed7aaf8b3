"""What the pages load before and after the first of them stands."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from replicalab import server
from replicalab.ui.library import shelf
from tests.ui.pages import SCENARIOS
from tests.ui.visitors import Browsers
from tests.ui.walking import visit

ROOT: Final = Path(__file__).parents[2]


def test_first_page_waits_for_no_slow_import() -> None:
    code = """
import gc, sys
from replicalab.ui import startup
slow = ("sqlalchemy", "replicalab.render.figures.region", "numpy", "scipy")
startup.load()
print("replicalab.ui.scenarios" in sys.modules, *(each in sys.modules for each in slow))
print(gc.isenabled())
startup.open_library()
print(*(each in sys.modules for each in slow[:2]), gc.get_freeze_count() > 100_000)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert process.stdout.splitlines() == ["True False False False False", "True", "True True True"]


def test_library_is_not_asked_for_what_a_newcomer_has_kept(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    def nothing(method: str) -> Callable[..., list[object]]:
        def answer(*_: object) -> list[object]:
            texts.append(method)
            return []

        return answer

    for method in ("entries", "draft"):
        monkeypatch.setattr(shelf.shelf(), method, nothing(method))
    with monkeypatch.context() as first:
        first.setattr(server, "is_new_visitor", lambda: True)
        visit(SCENARIOS)
    assert not texts
    visit(SCENARIOS)
    assert texts == ["entries", "draft"]
