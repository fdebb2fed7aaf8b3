"""An author's answers to the questions of registration forms (answers.toml)."""

import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import FailFast, Field, StringConstraints, model_validator

from replicalab.errors import Refusal
from replicalab.lexicon import joined, quoted, shortened
from replicalab.limits import LONGEST_LABEL
from replicalab.models import FIELD_LABELS, NonEmptyText, Passage, Record

_KEYS: Final = "use an id of the forms 'replication' and 'funder', as their JSON has them"
_Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_LABEL)]
_Key = Annotated[str, StringConstraints(max_length=40)]
World = Literal["hopeful", "grim"]
_Number = int | Annotated[float, Field(allow_inf_nan=False)]


class AnswerSource(StrEnum):
    """The source of an answer."""

    AUTHOR = "the author"
    CORE = "ReplicaLab"
    STUDY = "the study’s file"


class Question(NamedTuple):
    """A question of a form; without ``options`` the answer is a text."""

    key: str  # its name in files
    label: str
    options: tuple[str, ...] = ()
    several: bool = False  # whether several options may be chosen
    alone: str = ""  # the option that excludes all others, such as "none"

    def excluded(self, chosen: Sequence[str]) -> list[str]:
        """Return the chosen options that ``alone`` excludes."""
        if not self.alone or self.alone not in chosen:
            return []
        return [option for option in chosen if option != self.alone]

    def settled(self, before: Sequence[str], chosen: Sequence[str]) -> tuple[str, ...]:
        """Return a choice without the options that the last chosen one excludes."""
        if not self.excluded(chosen):
            return tuple(chosen)
        if self.alone in before:
            return tuple(self.excluded(chosen))
        return (self.alone,)

    def fault(self, chosen: Sequence[str]) -> Refusal | None:
        """Return why these options cannot be chosen; None if they can."""
        if unknown := [option for option in chosen if option not in self.options]:
            remedy = f"use {joined(quoted(self.options), 'or')}"
            return Refusal(f"{self.key}: '{shortened(unknown[0])}' is no option", remedy)
        if len(set(chosen)) != len(chosen) or (len(chosen) > 1 and not self.several):
            return Refusal(f"{self.key}: {len(chosen)} options are chosen", "choose one, once")
        if excluded := self.excluded(chosen):
            options = f"'{self.alone}' excludes {joined(quoted(excluded))}"
            return Refusal(f"choices: {self.key}: {options}", "leave it or them out")
        return None


_ROWS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
QUESTIONS: Final = {key: Question(key, label) for key, label in _ROWS["texts"].items()} | {
    key: Question(
        key, row["label"], tuple(row["options"]), row.get("several", False), row.get("alone", "")
    )
    for key, row in _ROWS["choices"].items()
}
"""By key."""


class Registration(Record):
    """An author's answers, by question, and reasons for changed fields of the protocol.

    Authors are separated by semicolons; a licence is a name or an address. ``worlds`` has the
    author's numbers by world and assumption.
    """

    title: _Line = ""
    authors: _Line = ""
    licence: _Line = ""
    reasons: Annotated[dict[_Key, _Line], FailFast()] = Field(default_factory=dict)
    texts: Annotated[dict[_Key, Passage], FailFast()] = Field(default_factory=dict)
    choices: Annotated[dict[_Key, tuple[NonEmptyText, ...]], FailFast()] = Field(
        default_factory=dict
    )
    worlds: dict[World, Annotated[dict[_Key, _Number], FailFast()]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _answers_what_is_asked(self) -> Self:
        for name in self.reasons:
            if name not in FIELD_LABELS:
                text = joined(list(FIELD_LABELS), "or")
                problem = f"reasons: '{shortened(name)}' is no field of a plan"
                raise Refusal(problem, f"use {text}").error
        for key in self.texts:
            if key not in QUESTIONS or QUESTIONS[key].options:
                problem = f"texts: '{shortened(key)}' is no question for a text"
                raise Refusal(problem, _KEYS).error
        for key, chosen in self.choices.items():
            if key not in QUESTIONS or not QUESTIONS[key].options:
                problem = f"choices: '{shortened(key)}' is no question with options"
                raise Refusal(problem, _KEYS).error
            if fault := QUESTIONS[key].fault(chosen):
                raise fault.error
        return self

    def answering(self, key: str, answer: str | tuple[str, ...]) -> Self:
        """Return these answers with another answer; an empty one removes it.

        Raises ValidationError if the question takes no such answer.
        """
        name = "choices" if QUESTIONS[key].options else "texts"
        others = {k: stored for k, stored in getattr(self, name).items() if k != key}
        return self.model_copy(update={name: {**others, **({key: answer} if answer else {})}})

    def assuming(self, world: World, key: str, number: float | None) -> Self:
        """Return these answers with another number in a world; None removes it."""
        numbers = {k: n for k, n in self.worlds.get(world, {}).items() if k != key}
        numbers |= {} if number is None else {key: number}
        return self.model_copy(update={"worlds": {**self.worlds, world: numbers}})

    def answer(self, key: str) -> str:
        """Return the answer to a question in words, empty if missing."""
        return self.texts.get(key, "").strip() or joined(self.choices.get(key, ()))
