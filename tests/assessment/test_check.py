"""The seven checks, row by row of the contract, and what holds for any plan in any lab."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from pydantic import ValidationError

import replicalab.agents
from replicalab.agents import FeasibilityCheckResult, check_feasibility, lab_manager_policy
from replicalab.assessment import assess
from replicalab.models import DIMENSIONS, Dimension, Protocol
from replicalab.scenarios import CostModel, Pack, StaffModel
from tests.factories import (
    EQUIPMENT,
    REAGENTS,
    make_design,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
from tests.strategies import itemised_protocols, packs, protocols, studied_packs

CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS
COST: Final = 400 + 250 + 50 + 200 + 150
"""Credits of the factory's plan: 40 samples, 5 days, 2 controls, 2 items of each kind."""


def reasons(protocol: Protocol, pack: Pack) -> dict[str, list[str]]:
    """Return the reasons of the dimensions that fail."""
    check = check_feasibility(protocol, pack)
    return {d.value: check.check(d).reasons for d in DIMENSIONS if not check.check(d).ok}


def test_public_surface_is_the_documents() -> None:
    assert replicalab.agents.__all__ == [
        "AlternativeSuggestion",
        "FeasibilityCheckResult",
        "RetryMetadata",
        "ScientistCallResult",
        "ScientistOutputParseError",
        "SuggestionChange",
        "build_baseline_scientist_action",
        "build_scientist_system_prompt",
        "call_scientist_with_retry",
        "check_feasibility",
        "compose_lab_manager_response",
        "format_scientist_observation",
        "parse_scientist_output",
        "suggest_alternative",
    ]
    assert all(hasattr(replicalab.agents, name) for name in replicalab.agents.__all__)


@pytest.mark.parametrize(
    "name",
    [
        "_build_protocol_check",
        "_check_budget",
        "_check_equipment",
        "_check_policy",
        "_check_reagents",
        "_check_schedule",
        "_check_staff",
        "_estimate_protocol_cost",
        "_estimate_staff_load",
        "_select_lab_manager_action_type",
    ],
)
def test_private_functions_bear_the_documents_names(name: str) -> None:
    assert callable(getattr(lab_manager_policy, name))


def test_check_passes_all_seven_dimensions_of_the_plan_that_fits() -> None:
    check = check_feasibility(make_protocol(), make_pack())
    assert reasons(make_protocol(), make_pack()) == {}
    assert check.feasible
    assert check.lab_feasible
    assert check.summary == "Feasible: all seven dimensions pass."
    assert check.substitution_options == {}


def test_dimensions_are_the_documents_seven_in_its_order() -> None:
    order = ["protocol", "budget", "equipment", "reagents", "schedule", "staff", "policy"]
    assert list(DIMENSIONS) == order
    assert list(FeasibilityCheckResult.model_fields)[:7] == order


# --- protocol ---------------------------------------------------------------------------------


def test_protocol_fails_with_every_error_of_validation_and_no_warning() -> None:
    protocol = make_protocol(sample_size=0, controls=["dark control"], duration_days=1)
    assert reasons(protocol, make_pack()) == {
        "protocol": [
            "Sample size is 0; plan at least 1 sample.",
            "1 control for 0 samples: no experimental samples remain; plan at least 2 samples.",
        ]
    }


def test_protocol_passes_with_warnings() -> None:
    check = check_feasibility(make_protocol(duration_days=1), make_pack(min_days=3))
    assert check.protocol_ok
    assert check.validation_result.issues != []


# --- budget -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (COST + 1, None),
        (COST, None),
        (COST - 1, "The plan costs 1,050 credits, 1 over the budget of 1,049."),
        (COST - 0.5, "The plan costs 1,050 credits, 0.50 over the budget of 1,049.50."),
    ],
)
def test_budget_passes_when_equal_and_fails_above(budget: float, message: str | None) -> None:
    expected = {"budget": [message]} if message else {}
    assert reasons(make_protocol(), make_pack(budget=budget)) == expected


def test_budget_bills_duplicates_as_listed() -> None:
    protocol = make_protocol(required_reagents=[PLATES, PLATES, BROTH])
    check = check_feasibility(protocol, make_pack(budget=COST))
    assert check.estimated_cost == COST + 75
    assert not check.budget_ok
    assert check.reagents_ok


def test_budget_uses_the_labs_own_rates() -> None:
    pack = make_pack(budget=COST, cost_model=CostModel(per_sample=20.0))
    assert check_feasibility(make_protocol(), pack).estimated_cost == COST + 400


