"""Hidden characters are named, and right-to-left text is isolated."""

import unicodedata
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.characters import described, hidden, on_one_line, shown
from tests.scenarios.small_study import bent, message

HIDDEN: Final = (
    "\x00", "\x07", "\x1b", "\x7f", "\x85", "\xad", "\u034f", "\u061c", "\u115f", "\u180e",
    "\u200b", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2060", "\u2066",
    "\u2069", "\u2800", "\u3164", "\ud800", "\ue000", "\ufeff", "\uffff", "\U000e0041",
)  # fmt: skip


@pytest.mark.parametrize("letter", HIDDEN, ids=ascii)
def test_hidden_character_is_refused_or_named(letter: str) -> None:
    name = f"U+{ord(letter):04X}"
    assert shown(f"hard{letter} lab") == f"hard⟨{name}⟩ lab"
    text = message(bent(("A tiny study", f"Tea\\U{ord(letter):08X}time")))
    assert text.startswith("x.yaml: line ")
    if letter == "\ud800":
        assert "invalid Unicode character escape code" in text
    else:
        assert f", paper.title: invisible character {name} " in text
        assert text.endswith("; remove it")


@pytest.mark.parametrize(
    "text",
    [
        "naïve – 5 ≥ 3 °C, 日本語, ελληνικά",
        "a\xa0b\u2009c\u3000d",
        "क्\u200dष श्री",
        "می\u200cرود",
        "❤\ufe0f\u200d🔥 👨\u200d👩\u200d👧 ☀\ufe0f 1\ufe0f\u20e3",
        "e\u0301 o\u0323\u0302",
        "tab\there\nline",
    ],
)
def test_scripts_have_no_hidden_character(text: str) -> None:
    assert hidden(text) == []


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a\u200db", [1]),
        ("\u200d日", [0]),
        ("日\u200d", [1]),
        ("日\u200d\u200d本", [1, 2]),
        ("x\ufe0f", [1]),
        ("☀\ufe0f\ufe0f", [2]),
        ("e" + "\u0301" * 10, [9, 10]),
    ],
)
def test_useless_joiner_or_mark_is_hidden(text: str, places: list[int]) -> None:
    assert hidden(text) == places


@given(st.text())
def test_shown_text_has_nothing_hidden(text: str) -> None:
    read = shown(text)
    assert read.count("\u2068") == read.count("\u2069")
    assert hidden(read.replace("\u2068", "").replace("\u2069", "")) == []


@given(st.text())
def test_right_to_left_letters_are_isolated(text: str) -> None:
    depth = 0
    for letter in on_one_line(text):
        depth += (letter == "\u2068") - (letter == "\u2069")
        assert 0 <= depth <= 1
        if unicodedata.bidirectional(letter) in ("R", "AL"):
            assert depth == 1


def test_shown_and_described_texts() -> None:
    assert shown("לב 12 טוב, hard lab") == "\u2068לב 12 טוב\u2069, hard lab"
    assert described("\x00") == "U+0000"
    assert described("\u202e") == "U+202E (right-to-left override)"
    assert on_one_line("a\n\tb") == "a b"
