"""What a draft makes: its study, or what is wrong, beside the field that it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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
        return Checked(None, _by_field(error.faults, draft.others), error.more, text)


def _by_field(found: Sequence[Fault], others: Others) -> dict[str, list[Fault]]:
    """Return faults by field; one that other labs only repeat stands once, at the lab asked for."""
    faults: dict[str, list[Fault]] = {}
    repeated: dict[str, list[Fault]] = {}
    for fault in found:
        asked = fault.path
        for level in OTHER_LABS if others is not Others.KEPT else ():
            if asked.startswith(f"labs.{level}"):
                asked = asked.replace(level, YOUR_LAB, 1)
        kept = faults if asked == fault.path else repeated
        kept.setdefault(_place(asked, fault.problem), []).append(fault)
    for path, same in repeated.items():
        faults.setdefault(path, same[:1])
    return faults


def _place(path: str, problem: str) -> str:
    """Return the field of a fault: of a block's, the field that its words name first."""
    block = _BLOCKS.get(path)
    if block is None:
        return path
    for word in re.findall(r"\w+", problem):
        name = f"{word}s" if f"{word}s" in block.model_fields else word
        if name in block.model_fields:
            path = f"{path}.{name}".removeprefix(".")
            break
    labels = (name for name, label in FIELD_LABELS.items() if f": {label} " in problem)
    return f"{path}.{next(labels, '')}".removesuffix(".")


_BLOCKS: Final[dict[str, type[Record]]] = {"": Study, "design": Design, f"labs.{YOUR_LAB}": Lab}
"""The blocks whose fields a form shows, and whose rules may be between fields."""
