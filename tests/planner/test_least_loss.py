"""The plan that gives up the least: held against every plan of thousands of small labs."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from replicalab.agents import check_feasibility, suggest_alternative
from replicalab.agents.suggestions import apply_changes
from replicalab.assessment import assess
from replicalab.lexicon import label_key
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner import PlanAnalysis, least_loss, least_loss_offer, rank
from replicalab.scenarios import Difficulty, EvidenceTier, Pack, list_scenarios, load_scenario
from replicalab.scenarios.own import EvidenceAssumptions, LabOverrides
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    make_design,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
from tests.planner.brute_force import ranked, tried
from tests.planner.small_labs import opened, small_lab
from tests.strategies import itemised_protocols, studied_packs
from tests.tiers import batches

BATCH: Final = 125
BATCHES: Final = pytest.mark.parametrize("first", batches(BATCH, short=2, long=30))
FEW: Final = range(100)
"""The small labs where a test only looks at the plan that was found."""

CHAMBER, METER = EQUIPMENT
SWAP: Final = make_substitution()


# --- brute force ------------------------------------------------------------------------------


@BATCHES
def test_least_loss_is_the_best_of_every_plan_tried_and_proves_no_more(first: int) -> None:
    in_vain = 0
    for seed in range(first, first + BATCH):
        plan, pack = small_lab(seed)
        options = PlanAnalysis(assess(plan, pack))
        found, every = options.least, list(tried(plan, pack))
        for each in every[:: max(1, len(every) // 3)]:
            assert (seed, each.rank) == (seed, ranked(assess(each.plan(), pack), plan))
        theirs = [ranked(each, plan) for each in (options.yours, options.offered)]
        best = min([*theirs, *(each.rank for each in every)])
        assert (seed, found.rank) == (seed, best)
        assert found.exact
        in_vain += found.plan.sample_size > found.after.evidence.able
        passing = {each.tier for each in every if not each.failing}
        if not passing and found.after.feasible:
            # The plan or the suggestion, in fewer days than the endpoint needs.
            assert found.plan.duration_days < pack.min_days <= pack.lab.days_left
            continue
        proven = found.none_feasible, found.none_above_floor
        assert (seed, *proven) == (seed, not passing, not passing - {2})
    assert in_vain > 5


def test_releasing_an_item_never_makes_the_best_plan_worse() -> None:
    released = 0
    for seed in range(3 * len(FEW)):
        plan, pack = small_lab(seed)
        before = opened(seed).least
        keys = [*map(label_key, plan.required_equipment + plan.required_reagents)]
        if len({*keys}) < len(keys):
            continue  # only the Lab Manager's offer replaces one of two copies
        for item in (r.label for r in pack.resources if not r.available):
            after = least_loss(plan, pack.in_lab(pack.lab.with_means(released=[item])))
            worse = after.rank.given_up > before.rank.given_up
            assert (seed, item, worse) == (seed, item, False)
            released += after.rank < before.rank
    assert released > len(FEW) / 10


# --- evidence counts up to the target, samples that cannot count are searched -----------------


def test_plan_that_meets_its_target_is_not_made_dearer_for_more_evidence() -> None:
    pack = load_scenario("psy_stroop", "medium")
    offer = PlanAnalysis(assess(pack.reference_protocol, pack)).offered
    found = least_loss(pack.reference_protocol, pack)
    assert (offer.counts.samples, round(offer.evidence.value, 2)) == (25, 0.97)
    assert found.after.evidence.tier is EvidenceTier.MEETS_TARGET
    assert found.after.cost <= offer.cost
    assert found.plan.duration_days <= offer.counts.days
    one_fewer = revise(found.plan, sample_size=found.plan.sample_size - 1)
    assert assess(one_fewer, pack).evidence.tier is not EvidenceTier.MEETS_TARGET


def test_plan_that_meets_its_target_and_fits_is_left_as_it_is() -> None:
    pack = load_scenario("psy_stroop", "easy")
    plan = pack.reference_protocol  # of a hundred people, where fewer would do
    assert least_loss(plan, pack).plan == plan


def test_plan_short_of_its_target_is_given_as_many_samples_as_the_lab_allows() -> None:
    # 34 samples are asked for and show 0.81; the lab has the credits for 37.
    pack = load_scenario("ml_rl_seeds", "easy").with_own(
        LabOverrides(), EvidenceAssumptions(target=0.9)
    )
    found = least_loss(pack.reference_protocol, pack)
    assert (found.plan.sample_size, round(found.after.evidence.value, 2)) == (37, 0.84)
    assert found.after.feasible
    assert not assess(revise(found.plan, sample_size=38), pack).feasible
    assert (found.plan.duration_days, found.rank.loss) == (10, 0)


def test_samples_that_cannot_count_are_planned_where_only_they_pass() -> None:
    # The study asks for 8 reactions at least, of which 6 can be done in the one day there is.
    own = LabOverrides(budget=910, days=1)
    pack = load_scenario("chem_suzuki_ppb", "easy").with_own(own, EvidenceAssumptions())
    found = least_loss(pack.reference_protocol, pack)
    assert (found.plan.sample_size, found.plan.duration_days) == (8, 1)
    assert found.after.feasible
    assert found.after.evidence.void_reason
    assert not found.none_feasible


def test_a_sample_that_cannot_count_keeps_a_control() -> None:
    # Two units exist, and two controls leave no room for a sample beside them.
    design = make_design(kind="coverage", effect_planning=None, alpha=None, population_max=2)
    pack = make_pack(design=design, budget=10_000.0)
    found = least_loss(make_protocol(sample_size=2), pack)
    assert (found.plan.sample_size, found.plan.controls) == (3, [*CONTROLS])
    assert (found.after.feasible, found.after.evidence.able) == (True, 2)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"forbidden_phrases": [CHAMBER]}, f"A restriction forbids '{CHAMBER}'; allowed"),
        ({}, "With 'fan' less of the study is given up; allowed"),
    ],
)
def test_an_item_that_the_lab_has_gives_way_for_a_reason(
    rule: dict[str, object], reason: str
) -> None:
    swaps = [
        make_substitution(original="lost", alternative=CHAMBER, fidelity_loss=3),
        make_substitution(original=CHAMBER, alternative="fan", fidelity_loss=1),
    ]
    pack = make_pack(allowed_substitutions=swaps, policy_rules=[make_policy_rule(**rule)])
    change = least_loss(make_protocol(required_equipment=[CHAMBER]), pack).changes[0]
    assert (change.original, change.revised) == (CHAMBER, "fan")
    assert change.reason.startswith(reason)


def _with_dear_chamber(**more: object) -> Pack:
    """Return a lab in which a fan is as good as the chamber, which costs 400 credits more."""
    swap = make_substitution(original=CHAMBER, alternative="fan", fidelity_loss=0)
    prices = {CHAMBER: 450.0, "fan": 50.0}
    return make_pack(allowed_substitutions=[swap], prices=prices, **more)


def test_an_item_that_the_lab_has_gives_way_to_a_cheaper_one_where_credits_are_short() -> None:
    plan, pack = make_protocol(), _with_dear_chamber(budget=1015.0, days=5)
    found = least_loss(plan, pack)
    assert assess(plan, pack).cost == 1400
    change = found.changes[0]
    assert (change.original, change.revised) == (CHAMBER, "fan")
    assert change.reason == f"'fan' costs 400 credits less here; allowed {SWAP.condition}."
    assert set(found.plan.required_equipment) == {"fan", METER}


def test_an_item_that_the_lab_has_stays_where_credits_are_plenty() -> None:
    plan = make_protocol(duration_days=3)
    assert least_loss(plan, _with_dear_chamber(budget=9999.0)).plan.required_equipment == [
        *EQUIPMENT
    ]


def test_of_two_alternatives_the_one_is_taken_that_leaves_credits_for_the_samples() -> None:
    swaps = [
        make_substitution(original=CHAMBER, alternative=other, fidelity_loss=0)
        for other in ("dear", "cheap")
    ]
    prices = {"dear": 700.0, "cheap": 5.0}
    pack = make_pack(allowed_substitutions=swaps, booked={CHAMBER: 9}, prices=prices, budget=955.0)
    found = least_loss(make_protocol(), pack)
    assert found.plan.required_equipment == ["cheap", METER]
    assert found.after.feasible


def test_small_labs_bite_in_every_way() -> None:
    found = [opened(seed).least for seed in FEW]
    fields = {change.field for each in found for change in each.changes}
    assert fields == {
        "controls", "required_equipment", "required_reagents", "duration_days", "sample_size",
    }  # fmt: skip
    assert {d for each in found for d in each.after.failing} >= set(Dimension) - {
        Dimension.SCHEDULE
    }
    assert {each.rank.tier for each in found} == {0, 1, 2}
    claims = {(each.none_feasible, each.none_above_floor) for each in found}
    assert claims == {(False, False), (False, True), (True, True)}


# --- never worse than the Lab Manager's suggestion --------------------------------------------


def _no_worse_than_the_suggestion(plan: Protocol, pack: Pack) -> None:
    found = least_loss(plan, pack)
    assert found.rank <= rank(assess(plan, pack), plan)
    suggestion = suggest_alternative(plan, check_feasibility(plan, pack), pack)
    if suggestion is not None:
        assert found.rank <= rank(assess(suggestion.revised_protocol, pack), plan)


@given(itemised_protocols(), studied_packs())
def test_least_loss_is_no_worse_than_the_suggestion_in_any_lab(plan: Protocol, pack: Pack) -> None:
    _no_worse_than_the_suggestion(plan, pack)


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
@pytest.mark.parametrize("difficulty", Difficulty)
def test_least_loss_is_no_worse_than_the_suggestion_in_any_shipped_lab(
    study: str, difficulty: Difficulty
) -> None:
    for seed in range(21):
        pack = load_scenario(study, difficulty, seed)
        _no_worse_than_the_suggestion(pack.reference_protocol, pack)


# --- its changes ------------------------------------------------------------------------------


def test_changes_lead_from_the_plan_to_the_one_found() -> None:
    for yours, found in ((opened(seed).yours, opened(seed).least) for seed in FEW):
        assert apply_changes(yours.plan, list(found.changes)) == found.plan
        assert found.after.check == check_feasibility(found.plan, yours.pack)
        assert found.rank == rank(found.after, yours.plan)


def test_offer_is_the_plan_in_the_lab_managers_form() -> None:
    for yours, found in ((opened(seed).yours, opened(seed).least) for seed in FEW):
        offer = least_loss_offer(yours, found)
        assert (offer is None) == yours.feasible
        if offer is None:
            continue
        assert offer.after is found.after
        assert offer.changes == found.changes
        assert offer.improved == (set(found.after.failing) < set(yours.failing))


# --- inputs -----------------------------------------------------------------------------------


def test_least_loss_is_repeatable_and_leaves_its_inputs_alone() -> None:
    for seed in range(100):
        plan, pack = small_lab(seed)
        before = plan.model_dump(), pack.model_dump()
        assert least_loss(plan, pack) == opened(seed).least
        assert (plan.model_dump(), pack.model_dump()) == before


def test_least_loss_of_a_plan_with_a_control_of_its_own_keeps_it() -> None:
    plan = make_protocol(controls=["a control of its own", *CONTROLS])
    found = least_loss(plan, make_pack(staff=2))
    assert found.plan.controls[0] == "a control of its own"


def test_least_loss_drops_one_of_two_copies_before_a_control() -> None:
    plan = make_protocol(controls=[*CONTROLS, CONTROLS[1].upper()], duration_days=5)
    pack = make_pack(staff=2)  # 1, and 1 for more than 20 samples; a third control adds 1
    found = least_loss(plan, pack)
    assert found.plan.controls == [CONTROLS[0], CONTROLS[1].upper()]
    assert [change.tradeoff for change in found.changes if change.field == "controls"] == [
        "Nothing; the control is still in the plan."
    ]
    assert found.rank.loss == 0


def test_least_loss_counts_a_shared_alternative_as_the_finished_plan_does() -> None:
    # The torch may stand for the meter or for the chamber; it is booked with the least loss.
    swaps = [
        make_substitution(original=METER, alternative="torch", fidelity_loss=3),
        make_substitution(original=CHAMBER, alternative="torch", fidelity_loss=0),
        make_substitution(original=CHAMBER, alternative="sun", fidelity_loss=1),
    ]
    pack = make_pack(booked={CHAMBER: 9}, allowed_substitutions=swaps)
    plan = make_protocol(required_equipment=[CHAMBER])
    found = least_loss(plan, pack)
    assert (found.plan.required_equipment, found.rank.loss) == (["torch"], 0)


# --- the fact sheet ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "difficulty", "samples", "days", "dropped", "evidence"),
    [
        ("ml_rl_seeds", "hard", 16, 4, None, 0.46),
        ("fin_overreaction", "hard", 20, 2, "January-excluded returns", 0.23),
        ("math_four_colour", "hard", 20, 5, None, 0.03),
        ("psy_ego_depletion", "hard", 20, 5, None, 0.09),
        ("eco_reef_fish", "medium", 117, 15, "side-swap of currents", 0.57),
        ("eco_reef_fish", "hard", 20, 14, "side-swap of currents", 0.11),
    ],
)
def test_least_loss_opens_the_lab_as_the_fact_sheet_says(
    study: str, difficulty: str, samples: int, days: int, dropped: str | None, evidence: float
) -> None:
    pack = load_scenario(study, Difficulty(difficulty))
    plan = pack.reference_protocol
    found = least_loss(plan, pack)
    assert found.after.check.feasible
    assert found.plan.sample_size == samples
    assert found.plan.duration_days <= days
    assert [c for c in plan.controls if c not in found.plan.controls] == [dropped] * bool(dropped)
    assert round(found.after.evidence.value, 2) == evidence


def test_least_loss_proves_that_nothing_opens_the_suzuki_lab() -> None:
    pack = load_scenario("chem_suzuki_ppb", Difficulty.HARD)
    found = least_loss(pack.reference_protocol, pack)
    assert found.none_feasible
    assert found.after.check.failing == [Dimension.PROTOCOL, Dimension.REAGENTS]
