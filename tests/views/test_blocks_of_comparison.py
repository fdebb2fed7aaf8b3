"""The panel of a comparison: bars that equal the numbers beside them, long texts folded."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from replicalab.assessment import assess
from replicalab.comparison import Side
from replicalab.models import revise
from replicalab.scenarios import load_scenario
from replicalab.views.comparison import comparison_panel
from tests.ui.reading import heard
from tests.views.reading import bars, tree

PACK = load_scenario("psy_stroop", "medium")
PLAN = PACK.reference_protocol


def sides(**changes: object) -> list[Side]:
    """Return the study's plan of 1,600 credits beside a changed one, in a lab of 1,000."""
    plans = {"A": PLAN, "B": revise(PLAN, **changes)}
    return [Side(name, assess(plan, PACK), None) for name, plan in plans.items()]


def panel(found: list[Side]) -> ElementTree.Element:
    return tree(comparison_panel(found))


def test_bars_of_costs_share_one_scale_and_those_above_stand_against_the_budget() -> None:
    drawn = bars(comparison_panel(sides(sample_size=25)))
    assert drawn[1] == (0.0, 1.0, [0.625])
    assert drawn[3] == (0.0, 0.85, [1.0])
    totals = [to for _, to, marks in drawn[4:] if not marks][-2:]
    assert totals == [1.0, pytest.approx(850 / 1600, abs=0.001)]


def test_heads_tell_names_and_verdicts_once() -> None:
    found = panel(sides(sample_size=25))
    compared = found.findall(".//table")[1]
    heads = [heard(each) for each in compared.iter("th")][1:3]
    assert heads == ["A fails Not feasible", "B fails Not feasible"]
    assert not any((each.text or "") == "Plan" for each in compared.iter("th"))


def test_evidence_of_a_plan_that_fails_has_no_mark_of_one_that_passes() -> None:
    found = panel(sides(sample_size=25))
    pictured, compared = found.findall(".//table")
    shown = [heard(row.findall("td")[1]) for row in pictured.findall("tbody/tr")]
    assert shown == ["fails power 1.00, not feasible"] * 2
    rows = {cells[0]: cells[1:] for cells in (heard(r).split(" | ") for r in compared.iter("tr"))}
    assert rows["Power"] == ["1.00", "1.00"]
    assert rows["Stands"] == ["fails meets target, not feasible"] * 2


def test_long_text_is_folded_and_whole() -> None:
    long = "word " * 100
    found = panel(sides(rationale=long.strip()))
    [folded] = [each for each in found.iter("details") if "word word" in "".join(each.itertext())]
    assert long.strip() in (folded[0].tail or "")


def test_evidence_of_other_kinds_is_drawn_on_a_scale_of_its_own() -> None:
    other = load_scenario("phys_millikan", "medium")
    mixed = [*sides()[:1], Side("C", assess(other.reference_protocol, other), None)]
    alone = bars(comparison_panel([mixed[0], mixed[0]]))[0]
    assert bars(comparison_panel(mixed))[0] == alone
