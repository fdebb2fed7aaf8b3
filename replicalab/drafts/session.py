"""What a form edits: a draft, its file as its author wrote it, and the steps of undo."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from replicalab.drafts.beginning import new_study
from replicalab.drafts.draft import NAME, Checked, Draft, check
from replicalab.errors import Fault, ScenarioError
from replicalab.scenarios import Study

NEW_ID: Final = "my_study"
_STEPS: Final = 100  # that undo keeps
_STEP_CHARACTERS: Final = 2**20  # of their texts together


class FormStep(NamedTuple):
    """What the form showed, and the editor's text if it was written there."""

    draft: Draft
    text: str | None
    begun: bool
    size: int


@dataclass
class FormSession:
    """The study that a visitor is making.

    Attributes:
        reader: reads a file as a study that the visitor can use.
        draft: what the form shows.
        text: the file as it was typed or uploaded; None if the form wrote last.
        begun: whether there is a study to show.
        choosing: whether the visitor chooses a new beginning; the study is kept.
        past: what undo brings back, the next one last.
        version: in the keys of the form's widgets: a draft from elsewhere draws them anew.
        part: the part of the form that was open last.
        checked: what the draft makes; None until asked for.
        refused: why the text cannot be used.
    """

    reader: Callable[[str, str], Study]
    draft: Draft = field(default_factory=lambda: Draft(new_study(NEW_ID)))
    text: str | None = None
    begun: bool = False
    choosing: bool = False
    past: list[FormStep] = field(default_factory=list)
    # A tab that outlived its server still holds what was typed there under its old keys.
    version: int = field(default_factory=partial(secrets.randbelow, 2**32))
    part: str = ""
    checked: Checked | None = None
    refused: ScenarioError | None = None

    @property
    def study(self) -> Study | None:
        """The study that can be used now; None if something is wrong."""
        return None if self.refused else self.result.study

    @property
    def result(self) -> Checked:
        """What the draft makes."""
        if self.checked is None:
            self.checked = check(self.draft, self.reader)
        return self.checked

    @property
    def faults(self) -> list[Fault]:
        """What is wrong with the file, or with what the form shows."""
        if self.refused:
            return list(self.refused.faults)
        return [fault for faults in self.result.faults.values() for fault in faults]

    @property
    def more_faults(self) -> int:
        """How many faults there are beyond these."""
        return self.refused.more if self.refused else self.result.more

    @property
    def file(self) -> str:
        """The study's file: as its author wrote it, or as the form writes it."""
        return self.result.text if self.text is None else self.text

    def change(self, draft: Draft, *, redraw: bool = False) -> None:
        """Take a draft that the form has changed; draw all widgets anew if more than one did."""
        if draft != self.draft:
            self._remember()
            self._show(draft)
        self.version += redraw

    def begin(self, draft: Draft) -> None:
        """Take a draft from elsewhere, and show it."""
        self._remember()
        self._show(draft)
        self.begun, self.choosing = True, False
        self.version += 1

    def write(self, text: str) -> None:
        """Take a file; one that cannot be used stays in the editor, and the form as it was."""
        if not self.begun or self.choosing or text != self.file:
            self._remember()
            self._read(text)

    def undo(self) -> None:
        """Go back to the state before the last change."""
        if self.past:
            step = self.past.pop()
            self._show(step.draft)
            if step.text is not None:
                self._read(step.text)
            self.begun = step.begun
            self.version += 1

    def _show(self, draft: Draft) -> None:
        self.draft, self.text, self.checked, self.refused = draft, None, None, None

    def _read(self, text: str) -> None:
        self.text, self.refused = text or None, None
        self.begun, self.choosing = True, False
        if not text:
            return
        try:
            study = self.reader(text, NAME)
        except ScenarioError as error:
            self.refused = error
            return
        self.draft, self.checked = Draft.of(study), None
        self.version += 1

    def _remember(self) -> None:
        size = len(self.text or "") + len(self.result.read)
        self.past = [*self.past, FormStep(self.draft, self.text, self.begun, size)][-_STEPS:]
        while sum(step.size for step in self.past) > _STEP_CHARACTERS:
            del self.past[0]
