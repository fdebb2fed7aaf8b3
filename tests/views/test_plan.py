"""What to do about a plan, and what a step loses: true in every lab, or it is not said."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from replicalab.assessment import assess, evidence_value, size_text
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.planner.curves import Curves
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    LabOverrides,
    Pack,
    list_scenarios,
    load_scenario,
)
from replicalab.ui.own_studies import find
from replicalab.ui.stories import stories
from replicalab.views.check import evidence_panel
from replicalab.views.curves import effect_title
from replicalab.views.plan import (
    cautions_sentence,
    dropout_text,
    dropped_cautions,
    effect_text,
    evidence_text,
    group_text,
    newly_broken_text,
    notes,
    spare_text,
    staff_text,
    total_loss_text,
)
from replicalab.views.present import plan_slide
from replicalab.views.region import point_lines
from replicalab.views.verdicts import offer_story
from tests.factories import (
    EQUIPMENT,
    make_constraint,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
)
from tests.golden import assert_golden
from tests.negotiation.playing import FLAMING, OPEN, PLAN, SHORT, STUCK
from tests.strategies import itemised_protocols, studied_packs
from tests.views.labs import BRIEF, IN_VAIN, LONE, POOR, UNSOUND, of, of_reference, told
from tests.views.reading import words

STORY: Final = stories()[0].workspace
REEF: Final = load_scenario("eco_reef_fish", Difficulty.MEDIUM)
SHIPPED: Final = [
    pytest.param(load_scenario(study.scenario_id, level), id=f"{study.scenario_id}_{level}")
    for study in list_scenarios()
    for level in Difficulty
]


# --- every sentence, read once ----------------------------------------------------------------


@pytest.mark.parametrize("pack", SHIPPED)
def test_all_that_is_said_of_a_reference_protocol_reads_as_it_was_read(pack: Pack) -> None:
    name = f"{pack.scenario_id}_{pack.difficulty}"
    assert_golden(f"plans/{name}", told(of_reference(pack)))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("halved_sample", of(STORY.case.protocol(find), STORY.case.pack(find))),
        ("fits", of(make_protocol(sample_size=42), OPEN)),
        ("below_target", of(PLAN, OPEN)),
        ("too_short", of(SHORT, OPEN)),
        ("too_short_and_poor", of(make_protocol(duration_days=2, sample_size=3), POOR)),
        ("brief_lab", of(PLAN, BRIEF)),
        ("restriction_broken", of(FLAMING, OPEN)),
        ("restriction_broken_and_stuck", of(FLAMING, STUCK)),
        ("stuck", of(PLAN, STUCK)),
        ("unsound", of(UNSOUND, OPEN)),
        ("no_controls", of(make_protocol(controls=[]), OPEN)),
        ("nothing", of(make_protocol(sample_size=0, duration_days=0), OPEN)),
        ("one_of_each", of(IN_VAIN, LONE)),
        (
            "too_many_animals",
            of(revise(STORY.case.protocol(find), sample_size=5000), STORY.case.pack(find)),
        ),
    ],
)
def test_all_that_is_said_of_other_plans_reads_as_it_was_read(
    name: str, options: PlanAnalysis
) -> None:
    assert_golden(f"plans/{name}", told(options))


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
        design=make_design(kind=kind, **design),
        allowed_substitutions=[shelf],
        booked={EQUIPMENT[0]: 9},
    )
    own = make_protocol(sample_size=60)
    blurred = revise(own, required_equipment=[shelf.alternative, EQUIPMENT[1]])
    assert_golden(f"kinds/{kind}", "\n\n".join(told(of(plan, pack)) for plan in (own, blurred)))


# --- a plan against its lab -------------------------------------------------------------------


def test_each_failure_is_told_once_and_the_rest_is_pointed_at() -> None:
    plan = make_protocol(sample_size=2, duration_days=21)
    found = assess(plan, make_pack(out_of_stock=["agar plates"]))
    told = found.check.reasons_once
    paper = [text for dimension, text in told if dimension is Dimension.PROTOCOL]
    assert len(paper) == 2
    assert paper[-1] == "see schedule and reagents."
    told_elsewhere = [d for d, _ in told if d is not Dimension.PROTOCOL]
    assert told_elsewhere == ["reagents", "schedule"]


@given(itemised_protocols(), studied_packs())
def test_something_is_told_of_each_failing_dimension_and_of_no_other(
    plan: Protocol, pack: Pack
) -> None:
    found = assess(plan, pack)
    assert {dimension for dimension, _ in found.check.reasons_once} == set(found.failing)


@given(itemised_protocols(), studied_packs())
def test_staff_formula_adds_up_to_what_the_plan_needs(plan: Protocol, pack: Pack) -> None:
    found = assess(plan, pack)
    terms, total = staff_text(found).rsplit(" = ", 1)
    assert sum(int(term.split()[0]) for term in terms.split(" + ")) == found.staff
    assert total.startswith(f"{found.staff} of {pack.lab.staff:,} ")


WISHING: Final = make_pack(
    constraints=[
        make_constraint(key="watch", label="Watching", comparator=">=", quantity=9, hard=False,
                        bounds="days"),
        make_constraint(key="each", label="Trays a group", comparator=">=", quantity=12, hard=False,
                        unit="trays", bounds="samples_per_condition", conditions=2),
    ]
)  # fmt: skip
"""Wants 9 days and 24 trays, and takes fewer."""
SHORT_OF_DAYS: Final = "'Watching' should be at least 9 days, the plan has 5"
SHORT_OF_TRAYS: Final = (
    "'Trays a group' should be at least 12 trays in each of 2 conditions: at least 24 in all, "
    "the plan has 23"
)


@pytest.mark.parametrize(
    ("samples", "days", "text"),
    [
        (24, 9, ""),
        (24, 5, f"Breaks a wish of the study: {SHORT_OF_DAYS}."),
        (23, 5, f"Breaks 2 wishes of the study: {SHORT_OF_DAYS}; {SHORT_OF_TRAYS}."),
    ],
)
def test_broken_wishes_are_told_with_what_they_ask_and_what_the_plan_has(
    samples: int, days: int, text: str
) -> None:
    plan = assess(make_protocol(sample_size=samples, duration_days=days), WISHING)
    assert cautions_sentence(plan) == text


def test_step_tells_the_wishes_that_it_breaks_and_no_other() -> None:
    kept, shorter, both = (
        assess(make_protocol(sample_size=samples, duration_days=days), WISHING)
        for samples, days in ((24, 9), (24, 5), (23, 5))
    )
    assert newly_broken_text(PlanStep(kept, shorter)) == cautions_sentence(shorter)
    assert newly_broken_text(PlanStep(shorter, both)) == (
        f"Breaks a wish of the study: {SHORT_OF_TRAYS}."
    )
    assert newly_broken_text(PlanStep(both, kept)) == ""
    assert newly_broken_text(PlanStep(both, both)) == ""


def test_dropped_fixed_control_comes_first_and_is_called_void() -> None:
    momentum = load_scenario("fin_momentum")
    plan = assess(revise(momentum.reference_protocol, controls=[]), momentum)
    cautions = dropped_cautions(plan)
    assert ["void" in caution for caution in cautions] == [True, False, False, False]


# --- what a step loses --------------------------------------------------------------------------


def test_detectable_effect_is_larger_by_what_a_substitution_blurs() -> None:
    """The effect, seen through the substitute, is detected at the target power exactly."""
    plan = assess(STORY.case.protocol(find), STORY.case.pack(find))
    found = plan.detectable_effect
    assert found is not None
    assert plan.evidence_factor == 0.85
    assert evidence_value(plan.pack.design, 24, found * 0.85) == pytest.approx(0.80, abs=1e-6)
    assert effect_text(None) == "none"


def test_loss_in_all_names_its_parts_only_where_it_grows() -> None:
    """The substitution of the reef study's flume loses 2; a dropped control counts 1."""
    options = of_reference(REEF)
    there = PlanStep(options.yours, options.least.after)
    back = PlanStep(options.least.after, options.yours)
    assert total_loss_text(there).endswith(" 0 → 3 in all (substitution 2, dropped control 1)")
    assert total_loss_text(back).endswith(" 3 → 0")


