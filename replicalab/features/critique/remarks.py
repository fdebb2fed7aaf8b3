"""What a remark of a reviewer is made of, and what it is judged from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, breaks
from replicalab.designs import KINDS, Kind
from replicalab.lexicon import is_given, one_line, shortened
from replicalab.registration import Finder, Registration
from replicalab.scenarios import Design, Pack

_LONGEST: Final = 240  # The most characters that are quoted of a text
_SENTENCE_END: Final = re.compile(r"(?<=[.;!?])\s+")


class RemarkStanding(StrEnum):
    """Where a question stands."""

    CONCERN = "raises a concern"
    UNSAID = "nobody said"
    ANSWERED = "answered"


class Place(NamedTuple):
    """Where something is mended: a page or a drawer, and the field there."""

    page: str
    field: str

    def __str__(self) -> str:
        """Return it as people read it: ``Protocol: Controls``."""
        return f"{self.page}: {self.field}"


class Judged(NamedTuple):
    """Where a question stands, a sentence of why, and who says so; None where nobody does."""

    standing: RemarkStanding
    text: str
    finder: Finder | None = None


class Remark(NamedTuple):
    """A question of a reviewer, judged.

    Attributes:
        key: the question's name in files.
        asks: the question.
        standing: where it stands.
        text: what core, author or study's file say, in a sentence or two.
        finder: who says so; None where nobody does.
        place: where it is mended.
    """

    key: str
    asks: str
    standing: RemarkStanding
    text: str
    finder: Finder | None
    place: Place


class Reviewed(NamedTuple):
    """What is reviewed: a plan in its lab, and what its author answers on registration forms."""

    plan: Assessment
    said: Registration

    @property
    def pack(self) -> Pack:
        """The study in its lab."""
        return self.plan.pack

    @property
    def design(self) -> Design:
        """The design, as it is asked."""
        return self.plan.pack.design

    @property
    def kind(self) -> Kind:
        """The row of its kind."""
        return KINDS[self.design.kind]

    @property
    def groups(self) -> int:
        """How many groups are compared, 1 where none are."""
        return self.kind.groups_of(self.design)

    @property
    def is_test(self) -> bool:
        """Whether a test decides."""
        return self.kind.sought is not None

    def author(self, *keys: str) -> list[str]:
        """Return what the author answers to some questions, in words; nothing where they do not."""
        answers = (self.said.answer(key) for key in keys)
        return [text for text in answers if is_given(text)]


def who_asks(pack: Pack, field: str) -> Finder:
    """Return whose a choice of the design is: asked here, or the study's own."""
    return Finder.STUDY if getattr(pack.question, field) is None else Finder.AUTHOR


# --- judgements -------------------------------------------------------------------------------


def concern(text: str, finder: Finder = Finder.CORE) -> Judged:
    """Return that a question raises a concern."""
    return Judged(RemarkStanding.CONCERN, text, finder)


def answered(text: str, finder: Finder = Finder.CORE) -> Judged:
    """Return that a question is answered."""
    return Judged(RemarkStanding.ANSWERED, text, finder)


def unsaid(text: str) -> Judged:
    """Return that nobody has said anything."""
    return Judged(RemarkStanding.UNSAID, text)


# --- what texts say ---------------------------------------------------------------------------


def quoted(text: str) -> str:
    """Return a foreign text as it is quoted: on one line, and not too long."""
    return f"“{shortened(one_line(text), _LONGEST)}”"


def sentence_with(texts: Iterable[str], pattern: re.Pattern[str]) -> str:
    """Return the first sentence that a pattern occurs in, empty where none has it."""
    for text in texts:
        for sentence in _SENTENCE_END.split(text):
            if pattern.search(sentence):
                return sentence.strip()
    return ""


def denies(text: str, words: Iterable[str]) -> bool:
    """Return whether a text holds some of these words, and each only behind a negation."""
    present = [word for word in words if re.search(rf"\b{word}\b", text, re.IGNORECASE)]
    return bool(present) and not any(breaks(text, word) for word in present)


def mentioned(reviewed: Reviewed, pattern: re.Pattern[str]) -> str:
    """Return where the plan, or the study's file, has the words of a question that nobody answers.

    A mention is no answer: it says that something is done, not how.
    """
    plan, pack = reviewed.plan.plan, reviewed.pack
    places = {
        "plan’s technique": [plan.technique],
        "plan’s rationale": [plan.rationale],
        "plan’s controls": plan.controls,
        "published method": [pack.paper.method],
        "study’s criteria": pack.success_criteria,
    }
    for place, texts in places.items():
        if sentence := sentence_with(texts, pattern):
            return f"No answer on the form; the word stands in the {place}: {quoted(sentence)}"
    return "No answer on the form, and no such word in the plan or the study’s file."
