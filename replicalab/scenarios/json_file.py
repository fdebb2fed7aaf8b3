"""A JSON file from elsewhere as plain data: nothing twice, only numbers that are some, bounded."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NoReturn

from replicalab.characters import code, on_one_line
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import shortened
from replicalab.models import PROTOCOL_FIELDS
from replicalab.scenarios.reading import LONGEST_QUOTED, readable_text

_MOST_BYTES: Final = 6 * 2**20  # As many are read to tell what a file is
MOST_VALUES: Final = 500_000
MOST_LISTS: Final = 150_000  # No file of any kind holds as many values, or lists and blocks
_HALF: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF: Final = ("\\ud", "\\uD")
# A string; one without an end too, so that nothing is looked at twice.
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)

Values = dict[str, object]  # What a file holds, by its names


class FileKind(StrEnum):
    """What a file may hold."""

    BUNDLE = "bundle"
    RUN = "negotiation"
    BATCH = "batch of negotiations"
    STUDY = "study"
    KEPT_PLAN = "plan with its study and lab"
    LAB = "lab"
    PLAN = "plan"


# By any of which values each is known; a plan alone names its study too.
_KNOWN: Final[dict[FileKind, frozenset[str]]] = {
    FileKind.BUNDLE: frozenset({"input_hash"}),
    FileKind.RUN: frozenset({"setup"}),
    FileKind.BATCH: frozenset({"asked", "results"}),
    FileKind.STUDY: frozenset({"paper", "labs"}),
    FileKind.PLAN: frozenset(PROTOCOL_FIELDS),
    FileKind.KEPT_PLAN: frozenset({"study"}),
    FileKind.LAB: frozenset({"lab"}),
}

# Where what is no plan and no lab is to go; what is not named opens under Open a file.
_WAYS: Final = {
    FileKind.RUN: "play this again with negotiate --replay, or under Open a file",
    FileKind.BATCH: "import this on the Library page",
}


def kind_of(values: Mapping[str, object]) -> FileKind | None:
    """Return what a file with these values holds, None for nothing that is known."""
    return next((held for held, names in _KNOWN.items() if not names.isdisjoint(values)), None)


def too_many(text: str) -> str:
    """Return what a JSON text has more of than any file; empty where nothing."""
    # It is only counted: to read a million lists takes a second, in which nobody else is answered.
    if _count_lists(text) <= MOST_LISTS and text.count(",") <= MOST_VALUES:
        return ""
    bare = _STRING.sub("", text)
    if _count_lists(bare) > MOST_LISTS:
        return f"more than {MOST_LISTS:,} lists and blocks"
    return f"more than {MOST_VALUES:,} values" if bare.count(",") > MOST_VALUES else ""


def format_problem(number: object, read_here: int) -> str:
    """Return why a file of this format is not read, with a remedy; empty if it is."""
    if not isinstance(number, int) or number == read_here:
        return ""
    if number > read_here:
        return "a newer version of ReplicaLab wrote this file; read it there"
    return "ReplicaLab 1 wrote this file, and this version does not read it; make it again here"


def _count_lists(text: str) -> int:
    return text.count("[") + text.count("{")


@dataclass(frozen=True)
class JsonFile:
    """What a kind of file is called, and how large it may be.

    Attributes:
        source: what to call the file in a message.
        holds: what it holds.
        remedy: what to do with one that is none.
        most_bytes: the largest that is read.
        most_values: lists and blocks counted.
        newest: the format that is read here.
    """

    source: str
    holds: FileKind | str
    remedy: str
    most_bytes: int
    most_values: int
    newest: int

    def read(self, data: bytes | str | Values) -> Values:
        """Return what a file holds, or what was read of it.

        Raises:
            ScenarioError: it is no such file; with the place and the remedy.
        """
        largest = replace(self, most_bytes=_MOST_BYTES)
        held = data if isinstance(data, dict) else largest.values(data)
        found = kind_of(held)
        own = _KNOWN[self.holds] if isinstance(self.holds, FileKind) else frozenset()
        if found and own.isdisjoint(held):  # a file of another kind is refused by that kind's name
            way = _WAYS.get(found, "open this under Open a file")
            problem = f"the file holds a {found}, no {self.holds}"
            self.refuse("", problem, f"{self.remedy}, or {way}")
        if not isinstance(data, dict):
            readable_text(data, self.source, self.most_bytes)
        if _holds_more(held, self.most_values):
            problem = f"the file holds more than {self.most_values:,} values"
            self.refuse("", problem, "shorten it")
        if problem := format_problem(held.get("format", self.newest), self.newest):
            self.refuse("", *problem.rsplit("; ", 1))
        return held

    def values(self, data: bytes | str) -> Values:
        """Return the values of a file by their names, whatever it is a file of.

        Raises:
            ScenarioError: it holds none; with the place and the remedy.
        """
        text = readable_text(data, self.source, self.most_bytes)
        if not text.strip():
            self.refuse("", "the file is empty", self.remedy)
        if more := too_many(text):
            self.refuse("", f"the file holds {more}", "shorten it")
        held = None if text.lstrip().startswith("[") else self._parsed(text)
        if not isinstance(held, dict):
            self.refuse("", f"the file holds no {self.holds}", self.remedy)
        return held

    def refuse(self, path: str, problem: str, remedy: str) -> NoReturn:
        """Refuse the file.

        Raises:
            ScenarioError: always.
        """
        raise ScenarioError(self.source, [Fault(path, problem, remedy)])

    def _parsed(self, text: str) -> object:
        try:
            held: object = json.loads(
                text, object_pairs_hook=self._each_once, parse_constant=self._no_number
            )
            # Two halves that belong together are one character once they are read.
            may_have = any(sign in text for sign in _ESCAPED_HALF) or _HALF.search(text)
            if may_have and (half := _HALF.search(json.dumps(held, ensure_ascii=False))):
                self.refuse("", f"{code(half.group())} is half a character", "delete it")
            return held
        except json.JSONDecodeError as error:
            near = on_one_line(shortened(text[error.pos :].partition("\n")[0]))
            problem = f"at '{near}' it is not JSON" if near else "the file breaks off"
            fault = Fault("", problem, self.remedy, error.lineno)
            raise ScenarioError(self.source, [fault]) from None
        except (RecursionError, ValueError) as error:
            if isinstance(error, ScenarioError):
                raise
            problem = "it holds a number that is too long, or is nested too deeply"
            self.refuse("", problem, self.remedy)

    def _each_once(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        held: dict[str, object] = {}
        for key, value in pairs:
            if key in held:
                said = on_one_line(shortened(key, LONGEST_QUOTED))
                self.refuse("", f"'{said}' stands twice in one place", "keep one of the two")
            held[key] = value
        return held

    def _no_number(self, said: str) -> NoReturn:
        self.refuse("", f"{said} is no number", "write one")


def _holds_more(held: object, most: int) -> bool:
    """Return whether there are more values than so many, lists and blocks counted."""
    waiting, count = [held], 0
    while waiting and count <= most:
        value = waiting.pop()
        count += 1
        if isinstance(value, list | dict):
            waiting += value.values() if isinstance(value, dict) else value
    return count > most
