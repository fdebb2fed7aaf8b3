"""Every combination in words: what it takes, what it buys, and what is proven."""

from __future__ import annotations

from typing import Any, Final

import pytest

from replicalab.assessment import assess
from replicalab.planner import Aim, Goal, MeansPrices, PlanAnalysis
from replicalab.views.combinations import MOST_SHOWN, combinations_panel, combinations_text
from tests.factories import (
    EQUIPMENT,
    change_pack,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
)
from tests.planner.test_bounded_work import OWN, booked, plan_of
from tests.views.reading import rows, words

CHAMBER, METER = EQUIPMENT
SMALLEST: Final = "every part of each is needed, and no amount could be smaller."


def _options(**changes: Any) -> PlanAnalysis:
    """Return a plan of 1,050 credits whose chamber is booked to day 9, and irreplaceable."""
    lab = {"booked": {CHAMBER: 9}, "allowed_substitutions": [], "budget": 100.0, "days": 10}
    return PlanAnalysis(assess(make_protocol(), make_pack(**{**lab, **changes})))


def test_combinations_are_read_out_with_the_plan_that_each_buys() -> None:
    panel = combinations_panel(_options(), Aim(Goal.PLAN))
    header, *shown = rows(panel)
    assert header[:3] == ["What it takes", "The plan then", "Evidence"]
    assert shown == [
        [
            f"950 more credits and '{CHAMBER}' released",
            "40 samples in 5 days",
            "caution power 0.79",
            "nothing",
        ],
        [
            f"Start on day 10 ('{CHAMBER}' is free), 950 more credits and 4 more days",
            "40 samples in 5 days",
            "caution power 0.79",
            "nothing",
        ],
    ]
    assert f"Each of 2 ways runs the plan as it is (40 samples in 5 days); {SMALLEST}" in words(
        panel
    )
    assert words(panel).strip().endswith("Fewest kinds of means first, then fewest credits.")


@pytest.mark.parametrize("goal", [Goal.PLAN, Goal.FLOOR])
def test_combinations_are_told_in_the_currency_of_the_lab(goal: Goal) -> None:
    euros = combinations_panel(_options(currency="EUR"), Aim(goal, MeansPrices(day=10.0)))
    credits = combinations_panel(_options(), Aim(goal, MeansPrices(day=10.0)))
    assert "credit" not in words(euros)
    assert "more EUR" in words(euros)
    told = words(credits).replace("1 credit is 1", "1 EUR is 1")
    assert told.replace("credits", "EUR") == words(euros)


def test_price_has_a_column_where_one_is_given() -> None:
    aim = Aim(Goal.PLAN, MeansPrices(day=10.0, staff=2.5))
    panel = combinations_panel(_options(), aim)
    assert [row[1] for row in rows(panel)] == ["Price", "990", "not known"]
    told = words(panel).strip()
    assert told.endswith(
        "By price: 1 credit is 1, a day 10 and a staff unit 2.50; a later start costs "
        "nothing. What has no price comes last."
    )


def test_what_the_plan_then_gives_up_is_told_against_yours() -> None:
    swap = make_substitution(original=CHAMBER, alternative="window shelf", fidelity_loss=2)
    found = _options(allowed_substitutions=[swap])
    [only] = rows(combinations_panel(found, Aim(Goal.FLOOR)))[1:]
    takes, plan, _, lost = only
    assert takes == "645 more credits"
    assert plan == "22 samples in 3 days (18 fewer samples and 2 fewer days)"
    assert lost == f"3: 'window shelf' for '{CHAMBER}'; no 'white light control'"


@pytest.mark.parametrize(
    ("goal", "changes", "text"),
    [
        (
            Goal.TARGET,
            {"design": make_design(population_max=20)},
            "Nothing that the lab could add reaches the target of power 0.80: the study has 20 "
            "samples at most.",
        ),
        (
            Goal.PLAN,
            {"min_days": 3, "equipment": [METER]},
            "Nothing that the lab could add runs the plan as it is (40 samples in 5 days): "
            "equipment fails all the same.",
        ),
        (
            Goal.FLOOR,
            {"budget": 5000.0, "booked": {}},
            "Nothing is needed for the floor of power 0.50: 41 samples in 5 days reach it, and the "
            "lab has the means.",
        ),
        (
            Goal.PLAN,
            {"budget": 5000.0, "booked": {}},
            "Nothing is needed: the lab runs the plan as it is (40 samples in 5 days) with what it "
            "has.",
        ),
        (
            Goal.PLAN,
            {"booked": {}},
            "One way runs the plan as it is (40 samples in 5 days); every part of it is needed, "
            "and no amount could be smaller.",
        ),
    ],
)
def test_what_is_proven_of_a_goal_is_told(goal: Goal, changes: dict[str, Any], text: str) -> None:
    assert combinations_text(_options(**changes), goal) == text


def test_what_is_not_proven_is_not_claimed() -> None:
    options = PlanAnalysis(assess(plan_of(20), booked(OWN, 20)))
    told = combinations_text(options, Goal.TARGET)
    assert told.endswith("could be searched, so other ways may take less.")
    nowhere = PlanAnalysis(
        assess(plan_of(20), change_pack(booked(OWN, 20), design=make_design(population_max=3)))
    )
    assert combinations_text(nowhere, Goal.TARGET).startswith("No way was found that reaches")


def test_no_more_than_a_dozen_ways_are_shown_and_how_many_more_there_are_is_told() -> None:
    items = [f"lamp {n}" for n in range(MOST_SHOWN + 1)]
    pack = make_pack(equipment=items, booked={item: 2 * n + 1 for n, item in enumerate(items)})
    options = PlanAnalysis(assess(make_protocol(required_equipment=items), pack))
    panel = combinations_panel(options, Aim(Goal.PLAN))
    assert len(options.combinations(Goal.PLAN).found) == MOST_SHOWN + 2, "a start after each"
    assert len(rows(panel)[1:]) == MOST_SHOWN
    assert "And 2 more; the command line's JSON lists them all." in words(panel)