# --- equipment and reagents -------------------------------------------------------------------


def test_equipment_fails_where_an_item_is_booked() -> None:
    pack = make_pack(booked={METER: 9}, allowed_substitutions=[])
    found = reasons(make_protocol(), pack)
    assert found["equipment"] == [
        f"'{METER}' is booked until day 9; nothing in this lab may replace it."
    ]
    assert list(found) == ["protocol", "equipment"]


def test_reagents_fail_where_an_item_is_out_of_stock() -> None:
    pack = make_pack(out_of_stock=[BROTH])
    found = reasons(make_protocol(), pack)
    assert found["reagents"] == [f"'{BROTH}' is out of stock; nothing in this lab may replace it."]
    assert list(found) == ["protocol", "reagents"]


def test_equipment_still_fails_where_a_replacement_is_at_hand() -> None:
    swaps = [
        make_substitution(alternative="window shelf"),
        make_substitution(alternative="roof rack"),
    ]
    pack = make_pack(booked={CHAMBER: 9}, allowed_substitutions=swaps)
    assert reasons(make_protocol(), pack) == {
        "equipment": [
            f"'{CHAMBER}' is booked until day 9; 'window shelf' or 'roof rack' may replace it."
        ]
    }


def test_items_that_the_lab_does_not_know_fail() -> None:
    protocol = make_protocol(required_equipment=["laser"], required_reagents=["helium"])
    assert reasons(protocol, make_pack()) == {
        "equipment": [
            "'laser' is not in this lab's inventory; nothing in this lab may replace it."
        ],
        "reagents": [
            "'helium' is not in this lab's inventory; nothing in this lab may replace it."
        ],
    }


def test_equipment_is_no_reagent_and_has_no_replacement_as_one() -> None:
    check = check_feasibility(make_protocol(required_reagents=[CHAMBER]), make_pack())
    assert check.reagents.reasons == [
        f"'{CHAMBER}' is not in this lab's inventory; nothing in this lab may replace it."
    ]
    assert check.substitution_options == {}


def test_an_item_is_named_once_however_often_it_is_listed() -> None:
    protocol = make_protocol(required_equipment=[CHAMBER, CHAMBER])
    check = check_feasibility(protocol, make_pack(booked={CHAMBER: 9}))
    assert len(check.equipment.reasons) == 1


def test_a_usable_alternative_counts_as_available() -> None:
    pack = make_pack(booked={CHAMBER: 9})
    protocol = make_protocol(required_equipment=["Window   SHELF", METER])
    assert reasons(protocol, pack) == {}


def test_a_usable_alternative_counts_as_available_even_where_nothing_is_missing() -> None:
    assert reasons(make_protocol(required_equipment=["window shelf"]), make_pack()) == {}


def test_an_alternative_of_a_reagent_is_no_equipment() -> None:
    swap = make_substitution(original=PLATES, alternative="filter paper")
    pack = make_pack(allowed_substitutions=[swap])
    assert reasons(make_protocol(required_reagents=["filter paper"]), pack) == {}
    assert list(reasons(make_protocol(required_equipment=["filter paper"]), pack)) == ["equipment"]


@pytest.mark.parametrize(
    ("means", "swap", "dimension"),
    [
        (
            {"booked": {CHAMBER: 9, METER: 2}},
            make_substitution(original=CHAMBER, alternative="Light   meter"),
            Dimension.EQUIPMENT,
        ),
        (
            {"out_of_stock": [PLATES, BROTH]},
            make_substitution(original=PLATES, alternative=BROTH),
            Dimension.REAGENTS,
        ),
    ],
)
def test_an_alternative_that_the_lab_lists_as_missing_is_not_usable(
    means: dict[str, Any], swap: object, dimension: Dimension
) -> None:
    pack = make_pack(**means, allowed_substitutions=[swap])
    check = check_feasibility(make_protocol(), pack)
    assert check.substitution_options == {}
    assert all("nothing in this lab may replace it" in r for r in check.check(dimension).reasons)


