"""What is said of a plan, and of what may be done about it: true in every lab, or it is not said.

How it is said is read in golden files, one for each plan; a case that must be told in words of its
own is a plan there.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given

from replicalab.assessment import Assessment, assess, evidence_value, size_text
from replicalab.facts import options as ways
from replicalab.facts.blocks import Status
from replicalab.facts.check import evidence_panel
from replicalab.facts.curves import effect_title
from replicalab.facts.plan import (
    dropout_text,
    effect_text,
    evidence_text,
    group_text,
    newly_broken_text,
    notes,
    spare_text,
    staff_text,
    total_loss_text,
)
from replicalab.facts.present import plan_slide
from replicalab.facts.region import limit_facts, no_evidence_text
from replicalab.facts.verdicts import (
    ANSWERS,
    answer_to,
    largest_text,
    offer_story,
    plan_verdict,
    terms_text,
)
from replicalab.models import Protocol, revise
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.planner.curves import Curves
from replicalab.scenarios import (
    CostModel,
    Difficulty,
    EvidenceAssumptions,
    EvidenceTier,
    LabOverrides,
    Pack,
    list_scenarios,
    load_scenario,
)
from replicalab.ui.own_studies import find
from replicalab.ui.stories import stories
from tests.factories import (
    EQUIPMENT,
    change_pack,
    make_constraint,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
)
from tests.facts.labs import BRIEF, IN_VAIN, LONE, POOR, UNSOUND, of, of_reference, told
from tests.facts.reading import words
from tests.golden import assert_golden
from tests.negotiation.playing import BOOKED, FLAMING, OPEN, PLAN, SHORT, SMALL, STUCK
from tests.strategies import itemised_protocols, studied_packs

CHAMBER, _ = EQUIPMENT
SHIPPED: Final = [study.scenario_id for study in list_scenarios()]
STORY: Final = stories()[1].workspace
MICE, MYELOMA = STORY.case.protocol(find), STORY.case.pack(find)
REEF: Final = load_scenario("eco_reef_fish", Difficulty.MEDIUM)
SUZUKI: Final = load_scenario("chem_suzuki_ppb", Difficulty.EASY)
"""Six reactions a day can count."""
SUZUKI_IN_A_DAY: Final = SUZUKI.with_own(LabOverrides(budget=910, days=1), EvidenceAssumptions())
WISHING: Final = make_pack(
    constraints=[
        make_constraint(key="watch", label="Watching", comparator=">=", quantity=9, hard=False,
                        bounds="days"),
        make_constraint(key="each", label="Trays a group", comparator=">=", quantity=12, hard=False,
                        unit="trays", bounds="samples_per_condition", conditions=2),
    ]
)  # fmt: skip
"""Wants 9 days and 24 trays, and takes fewer."""
WAITING: Final = {"booked": {CHAMBER: 13}, "days": 30, "allowed_substitutions": []}
NONE_LEFT: Final = make_protocol(controls=[], sample_size=1)
"""Of which half is lost."""


def sized(samples: int, days: int = 5) -> Protocol:
    """Return a plan of another size."""
    return make_protocol(sample_size=samples, duration_days=days)


def of_kind(kind: str, effect: float, samples: int, **design: object) -> PlanAnalysis:
    """Return a plan of a kind of design."""
    wanted = make_design(kind=kind, effect_planning=effect, **design)
    return of(sized(samples), make_pack(design=wanted))


def six_a_day(samples: int, taken: int, /, **own: float) -> PlanAnalysis:
    """Return a plan in a lab of one's own in which six samples a day can count."""
    pack = SUZUKI.with_own(LabOverrides.model_validate(own), EvidenceAssumptions())
    plan = revise(pack.reference_protocol, sample_size=samples, duration_days=taken)
    return of(plan, pack)


def unsearched(plan: Protocol, pack: Pack) -> PlanAnalysis:
    """Return what may be done about a plan of which not every change was tried."""
    options = of(plan, pack)
    options.__dict__["least"] = replace(options.least, exact=False)
    return options


# --- every sentence, read once ----------------------------------------------------------------


@pytest.mark.parametrize("level", Difficulty)
@pytest.mark.parametrize("study", SHIPPED)
def test_all_that_is_said_of_a_reference_protocol_reads_as_it_was_read(
    study: str, level: Difficulty
) -> None:
    assert_golden(f"plans#{study}_{level}", told(of_reference(load_scenario(study, level))))


