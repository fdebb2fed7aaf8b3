"""Wherever the method of an evidence is shown, the usual test at this n stands beside it."""

from __future__ import annotations

import re
from datetime import date

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.measures import Kind
from replicalab.planner import PlanAnalysis
from replicalab.render import terminal
from replicalab.report import brief, report
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.views.check import evidence_panel
from replicalab.views.plan import assumption_text
from replicalab.views.study import design_panel
from tests.factories import make_design, make_pack, make_protocol
from tests.report.making import seen_in
from tests.views.reading import words

T_TEST = "By the t-test of r the power is 0.672, 0.12 more."
"""At n = 5 and r = 0.9 by Hotelling's density of r; Fisher's z has 0.549."""


def plan_of(kind: str, effect: float, n: int, **design: object) -> Assessment:
    wanted = make_design(kind=kind, effect_planning=effect, **design)
    return assess(make_protocol(sample_size=n), make_pack(design=wanted))


def of_a_correlation() -> Assessment:
    return plan_of("correlation", 0.9, 5, target=0.67, floor=0.5, effect_published=0.9, sesoi=0.5)


@pytest.mark.parametrize(
    ("plan", "sentences"),
    [
        (plan_of("correlation", 0.9, 5), ["By the t-test of r the power is 0.67, 0.12 more."]),
        (plan_of("correlation", 0.3, 85), []),
        (
            plan_of("two_proportions", 1.4, 10),
            [
                "By Fisher’s exact test of shares evenly about one half the power is 0.45, "
                "0.15 less.",
                "By Fisher’s exact test where one share is 0 the power is 0.10, 0.50 less.",
            ],
        ),
        (
            plan_of("survival", 0.2, 10, event_share=1.0),
            ["By the log-rank test itself the power is 0.56, 0.16 less."],
        ),
        (
            plan_of("precision", 0.5, 5, target=0.1, floor=0.2),
            ["By a t-interval (SD estimated) the half-width is ±62.08 %."],
        ),
        (
            plan_of("two_group", 0.1, 10),
            ["0.018 of this power is a significant result with the wrong sign."],
        ),
        (plan_of("two_group", 0.9, 40), []),
        (plan_of("correlation", 0.9, 0), []),
    ],
)
def test_method_is_told_with_what_the_usual_test_has(
    plan: Assessment, sentences: list[str]
) -> None:
    _, *told = assumption_text(plan).replace(". By", ".\nBy").replace(". 0.", ".\n0.").split("\n")
    assert told == sentences


def test_usual_test_is_of_the_samples_that_count() -> None:
    half = plan_of("correlation", 0.9, 10, dropout=0.5)
    assert half.usual_values == plan_of("correlation", 0.9, 5).usual_values


def test_usual_test_decides_nothing() -> None:
    plan = of_a_correlation()
    assert plan.evidence.value < plan.evidence.target < plan.usual_values[0].value
    assert plan.evidence.tier == "above floor"


def test_usual_test_stands_wherever_the_method_does() -> None:
    plan = of_a_correlation()
    options, day = PlanAnalysis(plan), date(2026, 11, 23)
    documents = [make(options, on=day, written=plan.pack) for make in (brief, report)]
    shown = [
        words(evidence_panel({"Your plan": plan})),
        "\n".join(terminal.lines(evidence_panel({"Your plan": plan}))),
        *map(seen_in, documents),
    ]
    # In a report it stands under the evidence, and beside the method in its justification.
    assert [text.count(T_TEST) for text in shown] == [1, 1, 1, 2]


@pytest.mark.parametrize(("population", "way"), [(None, "binomial"), (1000, "hypergeometric")])
def test_audit_names_the_method_that_its_population_allows(
    population: int | None, way: str
) -> None:
    """161 units at 1 % show a bad one with 1 − 0.99^161 = 0.802, where they are not counted."""
    plan = plan_of("audit", 0.01, 161, population_max=population)
    assert (f"{plan.evidence.value:.3f}" == "0.802") == (population is None)
    documents = [make(PlanAnalysis(plan), on=date(2026, 11, 23)) for make in (brief, report)]
    for text in (assumption_text(plan), words(design_panel(plan.pack)), *map(seen_in, documents)):
        assert {"binomial", "hypergeometric"} & {*re.findall(r"\w+", text)} == {way}


def test_judging_a_plan_works_out_no_usual_test(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("a usual test is worked out where none is shown")

    monkeypatch.setattr(Kind, "usual_values", asked)
    monkeypatch.setattr(Kind, "wrong_sign_share", asked)
    plan = of_a_correlation()
    options = PlanAnalysis(plan)
    assert options.least.after.evidence.text
    assert plan.detectable_effect


def test_no_shipped_reference_is_told_with_another_test_but_the_interval() -> None:
    found = {
        (study, value.name)
        for study in ("psy_stroop", "math_pythagorean", "phys_millikan", "psy_ego_depletion")
        for level in Difficulty
        for pack in [load_scenario(study, level)]
        for value in assess(pack.reference_protocol, pack).usual_values
    }
    assert found == {("phys_millikan", "a t-interval (SD estimated)")}
