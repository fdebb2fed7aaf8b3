"""Sentences about a plan and its alternatives: golden files, and what must hold of any plan."""

import re
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given

from replicalab.assessment import Assessment, assess
from replicalab.facts import change_facts, plan_facts, verdicts
from replicalab.facts.blocks import Status
from replicalab.models import LAB_DIMENSIONS, Protocol, revise
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    EvidenceTier,
    LabOverrides,
    Pack,
    list_scenarios,
    load_scenario,
)
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import stories
from tests import factories
from tests.factories import make_constraint, make_design, make_pack, make_protocol
from tests.facts.labs import IN_VAIN, LONE, POOR, UNSOUND, of, of_reference, report_on
from tests.golden import assert_golden, new_lines
from tests.negotiation.playing import BOOKED, FLAMING, OPEN, PLAN, SHORT, SMALL, STUCK
from tests.strategies import itemised_protocols, studied_packs

CHAMBER, OTHER_ITEM = factories.EQUIPMENT
SHIPPED: Final = [study.scenario_id for study in list_scenarios()]
STORY: Final = stories()[1].workspace
MICE, MYELOMA = STORY.case.protocol(find), STORY.case.pack(find)
SUZUKI: Final = load_scenario("chem_suzuki_ppb", Difficulty.EASY)  # 6 reactions a day can count
SUZUKI_IN_A_DAY: Final = SUZUKI.with_own(LabOverrides(budget=910, days=1), EvidenceAssumptions())
WISHING: Final = make_pack(
    constraints=[
        make_constraint(key="watch", label="Watching", comparator=">=", quantity=9, hard=False,
                        bounds="days"),
        make_constraint(key="each", label="Trays a group", comparator=">=", quantity=12, hard=False,
                        unit="trays", bounds="samples_per_condition", conditions=2),
    ]
)  # fmt: skip
NONE_LEFT: Final = make_protocol(controls=[], sample_size=1)  # of which half is lost
LOSSY: Final = {"design": make_design(dropout=0.5), "controls": []}


def sized(samples: int, days: int = 5) -> Protocol:
    return make_protocol(sample_size=samples, duration_days=days)


def unsearched(plan: Protocol, pack: Pack) -> PlanAnalysis:
    options = of(plan, pack)
    options.__dict__["least"] = replace(options.least, exact=False)
    return options


REFERENCES: Final = {
    "bio_jq1_myeloma": "hard", "chem_suzuki_ppb": "hard", "eco_reef_fish": "easy",
    "fin_momentum": "hard", "fin_overreaction": "easy", "math_four_colour": "medium",
    "math_pythagorean": "medium", "ml_resnet_cifar10": "medium", "ml_rl_seeds": "hard",
    "phys_millikan": "easy", "psy_ego_depletion": "easy", "psy_stroop": "medium",
}  # fmt: skip
PLANS: Final = {
    **{" ".join(lab): of_reference(load_scenario(*lab)) for lab in REFERENCES.items()},
    "too many animals": of(revise(MICE, sample_size=5000), MYELOMA),
    "too short": of(SHORT, OPEN),
    "poor": of(PLAN, POOR),
    "restriction broken": of(FLAMING, OPEN),
    "unsound": of(UNSOUND, OPEN),
    "no controls": of(make_protocol(controls=[]), OPEN),
    "one of each": of(IN_VAIN, LONE),
    "a wish broken": of(sized(24), WISHING),
    "lab is over": of(PLAN, make_pack(start_day=19, days=17)),
    "more than can count": of(
        revise(SUZUKI.reference_protocol, sample_size=24, duration_days=3),
        SUZUKI.with_own(LabOverrides(days=3), EvidenceAssumptions()),
    ),
    "passes in vain": of(SUZUKI.reference_protocol, SUZUKI_IN_A_DAY),
    "lost to dropout": of(NONE_LEFT, make_pack(**LOSSY)),
    "not all searched and stuck": unsearched(PLAN, STUCK),
}


def test_sentences_on_plans() -> None:
    assert_golden("plans", new_lines({name: report_on(plan) for name, plan in PLANS.items()}))


NOT_SHIPPED: Final[dict[str, dict[str, object]]] = {
    "anova": {"effect_published": 0.6, "effect_planning": 0.5, "sesoi": 0.3, "groups": 3},
    "equivalence": {"effect_published": 0.3, "effect_planning": 0.0, "sesoi": None, "margin": 0.9},
    "two_proportions": {"effect_published": None, "effect_planning": 0.6, "sesoi": None,
                        "baseline": 0.6, "sides": 1},
    "survival": {"effect_published": 0.3, "effect_planning": 0.4, "sesoi": 0.7,
                 "event_share": 0.8},
}  # fmt: skip


