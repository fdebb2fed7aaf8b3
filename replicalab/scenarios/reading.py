"""Files as plain data with the place of each part, and their faults in plain words.

YAML files have mappings, lists and scalars. Only ``true`` and ``false`` are booleans and only
decimal numbers are numbers, so ``no``, dates and ``12:30`` stay text. Anchors, aliases, tags and
repeated keys are refused: they are hard to read for people and dangerous for programs.
"""

import re
from collections import abc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Final, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from replicalab import limits
from replicalab.characters import described, hidden, on_one_line
from replicalab.errors import ArgumentError, Fault, Refusal, ScenarioError
from replicalab.lexicon import joined, shortened
from replicalab.models import PROTOCOL_FIELDS, Record
from replicalab.scenarios.field_types import CURRENCY, DOI, IDENTIFIER

FILE_FORMAT: Final = 2  # of plans, labs, batches and bundles

FieldPath = tuple[str | int, ...]
"""The place of a value: keys and 0-based list positions, from the top of the file."""

Data = str | int | float | bool | None | list["Data"] | dict[str, "Data"]
Values = dict[str, object]

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# A longer number stays text, which every number field refuses: int() has a limit of digits.
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")
_DECIMAL: Final = re.compile(  # each in linear time, however long
    r"[-+]?(?:(?:[0-9]*\.[0-9]+|[0-9]+\.)(?:[eE][-+]?[0-9]{1,4})?|[0-9]+[eE][-+]?[0-9]{1,4})"
)


def readable_text(text: str | bytes, source: str, most: int = limits.MOST_STUDY_BYTES) -> str:
    """Return a file's content as text; raises ScenarioError if too large or not UTF-8."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    require_size(len(data), source, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        raise ScenarioError(source, [Fault("", problem, "save the file as UTF-8", line)]) from None


def require_size(size: int, source: str, most: int = limits.MOST_STUDY_BYTES) -> None:
    if size > most:
        problem = f"the file has {size} bytes, more than the {most} allowed"
        raise ScenarioError(source, [Fault("", problem, "shorten it")])


def dotted(path: FieldPath) -> str:
    """Return a path as text: ``paper.facts[2].source``."""
    steps = (
        f"[{step}]" if isinstance(step, int) else f".{shortened(step, limits.LONGEST_QUOTED)}"
        for step in path
    )
    return "".join(steps).removeprefix(".")


@dataclass(frozen=True)
class ParsedFile:
    """A file's data, with the line and column of each field path, both from 1."""

    source: str
    data: dict[str, Data]
    places: dict[FieldPath, tuple[int, int]]

    def place(self, path: FieldPath) -> tuple[int, int]:
        """Return the place of a path, or of the nearest part around it; (0, 0) if none."""
        parts = (path[:end] for end in range(len(path), 0, -1))
        return next((self.places[part] for part in parts if part in self.places), (0, 0))


def read_document(text: str | bytes, source: str) -> ParsedFile:
    """Return the data and the places of one file; raises ScenarioError."""
    text, places = readable_text(text, source), dict[FieldPath, tuple[int, int]]()
    try:
        _check_events(text)
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
        data = _data(node, (), places) if node else None
    except yaml.YAMLError as error:
        raise ScenarioError(source, [_yaml_fault(error, text)]) from None
    if not isinstance(data, dict):
        fault = Fault("", f"the file is {shown(data)}", "write it as 'key: value' lines")
        raise ScenarioError(source, [fault])
    return ParsedFile(source, data, places)


def with_text_at(text: str, value: str, *keys: str) -> str:
    """Return a file's text with another value at the place of some keys; unchanged without them."""
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((inside for name, inside in pairs if name.value == key), None)
    if node is None:
        return text
    start, end = node.start_mark.index, node.end_mark.index
    end -= len(text[start:end]) - len(text[start:end].rstrip())
    return f"{text[:start]}{value}{text[end:]}"


