"""The least-loss plan and its relatives against every plan; reasons; soft constraints."""

import re
from collections.abc import Iterator
from math import sqrt
from typing import Any, Final

import pytest
from hypothesis import given

from replicalab import planner, scenarios
from replicalab.assessment import Assessment, assess
from replicalab.assessment.dimensions import SuggestionChange, apply_changes
from replicalab.lexicon import joined, label_key
from replicalab.limits import LARGEST_PLANNED
from replicalab.models import NUMBER_FIELDS, Protocol, revise
from replicalab.places import TREE
from tests import factories
from tests.designs.examples import t_power
from tests.planner.brute_force import Place, Tried, ranked, steps, tried
from tests.planner.small_labs import analysed, opened, small_lab
from tests.strategies import itemised_protocols, studied_packs
from tests.tiers import FEW_LABS, batches

CHAMBER = factories.EQUIPMENT[0]


def check_proofs(options: planner.PlanAnalysis, every: list[Tried]) -> None:
    loss, pack = options.least, options.yours.pack
    passing = {entry.tier for entry in every if not entry.failing}
    if not passing and loss.after.feasible:
        # The plan or the suggestion, in fewer days than the endpoint needs.
        assert loss.plan.duration_days < pack.min_days <= pack.lab.days_left
    else:
        assert loss.exact
        assert loss.after.feasible == bool(passing)
        assert loss.none_above_floor == (not passing - {2})


def is_swayed(options: planner.PlanAnalysis, every: list[Tried]) -> bool:
    theirs = [ranked(item, options.yours.plan) for item in (options.yours, options.offered)]
    places = [*theirs, *(entry.rank for entry in every)]
    best = min(places)
    return best[:3] + best[4:] > min(place[:3] + place[4:] for place in places)


def test_planned_samples_beyond_a_million_are_searched() -> None:
    # Two groups, d = 0.0045: 4 x (1.95996 + 0.84162)^2 / 0.0045^2 = 1,550,352 in all.
    # The lab affords 1,600,000; the power of a million is the normal's share below 2.25 - 1.95996.
    pack = factories.make_pack(
        design=factories.make_design(effect_planning=0.0045),
        cost_model=scenarios.CostModel(per_sample=0.001),
        staff_model=scenarios.StaffModel(sample_threshold=10**7),
        samples_per_day=None,
        budget=2250.0,
    )
    losses = {
        planned: analysed(factories.make_protocol(sample_size=planned), pack).least
        for planned in (10**6, 2 * 10**6)
    }
    assert [loss.rank.tier for loss in losses.values()] == [1, 0]


@given(itemised_protocols(), studied_packs())
def test_least_loss_is_repeatable_and_beats_the_offer(plan: Protocol, pack: scenarios.Pack) -> None:
    before, options = ((plan.model_dump(), pack.model_dump()), analysed(plan, pack))
    yours, loss = options.yours, options.least
    assert analysed(plan, pack).least == loss
    assert (plan.model_dump(), pack.model_dump()) == before
    assert loss.rank <= min(planner.rank(yours, plan), planner.rank(options.offered, plan))
    assert loss.rank == planner.rank(loss.after, plan)
    assert apply_changes(plan, list(loss.changes)) == loss.plan


BATCH: Final = 100


def check_ends(options: planner.PlanAnalysis, every: list[Tried]) -> None:
    plan = options.yours.plan
    best: Place = (*options.least.rank,)
    theirs = [ranked(item, plan) for item in (options.yours, options.offered)]
    assert best == min([*theirs, *(entry.rank for entry in every)])
    assert options.least.exact
    is_below = options.least.after.evidence.tier == scenarios.EvidenceTier.BELOW_FLOOR
    assert (options.cheapest is not None) == (not best[0] and not is_below)
    if options.cheapest:
        cheapest = options.cheapest.cost, ranked(options.cheapest, plan)
        alike = [entry for entry in every if entry.rank[:5] == best[:5]]
        assert cheapest == min((entry.credits, entry.rank) for entry in alike)
    assert (options.most_evidence is not None) == options.least.after.feasible
    if result := options.most_evidence:
        shown = steps(result.evidence), ranked(result, plan)
        assert result.feasible
        assert len(result.broken_wishes) <= best[3]
        assert result.fidelity_loss <= best[4]
        for entry in every:
            if not entry.failing and entry.rank[3] <= best[3] and entry.loss <= best[4]:
                assert shown <= (entry.evidence, entry.rank)