def test_sentences_on_kinds_that_are_not_shipped() -> None:
    # A plan with the study's own items, and one with a shelf that blurs a fifth.
    shelf = factories.make_substitution(evidence_factor=0.8)
    plans = sized(60), revise(sized(60), required_equipment=[shelf.alternative, OTHER_ITEM])
    lab: dict[str, object] = {"allowed_substitutions": [shelf], "booked": {CHAMBER: 9}}
    texts = {
        f"{kind}, {of_items} items": report_on(of(plan, make_pack(design=design, **lab)))
        for kind, changes in NOT_SHIPPED.items()
        for design in [make_design(kind=kind, **changes)]
        for of_items, plan in zip(("its own", "other"), plans, strict=True)
    }
    assert_golden("kinds", new_lines(texts))


@pytest.mark.parametrize("study", SHIPPED)
def test_lab_managers_answer_to_shipped_studies(study: str) -> None:
    references = [of_reference(load_scenario(study, level)) for level in Difficulty]
    lines = [" | ".join(verdicts.offer_story(reference)) for reference in references]
    terms = verdicts.terms_text(references[0].yours)
    assert_golden(f"stories#{study}", "\n".join([terms, *lines]))


@pytest.mark.parametrize(
    ("name", "pack", "plan"),
    [
        ("below_the_floor", OPEN, SMALL), ("no_evidence", BOOKED, SHORT),
        ("not_approved", OPEN, FLAMING), ("still_fails", BOOKED, FLAMING),
        ("nothing_helps", STUCK, PLAN),
    ],
)  # fmt: skip
def test_lab_managers_answer_to_made_studies(name: str, pack: Pack, plan: Protocol) -> None:
    reference = of_reference(factories.change_pack(pack, reference_protocol=plan))
    story = verdicts.offer_story(reference)
    assert story.title == verdicts.ANSWERS[reference.answer].title
    assert_golden(f"stories#{name}", " | ".join(story))


@given(itemised_protocols(), studied_packs())
def test_sentences_are_whole_and_true(plan: Protocol, pack: Pack) -> None:
    options = of(plan, pack)
    yours, loss = options.yours, options.least
    for line in report_on(options).splitlines():
        assert not re.search(r"  |\.\.|\b(nan|inf|None)\b", line)
    sentences = [change_facts.first_advice(options), change_facts.no_gain_text(options)]
    sentences += [
        change_facts.search_text(options),
        *(s for _, part in change_facts.needs_parts(options) for s in part),
    ]
    for text in filter(None, sentences):
        assert text.endswith(".")
        assert not text[0].islower()
    assert {dimension for dimension, _ in yours.reasons_once} == set(yours.failing)
    terms, _, total = plan_facts.staff_text(yours).rpartition(" = ")
    added = [int(term.split()[0]) for term in terms.split(" + ")] if terms else [yours.staff]
    assert sum(added) == yours.staff
    assert len(added) > 1 or not terms
    assert total.startswith(f"{yours.staff} of {pack.lab.staff:,} ")
    # Only proven claims are made.
    proof = change_facts.proof_text(loss)
    none_feasible = loss.exact and not loss.after.feasible
    assert ("passes" in proof or "wording" in proof) <= none_feasible
    assert bool(proof) == (none_feasible or loss.none_above_floor)
    if change_facts.nothing_needed(options):
        assert yours.feasible
        assert yours.evidence.tier is EvidenceTier.MEETS_TARGET


def worth_running(plan: Assessment) -> bool:
    return plan.feasible and plan.evidence.tier is not EvidenceTier.BELOW_FLOOR


@given(studied_packs(), itemised_protocols())
def test_only_plans_above_the_floor_pass(pack: Pack, plan: Protocol) -> None:
    judged = assess(plan, pack)
    verdict, evidence = verdicts.plan_verdict(judged).status, judged.evidence
    meets = judged.feasible and evidence.tier is EvidenceTier.MEETS_TARGET
    assert (verdict is Status.PASS) is (meets and not judged.cautions_title)
    below = evidence.void_reason or (judged.feasible and not worth_running(judged))
    assert (verdict is Status.FAIL) is bool(below or {*judged.failing} & {*LAB_DIMENSIONS})
    reference = of_reference(factories.change_pack(pack, reference_protocol=plan))
    passes = verdicts.offer_story(reference).status is Status.PASS
    assert not passes or worth_running(reference.offered)


def test_spare_samples_are_noted_from_a_quarter() -> None:
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
        assert plan_facts.spare_text(plan) == (text if needed else "")
        assert (("Note", text) in plan_facts.notes(plan)) == bool(needed)


def test_excess_names_each_failing_dimension() -> None:
    pack = load_scenario("psy_stroop", "hard")
    plan = revise(pack.reference_protocol, controls=("a", "a"), duration_days=0)
    assert plan_facts.excess_text(assess(plan, pack)) == (
        "1 error, 780 credits over the budget, 1 item missing (equipment), "
        "1 item missing (materials and data), 1 staff unit too few"
    )
