"""A plan, and a lab of one's own, each as a small file: JSON, by the names of its fields."""

from __future__ import annotations

import json
from typing import Final, Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from replicalab.models import MOST_BYTES as LARGEST_PLAN
from replicalab.models import Protocol, Record, too_large
from replicalab.scenarios.checking import record_error
from replicalab.scenarios.fields import Identifier
from replicalab.scenarios.json_file import FileKind, JsonFile, Values
from replicalab.scenarios.own import LabOverrides
from replicalab.scenarios.reading import MOST_VALUES

_FORMAT: Final = 1
MOST_LAB_BYTES: Final = 512 * 1024
"""The largest file of a lab: 200 items of 300 characters, each written as an escape, fit."""
# The largest file of a plan: what fits a plan, each character written as an escape.
_MOST_PLAN_BYTES: Final = 8 * LARGEST_PLAN
_M = TypeVar("_M", bound=Record)


class _LabFile(Record):
    format: Literal[1]
    lab: LabOverrides


class _PlanFile(Protocol):
    study: Identifier | None = None


class SavedPlan(NamedTuple):
    """A plan out of a file, and the id of the study that it was saved for, where it names one."""

    plan: Protocol
    study: str | None


def lab_json(own_lab: LabOverrides) -> str:
    """Return a lab as the text of a file; what it leaves to the study is left out."""
    lab = own_lab.model_dump(mode="json", exclude_defaults=True)
    return json.dumps({"format": _FORMAT, "lab": lab}, ensure_ascii=False, indent=1) + "\n"


def read_lab(data: bytes | Values, source: str = "the lab's file") -> LabOverrides:
    """Return the lab that `lab_json` wrote.

    Raises:
        ScenarioError: with what is wrong, by place and with its remedy; of each list the first.
    """
    remedy = "load a file that was saved as a lab here"
    file = JsonFile(source, FileKind.LAB, remedy, MOST_LAB_BYTES, MOST_VALUES, _FORMAT)
    return _read(_LabFile, file, data).lab


def plan_json(plan: Protocol, study: str) -> str:
    """Return a plan as the text of a file, with the id of its study."""
    said = {**plan.model_dump(mode="json"), "study": study}
    return json.dumps(said, ensure_ascii=False, indent=1) + "\n"


def read_plan(data: bytes | Values, source: str = "the plan's file") -> SavedPlan:
    """Return the plan that `plan_json` wrote, or somebody by hand.

    Raises:
        ScenarioError: with what is wrong, by place and with its remedy; of each list the first.
    """
    remedy = "load a plan that was saved here"
    file = JsonFile(source, FileKind.PLAN, remedy, _MOST_PLAN_BYTES, MOST_VALUES, _FORMAT)
    found = _read(_PlanFile, file, data)
    plan = Protocol.model_validate(found.model_dump(exclude={"study"}))
    for problem in too_large(plan):
        value, _, limit = problem.partition("; ")
        file.refuse("", value, limit)
    return SavedPlan(plan, found.study)


def _read(model: type[_M], file: JsonFile, data: bytes | Values) -> _M:
    held = file.read(data)
    try:
        return model.model_validate(held)
    except ValidationError as error:
        raise record_error(error, model, file.source) from error
