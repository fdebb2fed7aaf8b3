"""The seven checks, row by row of the contract, and properties of any plan in any lab."""

from typing import Any, Final

import pytest
from hypothesis import given
from pydantic import ValidationError

from replicalab.agents import FeasibilityCheckResult, check_feasibility, lab_manager_policy
from replicalab.assessment import assess
from replicalab.models import DIMENSIONS, Dimension, Protocol
from replicalab.scenarios import Pack
from tests.factories import (
    EQUIPMENT,
    REAGENTS,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
from tests.golden import assert_golden
from tests.strategies import itemised_protocols, packs, protocols, studied_packs

CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS
COST: Final = 400 + 250 + 50 + 200 + 150
"""Credits of the factory's plan: 40 samples, 5 days, 2 controls, 2 items of each kind."""
ITEMS: Final = "required_equipment"
NO_SWAPS: Final[dict[str, Any]] = {"allowed_substitutions": []}

CASES: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    # Changes of the plan that fits, and of its lab
    "the plan that fits": ({}, {}),
    "just the budget": ({}, {"budget": COST}),
    "a credit short": ({}, {"budget": COST - 1}),
    "half a credit short": ({}, {"budget": COST - 0.5}),
    "booked": ({}, {"booked": {METER: 9}, **NO_SWAPS}),
    "out of stock": ({}, {"out_of_stock": [BROTH]}),
    "booked, with replacements": (
        {}, {"booked": {CHAMBER: 9}, "allowed_substitutions": [
            make_substitution(alternative=other) for other in ("window shelf", "roof rack")
        ]},
    ),
    "unknown to the lab": ({ITEMS: ["laser"], "required_reagents": ["helium"]}, {}),
    "an item is named once": ({ITEMS: [CHAMBER, CHAMBER]}, {"booked": {CHAMBER: 9}}),
    "a day too long": ({"duration_days": 21}, {"days": 20}),
    "a staff unit short": ({}, {"staff": 1}),
    "every step of the staff": (
        {"sample_size": 21, "controls": ["a", "b", "c"], "duration_days": 6,
         ITEMS: [CHAMBER, METER, "window shelf"]}, {"staff": 4},
    ),
    "a broken restriction": (
        {"technique": "count beside an open-flame burner", "controls": ["open flame", "dark"]},
        {"policy_rules": [make_policy_rule(forbidden_phrases=["Open Flame"])]},
    ),
    "much at once": (
        {"technique": "open flame", "duration_days": 9}, {"budget": 10, "days": 8, "staff": 1},
    ),
}  # fmt: skip


def test_reasons_and_summaries_read_as_written() -> None:
    lines = []
    for case, (plan, lab) in CASES.items():
        check = check_feasibility(make_protocol(**plan), make_pack(**lab))
        lines += [f"{case}: {check.summary}"]
        lines += [f"- {d}: {why}" for d in DIMENSIONS for why in check.check(d).reasons]
    assert_golden("check_reasons", "\n".join(lines))


def test_functions_bear_the_documents_names() -> None:
    names = (
        "_build_protocol_check _check_budget _check_equipment _check_policy _check_reagents "
        "_check_schedule _check_staff _estimate_protocol_cost _estimate_staff_load "
        "_select_lab_manager_action_type"
    )  # tests/agents calls the others
    assert all(callable(getattr(lab_manager_policy, name)) for name in names.split())


def test_substitution_options_follow_the_file() -> None:
    swaps = [
        make_substitution(original=PLATES, alternative="z paper"),
        make_substitution(original=CHAMBER.upper(), alternative="y shelf"),
        make_substitution(original=PLATES, alternative=BROTH),
        make_substitution(original=CHAMBER, alternative=f" {METER}"),
        make_substitution(original=PLATES, alternative="a gel"),
        make_substitution(original=BROTH, alternative="tap water"),
    ]
    booked = {CHAMBER: 9, METER: 9}
    pack = make_pack(booked=booked, out_of_stock=[PLATES], allowed_substitutions=swaps)
    options = check_feasibility(make_protocol(required_reagents=[*REAGENTS, CHAMBER]), pack)
    assert options.substitution_options == {
        CHAMBER: ["y shelf"],
        PLATES: ["z paper", BROTH, "a gel"],
    }
    assert list(options.substitution_options) == [CHAMBER, PLATES]
    as_a_reagent = make_protocol(required_reagents=[CHAMBER])
    assert check_feasibility(as_a_reagent, make_pack()).substitution_options == {}


@given(protocols(), packs())
def test_check_survives_a_round_trip(protocol: Protocol, pack: Pack) -> None:
    check = check_feasibility(protocol, pack)
    dump = check.model_dump()
    assert (dump["feasible"], dump["summary"]) == (check.feasible, check.summary)
    assert FeasibilityCheckResult.model_validate(dump) == check
    assert FeasibilityCheckResult.model_validate_json(check.model_dump_json()) == check
    assert FeasibilityCheckResult.model_validate(check) is check


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feasible": False}, "feasible is"),
        ({"summary": "Not feasible: staff fails."}, "summary is"),
        ({"policy_ok": True}, "Extra inputs"),
    ],
)
def test_check_refuses_a_contradicting_dump(changes: dict[str, object], message: str) -> None:
    dump = check_feasibility(make_protocol(), make_pack()).model_dump()
    with pytest.raises(ValidationError, match=message):
        FeasibilityCheckResult.model_validate({**dump, **changes})


@given(itemised_protocols(), studied_packs())
def test_judging_is_deterministic_and_leaves_its_inputs_alone(
    protocol: Protocol, pack: Pack
) -> None:
    before = protocol.model_dump(), pack.model_dump()
    first = assess(protocol, pack)
    again = assess(Protocol.model_validate(before[0]), Pack.model_validate(before[1]))
    assert check_feasibility(protocol, pack) == first.check == again.check
    assert first.check.validation_result == first.validation
    assert first.evidence == again.evidence
    assert (protocol.model_dump(), pack.model_dump()) == before


@given(itemised_protocols(), studied_packs())
def test_causes_leave_out_a_repeating_protocol(plan: Protocol, pack: Pack) -> None:
    judged = assess(plan, pack)
    check = judged.check
    assert bool(judged.causes) == (not check.feasible)
    flags = {d: getattr(check, f"{d}_ok") for d in DIMENSIONS if d is not Dimension.POLICY}
    assert [d for d, ok in flags.items() if not ok] == [d for d in check.failing if d in flags]
    assert {*check.failing} - {*judged.causes} <= {Dimension.PROTOCOL}
    assert (judged.causes == check.failing) or judged.repeated
