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

from replicalab import api, facts
from replicalab.assessment import Assessment, assess
from replicalab.documents.forms import brief, funding_request, markdown, report
from replicalab.facts import (
    check,
    comparison,
    frontier,
    negotiation,
    options,
    rounds,
    score,
    study,
    survey,
    verdicts,
)
from replicalab.facts import present as slides
from replicalab.facts.blocks import Block, Status
from replicalab.facts.fact import facts_table
from replicalab.facts.options import revision_panel
from replicalab.features.portfolio import choice
from replicalab.models import revise
from replicalab.negotiation import Negotiation, ScientistKind, best_text, score_of
from replicalab.negotiation.comparison import Side
from replicalab.planner import PlanAnalysis, PlanStep, change_steps, surveyed
from replicalab.scenarios import CostModel, Pack, load_scenario
from tests.factories import (
    EQUIPMENT,
    make_constraint,
    make_control,
    make_pack,
    make_protocol,
    make_study,
)
from tests.facts.reading import words
from tests.negotiation.playing import by_rule

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


SMALL: Final = make_protocol(sample_size=41, duration_days=3)
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


def ways(length: int = 12, **changes: object) -> PlanAnalysis:
    return PlanAnalysis(judged(length, **changes))


def run(days: int = ASKED) -> Negotiation:
    """Return a negotiation that opens with so many days; the lab has 12."""
    plan = make_protocol(duration_days=days)
    return by_rule(lab(), plan, scientist=ScientistKind.DIRECT)


def revised(days: int = ASKED) -> Block:
    analysis = ways(days)
    assert analysis.offer is not None
    changes = change_steps(analysis.yours, analysis.offer.changes, analysis.known)
    return revision_panel(PlanStep(analysis.yours, analysis.offer.after), changes)


def waiting() -> PlanAnalysis:
    """Return a plan whose chamber is booked until day 9 of 20, so that a wait leaves 11 days."""
    pack = lab(booked={EQUIPMENT[0]: 9}, days=20, allowed_substitutions=[])
    return PlanAnalysis(assess(make_protocol(duration_days=ASKED), pack))


def standing(plan: Assessment, title: str, named: str = "") -> Block:
    """Return the rows that compare a plan with the plans that nothing beats."""
    analysis = PlanAnalysis(plan)
    assert frontier.standing_verdict(analysis).title == title
    assert not named or named in frontier.better_plans(analysis)
    return frontier.standing_table(analysis)


def least(**changes: object) -> PlanAnalysis:
    """Return the least plan that meets the target: its lab need add nothing."""
    return PlanAnalysis(assess(make_protocol(sample_size=41, duration_days=3), lab(**changes)))


def shown_nothing() -> str:
    """Return what is proven where the endpoint needs 13 days, and the lab has 12."""
    return best_text(ways(min_days=13).least)


def both() -> list[Side]:
    saved = judged(ASKED, days=20)
    return [Side(name, plan, None) for name, plan in (("A", judged()), ("B", saved))]


