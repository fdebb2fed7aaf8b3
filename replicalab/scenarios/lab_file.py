"""A lab of one's own as a small file, JSON: what leaves, and what is taken of one that arrives."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final, Literal

from pydantic import ValidationError

from replicalab.models import Record
from replicalab.scenarios.checking import record_error
from replicalab.scenarios.json_file import Held, JsonFile, Values
from replicalab.scenarios.own import OwnLab
from replicalab.scenarios.reading import MOST_VALUES

FORMAT: Final = 1
MOST_BYTES: Final = 512 * 1024
"""The largest file that is read: 200 items of 300 characters, each written as an escape, fit."""
SOURCE: Final = "the lab's file"

_FILE: Final = JsonFile(
    source=SOURCE,
    holds=Held.LAB,
    remedy="load a file that was saved as a lab here",
    most_bytes=MOST_BYTES,
    most_values=MOST_VALUES,
    newest=FORMAT,
)


class _LabFile(Record):
    """What a file holds."""

    format: Literal[1]
    lab: OwnLab


def lab_json(own_lab: OwnLab) -> str:
    """Return a lab as the text of a file; what it leaves to the study is left out."""
    lab = own_lab.model_dump(mode="json", exclude_defaults=True)
    return json.dumps({"format": FORMAT, "lab": lab}, ensure_ascii=False, indent=1) + "\n"


def read_lab(data: bytes | Values, source: str = SOURCE) -> OwnLab:
    """Return the lab that `lab_json` wrote.

    Raises:
        ScenarioError: with what is wrong, by place and with its remedy; of each list the first.
    """
    held = replace(_FILE, source=source).read(data)
    try:
        return _LabFile.model_validate(held).lab
    except ValidationError as error:
        raise record_error(error, _LabFile, source) from error