def test_substitution_options_follow_the_order_of_the_file() -> None:
    swaps = [
        make_substitution(original=PLATES, alternative="z paper"),
        make_substitution(original=CHAMBER.upper(), alternative="y shelf"),
        make_substitution(original=PLATES, alternative=BROTH),
        make_substitution(original=PLATES, alternative="a gel"),
        make_substitution(original=BROTH, alternative="tap water"),
    ]
    pack = make_pack(booked={CHAMBER: 9}, out_of_stock=[PLATES], allowed_substitutions=swaps)
    options = check_feasibility(make_protocol(), pack).substitution_options
    assert options == {CHAMBER: ["y shelf"], PLATES: ["z paper", BROTH, "a gel"]}
    assert list(options) == [CHAMBER, PLATES]


# --- schedule and staff -----------------------------------------------------------------------


@pytest.mark.parametrize(("days", "over"), [(19, None), (20, None), (21, 1), (30, 10)])
def test_schedule_passes_up_to_the_limit(days: int, over: int | None) -> None:
    check = check_feasibility(make_protocol(duration_days=days), make_pack(days=20))
    expected = [f"The plan takes {days} days, {over} over the limit of 20."] if over else []
    assert check.schedule.reasons == expected
    assert check.schedule_ok == (over is None)


@pytest.mark.parametrize(("staff", "ok"), [(1, False), (2, True), (3, True)])
def test_staff_passes_when_the_lab_has_enough(staff: int, ok: bool) -> None:
    check = check_feasibility(make_protocol(), make_pack(staff=staff))
    assert check.required_staff == 2
    assert check.staff_ok == ok


def test_staff_names_every_step_that_the_plan_takes() -> None:
    protocol = make_protocol(
        sample_size=21,
        controls=["a", "b", "c"],
        duration_days=6,
        required_equipment=[CHAMBER, METER, "window shelf"],
    )
    assert reasons(protocol, make_pack(staff=4))["staff"] == [
        "The plan needs 5 staff units (1 to start, 1 for more than 20 samples, 1 for more than 2 "
        "controls, 1 for more than 5 days, 1 for more than 2 equipment items); the lab has 4."
    ]


def test_staff_uses_the_labs_own_steps() -> None:
    own = StaffModel(base=2, sample_threshold=39)
    assert reasons(make_protocol(), make_pack(staff=2, staff_model=own)) == {
        "staff": [
            "The plan needs 3 staff units (2 to start, 1 for more than 39 samples); the lab has 2."
        ]
    }


# --- policy -----------------------------------------------------------------------------------


def test_policy_reason_quotes_phrase_field_and_restriction() -> None:
    rule = make_policy_rule(restriction="No open flames.", forbidden_phrases=["Open Flame"])
    protocol = make_protocol(technique="count beside an open-flame burner")
    assert reasons(protocol, make_pack(policy_rules=[rule])) == {
        "policy": ["'Open Flame' in technique breaks the restriction: No open flames."]
    }


def test_policy_passes_a_negated_phrase() -> None:
    protocol = make_protocol(rationale="We work without any open flame.")
    assert reasons(protocol, make_pack(policy_rules=[make_policy_rule()])) == {}


def test_policy_lists_every_broken_phrase() -> None:
    protocol = make_protocol(technique="open flame", controls=["open flame"])
    check = check_feasibility(protocol, make_pack(policy_rules=[make_policy_rule()]))
    assert len(check.policy.reasons) == 2


# --- the result -------------------------------------------------------------------------------


def test_summary_names_what_fails_in_the_documents_order() -> None:
    one = check_feasibility(make_protocol(), make_pack(staff=1))
    assert one.summary == "Not feasible: staff fails."
    many = check_feasibility(
        make_protocol(technique="open flame", duration_days=9),
        make_pack(budget=10, days=8, staff=1),
    )
    assert many.summary == "Not feasible: protocol, budget, schedule, staff, policy fail."
    assert many.failing == ["protocol", "budget", "schedule", "staff", "policy"]


@pytest.mark.parametrize("dimension", [d for d in DIMENSIONS if d is not Dimension.POLICY])
def test_each_flag_tells_of_its_own_dimension(dimension: Dimension) -> None:
    failing = check_feasibility(make_protocol(), make_pack()).model_dump()
    del failing["feasible"], failing["summary"]
    failing[dimension] = {"ok": False, "reasons": ["because"]}
    check = FeasibilityCheckResult.model_validate(failing)
    flags = {d: getattr(check, f"{d}_ok") for d in DIMENSIONS if d is not Dimension.POLICY}
    assert [d for d, ok in flags.items() if not ok] == [dimension]
    assert check.failing == [dimension]
    assert not check.feasible
    assert check.lab_feasible == (dimension is Dimension.PROTOCOL)


