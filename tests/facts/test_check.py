"""Panels of a plan: bars that equal the numbers beside them, text that stays text, usual tests."""

from __future__ import annotations

import math
import re
from datetime import date
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given

from replicalab.assessment import Assessment, assess
from replicalab.documents.forms import brief, report
from replicalab.facts.blocks import Block
from replicalab.facts.check import BINDING, check_panel, cost_panel, evidence_panel, header_panel
from replicalab.facts.plan import assumption_text
from replicalab.facts.study import design_panel, lab_panel
from replicalab.facts.verdicts import plan_verdict
from replicalab.lexicon import joined
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner import PlanAnalysis
from replicalab.render.html import html
from replicalab.scenarios import Difficulty, Pack, load_scenario
from tests.factories import make_design, make_pack, make_protocol
from tests.facts.reading import bars, tree, words
from tests.reports.making import seen_in
from tests.strategies import itemised_protocols, studied_packs

MOMENTUM: Final = load_scenario("fin_momentum", Difficulty.MEDIUM)
PLAN: Final = MOMENTUM.reference_protocol
"""420 samples in 8 days for 5,050 credits, of which the lab has 3,700."""


def test_cost_bars_begin_where_the_one_before_ends_and_share_one_scale() -> None:
    *terms, total, ticked = bars(
        cost_panel(assess(PLAN, MOMENTUM), assess(revise(PLAN, sample_size=150), MOMENTUM))
    )
    assert [begin for begin, *_ in terms] == [0.0, *(end for _, end, _ in terms[:-1])]
    assert [end - begin for begin, end, _ in terms] == pytest.approx(
        [credits / 5050 for credits in (4200, 400, 100, 200, 150)], abs=0.001
    )
    assert total[:2] == (0.0, 1.0)
    assert ticked[1] == pytest.approx(2350 / 5050, abs=0.001)
    assert {mark for _, _, [mark] in (*terms, total, ticked)} == {0.733}
    assert "As ticked" not in words(cost_panel(assess(PLAN, MOMENTUM), assess(PLAN, MOMENTUM)))


def cells(panel: Block) -> list[list[str]]:
    """Return the words in the cells of each row of a panel's table."""
    rows = tree(panel).iterfind(".//tbody/tr")
    return [["".join(cell.itertext()).strip() for cell in row] for row in rows]


def test_cost_of_items_with_their_own_price_is_told_in_its_term() -> None:
    terminal, licence = PLAN.required_equipment[0], PLAN.required_reagents[0]
    prices = {terminal.upper(): 400.0, licence: 12.5}
    pack = MOMENTUM.in_lab(MOMENTUM.lab.model_copy(update={"prices": prices}))
    rows = {row[0]: (row[1], row[-1]) for row in cells(cost_panel(assess(PLAN, pack)))}
    assert rows["Equipment"] == ("1 × 100 + 1 × 400", "500")
    assert rows["Materials and data"] == ("1 × 75 + 1 × 12.50", "87.50")
    assert rows["Samples"] == ("420 × 10", "4,200")
    assert rows["Total"][1] == "5,287.50"


def test_lab_panel_tells_a_late_start_and_own_prices() -> None:
    changes = {"days": 30, "start_day": 14, "booked": {}}
    prices = {PLAN.required_equipment[0]: 9.0}
    lab = MOMENTUM.lab.model_copy(update={**changes, "prices": prices})
    text = " ".join(tree(lab_panel(assess(PLAN, MOMENTUM.in_lab(lab)))).itertext())
    assert "17 days are left (start on day 14 of 30)" in text
    assert "available, at 9 credits" in text
    assert "are left" not in "".join(tree(lab_panel(assess(PLAN, MOMENTUM))).itertext())


@pytest.mark.parametrize(
    ("study", "samples", "end", "marks"),
    [
        ("fin_momentum", 300, 0.619, [0.5, 0.8]),
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
    assert budget == (0.0, 1.0, [0.733])
    assert schedule == (0.0, 1.0, [0.75])
    assert staff == (0.0, 1.0, [1.0])


def test_binding_limit_is_marked_alone() -> None:
    for binding in (None, Dimension.BUDGET, Dimension.STAFF):
        rows = tree(check_panel(assess(PLAN, MOMENTUM), binding)).findall(".//tbody/tr")
        elements = [row for row, mark in pairwise(rows) if BINDING in "".join(mark.itertext())]
        names = [(row[0][0].tail or "").strip().lower() for row in elements]
        assert names == ([binding] if binding else [])


@given(itemised_protocols(), studied_packs())
def test_any_plan_is_drawn_with_bars_inside_their_cells_and_its_failures_in_the_header(
    plan: Protocol, pack: Pack
) -> None:
    yours = assess(plan, pack)
    marked = [str(d) for d, slack in yours.slack.items() if not slack.ok]
    named = joined(marked) if marked else "every dimension passes"
    assert named in plan_verdict(yours).text
    assert named in words(header_panel(yours, yours=True)) or not marked
    for panel in drawn(yours):
        assert not re.search(r"\b(nan|inf|None)\b", html(panel))
        for begin, end, marks in bars(panel):
            assert 0 <= begin <= end <= 1 or math.isclose(begin, end, abs_tol=0.002)
            assert all(0 <= mark <= 1 for mark in marks)


def drawn(plan: Assessment) -> list[Block]:
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
    [*_, checked] = [panel for panel in drawn(assess(plan, MOMENTUM)) if "x.test" in words(panel)]
    assert not list(tree(checked).iter("img"))
    said = "".join(tree(checked).itertext())
    assert hostile.replace("\u202e", "⟨U+202E⟩") in said


def test_plan_whose_item_stands_beside_its_substitute_is_not_told_to_pass() -> None:
    """The booth is booked; that its substitute is listed too does not release it."""
    pack = load_scenario("psy_stroop", "medium")
    items = ["voice-key booth", "key-press response box", "calibrated display"]
    plan = revise(pack.reference_protocol, sample_size=8, duration_days=2, required_equipment=items)
    [texts] = [
        row for row in cells(evidence_panel({"Your plan": assess(plan, pack)})) if "0.68" in row
    ]
    assert texts[-1].endswith("✕ above floor, not feasible")


def plan_of(kind: str, effect: float, n: int, **design: object) -> Assessment:
    wanted = make_design(kind=kind, effect_planning=effect, **design)
    return assess(make_protocol(sample_size=n), make_pack(design=wanted))


def documents_of(plan: Assessment) -> list[str]:
    """Return what is seen in the brief and in the report."""
    options, day = PlanAnalysis(plan), date(2026, 11, 23)
    return [seen_in(make(options, on=day, written=plan.pack)) for make in (brief, report)]


@pytest.mark.parametrize(("population", "way"), [(None, "binomial"), (1000, "hypergeometric")])
def test_audit_names_the_method_that_its_population_allows(
    population: int | None, way: str
) -> None:
    """161 units at 1 % show a bad one with 1 − 0.99^161 = 0.802, where they are not counted."""
    plan = plan_of("audit", 0.01, 161, population_max=population)
    assert (f"{plan.evidence.value:.3f}" == "0.802") == (population is None)
    for text in (assumption_text(plan), words(design_panel(plan.pack)), *documents_of(plan)):
        assert {"binomial", "hypergeometric"} & {*re.findall(r"\w+", text)} == {way}
