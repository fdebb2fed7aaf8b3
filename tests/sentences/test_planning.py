"""What to do about a plan, what a step loses and what it would take: true in every lab."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given, settings

from replicalab.agents import check_feasibility
from replicalab.concessions import change_concessions, plan_concession
from replicalab.evidence import evidence_value, planned_evidence
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner import Ask, Relief, least_loss
from replicalab.scenarios import Difficulty, Pack, load_scenario
from replicalab.sentences import (
    alone_lines,
    alone_text,
    ask_text,
    assumed_rows,
    assumed_text,
    assumption_text,
    detectable_effect,
    difference_text,
    dropped_cautions,
    effect_text,
    loss_text,
    nothing_needed,
    options_for,
    protection_losses,
    run_text,
    saved_text,
    search_text,
    shortage_text,
    size_text,
    target_text,
    total_loss_text,
    unreached_days_text,
    wasted_text,
    what_to_do,
)
from replicalab.stories import stories
from tests.factories import make_protocol
from tests.negotiation.playing import FLAMING, OPEN, PLAN, SHORT, STUCK
from tests.strategies import itemised_protocols, studied_packs

STORY: Final = stories()[0].workspace
JQ1: Final = STORY.pack()
MOMENTUM: Final = load_scenario("fin_momentum", Difficulty.MEDIUM)
MILLIKAN: Final = load_scenario("phys_millikan", Difficulty.MEDIUM)
FOUR_COLOURS: Final = load_scenario("math_four_colour", Difficulty.MEDIUM)
MET: Final = make_protocol(sample_size=42)
"""Meets the synthetic study's target of power 0.80 in its generous lab."""
REEF: Final = load_scenario("eco_reef_fish", Difficulty.MEDIUM)


def advice(pack: Pack, plan: Protocol | None = None) -> str:
    return what_to_do(options_for(plan or pack.reference_protocol, pack), pack)


# --- the next step ---


def test_story_of_the_halved_sample_is_told_in_numbers() -> None:
    assert advice(JQ1, STORY.plan()) == (
        "10 credits too many. The Lab Manager would halve the sample to 12: power 0.67 → 0.36, "
        "below the floor of 0.50. "
        "Same lab, least loss: all 24 samples in 22 days instead of 28: power 0.67."
    )


def test_advice_names_everything_that_is_short_in_numbers() -> None:
    assert advice(MOMENTUM) == (
        "1,250 credits too many, 2 days too many and 1 item missing. The Lab Manager would offer "
        "150 samples in 6 days: power 0.86 → 0.58. "
        "Same lab, least loss: 195 of 300 samples in 4 days instead of 8: power 0.69."
    )


def test_advice_names_a_control_that_the_least_loss_drops() -> None:
    assert advice(REEF).endswith(
        "Same lab, least loss: 117 of 128 samples in 15 days instead of 21 without "
        "'side-swap of currents': power 0.57."
    )


def test_advice_says_when_no_plan_reaches_the_floor() -> None:
    assert "No plan for this lab reaches the floor of share examined 100 %." in advice(FOUR_COLOURS)


@pytest.mark.parametrize(
    ("pack", "plan", "text"),
    [
        (OPEN, MET, "Nothing to gain: in this lab no revision of your plan gives up less."),
        (
            OPEN,
            FLAMING,
            "A restriction broken. The Lab Manager knows no change that would help. Your wording "
            "breaks a restriction, and the search does not change wording. Remove 'open flame' "
            "from the rationale.",
        ),
    ],
)
def test_advice_when_nothing_can_be_gained(pack: Pack, plan: Protocol, text: str) -> None:
    assert advice(pack, plan) == text


def test_shortage_of_a_plan_that_is_unsound_only_on_paper_names_the_dimension() -> None:
    plan = make_protocol(sample_size=2)
    check = check_feasibility(plan, OPEN)
    assert shortage_text(plan, check, OPEN) == "Protocol fails"


def test_difference_is_against_the_lab_managers_plan_and_against_yours_when_it_fits() -> None:
    options = options_for(MOMENTUM.reference_protocol, MOMENTUM)
    assert difference_text(options, MOMENTUM) == (
        "Same lab, 45 more samples and 2 fewer days than the Lab Manager's plan: "
        "power 0.69 instead of 0.58."
    )
    settled = options_for(options.offer, MOMENTUM)
    assert difference_text(settled, MOMENTUM) == (
        "Same lab, 45 more samples and 2 fewer days than your plan: power 0.69 instead of 0.58."
    )


