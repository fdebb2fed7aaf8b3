"""What a file from elsewhere holds: told by its values, whatever it is called."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from replicalab.errors import Fault, ScenarioError
from replicalab.models import PROTOCOL_FIELDS
from replicalab.scenarios import readable_text
from replicalab.scenarios.json_file import JsonFile

TYPES: Final = ("json", "yaml", "yml")
MOST_MB: Final = 6
MOST_BYTES: Final = MOST_MB * 2**20
_ALL: Final = "bundle, negotiation, plan, lab or study"


class Held(StrEnum):
    """What a file may hold."""

    BUNDLE = "bundle"
    RUN = "negotiation"
    BATCH = "batch of negotiations"
    DECISION = "decision"
    STUDY = "study"
    KEPT_PLAN = "plan with its study and lab"
    LAB = "lab"
    PLAN = "plan"


_KNOWN: Final[dict[Held, frozenset[str]]] = {
    Held.BUNDLE: frozenset({"decided", "input_hash"}),
    Held.RUN: frozenset({"setup", "turns"}),
    Held.BATCH: frozenset({"asked", "results"}),
    Held.DECISION: frozenset({"options", "chosen"}),
    Held.STUDY: frozenset({"paper", "labs"}),
    Held.KEPT_PLAN: frozenset({"study"}),
    Held.LAB: frozenset({"lab"}),
    Held.PLAN: frozenset(PROTOCOL_FIELDS),
}
"""By any of which values each is known, the largest first."""


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
    for held, names in _KNOWN.items():
        if not names.isdisjoint(values):
            return held, text
    raise ScenarioError(file, [Fault("", f"the file holds no {_ALL}", remedy)])