OTHERS: Final = {
    "halved_sample": of(MICE, MYELOMA),
    "too_many_animals": of(revise(MICE, sample_size=5000), MYELOMA),
    "fits": of(sized(42), OPEN),
    "below_target": of(PLAN, OPEN),
    "too_short": of(SHORT, OPEN),
    "too_short_and_poor": of(sized(3, 2), POOR),
    "poor": of(PLAN, POOR),
    "brief_lab": of(PLAN, BRIEF),
    "restriction_broken": of(FLAMING, OPEN),
    "below_floor": of(SMALL, OPEN),
    "restriction_broken_and_short": of(revise(FLAMING, duration_days=2), OPEN),
    "restriction_broken_and_stuck": of(FLAMING, STUCK),
    "stuck": of(PLAN, STUCK),
    "unsound": of(UNSOUND, OPEN),
    "no_controls": of(make_protocol(controls=[]), OPEN),
    "nothing": of(sized(0, 0), OPEN),
    "one_of_each": of(IN_VAIN, LONE),
    "a_wish_broken": of(sized(24), WISHING),
    "wishes_broken": of(sized(23), WISHING),
    "late_start": of(PLAN, make_pack(start_day=14, days=17)),
    "last_day": of(PLAN, make_pack(start_day=17, days=17)),
    "lab_is_over": of(PLAN, make_pack(start_day=19, days=17)),
    "endpoint_lost_by_a_late_start": of(PLAN, make_pack(start_day=5, days=6)),
    "waits": of(PLAN, make_pack(**WAITING)),
    "waited": of(PLAN, make_pack(**WAITING, start_day=14)),
    "waits_in_vain": of(PLAN, make_pack(**WAITING, budget=200)),
    "more_than_can_count": six_a_day(24, 3, days=3),
    "more_than_can_count_in_a_day": six_a_day(8, 1, days=1),
    "passes_in_vain": of(SUZUKI.reference_protocol, SUZUKI_IN_A_DAY),
    "lost_to_dropout": of(NONE_LEFT, make_pack(design=make_design(dropout=0.5), controls=[])),
    "not_all_searched": unsearched(PLAN, OPEN),
    "not_all_searched_and_stuck": unsearched(PLAN, STUCK),
    "not_all_searched_and_flaming": unsearched(FLAMING, STUCK),
}


@pytest.mark.parametrize("name", OTHERS)
def test_all_that_is_said_of_other_plans_reads_as_it_was_read(name: str) -> None:
    assert_golden(f"plans#{name}", told(OTHERS[name]))


@pytest.mark.parametrize(
    ("kind", "design"),
    [
        ("anova", {"effect_published": 0.6, "effect_planning": 0.5, "sesoi": 0.3, "groups": 3}),
        ("equivalence", {"effect_published": 0.3, "effect_planning": 0.0, "sesoi": None,
                         "margin": 0.9}),
        ("survival", {"effect_published": 0.3, "effect_planning": 0.4, "sesoi": 0.7,
                      "event_share": 0.8}),
    ],
)  # fmt: skip
def test_all_that_is_said_of_a_kind_that_no_shipped_study_has_reads_as_it_was_read(
    kind: str, design: dict[str, object]
) -> None:
    """Of a plan with the study's own items, and of one with a shelf that blurs a fifth."""
    shelf = make_substitution(evidence_factor=0.8)
    pack = make_pack(
        design=make_design(kind=kind, **design), allowed_substitutions=[shelf], booked={CHAMBER: 9}
    )
    protocol = sized(60)
    blurred = revise(protocol, required_equipment=[shelf.alternative, EQUIPMENT[1]])
    assert_golden(
        f"kinds#{kind}", "\n\n".join(told(of(plan, pack)) for plan in (protocol, blurred))
    )


# --- what must hold of them -------------------------------------------------------------------


@given(itemised_protocols(), studied_packs())
def test_whatever_is_said_of_any_plan_is_whole_and_holds(plan: Protocol, pack: Pack) -> None:
    options = of(plan, pack)
    yours, loss = options.yours, options.least
    for line in told(options).splitlines():
        assert not re.search(r"  |\.\.|\b(nan|inf|None)\b", line)
    assert ways.alone_lines(options) or ways.alone_text(options)
    sentences = ways.first_of_all(options), ways.difference_text(options), ways.search_text(options)
    for text in (ways.target_text(options), *ways.alone_lines(options), *filter(None, sentences)):
        assert text.endswith(".")
        assert not text[0].islower()
    # each failing dimension has its reason, and no other
    assert {dimension for dimension, _ in yours.reasons_once} == set(yours.failing)
    terms, _, total = staff_text(yours).rpartition(" = ")
    added = [int(term.split()[0]) for term in terms.split(" + ")] if terms else [yours.staff]
    assert sum(added) == yours.staff
    assert len(added) > 1 or not terms
    assert total.startswith(f"{yours.staff} of {pack.lab.staff:,} ")
    # what is not proven, or not needed, is not said to be
    proof = ways.proof_text(loss)
    assert ("passes" in proof or "Remove" in proof) <= loss.none_feasible
    assert bool(proof) == (loss.none_feasible or loss.none_above_floor)
    if ways.nothing_needed(options):
        assert yours.feasible
        assert yours.evidence.tier is EvidenceTier.MEETS_TARGET