def test_difference_says_which_of_the_two_passes() -> None:
    pack = load_scenario("math_four_colour", Difficulty.HARD)
    assert difference_text(options_for(pack.reference_protocol, pack), pack).endswith(
        "; it passes all seven dimensions, where staff fails otherwise."
    )


def test_difference_in_a_lab_too_short_for_the_endpoint_says_so() -> None:
    pack = load_scenario("bio_jq1_myeloma", Difficulty.HARD)
    assert difference_text(options_for(pack.reference_protocol, pack), pack) == (
        "Nothing to gain here: the study's endpoint needs 22 days, and the lab gives 14."
    )


def test_advice_in_a_lab_too_short_for_the_endpoint_begins_with_do_not_run() -> None:
    assert advice(load_scenario("bio_jq1_myeloma", Difficulty.HARD)).startswith(
        "Do not run this here: the study's endpoint needs 22 days, and the lab has 14. "
    )


def test_advice_on_a_broken_restriction_names_the_words_to_remove() -> None:
    pack = load_scenario("bio_jq1_myeloma", Difficulty.EASY)
    plan = revise(pack.reference_protocol, rationale="We extend beyond the humane endpoint.")
    remove = "Remove 'extend beyond the humane endpoint' from the rationale."
    options = options_for(plan, pack)
    assert what_to_do(options, pack).endswith(remove)
    assert search_text(options.least, pack) == (
        f"Your wording breaks a restriction, and the search does not change wording. {remove}"
    )
    assert check_feasibility(pack.reference_protocol, pack).feasible


def test_advice_on_a_broken_restriction_says_what_else_no_plan_passes() -> None:
    plan = revise(PLAN, rationale="By open flame.")
    assert search_text(least_loss(plan, STUCK), STUCK).endswith(
        "from the rationale; even then no plan for this lab passes: protocol and equipment fail "
        "at best."
    )


def test_search_names_what_was_searched_and_is_silent_above_the_floor() -> None:
    assert search_text(least_loss(PLAN, STUCK), STUCK) == (
        "No plan for this lab passes all seven dimensions: protocol and equipment fail at best. "
        "Searched: every number of days up to 20, every allowed substitution, every set of "
        "droppable controls, every sample size."
    )
    assert search_text(least_loss(PLAN, OPEN), OPEN) == ""


@settings(max_examples=60)
@given(itemised_protocols(), studied_packs())
def test_every_sentence_is_made_of_whole_sentences(plan: Protocol, pack: Pack) -> None:
    options = options_for(plan, pack)
    advised = what_to_do(options, pack), difference_text(options, pack)
    taken = run_text(options.asks.run), target_text(options, pack)
    sometimes = search_text(options.least, pack), alone_text(options)
    assert all(advised)
    assert all(taken)
    lines = alone_lines(options, pack)
    assert sometimes[1] or lines
    for text in filter(None, (*advised, *taken, *sometimes, *lines)):
        assert text.endswith(".")
        assert "  " not in text
        assert not re.search(r"\b(nan|inf|None)\b", text)


@settings(max_examples=60)
@given(itemised_protocols(), studied_packs())
def test_nothing_is_needed_only_where_the_plan_passes_and_meets_its_target(
    plan: Protocol, pack: Pack
) -> None:
    options = options_for(plan, pack)
    if nothing_needed(options):
        assert check_feasibility(plan, pack).feasible
        assert str(planned_evidence(plan, pack).tier) == "meets target"
        assert run_text(options.asks.run) == "Nothing: the lab can run the plan as it is."


# --- what a step loses ---


def test_loss_names_evidence_and_the_smallest_detectable_effect() -> None:
    offer = options_for(MOMENTUM.reference_protocol, MOMENTUM).offer
    step = plan_concession(MOMENTUM.reference_protocol, offer, MOMENTUM)
    assert loss_text(step, MOMENTUM) == (
        "power 0.86 → 0.58; smallest detectable effect 0.162 → 0.23"
    )
    assert saved_text(step) == "saves 1,600 credits"