PLACES: Final[dict[str, Callable[[], str | Block]]] = {
    "the verdict": lambda: verdicts.plan_verdict(judged()).text,
    "the verdict of a plan that does not pass": lambda: verdicts.plan_verdict(judged(13)).text,
    "header_panel": lambda: check.header_panel(judged()),
    "check_panel": lambda: check.check_panel(judged(), None),
    "revision_panel": revised,
    "take_panel": lambda: options.take_panel(waiting()),
    "comparison_panel": lambda: comparison.comparison_panel(both()),
    "story_panel": lambda: study.story_panel(ways(ASKED)),
    "survey_panel": lambda: survey.survey_panel("", [(surveyed(lab()), "", "")], "Study"),
    "portfolio_panel": lambda: choice.portfolio_panel(choice.portfolio([lab()])),
    "round_panel": lambda: rounds.round_panel(run(), 0),
    "outcome_panel": lambda: rounds.outcome_panel(negotiation.outcome_verdict(run())),
    "branches_panel": lambda: rounds.branches_panel([(done, None) for done in run().rounds], 1),
    "Slide.PLAN": lambda: slides.plan_slide(judged()),
    "an offer in a report": lambda: (
        markdown(report(ways(ASKED), on=TODAY, run=run()))
        .split("Round 2, Scientist")[0]
        .split("Round 1, Lab Manager")[1]
    ),
    "Slide.DECISION": lambda: slides.decision_slide(ways(ASKED), run()),
    "score_panel": lambda: score.score_panel(score_of(judged(), ways())),
    "a wait": lambda: " ".join(options.wait_lines(waiting())),
    "what the target takes": lambda: options.target_text(ways(booked={EQUIPMENT[0]: 30})),
    "one addition": lambda: " ".join(options.alone_lines(ways(budget=500))),
    "what more means buy": lambda: facts_table("", frontier.extra_facts(ways(budget=300))),
    "a cell that says whether it fits": lambda: frontier.fits_text(judged()),
    "a cell of what is lost": lambda: frontier.lost_text(judged()),
    "an unbeaten plan": lambda: standing(assess(SMALL, lab()), "Unbeaten"),
    "a plan that costs less": lambda: standing(judged(), "Beaten", "Same evidence, cheaper"),
    "a plan that takes fewer days": lambda: standing(
        judged(cost_model=CostModel(per_day=0)), "Beaten", "Less given up, or faster"
    ),
    "another plan that fits, for as much": lambda: standing(
        judged(13, booked={EQUIPMENT[0]: 30}), "Does not fit", "As much evidence"
    ),
    "nothing to be added": lambda: str(options.take_parts(least())),
    "nothing to be added to run it": lambda: options.run_text(least().asks.run),
    "nothing to be added alone": lambda: options.alone_text(least()),
    "a proof that nothing passing shows anything": shown_nothing,
    "the front door": lambda: verdicts.offer_story(ways(ASKED)).text,
    "a round in a few numbers": lambda: negotiation.round_summary(run().rounds[1]),
    "a comparison's file": lambda: str(comparison.table(both())),
    "what a compared plan is negotiated to": lambda: str(
        comparison.parts([Side("A", judged(ASKED), run()), both()[1]])[comparison.OUTCOME]
    ),
    "the survey's file": lambda: str(survey.cells(surveyed(lab()))),
    "the brief": lambda: markdown(brief(ways(), on=TODAY)),
    "the funding request": lambda: markdown(funding_request(ways(), on=TODAY)),
    "the report": lambda: markdown(report(ways(), on=TODAY)),
    "a report of a negotiation": lambda: markdown(report(ways(ASKED), on=TODAY, run=run())),
    "a notebook's plan": lambda: api.assess(lab(), duration_days=12)._repr_html_(),
    "a notebook's negotiation": lambda: api.negotiate(lab())._repr_html_(),
}
"""Where a plan of 12 days is told, or one that comes of it, and what is said there."""
JUDGE_NO_PLAN: Final = {
    *("card_panel", "cost_panel", "design_panel", "effects_panel", "evidence_panel"),
    "original_panel",
    *("idea_panel", "picture_panel", "kind_panel", "lab_panel", "legend_panel"),
    *("paper_panel", "regret_panel", "rules_panel", "samples_panel", "shares_panel"),
    *("substitutions_panel", "sentences_panel", "deck_panel", "point_panel"),
    *("attempts_panel", "ledger_panel", "rounds_panel"),
    *("Slide.STAKE", "Slide.CONCESSION", "Slide.LEDGER", "Slide.RULE", "Slide.MISSING"),
    *("worked_out_panel", "units_panel"),
}
"""Panels and slides that draw what they are given, numbers alone, or a study.

That of a power analysis is of a study that is made of numbers alone, and has no wish yet.
"""


@pytest.mark.parametrize("place", PLACES)
def test_broken_wish_is_told_by(place: str) -> None:
    result = PLACES[place]()
    line = result if isinstance(result, str) else words(result)
    line = line.replace("&#39;", "'")
    assert FULL in line or SHORT in line
    assert LACKS in line or any(text in line for text in LACKS_SHORT)


