"""The study in the form: a draft, its file as its author wrote it, and what came before."""

import secrets
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final, NamedTuple

import streamlit as st

from replicalab import drafts
from replicalab.drafts import NAME, NEW_NAME, Checked, Draft, check, new_study
from replicalab.errors import Fault, ScenarioError
from replicalab.scenarios import Study, list_scenarios, parse_study, term_in
from replicalab.ui import own_studies, state

_KEY: Final = "study_form"
_NEW: Final = "my_study"
_STEPS_KEPT: Final = 100  # that can be undone


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

    draft: Draft = field(default_factory=lambda: Draft(new_study(_NEW)))
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
            self.checked = check(self.draft, own_studies.usable_study)
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

    def show(self, draft: Draft) -> None:
        """Show a draft that has no text yet."""
        self.draft, self.text, self.checked, self.refused = draft, None, None, None

    def read(self, text: str) -> None:
        """Take a file's text; one that cannot be used stays in the editor alone."""
        self.text, self.refused = text or None, None
        self.begun, self.choosing = True, False
        if not text:
            return
        try:
            study = own_studies.usable_study(text, NAME)
        except ScenarioError as error:
            self.refused = error
            return
        self.draft, self.checked = Draft.of(study), None
        self.version += 1

    def remember(self) -> None:
        """Have undo bring back this state."""
        size = len(self.text or "") + len(self.result.read)
        steps = [*self.past, FormStep(self.draft, self.text, self.begun, size)]
        self.past = state.latest(steps, _STEPS_KEPT, lambda step: step.size)


def current() -> FormSession:
    """Return what this visitor is making."""
    session: FormSession = st.session_state.setdefault(_KEY, FormSession())
    return session


def draft() -> Draft:
    """Return what the form shows."""
    return current().draft


def term(name: str) -> str:
    """Return a label of the program in the words of the study's field."""
    return term_in(str(draft().at("domain_id")), name)


def new_id() -> str:
    """Return an id that no study of this visitor or of the shelf has."""
    taken = {*own_studies.kept(), *(summary.scenario_id for summary in list_scenarios())}
    return next(name for n in count(1) if (name := _NEW if n == 1 else f"{_NEW}_{n}") not in taken)


def free_name() -> str:
    """Return a name for a new study that no other has."""
    return drafts.free_name(NEW_NAME, own_studies.names())


def with_free_name(text: str) -> str:
    """Return the file of a copy under a name that no other study has."""
    study = parse_study(text, NAME)
    name, longest = study.paper.name, drafts.longest_name(study)
    return drafts.renamed(text, study, drafts.free_name(name, own_studies.names(), longest))


def change(draft: Draft, *, redraw: bool = False) -> None:
    """Take a draft that the form has changed; draw all widgets anew if more than one changed."""
    now = current()
    if draft != now.draft:
        now.remember()
        now.show(draft)
    now.version += redraw


def begin(draft: Draft) -> None:
    """Take a draft from elsewhere, and show it."""
    now = current()
    now.remember()
    now.show(draft)
    now.begun, now.choosing = True, False
    now.version += 1


def write(text: str) -> None:
    """Take a file; one that cannot be used stays in the editor, and the form as it was."""
    now = current()
    if not now.begun or now.choosing or text != now.file:
        now.remember()
        now.read(text)


def undo() -> None:
    """Go back to the state before the last change."""
    now = current()
    if now.past:
        step = now.past.pop()
        now.show(step.draft)
        if step.text is not None:
            now.read(step.text)
        now.begun = step.begun
        now.version += 1


def open_on_protocol(text: str, study: Study) -> str:
    """Keep a study and open it on Protocol; return why it cannot be kept, and change nothing."""
    refused = own_studies.refusal(text, study) or state.bring(text, study)
    if not refused:
        st.switch_page("pages/1_Protocol.py", query_params=state.address())
    return refused
