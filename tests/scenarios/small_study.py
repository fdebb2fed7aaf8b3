"""One small valid study file, written as a scientist would, and ways to bend it."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from replicalab.errors import ScenarioError
from replicalab.scenarios import Study, parse_study
from replicalab.scenarios.reading import Data, FieldPath, read_document

STUDY_TEXT: Final = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")

SMALL: Final = read_document(STUDY_TEXT, "small").data


def bent(*changes: tuple[str, str]) -> str:
    text = STUDY_TEXT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def named(scenario_id: str, domain_id: str = "demo") -> str:
    return bent(("tiny", scenario_id), ("demo", domain_id))


def with_values(*changes: tuple[str | FieldPath, object]) -> str:
    data = json.loads(json.dumps(SMALL))
    for path, value in changes:
        put(data, path, copy.deepcopy(value))
    return json.dumps(data, ensure_ascii=False, indent=1)


def put(data: Any, path: str | FieldPath, value: object) -> None:
    steps = (
        [int(s) if s.isdigit() else s for s in path.split(".")] if isinstance(path, str) else path
    )
    for step in steps[:-1]:
        data = data[step]
    data[steps[-1]] = value


def parts(data: Data, here: FieldPath = ()) -> Iterator[tuple[FieldPath, Data]]:
    inner: list[tuple[str | int, Data]] = []
    if isinstance(data, dict):
        inner = [*data.items()]
    elif isinstance(data, list):
        inner = [*enumerate(data)]
    for step, value in inner:
        yield (*here, step), value
        yield from parts(value, (*here, step))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(ScenarioError) as refused:
        call()
    return str(refused.value)


def message(text: str | bytes) -> str:
    return refusal(lambda: parse_study(text, "x.yaml"))


def outcome(text: str | bytes) -> Study | ScenarioError:
    try:
        return parse_study(text, "x.yaml")
    except ScenarioError as error:
        return error
