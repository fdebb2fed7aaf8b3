"""What a file from elsewhere holds: told by its values, whatever it is called."""

from __future__ import annotations

from typing import Final, NamedTuple

from replicalab.errors import Fault, ScenarioError
from replicalab.scenarios import readable_text
from replicalab.scenarios.json_file import Held, JsonFile, Values, kind_of

TYPES: Final = ("json", "yaml", "yml")
MOST_MB: Final = 6
MOST_BYTES: Final = MOST_MB * 2**20
_ALL: Final = "bundle, negotiation, plan, lab or study"


class Found(NamedTuple):
    """What a file holds, its text, and what was read of it; a study's is not read yet."""

    held: Held
    text: str
    values: Values


def held_in(data: bytes, file: str) -> Found:
    """Return what a file holds.

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
            return Found(Held.STUDY, text, {})
        raise
    if held := kind_of(values):
        return Found(held, text, values)
    raise ScenarioError(file, [Fault("", f"the file holds no {_ALL}", remedy)])
