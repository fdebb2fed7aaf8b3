"""A choice that a page does not offer, as a browser with an old page may send it."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

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
    # The harness has a face for offered choices alone.
    states = app._tree.get_widget_states()  # noqa: SLF001
    others = [state for state in states.widgets if state.id != widget.id]
    states.ClearField("widgets")
    states.widgets.extend([*others, WidgetState(id=widget.id, string_value="foreign")])
    app._run(states)  # noqa: SLF001
    assert not app.exception
    [after] = [widget for widget in (*app.selectbox, *app.radio) if widget.label == label]
    assert (after.value, query_of(app), page_text(app)) == (before, address, text)
