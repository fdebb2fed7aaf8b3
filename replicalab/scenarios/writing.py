"""Files of a study (YAML), a plan and a lab (JSON); the latter two are also read here."""

import json
from typing import Any, Final, Literal, NamedTuple, TypeVar

import yaml
from pydantic import ValidationError

from replicalab.errors import Fault, ScenarioError
from replicalab.limits import LARGEST_COUNT
from replicalab.models import Protocol, Record, too_large
from replicalab.scenarios import reading
from replicalab.scenarios.field_types import Identifier
from replicalab.scenarios.overrides import LabOverrides
from replicalab.scenarios.study import Study

_WIDTH: Final = 96  # of a line, with two columns left for quotes
_TEXT: Final = "tag:yaml.org,2002:str"
_NO_TEXT: Final = "tag:yaml.org,2002:null"


def study_yaml(study: Study) -> str:
    return data_yaml(study_data(study))


def study_data(study: Study) -> dict[str, reading.Data]:
    """Return the content of a study's file: required fields, and values that differ."""
    data: dict[str, reading.Data] = study.model_dump(mode="json", exclude_defaults=True)
    return {key: _plain(value) for key, value in data.items()}


def data_yaml(data: dict[str, reading.Data]) -> str:
    """Return data as the text of a file, valid or not, with a blank line around each block."""
    text, was_block = "", False
    for key, value in data.items():
        is_block = isinstance(value, dict | list) and bool(value)
        text += "\n" * (bool(text) and (is_block or was_block))
        text += yaml.dump(
            {key: value}, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH
        )
        was_block = is_block
    return text


def _plain(value: reading.Data) -> reading.Data:
    # A person writes a whole number without a point.
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_COUNT
    return int(value) if whole and isinstance(value, float) else value


class _Dumper(yaml.SafeDumper):
    """Quotes every text that this reader or another would read as something else."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        del indentless
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        tag = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        is_text = kind is yaml.ScalarNode and implicit[0] and tag == _TEXT
        return _NO_TEXT if is_text and reading.plain_value(value) is not value else tag


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        _TEXT, text, style="|" if "\n" in text and text == text.strip() else None
    ),
)


_M = TypeVar("_M", bound=Record)


class _LabFile(Record):
    format: Literal[2]
    lab: LabOverrides


class _PlanFile(Protocol):
    study: Identifier | None = None


class SavedPlan(NamedTuple):
    """A plan from a file, and the id of its study, if the file has one."""

    plan: Protocol
    study: str | None


def lab_json(own_lab: LabOverrides) -> str:
    """Return a lab as the text of a file, without the values that it leaves to the study."""
    lab = own_lab.model_dump(mode="json", exclude_defaults=True)
    record = {"format": reading.FILE_FORMAT, "lab": lab}
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def read_lab(data: bytes | reading.Values, source: str = "the lab's file") -> LabOverrides:
    """Return the lab that `lab_json` wrote; raises ScenarioError."""
    return _checked(_LabFile, reading.read_kind(data, reading.FileKind.LAB, source), source).lab


def plan_json(plan: Protocol, study: str) -> str:
    record = {**plan.model_dump(mode="json"), "study": study}
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def read_plan(data: bytes | reading.Values, source: str = "the plan's file") -> SavedPlan:
    """Return the plan in a file of `plan_json`; raises ScenarioError."""
    values = reading.read_kind(data, reading.FileKind.PLAN, source)
    file = _checked(_PlanFile, values, source)
    plan = Protocol.model_validate(file.model_dump(exclude={"study"}))
    for fault in too_large(plan):
        raise ScenarioError(source, [Fault("", fault.problem, fault.remedy)])
    return SavedPlan(plan, file.study)


def _checked(model: type[_M], values: reading.Values, source: str) -> _M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise reading.record_error(error, model, source) from error
