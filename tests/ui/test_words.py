"""How the interface writes: foreign text is literal, and each status has a word and a symbol."""

import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replicalab.characters import on_one_line
from replicalab.facts.blocks import Status
from replicalab.ui.words import as_list, badge, escaped

HOSTILE = (
    "![x](https://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    ":red[x] :blue-badge[y] :material/home: :rocket:",
    "$\\frac{a}{b}$ and $$c$$",
    "`code` ~~gone~~ **bold** _slanted_",
    "a\n\n# heading\n\n- item\n\n    code\n\n---\n| a | b |",
    "\\![x](y)",
    "\\",
    "&lt;b&gt; &#33;",
    "[ref]: https://evil.example\n[ref]",
    "1. one\n2) two\n> quote\n+ plus",
    "\u2028new line\u2029another\x85and\x0cmore\x1c",
    "tab\there",
)


def only_backslashes_and_marks(text: str) -> str:
    """Return ``text`` without what is escaped: each backslash with the mark after it."""
    return re.sub(r"\\[!-/:-@\[-`{-~]", "", text)


@given(st.text())
@example("".join(HOSTILE))
def test_escaped_text_is_one_line_without_a_mark_and_reads_as_it_was_written(text: str) -> None:
    done = escaped(text)
    assert not set(only_backslashes_and_marks(done)) & set(string.punctuation)
    assert done.splitlines() in ([], [done])
    read = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", done)
    assert re.sub("[\u2060\u200b]", "", read) == on_one_line(text)


@pytest.mark.parametrize("letters", [1, 30, 31, 100_000])
def test_escaped_word_can_break_wherever_it_is_long(letters: int) -> None:
    pieces = escaped("x" * letters).split("\u200b")
    assert max(map(len, pieces)) <= 30
    assert "".join(pieces) == "x" * letters


@given(st.lists(st.text()))
@example([f"- {text}" for text in HOSTILE])
@example(list(HOSTILE))
def test_list_holds_no_mark_but_those_of_its_items(lines: list[str]) -> None:
    for line in as_list("\n".join(lines)).splitlines():
        rest = only_backslashes_and_marks(line.removeprefix("- "))
        assert not set(rest) & set(string.punctuation)


def test_list_keeps_paragraphs_and_items_apart() -> None:
    assert as_list("I reject:\n- budget: 3\n- staff\nNo way.") == (
        "I reject\\:\n\n- budget\\: 3\n- staff\n\n\nNo way\\."
    )


def test_badge_has_colour_symbol_and_word() -> None:
    assert [badge(status, "fine") for status in (Status.PASS, Status.CAUTION, Status.FAIL)] == [
        ":green-badge[:material/check_circle: fine]",
        ":orange-badge[:material/warning: fine]",
        ":red-badge[:material/cancel: fine]",
    ]
