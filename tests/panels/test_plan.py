"""Panels of a plan: bars that equal the numbers beside them, and text that stays text."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Final
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from replicalab.assessment import Assessment, assess
from replicalab.models import Dimension, Protocol, revise
from replicalab.panels import check_panel, cost_panel, evidence_panel, header_panel, lab_panel
from replicalab.panels.plan import BINDING
from replicalab.scenarios import Difficulty, Pack, load_scenario
from tests.strategies import itemised_protocols, studied_packs

MOMENTUM: Final = load_scenario("fin_momentum", Difficulty.MEDIUM)
PLAN: Final = MOMENTUM.reference_protocol
"""300 samples in 8 days for 3,850 credits, of which the lab has 2,600."""


def tree(panel: str) -> ElementTree.Element:
    return ElementTree.fromstring(panel)  # noqa: S314  # ours


def bars(panel: str) -> list[tuple[float, float, list[float]]]:
    """Return where each bar begins and ends, and its marks, as shares of its cell."""
    found = []
    for bar in tree(panel).iterfind(".//div[@class='bar']"):
        ends = dict(part.split(":") for part in bar.attrib["style"].split(";"))
        marks = [float(mark.attrib["style"].split(":")[1]) for mark in bar.iterfind("b")]
        found.append((float(ends["--from"]), float(ends["--to"]), marks))
    return found


def test_cost_bars_begin_where_the_one_before_ends_and_share_one_scale() -> None:
    *terms, total, ticked = bars(
        cost_panel(assess(PLAN, MOMENTUM), assess(revise(PLAN, sample_size=150), MOMENTUM))
    )
    assert [begin for begin, *_ in terms] == [0.0, *(end for _, end, _ in terms[:-1])]
    assert [end - begin for begin, end, _ in terms] == pytest.approx(
        [credits / 3850 for credits in (3000, 400, 100, 200, 150)], abs=0.001
    )
    assert total[:2] == (0.0, 1.0)
    assert ticked[1] == pytest.approx(2350 / 3850, abs=0.001)
    assert {mark for _, _, [mark] in (*terms, total, ticked)} == {0.675}


def cells(panel: str) -> list[list[str]]:
    """Return the words in the cells of each row of a panel's table."""
    rows = tree(panel).iterfind(".//tbody/tr")
    return [["".join(cell.itertext()).strip() for cell in row] for row in rows]


def test_cost_of_items_with_their_own_price_is_told_in_its_term() -> None:
    terminal, licence = PLAN.required_equipment[0], PLAN.required_reagents[0]
    prices = {terminal.upper(): 400.0, licence: 12.5}
    pack = MOMENTUM.in_lab(MOMENTUM.lab.model_copy(update={"prices": prices}))
    rows = {row[0]: (row[1], row[-1]) for row in cells(cost_panel(assess(PLAN, pack)))}
    assert rows["Equipment"] == ("1 × 100 + 1 × 400", "500")
    assert rows["Reagents"] == ("1 × 75 + 1 × 12.50", "87.50")
    assert rows["Samples"] == ("300 × 10", "3,000")
    assert rows["Total"][1] == "4,087.50"


def test_lab_panel_tells_a_late_start_and_own_prices() -> None:
    lab = MOMENTUM.lab.model_copy(
        update={
            "days": 30,
            "start_day": 14,
            "booked": {},
            "prices": {PLAN.required_equipment[0]: 9.0},
        }
    )
    text = " ".join(tree(lab_panel(assess(PLAN, MOMENTUM.in_lab(lab)))).itertext())
    assert "17 days are left (start on day 14 of 30)" in text
    assert "available, at 9 credits" in text
    assert "are left" not in "".join(tree(lab_panel(assess(PLAN, MOMENTUM))).itertext())


def test_cost_as_ticked_is_left_out_where_it_is_the_same() -> None:
    plan = assess(PLAN, MOMENTUM)
    assert "As ticked" not in cost_panel(plan, plan)


@pytest.mark.parametrize(
    ("study", "samples", "end", "marks"),
    [
        ("fin_momentum", 300, 0.863, [0.5, 0.8]),
        ("fin_momentum", 0, 0.0, [0.5, 0.8]),
        # A half-width is better the smaller it is: 58 drops reach 1.29 % on a scale from 3.125 %.
        ("phys_millikan", 58, 1 - 0.0129 / 0.03125, [0.2, 0.52]),
    ],
)
def test_better_evidence_is_the_longer_bar(
    study: str, samples: int, end: float, marks: list[float]
) -> None:
    pack = load_scenario(study)
    plan = assess(revise(pack.reference_protocol, sample_size=samples), pack)
    [(begin, longest, at)] = bars(evidence_panel({"Your plan": plan}))
    assert begin == 0.0
    assert longest == pytest.approx(end, abs=0.002)
    assert at == pytest.approx(marks, abs=0.002)


def test_slack_bar_marks_the_limit_on_the_wider_of_both() -> None:
    budget, *_, schedule, staff = bars(check_panel(assess(PLAN, MOMENTUM), None))
    assert budget == (0.0, 1.0, [0.675])
    assert schedule == (0.0, 1.0, [0.75])
    assert staff == (0.0, 1.0, [1.0])


@pytest.mark.parametrize("binding", [None, Dimension.BUDGET, Dimension.STAFF])
def test_binding_limit_is_marked_alone(binding: Dimension | None) -> None:
    rows = tree(check_panel(assess(PLAN, MOMENTUM), binding)).findall(".//tbody/tr")
    found = [(row, mark) for row, mark in pairwise(rows) if BINDING in "".join(mark.itertext())]
    assert [(row[0][0].tail or "").strip().lower() for row, _ in found] == [binding] * len(found)
    assert len(found) == (binding is not None)


@settings(max_examples=100)
@given(itemised_protocols(), studied_packs())
def test_any_plan_is_drawn_well_formed_with_bars_inside_their_cells(
    plan: Protocol, pack: Pack
) -> None:
    yours = assess(plan, pack)
    panels = drawn(yours)
    for panel in panels:
        assert not re.search(r"\b(nan|inf|None)\b", panel)
        for begin, end, marks in bars(panel):
            assert 0 <= begin <= end <= 1 or math.isclose(begin, end, abs_tol=0.002)
            assert all(0 <= mark <= 1 for mark in marks)


def drawn(plan: Assessment) -> list[str]:
    """Return every panel of a plan."""
    return [
        header_panel(plan),
        check_panel(plan, None),
        cost_panel(plan),
        evidence_panel({"Your plan": plan}),
    ]


def test_markup_in_a_text_stays_text_in_every_panel() -> None:
    hostile = "<img src=//x.test/a.png onerror=alert(1)>&amp;{{ 7 * 7 }}\u202e"
    plan = revise(PLAN, required_equipment=[hostile], controls=[hostile])
    [*_, checked] = [panel for panel in drawn(assess(plan, MOMENTUM)) if "x.test" in panel]
    assert not list(tree(checked).iter("img"))
    said = "".join(tree(checked).itertext())
    assert hostile.replace("\u202e", "⟨U+202E⟩") in said
