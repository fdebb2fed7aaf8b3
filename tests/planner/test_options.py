"""The options of a plan, the plan that is drawn, and a study among others."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

import pytest

from replicalab import planner
from replicalab.assessment import assess
from replicalab.lexicon import label_key
from replicalab.models import Dimension, Protocol, revise
from replicalab.scenarios import Difficulty, EvidenceTier, Pack, load_scenario
from tests import factories
from tests.planner.brute_force import ranked
from tests.planner.small_labs import analysed, opened, small_lab

CHAMBER, METER = factories.EQUIPMENT
FORBIDS_CHAMBER: Final = factories.make_policy_rule(forbidden_phrases=[CHAMBER])


def options_of(pack: Pack, **plan: object) -> planner.PlanAnalysis:
    return analysed(factories.make_protocol(**plan), pack)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_smallest_repair_of_a_dimension_is_offered(first: int) -> None:
    for seed in range(first, first + 10):
        options = opened(seed)
        yours, plan = options.yours, options.yours.plan
        repaired = {dimension: step.after for dimension, step in options.repairs.items()}
        assert all(step.before is yours for step in options.repairs.values())
        for dimension, after in repaired.items():
            assert dimension not in assess(after.plan, yours.pack).failing
        for dimension in {*yours.causes} & {*SMALLEST}:
            wanted = next(
                (
                    revised
                    for revised in SMALLEST[dimension](plan, yours.pack)
                    if dimension not in assess(revised, yours.pack).failing
                ),
                None,
            )
            result = repaired.get(dimension)
            assert (result.plan if result else None) == wanted, seed
        if options.least.after.feasible and options.least.changes:
            words = {Dimension.EQUIPMENT, Dimension.REAGENTS, Dimension.POLICY}
            assert {*yours.causes} & words <= {*repaired}, seed


def fewer(plan: Protocol, name: str) -> Iterator[Protocol]:
    for number in range(getattr(plan, name) - 1, 0, -1):
        yield revise(plan, **{name: number})


def without_controls(plan: Protocol, pack: Pack) -> Iterator[Protocol]:
    droppable = {label_key(control.name) for control in pack.controls if control.droppable}
    keys = [label_key(label) for label in plan.controls]
    copies = [at for at, key in enumerate(keys) if key in keys[at + 1 :] and key in droppable]
    last = [at for at, key in enumerate(keys) if key in droppable and at not in copies]
    gone = set[int]()
    for place in [*copies, *last]:
        gone.add(place)
        yield revise(plan, controls=[x for at, x in enumerate(plan.controls) if at not in gone])


SMALLEST: Final[dict[str, Callable[[Protocol, Pack], Iterable[Protocol]]]] = {
    Dimension.SCHEDULE: lambda plan, pack: [revise(plan, duration_days=pack.lab.days_left)],
    Dimension.BUDGET: lambda plan, _: fewer(plan, "sample_size"),
    Dimension.STAFF: lambda plan, pack: chain(
        fewer(plan, "sample_size"), fewer(plan, "duration_days"), without_controls(plan, pack)
    ),
}


@pytest.mark.parametrize(
    ("study", "samples", "days", "repaired"),
    [
        ("bio_jq1_myeloma", 24, 36, {"schedule": (24, 28)}),
        ("bio_jq1_myeloma", 24, 28, {"budget": (23, 28)}),  # 10 credits over
        ("chem_suzuki_ppb", 23, 4, {"budget": (22, 4)}),  # 5 credits over
    ],
)
def test_repairs_keep_what_fits(
    study: str, samples: int, days: int, repaired: dict[str, tuple[int, int]]
) -> None:
    pack = load_scenario(study, Difficulty.MEDIUM)
    least = planner.PlanAnalysis(assess(pack.reference_protocol, pack)).least.plan
    yours = assess(revise(least, sample_size=samples, duration_days=days), pack)
    steps = planner.PlanAnalysis(yours).repairs
    assert {key: step.after.counts[:2] for key, step in steps.items()} == repaired


def test_passing_plan_is_drawn_as_it_is() -> None:
    options = options_of(factories.make_pack(budget=100.0))
    assert options.yours.failing
    assert planner.plan_to_draw(options) == planner.PlanToDraw(options.yours)


def test_plan_is_drawn_with_substitutions_alone() -> None:
    # The Lab Manager would have fewer samples, too.
    options = options_of(factories.make_pack(booked={CHAMBER: 9}, budget=800.0))
    assert options.offer is not None
    assert len(options.offer.changes) > 1
    draw = planner.plan_to_draw(options)
    assert [(change.original, change.revised) for change in draw.changes] == [
        (CHAMBER, "window shelf")
    ]
    assert draw.plan.plan == factories.make_protocol(required_equipment=["window shelf", METER])
    assert draw.failing == ()


def test_drawn_plan_prefers_the_lab_managers_substitutions() -> None:
    # The Lab Manager takes the first of the file, the planner what gives up less.
    rows = [
        factories.make_substitution(alternative=name, fidelity_loss=loss)
        for name, loss in (("fan", 3), ("shelf", 1))
    ]
    options = options_of(factories.make_pack(booked={CHAMBER: 9}, allowed_substitutions=rows))
    assert options.least.plan.required_equipment == ["shelf", METER]
    assert planner.plan_to_draw(options).plan.plan.required_equipment == ["fan", METER]


def test_drawn_plan_uses_the_planners_substitutions() -> None:
    draw = planner.plan_to_draw(options_of(factories.make_pack(policy_rules=[FORBIDS_CHAMBER])))
    assert [change.original for change in draw.changes] == [CHAMBER]
    assert draw.failing == ()
    # Nothing replaces a word of the rationale.
    analysis = options_of(
        factories.make_pack(policy_rules=[FORBIDS_CHAMBER]), rationale=f"in a {CHAMBER}"
    )
    drawn = planner.plan_to_draw(analysis)
    assert drawn == planner.PlanToDraw(analysis.yours)
    assert drawn.failing == (Dimension.POLICY,)


def test_least_loss_wording_is_drawn_with_other_numbers() -> None:
    # One person, one more for more than 20 samples, one more for more than one control.
    steps = factories.make_pack().lab.staff_model.model_copy(update={"control_threshold": 1})
    options = options_of(factories.make_pack(staff=2, staff_model=steps))
    assert options.least.plan.controls == [factories.CONTROLS[0]]
    assert options.least.plan.sample_size != 40
    draw = planner.least_to_draw(options, planner.plan_to_draw(options))
    assert draw is not None
    assert draw.plan.plan == factories.make_protocol(controls=[factories.CONTROLS[0]])
    assert [(change.field, change.original) for change in draw.changes] == [
        ("controls", factories.CONTROLS[1])
    ]


def test_least_loss_plan_that_is_not_drawn() -> None:
    alike = options_of(factories.make_pack(budget=900.0))
    assert alike.least.after.feasible
    assert alike.least.plan != alike.yours.plan
    assert planner.least_to_draw(alike, planner.plan_to_draw(alike)) is None
    # The chamber is replaced, but no sample is paid for.
    poor = options_of(factories.make_pack(booked={CHAMBER: 9}, budget=1.0))
    assert poor.least.plan.required_equipment != poor.yours.plan.required_equipment
    assert not poor.least.after.feasible
    assert planner.least_to_draw(poor, planner.PlanToDraw(poor.yours)) is None


TIERS: Final = [EvidenceTier.MEETS_TARGET, EvidenceTier.ABOVE_FLOOR, EvidenceTier.BELOW_FLOOR]


def rule(found: planner.SurveyedStudy) -> tuple[float, ...]:
    best = found.best
    tier = TIERS.index(best.evidence.tier)
    wishes = int(ranked(best, found.reference.plan)[3])
    return (
        *(len(best.failing), tier, wishes),
        *(-round(share(found), 12), best.fidelity_loss, best.cost),
    )


def share(found: planner.SurveyedStudy) -> float:
    evidence = found.best.evidence
    if evidence.void_reason or not evidence.value:
        return 0
    is_width = evidence.measure == "half-width"
    reached = evidence.target / evidence.value if is_width else evidence.value / evidence.target
    return min(1.0, reached)


def test_order_of_studies_follows_the_rule() -> None:
    packs = [small_lab(seed)[1] for seed in range(100)]
    analyses = [analysed(pack.reference_protocol, pack) for pack in packs]
    studies = [planner.SurveyedStudy(analysis.yours, analysis.least, None) for analysis in analyses]
    studies.sort(key=lambda study: study.rank)
    worth = [rule(study) for study in studies]
    assert worth == sorted(worth)
    assert {len(study.best.failing) for study in studies} >= {0, 1}
    assert {study.best.evidence.tier for study in studies} == set(EvidenceTier)
