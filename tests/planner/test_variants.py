"""The ways to word a plan, held against every wording of small plans that have much to replace."""

from __future__ import annotations

import re
from itertools import permutations
from random import Random
from typing import Final, NamedTuple

import pytest

from replicalab.assessment import assess
from replicalab.assessment.dimensions import apply_changes
from replicalab.models import Dimension, Protocol
from replicalab.planner import variants
from replicalab.planner.least_loss import differences
from replicalab.planner.variants import PlanVariant, variants_of
from replicalab.scenarios import Pack
from tests import factories
from tests.planner.brute_force import ITEM_FIELDS, failing_anyhow, key
from tests.planner.brute_force import variants_of as every_wording
from tests.planner.small_labs import analysed
from tests.tiers import batches

EQUIPMENT: Final = ("lamp", "oven", "scale", "open flame burner")
REAGENTS: Final = ("gel", "ink")
ALTERNATIVES: Final = ("torch", "sun", "open flame torch", "dish")
CONTROLS: Final = ("blank", "sham", "open flame control")
CHAMBER, METER = factories.EQUIPMENT
AGAR: Final = factories.REAGENTS[0]
ITEMS: Final = (*EQUIPMENT, *REAGENTS, *ALTERNATIVES)


class Respects(NamedTuple):
    """The respects in which the wording of a plan matters to its numbers."""

    failing: frozenset[str]
    controls: int
    loss: int
    factor: float
    fields: frozenset[str]
    price: float

    def as_good_as(self, other: Respects) -> bool:
        return (
            self.failing <= other.failing
            and self.controls == other.controls
            and self.loss <= other.loss
            and self.factor >= other.factor - 1e-9
            and self.fields <= other.fields
            and self.price <= other.price + 1e-9
        )


def small(seed: int) -> tuple[Protocol, Pack]:
    rng = Random(seed)
    comes = (*ITEMS, *ALTERNATIVES, *ALTERNATIVES, *ALTERNATIVES)
    pairs = {(rng.choice(ITEMS), rng.choice(comes)) for _ in range(rng.randint(2, 14))}
    rows = [
        factories.make_substitution(
            original=original,
            alternative=alternative,
            fidelity_loss=rng.choice((0, 1, 1, 2)),
            evidence_factor=rng.choice((1.0, 1.0, 0.9, 0.75)),
        )
        for original, alternative in sorted(pairs)
        if original != alternative
    ]
    controls = [
        factories.make_control(
            name=name, droppable=rng.random() < 0.7, protects_against=f"{name} bias"
        )
        for name in CONTROLS
    ]
    missing = [item for item in ITEMS if rng.random() < 0.4]
    prices = {item: rng.choice((0.0, 20.0, 90.0)) for item in ITEMS if rng.random() < 0.5}
    pack = factories.make_pack(
        equipment=EQUIPMENT,
        reagents=REAGENTS,
        booked=dict.fromkeys(set(missing) & {*EQUIPMENT}, 9),
        out_of_stock=[item for item in missing if item in REAGENTS],
        allowed_substitutions=rows,
        controls=controls,
        policy_rules=[factories.make_policy_rule()] if rng.random() < 0.6 else [],
        prices=prices if rng.random() < 0.6 else {},
    )
    plan = factories.make_protocol(
        controls=listed(rng, CONTROLS, 3),
        required_equipment=listed(rng, (*EQUIPMENT, *ALTERNATIVES[:2], "gel"), 4),
        required_reagents=listed(rng, (*REAGENTS, "sun", "lamp"), 3),
        technique="over an open flame" if rng.random() < 0.1 else "plain",
        rationale="an open flame" if rng.random() < 0.1 else "plain",
    )
    return plan, pack


def listed(rng: Random, labels: tuple[str, ...], most: int) -> list[str]:
    texts = rng.sample(labels, k=rng.randint(0, most))
    if texts and rng.random() < 0.4:
        again = rng.choice(texts)
        texts.insert(rng.randint(0, len(texts)), rng.choice((again, again.upper())))
    return texts


def respects(worded: Protocol, plan: Protocol, pack: Pack) -> Respects:
    existing = assess(worded, pack)
    dropped = set(map(key, plan.controls)) - set(map(key, worded.controls))
    return Respects(
        frozenset(failing_anyhow(existing)),
        len(worded.controls),
        existing.fidelity_loss - len(existing.dropped) + len(dropped),
        existing.evidence_factor,
        frozenset(change.field for change in differences(plan, worded)),
        items_cost(worded, pack) - items_cost(plan, pack),
    )


def items_cost(plan: Protocol, pack: Pack) -> float:
    record = {key(item): price for item, price in pack.lab.prices.items()}
    rates = pack.lab.cost_model
    return sum(
        record.get(key(label), rate)
        for labels, rate in (
            (plan.required_equipment, rates.per_equipment_item),
            (plan.required_reagents, rates.per_reagent),
        )
        for label in labels
    )


def stated(variant: PlanVariant) -> Respects:
    return Respects(*(getattr(variant, name) for name in Respects._fields))


