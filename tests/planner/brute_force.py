"""Every plan of a small lab, tried one by one, to check the planner's answers.

Written from docs/methods.md, Planner, in loops; it shares no search with the planner. Only
the failures of a variant and the evidence of samples come from the check.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import ceil, inf, isfinite
from typing import Final, NamedTuple

from replicalab import assessment
from replicalab.assessment import Assessment, Evidence, assess
from replicalab.assessment.findings import IssueCategory, Severity
from replicalab.lexicon import label_key
from replicalab.models import NUMBER_FIELDS, Dimension, Protocol, revise
from replicalab.planner.least_loss import differences
from replicalab.scenarios import Bounds, EvidenceTier, Pack, ScenarioConstraint

_FAR: Final = 2000  # samples tried at most; in small labs fewer reach any target

ITEM_FIELDS: Final = {"required_equipment": "equipment", "required_reagents": "reagent"}
_TIERS: Final = list(EvidenceTier)


Place = tuple[float | Fraction, ...]


class Tried(NamedTuple):
    """A plan's place in the order of docs/methods.md, and its numbers."""

    rank: Place  # as a revision of the original
    evidence: float  # in steps of 0.01, not capped
    void: bool
    samples: int
    days: int
    worded: Protocol  # the plan with other numbers

    @property
    def failing(self) -> int:
        return int(self.rank[0])

    @property
    def tier(self) -> int:
        return int(self.rank[1])

    @property
    def loss(self) -> int:
        return int(self.rank[4])

    @property
    def credits(self) -> float:
        return float(self.rank[8])

    def plan(self) -> Protocol:
        return revise(self.worded, sample_size=self.samples, duration_days=self.days)


def ranked(plan: Assessment, original: Protocol) -> Place:
    evidence, pack = plan.evidence, plan.pack
    samples, days = plan.plan.sample_size, plan.plan.duration_days
    return (
        len(plan.failing),
        _TIERS.index(evidence.tier),
        days < pack.min_days,
        wishes_broken(samples, days, evidence.value, pack),
        plan.fidelity_loss,
        max(steps(evidence), steps(assess(pack.reference_protocol, pack).evidence)),
        *_shares(samples, days, pack),
        len(differences(original, plan.plan)),
        plan.cost,
        *_up_to_the_study(samples, days, pack),
    )


def steps(evidence: Evidence) -> float:
    if evidence.void_reason is not None:
        return inf
    if evidence.row.scale.lower_is_better:
        hundredths = evidence.value / evidence.target * 100
        return ceil(hundredths - 1e-9) if isfinite(hundredths) else 1e12
    return -int(evidence.value * 100 + 1e-9)


def _shares(samples: int, days: int, pack: Pack) -> tuple[Fraction]:
    study, total = pack.reference_protocol, Fraction(0)
    for number, custom in ((samples, study.sample_size), (days, study.duration_days)):
        if number < custom:
            total += 1 - Fraction(number, custom)
    return (total,)


def _up_to_the_study(samples: int, days: int, pack: Pack) -> tuple[int, int]:
    study = pack.reference_protocol
    return max(-samples, -study.sample_size), max(-days, -study.duration_days)


def wishes_broken(samples: int, days: int, value: float, pack: Pack) -> int:
    """Return how many soft constraints of the study these numbers break, by their own words.

    Of conditions that share the samples equally the smallest has n // k, the largest one more if
    there is a remainder.
    """
    return sum(
        not _as_asked(constraint, samples, days, value)
        for constraint in pack.study.constraints
        if constraint.bounds is not None and not constraint.hard
    )


