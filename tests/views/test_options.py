"""What may be done about a plan: what is not proven, or not needed, is not said to be."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given

from replicalab.assessment import assess
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner import Addition, Shortfall
from replicalab.scenarios import EvidenceTier, Pack, load_scenario
from replicalab.scenarios.own import EvidenceAssumptions, LabOverrides
from replicalab.views.frontier import standing_verdict
from replicalab.views.options import (
    alone_lines,
    alone_text,
    difference_text,
    first_of_all,
    nothing_needed,
    proof_text,
    run_text,
    search_text,
    take_parts,
    target_text,
    wait_lines,
    wasted_text,
)
from replicalab.views.region import limit_texts, no_evidence_text
from tests.factories import EQUIPMENT, make_design, make_pack, make_protocol
from tests.negotiation.playing import FLAMING, OPEN, PLAN, STUCK
from tests.strategies import itemised_protocols, studied_packs
from tests.views.labs import POOR, of, told

CHAMBER, _ = EQUIPMENT


@pytest.mark.parametrize(
    ("asks", "left", "text"),
    [
        ((), (), "Nothing: the lab can run the plan as it is."),
        (
            (Addition(Dimension.BUDGET, 2480, 2490),),
            (),
            "10 more credits: with that the lab can run the plan as it is.",
        ),
        (
            (Addition(Dimension.SCHEDULE, 4, 5),),
            (Dimension.POLICY,),
            "1 more day; but policy fails whatever the lab adds.",
        ),
        (
            (),
            (Dimension.POLICY,),
            "Nothing that the lab could add is enough: policy fails all the same.",
        ),
    ],
)
def test_run_text_says_what_together_and_what_stays_impossible(
    asks: tuple[Addition, ...], left: tuple[Dimension, ...], text: str
) -> None:
    assert run_text(Shortfall(of(PLAN, OPEN).yours, asks, left)) == text


def test_wait_says_what_is_free_what_is_left_and_what_that_reaches() -> None:
    lab = {"booked": {CHAMBER: 13}, "days": 30, "allowed_substitutions": []}
    [line] = wait_lines(of(PLAN, make_pack(**lab)))
    assert line == (
        "Start on day 14: 'growth chamber' is free, 17 days are left. Then 41 samples in 5 days: "
        "power 0.802, which meets the target of 0.80."
    )
    assert wait_lines(of(PLAN, make_pack(**lab, start_day=14))) == []
    [line] = wait_lines(of(PLAN, make_pack(**lab, budget=200)))
    assert line.endswith("; budget fails all the same.")


@pytest.mark.parametrize(
    ("start", "days", "reason"),
    [
        (1, 4, "The plan takes 5 days, 1 over the limit of 4."),
        (14, 17, "The plan takes 5 days; 4 days are left (start on day 14 of 17)."),
        (17, 17, "The plan takes 5 days; 1 day is left (start on day 17 of 17)."),
        (19, 17, "The plan takes 5 days; 0 days are left (start on day 19 of 17)."),
    ],
)
def test_schedule_tells_a_late_start(start: int, days: int, reason: str) -> None:
    found = assess(PLAN, make_pack(start_day=start, days=days))
    assert found.reasons[Dimension.SCHEDULE] == [reason]
    assert found.slack[Dimension.SCHEDULE].limit == max(0, days - start + 1)


def test_endpoint_that_a_late_start_loses_is_told_with_it() -> None:
    told_first = first_of_all(of(PLAN, make_pack(start_day=5, days=6)))
    assert told_first.startswith(
        "Do not run this here: the study's endpoint needs 3 days, and the lab has 2 from day 5 on."
    )


def test_study_of_at_least_one_day_is_told_without_an_endpoint() -> None:
    """Its file names none: no plan takes less than a day."""
    pack = make_pack(min_days=1, start_day=19, days=17)
    found = of(revise(PLAN, duration_days=0), pack)
    assert first_of_all(found).startswith("Do not run this here: the lab has 0 days")
    assert found.yours.evidence.void_reason == "no days are planned"
    told = found.yours.reasons, found.yours.validation, limit_texts(pack), found.least.changes
    assert "endpoint" not in f"{told}".replace("RegionLimit.ENDPOINT: 'endpoint'", "")


@given(itemised_protocols(), studied_packs())
def test_nothing_is_needed_only_where_the_plan_passes_and_meets_its_target(
    plan: Protocol, pack: Pack
) -> None:
    options = of(plan, pack)
    if nothing_needed(options):
        assert options.yours.feasible
        assert options.yours.evidence.tier is EvidenceTier.MEETS_TARGET
        assert run_text(options.asks.run) == "Nothing: the lab can run the plan as it is."


@given(itemised_protocols(), studied_packs())
def test_what_is_said_is_made_of_whole_lines_without_holes(plan: Protocol, pack: Pack) -> None:
    options = of(plan, pack)
    assert alone_lines(options) or alone_text(options)
    assert all(text.endswith(".") for text in (target_text(options), *alone_lines(options)))
    for text in filter(
        None, (first_of_all(options), difference_text(options), search_text(options))
    ):
        assert text.endswith(".")
        assert not text[0].islower()
    for line in told(options).splitlines():
        assert "  " not in line
        assert ".." not in line
        assert not re.search(r"\b(nan|inf|None)\b", line)


def six_a_day(**own: float) -> Pack:
    """Return a lab of one's own in which six reactions a day can count."""
    lab = LabOverrides.model_validate(own)
    return load_scenario("chem_suzuki_ppb", "easy").with_own(lab, EvidenceAssumptions())


