"""Results of ``import replicalab``: side by side, as documents and data frames, in one line."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Final

import pytest

import replicalab
from replicalab.documents.forms import open_bundle
from replicalab.errors import NegotiationError

STUDY: Final = "psy_stroop"
DAY: Final = date(2026, 1, 31)


def test_comparison_holds_the_plan_of_each_side() -> None:
    plan = replicalab.assess(replicalab.load(STUDY))
    comparison = replicalab.compare(
        plan, replicalab.negotiate(plan), least=replicalab.least_loss(plan).after
    )
    assert [side.name for side in comparison] == ["plan 1", "plan 2", "least"]
    assert [side.plan.counts.samples for side in comparison] == [100, 45, 45]
    size = comparison.frame().set_index("what").loc["Sample size"]
    assert list(size[["plan 1", "plan 2", "least"]]) == [100, 45, 45]


def test_impossible_comparison_is_refused() -> None:
    plan = replicalab.assess(replicalab.load(STUDY))
    for number in (0, 1, 5):
        with pytest.raises(ValueError, match=f"plans: {number} are named; name 2 to 4"):
            replicalab.compare(*[plan] * number)
    silent = replicalab.negotiate(plan.pack, scientist=lambda _: "no")
    with pytest.raises(NegotiationError, match="no plan is on the table"):
        replicalab.compare(plan, silent)
    none = replicalab.assess(plan.pack, sample_size=0)
    assert "no samples" in replicalab.compare(plan, none)._repr_html_()


def test_report_form_follows_its_name(tmp_path: Path) -> None:
    report = replicalab.report(replicalab.assess(replicalab.load(STUDY)), on=DAY)
    for name, beginning in {
        "a.HTML": b"<!DOCTYPE",
        "a.md": b"# Studies of",
        "a.xlsx": b"PK",
    }.items():
        assert report.save(tmp_path / name).read_bytes().startswith(beginning)
    for name in ("a.doc", "a", ".html/"):
        text = "is not allowed; use html, md, pdf, docx, xlsx or json"
        with pytest.raises(ValueError, match=text):
            report.save(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        report.save(tmp_path / "missing" / "a.html")


def test_report_of_a_negotiation_has_its_plan() -> None:
    plan = replicalab.assess(replicalab.load(STUDY))
    for kind in ("report", "brief"):
        report = replicalab.report(replicalab.negotiate(plan), kind, on=DAY)
        assert report.shown.yours.counts.samples == 45
        assert "45 participants in 3 days" in str(report.form("md"))
    opened = open_bundle(str(report.form("json")))
    assert not opened.caution
    assert opened.options.yours.counts.samples == 100
    assert opened.run


def test_frames_hold_the_core_s_numbers() -> None:
    plan = replicalab.assess(replicalab.load(STUDY, "hard"))
    dimensions = plan.frame()
    assert list(dimensions["dimension"]) == [str(dimension) for dimension in plan.slack]
    assert list(dimensions["slack"]) == [slack.slack for slack in plan.slack.values()]
    assert list(dimensions[~dimensions["ok"]]["dimension"]) == [*map(str, plan.failing)]
    front = replicalab.frontier(plan)
    assert len(front.frame()) == len(front.plans)
    assert list(front.frame()["credits"]) == [plan.credits for plan in front.plans]
    assert front.frame()["credits"].max() <= plan.pack.lab.budget
    studies = replicalab.studies().frame().set_index("id")
    assert studies.loc[STUDY, "n"] == 100
