"""A JSON file from elsewhere as plain data: of a known kind, no key twice, bounded."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NoReturn

from replicalab.characters import code, on_one_line
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import shortened
from replicalab.models import PROTOCOL_FIELDS
from replicalab.scenarios.reading import LONGEST_QUOTED, readable_text, require_size

_MOST_BYTES: Final = 6 * 2**20  # As many are read to tell what a file is
MOST_LISTS: Final = 150_000  # Reading a million takes a second, in which no other page is drawn
FORMAT: Final = 2  # of plans, labs, batches and bundles
MOST_VALUES: Final = 500_000
_HALF: Final = re.compile("[\ud800-\udfff]")

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


def kind_of(values: Mapping[str, object]) -> FileKind | None:
    """Return what a file with these values holds, None for nothing that is known."""
    return next((held for held, names in _KNOWN.items() if not names.isdisjoint(values)), None)


def too_many(text: str) -> str:
    """Return what a JSON text has too many of to be read; empty if nothing."""
    if text.count("[") + text.count("{") > MOST_LISTS:
        return f"more than {MOST_LISTS:,} lists and blocks"
    return f"more than {MOST_VALUES:,} values" if text.count(",") > MOST_VALUES else ""


def format_problem(number: object, read_here: int) -> str:
    """Return why a file of this format is not read, with a remedy; empty if it is."""
    if not isinstance(number, int) or number == read_here:
        return ""
    if number > read_here:
        return "a newer version of ReplicaLab wrote this file; read it there"
    return "ReplicaLab 1 wrote this file, and this version does not read it; make it again here"


@dataclass(frozen=True)
class JsonFile:
    """A file that holds values by their names.

    Attributes:
        source: what to call the file in a message.
        holds: its kind.
        remedy: what to do with a file of another kind.
        most_bytes: the largest file that is read.
        newest: the format that is read here.
    """

    source: str
    holds: FileKind | str
    remedy: str
    most_bytes: int
    newest: int

    def read(self, data: bytes | str | Values) -> Values:
        """Return the values of a file of this kind, or check those that were read of it.

        Raises:
            ScenarioError: it is no such file; with the place and the remedy.
        """
        values = data if isinstance(data, dict) else self.values(data)
        kind = kind_of(values)
        if kind and isinstance(self.holds, FileKind) and _KNOWN[self.holds].isdisjoint(values):
            self.refuse(f"the file holds a {kind}, no {self.holds}")
        if not isinstance(data, dict):
            require_size(len(data), self.source, self.most_bytes)
        if problem := format_problem(values.get("format", self.newest), self.newest):
            self.refuse(*problem.rsplit("; ", 1))
        return values

    def values(self, data: bytes | str) -> Values:
        """Return the values of a file of any kind.

        Raises:
            ScenarioError: it holds none; with the place and the remedy.
        """
        text, line, column = readable_text(data, self.source, _MOST_BYTES), 0, 0
        if more := too_many(text):
            self.refuse(f"the file holds {more}", "shorten it")
        if not text.strip():
            self.refuse("the file is empty")
        try:
            values = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            near = on_one_line(shortened(text[error.pos :].partition("\n")[0]))
            problem = f"at '{near}' it is not JSON" if near else "the file breaks off"
            line, column = error.lineno, error.colno
        except RecursionError:
            problem = "it is nested too deeply"
        except ValueError as error:
            problem = str(error).partition("; ")[0]
        else:
            half = _HALF.search(json.dumps(values, ensure_ascii=False))
            if isinstance(values, dict) and not half:
                return values
            whole = f"the file holds no {self.holds}"
            problem = f"{code(half.group())} is half a character" if half else whole
        raise ScenarioError(self.source, [Fault("", problem, self.remedy, line, column)])

    def refuse(self, problem: str, remedy: str = "") -> NoReturn:
        """Refuse the file.

        Raises:
            ScenarioError: always.
        """
        raise ScenarioError(self.source, [Fault("", problem, remedy or self.remedy)])


def _unique(pairs: list[tuple[str, object]]) -> Values:
    values = dict(pairs)
    if len(values) < len(pairs):
        [(repeated, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"key '{on_one_line(shortened(repeated, LONGEST_QUOTED))}' is repeated")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
