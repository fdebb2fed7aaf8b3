"""A file's text as plain data, and where each part of it stands.

The reader takes a small, unsurprising part of YAML: mappings, lists and scalars, as in YAML 1.2.
Only ``true`` and ``false`` are booleans and only decimal numbers are numbers, so ``no``, dates
and ``12:30`` stay text. Anchors, aliases, tags, repeated keys and a second document are refused:
they make a file hard to read for people and dangerous to read for programs.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import yaml

from replicalab.characters import described, hidden
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import shortened

MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 20
MOST_VALUES: Final = 5_000  # Lists and blocks counted; a shipped study has some 250
LONGEST_QUOTED: Final = 60  # The most characters that a message quotes of a file's own

FieldPath = tuple[str | int, ...]
"""The place of a value: keys and 0-based list positions, from the top of the file."""

Data = str | int | float | bool | None | list["Data"] | dict[str, "Data"]
"""What a file holds once it is read."""

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_READ_DIFFERENTLY: Final = "\t\ufeff"  # by libyaml and PyYAML's own parser
# More digits than these stay text, which every number field refuses: int() has a digit limit.
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")
_DECIMAL: Final = re.compile(
    r"[-+]?(?:(?:[0-9]*\.[0-9]+|[0-9]+\.)(?:[eE][-+]?[0-9]{1,4})?|[0-9]+[eE][-+]?[0-9]{1,4})"
)


@dataclass(frozen=True)
class Document:
    """A file's data, with the line and column of each field path, both from 1."""

    source: str
    data: dict[str, Data]
    places: dict[FieldPath, tuple[int, int]]

    def place(self, path: FieldPath) -> tuple[int, int]:
        """Return the place of a path, or of the nearest part around it; (0, 0) if none."""
        parts = (path[:end] for end in range(len(path), 0, -1))
        return next((self.places[part] for part in parts if part in self.places), (0, 0))


def dotted(path: FieldPath) -> str:
    """Return a path as people write it: ``paper.facts[2].source``."""
    steps = (
        f"[{step}]" if isinstance(step, int) else f".{shortened(step, LONGEST_QUOTED)}"
        for step in path
    )
    return "".join(steps).removeprefix(".")


def read_document(text: str | bytes, source: str) -> Document:
    """Return the data and the places of one file; ``source`` is its name in a message.

    Raises:
        ScenarioError: the text is too large, is not UTF-8, or is not the YAML described above.
    """
    text = readable_text(text, source)
    # The C parser is some twenty times as fast. What it refuses, and what the two read
    # differently, is left to the Python parser, so that every machine reads and says the same.
    fast = getattr(yaml, "CSafeLoader", None)
    if fast and not any(letter in text for letter in _READ_DIFFERENTLY):
        with suppress(yaml.YAMLError, ValueError):
            return _Reader(source, yaml.parse(text, Loader=fast)).document()
    try:
        return _Reader(source, yaml.parse(text, Loader=yaml.SafeLoader)).document()
    except ScenarioError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise ScenarioError(source, [_syntax_fault(error, text)]) from None


def readable_text(text: str | bytes, source: str, most: int = MAX_BYTES) -> str:
    """Return a file's content, at most so many bytes, as text.

    Raises:
        ScenarioError: it is too large, or its bytes are not UTF-8.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    require_size(len(data), source, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        raise ScenarioError(source, [Fault("", problem, "save the file as UTF-8", line)]) from None


def require_size(size: int, source: str, most: int = MAX_BYTES) -> None:
    """Refuse a file of more bytes.

    Raises:
        ScenarioError: it is larger.
    """
    if size > most:
        problem = f"the file has {size} bytes, more than the {most} allowed"
        raise ScenarioError(source, [Fault("", problem, "shorten it")])


def with_text_at(text: str, value: str, *keys: str) -> str:
    """Return a file's text with another value, as it is to be written, at a place of its blocks.

    Nothing else of the text changes; without such a place it is returned as it is.
    """
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((inside for name, inside in pairs if name.value == key), None)
    if node is None:
        return text
    start, end = node.start_mark.index, node.end_mark.index
    end -= len(text[start:end]) - len(text[start:end].rstrip())
    return f"{text[:start]}{value}{text[end:]}"


def plain_value(text: str) -> Data:
    """Return the value of a scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _syntax_fault(error: Exception, text: str) -> Fault:
    if isinstance(error, yaml.reader.ReaderError):
        problem = f"character {described(text[error.position])} is not allowed"
        return Fault("", problem, "remove it", text.count("\n", 0, error.position) + 1)
    if not isinstance(error, yaml.MarkedYAMLError):
        return Fault("", "an escape or a directive holds an impossible number", "remove it")
    # A quote, bracket or key without an end is wrong where it begins; the parser gives up later.
    begun = re.search("quoted scalar|simple key|a flow", error.context or "")
    line, column = _place((begun and error.context_mark) or error.problem_mark)
    near = shortened("".join(text.splitlines()[line - 1 : line]).strip(), LONGEST_QUOTED)
    problem = re.sub(r"'?<([a-z ]+)>'?", r"\1", error.problem or "the text breaks off")
    problem = f"{shortened(problem, 2 * LONGEST_QUOTED)}, in '{near}'"
    return Fault("", problem, "check quotes, colons and indentation here", line, column)


