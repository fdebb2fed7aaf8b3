"""The form asks for interim looks: given, changed, taken away, and kept wherever the study goes."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.drafts import Draft, check, new_study
from replicalab.measures import KINDS
from replicalab.measures.looks import LooksFamily
from replicalab.scenarios import DesignKind, Looks, read_looks
from replicalab.ui.study_form.looks import _with_shares
from replicalab.ui.tradeoffs.looks import PLACE
from tests.ui.acting import number, pick, press, run, type_text, undo
from tests.ui.pages import PROTOCOL, TRADE_OFFS
from tests.ui.reading import alerts, heard, panels, said
from tests.ui.test_study_form import ASSUMPTIONS, COMPARISON, at, form, study_of, type_value
from tests.ui.walking import at_editor, at_making, go, query_of, write

RULE: Final = "Stopping rule"
LOOKS, WHEN = "Interim looks", "When, as shares of n"
WRONG: Final = (
    ("0.6, 0.3", "Share 0.3 follows on 0.6"),
    ("0.5, 0.5", "Share 0.5 follows on 0.5"),
    ("0.1,0.3,0.5,0.7,0.9", "5 is not allowed"),
    ("1", "1 is not allowed: it must be less than or equal to 0.95"),
    ("0", "0 is not allowed: it must be greater than or equal to 0.05"),
    ("nan", "'nan' are no shares at which to look; write up to 4"),
    ("1e400", "'1e400' are no shares at which to look; write up to 4"),
    ("early", "'early' are no shares at which to look; write up to 4"),
)


def looks_of(app: AppTest) -> Looks | None:
    """Return the looks of the study in the editor."""
    return study_of(app).design.looks


def asked(app: AppTest) -> list[str]:
    """Return what the open part asks for."""
    return [each.label for each in (*app.selectbox, *app.text_input, *app.number_input)]


def test_looks_are_given_changed_and_taken_away_in_the_form() -> None:
    app = form(part=ASSUMPTIONS)
    assert RULE in asked(app)
    assert not {LOOKS, WHEN, "Gamma"} & {*asked(app)}
    app = pick(app, RULE, LooksFamily.POCOCK)
    assert looks_of(app) == read_looks("pocock:1")
    app = pick(at(app, ASSUMPTIONS), LOOKS, 3)
    assert "Gamma" not in asked(app)
    assert looks_of(app) == read_looks("pocock:3")
    app = type_text(at(app, ASSUMPTIONS), WHEN, "0.3, 0.6")
    assert next(box for box in app.selectbox if box.label == LOOKS).value == 2
    assert looks_of(app) == read_looks("pocock:0.3,0.6")
    app = pick(at(app, ASSUMPTIONS), RULE, LooksFamily.HWANG_SHIH_DECANI)
    type_value(app, "Gamma", 1.0)
    type_text(app, "Why these looks", "The board meets twice.")
    assert looks_of(app) == read_looks("hwang_shih_decani:0.3,0.6:1")
    assert study_of(app).design.why["looks"] == "The board meets twice."
    app = pick(at(app, ASSUMPTIONS), LOOKS, 4)
    assert next(box for box in app.text_input if box.label == WHEN).value == ""
    assert looks_of(app) == read_looks("hwang_shih_decani:4:1")
    app = pick(at(app, ASSUMPTIONS), RULE, LooksFamily.OBRIEN_FLEMING)
    assert looks_of(app) == read_looks("obrien_fleming:4")
    app = pick(at(app, ASSUMPTIONS), RULE, "not given")
    assert looks_of(app) is None
    app = press(at_making(app), "Undo")
    assert looks_of(app) == read_looks("obrien_fleming:4")


def test_evidence_beside_the_form_says_what_it_is_with_the_looks() -> None:
    app = pick(form(part=ASSUMPTIONS), RULE, LooksFamily.POCOCK)
    assert "without looks" in said(app)
    assert "With Pocock, 1 interim look, the plan’s 128 samples have power" in said(app)


@pytest.mark.parametrize(("typed", "problem"), WRONG)
def test_shares_that_cannot_be_stay_in_their_field_with_what_is_wrong(
    typed: str, problem: str
) -> None:
    app = pick(form(part=ASSUMPTIONS), RULE, LooksFamily.POCOCK)
    type_text(app, WHEN, typed)
    wrong = " ".join(alert.text for alert in alerts(app))
    assert problem in wrong
    shown = next(box for box in app.text_input if box.label == WHEN).value
    assert str(shown).replace(" ", "").startswith(typed.replace(" ", "")[:3])
    app = type_text(app, WHEN, "0.4")
    assert looks_of(app) == read_looks("pocock:0.4")


@pytest.mark.parametrize("gamma", [20.5, -20.5, 1e15])
def test_gamma_that_is_not_worked_out_stays_in_its_field(gamma: float) -> None:
    app = pick(form(part=ASSUMPTIONS), RULE, LooksFamily.HWANG_SHIH_DECANI)
    type_value(app, "Gamma", gamma)
    assert number(app, "Gamma").value == gamma
    assert "than or equal to" in " ".join(alert.text for alert in alerts(app))
    for end in (20.0, -20.0):
        type_value(at(app, ASSUMPTIONS), "Gamma", end)
        looks = looks_of(app)
        assert looks is not None
        assert looks.gamma == end


def test_looks_of_a_file_that_cannot_be_are_shown_and_can_be_taken_away() -> None:
    app = pick(form(part=ASSUMPTIONS), RULE, LooksFamily.POCOCK)
    text = str(at_editor(app).text_area(key="own_text").value)
    app = write(app, text.replace("interim: 1", "interim: 7"))
    app = pick(at(app, ASSUMPTIONS), RULE, "not given")
    assert looks_of(app) is None


def test_looks_of_one_kind_do_not_stay_with_another_and_come_back() -> None:
    app = pick(form(part=ASSUMPTIONS), RULE, LooksFamily.POCOCK)
    press(at(app, COMPARISON), KINDS[DesignKind.AUDIT].title)
    assert looks_of(app) is None
    assert RULE not in asked(at(app, ASSUMPTIONS))
    press(at(app, COMPARISON), KINDS[DesignKind.TWO_GROUP].title)
    assert looks_of(app) == read_looks("pocock:1")


def test_looks_of_ones_own_study_go_along_to_its_pages_and_are_taken_away_there() -> None:
    app = pick(form(part=ASSUMPTIONS), RULE, LooksFamily.POCOCK)
    app = go(press(app, "Use this study"), PROTOCOL)
    assert "power 0.801 without looks" in heard(panels(app)[0])
    assert "with 1 look" in heard(panels(app)[0])
    app = go(app, TRADE_OFFS)
    app.session_state[PLACE] = True
    app = pick(run(app), "Stopping rule", "")
    assert query_of(app)["looks"] == "pocock:0"
    assert "without looks" not in said(app)
    assert "looks" not in query_of(undo(go(app, PROTOCOL)))


@pytest.mark.parametrize("typed", ["0.3, 0.6", "early", ""])
def test_draft_with_looks_is_written_and_read_back(typed: str) -> None:
    begun = Draft(new_study("a_study")).put({"family": "pocock"}, "design", "looks")
    checked = check(_with_shares(begun, typed))
    if typed == "early":
        assert [*checked.faults] == ["design.looks.shares"]
        return
    assert checked.study is not None
    rest = {"interim": 2, "shares": [0.3, 0.6]} if typed else {}
    assert Draft.of(checked.study).at("design", "looks") == {"family": "pocock", **rest}