def test_loss_of_a_substitution_names_fidelity_and_no_test_where_none_exists() -> None:
    offer = options_for(MILLIKAN.reference_protocol, MILLIKAN).offer
    step = plan_concession(MILLIKAN.reference_protocol, offer, MILLIKAN)
    assert loss_text(step, MILLIKAN) == "half-width ±1.29 % → ±2.02 %; fidelity loss 0 → 1"


def test_loss_of_the_endpoint_leaves_no_detectable_effect() -> None:
    step = plan_concession(PLAN, SHORT, OPEN)
    assert "→ no evidence" in loss_text(step, OPEN)
    assert loss_text(step, OPEN).endswith("→ none")


def test_loss_counts_a_dropped_control_and_names_the_parts_of_the_sum() -> None:
    """The substitution of the reef study's flume loses 2; a dropped control counts 1."""
    least = least_loss(REEF.reference_protocol, REEF)
    step = plan_concession(REEF.reference_protocol, least.plan, REEF)
    assert loss_text(step, REEF).endswith("; fidelity loss 0 → 3")
    assert total_loss_text(step, REEF).endswith(
        "; fidelity loss 0 → 3 in all (substitution 2, dropped control 1)"
    )
    drop = next(change for change in least.changes if change.field == "controls")
    [only] = change_concessions(REEF.reference_protocol, [drop], REEF)
    assert loss_text(only, REEF).endswith("; fidelity loss 0 → 1")
    back = plan_concession(least.plan, REEF.reference_protocol, REEF)
    assert total_loss_text(back, REEF).endswith("; fidelity loss 3 → 0")


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (36, 28, "Below the study's 'survival window' of 36 days."),
        (28, 22, "Below the study's 'survival window' of 36 days."),
        (36, 21, "Below the study's 'survival window' of 36 days."),
        (40, 36, ""),
        (22, 28, ""),
    ],
)
def test_fewer_days_name_the_studys_own_duration_that_they_do_not_reach(
    before: int, after: int, text: str
) -> None:
    """The study wants 36 days of follow-up; its endpoint alone needs 22."""
    assert unreached_days_text(before, after, JQ1) == text


def test_dropped_control_is_lost_with_what_it_protects_against() -> None:
    least = least_loss(REEF.reference_protocol, REEF)
    [lost] = protection_losses(plan_concession(REEF.reference_protocol, least.plan, REEF))
    assert lost.startswith("Without 'side-swap of currents' nothing protects against ")


def test_dropped_fixed_control_comes_first_and_is_called_void() -> None:
    cautions = dropped_cautions(revise(MOMENTUM.reference_protocol, controls=[]), MOMENTUM)
    assert len(cautions) == 4
    assert cautions[0] == (
        "Without 'market-neutral benchmark' nothing protects against selling market exposure as "
        "skill. It is a fixed control: the study is void without it."
    )
    assert not any("void" in caution for caution in cautions[1:])
    assert dropped_cautions(MOMENTUM.reference_protocol, MOMENTUM) == []


def test_detectable_effect_is_larger_by_what_a_substitution_blurs() -> None:
    """The effect, seen through the substitute, is detected at the target power exactly."""
    plan = STORY.plan()
    evidence = planned_evidence(plan, JQ1)
    found = detectable_effect(evidence, JQ1)
    assert found is not None
    seen = found * 0.85
    assert evidence.effect == pytest.approx(1.2 * 0.85)
    assert evidence_value(JQ1.design, 24, seen) == pytest.approx(0.80, abs=1e-6)
    assert effect_text(None) == "none"


# --- what it would take ---


def test_ask_is_given_as_has_and_needs_with_its_unit() -> None:
    assert ask_text(Ask(Dimension.BUDGET, 2600, 3850)) == "Budget: 2,600 → 3,850 credits"
    assert ask_text(Ask(Dimension.SCHEDULE, 0, 1)) == "Schedule: 0 → 1 day"
    assert ask_text(Ask(Dimension.STAFF, 3, 4)) == "Staff: 3 → 4 staff units"
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


