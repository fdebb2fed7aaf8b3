"""Wordings pinned once: a golden file each, rewritten by one command and read in the diff."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).with_name("golden")
REWRITE: Final = "REPLICALAB_REWRITE_GOLDEN"
"""Set by ``make golden``: every golden file is written anew instead of compared."""

_ONE_OF_MANY: Final = re.compile(
    r"(?<![\d.,])1 (?:(?:more|fewer) )?"
    r"(?:items|days|samples|(?:staff )?units|controls|rounds|credits|errors|findings|faults)\b"
)
"""A plural after the number one, wherever a text is pinned."""


def assert_golden(name: str, text: str) -> None:
    """Assert that a text is word for word what the golden file holds, and counts one as one."""
    assert not (wrong := _ONE_OF_MANY.findall(text)), f"{name}: {', '.join(wrong)}"
    file = FOLDER / f"{name}.txt"
    if os.environ.get(REWRITE):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="utf-8")
    assert file.exists(), f"{file.name} is missing; make golden writes it"
    kept = file.read_text(encoding="utf-8")
    assert f"{text}\n" == kept, f"{name} reads otherwise; if it should, make golden"
