"""A plan that meets the target without its looks is told with them, wherever that is claimed."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

import pytest

from replicalab.assessment import Assessment
from replicalab.critique import RemarkStanding, critique
from replicalab.planner import Goal, PlanAnalysis
from replicalab.reports import brief, funding_request, markdown, report
from replicalab.views.blocks import Status
from replicalab.views.combinations import combinations_text
from replicalab.views.frontier import extras_lines
from replicalab.views.funding import MOST_WORDS, headline
from replicalab.views.options import take_parts
from replicalab.views.standing import Looked, standing_text, standing_title
from replicalab.views.verdicts import evidence_cell, plan_verdict, standing
from tests.planner.test_looks import ORIGINAL
from tests.views.test_looks import looked

DAY: Final = date(2026, 11, 24)
# SciPy: the t-test of 128 has power 0.8015; a drift of that power crosses 2.178 at half or at the
# end with 0.7578. Of 160 samples 0.8816 and 0.8482.
MISSED: Final = "With 1 look power 0.76, below the target of 0.80 but above the floor of 0.50."
INTERVAL: Final = {**ORIGINAL, "replication": {"criteria": ["interval"]}}


def missing() -> Assessment:
    """Return a plan that meets the target without its look and misses it with it."""
    return looked("pocock:1", samples=128, planned_days=8)


@pytest.mark.parametrize(
    ("plan", "title", "text", "said"),
    [
        (
            missing,
            Looked.MISSES,
            MISSED,
            "2,080 credits buy power 0.76 with 1 look: target missed.",
        ),
        (
            lambda: looked("pocock:1", samples=160, planned_days=8, budget=5000.0),
            None,
            "With 1 look power 0.85, which meets the target of 0.80.",
            "2,400 credits buy power 0.85 with 1 look: target met.",
        ),
        (
            # 7 days do 140 samples, two batches of 70 take 4 days each.
            lambda: looked(samples=140, planned_days=7, days=7),
            Looked.OVER,
            "With 1 look power 0.83, which meets the target of 0.80; if no look stops it, "
            "protocol and schedule fail.",
            "2,150 credits buy power 0.83 with 1 look, but may not fit.",
        ),
        (
            lambda: looked("pocock:1", INTERVAL, samples=128, planned_days=8),
            Looked.UNKNOWN,
            "With 1 look it is not worked out.",
            "2,080 credits buy power 0.801 without looks; with looks not worked out.",
        ),
        (
            lambda: looked("", samples=128, planned_days=8),
            None,
            "",
            "2,080 credits buy power 0.801: target met.",
        ),
    ],
)
def test_plan_that_meets_the_target_is_told_as_it_is_run(
    plan: Any, title: Looked | None, text: str, said: str
) -> None:
    found = plan()
    assert (standing_title(found), standing_text(found)) == (title, text)
    verdict = plan_verdict(found)
    assert verdict.status is (Status.CAUTION if title else Status.PASS)
    assert verdict.title == (f"Feasible, {title}" if title else "Feasible")
    assert text in verdict.text
    assert evidence_cell(found).status is verdict.status
    assert standing(found) == (verdict.status, title or "meets target")
    assert headline(PlanAnalysis(found)) == said
    assert len(said.split()) <= MOST_WORDS


def test_plan_below_the_floor_is_told_once() -> None:
    few = looked("pocock:1", samples=40, planned_days=8)
    assert (standing_title(few), standing_text(few)) == (None, "")


def test_each_sentence_that_nothing_is_needed_says_what_the_looks_make_of_it() -> None:
    options = PlanAnalysis(missing())
    told = [
        combinations_text(options, Goal.TARGET),
        *(text for _, texts in take_parts(options) for text in texts),
        *extras_lines(options),
    ]
    claims = [text for text in told if text.startswith(("Nothing", "No addition"))]
    assert len(claims) == 3
    assert all(MISSED in text for text in claims)


def test_document_of_a_plan_that_misses_the_target_with_looks_never_says_met_alone() -> None:
    options = PlanAnalysis(missing())
    for make in (brief, funding_request, report):
        lines = markdown(make(options, on=DAY)).splitlines()
        claims = [
            line
            for line in lines
            if any(each in line for each in ("target met", "meets the target", "Nothing is needed"))
        ]
        assert claims
        assert all("ith 1 look power 0.76, below the target" in line for line in claims)
        assert not any(line.startswith("✓ **Feasible") for line in lines)


def test_reviewer_asks_whether_a_plan_shows_enough_with_its_looks() -> None:
    def stands(plan: Assessment) -> RemarkStanding:
        [asked] = [each for each in critique(plan) if "show enough" in each.asks]
        return asked.standing

    assert stands(missing()) is RemarkStanding.CONCERN
    assert stands(looked("pocock:1", INTERVAL, samples=128, planned_days=8)) is (
        RemarkStanding.CONCERN
    )
    assert stands(looked("pocock:1", samples=160, planned_days=8)) is RemarkStanding.ANSWERED
    assert stands(looked("", samples=128, planned_days=8)) is RemarkStanding.ANSWERED


def test_ways_to_the_target_say_that_looks_are_left_out_and_what_each_shows_with_them() -> None:
    poor = PlanAnalysis(looked("pocock:1", samples=128, planned_days=8, budget=1900.0))
    assert "Looks are left out of that" in combinations_text(poor, Goal.TARGET)
    [way, *_] = poor.combinations(Goal.TARGET).found
    cell = evidence_cell(way.plan)
    assert cell.text.startswith("power 0.80")
    assert cell.text.endswith(" without looks, 0.76 with 1 look")
    assert cell.status is Status.CAUTION
