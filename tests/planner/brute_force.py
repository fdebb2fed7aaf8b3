"""Every plan of a small lab, tried one by one: what the planner's answers are held against.

Written from docs/contract.md, Planner, in loops; it shares no search with the planner.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, Evidence, assess
from replicalab.lexicon import label_key
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.steps import changed_values
from replicalab.scenarios import Bounds, EvidenceTier, Pack

_FAR: Final = 2000
"""Samples beyond the asked ones that are tried for a better tier; small labs need fewer."""

ITEM_FIELDS: Final = {"required_equipment": "equipment", "required_reagents": "reagent"}


def tried(original: Protocol, pack: Pack) -> Iterator[Assessment]:
    """Return every plan of the documented space: wordings x days x samples that can count.

    A wording that another beats in every respect is not asked for more samples than are wanted:
    it needs more of them for the same tier, and would win by the surplus alone. Of samples beyond
    those asked for, groups may leave some out: then the fewest are tried that show as much.
    """
    found = [(_respects(worded, original, pack), worded) for worded in wordings(original, pack)]
    # Evidence depends on a wording by its factor alone.
    firsts, as_good = dict[float, set[int]](), dict[tuple[float, int], int]()
    for respects, worded in found:
        sizes = samples_of(worded, original, pack)
        if not any(_beats(other, respects) for other, _ in found):
            if respects.weaker not in firsts:
                firsts[respects.weaker] = firsts_of_tiers(worded, pack)
            firm = fewest_sound(worded, pack, {Bounds.SAMPLES, Bounds.EVIDENCE})
            further = {*firsts[respects.weaker], firm}
            sizes |= {first for first in further if first > asked(original, pack)}
        for days, samples in product(days_of(pack), sorted(sizes)):
            if samples <= can_count(days, pack):
                plan = assess(revise(worded, duration_days=days, sample_size=samples), pack)
                yield plan
                if samples > asked(original, pack):
                    yield from _as_good(plan, as_good)


def _as_good(plan: Assessment, known: dict[tuple[float, int], int]) -> Iterator[Assessment]:
    """Return the plan with the fewest samples that show as much, if it fails the same."""
    key = plan.evidence.factor, plan.plan.sample_size
    if key not in known:
        known[key] = fewest_as_good(plan.plan, plan.plan.sample_size, plan.pack)
    fewer = assess(revise(plan.plan, sample_size=known[key]), plan.pack)
    if fewer.failing == plan.failing:
        yield fewer


class _Respects(NamedTuple):
    """What a wording decides of a plan's rank, whatever the numbers; less is better."""

    failing: frozenset[Dimension]
    loss: int
    weaker: float
    controls: int
    changes: int
    price: float


def _respects(worded: Protocol, original: Protocol, pack: Pack) -> _Respects:
    numbers = {"sample_size": len(worded.controls) + 1, "duration_days": 1}
    there = assess(revise(worded, **numbers), pack)
    price = items_cost(worded, pack)
    return _Respects(
        frozenset(there.failing) - {Dimension.BUDGET, Dimension.STAFF, Dimension.SCHEDULE},
        there.fidelity_loss,
        -there.evidence.factor,
        len(worded.controls),
        changed_values(original, worded),
        price,
    )


def _beats(one: _Respects, other: _Respects) -> bool:
    return one != other and (
        one.failing <= other.failing
        and one.loss <= other.loss
        and one.weaker <= other.weaker
        and one.controls <= other.controls
        and one.changes <= other.changes
        and one.price <= other.price
    )


def items_cost(plan: Protocol, pack: Pack) -> float:
    """Return what the items of a plan cost, each at its own price or its rate."""
    rates, own = pack.cost_model, {label_key(i): price for i, price in pack.lab.prices.items()}
    equipment = [own.get(label_key(i), rates.per_equipment_item) for i in plan.required_equipment]
    reagents = [own.get(label_key(i), rates.per_reagent) for i in plan.required_reagents]
    return round(sum(equipment) + sum(reagents), 6)


def missing(pack: Pack) -> set[str]:
    """Return the keys of what is out of stock, or booked on a day on which the lab works."""
    lab = pack.lab
    booked = (item for item, until in lab.booked.items() if not until < lab.start_day)
    return {label_key(item) for item in (*booked, *lab.out_of_stock)}


def days_of(pack: Pack) -> range:
    limit = pack.lab.days - (pack.lab.start_day - 1)
    return range(pack.min_days if pack.min_days <= limit else 1, limit + 1)


