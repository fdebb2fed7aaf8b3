"""The open study: a title that asks stays a question, and what is not given is left out."""

from __future__ import annotations

from replicalab.assessment import assess
from replicalab.drafts import Draft, check, new_study
from replicalab.planner import PlanAnalysis
from replicalab.render.html import html
from replicalab.scenarios import Difficulty, Pack, load_scenario, pack_of
from replicalab.views.present import question_slide
from replicalab.views.study import design_panel, paper_panel, story_panel


def quick_start() -> Pack:
    study = check(Draft(new_study("mine", numbers={"effect_planning": 0.5}))).study
    assert study is not None
    return pack_of(study, Difficulty.MEDIUM)


def story(pack: Pack) -> str:
    return html(story_panel(PlanAnalysis(assess(pack.reference_protocol, pack))))


def test_title_that_asks_gets_no_full_stop() -> None:
    assert "<strong>Does the Stock Market Overreact?</strong> " in story(
        load_scenario("fin_overreaction")
    )
    assert "<strong>Studies of interference in serial verbal reactions.</strong> " in story(
        load_scenario("psy_stroop")
    )


def test_page_leaves_out_what_a_study_does_not_give() -> None:
    pack = quick_start()
    slide = html(question_slide(assess(pack.reference_protocol, pack)))
    for shown in (story(pack), html(paper_panel(pack)), slide):
        assert "Not given" not in shown
    assert "Hypothesis" not in html(paper_panel(pack))
    assert "<p>Power by the exact two-sided t-test (noncentral t).</p>" in html(design_panel(pack))
