"""Units and arms, on Protocol: typed field by field, refused in words, taken back."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput

from replicalab.assessment import assess
from replicalab.scenarios import Arms, EvidenceAssumptions, Units, load_scenario
from replicalab.ui.protocol.assumptions import PARTS, PLACE, UNITS_AND_ARMS
from tests.ui.acting import labels, press, run, type_text, undo
from tests.ui.pages import PROTOCOL
from tests.ui.reading import alerts, said
from tests.ui.test_assumptions import header, worth
from tests.ui.walking import query_of, unopened, visit

STUDY = {"study": "psy_ego_depletion", "lab": "easy"}
WRITTEN = load_scenario("psy_ego_depletion", "easy")


def opened(**query: str) -> AppTest:
    """Return Protocol with the part open."""
    app = unopened(PROTOCOL, **{**STUDY, **query})
    app.session_state[PLACE] = True
    app.session_state[PARTS] = UNITS_AND_ARMS
    return run(app)


def field(app: AppTest, label: str) -> NumberInput:
    return next(item for item in app.number_input if item.label == label)


def type_in(app: AppTest, label: str, value: float | None) -> AppTest:
    field(app, label).set_value(value)
    return run(app)


def number(question: EvidenceAssumptions) -> str:
    pack = WRITTEN.with_own(WRITTEN.own_lab, question)
    return assess(pack.reference_protocol, pack).evidence.number


def test_units_and_arms_are_typed_and_the_page_says_what_they_make() -> None:
    app = opened()
    before = worth(app)
    type_text(app, "One unit is a", "class")
    app = type_in(app, "Samples in one unit", 25.0)
    assert worth(app) == before
    assert "No intraclass correlation is given" in said(app)
    assert "Which" not in said(app)
    app = type_in(app, "Intraclass correlation", 0.05)
    assert "Which" in said(app)
    units = Units(name="class", samples=25.0, icc=0.05)
    assert worth(app) == number(EvidenceAssumptions(units=units)) != before
    assert "8 classes of 25 (4 + 4)" in said(app)
    app = type_in(app, "First arm, % of samples", 25.0)
    question = EvidenceAssumptions(units=units, arms=Arms(share=0.25))
    assert worth(app) == number(question)
    assert "classes of 25, correlation 0.05, 25 % in the first arm, yours" in header(app)
    again = visit(PROTOCOL, **query_of(app))
    assert worth(again) == worth(app)


def test_correlation_is_taken_away_again_and_all_is_taken_back() -> None:
    app = type_in(type_in(opened(), "Samples in one unit", 10.0), "Intraclass correlation", 0.2)
    text = worth(app)
    app = type_in(app, "Intraclass correlation", None)
    assert worth(app) == number(EvidenceAssumptions()) != text
    undo(app)
    assert worth(app) == text
    assert field(app, "Intraclass correlation").value == 0.2
    press(app, "Units and arms as the study has them")
    assert "yours" not in header(app)
    assert field(app, "Samples in one unit").value == 1.0
    assert "Units and arms as the study has them" not in labels(app)


@pytest.mark.parametrize(
    ("label", "value", "bounds"),
    [
        ("Samples in one unit", 0.0, "1 to 1,000,000,000"),
        ("Samples in one unit", -1.0, "1 to 1,000,000,000"),
        ("Intraclass correlation", 1.5, "0 to 1"),
        ("First arm, % of samples", 100.0, "5 to 95"),
    ],
)
def test_number_that_cannot_be_stays_in_its_field_and_below_stands_why(
    label: str, value: float, bounds: str
) -> None:
    app = type_in(opened(), label, value)
    [box] = [alert for alert in alerts(app) if alert.text.startswith(f"{label} cannot be")]
    assert box.text.endswith(f"Type {bounds}.")
    assert field(app, label).value == value
    assert "yours" not in header(app)


def test_kinds_without_units_and_arms_have_no_such_part() -> None:
    app = opened(study="math_four_colour")
    [radio] = [item for item in app.radio if item.label == "Numbers or a curve"]
    assert UNITS_AND_ARMS not in radio.options
    assert UNITS_AND_ARMS in next(r for r in opened().radio if r.label == radio.label).options