def test_target_text_names_samples_days_and_asks() -> None:
    assert target_text(options_for(MOMENTUM.reference_protocol, MOMENTUM), MOMENTUM) == (
        "253 samples in 5 days reach the target of power 0.80. "
        "That takes 630 more credits and 'licensed-data terminal' released."
    )
    assert target_text(options_for(STORY.plan(), JQ1), JQ1) == (
        "With these items and controls no sample size reaches the target of power 0.80. "
        "The study has 24 samples at most."
    )


def test_single_additions_are_listed_once_cheapest_first() -> None:
    four = options_for(FOUR_COLOURS.reference_protocol, FOUR_COLOURS)
    assert alone_lines(four, FOUR_COLOURS) == [
        "2,055 more credits: 633 samples in 8 days, with 'shared compute node', for the target of "
        "share examined 100 %."
    ]
    assert alone_text(four) == ""
    assert alone_text(options_for(STORY.plan(), JQ1)) == (
        "No single addition reaches the target of power 0.80."
    )


def test_single_addition_names_what_its_plan_gives_up_and_the_price_of_keeping_it() -> None:
    """At 60 a day 253 samples take 5 days: 2,600 + 630 pays for all four controls at 25 each."""
    assert alone_lines(options_for(MOMENTUM.reference_protocol, MOMENTUM), MOMENTUM) == [
        "555 more credits: 253 samples in 5 days, with 'vendor-approved extract on the research "
        "server', without 'one-week skip variant', 'size terciles' and "
        "'transaction-cost deduction' (fidelity loss 3 in all), for the target of power 0.80. "
        "With every control kept: 630 more credits."
    ]


def test_single_addition_says_when_it_is_not_enough_with_every_control_kept() -> None:
    suzuki = load_scenario("chem_suzuki_ppb", Difficulty.HARD)
    [line] = alone_lines(options_for(suzuki.reference_protocol, suzuki), suzuki)
    assert "without 'no-base blank' (fidelity loss " in line
    assert line.endswith("With every control kept it is not enough.")


def test_target_needs_nothing_where_the_least_loss_plan_meets_it() -> None:
    stroop = load_scenario("psy_stroop", Difficulty.MEDIUM)
    text = target_text(options_for(stroop.reference_protocol, stroop), stroop)
    assert text.startswith(
        "Nothing is needed if you take the least-loss plan. With your own items: 10 samples in "
    )
    assert text.endswith("'voice-key booth' released.")


def test_samples_that_cannot_count_are_called_paid_for_in_vain() -> None:
    """The study has 24 animals."""
    assert wasted_text(revise(STORY.plan(), sample_size=5000), JQ1) == (
        "Of its 5,000 samples only 24 can count; plan no more than these."
    )
    assert wasted_text(STORY.plan(), JQ1) == ""


# --- what the evidence rests on ---


def test_assumption_names_the_effect_and_denies_observed_power() -> None:
    plan = STORY.plan()
    assert assumption_text(planned_evidence(plan, JQ1), JQ1) == (
        "Planned, at an assumed Cohen's d of 1.2, seen as 1.02 through the substitutions, "
        "by the exact two-sided t-test (noncentral t); never observed power."
    )
    coverage = planned_evidence(FOUR_COLOURS.reference_protocol, FOUR_COLOURS)
    assert assumption_text(coverage, FOUR_COLOURS) == (
        "Planned, by counting the samples as a share of all there are; no effect is assumed."
    )


def test_assumed_text_gives_all_the_numbers_at_once() -> None:
    plan = MOMENTUM.reference_protocol
    assert assumed_text(plan, MOMENTUM) == (
        "Power at an effect as published (0.177) 0.86, halved (0.0885) 0.33, "
        "smallest of interest (0.09) 0.34."
    )
    stroop = load_scenario("psy_stroop", Difficulty.MEDIUM)
    assert "halved, smallest of interest (0.5) " in assumed_text(stroop.reference_protocol, stroop)
    assert [label for label, _, _ in assumed_rows(plan, MOMENTUM)] == [
        "as published",
        "halved",
        "smallest of interest",
    ]
    assert assumed_text(FOUR_COLOURS.reference_protocol, FOUR_COLOURS) == ""


def test_size_is_told_in_samples_and_days() -> None:
    assert size_text(make_protocol(sample_size=1, duration_days=1)) == "1 sample in 1 day"
    assert size_text(make_protocol(sample_size=1200)) == "1,200 samples in 5 days"
