"""What a plan breaks of its study's wishes, and what it lacks of its study's controls, is told
wherever it is offered, agreed or called good.

Each place stands in `PLACES`: a new panel, slide or command is missed here until it is in it, or
in what judges no plan.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

import pytest

from replicalab import api, views
from replicalab.assessment import Assessment, assess
from replicalab.comparison import Side
from replicalab.models import Protocol, revise
from replicalab.negotiation import Negotiation, ScientistKind, best_text
from replicalab.planner import PlanAnalysis, PlanStep, surveyed
from replicalab.report import brief, markdown, report
from replicalab.scenarios import CostModel, EvidenceAssumptions, LabOverrides, Pack, load_scenario
from replicalab.views import comparison, rounds, survey
from replicalab.views import present as slides
from replicalab.views.blocks import Block, Status
from replicalab.views.changes import all_changes, revision_panel
from replicalab.views.check import check_panel, header_panel
from replicalab.views.comparison import comparison_panel
from replicalab.views.frontier import (
    balance_text,
    extras_lines,
    fits_text,
    lost_text,
    standing_verdict,
)
from replicalab.views.negotiation import outcome_verdict, round_summary
from replicalab.views.options import (
    alone_lines,
    alone_text,
    difference_text,
    run_text,
    search_text,
    take_panel,
    take_parts,
    target_text,
    wait_lines,
)
from replicalab.views.present import Slide
from replicalab.views.region import point_lines
from replicalab.views.study import story_panel
from replicalab.views.survey import survey_panel
from replicalab.views.verdicts import offer_story, plan_verdict
from tests.factories import (
    EQUIPMENT,
    make_constraint,
    make_control,
    make_pack,
    make_protocol,
    make_study,
)
from tests.negotiation.playing import by_rule
from tests.views.reading import words

ASKED: Final = 19
FULL: Final = f"'Watching' should be at least {ASKED} days, the plan has"
SHORT: Final = "breaks a wish"
LACKS: Final = "lacks 'sham lamp', which protects against heat: the study is void without it"
LACKS_SHORT: Final = (
    "lacks a fixed control",
    "no 'sham lamp', without which the study is void",
    "Without 'sham lamp' nothing protects against heat. It is a fixed control: the study is void",
)
TODAY: Final = date(2026, 1, 31)
WATCH: Final = make_constraint(
    key="watch", label="Watching", comparator=">=", quantity=ASKED, hard=False, bounds="days"
)


SHAM: Final = make_control(name="sham lamp", protects_against="heat")
"""A fixed control of the study that no plan here lists."""


def lab(**changes: object) -> Pack:
    """Return the synthetic study, which wants 19 days and a sham lamp, in a lab of 12 days."""
    study = {
        "constraints": [WATCH],
        "controls": [*make_study().controls, SHAM],
        "reference_protocol": make_protocol(duration_days=ASKED),
    }
    return make_pack(**{"days": 12, **study, **changes})


def judged(length: int = 12, **changes: object) -> Assessment:
    return assess(make_protocol(duration_days=length), lab(**changes))


def options(length: int = 12, **changes: object) -> PlanAnalysis:
    return PlanAnalysis(judged(length, **changes))


def run(days: int = ASKED) -> Negotiation:
    """Return a negotiation that opens with so many days; the lab has 12."""
    plan = make_protocol(duration_days=days)
    return by_rule(lab(), plan, scientist=ScientistKind.EVIDENCE_AWARE)


def revised(days: int = ASKED) -> Block:
    found = options(days)
    assert found.offer is not None
    changes = all_changes(found.yours, found.offer.changes, found.known)
    return revision_panel(PlanStep(found.yours, found.offer.after), changes)


def waiting() -> PlanAnalysis:
    """Return a plan whose chamber is booked until day 9 of 20, so that a wait leaves 11 days."""
    pack = lab(booked={EQUIPMENT[0]: 9}, days=20, allowed_substitutions=[])
    return PlanAnalysis(assess(make_protocol(duration_days=ASKED), pack))


def unbeaten() -> str:
    """Return where the least plan that meets the target stands: nothing beats it."""
    plan = make_protocol(sample_size=41, duration_days=3)
    found = standing_verdict(PlanAnalysis(assess(plan, lab())))
    assert found.title == "Unbeaten"
    return found.text


def beaten_by(plan: Assessment, said: str) -> str:
    """Return what is told of the plan that beats one, from the words that lead to it."""
    _, found, told = standing_verdict(PlanAnalysis(plan)).text.partition(said)
    assert found
    return told.partition("For no more")[0]


def least(**changes: object) -> PlanAnalysis:
    """Return the least plan that meets the target: its lab need add nothing."""
    return PlanAnalysis(assess(make_protocol(sample_size=41, duration_days=3), lab(**changes)))


def shown_nothing() -> str:
    """Return what is proven where the endpoint needs 13 days, and the lab has 12."""
    return best_text(options(min_days=13).least)


def both() -> list[Side]:
    kept = judged(ASKED, days=20)
    return [Side(name, plan, None) for name, plan in (("A", judged()), ("B", kept))]


PLACES: Final[dict[str, Callable[[], str | Block]]] = {
    "the verdict": lambda: plan_verdict(judged()).text,
    "the verdict of a plan that does not pass": lambda: plan_verdict(judged(13)).text,
    "header_panel": lambda: header_panel(judged()),
    "check_panel": lambda: check_panel(judged(), None),
    "revision_panel": revised,
    "take_panel": lambda: take_panel(waiting()),
    "comparison_panel": lambda: comparison_panel(both()),
    "story_panel": lambda: story_panel(options(ASKED)),
    "survey_panel": lambda: survey_panel("", [(surveyed(lab()), "")], "Study"),
    "round_panel": lambda: rounds.round_panel(run(), 0),
    "outcome_panel": lambda: rounds.outcome_panel(outcome_verdict(run())),
    "branches_panel": lambda: rounds.branches_panel([(done, None) for done in run().rounds], 1),
    "Slide.PLAN": lambda: slides.plan_slide(judged()),
    "Slide.ROUND": lambda: slides.round_slide(run(), 1),
    "an offer's slide": lambda: slides.round_slide(run(), 0),
    "an offer in a report": lambda: (
        markdown(report(options(ASKED), on=TODAY, run=run()))
        .split("Round 2, Scientist")[0]
        .split("Round 1, Lab Manager")[1]
    ),
    "Slide.OUTCOME": lambda: slides.outcome_slide(run(), outcome_verdict(run())),
    "Slide.BESIDE": lambda: slides.beside_slide(judged(ASKED), judged(), "the offer"),
    "a wait": lambda: " ".join(wait_lines(waiting())),
    "what the target takes": lambda: target_text(options(booked={EQUIPMENT[0]: 30})),
    "one addition": lambda: " ".join(alone_lines(options(budget=500))),
    "what more means buy": lambda: " ".join(extras_lines(options(budget=300))),
    "a cell that says whether it fits": lambda: fits_text(judged()),
    "a cell of what is lost": lambda: lost_text(judged()),
    "the chosen point": lambda: " ".join(point_lines(judged())),
    "an unbeaten plan": unbeaten,
    "a plan that costs less": lambda: beaten_by(judged(), "No less evidence can be had"),
    "a plan that shows more": lambda: beaten_by(judged(), "For no more credits and days"),
    "a plan that takes fewer days": lambda: beaten_by(
        judged(cost_model=CostModel(per_day=0)), "in fewer days"
    ),
    "a plan that fits, for as much evidence": lambda: beaten_by(
        assess(make_protocol(sample_size=41, duration_days=13), lab(booked={EQUIPMENT[0]: 30})),
        "The least-loss plan fits",
    ),
    "another plan that fits, for as much": lambda: beaten_by(
        judged(13, booked={EQUIPMENT[0]: 30}), "A plan that fits has as much evidence"
    ),
    "nothing to be added": lambda: str(take_parts(least())),
    "nothing to be added to run it": lambda: run_text(least().asks.run),
    "nothing to be added alone": lambda: alone_text(least()),
    "a proof that nothing passing shows anything": shown_nothing,
    "the balanced plan": lambda: balance_text(options()),
    "the front door": lambda: offer_story(options(ASKED)).text,
    "a round in a few numbers": lambda: round_summary(run().rounds[1]),
    "a comparison's file": lambda: str(comparison.table(both())),
    "what a compared plan is negotiated to": lambda: str(
        comparison.parts([Side("A", judged(ASKED), run()), both()[1]])[comparison.OUTCOME]
    ),
    "the survey's file": lambda: str(survey.cells(surveyed(lab()))),
    "the brief": lambda: markdown(brief(options(), on=TODAY)),
    "the report": lambda: markdown(report(options(), on=TODAY)),
    "a report of a negotiation": lambda: markdown(report(options(ASKED), on=TODAY, run=run())),
    "a notebook's plan": lambda: api.assess(lab(), duration_days=12)._repr_html_(),
    "a notebook's negotiation": lambda: api.negotiate(lab())._repr_html_(),
}
"""Where a plan of 12 days is told, or one that comes of it, and what is said there."""
JUDGE_NO_PLAN: Final = {
    *("card_panel", "cost_panel", "design_panel", "effects_panel", "evidence_panel"),
    *("idea_panel", "inventory_panel", "kind_panel", "lab_panel", "legend_panel"),
    *("paper_panel", "rules_panel", "shares_panel"),
    *("substitutions_panel", "listed_panel", "sentences_panel", "top_panel", "point_panel"),
    *("attempts_panel", "judge_panel", "ledger_panel", "matrix_panel"),
    *("Slide.QUESTION", "Slide.REGION"),
}
"""Panels and slides that draw what they are given, numbers alone, or a study."""


@pytest.mark.parametrize("place", PLACES)
def test_broken_wish_is_told_by(place: str) -> None:
    found = PLACES[place]()
    said = found if isinstance(found, str) else words(found)
    said = said.replace("&#39;", "'")
    assert FULL in said or SHORT in said
    assert LACKS in said or any(text in said for text in LACKS_SHORT)


def test_every_panel_and_slide_is_walked_or_judges_no_plan() -> None:
    modules = [
        import_module(f"{views.__name__}.{found.name}") for found in iter_modules(views.__path__)
    ]
    drawn = {
        name
        for module in modules
        for name, found in inspect.getmembers(module, inspect.isfunction)
        if name.endswith("_panel") and found.__module__ == module.__name__
    }
    drawn |= {f"Slide.{each.name}" for each in Slide}
    assert drawn - {*PLACES} == JUDGE_NO_PLAN


def test_no_more_means_are_needed_though_a_wish_is_broken() -> None:
    [told] = extras_lines(least(controls=make_study().controls))
    assert told == (
        "No addition is needed: the least-loss plan meets the target and loses no fidelity. "
        f"Breaks a wish of the study: {FULL} 3."
    )


@pytest.mark.parametrize("days", [ASKED, 20])
def test_plan_that_keeps_every_wish_is_told_nothing(days: int) -> None:
    kept = options(days, days=20, controls=make_study().controls)
    talk = by_rule(kept.yours.pack, kept.yours.plan, scientist=ScientistKind.EVIDENCE_AWARE)
    drawn = header_panel(kept.yours), check_panel(kept.yours), rounds.round_panel(talk, 0)
    said = words(*drawn) + plan_verdict(kept.yours).text + outcome_verdict(talk).text
    assert "wish" not in said
    assert "lacks" not in said
    assert plan_verdict(kept.yours).title == "Feasible"


def test_only_what_breaks_no_wish_is_shown_as_a_pass() -> None:
    assert judged().feasible
    cautions = "Feasible, breaks a wish, lacks a fixed control"
    assert plan_verdict(judged())[:2] == (Status.CAUTION, cautions)
    lacking = judged(ASKED, days=20)
    assert plan_verdict(lacking)[:2] == (Status.CAUTION, "Feasible, lacks a fixed control")
    agreed = outcome_verdict(run())
    assert (agreed.status, agreed.title) == (Status.CAUTION, "Agreed")
    assert FULL in agreed.text


# --- the study in which a shorter plan loses its second endpoint -------------------------------

JQ1: Final = load_scenario("bio_jq1_myeloma", "easy")
LOST: Final = "'survival follow-up' should be at least 36 days, the plan has"


def follow_up(days: int) -> Protocol:
    return revise(JQ1.reference_protocol, duration_days=days)


def test_survival_follow_up_is_a_wish_that_every_shorter_plan_breaks() -> None:
    broken = {days: assess(follow_up(days), JQ1).broken_wishes for days in (22, 35, 36, 40)}
    assert {days: [w.constraint.key for w in found] for days, found in broken.items()} == {
        22: ["survival_window"],
        35: ["survival_window"],
        36: [],
        40: [],
    }


def test_wait_for_the_imager_tells_the_follow_up_that_it_leaves_no_days_for() -> None:
    imager = {"state": "booked", "until": 12, "label": "bioluminescence imager"}
    pack = JQ1.with_own(
        LabOverrides.model_validate({"items": [{**imager, "category": "equipment"}]}),
        EvidenceAssumptions(),
    )
    assert pack.lab.days_left == 40
    [line] = wait_lines(PlanAnalysis(assess(pack.reference_protocol, pack)))
    assert f"Breaks a wish of the study: {LOST}" in line


def test_agreement_on_fewer_days_tells_the_follow_up_that_is_lost() -> None:
    pack = load_scenario("bio_jq1_myeloma", "medium")
    talk = by_rule(pack, pack.reference_protocol, scientist=ScientistKind.EVIDENCE_AWARE)
    assert talk.outcome is not None
    assert LOST in outcome_verdict(talk).text


# --- the study that is void without one of its controls ----------------------------------------

STROOP: Final = load_scenario("psy_stroop", "easy")
FIXED: Final = (
    "lacks 'naming colour squares', which protects against general slowness taken for "
    "interference: the study is void without it"
)
MAY_GO: Final = (
    "lacks 'reading words in black ink', which protects against losing the asymmetry between "
    "reading and naming"
)


def without(*names: str) -> PlanAnalysis:
    plan = STROOP.reference_protocol
    kept = [each for each in plan.controls if each not in names]
    return PlanAnalysis(assess(revise(plan, controls=kept), STROOP))


@pytest.mark.parametrize(
    ("name", "lacks"), [("naming colour squares", FIXED), ("reading words in black ink", MAY_GO)]
)
def test_plan_without_a_control_is_not_said_to_give_up_least_or_nothing(
    name: str, lacks: str
) -> None:
    found = without(name)
    assert found.yours.feasible
    assert plan_verdict(found.yours).text.endswith(f" L{lacks[1:]}.")
    assert difference_text(found) == (
        "In this lab no revision of your plan that adds no control gives up less."
    )
    [(_, [none])] = take_parts(found)
    assert none.startswith("Nothing: the lab can run the plan")
    assert none.endswith(f" L{lacks[1:]}.")
    talk = by_rule(STROOP, found.yours.plan, scientist=ScientistKind.EVIDENCE_AWARE)
    agreed = outcome_verdict(talk)
    assert (agreed.status, agreed.title) == (Status.CAUTION, "Agreed")
    assert lacks in agreed.text


def test_whole_study_is_said_to_give_up_least_without_a_condition() -> None:
    assert difference_text(without()) == ("In this lab no revision of your plan gives up less.")


def test_proof_of_a_plan_without_controls_keeps_to_those_that_it_lists() -> None:
    found = PlanAnalysis(assess(make_protocol(), lab(min_days=13)))
    assert "every set of droppable controls that the plan lists," in search_text(found)


def test_both_controls_that_a_plan_lacks_are_told_the_fixed_one_first() -> None:
    found = without("naming colour squares", "reading words in black ink")
    assert f"L{FIXED[1:]}; {MAY_GO}." in plan_verdict(found.yours).text


# --- the proof in a lab whose days are too few for the endpoint --------------------------------


def test_proof_tells_the_wish_that_the_passing_plan_breaks() -> None:
    pack = load_scenario("bio_jq1_myeloma", "hard")
    talk = by_rule(pack, pack.reference_protocol, scientist=ScientistKind.EVIDENCE_AWARE)
    assert "passes all seven dimensions, breaks a wish and shows nothing" in (
        outcome_verdict(talk).text
    )
