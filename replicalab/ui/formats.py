"""What a file from elsewhere holds: told by its values, whatever it is called."""

from __future__ import annotations

from typing import Final

from replicalab.errors import Fault, ScenarioError
from replicalab.scenarios import readable_text
from replicalab.scenarios.json_file import Held, JsonFile, kind_of

TYPES: Final = ("json", "yaml", "yml")
MOST_MB: Final = 6
MOST_BYTES: Final = MOST_MB * 2**20
_ALL: Final = "bundle, negotiation, plan, lab or study"


def held_in(data: bytes, file: str) -> tuple[Held, str]:
    """Return what a file holds, and its text.

    Raises:
        ScenarioError: it is no text, or nothing that is known; with the place and the remedy.
    """
    text = readable_text(data, file, MOST_BYTES)
    is_yaml = not file.lower().endswith(".json")
    remedy = "choose one saved here; the name of a study ends in .yaml"
    try:
        values = JsonFile(file, _ALL, remedy, MOST_BYTES, MOST_BYTES, 1).values(text)
    except ScenarioError:
        if is_yaml:
            return Held.STUDY, text
        raise
    if held := kind_of(values):
        return held, text
    raise ScenarioError(file, [Fault("", f"the file holds no {_ALL}", remedy)])