def plain_value(text: str) -> Data:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _check_events(text: str) -> None:
    # Deep nesting and aliases are refused before nodes are made, which is recursive.
    depth, number = -1, 0
    event: Any
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        number += isinstance(event, yaml.NodeEvent)
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        problem, remedy = "", "remove it"
        if isinstance(event, yaml.AliasEvent):
            problem, remedy = f"alias *{anchor}", "write the value out"
        elif anchor or tag is not None:
            problem = f"anchor &{anchor}" if anchor else f"tag '{tag}'"
        elif depth > limits.MAX_DEPTH:
            problem, remedy = f"nesting of more than {limits.MAX_DEPTH} levels", "flatten this part"
        elif number > limits.MOST_VALUES:
            problem, remedy = (
                f"a file of more than {limits.MOST_VALUES:,} keys and values",
                "shorten it",
            )
        if problem:
            problem = f"{shortened(problem, 2 * limits.LONGEST_QUOTED)} is not allowed"
            raise yaml.MarkedYAMLError("", None, problem, event.start_mark, remedy)


def _data(node: yaml.Node, path: FieldPath, places: dict[FieldPath, tuple[int, int]]) -> Data:
    places.setdefault(path, _place(node.start_mark))
    if isinstance(node, yaml.ScalarNode):
        if at := hidden(node.value):
            problem = f"invisible character {described(node.value[at[0]])} is not allowed"
            raise yaml.MarkedYAMLError(dotted(path), None, problem, node.start_mark, "remove it")
        return str(node.value) if node.style else plain_value(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, (*path, number), places) for number, item in enumerate(node.value)]
    data: dict[str, Data] = {}
    for key, value in node.value:
        is_text = isinstance(key, yaml.ScalarNode)
        if not is_text or key.value in data:
            name = shortened(key.value, limits.LONGEST_QUOTED) if is_text else ""
            problem = f"key '{name}' is repeated" if is_text else "a key that is not text"
            remedy = "write each key once, as text"
            raise yaml.MarkedYAMLError(dotted(path), None, problem, key.start_mark, remedy)
        _data(key, (*path, key.value), places)
        data[key.value] = _data(value, (*path, key.value), places)
    return data


def _yaml_fault(error: Any, text: str) -> Fault:
    if not isinstance(error, yaml.MarkedYAMLError):
        line = text.encode().count(b"\n", 0, error.position) + 1
        problem = f"character {described(chr(error.character))} is not allowed"
        return Fault("", problem, "remove it", line)
    # An unclosed quote, bracket or key is wrong at its beginning; the parser stops later.
    begun = re.search("quoted scalar|simple key|a flow", error.context or "")
    line, column = _place((begun and error.context_mark) or error.problem_mark)
    if error.note:
        return Fault(on_one_line(error.context or ""), str(error.problem), error.note, line, column)
    near = shortened("".join(text.splitlines()[line - 1 : line]).strip(), limits.LONGEST_QUOTED)
    problem = f"{str(error.problem).removeprefix('but ')}, in '{near}'"
    return Fault("", problem, "check quotes, colons and indentation here", line, column)


def _place(mark: Any) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark else (0, 0)


class FileKind(StrEnum):
    """A kind of JSON file."""

    BUNDLE = "bundle"
    RUN = "negotiation"
    BATCH = "batch of negotiations"
    STUDY = "study"
    PLAN = "plan"
    KEPT_PLAN = "plan with its study and lab"
    LAB = "lab"


_KEYS: Final = {
    FileKind.BUNDLE: {"input_hash"},
    FileKind.RUN: {"setup"},
    FileKind.BATCH: {"asked", "results"},
    FileKind.STUDY: {"paper", "labs"},
    FileKind.PLAN: {*PROTOCOL_FIELDS},
    FileKind.KEPT_PLAN: {"study"},  # a plan alone has it, too
    FileKind.LAB: {"lab"},
}
"""The keys of each kind; one of them is enough, and the first kind counts."""


def kind_of(values: Values) -> FileKind | None:
    return next((kind for kind, keys in _KEYS.items() if keys & values.keys()), None)