class _Reader:
    """Builds a document from parser events; it never nests deeper than `MAX_DEPTH`."""

    def __init__(self, source: str, events: Iterator[yaml.Event]) -> None:
        self._source = source
        self._events = events
        self._places: dict[FieldPath, tuple[int, int]] = {}

    def document(self) -> Document:
        """Return the one document in the text."""
        next(self._events)
        begins = isinstance(next(self._events), yaml.DocumentStartEvent)
        data = self._value(next(self._events), ()) if begins else None
        if not isinstance(data, dict):
            kind = "empty" if data is None else "a list" if isinstance(data, list) else "one value"
            raise self._error(f"the file is {kind}", "write it as 'key: value' lines")
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise self._error("a second document starts here", "keep one study per file", after)
        return Document(self._source, data, self._places)

    def _value(self, event: yaml.Event, path: FieldPath) -> Data:
        self._check(event, path)
        self._places.setdefault(path, _place(event.start_mark))
        if isinstance(event, yaml.ScalarEvent):
            return plain_value(event.value) if event.implicit[0] else str(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Data] = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                items.append(self._value(event, (*path, len(items))))
            return items
        mapping: dict[str, Data] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                problem = "a key that is not plain text"
                raise self._error(problem, "write 'key: value'", event, path)
            self._check(event, path)
            here = (*path, event.value)
            if event.value in mapping:
                name, (line, _) = shortened(event.value, LONGEST_QUOTED), self._places[here]
                problem = f"key '{name}' is repeated (first on line {line})"
                raise self._error(problem, "keep one of the two", event, here)
            self._places[here] = _place(event.start_mark)
            mapping[event.value] = self._value(next(self._events), here)
        return mapping

    def _check(self, event: yaml.Event, path: FieldPath) -> None:
        problem, remedy = "", "remove it"
        if isinstance(event, yaml.AliasEvent):
            problem, remedy = f"alias *{event.anchor}", "write the value out"
        elif anchor := getattr(event, "anchor", None):
            problem = f"anchor &{anchor}"
        elif (tag := getattr(event, "tag", None)) is not None:
            problem = f"tag '{tag}'"
        elif isinstance(event, yaml.ScalarEvent) and (at := hidden(event.value)):
            problem = f"invisible character {described(event.value[at[0]])}"
        if problem:
            problem = f"{shortened(problem, 2 * LONGEST_QUOTED)} is not allowed"
        elif len(path) > MAX_DEPTH:
            problem, remedy = f"nested more than {MAX_DEPTH} levels deep", "flatten this part"
        elif len(self._places) >= MOST_VALUES:
            problem, remedy = f"the file holds more than {MOST_VALUES:,} values", "shorten it"
        if problem:
            raise self._error(problem, remedy, event, path[:3])

    def _error(
        self, problem: str, remedy: str, event: yaml.Event | None = None, path: FieldPath = ()
    ) -> ScenarioError:
        place = _place(event.start_mark if event else None)
        return ScenarioError(self._source, [Fault(dotted(path), problem, remedy, *place)])


def _place(mark: Any) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark else (0, 0)