def can_count(days: int, pack: Pack) -> float:
    per_day, population = pack.samples_per_day, pack.design.population_max
    most = float("inf") if per_day is None else per_day.value * days
    return min(most, population or float("inf"))


def samples_of(worded: Protocol, original: Protocol, pack: Pack) -> set[int]:
    """Return all samples up to what is asked, and the fewest that may be planned.

    These leave room for the controls, and are what the study's own constraints on n demand.
    """
    fewest = fewest_sound(worded, pack, {Bounds.SAMPLES})
    return {*range(1, asked(original, pack) + 1), len(worded.controls) + 1, fewest}


def fewest_sound(worded: Protocol, pack: Pack, numbers: set[Bounds]) -> int:
    """Return the fewest samples that no hard constraint on these numbers forbids, or 1."""
    return next((n for n in range(1, _FAR) if sound(worded, n, pack, numbers)), 1)


def sound(worded: Protocol, samples: int, pack: Pack, numbers: set[Bounds]) -> bool:
    """Return whether no control, and no hard constraint on these numbers, forbids so many."""
    if samples <= len(worded.controls):
        return False
    plan = revise(worded, sample_size=samples, duration_days=max(pack.lab.days, _FAR))
    broken = (limit for limit in assess(plan, pack).broken_limits if limit.number in numbers)
    return not any(limit.hard for limit in broken)


def asked(original: Protocol, pack: Pack) -> int:
    """Return what the plan or the study asks for, whichever is more, and 1 at least."""
    return max(1, original.sample_size, pack.reference_protocol.sample_size)


def fewest_as_good(worded: Protocol, samples: int, pack: Pack) -> int:
    """Return the fewest samples with the evidence of so many; groups may leave some out."""
    value = evidence_of(worded, samples, pack).value
    same = (n for n in range(1, samples) if evidence_of(worded, n, pack).value == value)
    return next(same, samples)


def firsts_of_tiers(worded: Protocol, pack: Pack) -> set[int]:
    """Return the fewest samples that reach the target, and the floor."""
    firsts: dict[EvidenceTier, int] = {}
    for samples in range(1, min(_FAR, (pack.design.population_max or _FAR) + 1)):
        tier = evidence_of(worded, samples, pack).tier
        firsts.setdefault(tier, samples)
        if tier is EvidenceTier.MEETS_TARGET:
            break
    firsts.pop(EvidenceTier.BELOW_FLOOR, None)
    return set(firsts.values())


def evidence_of(worded: Protocol, samples: int, pack: Pack) -> Evidence:
    """Return the evidence of so many samples, given days enough."""
    days = pack.min_days + samples
    return assess(revise(worded, sample_size=samples, duration_days=days), pack).evidence


def wordings(original: Protocol, pack: Pack) -> Iterator[Protocol]:
    """Return the plan with each set of substitutions and of dropped controls."""
    for fields in _substituted(original, pack):
        for kept in _kept_controls(original, pack):
            yield revise(original, controls=kept, **fields)


def _substituted(original: Protocol, pack: Pack) -> Iterator[dict[str, list[str]]]:
    """Return both item lists, each item kept or replaced wherever it is listed."""
    labels = {field: getattr(original, field) for field in ITEM_FIELDS}
    listed = {label_key(label) for found in labels.values() for label in found}
    places = dict.fromkeys((field, label_key(label)) for field in labels for label in labels[field])
    taken = listed | missing(pack)
    options = [
        [
            None,
            *(
                s.alternative
                for s in pack.allowed_substitutions
                if label_key(s.original) == key and label_key(s.alternative) not in taken
            ),
        ]
        for _, key in places
    ]
    for chosen in product(*options):
        come = [label_key(label) for label in chosen if label is not None]
        if len(set(come)) == len(come):
            new = dict(zip(places, chosen, strict=True))
            yield {
                field: [new.get((field, label_key(label))) or label for label in found]
                for field, found in labels.items()
            }


def _kept_controls(original: Protocol, pack: Pack) -> Iterator[list[str]]:
    droppable = {label_key(c.name) for c in pack.controls if c.droppable}
    places = [i for i, label in enumerate(original.controls) if label_key(label) in droppable]
    for size in range(len(places) + 1):
        for dropped in combinations(places, size):
            yield [label for i, label in enumerate(original.controls) if i not in dropped]