def format_problem(number: object, read_here: int = FILE_FORMAT) -> Refusal | None:
    """Return why a file of this format cannot be read; None if it can."""
    if not isinstance(number, int) or number == read_here:
        return None
    if number > read_here:
        return Refusal("a newer version of ReplicaLab wrote this file", "read it there")
    problem = "ReplicaLab 1 wrote this file, and this version does not read it"
    return Refusal(problem, "make it again here")


def read_json(data: bytes | str, source: str, holds: str, remedy: str) -> Values:
    """Return the values of a JSON file; ``holds`` names the expected content."""
    text, values = readable_text(data, source, limits.MOST_FILE_BYTES), None
    fault = Fault("", f"the file holds no {holds}", remedy)
    if sum(map(text.count, "[{,")) > limits.MOST_JSON_VALUES:
        fault = Fault(
            "", f"the file holds more than {limits.MOST_JSON_VALUES:,} values", "shorten it"
        )
    else:
        try:
            values = from_json(text, allow_inf_nan=False)
        except ValueError as error:
            problem, line, column = re.split(" at line | column ", str(error))
            problem = f"it is not JSON ({problem.replace('EOF', 'it ends')})"
            fault = Fault("", problem, remedy, int(line), int(column))
    if not isinstance(values, dict):
        raise ScenarioError(source, [fault])
    return values


def read_kind(data: bytes | str | Values, kind: FileKind, source: str) -> Values:
    """Return the values of a JSON file of a kind, read or to be read; raises ScenarioError."""
    remedy = f"load a {kind} that was saved here"
    values = data if isinstance(data, dict) else read_json(data, source, kind, remedy)
    file_kind = kind_of(values)
    fault = format_problem(values.get("format", FILE_FORMAT))
    if file_kind and not _KEYS[kind] & values.keys():
        fault = Refusal(f"the file holds a {file_kind}, no {kind}", remedy)
    if fault:
        raise ScenarioError(source, [Fault("", fault.problem, fault.remedy)])
    return values


_REMEDIES: Final = {  # By kind of error, or by pattern
    "string_type": "must be text, in quotes if it looks like a number or true or false",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list, one '- entry' per line",
    "dict_type": "must be 'key: value' lines, or {} for none",
    "model_type": "must be 'key: value' lines",
    f"^{IDENTIFIER}$": "must be lower-case letters, digits and _, beginning with a letter",
    f"^{CURRENCY}$": "must be 1 to 8 letters or €, £ or ¥, such as EUR",
    DOI: "must be a bare DOI such as 10.1000/xyz123, or null",
    "string_pattern_mismatch": "must be as it was saved",
}


def record_error(
    error: ValidationError, record: type[Record], source: str, document: ParsedFile | None = None
) -> ScenarioError:
    """Return pydantic's errors as faults of a file with a record, in the file's order."""
    details = error.errors(include_url=False)
    if document:
        details.sort(key=lambda detail: document.place(detail["loc"]))
    faults = []
    for detail in details[: limits.MOST_FAULTS]:
        path = tuple(step for step in detail["loc"] if step != "[key]")
        if field := detail.get("ctx", {}).get("field"):
            path = (*path, field)
        place = document.place(path) if document else (0, 0)
        faults.append(Fault(on_one_line(dotted(path)), *_in_words(detail, path, record), *place))
    return ScenarioError(source, faults, max(0, len(details) - limits.MOST_FAULTS))


def known_names(name: str, names: Sequence[str]) -> str:
    """Return the remedy for an unknown name: the nearest known one, and the known ones."""
    # The time of a comparison grows with the cube of the length.
    short = [label for label in names[:50] if len(name) + len(label) <= 80]
    near = get_close_matches(name, short, n=1)
    guess = f"did you mean '{near[0]}'? " if near else ""
    return f"{guess}known: {shortened(', '.join(names), 400) or 'none'}"