@pytest.mark.parametrize(
    ("own", "plan", "text"),
    [
        (
            {"days": 3},
            (24, 3),
            "its 24 samples only 18 can count; plan no more than these or 4 days.",
        ),
        ({"days": 1}, (8, 1), "its 8 samples only 6 can count; plan 2 days."),
        ({}, (18, 3), ""),
    ],
)
def test_samples_that_cannot_count_are_told_with_what_to_do_about_them(
    own: dict[str, int], plan: tuple[int, int], text: str
) -> None:
    pack, (samples, days) = six_a_day(**own), plan
    sized = revise(pack.reference_protocol, sample_size=samples, duration_days=days)
    assert wasted_text(assess(sized, pack)) == (f"Of {text}" if text else "")


def test_samples_that_cannot_count_are_told_where_nothing_is_needed() -> None:
    pack = six_a_day(days=3)
    options = of(revise(pack.reference_protocol, duration_days=3), pack)
    assert nothing_needed(options)
    [(_, [none, wasted])] = take_parts(options)
    assert none.startswith("Nothing: the lab can run the plan as it is")
    assert wasted.startswith("Of its 24 samples only 18 can count")


# --- what is proven -----------------------------------------------------------------------------


def test_no_proof_is_told_of_a_lab_in_which_samples_that_cannot_count_pass() -> None:
    # The study asks for 8 reactions, and the one day there is has room for 6; they show nothing.
    pack = six_a_day(budget=910, days=1)
    options = of(pack.reference_protocol, pack)
    assert options.least.after.feasible
    assert "passes all seven" not in search_text(options)
    assert search_text(options).startswith("No plan for this lab reaches the floor of power ")
    assert difference_text(options) == (
        "Nothing to gain here: the least-loss plan, 8 samples (6 analysed) in 1 day, passes all "
        "seven dimensions and shows nothing, as the study's endpoint needs 3 days, and the lab "
        "gives 1."
    )


def test_plan_that_can_be_had_for_less_is_not_said_to_have_nothing_to_gain() -> None:
    # 24 mice in 22 days have the power of 24 in 36, for 14 days at 50 credits less.
    pack = load_scenario("bio_jq1_myeloma", "easy")
    options = of(pack.reference_protocol, pack)
    assert "can be had for 700 credits less" in standing_verdict(options).text
    assert difference_text(options) == "In this lab no revision of your plan gives up less."


def test_lab_whose_passing_plans_are_lost_to_dropout_is_not_said_to_pass_none() -> None:
    plan, design = make_protocol(controls=[], sample_size=1), make_design(dropout=0.5)
    cost = assess(plan, make_pack()).cost
    pack = make_pack(design=design, reference_protocol=plan, controls=[], budget=cost, min_days=5)
    options = of(plan, pack)
    assert options.yours.feasible
    assert no_evidence_text(options) == (
        "Do not run this here: with 50 % dropout none of the samples is left."
    )


def test_plan_in_fewer_days_than_the_endpoint_needs_is_not_said_to_fail() -> None:
    options = of(PLAN, POOR)
    brief = assess(make_protocol(duration_days=2, sample_size=3), POOR)
    assert brief.feasible
    assert options.least.none_feasible
    assert search_text(options).startswith("No plan of at least 3 days for this lab passes ")
    assert "every number of days from 3 to 20," in search_text(options)


@given(itemised_protocols(), studied_packs())
def test_proof_says_that_no_plan_passes_only_where_the_best_one_fails(
    plan: Protocol, pack: Pack
) -> None:
    least = of(plan, pack).least
    assert ("passes" in proof_text(least) or "Remove" in proof_text(least)) <= least.none_feasible
    assert bool(proof_text(least)) == (least.none_feasible or least.none_above_floor)


@pytest.mark.parametrize(("plan", "pack"), [(PLAN, STUCK), (PLAN, OPEN), (FLAMING, STUCK)])
def test_what_was_not_searched_whole_is_not_called_proven(plan: Protocol, pack: Pack) -> None:
    options = of(plan, pack)
    options.__dict__["least"] = replace(options.least, exact=False)
    said = f"{first_of_all(options)} {difference_text(options)} {search_text(options)}"
    assert "Not every combination" in said
    assert "No plan of" not in said
    assert "No plan for this lab" not in said
    assert "no revision" not in said
