"""What a draft makes: its study, or what is wrong, beside the field that it is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from replicalab.drafts.draft import NAME, Draft, Others
from replicalab.drafts.labs import OTHER_LABS, YOUR_LAB
from replicalab.errors import Fault, ScenarioError
from replicalab.models import FIELD_LABELS, Record
from replicalab.scenarios import Design, Lab, Study, parse_study
from replicalab.scenarios.writing import study_yaml


@dataclass(frozen=True)
class Checked:
    """What a draft makes.

    Attributes:
        study: where nothing is wrong with it.
        faults: what is wrong, by dotted field path.
        more: how many faults there are beyond these.
        read: its file as it was read.
    """

    study: Study | None
    faults: dict[str, list[Fault]]
    more: int
    read: str

    @cached_property
    def text(self) -> str:
        """The study's file for people: of a study that can be used in the order of its fields."""
        return study_yaml(self.study) if self.study else self.read


def check(draft: Draft, read: Callable[[str, str], Study] = parse_study) -> Checked:
    """Return what a draft makes.

    Args:
        draft: the draft.
        read: reads the file; it may refuse more than `parse_study` does.
    """
    text = draft.text()
    try:
        return Checked(read(text, NAME), {}, 0, text)
    except ScenarioError as error:
        faults: dict[str, list[Fault]] = {}
        for fault in error.faults:
            path = _place(fault)
            derived = any(path.startswith(f"labs.{level}") for level in OTHER_LABS)
            if draft.others is Others.KEPT or not derived:
                faults.setdefault(path, []).append(fault)
        return Checked(None, faults, error.more, text)


def _place(fault: Fault) -> str:
    """Return the field of a fault: of a block's, the field that its words name first."""
    path, block = fault.path, _BLOCKS.get(fault.path)
    if block is None:
        return path
    for word in re.findall(r"\w+", fault.problem):
        name = f"{word}s" if f"{word}s" in block.model_fields else word
        if name in block.model_fields:
            path = f"{path}.{name}".removeprefix(".")
            break
    labels = (name for name, label in FIELD_LABELS.items() if f": {label} " in fault.problem)
    return f"{path}.{next(labels, '')}".removesuffix(".")


_BLOCKS: Final[dict[str, type[Record]]] = {"": Study, "design": Design, f"labs.{YOUR_LAB}": Lab}
"""The blocks whose fields a form shows, and whose rules may be between fields."""
