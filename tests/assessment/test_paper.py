"""The contract's table of findings, row by row, and what holds for any plan in any lab."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.assessment import (
    REQUIRED_ELEMENT,
    Severity,
    ValidationIssue,
    ValidationResult,
    assess,
)
from replicalab.models import Protocol
from replicalab.scenarios import Pack, list_scenarios, load_scenario
from tests.factories import (
    change_pack,
    make_constraint,
    make_design,
    make_hidden_reference,
    make_pack,
    make_protocol,
    make_substitution,
    make_throughput,
)
from tests.strategies import packs, protocols

CHAMBER: Final = "growth chamber"
PLATES: Final = "agar plates"
PACKS: Final = [
    load_scenario(study.scenario_id, difficulty)
    for study in list_scenarios()
    for difficulty in ("easy", "medium", "hard")
]


def found(protocol: Protocol, pack: Pack | None = None) -> list[tuple[str, ...]]:
    """Return the findings as (severity, category, message)."""
    result = assess(protocol, pack or make_pack()).validation
    return [(issue.severity, issue.category, issue.message) for issue in result.issues]


def test_validation_finds_nothing_in_the_plan_that_fits() -> None:
    assert assess(make_protocol(), make_pack()).validation == ValidationResult(
        valid=True, issues=[]
    )


def test_validation_without_samples_is_an_error() -> None:
    assert found(make_protocol(sample_size=0, controls=["dark control"])) == [
        ("error", "sample_size", "Sample size is 0; plan at least 1 sample."),
        (
            "error",
            "sample_controls",
            "1 control for 0 samples: no experimental samples remain; plan at least 2 samples.",
        ),
    ]


def test_validation_accepts_one_sample_without_controls() -> None:
    pack = make_pack(hidden_reference_spec=make_hidden_reference(required_elements=[]))
    assert found(make_protocol(sample_size=1, controls=[]), pack) == [
        ("warning", "controls", "No controls: nothing guards the result against artefacts.")
    ]


@pytest.mark.parametrize(
    ("days", "issues"),
    [
        (
            0,
            [
                ("error", "duration", "Duration is 0 days; plan at least 1 day."),
                (
                    "warning",
                    "duration",
                    "Duration is 0 days; below 3 the study's endpoint is lost.",
                ),
            ],
        ),
        (1, [("warning", "duration", "Duration is 1 day; below 3 the study's endpoint is lost.")]),
        (2, [("warning", "duration", "Duration is 2 days; below 3 the study's endpoint is lost.")]),
        (3, []),
        (20, []),
        (21, [("error", "duration", "Duration is 21 days; this lab has 20.")]),
    ],
)
def test_validation_of_the_duration(days: int, issues: list[tuple[str, ...]]) -> None:
    pack = make_pack(days=20, min_days=3)
    assert found(make_protocol(duration_days=days), pack) == issues


def test_validation_warns_of_the_endpoint_even_where_the_lab_has_no_more_days() -> None:
    pack = make_pack(days=1, min_days=3)
    assert found(make_protocol(duration_days=2), pack) == [
        ("error", "duration", "Duration is 2 days; this lab has 1."),
        ("warning", "duration", "Duration is 2 days; below 3 the study's endpoint is lost."),
    ]


@pytest.mark.parametrize(
    ("samples", "days", "message"),
    [
        (100, 5, None),
        (101, 5, "101 samples in 5 days; at 20 a day only 100 of them can count."),
        (40, 0, "40 samples in 0 days; at 20 a day only 0 of them can count."),
        (21, 1, "21 samples in 1 day; at 20 a day only 20 of them can count."),
    ],
)
def test_validation_warns_above_the_throughput(
    samples: int, days: int, message: str | None
) -> None:
    pack = make_pack(samples_per_day=make_throughput(value=20))
    issues = found(make_protocol(sample_size=samples, duration_days=days), pack)
    expected = [("warning", "throughput", message)] if message else []
    assert [issue for issue in issues if issue[1] == "throughput"] == expected


def test_validation_warns_above_all_the_units_that_exist() -> None:
    pack = make_pack(samples_per_day=None, design=make_design(population_max=1024))
    message = "5,000 samples planned; the study has 1,024, so 3,976 cannot count."
    assert found(make_protocol(sample_size=5000), pack) == [("warning", "throughput", message)]
    assert found(make_protocol(sample_size=1024), pack) == []


def test_validation_knows_no_throughput_where_units_run_in_parallel() -> None:
    assert found(make_protocol(sample_size=10**6), make_pack(samples_per_day=None)) == []


@pytest.mark.parametrize(("samples", "errors"), [(1, 1), (2, 1), (3, 0)])
def test_validation_needs_more_samples_than_controls(samples: int, errors: int) -> None:
    message = (
        f"2 controls for {samples} sample{'s' if samples > 1 else ''}: no experimental samples "
        "remain; plan at least 3 samples."
    )
    issues = found(make_protocol(sample_size=samples, controls=["dark control", "white light"]))
    assert issues == [("error", "sample_controls", message)] * errors


# --- The study's own constraints ---


@pytest.mark.parametrize(
    ("constraint", "plan", "said"),
    [
        (
            {"bounds": "samples", "comparator": "<=", "quantity": 39, "unit": "trays"},
            {},
            "Sample size is 40; the study's 'X' must be at most 39 trays.",
        ),
        (
            {"bounds": "samples", "comparator": "=", "quantity": 1041, "unit": None},
            {"sample_size": 1040},
            "Sample size is 1,040; the study's 'X' must be exactly 1,041.",
        ),
        (
            {"bounds": "days", "comparator": ">=", "quantity": 6, "unit": "days"},
            {},
            "Duration is 5 days; the study's 'X' must be at least 6 days.",
        ),
        (
            {
                "bounds": "samples_per_condition",
                "conditions": 3,
                "comparator": ">=",
                "quantity": 14,
                "unit": "trays",
            },
            {"sample_size": 41},
            "Sample size is 41; the study's 'X' must be at least 14 trays in each of 3 conditions: "
            "at least 42 in all.",
        ),
        (
            # Power at n = 40 and d = 0.9 is 0.7920 by SciPy; a third decimal tells it apart.
            {"bounds": "evidence", "comparator": ">=", "quantity": 0.793, "unit": None},
            {},
            "The planned power is 0.792; the study's 'X' must be at least 0.793.",
        ),
        (
            {"bounds": "evidence", "comparator": ">=", "quantity": 0.1, "unit": None},
            {"duration_days": 2},
            "The plan yields no evidence; the study's 'X' must be at least 0.1.",
        ),
    ],
    ids=["most", "exactly", "least", "shared", "evidence", "void"],
)
def test_broken_constraint_of_the_study_is_an_error_if_hard_and_else_a_warning(
    constraint: dict[str, object], plan: dict[str, object], said: str
) -> None:
    for hard, severity, text in (
        (True, "error", said),
        (False, "warning", said.replace(" must be ", " should be ")),
    ):
        pack = make_pack(constraints=[make_constraint(label="X", hard=hard, **constraint)])
        assert (severity, "constraint", text) in found(make_protocol(**plan), pack)


def test_precision_is_bounded_from_above() -> None:
    precise = make_design(kind="precision", effect_planning=0.1, target=0.01, floor=0.1)
    bound = make_constraint(label="X", bounds="evidence", comparator="<=", quantity=0.03, unit=None)
    pack = make_pack(design=precise, constraints=[bound])
    # 1.96 · 0.1 / √n: 0.0310 for 40 samples, 0.0299 for 43.
    assert found(make_protocol(), pack) == [
        ("error", "constraint", "The planned half-width is 0.031; the study's 'X' must be "
         "at most 0.03."),
    ]  # fmt: skip
    assert found(make_protocol(sample_size=43), pack) == []


@pytest.mark.parametrize(
    ("constraint", "plan"),
    [
        ({"bounds": "samples", "comparator": "<=", "quantity": 40}, {}),
        ({"bounds": "samples", "comparator": "=", "quantity": 40}, {}),
        ({"bounds": "days", "comparator": ">=", "quantity": 5}, {}),
        (
            {
                "bounds": "samples_per_condition",
                "conditions": 3,
                "comparator": ">=",
                "quantity": 13,
            },
            {"sample_size": 41},
        ),
        ({"bounds": None, "comparator": ">=", "quantity": 1000}, {}),
        ({"bounds": None, "comparator": "=", "quantity": None}, {}),
    ],
)
def test_constraint_that_is_kept_or_only_stated_draws_no_finding(
    constraint: dict[str, object], plan: dict[str, object]
) -> None:
    pack = make_pack(constraints=[make_constraint(**constraint)])
    assert found(make_protocol(**plan), pack) == []


@pytest.mark.parametrize(
    ("field", "category"),
    [
        ("controls", "duplicate_controls"),
        ("required_equipment", "duplicate_equipment"),
        ("required_reagents", "duplicate_reagents"),
    ],
)
def test_validation_warns_once_of_a_label_listed_again(field: str, category: str) -> None:
    first = getattr(make_protocol(), field)[0]
    labels = [first, f"  {first.upper()} ", first, first.replace(" ", "   ")]
    kept = [label for label in getattr(make_protocol(), field) if label != first]
    issues = found(make_protocol(**{field: [*labels, *kept]}))
    assert issues == [("warning", category, f"'{first}' is listed more than once, and billed so.")]


@pytest.mark.parametrize(
    ("means", "category", "status"),
    [
        ({"booked": {CHAMBER: 9}}, "equipment", "booked"),
        ({"out_of_stock": [PLATES]}, "reagent", "out of stock"),
    ],
)
@pytest.mark.parametrize("replaceable", [False, True])
def test_validation_of_an_item_that_the_lab_lacks(
    means: dict[str, object], category: str, status: str, replaceable: bool
) -> None:
    label = CHAMBER if category == "equipment" else PLATES
    swaps = [make_substitution(original=label, alternative="stand-in")] if replaceable else []
    pack = make_pack(**means, allowed_substitutions=swaps)
    expected = (
        ("warning", category, f"'{label}' is {status}; could use 'stand-in'.")
        if replaceable
        else ("error", category, f"'{label}' is {status} and nothing may replace it.")
    )
    assert found(make_protocol(), pack) == [expected]


def test_validation_names_a_missing_item_once_however_often_it_is_listed() -> None:
    pack = make_pack(booked={CHAMBER: 9})
    issues = found(make_protocol(required_equipment=[CHAMBER, CHAMBER]), pack)
    assert [category for _, category, _ in issues] == ["duplicate_equipment", "equipment"]


def test_validation_of_an_item_whose_replacement_is_booked_too() -> None:
    swap = make_substitution(original=CHAMBER, alternative="Light  METER")
    pack = make_pack(booked={CHAMBER: 9, "light meter": 9}, allowed_substitutions=[swap])
    assert found(make_protocol(required_equipment=[CHAMBER]), pack) == [
        ("error", "equipment", f"'{CHAMBER}' is booked and nothing may replace it.")
    ]


def test_validation_only_warns_of_an_item_that_the_lab_does_not_know() -> None:
    issues = found(make_protocol(required_equipment=["laser"], required_reagents=["helium"]))
    assert issues == [
        ("warning", "equipment", "'laser' is not in this lab's inventory."),
        ("warning", "reagent", "'helium' is not in this lab's inventory."),
    ]


def test_validation_takes_equipment_listed_as_a_reagent_for_unknown() -> None:
    assert found(make_protocol(required_reagents=[CHAMBER])) == [
        ("warning", "reagent", f"'{CHAMBER}' is not in this lab's inventory.")
    ]


def test_validation_accepts_a_usable_replacement_as_an_item() -> None:
    pack = make_pack(booked={CHAMBER: 9})
    assert found(make_protocol(required_equipment=["Window   shelf"]), pack) == []


def test_validation_compares_labels_without_case_and_spacing() -> None:
    pack = make_pack(equipment=["GROSSE  Straße", CHAMBER])
    assert found(make_protocol(required_equipment=["große   strasse"]), pack) == []


def test_validation_warns_of_each_required_element_that_the_plan_leaves_out() -> None:
    spec = make_hidden_reference(
        required_elements=["dark control", "sealed envelopes", "blinded counting", "Trays of agar"]
    )
    assert found(make_protocol(), make_pack(hidden_reference_spec=spec)) == [
        ("warning", "required_element", "Not addressed by the plan: sealed envelopes.")
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("technique", "count in Sealed-Envelopes"),
        ("rationale", "the envelopes stay sealed"),
        ("controls", ["sealed envelopes", "dark control"]),
        ("required_equipment", ["sealed envelopes"]),
        ("required_reagents", ["sealed", "envelopes"]),
    ],
)
def test_required_element_is_addressed_by_its_words_in_any_field(field: str, value: object) -> None:
    spec = make_hidden_reference(required_elements=["the sealed envelopes"])
    pack = make_pack(hidden_reference_spec=spec)
    assert list(assess(make_protocol(), pack).missing_elements) == ["the sealed envelopes"]
    assert list(assess(make_protocol(**{field: value}), pack).missing_elements) == []


@pytest.mark.parametrize("word", ["sealed", "envelopes", "unsealed envelopes", "sealed envelope"])
def test_required_element_is_not_addressed_by_a_part_of_its_words(word: str) -> None:
    spec = make_hidden_reference(required_elements=["sealed envelopes"])
    protocol = make_protocol(technique=word)
    assert assess(protocol, make_pack(hidden_reference_spec=spec)).missing_elements == (
        "sealed envelopes",
    )


def test_required_element_never_makes_a_plan_invalid() -> None:
    spec = make_hidden_reference(required_elements=["sealed envelopes"])
    result = assess(make_protocol(), make_pack(hidden_reference_spec=spec)).validation
    assert result.valid
    assert [issue.category for issue in result.warnings] == [REQUIRED_ELEMENT]


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: f"{pack.scenario_id}-{pack.difficulty}")
def test_shipped_reference_protocol_addresses_every_required_element(
    pack: Pack,
) -> None:
    assert list(assess(pack.reference_protocol, pack).missing_elements) == []


@pytest.mark.parametrize(
    "pack",
    [pack for pack in PACKS if pack.difficulty == "easy"],
    ids=lambda pack: pack.scenario_id,
)
def test_shipped_reference_protocol_draws_no_finding_in_the_easy_lab(
    pack: Pack,
) -> None:
    assert assess(pack.reference_protocol, pack).validation.issues == []


@given(protocols(), packs(), st.none() | st.integers(1, 50))
def test_validation_never_raises_and_valid_means_no_error(
    protocol: Protocol, pack: Pack, rate: int | None
) -> None:
    throughput = None if rate is None else make_throughput(value=rate)
    pack = change_pack(pack, samples_per_day=throughput)
    result = assess(protocol, pack).validation
    errors = [issue for issue in result.issues if issue.severity is Severity.ERROR]
    assert result.valid == (not errors)
    assert result.errors == errors
    assert result.errors + result.warnings == sorted(
        result.issues, key=lambda issue: issue.severity is Severity.WARNING
    )
    assert assess(protocol, pack).validation == result


@given(protocols(), packs())
def test_validation_result_survives_a_round_trip(protocol: Protocol, pack: Pack) -> None:
    result = assess(protocol, pack).validation
    assert ValidationResult.model_validate(result.model_dump()) == result
    assert ValidationResult.model_validate_json(result.model_dump_json()) == result


@pytest.mark.parametrize(("valid", "severity"), [(True, "error"), (False, "warning")])
def test_validation_result_refuses_a_contradiction(valid: bool, severity: str) -> None:
    issue = ValidationIssue(severity=Severity(severity), category="duration", message="too long")
    with pytest.raises(ValidationError, match="valid is"):
        ValidationResult(valid=valid, issues=[issue])
