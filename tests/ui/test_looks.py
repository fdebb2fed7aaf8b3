"""Interim looks on Trade-offs and in addresses: closed they cost nothing, chosen they go along."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.case import on_the_shelf
from replicalab.measures.looks import LooksFamily
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, Looks, load_scenario, read_looks
from replicalab.ui.address import from_query, to_query
from replicalab.ui.tradeoffs.looks import PLACE
from replicalab.ui.workspace import Workspace
from replicalab.views.looks import looks_panel
from tests.golden import assert_golden
from tests.ui.acting import number, pick, run, type_number, type_text, undo
from tests.ui.pages import PROTOCOL, TRADE_OFFS
from tests.ui.reading import alerts, heard, panels, said
from tests.ui.walking import go, query_of, visit
from tests.views.reading import tree

STUDY: Final = "eco_reef_fish"
RULE, LOOKS, WHEN = "Stopping rule", "Interim looks", "When, as shares of n"
HSD: Final = LooksFamily.HWANG_SHIH_DECANI


def opened(**query: str) -> AppTest:
    """Return Trade-offs of a study in its easy lab, with the place open."""
    app = visit(TRADE_OFFS, study=STUDY, lab="easy", **query)
    app.session_state[PLACE] = True
    return run(app)


def told(text: str) -> str:
    """Return what the page says of the reference plan with these looks."""
    asked = EvidenceAssumptions(looks=read_looks(text))
    pack = load_scenario(STUDY, "easy").with_own(LabOverrides(), asked)
    return heard(tree(looks_panel(assess(pack.reference_protocol, pack))))


def test_closed_place_works_out_nothing_and_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("worked out what nobody sees")

    monkeypatch.setattr("replicalab.views.looks.with_looks", never)
    app = visit(TRADE_OFFS, study=STUDY, lab="easy", looks="pocock:2")
    assert RULE not in [field.label for field in app.selectbox]


def test_looks_are_chosen_step_by_step_and_taken_back() -> None:
    app = opened()
    assert "On average" not in said(app)
    pick(app, RULE, LooksFamily.OBRIEN_FLEMING)
    assert told("obrien_fleming:1") in said(app)
    pick(app, LOOKS, 2)
    assert told("obrien_fleming:2") in said(app)
    assert_golden("pages/tradeoffs_looks", told("obrien_fleming:2"))
    type_text(app, WHEN, "0.3, 0.6")
    assert told("obrien_fleming:0.3,0.6") in said(app)
    assert query_of(app)["looks"] == "obrien_fleming:0.3,0.6"
    pick(app, RULE, HSD)
    type_number(app, "Gamma", 1)
    assert told("hwang_shih_decani:0.3,0.6:1") in said(app)
    pick(app, LOOKS, 3)
    assert query_of(app)["looks"] == "hwang_shih_decani:3:1"
    back = undo(go(app, PROTOCOL))
    assert query_of(back)["looks"] == "hwang_shih_decani:0.3,0.6:1"


def test_looks_are_taken_away_whether_they_are_ones_own_or_not() -> None:
    app = pick(opened(looks="pocock:2"), RULE, "")
    assert "looks" not in query_of(app)
    assert "On average" not in said(app)


def test_looks_stand_in_the_header_of_every_page() -> None:
    app = go(opened(looks="pocock:2"), PROTOCOL)
    assert "Pocock, 2 interim looks, yours" in heard(panels(app)[0])


def test_what_cannot_be_typed_stays_in_its_field_with_what_to_write() -> None:
    app = type_text(opened(looks="hwang_shih_decani:2"), WHEN, "0.9, 0.1")
    assert query_of(app)["looks"] == "hwang_shih_decani:2"
    [wrong] = [alert.text for alert in alerts(app)]
    assert "'0.9, 0.1' are no shares at which to look" in wrong
    assert number(app, "Gamma").value == -4
    app = type_number(opened(looks="hwang_shih_decani:2"), "Gamma", 99)
    assert number(app, "Gamma").value == 99
    assert [each.text for each in alerts(app)] == ["Gamma cannot be 99. Type -20 to 20."]


def test_study_without_a_test_offers_no_looks() -> None:
    app = visit(TRADE_OFFS, study="math_four_colour", lab="easy")
    app.session_state[PLACE] = True
    assert "A coverage design has no test that can be looked at on the way." in said(run(app))
    assert RULE not in [field.label for field in app.selectbox]


# --- in an address ---


def read(**query: str) -> tuple[EvidenceAssumptions, list[str]]:
    found = from_query({"study": STUDY, "lab": "easy", **query}, on_the_shelf)
    return found.workspace.case.question, found.problems


def test_address_carries_looks() -> None:
    looks = Looks(family=HSD, interim=2, gamma=-3.5, shares=(0.25, 0.5))
    work = Workspace().changed(study=STUDY, question=EvidenceAssumptions(looks=looks, alpha=0.01))
    query = to_query(work)
    assert query["looks"] == "hwang_shih_decani:0.25,0.5:-3.5"
    reading = from_query(query, on_the_shelf)
    assert (reading.workspace, reading.problems) == (work, [])


@pytest.mark.parametrize("text", ["", "x", "pocock:9", "pocock:nan", "9" * 5000, "pocock:²"])
def test_address_with_other_looks_keeps_the_rest_and_says_so(text: str) -> None:
    question, [problem] = read(looks=text, alpha="0.01")
    assert question == EvidenceAssumptions(alpha=0.01)
    assert problem.startswith("looks '")
    assert problem.endswith("is not usable; showing the study's own.")


def test_address_of_a_study_that_can_have_no_looks_keeps_its_numbers() -> None:
    question, [problem] = read(study="phys_millikan", looks="pocock:2", target="0.001")
    assert question == EvidenceAssumptions(target=0.001)
    assert problem == (
        "looks: looks are given, but a precision design has no test to look at on the way; they "
        "are left out."
    )