LEAST_LOSS: Final = {  # samples, days, credits
    "bio_jq1_myeloma medium": (24, 27, 2440), "chem_suzuki_ppb medium": (22, 4, 1195),
    "psy_stroop medium": (45, 3, 1000), "psy_stroop hard": (17, 1, 620),
    "eco_reef_fish hard": (20, 14, 1575), "psy_ego_depletion easy": (200, 12, 3025),
}  # fmt: skip


@pytest.mark.parametrize("at", LEAST_LOSS)
def test_least_loss_keeps_what_the_lab_affords(at: str) -> None:
    study, lab = at.split()
    pack = scenarios.load_scenario(study, lab)
    best = analysed(pack.reference_protocol, pack).least.after
    assert (best.counts.samples, best.counts.days, best.cost) == LEAST_LOSS[at]


@pytest.mark.parametrize(("study", "lab"), FEW_LABS)
def test_recommendations_are_best_in_shipped_labs(study: str, lab: str) -> None:
    pack = scenarios.load_scenario(study, lab)
    plan = pack.reference_protocol
    check_ends(analysed(plan, pack), [*tried(plan, pack)])


@pytest.mark.parametrize("seeds", batches(BATCH, quick=25, long=21))
def test_recommendations_are_best_in_small_labs(seeds: range) -> None:
    offered = in_vain = swayed = 0
    for seed in seeds:
        plan, pack = small_lab(seed)
        options, every = analysed(plan, pack), [*tried(plan, pack)]
        for item in every[:: max(1, len(every) // 3)]:
            assert (seed, item.rank) == (seed, ranked(assess(item.plan(), pack), plan))
        check_ends(options, every)
        check_proofs(options, every)
        offered += options.cheapest is not None
        in_vain += options.least.plan.sample_size > options.least.after.evidence.usable
        swayed += is_swayed(options, every)
    assert offered > len(seeds) / 10
    assert in_vain > len(seeds) / 33
    assert swayed > len(seeds) / 25


@pytest.mark.parametrize("seed", [577, 995, 1652, 1659])
def test_plan_or_offer_may_outrank_the_search(seed: int) -> None:
    # In these labs the first plan replaces one of two equal items, or breaks a limit, by the offer.
    plan, pack = small_lab(seed)
    check_ends(analysed(plan, pack), [*tried(plan, pack)])


@pytest.mark.parametrize("path", ["README.md", "docs/methods.md", "docs/glossary.md"])
def test_order_is_stated_in_the_same_sentence(path: str) -> None:
    assert planner.ORDER in " ".join((TREE / path).read_text(encoding="utf-8").split())


WITH: Final = r"With (?:it|([\d,]+) (?:day|sample)s?)"
TERMS: Final = {
    rf"{WITH} the plan fails on .*\.": 0,
    rf"{WITH} the plan misses the (?:study's )?(?:target|floor): .*\.": 1,
    r"The study's endpoint needs \d+ days?\.": 2, r"'wish \d' should be .*\.": 3,
    rf"{WITH} more fidelity is lost\.": 4, rf"{WITH} it shows less: .*\.": 5,
    rf"{WITH} less of the study is kept\.": 6, rf"{WITH} it costs .* more\.": 8,
    rf"{WITH} nothing is gained\.": -1,
}  # fmt: skip
"""Each sentence, and the place of the term of the order that it names."""
RARE: Final = {rf"{WITH} more fidelity is lost\.", rf"{WITH} nothing is gained\."}
"""Sentences that some batches never meet."""


def taken_back(change: SuggestionChange, found: Protocol) -> Protocol:
    if change.field == "controls":
        return revise(found, controls=[*found.controls, change.original])
    old, new = int(change.original), int(change.revised)
    return revise(found, **{change.field: new + (1 if old > new else -1)})


def own_changes(options: planner.PlanAnalysis) -> Iterator[SuggestionChange]:
    theirs = options.offer.changes if options.offer else ()
    changes = () if options.least.changes == theirs else options.least.changes
    texts = set(map(label_key, options.least.plan.controls))
    for change in changes:
        dropped = change.field == "controls" and label_key(change.original) not in texts
        if change.field in NUMBER_FIELDS or dropped:
            yield change


def first_worse(better: Place, worse: Place) -> int:
    differing = (n for n, (low, high) in enumerate(zip(better, worse, strict=True)) if low != high)
    return next(differing, -1)


@pytest.mark.parametrize("seeds", batches(300, quick=100, long=2))
def test_every_reason_names_the_first_worse_term(seeds: range) -> None:
    used = set()
    for options in map(opened, seeds):
        result, plan, pack = options.least.after, options.yours.plan, options.yours.pack
        for change in own_changes(options):
            back = assess(taken_back(change, result.plan), pack)
            if change.field == "duration_days" and change.reason.startswith("The lab has"):
                assert back.counts.days == pack.lab.days_left + 1
                continue
            pattern = next(text for text in TERMS if re.fullmatch(text, change.reason))
            used.add(pattern)
            term = first_worse(ranked(result, plan), ranked(back, plan))
            endpoint = TERMS[pattern] == 2 and back.evidence.void_reason
            assert term == TERMS[pattern] or endpoint, change.reason
            check_numbers(change.reason, result, back)
    assert {*TERMS} - used <= RARE


def check_numbers(reason: str, found: Assessment, back: Assessment) -> None:
    if "fails on" in reason:
        new = [text for text in back.failing if text not in found.failing]
        assert reason.endswith(f"fails on {joined(new)}.")
    elif "misses" in reason or "shows less" in reason:
        assert reason.endswith(f": {back.evidence.text}.")
    elif "costs" in reason:
        assert found.pack.lab.money(back.cost - found.cost) in reason
    elif "should be" in reason:
        missed = [wish for wish in back.broken_wishes if wish not in found.broken_wishes]
        assert reason.startswith(f"'{missed[0].constraint.label}'")


@pytest.mark.parametrize("seeds", batches(300, quick=150, long=1))
def test_step_closer_states_its_price(seeds: range) -> None:
    used = set[str]()
    for options in map(opened, seeds):
        plan, days = options.least.after, options.least.after.counts.days
        samples, lab = plan.counts.samples, plan.pack.lab

        def at(samples: int, days: int, plan: Assessment = plan) -> Assessment:
            return plan.revised(revise(plan.plan, sample_size=samples, duration_days=days))

        text = planner.deciding_text(plan, options.study)
        text = text.replace(plan.pack.design.sample_noun, "sample")
        price = int(re.sub(r"\D", "", text.partition("means")[2]) or 0)
        if text.startswith("1 more day"):
            most, more = at(samples - price, days + 1), at(samples - price + 1, days + 1)
            assert most.feasible
            assert not more.feasible or more.evidence.usable == most.evidence.usable  # in vain
        elif text.startswith("1 more sample"):
            assert at(samples + 1, days - price).feasible
            assert not at(samples + 1, days - price + 1).feasible
        elif text.startswith("With 1 more sample"):
            assert text.endswith(f" the plan fails on {joined(at(samples + 1, days).failing)}.")
        elif text.startswith("With 1 more day"):
            assert not any(at(fewer + 1, days + 1).feasible for fewer in range(samples))
        elif text:
            assert days == lab.days_left < options.study.counts.days
        else:
            closer = (days, samples) >= (options.study.counts.days, options.study.counts.samples)
            assert closer or not plan.feasible or not price
        used.add(text[:8])
    assert len(used) >= 4


MEETS: Final = factories.make_protocol(sample_size=41)
"""A plan that meets the target with its fewest samples, for 1,060 credits."""


def wish(
    quantity: float, bounds: str = "samples", comparator: str = ">=", **changes: object
) -> scenarios.ScenarioConstraint:
    fields = {"key": "wish", "label": "Trays", "unit": None, "hard": False}
    number = {"quantity": quantity, "bounds": bounds, "comparator": comparator}
    return factories.make_constraint(**{**fields, **number, **changes})


def lab(*wishes: scenarios.ScenarioConstraint, **changes: object) -> scenarios.Pack:
    controls = [
        factories.make_control(name=name, droppable=name == factories.CONTROLS[1])
        for name in factories.CONTROLS
    ]
    means: dict[str, Any] = {"budget": 1085.0, "days": 30, "min_days": 5, "controls": controls}
    return factories.make_pack(**{**means, "constraints": [*wishes], **changes})


def reasons(found: planner.LeastLoss) -> dict[str, str]:
    return {change.field: change.reason for change in found.changes}


def test_tier_of_evidence_comes_before_a_wish() -> None:
    loss = analysed(MEETS, lab(wish(9, "days"))).least  # would cost 20 of the samples
    assert loss.plan == MEETS
    assert (loss.rank.tier, loss.rank.wishes) == (0, 1)


def test_cheaper_item_keeps_a_soft_constraint() -> None:
    swap = factories.make_substitution(original=CHAMBER, alternative="fan", fidelity_loss=2)
    fixed = [factories.make_control(name=name, droppable=False) for name in factories.CONTROLS]
    wishes = wish(60), wish(7, "days", key="days", label="Watching")
    record = {"allowed_substitutions": [swap], "prices": {"fan": 1.0}, "controls": fixed}
    loss = analysed(MEETS, lab(*wishes, **record)).least
    # The fan saves 99 credits: enough for two days, or for twelve trays, so for one wish of two.
    assert (loss.plan.duration_days, loss.plan.sample_size) == (7, 41)
    assert (loss.rank.wishes, loss.rank.fidelity) == (1, 2)
    assert reasons(loss)["duration_days"] == "'Watching' should be at least 7."


def test_wish_for_evidence_beyond_the_target_is_kept() -> None:
    loss = analysed(MEETS, lab(wish(0.9, "evidence", label="Power"), budget=2000.0)).least
    powers = [t_power(0.9 * sqrt(27 * n / (27 + n)), 25 + n) for n in (26, 27)]
    assert powers[0] < 0.9 <= powers[1]
    assert loss.plan.sample_size == 54
    assert reasons(loss) == {"sample_size": "'Power' should be at least 0.9."}


FREE: Final = {
    "cost_model": scenarios.CostModel(per_sample=0, per_day=0),
    "days": 10**9,
    "budget": 1e6,
    "staff": 9,
}
HARD: Final = wish(2 * LARGEST_PLANNED, key="hard", hard=True)


@pytest.mark.parametrize(
    ("wishes", "broken"),
    [
        ([wish(0)], 0), ([wish(0, comparator="<=")], 1), ([wish(0, comparator="=")], 1),
        ([wish(0, "days", "<=")], 1), ([wish(LARGEST_PLANNED)], 0),
        ([wish(LARGEST_PLANNED + 1)], 1), ([wish(10**9)], 1), ([wish(10**9, comparator="<=")], 0),
        ([wish(10**9, "samples_per_condition", conditions=1000)], 1),
        ([wish(LARGEST_PLANNED, "days")], 0), ([wish(10**9, "days")], 1),
        ([wish(0.0, "evidence")], 0), ([wish(1.0, "evidence")], 0), ([wish(1.5, "evidence")], 1),
        ([wish(-3.0, "evidence")], 0), ([wish(50), wish(45, comparator="<=", key="few")], 1),
        ([wish(50, comparator="="), wish(60, comparator="=", key="b"), wish(5, key="c")], 1),
        ([wish(3 * LARGEST_PLANNED // 2), HARD], 0),
        ([wish(3 * LARGEST_PLANNED // 2, comparator="<="), HARD], 1),
    ],
)  # fmt: skip
def test_wishes_at_their_ends(wishes: list[scenarios.ScenarioConstraint], broken: int) -> None:
    loss = analysed(MEETS, lab(*wishes, **FREE)).least
    assert loss.after.feasible
    assert loss.rank == planner.rank(loss.after, MEETS)
    assert loss.rank.wishes == broken
    assert loss.rank.given_up[:5] == (0, 0, 0, broken, 0)
    assert loss.plan.sample_size <= (2 if HARD in wishes else 1) * LARGEST_PLANNED
    assert loss.plan.duration_days <= LARGEST_PLANNED