def test_evidence_that_moves_below_the_precision_shown_is_unchanged() -> None:
    pack = make_pack(design=make_design(effect_planning=2.0))
    step = PlanStep(assess(PLAN, pack), assess(make_protocol(sample_size=39), pack))
    assert step.before.evidence.value != step.after.evidence.value
    assert evidence_text(step) == "power 1.00, unchanged"


# --- samples to spare -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("planned", "is_told"), [(10, False), (13, False), (14, True), (100, True)]
)
def test_samples_to_spare_are_told_from_a_quarter_on(planned: int, is_told: bool) -> None:
    pack = load_scenario("psy_stroop", "easy")
    plan = assess(revise(pack.reference_protocol, sample_size=planned), pack)
    text = f"10 participants would reach power 0.803; you planned {planned}."
    assert spare_text(plan) == (text if is_told else "")
    assert (("Note", text) in notes(plan)) == is_told


def test_fewer_samples_that_would_do_are_told_with_those_analysed() -> None:
    pack = load_scenario("psy_stroop", "easy").with_own(
        LabOverrides(), EvidenceAssumptions(dropout=0.25)
    )
    plan = assess(revise(pack.reference_protocol, sample_size=100), pack)
    # Ten are needed; of 13, three in four are 9, so of 14 ten are left.
    text = "14 participants (10 analysed) would reach power 0.803; you planned 100."
    assert spare_text(plan) == text