@pytest.mark.parametrize("place", PLACES)
def test_control_whose_protection_is_not_given_is_named_alone_by(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = make_control(name="sham lamp", protects_against="Not given.")
    monkeypatch.setitem(globals(), "SHAM", bare)
    result = PLACES[place]()
    text = result if isinstance(result, str) else words(result)
    text = text.replace("&#39;", "'")
    assert "'sham lamp'" in text or LACKS_SHORT[0] in text
    assert not [word for word in ("against Not given", "..", "against heat") if word in text]


def test_every_panel_and_slide_is_walked_or_judges_no_plan() -> None:
    modules = [
        import_module(f"{facts.__name__}.{iter_module.name}")
        for iter_module in iter_modules(facts.__path__)
    ]
    drawn = {
        name
        for module in modules
        for name, result in inspect.getmembers(module, inspect.isfunction)
        if name.endswith("_panel") and result.__module__ == module.__name__
    }
    drawn |= {f"Slide.{slide.name}" for slide in slides.Slide}
    assert drawn - {*PLACES} == JUDGE_NO_PLAN


def test_days_that_let_a_wish_be_kept_are_told_as_more_means() -> None:
    days, *_ = frontier.extra_facts(least(controls=make_study().controls))
    assert days.label == "+7 days"
    assert "wishes broken 1 → 0" in days.shown
    [none] = frontier.extra_facts(least(controls=make_study().controls, days=ASKED))
    assert none.label == "None needed"


def test_plan_that_keeps_every_wish_is_told_nothing() -> None:
    analysis = ways(ASKED, days=20, controls=make_study().controls)
    talk = by_rule(analysis.yours.pack, analysis.yours.plan, scientist=ScientistKind.DIRECT)
    yours, verdict = analysis.yours, verdicts.plan_verdict(analysis.yours)
    drawn = check.header_panel(yours), check.check_panel(yours), rounds.round_panel(talk, 0)
    text = words(*drawn) + verdict.text + negotiation.outcome_verdict(talk).text
    assert not [word for word in ("wish", "lacks") if word in text]
    assert verdict.title == "Feasible"


def test_only_what_breaks_no_wish_is_shown_as_a_pass() -> None:
    assert judged().feasible
    cautions = "Feasible, breaks a wish, lacks a fixed control"
    assert verdicts.plan_verdict(judged())[:2] == (Status.CAUTION, cautions)
    lacking = judged(ASKED, days=20)
    assert verdicts.plan_verdict(lacking)[:2] == (Status.CAUTION, "Feasible, lacks a fixed control")
    agreed = negotiation.outcome_verdict(run())
    assert (agreed.status, agreed.title) == (Status.CAUTION, "Agreed")
    assert FULL in agreed.text


# --- what a plan lacks ----------------------------------------------------------------------

STROOP: Final = load_scenario("psy_stroop", "easy")
FIXED: Final = (
    "lacks 'naming colour squares', which protects against general slowness taken for "
    "interference: the study is void without it"
)
MAY_GO: Final = (
    "lacks 'reading words in black ink', which protects against losing the asymmetry between "
    "reading and naming"
)


@pytest.mark.parametrize(
    ("controls", "lacks"),
    [(["reading words in black ink"], FIXED), (["naming colour squares"], MAY_GO),
     ([], f"{FIXED}; {MAY_GO}")],
)  # fmt: skip
def test_plan_without_a_control_is_not_said_to_need_nothing(
    controls: list[str], lacks: str
) -> None:
    analysis = PlanAnalysis(assess(revise(STROOP.reference_protocol, controls=controls), STROOP))
    assert verdicts.plan_verdict(analysis.yours).text.endswith(f" L{lacks[1:]}.")
    [(_, [none])] = options.take_parts(analysis)
    assert none.startswith("Nothing: the lab can run the plan")
    assert none.endswith(f" L{lacks[1:]}.")
    talk = by_rule(STROOP, analysis.yours.plan, scientist=ScientistKind.DIRECT)
    agreed = negotiation.outcome_verdict(talk)
    assert (agreed.status, agreed.title) == (Status.CAUTION, "Agreed")
    assert lacks in agreed.text


def test_proof_of_a_plan_without_controls_keeps_to_those_that_it_lists() -> None:
    analysis = PlanAnalysis(assess(make_protocol(), lab(min_days=13)))
    assert "every set of droppable controls that the plan lists," in options.search_text(analysis)
