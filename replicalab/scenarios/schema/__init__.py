"""The format of a study file as a JSON Schema, for editors that complete and check as one types.

It is made from the models and never written by hand: ``python -m replicalab.scenarios.schema``
rewrites the shipped file. What only holds between fields is left to `parse_study`.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Final, get_args

from replicalab.models import Record
from replicalab.scenarios.reading import Data
from replicalab.scenarios.study import Study

SCHEMA_FILE: Final = "study.schema.json"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SECTION: Final = "\n\nAttributes:\n"
_ENTRY: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)

Schema = dict[str, Data]


def study_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of a study file."""
    schema: Schema = Study.model_json_schema()
    definitions = schema["$defs"]
    for record in _records(Study):
        part = schema if record is Study else _block(definitions)[record.__name__]
        _describe(_block(part), record)
    return {"$schema": _DIALECT, **schema, "title": "ReplicaLab study"}


def schema_text() -> str:
    """Return the shipped file's text."""
    return json.dumps(study_schema(), indent=2, ensure_ascii=False) + "\n"


def _block(data: Data) -> Schema:
    """Return a part of a schema that is known to be a mapping."""
    if not isinstance(data, dict):
        raise TypeError(f"expected a mapping in the schema, got {data!r}")
    return data


def _describe(schema: Schema, record: type[Record]) -> None:
    """Put what the record's docstring says into its schema."""
    summary, fields = documented(record)
    schema["description"] = summary
    for name, part in _block(schema["properties"]).items():
        if name in fields:
            _block(part)["description"] = fields[name]


def documented(record: type[Record]) -> tuple[str, dict[str, str]]:
    """Return what a record's docstring says of it, and of each of its fields."""
    said = inspect.cleandoc(record.__doc__ or "").replace("``", "'")
    summary, _, attributes = said.partition(_SECTION)
    fields = {name: _one_line(text) for name, text in _ENTRY.findall(attributes)}
    return "\n\n".join(map(_one_line, summary.split("\n\n"))), fields


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _records(record: type[Record]) -> Iterator[type[Record]]:
    """Yield a record and every record within it."""
    yield record
    for field in record.model_fields.values():
        for inner in _records_in(field.annotation):
            yield from _records(inner)


def _records_in(annotation: object) -> Iterator[type[Record]]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield annotation
    for part in get_args(annotation):
        yield from _records_in(part)
