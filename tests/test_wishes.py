"""Broken soft constraints and missing controls are shown wherever a plan is shown."""

from collections.abc import Callable
from datetime import date
from typing import Final

import pytest

from replicalab import api
from replicalab.assessment import Assessment, assess
from replicalab.facts import (
    change_facts,
    check_facts,
    comparison_facts,
    negotiation_facts,
    round_facts,
    score_facts,
    slide_facts,
    study_facts,
    survey_facts,
    verdicts,
)
from replicalab.facts.blocks import Block
from replicalab.facts.change_facts import revision_panel
from replicalab.facts.document_facts import brief, funding_request
from replicalab.facts.report_facts import report
from replicalab.features import portfolio
from replicalab.negotiation import Negotiation, ScientistKind, score_of
from replicalab.negotiation.case import Side
from replicalab.planner import PlanAnalysis, surveyed
from replicalab.render.markdown import markdown
from replicalab.scenarios import Pack
from tests import factories
from tests.facts.reading import words
from tests.negotiation.playing import by_rule

ASKED: Final = 19
FULL: Final = f"'Watching' should be at least {ASKED} days, the plan has"
SHORT: Final = "breaks a wish"
LACKS: Final = "lacks 'sham lamp', which protects against heat: the study is void without it"
LACKS_SHORT: Final = (
    "lacks a fixed control",
    "no 'sham lamp', without which the study is void",
    "Without 'sham lamp' nothing protects against heat.",
)
TODAY: Final = date(2026, 1, 31)
WATCH: Final = factories.make_constraint(
    key="watch", label="Watching", comparator=">=", quantity=ASKED, hard=False, bounds="days"
)


SHAM: Final = factories.make_control(name="sham lamp", protects_against="heat")
"""A fixed control of the study that no plan here lists."""


def lab(**changes: object) -> Pack:
    study = {
        "constraints": [WATCH],
        "controls": [*factories.make_study().controls, SHAM],
        "reference_protocol": factories.make_protocol(duration_days=ASKED),
    }
    return factories.make_pack(**{"days": 12, **study, **changes})


def judged(length: int = 12, **changes: object) -> Assessment:
    return assess(factories.make_protocol(duration_days=length), lab(**changes))


def ways(length: int = 12, **changes: object) -> PlanAnalysis:
    return PlanAnalysis(judged(length, **changes))


def run(days: int = ASKED) -> Negotiation:
    plan = factories.make_protocol(duration_days=days)
    return by_rule(lab(), plan, scientist=ScientistKind.DIRECT)


def revised(days: int = ASKED) -> Block:
    analysis = ways(days)
    assert analysis.offer is not None
    return revision_panel(analysis.offer)


def waiting() -> PlanAnalysis:
    pack = lab(booked={factories.EQUIPMENT[0]: 9}, days=20, allowed_substitutions=[])
    return PlanAnalysis(assess(factories.make_protocol(duration_days=ASKED), pack))


def least(**changes: object) -> PlanAnalysis:
    return PlanAnalysis(
        assess(factories.make_protocol(sample_size=41, duration_days=3), lab(**changes))
    )


def both() -> list[Side]:
    saved = judged(ASKED, days=20)
    return [Side(name, plan, None) for name, plan in (("A", judged()), ("B", saved))]


PLACES: Final[dict[str, Callable[[], str | Block]]] = {
    "the verdict": lambda: verdicts.plan_verdict(judged()).text,
    "header_panel": lambda: check_facts.header_panel(judged()),
    "check_panel": lambda: check_facts.check_panel(judged(), None),
    "revision_panel": revised,
    "needs_panel": lambda: change_facts.needs_panel(waiting()),
    "comparison_panel": lambda: comparison_facts.comparison_panel(both()),
    "story_panel": lambda: study_facts.story_panel(ways(ASKED)),
    "survey_panel": lambda: survey_facts.survey_panel("", [(surveyed(lab()), "", "")], "study"),
    "portfolio_panel": lambda: portfolio.portfolio_panel(portfolio.portfolio([lab()])),
    "round_panel": lambda: round_facts.round_panel(run(), 0),
    "outcome_panel": lambda: round_facts.outcome_panel(negotiation_facts.outcome_verdict(run())),
    "Slide.PLAN": lambda: slide_facts.plan_slide(judged()),
    "Slide.DECISION": lambda: slide_facts.decision_slide(ways(ASKED), run()),
    "score_panel": lambda: score_facts.score_panel(score_of(judged())),
    "one addition": lambda: " ".join(change_facts.single_addition_lines(ways(budget=500))),
    "the Scenarios page": lambda: verdicts.offer_story(ways(ASKED)).text,
    "the brief": lambda: markdown(brief(ways(), on=TODAY)),
    "the funding request": lambda: markdown(funding_request(ways(), on=TODAY)),
    "the report": lambda: markdown(report(ways(), on=TODAY)),
    "a report of a negotiation": lambda: markdown(report(ways(ASKED), on=TODAY, run=run())),
    "a notebook's plan": lambda: api.assess(lab(), duration_days=12)._repr_html_(),
    "a notebook's negotiation": lambda: api.negotiate(lab())._repr_html_(),
}
"""Each place that shows a plan of 12 days, or one that follows from it."""


@pytest.mark.parametrize("place", PLACES)
def test_caution_is_shown_by(place: str) -> None:
    result = PLACES[place]()
    line = result if isinstance(result, str) else words(result)
    line = line.replace("&#39;", "'")
    assert FULL in line or SHORT in line
    assert LACKS in line or any(text in line for text in LACKS_SHORT)
