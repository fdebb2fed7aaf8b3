"""Panels of a plan: bars equal their numbers, and texts stay text."""

import math
import re
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given

from replicalab.assessment import Assessment, assess
from replicalab.facts import check_facts
from replicalab.facts.blocks import Bar, Block, Cell, Column, table
from replicalab.facts.round_facts import amounts
from replicalab.facts.verdicts import plan_verdict
from replicalab.lexicon import joined
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner import PlanStep
from replicalab.render.html import html
from replicalab.scenarios import Difficulty, Pack, load_scenario
from tests.facts.reading import bars, tree, words
from tests.strategies import itemised_protocols, studied_packs

MOMENTUM: Final = load_scenario("fin_momentum", Difficulty.MEDIUM)
PLAN: Final = MOMENTUM.reference_protocol  # 420 samples, 8 days, 5,050 credits of 3,700
STROOP: Final = load_scenario("psy_stroop", "easy")


def stroop(samples: int) -> Assessment:
    return assess(revise(STROOP.reference_protocol, sample_size=samples), STROOP)


def test_cost_bars_form_a_waterfall() -> None:
    smaller = assess(revise(PLAN, sample_size=150), MOMENTUM)
    *terms, total, ticked = bars(check_facts.cost_panel(assess(PLAN, MOMENTUM), smaller))
    assert [begin for begin, *_ in terms] == [0.0, *(end for _, end, _ in terms[:-1])]
    assert [end - begin for begin, end, _ in terms] == pytest.approx(
        [credits / 5050 for credits in (4200, 400, 100, 200, 150)], abs=0.001
    )
    assert total[:2] == (0.0, 1.0)
    assert ticked[1] == pytest.approx(2350 / 5050, abs=0.001)
    assert {mark for _, _, [mark] in (*terms, total, ticked)} == {0.733}
    assert check_facts.CHOSEN not in words(
        check_facts.cost_panel(assess(PLAN, MOMENTUM), assess(PLAN, MOMENTUM))
    )


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
    [(begin, longest, at)] = bars(check_facts.evidence_panel({"Your plan": plan}))
    assert begin == 0.0
    assert longest == pytest.approx(end, abs=0.002)
    assert at == pytest.approx(marks, abs=0.002)


def drawn_bar(bar: Bar) -> str:
    return html(table("One", [Column("Bar", bar="after")], [[Cell("x", bar=bar)]]))


def test_only_lost_evidence_is_drawn_behind_the_bar() -> None:
    much, little = stroop(20), stroop(10)
    lost, gained = amounts(PlanStep(much, little))[-1].bar, amounts(PlanStep(little, much))[-1].bar
    for bar, is_less in ((lost, True), (gained, False)):
        assert bar
        assert bar.before
        assert (bar.to < bar.before) is is_less
        assert ("lost" in drawn_bar(bar)) is is_less
    panel = html(check_facts.evidence_panel({"Your plan": much, check_facts.CHOSEN: little}))
    assert panel.count('class="lost"') == 1


def test_slack_bars_share_the_wider_scale() -> None:
    budget, *_, schedule, staff = bars(check_facts.check_panel(assess(PLAN, MOMENTUM)))
    assert budget == (0.0, 1.0, [0.733])
    assert schedule == (0.0, 1.0, [0.75])
    assert staff == (0.0, 1.0, [1.0])


def test_only_the_binding_constraint_is_marked() -> None:
    for binding in (None, Dimension.BUDGET, Dimension.STAFF):
        rows = tree(check_facts.check_panel(assess(PLAN, MOMENTUM), binding)).findall(".//tbody/tr")
        elements = [
            row for row, mark in pairwise(rows) if check_facts.BINDING in "".join(mark.itertext())
        ]
        names = [(row[0][0].tail or "").strip().lower() for row in elements]
        assert names == ([binding] if binding else [])


def drawn(plan: Assessment) -> list[Block]:
    evidence = check_facts.evidence_panel({"Your plan": plan})
    return [
        check_facts.header_panel(plan),
        check_facts.check_panel(plan),
        check_facts.cost_panel(plan),
        evidence,
    ]


@given(itemised_protocols(), studied_packs())
def test_bars_stay_in_cells_and_header_names_failures(plan: Protocol, pack: Pack) -> None:
    yours = assess(plan, pack)
    failing = [str(dimension) for dimension, slack in yours.slack.items() if not slack.ok]
    named = joined(failing) if failing else "every dimension passes"
    assert named in plan_verdict(yours).text
    assert named in words(check_facts.header_panel(yours)) or not failing
    for panel in drawn(yours):
        assert not re.search(r"\b(nan|inf|None)\b", html(panel))
        for begin, end, marks in bars(panel):
            assert 0 <= begin <= end <= 1 or math.isclose(begin, end, abs_tol=0.002)
            assert all(0 <= mark <= 1 for mark in marks)
