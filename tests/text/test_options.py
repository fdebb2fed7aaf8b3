"""What may be done about a plan: what is not proven, or not needed, is not said to be."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings

from replicalab.assessment import assess
from replicalab.models import Dimension, Protocol
from replicalab.planner import Ask, Relief
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.text.options import (
    alone_lines,
    alone_text,
    difference_text,
    first_of_all,
    nothing_needed,
    proof_text,
    run_text,
    search_text,
    target_text,
)
from tests.factories import make_protocol
from tests.strategies import itemised_protocols, studied_packs
from tests.text.labs import FLAMING, OPEN, PLAN, POOR, STUCK, of, told


@pytest.mark.parametrize(
    ("asks", "left", "text"),
    [
        ((), (), "Nothing: the lab can run the plan as it is."),
        (
            (Ask(Dimension.BUDGET, 2480, 2490),),
            (),
            "10 more credits: with that the lab can run the plan as it is.",
        ),
        (
            (Ask(Dimension.SCHEDULE, 4, 5),),
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
    asks: tuple[Ask, ...], left: tuple[Dimension, ...], text: str
) -> None:
    assert run_text(Relief(PLAN, asks, left)) == text


@settings(max_examples=60)
@given(itemised_protocols(), studied_packs())
def test_nothing_is_needed_only_where_the_plan_passes_and_meets_its_target(
    plan: Protocol, pack: Pack
) -> None:
    options = of(plan, pack)
    if nothing_needed(options):
        assert options.yours.feasible
        assert options.yours.evidence.tier is EvidenceTier.MEETS_TARGET
        assert run_text(options.asks.run) == "Nothing: the lab can run the plan as it is."


@settings(max_examples=60)
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


# --- what is proven -----------------------------------------------------------------------------


def test_plan_in_fewer_days_than_the_endpoint_needs_is_not_said_to_fail() -> None:
    options = of(PLAN, POOR)
    brief = assess(make_protocol(duration_days=2, sample_size=3), POOR)
    assert brief.feasible
    assert options.least.none_feasible
    assert search_text(options).startswith("No plan of at least 3 days for this lab passes ")
    assert "every number of days from 3 to 20," in search_text(options)


@settings(max_examples=60)
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