def _in_words(detail: ErrorDetails, path: FieldPath, record: type[Record]) -> tuple[str, str]:
    kind, message = detail["type"], detail["msg"]
    if kind == "missing":
        return "this field is missing", "add it"
    if kind == "extra_forbidden":
        return "unknown key", known_names(str(path[-1]), _known_keys(path[:-1], record))
    if kind == "unknown_label":
        return message, known_names(detail["input"], detail["ctx"]["known"])
    if kind == "refusal":
        return detail["ctx"]["problem"], detail["ctx"]["remedy"]
    if kind == "value_error":
        return str(detail["ctx"]["error"]), "change one of them"
    remedy_of_kind = _REMEDIES.get(detail.get("ctx", {}).get("pattern", "")) or _REMEDIES.get(kind)
    must = re.sub(r"^\w+ should", "must", message).partition(" after validation")[0]
    return f"{shown(detail['input'])} is not allowed", remedy_of_kind or must


_KINDS: Final[dict[object, tuple[Any, str]]] = {  # of an annotation: its classes, and their name
    NoneType: (NoneType, "None"),
    str: (str, "a text"),
    float: (Real, "a number"),
    abc.Callable: (abc.Callable, "a function"),
    abc.Mapping: (abc.Mapping, "a mapping"),
    abc.Sequence: (abc.Collection, "a list"),  # an array is no sequence
    abc.Iterable: (abc.Iterable, "a list"),
}
_CHECKED_LATER: Final = frozenset({str, int, NoneType, abc.Callable})  # with the allowed values
_P = ParamSpec("_P")
_T = TypeVar("_T")


def checked_call(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a function refuse an argument of another type by an ArgumentError; not its ``self``."""
    call = signature(function, eval_str=True)

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            arguments = call.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # Python's own message also names the function
        for name, value in arguments.items():
            parameter = call.parameters[name]
            items = {name: value}.items()
            if parameter.kind is parameter.VAR_KEYWORD:
                items = value.items()
            elif parameter.kind is parameter.VAR_POSITIONAL:
                items = {f"{name} {at}": item for at, item in enumerate(value, start=1)}.items()
            for place, item in items:
                _require_type(function.__name__, place, item, parameter.annotation)
        return function(*args, **kwargs)

    return checked


def _require_type(call: str, name: str, value: object, annotation: Any) -> None:
    is_union = get_origin(annotation) in (Union, UnionType)
    members = get_args(annotation) if is_union else (annotation,)
    origins, words = [get_origin(member) or member for member in members], []
    if annotation is Parameter.empty or (
        {str, int}.intersection(origins) and _CHECKED_LATER.issuperset(origins)
    ):
        return
    if origins == [Literal]:
        require(call, name, value, get_args(annotation))
        return
    for member, origin in zip(members, origins, strict=True):
        classes, word = _KINDS.get(origin, (origin, origin.__name__))
        words.append(word)
        is_list = word == "a list"
        if isinstance(value, classes) and not (
            is_list and isinstance(value, str | bytes | dict | Record)
        ):
            for item in value if is_list and isinstance(value, abc.Collection) else ():
                _require_type(call, name, item, get_args(member)[0])
            return
    remedy = f"use {joined(words, 'or')}"
    raise ArgumentError(call, [Fault(name, f"{shown(value)} is not allowed", remedy)])


def require(call: str, name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse an argument outside the allowed texts."""
    if not isinstance(value, str) or value not in allowed:
        fault = Fault(name, f"{shown(value)} is not allowed", f"use {joined(allowed, 'or')}")
        raise ArgumentError(call, [fault])


def shown(value: object) -> str:
    """Return a value as a short quotation for a message."""
    if isinstance(value, dict | list):
        return "a block of keys" if isinstance(value, dict) else f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "an empty value", True: "true", False: "false"}[value]
    return shortened(on_one_line(repr(value)), limits.LONGEST_QUOTED)


def _known_keys(path: FieldPath, record: type[Record]) -> list[str]:
    for step in path:
        if isinstance(step, str) and step in record.model_fields:
            record = next(_records_in(record.model_fields[step].annotation), record)
    return list(record.model_fields)


def _records_in(annotation: object) -> Iterator[type[Record]]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield annotation
    for part in get_args(annotation):
        yield from _records_in(part)
