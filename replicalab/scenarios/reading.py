"""A study file as plain data with line numbers, read safely.

The reader takes a small, unsurprising part of YAML: mappings, lists and scalars, as in YAML 1.2.
Only ``true`` and ``false`` are booleans and only decimal numbers are numbers, so ``no``, dates
and ``12:30`` stay text. Anchors, aliases, tags, repeated keys and a second document are refused:
they make a file hard to read for people and dangerous to read for programs.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

import yaml

from replicalab.characters import described, hidden
from replicalab.errors import Fault, ScenarioError
from replicalab.lexicon import shortened

MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 20
MOST_VALUES: Final = 5_000
"""The most values of a file, lists and blocks counted; a shipped study has some 250."""
LONGEST_QUOTED: Final = 60  # The most characters that a message quotes of a file's own

FieldPath = tuple[str | int, ...]
"""Where a value stands: keys and 0-based list positions, from the top of the file."""

Data = str | int | float | bool | None | list["Data"] | dict[str, "Data"]
"""What a file holds once it is read."""

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# Characters that libyaml and PyYAML's own parser treat differently.
_READ_DIFFERENTLY: Final = "\t\ufeff"
# More digits than these stay text, which every number field refuses: int() has a digit limit.
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")
_DECIMAL: Final = re.compile(
    r"[-+]?(?:(?:[0-9]*\.[0-9]+|[0-9]+\.)(?:[eE][-+]?[0-9]{1,4})?|[0-9]+[eE][-+]?[0-9]{1,4})"
)


@dataclass(frozen=True)
class YamlDocument:
    """A file's data, and the line on which each field path stands."""

    data: dict[str, Data]
    lines: dict[FieldPath, int]

    def line(self, path: FieldPath) -> int | None:
        """Return the line of a path, or of the nearest part around it that the file has."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


def dotted(path: FieldPath) -> str:
    """Return a path as people write it: ``paper.facts[2].source``."""
    steps = (
        f"[{step}]" if isinstance(step, int) else f".{shortened(step, LONGEST_QUOTED)}"
        for step in path
    )
    return "".join(steps).removeprefix(".")


def read_document(text: str | bytes, source: str) -> YamlDocument:
    """Return the data and the line numbers of one file.

    Args:
        text: the file's content; bytes must be UTF-8.
        source: what to call the file in a message.

    Raises:
        ScenarioError: the text is too large, is not UTF-8, or is not the YAML described above.
    """
    text = readable_text(text, source)
    with suppress(yaml.YAMLError, ValueError):
        return _Reader(source, _fast_events(text)).document()
    return _Reader(source, _events(text, source)).document()


def readable_text(text: str | bytes, source: str, most: int = MAX_BYTES) -> str:
    """Return a file's content, at most so many bytes, as text.

    Raises:
        ScenarioError: it is too large, or its bytes are not UTF-8.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    require_size(len(data), source, most)
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{text[error.start]:02x} is not UTF-8 text"
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

    Nothing else of the text changes; all of it stays as it is where there is no such place.
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


def _plain_value(text: str) -> Data:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def is_read_as_text(text: str) -> bool:
    """Return whether a text that stands without quotes is read as that text."""
    return _plain_value(text) is text


def _fast_events(text: str) -> Iterator[yaml.Event]:
    """Yield the events of the C parser, which is some twenty times as fast as the Python one."""
    # It only ever says yes: what it refuses, and what the two read differently, is left to the
    # Python parser, so that every machine reads and says the same.
    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None or any(letter in text for letter in _READ_DIFFERENTLY):
        raise yaml.YAMLError
    yield from yaml.parse(text, Loader=loader)


def _events(text: str, source: str) -> Iterator[yaml.Event]:
    """Yield the events of the Python parser.

    Raises:
        ScenarioError: the text is not YAML.
    """
    line = None
    try:
        yield from yaml.parse(text, Loader=yaml.SafeLoader)
        return
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = f"character U+{ord(text[error.position]):04X} is not allowed"
        remedy = "take it out"
    except yaml.MarkedYAMLError as error:
        raise ScenarioError(source, [_parser_fault(error, text)]) from None
    except (ValueError, OverflowError):
        problem, remedy = "an escape or a directive holds an impossible number", "take it out"
    fault = Fault("", problem, remedy, line)
    raise ScenarioError(source, [fault])


