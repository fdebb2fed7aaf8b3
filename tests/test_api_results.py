"""Results of ``import replicalab``: side by side, as documents and data frames, in one line."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Final

import pytest

import replicalab
from replicalab.errors import NegotiationError
from replicalab.reports import open_bundle

STUDY: Final = "psy_stroop"
DAY: Final = date(2026, 1, 31)


def test_comparison_holds_the_plan_of_each_side() -> None:
    """The Scientist takes the offer of 25 samples; the least-loss plan has 15."""
    plan = replicalab.assess(replicalab.load(STUDY))
    found = replicalab.compare(plan, replicalab.negotiate(plan), least=replicalab.least_loss(plan))
    assert [side.name for side in found] == ["plan 1", "plan 2", "least"]
    assert [side.plan.counts.samples for side in found] == [100, 25, 15]
    size = found.frame().set_index("what").loc["Sample size"]
    assert list(size[["plan 1", "plan 2", "least"]]) == [100, 25, 15]


def test_comparison_that_cannot_be_is_refused() -> None:
    plan = replicalab.assess(replicalab.load(STUDY))
    for number in (0, 1, 5):
        with pytest.raises(ValueError, match=rf"{number} plans are to be compared; name 2 to 4"):
            replicalab.compare(*[plan] * number)
    with pytest.raises(ValueError, match="two plans are called 'plan 1'; call one otherwise"):
        replicalab.compare(plan, **{"plan 1": plan})
    silent = replicalab.negotiate(plan.pack, scientist=lambda _: "no")
    with pytest.raises(NegotiationError, match="no plan is on the table"):
        replicalab.compare(plan, silent)
    none = replicalab.assess(plan.pack, sample_size=0)
    assert "no samples" in replicalab.compare(plan, none)._repr_html_()


def test_report_is_saved_in_the_form_that_its_name_says(tmp_path: Path) -> None:
    found = replicalab.report(replicalab.assess(replicalab.load(STUDY)), on=DAY)
    for name, beginning in {
        "a.HTML": b"<!DOCTYPE",
        "a.md": b"# Studies of",
        "a.xlsx": b"PK",
    }.items():
        assert found.save(tmp_path / name).read_bytes().startswith(beginning)
    for name in ("a.doc", "a", ".html/"):
        known = "is unknown; known: html, md, pdf, docx, xlsx, json"
        with pytest.raises(ValueError, match=known):
            found.save(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        found.save(tmp_path / "missing" / "a.html")


def test_report_of_a_negotiation_is_about_the_plan_that_it_came_to() -> None:
    """The Scientist takes the offer of 25 samples; it opened with the study's 100."""
    plan = replicalab.assess(replicalab.load(STUDY))
    for brief in (False, True):
        found = replicalab.report(replicalab.negotiate(plan), on=DAY, brief=brief)
        assert found.shown.yours.counts.samples == 25
        assert "25 samples in 3 days" in str(found.form("md"))
    opened = open_bundle(str(found.form("json")))
    assert not opened.caution
    assert opened.options.yours.counts.samples == 100
    assert opened.run


def test_report_of_a_negotiation_without_a_plan_is_about_the_study_s() -> None:
    silent = replicalab.negotiate(replicalab.load(STUDY), scientist=lambda _: "no")
    assert replicalab.report(silent).shown.yours.counts.samples == 100


def test_frames_hold_the_core_s_numbers() -> None:
    plan = replicalab.assess(replicalab.load(STUDY, "hard"))
    dimensions = plan.frame()
    assert list(dimensions["dimension"]) == [str(dimension) for dimension in plan.slack]
    assert list(dimensions["slack"]) == [slack.slack for slack in plan.slack.values()]
    assert list(dimensions[~dimensions["ok"]]["dimension"]) == [*map(str, plan.failing)]
    front = replicalab.frontier(plan)
    assert len(front.frame()) == len(front)
    assert list(front.frame()["credits"]) == [each.credits for each in front]
    assert front.frame()["credits"].max() <= plan.pack.lab.budget
    studies = replicalab.studies().frame().set_index("id")
    assert studies.loc[STUDY, "n"] == 100


def test_frame_without_a_row_has_its_columns() -> None:
    poor = replicalab.assess(replicalab.load(STUDY, own=replicalab.Lab(budget=1)))
    assert list(replicalab.frontier(poor).frame().columns)[:3] == ["samples", "days", "credits"]
    assert len(replicalab.frontier(poor).frame()) == 0
    assert "domain" in replicalab.studies("alchemy").frame().columns


def test_result_is_one_plain_line_at_a_prompt() -> None:
    place = replicalab.load(STUDY)
    plan = replicalab.assess(place)
    talk = replicalab.negotiate(plan)
    lines = {
        "<Studies: psy_ego_depletion, psy_stroop>": replicalab.studies("psychology"),
        "<Studies: none>": replicalab.studies("alchemy"),
        "<Lab: Ours, 2 changes>": replicalab.Lab(name="Ours", budget=9, rates={"per_day": 1.0}),
        "<Lab: 0 changes>": replicalab.Lab(),
        "<LoadedPack: Stroop interference, medium lab: 1,000 credits, 3 days, 2 staff "
        "units>": place,
        "<Plan: Stroop interference, medium lab: 100 samples in 4 days for 1,600 of 1,000 credits, "
        "power 1.00; protocol, budget, equipment and schedule fail>": plan,
        "<Revision: Stroop interference, medium lab: 15 samples in 1 day for 600 of 1,000 credits, "
        "power 0.82; feasible>": replicalab.least_loss(plan),
        "<Needs: 600 more credits, 1 more day, 'voice-key booth' released>": replicalab.asks(plan),
        "<ParetoFrontier: 99 plans of 445 to 1,000 credits>": replicalab.frontier(plan),
        "<Batch: 10 negotiations: 6 agreed, 4 no deal>": replicalab.run_batch(
            STUDY, ["hard"], range(10)
        ),
        "<Comparison: plan 1 and plan 2>": replicalab.compare(plan, plan),
    }
    assert [repr(found) for found in lines.values()] == [*lines]
    assert repr(talk).startswith("<FinishedNegotiation: Stroop interference: Agreed in round 2: ")
    assert repr(replicalab.report(plan, on=DAY)).endswith(
        "reactions: Report · medium lab · 31 January 2026>"
    )


def test_line_at_a_prompt_is_short_and_shows_what_is_hidden() -> None:
    own = replicalab.Lab(name="a\u202e\x1b[31m\tb", budget=9)
    line = repr(replicalab.assess(replicalab.load(STUDY, own=own)))
    assert "a⟨U+202E⟩⟨U+001B⟩[31m b" in line
    assert line.isprintable()
    plan = replicalab.assess(replicalab.load(STUDY))
    assert len(repr(replicalab.compare(**{"x" * 999: plan, "y": plan}))) < 240
