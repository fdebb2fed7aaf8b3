"""Number fields, notices and escaped text."""

import re
import string
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from replicalab.characters import on_one_line
from replicalab.ui.controls import as_list, between, escape
from tests.ui.acting import press, run
from tests.ui.reading import alerts

DAYS: Final = between("Days", (1, 9), "the lab keeps 6")


@pytest.mark.parametrize(
    ("typed", "text"),
    [(None, ""), (9, ""), (2.5, ""), (0, "0"), (10, "10"), (-0.5, "-0.50"), (1e6, "1,000,000")],
)
def test_number_out_of_bounds_names_value_and_remedy(typed: float | None, text: str) -> None:
    assert DAYS(typed) == (text and f"Days cannot be {text}, so the lab keeps 6. Type 1 to 9.")


def _page() -> None:
    import streamlit as st  # noqa: PLC0415  # the harness runs the function's text alone

    from replicalab.ui import notices  # noqa: PLC0415
    from replicalab.ui.controls import NumberField, between, complain  # noqa: PLC0415

    def take(number: int) -> None:
        st.session_state["taken"] = number

    def leave() -> None:
        notices.leave_problem("No room.\n- Remove **one**", "here")
        notices.leave("Two are left", "here", undo=lambda: notices.leave("It is back", "here"))
        notices.leave_problem("It stays", "there")

    notices.draw("here")
    notices.draw("there", stays=True)
    field = NumberField("Days", "days", 6, take, between("Days", (1, 9)))
    field.draw()
    complain(field.problem)
    st.button("Leave", on_click=leave)
    st.button("Clear", on_click=notices.clear, args=("there",))


def test_invalid_number_stays_in_its_field() -> None:
    app = run(AppTest.from_function(_page, default_timeout=60))
    app.number_input[0].set_value(8)
    assert run(app).session_state["taken"] == 8
    app.number_input[0].set_value(10)
    [box] = alerts(run(app))
    assert box.text == "Days cannot be 10. Type 1 to 9."
    assert app.number_input[0].value == 10
    assert app.session_state["taken"] == 8


def test_notice_is_shown_once_or_stays() -> None:
    app = press(run(AppTest.from_function(_page, default_timeout=60)), "Leave")
    assert [box.text for box in alerts(app)] == ["No room.\n\n- Remove **one**", "It stays"]
    assert "Two are left" in app.markdown[0].value
    press(app, "Undo")
    assert [box.text for box in alerts(app)] == ["It is back", "It stays"]
    assert [box.text for box in alerts(press(app, "Clear"))] == []


HOSTILE: Final = (
    "![x](javascript:alert(1)) [ref]: https://evil.example\n[ref]",
    "<img src=x onerror=alert(1)> &lt;b&gt; &#33; \\![x](y)",
    ":red[x] :blue-badge[y] :material/home: :rocket: $\\frac{a}{b}$ and $$c$$",
    "`code` ~~gone~~ **bold** _slanted_ 1. one\n2) two\n> quote\n+ plus",
    "a\n\n# heading\n\n- item\n\n    code\n\n---\n| a | b |",
    "\u2028new line\u2029another\x85and\x0cmore\x1c tab\there \\",
)


def only_backslashes_and_marks(text: str) -> str:
    return re.sub(r"\\[!-/:-@\[-`{-~]", "", text)


@given(st.text())
@example("".join(HOSTILE))
def test_escaped_text_reads_as_written(text: str) -> None:
    done = escape(text)
    assert not set(only_backslashes_and_marks(done)) & set(string.punctuation)
    assert done.splitlines() in ([], [done])
    read = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", done)
    assert re.sub("[\u2060\u200b]", "", read) == on_one_line(text)


@pytest.mark.parametrize("letters", [1, 30, 31, 100_000])
def test_long_escaped_word_can_break(letters: int) -> None:
    pieces = escape("x" * letters).split("\u200b")
    assert max(map(len, pieces)) <= 30
    assert "".join(pieces) == "x" * letters


@given(st.lists(st.text()))
@example([*HOSTILE, *(f"- {text}" for text in HOSTILE)])
def test_list_has_only_marks_of_items(lines: list[str]) -> None:
    for line in as_list("\n".join(lines)).splitlines():
        rest = only_backslashes_and_marks(line.removeprefix("- "))
        assert not set(rest) & set(string.punctuation)


def test_list_keeps_paragraphs_and_items_apart() -> None:
    assert as_list("I reject:\n- budget: 3\n- staff\nNo way.") == (
        "I reject\\:\n\n- budget\\: 3\n- staff\n\n\nNo way\\."
    )