def worth_running(plan: Assessment) -> bool:
    """Return whether a plan passes, and above the floor."""
    return plan.feasible and plan.evidence.tier is not EvidenceTier.BELOW_FLOOR


@given(studied_packs(), itemised_protocols())
def test_only_what_passes_above_the_floor_is_shown_as_a_pass(pack: Pack, plan: Protocol) -> None:
    result = assess(plan, pack)
    verdict = plan_verdict(result).status
    assert (verdict is Status.PASS) is (worth_running(result) and not result.dropped)
    fails = result.evidence.void_reason is not None or not result.lab_feasible
    assert (verdict is Status.FAIL) is fails
    reference = of_reference(change_pack(pack, reference_protocol=plan))
    assert offer_story(reference).status is not Status.PASS or worth_running(reference.offered)


def test_study_of_at_least_one_day_is_told_without_an_endpoint() -> None:
    """Its file names none: no plan takes less than a day."""
    pack = make_pack(min_days=1, start_day=19, days=17)
    analysis = of(revise(PLAN, duration_days=0), pack)
    assert ways.first_of_all(analysis).startswith("Do not run this here: the lab has 0 days")
    assert analysis.yours.evidence.void_reason == "no days are planned"
    limits = [fact.shown for fact in limit_facts(pack).values()]
    row = analysis.yours.reasons, analysis.yours.validation, limits, analysis.least.changes
    assert "endpoint" not in f"{row}"


def test_lab_whose_passing_plans_are_lost_to_dropout_is_not_said_to_pass_none() -> None:
    cost = assess(NONE_LEFT, make_pack()).cost
    pack = make_pack(
        design=make_design(dropout=0.5), reference_protocol=NONE_LEFT, controls=[], budget=cost,
        min_days=5,
    )  # fmt: skip
    assert of(NONE_LEFT, pack).yours.feasible
    assert no_evidence_text(of(NONE_LEFT, pack)) == (
        "Do not run this here: with 50 % dropout none of the samples is left."
    )


def test_samples_that_cannot_count_are_told_where_nothing_is_needed() -> None:
    options = six_a_day(24, 3, days=3)
    assert ways.nothing_needed(options)
    [(_, [none, wasted])] = ways.take_parts(options)
    assert none.startswith("Nothing: the lab can run the plan as it is")
    assert wasted.startswith("Of its 24 samples only 18 can count")


def test_largest_sample_is_told_with_what_it_is_worth() -> None:
    pack = make_pack(budget=1000, cost_model=CostModel(per_day=0, per_control=0))
    bare = make_protocol(sample_size=5, required_equipment=[], required_reagents=[])
    text = "at most 100 samples are affordable: power"  # 10 credits each
    assert text in largest_text(assess(bare, pack))
    none = largest_text(assess(bare, change_pack(pack, budget=9)))
    assert none == "With the rest as planned no sample is affordable."
    short = revise(bare, duration_days=1)
    assert "affordable: no evidence." in largest_text(assess(short, change_pack(pack, min_days=5)))


# --- what a step loses --------------------------------------------------------------------------


def test_step_tells_the_wishes_that_it_breaks_and_no_other() -> None:
    plan, shorter, both = (assess(sized(*size), WISHING) for size in ((24, 9), (24, 5), (23, 5)))
    trays = (
        "'Trays a group' should be at least 12 trays in each of 2 conditions: at least 24 in all, "
        "the plan has 23"
    )
    assert newly_broken_text(PlanStep(shorter, both)) == f"Breaks a wish of the study: {trays}."
    assert newly_broken_text(PlanStep(plan, both)).startswith("Breaks 2 wishes of the study: ")
    assert newly_broken_text(PlanStep(both, plan)) == ""
    assert newly_broken_text(PlanStep(both, both)) == ""
    shortest = assess(sized(23, 4), WISHING)
    assert newly_broken_text(PlanStep(both, shortest)) == (
        "Misses 'Watching' (at least 9 days) by more: 5 → 4."
    )
    assert newly_broken_text(PlanStep(shortest, both)) == ""


def test_detectable_effect_is_larger_by_what_a_substitution_blurs() -> None:
    """The effect, seen through the substitute, is detected at the target power exactly."""
    plan = assess(MICE, MYELOMA)
    value = plan.detectable_effect
    assert value is not None
    assert plan.evidence_factor == 0.85
    assert evidence_value(plan.pack.design, 24, value * 0.85) == pytest.approx(0.80, abs=1e-6)
    assert effect_text(None) == "none"