def test_a_broken_policy_alone_leaves_the_lab_feasible() -> None:
    check = check_feasibility(make_protocol(technique="open flame"), make_pack())
    assert (check.lab_feasible, check.feasible) == (True, False)


@given(protocols(), packs())
def test_check_survives_a_round_trip_with_its_computed_fields(
    protocol: Protocol, pack: Pack
) -> None:
    check = check_feasibility(protocol, pack)
    dump = check.model_dump()
    assert dump["feasible"] == check.feasible
    assert dump["summary"] == check.summary
    assert FeasibilityCheckResult.model_validate(dump) == check
    assert FeasibilityCheckResult.model_validate(check.model_dump(mode="json")) == check
    assert FeasibilityCheckResult.model_validate_json(check.model_dump_json()) == check
    assert FeasibilityCheckResult.model_validate(check) is check


@pytest.mark.parametrize(
    ("field", "value"), [("feasible", False), ("summary", "Not feasible: staff fails.")]
)
def test_check_refuses_a_dump_that_contradicts_itself(field: str, value: object) -> None:
    dump = check_feasibility(make_protocol(), make_pack()).model_dump()
    with pytest.raises(ValidationError, match=f"{field} is"):
        FeasibilityCheckResult.model_validate({**dump, field: value})


def test_check_refuses_an_unknown_key() -> None:
    dump = check_feasibility(make_protocol(), make_pack()).model_dump()
    with pytest.raises(ValidationError, match="Extra inputs"):
        FeasibilityCheckResult.model_validate({**dump, "policy_ok": True})


@pytest.mark.parametrize("field", list(FeasibilityCheckResult.model_fields))
def test_check_needs_every_field(field: str) -> None:
    dump = check_feasibility(make_protocol(), make_pack()).model_dump()
    del dump[field]
    with pytest.raises(ValidationError, match="Field required"):
        FeasibilityCheckResult.model_validate(dump)


@given(itemised_protocols(), studied_packs())
def test_check_is_deterministic_and_leaves_its_inputs_alone(protocol: Protocol, pack: Pack) -> None:
    before = protocol.model_dump(), pack.model_dump()
    first = check_feasibility(protocol, pack)
    again = check_feasibility(Protocol.model_validate(before[0]), Pack.model_validate(before[1]))
    assert first == again
    assert (protocol.model_dump(), pack.model_dump()) == before


@given(itemised_protocols(), studied_packs())
def test_check_follows_the_document_in_any_lab(protocol: Protocol, pack: Pack) -> None:
    check = check_feasibility(protocol, pack)
    rates, steps = pack.cost_model, pack.staff_model
    equipment, reagents = protocol.required_equipment, protocol.required_reagents
    assert check.estimated_cost == (
        protocol.sample_size * rates.per_sample
        + protocol.duration_days * rates.per_day
        + len(protocol.controls) * rates.per_control
        + len(equipment) * 100
        + len(reagents) * 75
    )
    assert check.required_staff == sum(
        [
            steps.base,
            protocol.sample_size > steps.sample_threshold,
            len(protocol.controls) > 2,
            protocol.duration_days > 5,
            len(equipment) > 2,
        ]
    )
    assert check.budget_ok == (check.estimated_cost <= pack.lab.budget)
    assert check.staff_ok == (check.required_staff <= pack.lab.staff)
    assert check.schedule_ok == (protocol.duration_days <= pack.lab.days)
    assert check.validation_result == assess(protocol, pack).validation
    assert check.protocol_ok == check.validation_result.valid
    assert check.equipment_ok == set(equipment).issubset(free_items(pack, EQUIPMENT))
    assert check.reagents_ok == set(reagents).issubset(free_items(pack, REAGENTS))
    assert all(check.check(d).ok == (not check.check(d).reasons) for d in DIMENSIONS)


def free_items(pack: Pack, own: tuple[str, ...]) -> set[str]:
    """Return what the lab can use of one kind: its own items, and alternatives to them."""
    missing = {*pack.lab.booked, *pack.lab.out_of_stock}
    return {
        *own,
        *(s.alternative for s in pack.allowed_substitutions if s.original in own),
    } - missing


def test_check_is_the_same_at_any_evidence_design() -> None:
    other = make_pack(design=make_design(kind="paired", target=0.99))
    assert check_feasibility(make_protocol(), other) == check_feasibility(
        make_protocol(), make_pack()
    )
