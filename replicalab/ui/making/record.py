"""The study that a visitor is making: a draft, its file as they wrote it, and what came before."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, count
from typing import Final, NamedTuple

import streamlit as st

from replicalab.drafts import NAME, Checked, Draft, check, new_study
from replicalab.errors import Fault, ScenarioError
from replicalab.scenarios import Study, list_scenarios
from replicalab.ui import own_studies

_RECORD: Final = "making"
_NEW: Final = "my_study"
_REMEMBERED: Final = 100
_REMEMBERED_BYTES: Final = 2**20
"""What can be undone: so many steps, and so many bytes of files."""


class Step(NamedTuple):
    """What stood in the form, and in the editor where its text was written there."""

    draft: Draft
    text: str | None
    begun: bool
    size: int


@dataclass
class Making:
    """The study that is being made.

    Attributes:
        draft: what the form shows.
        text: the file as it was typed or uploaded; None where the form wrote last.
        begun: whether there is something to show; until then one chooses what to begin with.
        choosing: whether one chooses anew, with what there is kept.
        past: what undo brings back, the next one last.
        version: in the keys of the form's widgets: a draft from elsewhere draws them anew.
        part: the part of the form that was open last.
        checked: what the draft makes; None before that is asked for.
        refused: why the text cannot be used; None where it can, or there is none.
    """

    draft: Draft = field(default_factory=lambda: Draft(new_study(_NEW)))
    text: str | None = None
    begun: bool = False
    choosing: bool = False
    past: list[Step] = field(default_factory=list)
    version: int = field(default_factory=partial(secrets.randbelow, 2**32))
    part: str = ""
    checked: Checked | None = None
    refused: ScenarioError | None = None

    @property
    def study(self) -> Study | None:
        """The study that can be used now; None where something is wrong."""
        return None if self.refused else self.found.study

    @property
    def found(self) -> Checked:
        """What the draft makes, worked out once."""
        if self.checked is None:
            self.checked = check(self.draft, own_studies.usable_study)
        return self.checked

    @property
    def faults(self) -> list[Fault]:
        """What is wrong with the file, or with what the form shows."""
        if self.refused:
            return list(self.refused.faults)
        return [fault for faults in self.found.faults.values() for fault in faults]

    @property
    def more_faults(self) -> int:
        """How many faults there are beyond these."""
        return self.refused.more if self.refused else self.found.more

    @property
    def file(self) -> str:
        """The study's file: as its author wrote it, or as the form writes it."""
        return self.found.text if self.text is None else self.text


def current() -> Making:
    """Return what this visitor is making."""
    found: Making = st.session_state.setdefault(_RECORD, Making())
    return found


def draft() -> Draft:
    """Return what the form shows."""
    return current().draft


def new_id() -> str:
    """Return the id of a new study: one that none of this visitor's, and none on the shelf, has."""
    taken = {*own_studies.kept(), *(summary.scenario_id for summary in list_scenarios())}
    return next(name for n in count(1) if (name := _NEW if n == 1 else f"{_NEW}_{n}") not in taken)


def change(draft: Draft) -> None:
    """Take a draft that the form has changed."""
    now = current()
    if draft != now.draft:
        _remember(now)
        now.draft, now.text, now.checked, now.refused = draft, None, None, None


def begin(draft: Draft) -> None:
    """Take a draft from elsewhere, and show it."""
    now = current()
    _remember(now)
    now.draft, now.text, now.checked, now.refused = draft, None, None, None
    now.begun, now.choosing = True, False
    now.version += 1


def write(text: str) -> None:
    """Take a file; one that cannot be used stays in the editor, and the form as it was."""
    now = current()
    if not now.begun or now.choosing or text != now.file:
        _remember(now)
        _take_text(now, text)


def undo() -> None:
    """Go back to what stood here before the last change."""
    now = current()
    if now.past:
        step = now.past.pop()
        now.draft, now.checked, now.begun = step.draft, None, step.begun
        if step.text is None:
            now.text, now.refused = None, None
        else:
            _take_text(now, step.text)
        now.version += 1


def _take_text(now: Making, text: str) -> None:
    now.text, now.refused = text or None, None
    now.begun, now.choosing = True, False
    if not text:
        return
    try:
        study = own_studies.usable_study(text, NAME)
    except ScenarioError as error:
        now.refused = error
        return
    now.draft, now.checked = Draft.of(study), None
    now.version += 1


def _remember(now: Making) -> None:
    size = len(now.text or "") + len(now.found.read)
    steps = [*now.past, Step(now.draft, now.text, now.begun, size)][-_REMEMBERED:]
    sizes = accumulate(step.size for step in reversed(steps))
    held = sum(total <= _REMEMBERED_BYTES for total in sizes)
    now.past = steps[len(steps) - held :]