def _parser_fault(error: yaml.MarkedYAMLError, text: str) -> Fault:
    """Return what the parser says of a line, and the line."""
    problem = re.sub(r"'?<([a-z ]+)>'?", r"\1", error.problem or "the text breaks off")
    # A quote, bracket or key without an end is wrong where it begins; the parser gives up later.
    begun = re.search("quoted scalar|simple key|a flow", error.context or "")
    marks = (error.context_mark, error.problem_mark)
    mark = next(filter(None, marks if begun else marks[::-1]), None)
    lines, at = text.splitlines(), mark.line if mark else 0
    line = lines[at].strip() if at < len(lines) else ""
    stands = f", in '{shortened(line, LONGEST_QUOTED)}'" if line else ""
    return Fault(
        "",
        f"{shortened(problem, 2 * LONGEST_QUOTED)}{stands}",
        "check quotes, colons and indentation here",
        at + 1,
    )


class _Reader:
    """Builds a document from parser events; it never nests deeper than `MAX_DEPTH`."""

    def __init__(self, source: str, events: Iterator[yaml.Event]) -> None:
        self._source = source
        self._events = events
        self._lines: dict[FieldPath, int] = {}

    def document(self) -> YamlDocument:
        """Return the one document in the text."""
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            self._fail((), None, "the file is empty", "write a study into it")
        data = self._value(next(self._events), ())
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._fail((), after, "a second document starts here", "keep one study per file")
        if not isinstance(data, dict):
            kind = "empty" if data is None else "a list" if isinstance(data, list) else "one value"
            self._fail((), None, f"the file is {kind}", "write it as 'key: value' lines")
        return YamlDocument(data, self._lines)

    def _value(self, event: yaml.Event, path: FieldPath) -> Data:
        self._lines.setdefault(path, _line_of(event))
        if len(self._lines) > MOST_VALUES:
            problem = f"the file holds more than {MOST_VALUES:,} values"
            self._fail((), event, problem, "shorten it")
        self._check_plain(event, path)
        if isinstance(event, yaml.ScalarEvent):
            return _plain_value(event.value) if event.implicit[0] else str(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Data] = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                items.append(self._value(event, (*path, len(items))))
            return items
        return self._mapping(path)

    def _mapping(self, path: FieldPath) -> dict[str, Data]:
        mapping: dict[str, Data] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self._fail(path, event, "a key that is not plain text", "write 'key: value'")
            self._check_plain(event, path)
            key: str = event.value
            if key in mapping:
                first = self._lines[(*path, key)]
                name = shortened(key, LONGEST_QUOTED)
                problem = f"key '{name}' stands here a second time (first on line {first})"
                self._fail((*path, key), event, problem, "keep one of the two")
            self._lines[(*path, key)] = _line_of(event)
            mapping[key] = self._value(next(self._events), (*path, key))
        return mapping

    def _check_plain(self, event: yaml.Event, path: FieldPath) -> None:
        anchor, tag = (
            value and shortened(value, LONGEST_QUOTED)
            for value in (getattr(event, "anchor", None), getattr(event, "tag", None))
        )
        if isinstance(event, yaml.AliasEvent):
            self._fail(path, event, f"alias *{anchor} is not allowed", "write the value out")
        if anchor is not None:
            self._fail(path, event, f"anchor &{anchor} is not allowed", "remove it")
        if tag is not None:
            self._fail(path, event, f"tag '{tag}' is not allowed", "remove it")
        if len(path) > MAX_DEPTH:
            problem = f"nested more than {MAX_DEPTH} levels deep"
            self._fail(path[:3], event, problem, "flatten this part")
        if isinstance(event, yaml.ScalarEvent) and (places := hidden(event.value)):
            letter = described(event.value[places[0]])
            self._fail(path, event, f"character {letter} is not seen", "remove it")

    def _fail(
        self, path: FieldPath, event: yaml.Event | None, problem: str, remedy: str
    ) -> NoReturn:
        line = _line_of(event) if event else None
        raise ScenarioError(self._source, [Fault(dotted(path), problem, remedy, line)])


def _line_of(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
