"""What an author answers to a registration's questions, kept with the case."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import FailFast, Field, StringConstraints, model_validator

from replicalab.lexicon import joined, quoted, shortened
from replicalab.models import FIELD_LABELS, NonEmptyText, Passage, Record
from replicalab.registration.questions import QUESTIONS

LONGEST_LINE: Final = 300
"""The most characters of a title, of the authors, of a licence, and of a reason."""
_LONGEST_KEY: Final = 40
_KEYS: Final = "use an id of the forms 'replication' and 'funder', as their JSON has them"
_Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_LINE)]
_Key = Annotated[str, StringConstraints(max_length=_LONGEST_KEY)]


class Finder(StrEnum):
    """Who answers a question."""

    AUTHOR = "the author"
    CORE = "ReplicaLab"
    STUDY = "the study’s file"


class Registration(Record):
    """What only whoever registers a plan can say; empty where they do not.

    Attributes:
        title: of the registration.
        authors: who registers; a semicolon stands between two.
        licence: of what is shared: its name or its address.
        reasons: why a field of the reference protocol is changed, by its name in the protocol.
        texts: answers in words, by question.
        choices: options that are chosen, by question.
    """

    title: _Line = ""
    authors: _Line = ""
    licence: _Line = ""
    reasons: Annotated[dict[_Key, _Line], FailFast()] = Field(default_factory=dict)
    texts: Annotated[dict[_Key, Passage], FailFast()] = Field(default_factory=dict)
    choices: Annotated[dict[_Key, tuple[NonEmptyText, ...]], FailFast()] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _answers_what_is_asked(self) -> Self:
        for name in self.reasons:
            if name not in FIELD_LABELS:
                known = joined(list(FIELD_LABELS), "or")
                raise ValueError(f"reasons: '{shortened(name)}' is no field of a plan; use {known}")
        for key in self.texts:
            if key not in QUESTIONS or QUESTIONS[key].options:
                raise ValueError(f"texts: '{shortened(key)}' is no question for a text; {_KEYS}")
        for key, chosen in self.choices.items():
            if fault := _fault_of(key, chosen):
                raise ValueError(fault)
        return self

    def answering(self, key: str, answer: str | tuple[str, ...]) -> Self:
        """Return these answers with another one to a question; an empty one takes it away.

        Raises:
            pydantic.ValidationError: the question takes no such answer.
        """
        name = "choices" if QUESTIONS[key].options else "texts"
        others = {k: held for k, held in getattr(self, name).items() if k != key}
        return self.model_copy(update={name: {**others, **({key: answer} if answer else {})}})

    def answer(self, key: str) -> str:
        """Return the answer to a question in words, empty where there is none."""
        return self.texts.get(key, "").strip() or joined(self.choices.get(key, ()))


def _fault_of(key: str, chosen: Sequence[str]) -> str:
    """Return what is wrong with a choice, and what to do; empty where nothing is."""
    if key not in QUESTIONS or not QUESTIONS[key].options:
        return f"choices: '{shortened(key)}' is no question with options; {_KEYS}"
    question = QUESTIONS[key]
    for option in chosen:
        if option not in question.options:
            known = joined(quoted(question.options), "or")
            return f"{key}: '{shortened(option)}' is no option; use {known}"
    if len(set(chosen)) != len(chosen) or (len(chosen) > 1 and not question.several):
        return f"{key}: {len(chosen)} options are chosen; choose one, once"
    if excluded := question.excluded(chosen):
        stands = f"'{question.alone}' stands beside {joined(quoted(excluded))}"
        return f"choices: {key}: {stands}; leave it or them out"
    return ""
