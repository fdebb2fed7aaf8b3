"""The presenter's view: what it hides, what it says, and the way out."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.ui.negotiating import labels, round_shown
from tests.ui.reading import NEGOTIATION, keyed, plain, press, query_of, run, said, visit


def presented() -> AppTest:
    """Return the page as it is presented."""
    return visit(NEGOTIATION, present="1")


def title(app: AppTest) -> str:
    """Return the page's title, as read."""
    return plain(str(app.title[0].value))


def test_presenting_hides_the_controls_and_keeps_the_scrubber() -> None:
    app = presented()
    assert labels(app) == ["Leave the presentation", "First", "Back", "Next", "Last", "Play"]
    assert not app.selectbox
    assert not app.number_input
    assert not app.file_uploader


def test_presenting_tells_the_outcome_and_each_round_in_a_line() -> None:
    app = presented()
    assert title(app).startswith("Agreed below the floor in round 5: 37 samples in 5 days")
    press(app, "Next")
    headers = [plain(str(header.value)) for header in app.header]
    assert headers == [
        "Round 2: halving to 150 samples and cutting to 7 days saves 1,550 credits; power falls "
        "from 0.86 to 0.58."
    ]
    page = said(app)
    assert "150 samples in 7 days for 2,300 of 2,600 credits, power 0.58" in page
    assert "Offers 150 samples in 6 days for 2,250 of 2,600 credits, power 0.58" in page
    assert keyed(app, "matrix")


def test_presenting_stands_in_the_address_and_has_a_way_out() -> None:
    app = presented()
    assert query_of(app)["present"] == "1"
    press(app, "Leave the presentation")
    assert "present" not in query_of(app)
    assert "Fork here" in labels(app)


def test_presenting_begins_with_a_switch() -> None:
    app = visit(NEGOTIATION, round="3")
    app.toggle[0].set_value(True)
    run(app)
    assert "Leave the presentation" in labels(app)
    assert round_shown(app) == "Round 3 of 5"


def test_presenting_what_cannot_be_negotiated_still_has_a_way_out() -> None:
    app = visit(NEGOTIATION, present="1", recording="zebra")
    press(app, "Leave the presentation")
    assert app.selectbox


def test_presenting_before_the_first_round_says_so() -> None:
    app = visit(NEGOTIATION, present="1", scientist="person")
    assert title(app) == "Round 1 of 5: no plan is on the table yet."
