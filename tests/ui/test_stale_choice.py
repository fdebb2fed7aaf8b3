"""A choice that a page does not offer, as a browser with an old page may send it."""

import pytest

from tests.ui.acting import run
from tests.ui.pages import NEGOTIATION, STUDY, TRADE_OFFS
from tests.ui.reading import page_text
from tests.ui.walking import query_of, visit


@pytest.mark.parametrize(
    ("page", "label"),
    [
        (STUDY, "Lab"),
        (NEGOTIATION, "Scientist"),
        (NEGOTIATION, "Lab Manager"),
        (TRADE_OFFS, "Effect assumed"),
    ],
)
def test_stale_choice_is_reset(page: str, label: str) -> None:
    app = visit(page)
    [widget] = [widget for widget in (*app.selectbox, *app.radio) if widget.label == label]
    before, address, text = widget.value, query_of(app), page_text(app)
    widget.options.append("Foreign")
    widget.set_value("Foreign")
    run(app)
    [after] = [widget for widget in (*app.selectbox, *app.radio) if widget.label == label]
    assert (after.value, query_of(app), page_text(app)) == (before, address, text)
