"""How a lab's own sheet of items is read: which column says what, and what its words mean.

It is part of a lab, so that next month's sheet with the same columns is read without asking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Annotated, Final, Literal, TypeVar

from pydantic import (
    FailFast,
    Field,
    StrictBool,
    StringConstraints,
    model_validator,
)

from replicalab.lexicon import label_key, repeated_labels, shortened
from replicalab.models import LONGEST_LABEL, Record
from replicalab.scenarios.calendar import StartDate

SheetColumn = Literal["name", "kind", "state", "until", "free_from", "price"]
SHEET_COLUMNS: Final[tuple[SheetColumn, ...]] = (
    *("name", "kind", "state"),
    *("until", "free_from", "price"),
)
SheetKind = Literal["equipment", "reagent", "left out"]
SHEET_KINDS: Final[tuple[SheetKind, ...]] = ("equipment", "reagent", "left out")
SheetState = Literal["available", "booked", "out of stock", "not said", "left out"]
SHEET_STATES: Final[tuple[SheetState, ...]] = (
    *("available", "booked", "out of stock"),
    *("not said", "left out"),
)
# fmt: off
SheetCurrency = Literal[
    "", "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD",
    "AUD", "NZD", "INR", "BRL", "ZAR", "KRW", "SGD", "HKD", "TRY", "ILS", "KR", "$", "¥",
]
# fmt: on
MOST_WORDS: Final = 30
"""The most different words of a column whose words are given a meaning."""
LONGEST_WORD: Final = 60
MOST_WITHOUT: Final = 20
"""The most items of a sheet that are left out by their names."""

Heading = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_LABEL)
]
Word = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_WORD)]
_Words = Annotated[tuple[Word, ...], Field(max_length=MOST_WORDS), FailFast()]
_M = TypeVar("_M", bound=str)


class SheetMapping(Record):
    """Which columns of a sheet are read, and how.

    Attributes:
        columns: the sheet's own heading of each column that is read, by what the column holds:
            ``until`` is the last day of a booking, ``free_from`` the first day after it.
        kind: of every item, where no column says it.
        kinds, states: the words of the column that mean each, by `word_key`; of a number only
            whether it is 0. The rows of a word that is ``left out`` are not read.
        without: names whose rows are not read, such as a title between the items.
        first_day: the start date of the lab, for sheets with dates.
        weekends: whether Saturdays and Sundays count as days of the lab.
        day_first: whether 3/4/2026 is the third of April; None where no date is written so.
        comma: whether 1,250 is one and a quarter; None where prices are numbers of a workbook.
        currency: that of the prices, by its code, or a sign that several share; empty for none.
        western: whether a text that is not UTF-8 is read as Windows-1252.
    """

    columns: Annotated[dict[SheetColumn, Heading], FailFast()]
    kind: Literal["equipment", "reagent"] | None = None
    kinds: Annotated[dict[SheetKind, _Words], FailFast()] = Field(default_factory=dict)
    states: Annotated[dict[SheetState, _Words], FailFast()] = Field(default_factory=dict)
    without: Annotated[tuple[Heading, ...], Field(max_length=MOST_WITHOUT), FailFast()] = ()
    first_day: StartDate | None = None
    weekends: StrictBool = True
    day_first: StrictBool | None = None
    comma: StrictBool | None = None
    currency: SheetCurrency = ""
    western: StrictBool = False

    @model_validator(mode="after")
    def _can_be_read(self) -> SheetMapping:
        if "name" not in self.columns:
            raise ValueError("no column names the items; choose one")
        if self.kind is None and "kind" not in self.columns:
            problem = "nothing says which items are equipment and which are reagents"
            raise ValueError(f"{problem}; choose a column that does, or one kind for all")
        if self.kind is not None and "kind" in self.columns:
            raise ValueError("a column and one kind for all are given; choose one of the two")
        if {"until", "free_from"} <= self.columns.keys():
            raise ValueError("two columns say how long an item is booked; choose one of them")
        if len({*map(word_key, self.columns.values())}) < len(self.columns):
            raise ValueError("one column is to say two things; choose another for one of them")
        for words in (self.kinds, self.states):
            listed = [*chain.from_iterable(words.values())]
            if len(listed) > MOST_WORDS:
                raise ValueError(f"{len(listed)} words are given; give at most {MOST_WORDS}")
            for word in repeated_labels(listed):
                raise ValueError(f"'{shortened(word)}' means two things; keep one of them")
        return self

    @property
    def kind_of(self) -> dict[str, SheetKind]:
        """What each word of the column of kinds means."""
        return _by_word(self.kinds)

    @property
    def state_of(self) -> dict[str, SheetState]:
        """What each word of the column of states means."""
        return _by_word(self.states)


def _by_word(words: Mapping[_M, Iterable[str]]) -> dict[str, _M]:
    return {word: meaning for meaning, listed in words.items() for word in listed}


def by_meaning(words: Mapping[str, _M]) -> dict[_M, tuple[str, ...]]:
    """Return what words mean as `SheetMapping` keeps it."""
    return {
        each: tuple(word for word, meaning in words.items() if meaning == each)
        for each in dict.fromkeys(words.values())
    }


def word_key(text: str) -> str:
    """Return a heading or a word as it is compared: whatever its casing, spaces and hyphens."""
    return label_key(text.replace("_", " ").replace("-", " "))
