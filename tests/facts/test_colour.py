"""What colour and sign evidence has: the target, the floor, and what was lost, each as such."""

import pytest

from replicalab.assessment import assess
from replicalab.facts.blocks import Bar, Cell, Column, Status, table
from replicalab.facts.check import evidence_bar, evidence_panel
from replicalab.facts.rounds import amounts
from replicalab.facts.verdicts import agreed_status, evidence_status
from replicalab.models import revise
from replicalab.planner import PlanStep
from replicalab.render.html import html
from replicalab.scenarios import Pack, load_scenario


@pytest.fixture
def stroop() -> Pack:
    return load_scenario("psy_stroop", "easy")


@pytest.mark.parametrize(
    ("samples", "status"), [(100, Status.PASS), (7, Status.CAUTION), (4, Status.FAIL)]
)
def test_evidence_passes_at_the_target_and_fails_below_the_floor(
    stroop: Pack, samples: int, status: Status
) -> None:
    plan = assess(revise(stroop.reference_protocol, sample_size=samples), stroop)
    target, floor, power = plan.evidence.target, plan.evidence.floor, plan.evidence.value
    expected = "pass" if power >= target else "caution" if power >= floor else "fail"
    assert evidence_status(plan.evidence) == expected == status


def test_plan_that_passes_is_no_pass_below_its_target(stroop: Pack) -> None:
    plan = assess(revise(stroop.reference_protocol, sample_size=7), stroop)
    assert plan.feasible
    assert agreed_status(plan) is Status.CAUTION


def test_lost_evidence_is_seen_behind_the_bar_and_gained_evidence_is_not(stroop: Pack) -> None:
    much, little = (
        assess(revise(stroop.reference_protocol, sample_size=samples), stroop)
        for samples in (20, 10)
    )
    lost, gained = amounts(PlanStep(much, little))[-1].bar, amounts(PlanStep(little, much))[-1].bar
    for bar, is_less in ((lost, True), (gained, False)):
        assert bar
        assert bar.before
        assert (bar.to < bar.before) is is_less
        assert ("lost" in _drawn(bar)) is is_less
    panel = html(evidence_panel({"Your plan": much, "As ticked": little}))
    assert panel.count('class="lost"') == 1


def test_floor_target_and_interval_are_drawn_each_in_another_way(stroop: Pack) -> None:
    evidence = assess(stroop.reference_protocol, stroop).evidence
    bar = evidence_bar(evidence, [evidence])
    assert _drawn(bar).count("<b") == 2
    assert _drawn(bar).count('<b class="floor"') == 1
    interval = _drawn(Bar(0.5, interval=(0.4, 0.6)))
    assert ("<u" in interval, "<b" in interval) == (True, False)


def _drawn(bar: Bar) -> str:
    return html(table("One", [Column("What", bar="after")], [[Cell("x", bar=bar)]]))
