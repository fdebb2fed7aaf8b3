"""The contract's table of findings, row by row, and properties of any plan in any lab."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.assessment import assess
from replicalab.assessment.findings import (
    IssueCategory,
    Severity,
    ValidationIssue,
    ValidationResult,
)
from replicalab.models import Protocol
from replicalab.scenarios import Pack, list_scenarios, load_scenario
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    REAGENTS,
    change_pack,
    make_constraint,
    make_design,
    make_hidden_reference,
    make_pack,
    make_protocol,
    make_substitution,
    make_throughput,
)
from tests.golden import assert_golden
from tests.strategies import packs, protocols

CHAMBER, PLATES = EQUIPMENT[0], REAGENTS[0]
TWENTY_A_DAY: Final = {"samples_per_day": make_throughput(value=20)}
PRECISE: Final = make_design(kind="precision", effect_planning=0.1, target=0.01, floor=0.1)

Changes = dict[str, Any]


def needing(*elements: str) -> Changes:
    return {"hidden_reference_spec": make_hidden_reference(required_elements=list(elements))}


def bound(**changes: object) -> Changes:
    return {"constraints": [make_constraint(**{"label": "X", "unit": None, **changes})]}


def stand_in(original: str) -> Changes:
    swap = make_substitution(original=original, alternative="stand-in")
    return {"allowed_substitutions": [swap]}


AT_LEAST_14: Final[Changes] = {
    "bounds": "samples_per_condition", "conditions": 3, "comparator": ">=", "quantity": 14,
    "unit": "trays",
}  # fmt: skip
POWER: Final[Changes] = {"bounds": "evidence", "comparator": ">="}
WIDTH: Final[Changes] = {
    "design": PRECISE, **bound(bounds="evidence", comparator="<=", quantity=0.03)
}  # fmt: skip
CASES: Final[dict[str, tuple[Changes, Changes]]] = {
    # Changes of the plan that fits, and of its lab
    "nothing": ({}, {}),
    "no samples": ({"sample_size": 0, "controls": ["dark control"]}, {}),
    "one sample, no controls": ({"sample_size": 1, "controls": []}, needing()),
    "as many samples as controls": ({"sample_size": 2}, {}),
    "a sample beside the controls": ({"sample_size": 3}, {}),
    "no days": ({"duration_days": 0}, {"min_days": 3}),
    "a day short": ({"duration_days": 2}, {"min_days": 3}),
    "just enough days": ({"duration_days": 3}, {"min_days": 3}),
    "a day too many": ({"duration_days": 21}, {"days": 20}),
    "full throughput": ({"sample_size": 100}, TWENTY_A_DAY),
    "beyond the throughput": ({"sample_size": 101}, TWENTY_A_DAY),
    "all that exist": ({"sample_size": 1024}, {"design": make_design(population_max=1024)}),
    "more than exist": ({"sample_size": 5000}, {"design": make_design(population_max=1024)}),
    "at most 39": ({}, bound(bounds="samples", quantity=39, unit="trays")),
    "should be at most 39": ({}, bound(hard=False, bounds="samples", quantity=39)),
    "at most 40": ({}, bound(bounds="samples", quantity=40)),
    "exactly 1,041": (
        {"sample_size": 1040}, bound(bounds="samples", comparator="=", quantity=1041)
    ),
    "exactly 40": ({}, bound(bounds="samples", comparator="=", quantity=40)),
    "at least 6 days": ({}, bound(bounds="days", comparator=">=", quantity=6)),
    "at least 5 days": ({}, bound(bounds="days", comparator=">=", quantity=5)),
    "14 in each of 3": ({"sample_size": 41}, bound(**AT_LEAST_14)),
    "13 in each of 3": ({"sample_size": 41}, bound(**{**AT_LEAST_14, "quantity": 13})),
    # Power at n = 40 and d = 0.9 is 0.7920 by SciPy; the third decimal differs.
    "power of 0.793": ({}, bound(**POWER, quantity=0.793)),
    "power without evidence": ({"duration_days": 2}, bound(**POWER, quantity=0.1)),
    # 1.96 · 0.1 / √n: 0.0310 for 40 samples, 0.0299 for 43.
    "too wide": ({}, WIDTH),
    "narrow enough": ({"sample_size": 43}, WIDTH),
    "only stated": ({}, bound(bounds=None, comparator=">=", quantity=1000)),
    "booked": ({}, {"booked": {CHAMBER: 9}, "allowed_substitutions": []}),
    "booked, replaceable": ({}, {"booked": {CHAMBER: 9}, **stand_in(CHAMBER)}),
    "out of stock": ({}, {"out_of_stock": [PLATES]}),
    "booked and listed twice": (
        {"required_equipment": [CHAMBER, CHAMBER]}, {"booked": {CHAMBER: 9}}
    ),
    "unknown to the lab": ({"required_equipment": ["laser"], "required_reagents": ["helium"]}, {}),
    "other case and spacing": (
        {"required_equipment": ["große   strasse"]}, {"equipment": ["GROSSE  Straße", CHAMBER]}
    ),
    "elements left out": (
        {}, needing("dark control", "sealed envelopes", "blinded counting", "Trays of agar", "lid")
    ),
    **{
        f"{field} listed again": ({field: [first, f"  {first.upper()} ", first, *rest]}, {})
        for field, (first, *rest) in {
            "controls": CONTROLS, "required_equipment": EQUIPMENT, "required_reagents": REAGENTS
        }.items()
    },
}  # fmt: skip


def test_findings_read_as_written() -> None:
    lines = []
    for case, (plan, lab) in CASES.items():
        issues = assess(make_protocol(**plan), make_pack(**lab)).validation.issues
        lines += [case] * (not issues)
        lines += [f"{case}: {issue.severity} {issue.category}: {issue.message}" for issue in issues]
    assert_golden("paper_findings", "\n".join(lines))


@pytest.mark.parametrize(
    ("field", "value", "is_named"),
    [
        *(("technique", word, False) for word in ("sealed", "envelopes", "unsealed envelopes")),
        ("technique", "count in Sealed-Envelopes", True),
        ("rationale", "the envelopes stay sealed", True),
        ("controls", ["sealed envelopes", "dark control"], True),
        ("required_equipment", ["sealed envelopes"], True),
        ("required_reagents", ["sealed", "envelopes"], True),
    ],
)
def test_required_element_needs_all_its_words(field: str, value: object, is_named: bool) -> None:
    plan = assess(make_protocol(**{field: value}), make_pack(**needing("the sealed envelopes")))
    assert plan.missing_elements == (() if is_named else ("the sealed envelopes",))
    if not is_named:
        assert plan.validation.valid
        [issue] = plan.validation.issues
        assert issue.category is IssueCategory.REQUIRED_ELEMENT


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
def test_shipped_reference_has_no_findings(study: str) -> None:
    pack = load_scenario(study, "easy")
    assert assess(pack.reference_protocol, pack).validation.issues == []


@given(protocols(), packs(), st.none() | st.integers(1, 50))
def test_validation_never_raises_and_valid_means_no_error(
    protocol: Protocol, pack: Pack, rate: int | None
) -> None:
    throughput = None if rate is None else make_throughput(value=rate)
    result = assess(protocol, change_pack(pack, samples_per_day=throughput)).validation
    errors = [issue for issue in result.issues if issue.severity is Severity.ERROR]
    assert result.valid == (not errors)
    assert result.errors == errors
    assert ValidationResult.model_validate_json(result.model_dump_json()) == result


@pytest.mark.parametrize(("valid", "severity"), [(True, "error"), (False, "warning")])
def test_validation_result_refuses_a_contradiction(valid: bool, severity: str) -> None:
    issue = ValidationIssue(
        severity=Severity(severity), category=IssueCategory.DURATION, message="too long"
    )
    with pytest.raises(ValidationError, match="valid is"):
        ValidationResult(valid=valid, issues=[issue])
