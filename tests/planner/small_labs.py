"""Small labs by the thousand, drawn from a seed: every rule of the planner bites in some."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Final, NamedTuple, TypeVar

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis
from tests import factories

FORBIDDEN: Final = "open flame"
EQUIPMENT: Final = ("lamp", "oven", "scale", "open flame burner")
REAGENTS: Final = ("gel", "ink", "salt")
ALTERNATIVES: Final = ("torch", "sun", "open flame torch", "stove", "balance", "water")
CONTROLS: Final = ("blank", "sham", "open flame control", "dark")

_EFFECTS: Final = {
    "two_group": (1.2, 3.0), "paired": (0.7, 2.0), "one_sample": (0.7, 2.0),
    "correlation": (0.6, 0.9), "two_proportions": (1.0, 2.0), "audit": (0.05, 0.4),
    "coverage": (1.0, 1.0), "precision": (0.1, 0.4), "anova": (0.8, 2.0),
    "equivalence": (0.0, 0.3), "survival": (0.02, 0.2),
}  # fmt: skip
# Planning effects with which the target is reached by a few dozen samples

_LATER: Final[dict[str, dict[str, object]]] = {
    "anova": {"groups": 2},
    "equivalence": {"margin": 1.5},
    "survival": {"event_share": 0.8},
}


_RATES: Final = dict.fromkeys(
    ("per_sample", "per_day", "per_control", "per_equipment_item", "per_reagent"),
    (0.0, 0.1, 7.5, 10.0, 33.33, 60.0),
)
_STEPS: Final = {
    "base": range(3), "sample_threshold": range(13), "control_threshold": range(4),
    "day_threshold": range(5), "equipment_threshold": range(5),
}  # fmt: skip

_PRICES: Final = (0.0, 0.5, 20.0, 33.33, 90.0, 250.0)
"""Own prices of items: above and below any rate."""

T = TypeVar("T")


class LabItem(NamedTuple):
    """An item of a small lab."""

    label: str
    category: str
    available: bool


def analysed(plan: Protocol, pack: scenarios.Pack) -> PlanAnalysis:
    return PlanAnalysis(assess(plan, pack))


@cache
def opened(seed: int) -> PlanAnalysis:
    return analysed(*small_lab(seed))


@cache
def shipped(study: str, lab: str) -> PlanAnalysis:
    pack = scenarios.load_scenario(study, lab)
    return analysed(pack.reference_protocol, pack)


def small_lab(seed: int) -> tuple[Protocol, scenarios.Pack]:
    rng = Random(seed)
    rich = rng.random() < 0.2
    resources = _resources(rng, rich)
    controls = _controls(rng, rich)
    reference = _plan(rng, resources, controls, rich)
    plan = reference if rng.random() < 0.5 else _plan(rng, resources, controls, rich)
    days = rng.randint(1, 5 if rich else 3)
    minimum = rng.randint(1, 2) if rng.random() < 0.8 else rng.randint(1, 6)
    rates = (
        scenarios.CostModel() if rng.random() < 0.4 else scenarios.CostModel(**_drawn(rng, _RATES))
    )
    steps = scenarios.StaffModel(**_drawn(rng, _STEPS))
    # Near the cost of the plan, so that it binds as often as not.
    budget = max(0.01, round(_usual_cost(plan, rates) * rng.uniform(0.4, 2.2), 2))
    equipment, reagents = (_of(resources, category) for category in ("equipment", "reagent"))
    missing = [item.label for item in resources if not item.available]
    pack = factories.make_pack(
        equipment=equipment,
        reagents=reagents,
        booked={label: 1 for label in missing if label in equipment},
        out_of_stock=[label for label in missing if label in reagents],
        budget=budget,
        days=days,
        allowed_substitutions=_substitutions(rng, resources),
        controls=controls,
        policy_rules=[factories.make_policy_rule()] if rng.random() < 0.3 else [],
        design=_design(rng, Random(f"kind {seed}"), Random(f"dropout {seed}")),
        reference_protocol=reference,
        min_days=minimum,
        samples_per_day=factories.make_throughput(value=rng.randint(1, 8))
        if rng.random() < 0.4
        else None,
        cost_model=rates,
        staff_model=steps,
        staff=rng.randint(1, 5),
    )
    pack = factories.change_pack(pack, constraints=list(_constraints(rng, pack)))
    wishing = Random(f"wishes {seed}")
    if wishing.random() < (0.8 if rich else 0.4):
        wishes = _wishes(wishing, plan, pack)
        pack = factories.change_pack(pack, constraints=[*pack.study.constraints, *wishes])
    random = Random(f"own {seed}")
    pack = _with_own(random, plan, pack) if random.random() < 0.5 else pack
    money = Random(f"money {seed}")
    pack = _with_money(money, plan, pack) if money.random() < 0.4 else pack
    grouping = Random(f"grouping {seed}")
    return plan, _grouped(grouping, plan, pack) if grouping.random() < 0.5 else pack


def _grouped(rng: Random, plan: Protocol, pack: scenarios.Pack) -> scenarios.Pack:
    texts, record = KINDS[pack.design.kind].optional, dict[str, object]()
    if "units" in texts and rng.random() < 0.7:
        record["units"] = scenarios.Units(
            name="tank",
            samples=rng.choice((1.0, 2.0, 2.5, 4.0)),
            icc=rng.choice((None, 0.0, 0.1, 0.4, 1.0)),
        )
    if "arms" in texts and rng.random() < 0.7:
        record["arms"] = scenarios.Arms(share=rng.choice((0.5, 0.2, 0.35, 0.75)))
    grouped = factories.change_pack(pack, design=pack.design.model_copy(update=record))
    return _as_affordable(plan, pack, grouped)


def _with_money(rng: Random, plan: Protocol, pack: scenarios.Pack) -> scenarios.Pack:
    rates = {
        "per_staff_day": rng.choice((0.0, 0.5, 12.0, 33.33, 80.0)),
        "overhead_percent": rng.choice((0.0, 7.5, 19.0, 100.0)),
    }
    model = pack.lab.cost_model
    if rng.random() < 0.2:
        model = model.model_copy(update={"per_sample": 0.0})
    custom = factories.change_pack(pack, cost_model=model.model_copy(update=rates), currency="EUR")
    return _as_affordable(plan, pack, custom)


def _as_affordable(plan: Protocol, pack: scenarios.Pack, custom: scenarios.Pack) -> scenarios.Pack:
    before, cost = assess(plan, pack).cost, assess(plan, custom).cost
    scale = (cost / before if before else 1.0) or 1.0
    return factories.change_pack(custom, budget=max(0.01, round(pack.lab.budget * scale, 2)))


def _usual_cost(plan: Protocol, rates: scenarios.CostModel) -> float:
    return assess(plan, factories.make_pack(cost_model=rates)).cost


def _with_own(rng: Random, plan: Protocol, pack: scenarios.Pack) -> scenarios.Pack:
    lab, start = pack.lab, rng.choice((1, 1, 2, 3, 4))
    items = [*EQUIPMENT, *REAGENTS, *ALTERNATIVES]
    prices = {item: rng.choice(_PRICES) for item in items if rng.random() < rng.choice((0.2, 0.7))}
    further = [item for item in ALTERNATIVES if item not in (*pack.equipment, *pack.reagents)]
    further = [item for item in further if rng.random() < 0.3]
    cut = rng.randint(0, len(further))
    missing = [*lab.booked, *lab.out_of_stock, *(i for i in further if rng.random() < 0.3)]
    booked = {item: rng.randint(0, 6) for item in missing if rng.random() < 0.6}
    custom = factories.change_pack(
        pack,
        prices=prices,
        start_day=start,
        days=lab.days + start - 1 + rng.choice((0, 0, 0, 1, 3, -1 if lab.days + start > 2 else 0)),
        booked=booked,
        out_of_stock=[item for item in missing if item not in booked],
        own_equipment=further[:cut],
        own_reagents=further[cut:],
    )
    usual = _usual_cost(plan, lab.cost_model)
    scale = assess(plan, custom).cost / usual if usual else 1.0
    return factories.change_pack(custom, budget=max(0.01, round(lab.budget * scale, 2)))


def _drawn(rng: Random, choices: Mapping[str, Sequence[T]]) -> dict[str, T]:
    return {name: rng.choice(values) for name, values in choices.items()}


def _constraints(rng: Random, pack: scenarios.Pack) -> Iterator[scenarios.ScenarioConstraint]:
    if rng.random() < 0.15:
        comparator = rng.choice(["<=", ">=", ">=", "="])
        bound = {"comparator": comparator, "quantity": float(rng.randint(1, 9))}
        shared = rng.random() < 0.3
        yield factories.make_constraint(
            key="n",
            bounds="samples_per_condition" if shared else "samples",
            conditions=2 if shared else None,
            **bound,
        )
    if rng.random() < 0.1:
        yield factories.make_constraint(
            key="days",
            bounds="days",
            comparator=rng.choice(["<=", ">="]),
            quantity=float(rng.randint(1, 5)),
        )
    if rng.random() < 0.1:
        less = pack.design.lower_is_better
        yield factories.make_constraint(
            key="evidence",
            bounds="evidence",
            comparator="<=" if less else ">=",
            quantity=pack.design.target,
            hard=rng.random() < 0.7,
        )


def _wishes(
    rng: Random, plan: Protocol, pack: scenarios.Pack
) -> Iterator[scenarios.ScenarioConstraint]:
    for number in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        bounds = rng.choice(("samples", "samples", "samples_per_condition", "days", "evidence"))
        comparator, quantity, conditions = rng.choice(("<=", ">=", ">=", "=")), 0.0, None
        if bounds == "evidence":
            less, scale = pack.design.lower_is_better, rng.uniform(0.7, 1.1)
            comparator = "<=" if less else ">="
            quantity = round(pack.design.target * (1 / scale if less else scale), 3)
        elif bounds == "days":
            quantity = float(rng.randint(0, pack.lab.days + 1))
        elif bounds == "samples" and rng.random() < 0.8:
            # More than the plan can have with its controls and items, or fewer than its controls.
            rate = pack.lab.cost_model.per_sample or 1.0
            limit = plan.sample_size + int((pack.lab.budget - assess(plan, pack).cost) // rate)
            few = rng.randint(0, len(plan.controls))
            quantity = float(max(0, limit + rng.randint(1, 2) if comparator == ">=" else few))
        else:
            conditions = 2 if bounds == "samples_per_condition" else None
            quantity = float(rng.randint(0, plan.sample_size + 3) // (conditions or 1))
        yield factories.make_constraint(
            key=f"wish_{number}",
            label=f"wish {number}",
            bounds=bounds,
            comparator=comparator,
            quantity=quantity,
            unit=None,
            conditions=conditions,
            hard=False,
        )


def _resources(rng: Random, rich: bool) -> list[LabItem]:
    missing = 0.5 if rich else 0.25
    named = [
        *(("equipment", label) for label in EQUIPMENT),
        *(("reagent", label) for label in REAGENTS),
        *((rng.choice(("equipment", "reagent")), a) for a in ALTERNATIVES if rng.random() < 0.3),
    ]
    return [LabItem(label, category, rng.random() >= missing) for category, label in named]


def _of(resources: list[LabItem], category: str) -> list[str]:
    return [item.label for item in resources if item.category == category]


def _substitutions(rng: Random, resources: list[LabItem]) -> list[scenarios.AllowedSubstitution]:
    texts = [r.label for r in resources]
    pairs = [
        (original, rng.choice([*ALTERNATIVES, *ALTERNATIVES, *texts]))
        for original in rng.choices([*EQUIPMENT, *REAGENTS], k=rng.randint(4, 14))
    ]
    return [
        factories.make_substitution(
            original=original,
            alternative=alternative,
            fidelity_loss=rng.randint(0, 3),
            evidence_factor=rng.choice((1.0, 1.0, 0.9, 0.75, 0.6)),
        )
        for original, alternative in dict.fromkeys(pairs)
        if original != alternative
    ]


def _controls(rng: Random, rich: bool) -> list[scenarios.Control]:
    return [
        factories.make_control(
            name=name, droppable=rng.random() < 0.6, protects_against=f"{name} bias"
        )
        for name in rng.sample(CONTROLS, k=rng.randint(0, 4 if rich else 2))
    ]


def _plan(
    rng: Random, resources: list[LabItem], controls: list[scenarios.Control], rich: bool
) -> Protocol:
    limit = 3 if rich else 2
    names = [c.name for c in controls if rng.random() < 0.8]
    extra = ["a control of its own"] if rng.random() < 0.1 else []
    return factories.make_protocol(
        sample_size=rng.randint(0 if rng.random() < 0.1 else 1, 16 if rich else 10),
        duration_days=rng.randint(0 if rng.random() < 0.1 else 1, 6),
        controls=_doubled(rng, [*names, *extra]),
        required_equipment=_doubled(rng, _listed(rng, resources, "equipment", limit)),
        required_reagents=_doubled(rng, _listed(rng, resources, "reagent", limit - 1)),
        rationale="an open flame keeps it warm" if rng.random() < 0.05 else "plain",
    )


def _listed(rng: Random, resources: list[LabItem], category: str, most: int) -> list[str]:
    labels = _of(resources, category)
    texts = rng.sample(labels, k=min(len(labels), rng.randint(0, most)))
    return [*texts, rng.choice(ALTERNATIVES)] if rng.random() < 0.1 else texts


def _doubled(rng: Random, labels: list[str]) -> list[str]:
    if not labels or rng.random() < 0.9:
        return labels
    return [*labels, rng.choice(labels).upper()]


def _design(rng: Random, later: Random, lost: Random) -> scenarios.Design:
    kind = rng.choice([kind for kind in _EFFECTS if kind not in _LATER])
    low, high = _EFFECTS[kind]
    target = rng.choice((0.6, 0.8, 0.9))
    floor = rng.choice((0.3, 0.5, target))
    if KINDS[kind].scale.lower_is_better:
        target, floor = rng.choice((0.1, 0.15)), rng.choice((0.2, 0.3))
    small = rng.random() < 0.3 or "population_max" in KINDS[kind].needs
    effect = None if low == high else round(rng.uniform(low, high), 2)
    alpha, limit = rng.choice((0.05, 0.01)), rng.randint(2, 18) if small else None
    numbers: dict[str, object] = {}
    if later.random() < 0.2 and not KINDS[kind].scale.lower_is_better:
        kind = later.choice([*_LATER])
        effect, numbers = round(later.uniform(*_EFFECTS[kind]), 2), _LATER[kind]
    return factories.make_design(
        kind=kind,
        effect_published=None,
        sesoi=None,
        effect_planning=effect,
        alpha=alpha,
        target=target,
        floor=floor,
        population_max=limit,
        dropout=lost.choice((0.07, 0.15, 0.3, 0.5)) if lost.random() < 0.2 else 0.0,
        **numbers,
    )
