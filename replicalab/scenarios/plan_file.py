"""A plan as a small file, JSON: its seven fields, each by its name."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from replicalab.models import MOST_BYTES, Protocol, too_large
from replicalab.scenarios.checking import record_error
from replicalab.scenarios.json_file import JsonFile
from replicalab.scenarios.reading import MOST_VALUES

_MOST_READ: Final = 8 * MOST_BYTES
"""The largest file that is read: what fits a plan, each character written as an escape."""


def plan_json(plan: Protocol) -> str:
    """Return a plan as the text of a file."""
    return plan.model_dump_json(indent=1) + "\n"


def read_plan(data: bytes, source: str = "the plan's file") -> Protocol:
    """Return the plan that `plan_json` wrote, or somebody by hand.

    Raises:
        ScenarioError: with every fault, by place, and its remedy.
    """
    remedy = "load a plan that was saved here"
    file = JsonFile(source, "plan", remedy, _MOST_READ, MOST_VALUES, newest=1)
    held = file.read(data)
    try:
        plan = Protocol.model_validate(held)
    except ValidationError as error:
        raise record_error(error, Protocol, source) from None
    for problem in too_large(plan):
        value, _, limit = problem.partition("; ")
        file.refuse("", value, limit)
    return plan