def test_dropout_is_told_where_samples_are() -> None:
    plan, kept = make_protocol(sample_size=152), make_pack(design=make_design())
    lost = assess(plan, make_pack(design=make_design(dropout=0.155)))
    assert dropout_text(lost) == "Recruit 152 to analyse 128: 15.5 % dropout."
    assert size_text(lost) == "152 samples (128 analysed) in 5 days"
    assert dropout_text(assess(plan, kept)) == ""
    assert size_text(assess(plan, kept)) == "152 samples in 5 days"


def test_samples_beyond_what_the_days_allow_are_told_with_those_analysed() -> None:
    """Of six reactions a day, three days leave 18 of 24, and three in four of them are 13."""
    pack = load_scenario("chem_suzuki_ppb", "easy")
    plan = assess(revise(pack.reference_protocol, duration_days=3), pack)
    lossy = pack.with_own(LabOverrides(), EvidenceAssumptions(dropout=0.25))
    left = "Of 24, 18 can count (6 a day, 3 days); 25 % dropout leaves 13."
    assert dropout_text(assess(plan.plan, lossy)) == left
    assert size_text(plan) == "24 samples (18 analysed) in 3 days"
    assert effect_title(Curves(plan)).startswith("24 samples (18 analysed): power ")
    assert point_lines(plan)[1].startswith("12 a group, 18 analysed, ")
    assert "Samples analysed, of those planned" in words(evidence_panel({"Your plan": plan}))
    assert "12 a group, 18 analysed" in words(plan_slide(plan))
    assert "(24 samples (18 analysed), 3 days, " in offer_story(PlanAnalysis(plan)).text


@pytest.mark.parametrize(
    ("study", "samples", "told"),
    [
        ("psy_ego_depletion", 128, "64 a group"),
        ("psy_ego_depletion", 127, "groups of 63 and 64"),
        ("psy_stroop", 40, ""),
    ],
)
def test_groups_of_a_sample_are_told_by_their_size(study: str, samples: int, told: str) -> None:
    assert group_text(samples, load_scenario(study).design) == told
