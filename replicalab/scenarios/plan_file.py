"""A plan as a small file, JSON: its seven fields, each by its name, and its study's id."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from pydantic import ValidationError

from replicalab.models import MOST_BYTES, Protocol, too_large
from replicalab.scenarios.checking import record_error
from replicalab.scenarios.fields import Identifier
from replicalab.scenarios.json_file import Held, JsonFile, Values
from replicalab.scenarios.reading import MOST_VALUES

_MOST_READ: Final = 8 * MOST_BYTES
"""The largest file that is read: what fits a plan, each character written as an escape."""


class _PlanFile(Protocol):
    """What a file holds."""

    study: Identifier | None = None


class SavedPlan(NamedTuple):
    """A plan out of a file.

    Attributes:
        plan: its seven fields.
        study: the id of the study that it was saved for; None where the file names none.
    """

    plan: Protocol
    study: str | None


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
    file = JsonFile(source, Held.PLAN, remedy, _MOST_READ, MOST_VALUES, newest=1)
    held = file.read(data)
    try:
        found = _PlanFile.model_validate(held)
    except ValidationError as error:
        raise record_error(error, _PlanFile, source) from None
    plan = Protocol.model_validate(found.model_dump(exclude={"study"}))
    for problem in too_large(plan):
        value, _, limit = problem.partition("; ")
        file.refuse("", value, limit)
    return SavedPlan(plan, found.study)
