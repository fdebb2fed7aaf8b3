"""A number that is typed, and a notice after an act: how both behave, whoever uses them."""

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.scenarios.fields import AtLeastOne, Rate, Step
from replicalab.ui.controls import between, bounds_of
from tests.ui.acting import press, run
from tests.ui.reading import alerts

DAYS: Final = between("Days", (1, 9), "the lab keeps 6")


@pytest.mark.parametrize("typed", [None, 1, 9, 2.5])
def test_number_within_its_bounds_can_be(typed: float | None) -> None:
    assert not DAYS(typed)


@pytest.mark.parametrize(
    ("typed", "text"), [(0, "0"), (10, "10"), (-0.5, "-0.50"), (1e6, "1,000,000")]
)
def test_number_out_of_bounds_names_value_and_remedy(typed: float, text: str) -> None:
    assert DAYS(typed) == f"Days cannot be {text}, so the lab keeps 6. Type 1 to 9."
    assert between("Days", (1, 9))(typed) == f"Days cannot be {text}. Type 1 to 9."


@pytest.mark.parametrize(("number", "least"), [(AtLeastOne, 1), (Rate, 0), (Step, 0)])
def test_bounds_are_those_of_the_record(number: object, least: int) -> None:
    assert bounds_of(number) == (least, 10**9)


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


def test_number_that_cannot_be_stays_in_its_field_and_is_not_taken() -> None:
    app = run(AppTest.from_function(_page, default_timeout=60))
    app.number_input[0].set_value(8)
    assert run(app).session_state["taken"] == 8
    app.number_input[0].set_value(10)
    [box] = alerts(run(app))
    assert box.text == "Days cannot be 10. Type 1 to 9."
    assert app.number_input[0].value == 10
    assert app.session_state["taken"] == 8


def test_notice_is_shown_once_as_text_and_one_that_stays_until_it_is_cleared() -> None:
    app = press(run(AppTest.from_function(_page, default_timeout=60)), "Leave")
    assert [box.text for box in alerts(app)] == ["No room.\n\n- Remove **one**", "It stays"]
    assert "Two are left" in app.markdown[0].value
    press(app, "Undo")
    assert [box.text for box in alerts(app)] == ["It is back", "It stays"]
    assert [box.text for box in alerts(press(app, "Clear"))] == []
