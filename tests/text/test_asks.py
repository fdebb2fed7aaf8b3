"""What it would take: what stays impossible is said, what is not needed is not asked for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from replicalab.models import Dimension, Protocol
from replicalab.planner import Ask, Relief
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.text.asks import (
    alone_lines,
    alone_text,
    ask_text,
    nothing_needed,
    run_text,
    target_text,
)
from tests.strategies import itemised_protocols, studied_packs
from tests.text.labs import PLAN, of


def test_ask_is_given_as_has_and_needs_with_its_unit() -> None:
    assert ask_text(Ask(Dimension.BUDGET, 2600, 3850)) == "Budget: 2,600 → 3,850 credits"
    assert ask_text(Ask(Dimension.SCHEDULE, 0, 1)) == "Schedule: 0 → 1 day"
    assert ask_text(Ask(Dimension.REAGENTS, 0, 1, "agar")) == "Reagents: 'agar' restocked"


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
def test_single_additions_are_listed_or_it_is_said_that_there_are_none(
    plan: Protocol, pack: Pack
) -> None:
    options = of(plan, pack)
    assert alone_lines(options) or alone_text(options)
    assert all(text.endswith(".") for text in (target_text(options), *alone_lines(options)))