def _as_asked(asked: ScenarioConstraint, samples: int, days: int, value: float) -> bool:
    shares, bound = asked.conditions or 1, asked.quantity or 0.0
    pairs: dict[str, tuple[float, float]] = {
        "samples": (samples, samples),
        "samples_per_condition": (samples // shares, -(-samples // shares)),
        "days": (days, days),
        "evidence": (value, value),
    }
    smallest, largest = pairs[str(asked.bounds)]
    at_least, at_most = smallest >= bound - 1e-9, largest <= bound + 1e-9
    return {">=": at_least, "<=": at_most, "=": at_least and at_most}[str(asked.comparator)]


def tried(original: Protocol, pack: Pack) -> Iterator[Tried]:
    """Yield every plan of the documented space: variants x days x samples.

    Samples are tried up to the first number that leaves room for the controls, keeps all
    constraints of the study, is planned, here or by the study, and meets the target or is all that
    exists: a plan of more ranks below one of these.
    """
    study, lab = pack.reference_protocol, pack.lab
    cap = steps(assess(study, pack).evidence)
    evidences: dict[tuple[float, int], tuple[float, int, float, bool]] = {}
    of_numbers: dict[tuple[int, int], tuple[Fraction, int, int]] = {}
    record: dict[float, int] = {}
    for worded in variants_of(original, pack):
        plan = assess(worded, pack)
        factor, fixed = plan.evidence_factor, failing_anyhow(plan)
        if factor not in record:
            record[factor] = max(enough(worded, pack), *_wished(worded, pack))
        same = {name: getattr(original, name) for name in NUMBER_FIELDS}
        changes = len(differences(original, revise(worded, **same)))
        room = len(worded.controls) + 1
        planned = max(original.sample_size, study.sample_size)
        top = max(record[factor], room, planned, _fewest_of_the_study(pack))
        prices, loss = _prices(worded, pack), plan.fidelity_loss
        for days in days_of(pack, original):
            early, limit = days < pack.min_days, can_count(days, pack)
            for samples in range(1, min(top, _FAR) + 1):
                usable = 0 if early else int(min(samples, limit))
                if (factor, usable) not in evidences:
                    evidence = assessment.evidence_of(samples, days, pack, factor)
                    tier, void = _TIERS.index(evidence.tier), evidence.void_reason is not None
                    evidences[factor, usable] = evidence.value, tier, steps(evidence), void
                value, tier, worth, void = evidences[factor, usable]
                if (samples, days) not in of_numbers:
                    [share] = _shares(samples, days, pack)
                    of_numbers[samples, days] = share, *_up_to_the_study(samples, days, pack)
                share, most_samples, most_days = of_numbers[samples, days]
                staff = staff_of(worded, samples, days, pack)
                cost = _cost(prices, samples, days, staff, pack)
                failing = fixed
                if cost > lab.budget:
                    failing = failing | {Dimension.BUDGET}
                if staff > lab.staff:
                    failing = failing | {Dimension.STAFF}
                if days < 1 or samples < room or not _keeps(samples, days, value, pack):
                    failing = failing | {Dimension.PROTOCOL}
                place = (
                    len(failing),
                    tier,
                    early,
                    wishes_broken(samples, days, value, pack),
                    loss,
                    max(worth, cap),
                    share,
                    changes + (samples != original.sample_size) + (days != original.duration_days),
                    cost,
                    most_samples,
                    most_days,
                )
                yield Tried(place, worth, void, samples, days, worded)


def failing_anyhow(worded: Assessment) -> set[str]:
    failing: set[str] = {
        text
        for text in worded.failing
        if text in (Dimension.EQUIPMENT, Dimension.REAGENTS, Dimension.POLICY)
    }
    items = (IssueCategory.EQUIPMENT, IssueCategory.REAGENT)
    if any(s is Severity.ERROR and category in items for s, category, _ in worded.findings):
        failing.add(Dimension.PROTOCOL)
    return failing


def enough(worded: Protocol, pack: Pack) -> int:
    exist = min(pack.design.population_max or _FAR, _FAR)
    limits = [limit for limit in pack.limits if limit.hard and limit.number is Bounds.EVIDENCE]
    study = steps(assess(pack.reference_protocol, pack).evidence)

    def is_enough(evidence: Evidence) -> bool:
        meets = evidence.tier is EvidenceTier.MEETS_TARGET and steps(evidence) <= study
        return meets and all(limit.allows(evidence.value) for limit in limits)

    factor, least = assess(worded, pack).evidence_factor, pack.min_days
    every = ((n, assessment.evidence_of(n, least + n, pack, factor)) for n in range(1, exist + 1))
    return next((n for n, evidence in every if is_enough(evidence)), exist)


def _wished(worded: Protocol, pack: Pack) -> Iterator[int]:
    exist = min(pack.design.population_max or _FAR, _FAR)
    factor, least = assess(worded, pack).evidence_factor, pack.min_days
    yield from (1, 1)
    for constraint in pack.study.constraints:
        if constraint.bounds not in (None, Bounds.DAYS) and not constraint.hard:
            limit = exist if constraint.bounds is Bounds.EVIDENCE else _FAR
            every = (
                (n, assessment.evidence_of(n, least + n, pack, factor)) for n in range(1, limit + 1)
            )
            yield next((n for n, at in every if _as_asked(constraint, n, 0, at.value)), 1)


def _fewest_of_the_study(pack: Pack) -> int:
    limits = [limit for limit in pack.limits if limit.hard and limit.number is Bounds.SAMPLES]
    return int(max([1, *(limit.least for limit in limits if limit.least > -inf)]))


def _keeps(samples: int, days: int, value: float, pack: Pack) -> bool:
    numbers = {Bounds.SAMPLES: samples, Bounds.DAYS: days, Bounds.EVIDENCE: value}
    return all(limit.allows(numbers[limit.number]) for limit in pack.limits if limit.hard)


def key(label: str) -> str:
    return " ".join(label.casefold().split())


def cost_of(worded: Protocol, samples: int, days: int, pack: Pack) -> float:
    staff = staff_of(worded, samples, days, pack)
    return _cost(_prices(worded, pack), samples, days, staff, pack)


def _prices(worded: Protocol, pack: Pack) -> tuple[float, float, float]:
    rates, prices = pack.lab.cost_model, {key(i): price for i, price in pack.lab.prices.items()}
    return (
        len(worded.controls) * rates.per_control,
        sum(prices.get(key(i), rates.per_equipment_item) for i in worded.required_equipment),
        sum(prices.get(key(i), rates.per_reagent) for i in worded.required_reagents),
    )


def _cost(
    prices: tuple[float, float, float], samples: int, days: int, staff: int, pack: Pack
) -> float:
    rates = pack.lab.cost_model
    controls, equipment, reagents = prices
    credits = samples * rates.per_sample + days * rates.per_day
    credits += controls
    credits += equipment
    credits += reagents
    credits += days * staff * rates.per_staff_day
    if rates.overhead_percent:
        credits *= (100 + rates.overhead_percent) / 100
    return round(credits, 6)


def staff_of(worded: Protocol, samples: int, days: int, pack: Pack) -> int:
    steps = pack.lab.staff_model
    return (
        steps.base
        + (samples > steps.sample_threshold)
        + (len(worded.controls) > steps.control_threshold)
        + (days > steps.day_threshold)
        + (len(worded.required_equipment) > steps.equipment_threshold)
    )


def missing(pack: Pack) -> set[str]:
    lab = pack.lab
    booked = (item for item, until in lab.booked.items() if not until < lab.start_day)
    return {key(item) for item in (*booked, *lab.out_of_stock)}


def days_of(pack: Pack, original: Protocol | None = None) -> list[int]:
    limit = max(0, pack.lab.days - (pack.lab.start_day - 1))
    days = [*range(max(1, min(pack.min_days, limit)), limit + 1)]
    custom = original.duration_days if original else limit + 1
    return days if custom in days or custom > limit else [custom, *days]


def can_count(days: int, pack: Pack) -> float:
    per_day, population = pack.samples_per_day, pack.design.population_max
    limit = float("inf") if per_day is None else per_day.value * days
    return min(limit, population or float("inf"))


def sound(worded: Protocol, samples: int, pack: Pack, numbers: set[Bounds]) -> bool:
    if samples <= len(worded.controls):
        return False
    plan = revise(worded, sample_size=samples, duration_days=max(pack.lab.days, _FAR))
    broken = (limit for limit in assess(plan, pack).broken_limits if limit.number in numbers)
    return not any(limit.hard for limit in broken)


def evidence_of(worded: Protocol, samples: int, pack: Pack) -> Evidence:
    factor = assess(worded, pack).evidence_factor
    return assessment.evidence_of(samples, pack.min_days + samples, pack, factor)


def variants_of(original: Protocol, pack: Pack) -> Iterator[Protocol]:
    for fields in _substituted(original, pack):
        for kept_control in _kept_controls(original, pack):
            yield revise(original, controls=kept_control, **fields)


def _substituted(original: Protocol, pack: Pack) -> Iterator[dict[str, list[str]]]:
    labels = {field: getattr(original, field) for field in ITEM_FIELDS}
    listed = {label_key(label) for result in labels.values() for label in result}
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
                field: [new.get((field, label_key(label))) or label for label in result]
                for field, result in labels.items()
            }


def _kept_controls(original: Protocol, pack: Pack) -> Iterator[list[str]]:
    droppable = {label_key(c.name) for c in pack.controls if c.droppable}
    places = [i for i, label in enumerate(original.controls) if label_key(label) in droppable]
    for size in range(len(places) + 1):
        for dropped in combinations(places, size):
            yield [label for i, label in enumerate(original.controls) if i not in dropped]