def test_loss_in_all_names_its_parts_only_where_it_grows() -> None:
    """The substitution of the reef study's flume loses 2; a dropped control counts 1."""
    options = of_reference(REEF)
    step = PlanStep(options.yours, options.least.after)
    back = PlanStep(options.least.after, options.yours)
    assert total_loss_text(step).endswith(" 0 → 3 (substitution 2, dropped control 1)")
    assert total_loss_text(back).endswith(" 3 → 0")


def test_evidence_that_moves_below_the_precision_shown_is_hardly_changed() -> None:
    pack = make_pack(design=make_design(effect_planning=2.0))
    step = PlanStep(assess(PLAN, pack), assess(sized(39), pack))
    assert step.before.evidence.value != step.after.evidence.value
    assert evidence_text(step) == "power 1.00, hardly changed"


# --- samples: to spare, lost, shared out --------------------------------------------------------


def test_samples_to_spare_are_told_from_a_quarter_on_with_those_analysed() -> None:
    pack = load_scenario("psy_stroop", "easy")
    lossy = pack.with_own(LabOverrides(), EvidenceAssumptions(dropout=0.25))
    # Ten are needed; of 13, three in four are 9, so of 14 ten are left.
    for lab, planned, needed in (
        (pack, 13, ""),
        (pack, 14, "10 participants"),
        (lossy, 100, "14 participants (10 analysed)"),
    ):
        plan = assess(revise(pack.reference_protocol, sample_size=planned), lab)
        text = f"{needed} would reach power 0.803; you planned {planned}."
        assert spare_text(plan) == (text if needed else "")
        assert (("Note", text) in notes(plan)) == bool(needed)


def test_dropout_is_told_where_samples_are() -> None:
    plan, lost = (
        assess(sized(152), make_pack(design=make_design(**some)))
        for some in ({}, {"dropout": 0.155})
    )
    assert dropout_text(lost) == "Recruit 152 to analyse 128: 15.5 % dropout."
    assert size_text(lost) == "152 samples (128 analysed) in 5 days"
    assert dropout_text(plan) == ""
    assert size_text(plan) == "152 samples in 5 days"


def test_samples_beyond_what_the_days_allow_are_told_with_those_analysed() -> None:
    """Of six reactions a day, three days leave 18 of 24, and three in four of them are 13."""
    plan = assess(revise(SUZUKI.reference_protocol, duration_days=3), SUZUKI)
    lossy = SUZUKI.with_own(LabOverrides(), EvidenceAssumptions(dropout=0.25))
    text = "Of 24, 18 can count (6 a day, 3 days); 25 % dropout leaves 13."
    assert dropout_text(assess(plan.plan, lossy)) == text
    assert size_text(plan) == "24 reactions (18 analysed) in 3 days"
    assert effect_title(Curves(plan)).startswith("24 reactions (18 analysed): power ")
    assert "Samples analysed, of those planned" in words(evidence_panel({"Your plan": plan}))
    assert "12 a group, 18 analysed" in words(plan_slide(plan))
    assert "(24 reactions (18 analysed), 3 days, " in offer_story(PlanAnalysis(plan)).text


def test_groups_of_a_sample_are_told_by_their_size() -> None:
    two, one = (load_scenario(name).design for name in ("psy_ego_depletion", "psy_stroop"))
    row = group_text(128, two), group_text(127, two), group_text(40, one)
    assert row == ("64 a group", "groups of 63 and 64", "")


# --- how the Lab Manager meets the reference protocol -----------------------------------------


@pytest.mark.parametrize("study", SHIPPED)
def test_front_door_story_of_each_lab_reads_as_it_was_read(study: str) -> None:
    analysises = [of_reference(load_scenario(study, level)) for level in Difficulty]
    lines = [" | ".join(offer_story(analysis)) for analysis in analysises]
    assert_golden(f"stories#{study}", "\n".join([terms_text(analysises[0].yours), *lines]))


@pytest.mark.parametrize(
    ("name", "pack", "plan"),
    [
        ("below_the_floor", OPEN, SMALL),
        ("no_evidence", BOOKED, SHORT),
        ("not_approved", OPEN, FLAMING),
        ("still_fails", BOOKED, FLAMING),
        ("nothing_helps", STUCK, PLAN),
    ],
)
def test_story_of_a_reference_protocol_that_no_shipped_study_has(
    name: str, pack: Pack, plan: Protocol
) -> None:
    reference = of_reference(change_pack(pack, reference_protocol=plan))
    story = offer_story(reference)
    assert story.title == ANSWERS[answer_to(reference)].title
    assert_golden(f"stories#{name}", " | ".join(story))


def test_only_an_accept_is_shown_as_a_pass() -> None:
    assert [k for k, answer in ANSWERS.items() if answer.status is Status.PASS] == ["accept"]