def check(seed: int) -> None:
    plan, pack = small(seed)
    yours = assess(plan, pack)
    result = variants_of(yours)
    assert result.exact
    assert len({*result.listed}) == len(result.listed)
    for variant in result.listed:
        worded = variant.applied_to(plan)
        existing, claimed = respects(worded, plan, pack), stated(variant)
        assert claimed._replace(factor=0, price=0) == existing._replace(factor=0, price=0)
        assert (claimed.factor, claimed.price) == pytest.approx((existing.factor, existing.price))
        assert apply_changes(plan, variant.changes(pack)) == worded
        counts = assess(worded, pack).counts
        close = pytest.approx(counts.own_prices)
        assert variant.counts(yours.counts) == counts._replace(own_prices=close)
    for worded in every_wording(plan, pack):
        existing = respects(worded, plan, pack)
        assert any(stated(variant).as_good_as(existing) for variant in result.listed)
    if "open flame" not in " ".join((plan.technique, plan.rationale, *plan.controls)):
        swapped = [stated(variant) for variant in result.listed if not variant.gone]
        assert not any(one.as_good_as(other) for one, other in permutations(swapped, 2))


@pytest.mark.parametrize("seeds", batches(25, quick=30, long=10))
def test_variants_match_every_wording(seeds: range) -> None:
    for seed in seeds:
        check(seed)


@pytest.mark.parametrize("seed", [321, 397])
def test_substitution_that_matters_for_others(seed: int) -> None:
    check(seed)


def test_changes_of_a_variant_have_true_reasons() -> None:
    reasons = set[str]()
    for seed in range(100):
        plan, pack = small(seed)
        rules = {phrase for rule in pack.policy_rules for phrase in rule.forbidden_phrases}
        for variant in variants_of(assess(plan, pack)).listed[:3]:
            texts = set(map(key, variant.applied_to(plan).controls))
            for change in variant.changes(pack):
                old, new = change.original, change.revised
                if change.field == "controls":
                    gone = f"No longer protects against {key(old)} bias."
                    stays = "Nothing; the control is still in the plan."
                    assert change.tradeoff == (stays if key(old) in texts else gone)
                    continue
                category = ITEM_FIELDS[change.field]
                here = {name: pack.price(name, category) for name in (old, new)}
                status = pack.inventory.status_text(old, category)
                if status != "available":
                    why = f"'{old}' is {status}"
                elif any(phrase in key(old) for phrase in rules):
                    why = f"A restriction forbids '{old}'"
                elif here[new] < here[old]:
                    why = f"'{new}' costs {here[old] - here[new]:g} credits less here"
                else:
                    why = f"With '{new}' less of the study is given up"
                assert change.reason == f"{why}; allowed when the chamber is booked."
                reasons.add(re.sub("'.*?'|[0-9]+", "", why))
    assert len(reasons) >= 5


def test_replacement_must_be_of_the_same_kind() -> None:
    # The chamber is equipment, and so is the shelf: as a reagent the lab has neither.
    plan = factories.make_protocol(
        required_equipment=[METER], required_reagents=[*factories.REAGENTS, CHAMBER]
    )
    options = analysed(plan, factories.make_pack(booked={CHAMBER: 9}))
    assert all(Dimension.REAGENTS in variant.failing for variant in options.variants.listed)
    assert options.least.plan.required_reagents == plan.required_reagents
    assert options.least.after.fidelity_loss == 0
    assert not options.least.after.feasible
    assert not options.frontier.plans


def test_variants_beyond_the_limit_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    labs = [assess(*small(seed)) for seed in range(60)]
    whole = [variants_of(plan) for plan in labs]
    cut = 0
    for limit in (1, 4, 12):
        monkeypatch.setattr(variants, "MOST_VARIANTS", limit)
        for plan, everything in zip(labs, whole, strict=True):
            if plan.pack.lab.prices:
                continue
            result = variants_of(plan)
            # As many substitutions as fit with every way to drop controls; at least one.
            controls = len(everything.listed) // len(
                {variant.swaps for variant in everything.listed}
            )
            number = max(1, limit // controls) * controls
            assert result.listed == everything.listed[:number]
            assert result.exact == (len(everything.listed) <= number)
            cut += not result.exact
    assert cut > 5


@pytest.mark.parametrize(("most", "exact"), [(18, True), (17, False)])
def test_too_many_combinations_replace_whole_kinds(
    monkeypatch: pytest.MonkeyPatch, most: int, *, exact: bool
) -> None:
    # 3 x 2 x 3 ways: the chamber by shelf or fan, the meter by the shelf, the agar by gel or shelf.
    monkeypatch.setattr(variants, "MOST_COMBINATIONS", most)
    rows = [
        factories.make_substitution(original=original, alternative=alternative, fidelity_loss=loss)
        for original, alternative, loss in (
            (CHAMBER, "shelf", 0), (CHAMBER, "fan", 2), (METER, "shelf", 1), (AGAR, "gel", 1),
            (AGAR, "shelf", 3),
        )
    ]  # fmt: skip
    pack = factories.make_pack(
        booked={CHAMBER: 9, METER: 9}, out_of_stock=[AGAR], allowed_substitutions=rows, controls=[]
    )
    result = variants_of(
        assess(factories.make_protocol(required_reagents=[AGAR], controls=[]), pack)
    )
    assert result.exact is exact
    fan, gel = [(CHAMBER, "fan"), (METER, "shelf")], [(AGAR, "gel")]
    text = [
        ({*variant.failing}, variant.loss, [(item.label, other) for item, other in variant.swaps])
        for variant in result.listed
    ]
    assert text == [
        (set(), 4, fan + gel),
        ({Dimension.EQUIPMENT}, 1, gel),
        ({Dimension.REAGENTS}, 3, fan),
        ({Dimension.EQUIPMENT, Dimension.REAGENTS}, 0, []),
    ]
