"""What the planner says of each change, plan by plan: sums done by hand."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.agents.suggestions import change_of
from replicalab.assessment import assess
from replicalab.planner import least_loss
from replicalab.planner.reasons import with_reasons
from replicalab.scenarios import (
    CostModel,
    DesignKind,
    EvidenceAssumptions,
    LabOverrides,
    ScenarioConstraint,
    StaffModel,
)
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    change_pack,
    make_constraint,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
    make_throughput,
)
from tests.measures.designs import design_of

CHAMBER: Final = EQUIPMENT[0]


def test_wish_is_no_reason_for_a_replacement_where_another_loses_as_much() -> None:
    # The fan shows more, but its 200 credits leave only 30 samples; 50 are wished.
    swaps = [
        make_substitution(original=CHAMBER, alternative=name, fidelity_loss=1, evidence_factor=left)
        for name, left in (("shelf", 0.5), ("fan", 1.0))
    ]
    plan = make_protocol(sample_size=50, duration_days=3, required_equipment=[CHAMBER])
    pack = make_pack(
        design=make_design(effect_planning=0.3),
        allowed_substitutions=swaps,
        booked={CHAMBER: 30},
        prices={CHAMBER: 0.0, "shelf": 0.0, "fan": 200.0},
        constraints=[make_constraint(bounds="samples", comparator=">=", quantity=50, hard=False)],
    )
    budget = assess(plan, pack).cost
    [change] = least_loss(plan, change_pack(pack, budget=budget)).changes
    assert (change.original, change.revised) == (CHAMBER, "shelf")
    assert "No revision" not in change.reason
    wishless = least_loss(plan, change_pack(pack, budget=budget, constraints=[]))
    assert wishless.plan.required_equipment == ["fan"]


def test_most_samples_that_fit_are_those_of_all_that_keep_as_many_wishes() -> None:
    # Of two wishes that contradict each other either can be kept: by 10 samples, and by 30.
    wishes = [
        make_constraint(key="few", bounds="samples", comparator="<=", quantity=10, hard=False),
        make_constraint(key="many", bounds="samples", comparator=">=", quantity=20, hard=False),
    ]
    plan = make_protocol(sample_size=50, duration_days=3)
    pack = make_pack(design=make_design(effect_planning=0.3), constraints=wishes)
    there = change_pack(pack, budget=assess(plan, pack).cost - 20 * 10)
    [change] = least_loss(plan, there).changes
    assert (change.field, change.revised) == ("sample_size", "30")
    assert change.reason.endswith("No more than 30 samples fit and count.")


def test_plan_of_no_day_is_given_as_many_as_fit_where_the_endpoint_is_lost_anyway() -> None:
    found = least_loss(make_protocol(duration_days=0), make_pack(days=3, min_days=6))
    [change] = [each for each in found.changes if each.field == "duration_days"]
    assert (change.revised, change.reason) == ("3", "Of the study's 6 days as many as fit.")


def test_samples_are_as_good_as_any_other_number_where_the_endpoint_is_lost_anyway() -> None:
    plan = make_protocol(sample_size=9, duration_days=1, controls=[])
    pack = make_pack(days=1, min_days=3, budget=assess(plan, make_pack()).cost - 1)
    [change] = least_loss(plan, pack).changes
    assert (change.field, change.revised) == ("sample_size", "1")
    assert change.reason == "The evidence is the same as with 9."


def test_plan_of_no_day_is_given_as_many_as_a_wish_allows_where_the_endpoint_is_lost_anyway() -> (
    None
):
    short = make_constraint(bounds="days", comparator="<=", quantity=3, hard=False)
    pack = make_pack(days=5, min_days=6, constraints=[short])
    [change] = least_loss(make_protocol(duration_days=0), pack).changes
    assert (change.field, change.revised) == ("duration_days", "3")
    assert change.reason == "Of the study's 6 days as many as its wishes allow."


# Cohen (1988), table 2.4.1: at d = 0.5 and alpha 0.05, 64 a group have power 0.80. With 128 samples
# a plan of the synthetic study costs 1,680 credits and 50 a day.
HALF: Final = make_design(effect_planning=0.5, alpha=0.05, target=0.8, floor=0.5)
ONE_HAND: Final = StaffModel(
    base=1,
    sample_threshold=1000,
    control_threshold=10,
    day_threshold=3,
    equipment_threshold=10,
)


def asks(
    bounds: str, comparator: str, quantity: float, *, name: str = "wish", hard: bool = False
) -> ScenarioConstraint:
    """Return a wish of a study, or a constraint, on one of its numbers."""
    return make_constraint(
        key=name,
        label=name,
        bounds=bounds,
        comparator=comparator,
        quantity=quantity,
        unit=None,
        hard=hard,
    )


@pytest.mark.parametrize(
    ("before", "after", "lab", "reason"),
    [
        # more of them
        (0, 1, {"min_days": 1}, "A plan takes at least 1 day."),
        (0, 1, {"min_days": 6, "days": 1}, "A plan takes at least 1 day."),
        (
            0,
            7,
            {"min_days": 1, "samples_per_day": make_throughput()},
            "A plan takes at least 1 day.",
        ),
        (
            6,
            7,
            {"min_days": 1, "samples_per_day": make_throughput()},
            "In 6 days no more than 120 samples can count.",
        ),
        (0, 2, {"min_days": 2}, "The study's endpoint needs 2 days."),
        (
            1,
            2,
            {
                "min_days": 1,
                "constraints": [asks("days", ">=", 2, hard=True)],
            },
            "The study asks for 2 days at least.",
        ),
        # The lab has a day more, which the wish does not allow.
        (
            0,
            3,
            {"min_days": 6, "days": 4, "constraints": [asks("days", "<=", 3, name="haste")]},
            "Of the study's 6 days as many as its wishes allow.",
        ),
        # fewer of them
        (8, 1, {"min_days": 1, "days": 5}, "The lab has 5 days; 1 is enough."),
        (8, 2, {"min_days": 2, "days": 5}, "The lab has 5 days; 2 are enough."),
        (8, 5, {"min_days": 5, "days": 5}, "The lab has 5 days."),
        (
            8,
            3,
            {
                "min_days": 3,
                "constraints": [
                    asks("days", "<=", 5, name="haste"),
                    asks("days", "<=", 3, name="hurry"),
                ],
            },
            "'hurry' should be at most 3.",
        ),
        (
            8,
            3,
            {
                "min_days": 3,
                "constraints": [
                    asks("days", "<=", 5, name="haste"),
                    asks("days", "<=", 4, name="hurry"),
                ],
            },
            "'hurry' should be at most 4; 3 are enough.",
        ),
        # As many as the credits pay for, or the hands are for, and fewer still.
        (
            6,
            1,
            {"min_days": 1, "budget": 1880.0},
            "2 fewer leave credits for the samples; 1 is enough.",
        ),
        (
            6,
            1,
            {"min_days": 1, "budget": 1930.0},
            "1 fewer leaves credits for the samples; 1 is enough.",
        ),
        (4, 2, {"min_days": 2, "budget": 1780.0}, "2 fewer leave credits for the samples."),
        (
            4,
            2,
            {"min_days": 2, "budget": 1830.0},
            "1 fewer leaves credits for the samples; 2 are enough.",
        ),
        (
            8,
            2,
            {"min_days": 2, "days": 5, "budget": 1830.0},
            "The lab has 5 days; 2 fewer leave credits for the samples; 2 are enough.",
        ),
        # The credits are just enough for the fourth day, for which there is no hand.
        (
            5,
            2,
            {"min_days": 2, "budget": 1880.0, "staff": 1, "staff_model": ONE_HAND},
            "2 fewer leave hands for the samples; 2 are enough.",
        ),
    ],
)
def test_days_are_changed_for_the_reason_that_holds(
    before: int, after: int, lab: dict[str, object], reason: str
) -> None:
    pack = make_pack(**{"design": HALF, "constraints": [], **lab})
    plan = make_protocol(sample_size=128, duration_days=before)
    [change] = [each for each in least_loss(plan, pack).changes if each.field == "duration_days"]
    assert (change.revised, change.reason) == (str(after), reason)


RISES: Final = "Nothing of the evidence; the cost rises."
TARGET: Final = "It takes 128 samples to reach the study's target."
SHORT_OF_IT: Final = "Short of the study's target more samples show more"
LOST: Final[dict[str, object]] = {"min_days": 6, "days": 5}
FREE: Final = CostModel(per_sample=0.0)


@pytest.mark.parametrize(
    ("before", "after", "lab", "reason", "tradeoff"),
    [
        # more of them
        (10, 128, {}, TARGET, RISES),
        (10, 128, {"cost_model": FREE}, TARGET, "Nothing of the evidence."),
        # Above 100 samples it takes one more staff unit, which may be paid.
        (
            10,
            128,
            {"cost_model": FREE, "staff_model": StaffModel(sample_threshold=100)},
            TARGET,
            "Nothing of the evidence.",
        ),
        (
            10,
            128,
            {
                "cost_model": CostModel(per_sample=0.0, per_staff_day=1.0),
                "staff_model": StaffModel(sample_threshold=100),
            },
            TARGET,
            RISES,
        ),
        (
            10,
            128,
            {
                "cost_model": CostModel(per_sample=0.0, per_staff_day=1.0),
                "staff_model": StaffModel(sample_threshold=128),
            },
            TARGET,
            "Nothing of the evidence.",
        ),
        (
            0,
            3,
            LOST,
            "Fewer than 3 samples leave no experimental sample beside the controls.",
            RISES,
        ),
        (
            10,
            50,
            {**LOST, "constraints": [asks("samples", ">=", 50, hard=True)]},
            "The study's own constraints ask for 50 samples.",
            RISES,
        ),
        (
            10,
            50,
            {**LOST, "constraints": [asks("samples", ">=", 50)]},
            "'wish' should be at least 50.",
            RISES,
        ),
        # R's pwr: 85.03 a group have power 0.90, so 85 and 86 do.
        (
            128,
            171,
            {"constraints": [asks("evidence", ">=", 0.9)]},
            "'wish' should be at least 0.9; it takes 171 samples.",
            RISES,
        ),
        (
            128,
            171,
            {"constraints": [asks("evidence", ">=", 0.9, hard=True)]},
            "The study's own constraints ask for 171 samples.",
            RISES,
        ),
        # 85 and 86 have a power of 0.9016, 86 and 86 one of 0.9032.
        (
            128,
            172,
            {
                "constraints": [
                    asks("evidence", ">=", 0.9, name="most"),
                    asks("evidence", ">=", 0.902, name="more"),
                ]
            },
            "'more' should be at least 0.902; it takes 172 samples.",
            RISES,
        ),
        # All that exist cover 1, which is the number of days, too.
        (
            45,
            50,
            {
                "design": design_of(DesignKind.COVERAGE, population_max=50, target=0.9),
                "constraints": [asks("days", ">=", 1, name="long"), asks("evidence", ">=", 1)],
            },
            "'wish' should be at least 1; it takes 50 samples.",
            RISES,
        ),
        # 400 for items and controls, 250 for days, 10 each.
        (
            10,
            100,
            {"budget": 1650.0},
            f"{SHORT_OF_IT}; no more than 100 samples fit and count.",
            RISES,
        ),
        (
            10,
            90,
            {"budget": 1650.0, "constraints": [asks("samples", "<=", 90)]},
            f"{SHORT_OF_IT}; no more than 90 samples fit and count, unless more of the study's "
            "wishes are broken.",
            RISES,
        ),
        # No plan is paid for; what exists, or what the staff can do, is a limit all the same.
        (
            10,
            100,
            {"budget": 1.0, "design": HALF.model_copy(update={"population_max": 100})},
            f"{SHORT_OF_IT}; no more than 100 samples can count.",
            RISES,
        ),
        (
            10,
            100,
            {
                "budget": 1.0,
                "staff": 1,
                "staff_model": ONE_HAND.model_copy(
                    update={"sample_threshold": 100, "day_threshold": 99}
                ),
            },
            f"{SHORT_OF_IT}; no more than 100 samples fit and count, budget apart.",
            RISES,
        ),
        # fewer of them
        (
            200,
            128,
            {"budget": 2150.0},
            TARGET,
            "72 samples fewer: weaker evidence, which meets the target.",
        ),
        (
            200,
            100,
            {"budget": 1650.0},
            "No more than 100 samples fit and count.",
            "100 samples fewer: weaker evidence.",
        ),
        (
            200,
            100,
            {"budget": 1700.0, "design": HALF.model_copy(update={"population_max": 100})},
            "No more than 100 samples fit and count.",
            "100 samples fewer: the evidence is no weaker for it.",
        ),
        (
            50,
            3,
            {**LOST, "budget": 700.0},
            "The evidence is the same as with 50.",
            "47 samples fewer: the evidence is no weaker for it.",
        ),
        (
            200,
            150,
            {"budget": 2250.0, "constraints": [asks("samples", ">=", 150, hard=True)]},
            "The study's own constraints ask for 150 samples.",
            "50 samples fewer: weaker evidence, which meets the target.",
        ),
        # More must be planned than the 100 that can count in five days.
        (
            200,
            150,
            {
                "budget": 2250.0,
                "days": 5,
                "samples_per_day": make_throughput(),
                "constraints": [asks("samples", ">=", 150, hard=True)],
            },
            "The evidence is the same as with 100.",
            "50 samples fewer: the evidence is no weaker for it.",
        ),
        (
            200,
            150,
            {"budget": 2250.0, "constraints": [asks("samples", ">=", 150)]},
            "'wish' should be at least 150.",
            "50 samples fewer: weaker evidence, which meets the target.",
        ),
        (
            300,
            171,
            {"budget": 2650.0, "constraints": [asks("evidence", ">=", 0.9)]},
            "'wish' should be at least 0.9; it takes 171 samples.",
            "129 samples fewer: weaker evidence, which meets the target.",
        ),
        (
            200,
            90,
            {"budget": 1650.0, "constraints": [asks("samples", "<=", 90)]},
            "'wish' should be at most 90.",
            "110 samples fewer: weaker evidence.",
        ),
        (
            200,
            128,
            {"budget": 2150.0, "constraints": [asks("samples", "<=", 140)]},
            f"'wish' should be at most 140. {TARGET}",
            "72 samples fewer: weaker evidence, which meets the target.",
        ),
    ],
)
def test_samples_are_changed_for_the_reason_that_holds(
    before: int, after: int, lab: dict[str, object], reason: str, tradeoff: str
) -> None:
    pack = make_pack(**{"design": HALF, "constraints": [], "min_days": 5, **lab})
    plan = make_protocol(sample_size=before, duration_days=5)
    [change] = [each for each in least_loss(plan, pack).changes if each.field == "sample_size"]
    told = (change.revised, change.reason, change.tradeoff)
    assert told == (str(after), reason, tradeoff)


@pytest.mark.parametrize(
    ("constraints", "reason"),
    [
        # By scipy 124 have a power of 0.789, 125 one of 0.792, 126 one of 0.795.
        ([], "With it no more than 125 samples fit and count, short of the study's target."),
        (
            [asks("evidence", ">=", 0.79, hard=True)],
            "With it no more than 125 samples fit and count, short of the study's target.",
        ),
        ([asks("evidence", ">=", 0.793, hard=True)], "With it the plan fails on budget."),
    ],
)
def test_control_is_dropped_for_the_samples_that_it_costs(
    constraints: list[ScenarioConstraint], reason: str
) -> None:
    # 128 samples in 5 days cost 1,930 with both controls, and 25 less with one of them.
    pack = make_pack(design=HALF, constraints=constraints, budget=1905.0, min_days=5)
    plan = make_protocol(sample_size=128, duration_days=5)
    [change] = least_loss(plan, pack).changes
    assert (change.field, change.original) == ("controls", CONTROLS[1])
    assert change.reason == reason


def test_control_that_nothing_stands_against_is_dropped_for_what_it_costs() -> None:
    # Only a search that leaves plans out may drop it.
    plan = assess(make_protocol(controls=CONTROLS[:1]), make_pack())
    dropped = change_of("controls", CONTROLS[1], "none", "A reason.", "What is lost.")
    kept = change_of("controls", CONTROLS[0], "none", "A reason.", "What is lost.")
    found, same = with_reasons([dropped, kept], plan)
    assert found.reason == "With it the plan costs 25 credits more."
    assert same == kept


@pytest.mark.parametrize(
    ("further", "keeps"),
    [
        ([], "keeps 'wish', which should be at least 180."),
        ([asks("days", "<=", 9, name="haste")], "breaks so few of the study's wishes."),
    ],
)
def test_substitution_that_keeps_a_wish_says_so_and_no_other_change_does(
    further: list[ScenarioConstraint], keeps: str
) -> None:
    # 180 samples cost 2,450 with the window shelf and each control once, and 400 more with the
    # chamber, with which the money is for 140: more than the 128 of the target.
    pack = make_pack(
        design=HALF,
        constraints=[asks("samples", ">=", 180), *further],
        budget=2450.0,
        min_days=5,
        prices={EQUIPMENT[0]: 500.0},
    )
    kept = (
        "No revision that passes all seven dimensions, reaches the study's target and loses less "
        f"fidelity {keeps}"
    )
    # There is no money for a third control: what is listed twice is listed once, and beside one
    # of the plan's own the study's is dropped.
    for third, reason in (
        (CONTROLS[1], "The plan lists it more than once, and it is billed so."),
        ("grey light control", kept),
    ):
        plan = make_protocol(sample_size=128, duration_days=5, controls=[*CONTROLS, third])
        changes = least_loss(plan, pack).changes
        assert {each.field: each.reason for each in changes} == {
            "required_equipment": "'window shelf' costs 400 credits less here; allowed when the "
            f"chamber is booked. {kept}",
            "controls": reason,
            "sample_size": "'wish' should be at least 180.",
        }


@pytest.mark.parametrize(
    ("question", "whose"),
    [
        (EvidenceAssumptions(), "the study's target"),
        (EvidenceAssumptions(target=0.9), "the target"),
    ],
)
def test_target_of_ones_own_is_not_called_the_studys(
    question: EvidenceAssumptions, whose: str
) -> None:
    # Cohen (1988), table 2.4.1: at d = 0.5 and alpha 0.05, 64 a group have power 0.80.
    design = make_design(effect_planning=0.5, alpha=0.05, target=0.8, floor=0.5)
    for budget, told in (
        (1500.0, f"Short of {whose} more samples show more; "),  # pays for fewer than 128
        (5000.0, "It takes "),
    ):
        pack = make_pack(design=design, budget=budget).with_own(LabOverrides(), question)
        found = least_loss(make_protocol(sample_size=10), pack)
        [reason] = [each.reason for each in found.changes if each.field == "sample_size"]
        assert reason.startswith(told)
        assert whose in reason
