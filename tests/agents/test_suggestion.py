"""The four fixes in the document's order, the staff step, and what every suggestion keeps to."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.agents import (
    AlternativeSuggestion,
    SuggestionChange,
    check_feasibility,
    suggest_alternative,
)
from replicalab.agents.suggestions import DROPPED, apply_changes
from replicalab.models import Protocol, revise
from replicalab.scenarios import CostModel, Pack, StaffModel
from tests.factories import (
    EQUIPMENT,
    REAGENTS,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
from tests.strategies import itemised_protocols, protocols, studied_packs

CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS
REST: Final = 250 + 50 + 200 + 150
"""Credits of the factory's plan without its samples, which cost 10 each."""


def suggest(protocol: Protocol, pack: Pack) -> AlternativeSuggestion:
    """Return the suggestion for a plan that needs one."""
    suggestion = suggest_alternative(protocol, check_feasibility(protocol, pack), pack)
    assert suggestion is not None
    return suggestion


def changed(suggestion: AlternativeSuggestion) -> list[tuple[str, str, str]]:
    return [
        (change.field, change.original, change.revised) for change in suggestion.applied_changes
    ]


def afford(samples: int) -> float:
    """Return the budget that fits the factory's plan with that many samples, exactly."""
    return float(REST + 10 * samples)


# --- fixes 1 and 2: substitution --------------------------------------------------------------


def test_substitution_replaces_a_booked_item_in_its_place() -> None:
    suggestion = suggest(make_protocol(), make_pack(booked={CHAMBER: 9}))
    assert suggestion.revised_protocol == make_protocol(required_equipment=["window shelf", METER])
    assert suggestion.applied_changes == [
        SuggestionChange(
            field="required_equipment",
            original=CHAMBER,
            revised="window shelf",
            reason="'growth chamber' is booked until day 9; allowed when the chamber is booked.",
            tradeoff="Temperature varies more.",
        )
    ]


def test_substitution_replaces_a_reagent_that_is_out_of_stock() -> None:
    swap = make_substitution(
        original=PLATES, alternative="filter paper", condition="if kept wet", tradeoff="Dries out."
    )
    pack = make_pack(out_of_stock=[PLATES], allowed_substitutions=[swap])
    suggestion = suggest(make_protocol(), pack)
    assert suggestion.revised_protocol.required_reagents == ["filter paper", BROTH]
    assert (
        suggestion.applied_changes[0].reason
        == "'agar plates' is out of stock; allowed if kept wet."
    )
    assert suggestion.applied_changes[0].tradeoff == "Dries out."


def test_substitution_takes_the_first_usable_alternative_of_the_file() -> None:
    swaps = [
        make_substitution(original=CHAMBER, alternative=METER),  # booked
        make_substitution(original=CHAMBER, alternative="z shelf"),
        make_substitution(original=CHAMBER, alternative="a shelf"),
    ]
    pack = make_pack(booked={CHAMBER: 9, METER: 9}, allowed_substitutions=swaps)
    suggestion = suggest(make_protocol(required_equipment=[CHAMBER]), pack)
    assert changed(suggestion) == [("required_equipment", CHAMBER, "z shelf")]


def test_substitution_passes_over_what_the_plan_already_lists() -> None:
    swaps = [
        make_substitution(original=CHAMBER, alternative=f"  {METER.upper()}"),
        make_substitution(original=CHAMBER, alternative="a shelf"),
    ]
    pack = make_pack(booked={CHAMBER: 9}, allowed_substitutions=swaps)
    assert changed(suggest(make_protocol(), pack)) == [("required_equipment", CHAMBER, "a shelf")]


def test_substitution_gives_two_items_two_different_alternatives() -> None:
    swaps = [
        make_substitution(original=item, alternative=alternative)
        for item in EQUIPMENT
        for alternative in ("kit", "spare kit")
    ]
    pack = make_pack(booked={CHAMBER: 9, METER: 9}, allowed_substitutions=swaps)
    assert suggest(make_protocol(), pack).revised_protocol.required_equipment == [
        "kit",
        "spare kit",
    ]


def test_substitution_leaves_an_item_without_a_free_alternative() -> None:
    swaps = [make_substitution(original=item, alternative="kit") for item in EQUIPMENT]
    pack = make_pack(booked={CHAMBER: 9, METER: 9}, allowed_substitutions=swaps)
    suggestion = suggest(make_protocol(), pack)
    assert suggestion.revised_protocol.required_equipment == ["kit", METER]
    assert suggestion.remaining_failures == ["equipment"]


def test_substitution_finds_the_item_whatever_its_case() -> None:
    pack = make_pack(booked={CHAMBER: 9})
    protocol = make_protocol(required_equipment=["Growth  Chamber", METER])
    assert changed(suggest(protocol, pack)) == [
        ("required_equipment", "Growth  Chamber", "window shelf")
    ]


def test_substitution_leaves_an_unknown_item_alone() -> None:
    pack = make_pack(booked={CHAMBER: 9})
    suggestion = suggest(make_protocol(required_reagents=[CHAMBER]), pack)
    assert suggestion.revised_protocol.required_reagents == [CHAMBER]
    assert "reagents" in suggestion.remaining_failures


# --- fix 3: days ------------------------------------------------------------------------------


def test_duration_is_clamped_to_the_limit() -> None:
    suggestion = suggest(make_protocol(duration_days=23), make_pack(days=20))
    assert suggestion.revised_protocol == make_protocol(duration_days=20)
    assert suggestion.applied_changes == [
        SuggestionChange(
            field="duration_days",
            original="23",
            revised="20",
            reason="The lab has 20 days.",
            tradeoff="3 days fewer to run and to repeat what fails.",
        )
    ]


def test_duration_clamp_says_when_it_loses_the_endpoint() -> None:
    suggestion = suggest(make_protocol(duration_days=4), make_pack(days=2, min_days=3))
    assert suggestion.applied_changes[0].tradeoff == "Below 3 days the study's endpoint is lost."
    just_enough = suggest(make_protocol(duration_days=4), make_pack(days=3, min_days=3))
    assert just_enough.applied_changes[0].tradeoff.startswith("1 day fewer")


def test_duration_within_the_limit_is_left_alone_although_it_costs() -> None:
    suggestion = suggest(make_protocol(), make_pack(budget=afford(20)))
    assert suggestion.revised_protocol.duration_days == 5


# --- fix 4: samples ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("affordable", "halved", "times"),
    [
        (39, 20, "once"),
        (20, 20, "once"),
        (19, 10, "twice"),
        (10, 10, "twice"),
        (9, 5, "3 times"),
        (5, 5, "3 times"),
        (4, 3, "4 times"),  # the floor: one more than the two controls
        (3, 3, "4 times"),
    ],
)
def test_sample_is_halved_until_the_budget_fits(affordable: int, halved: int, times: str) -> None:
    budget = afford(affordable)
    suggestion = suggest(make_protocol(sample_size=40), make_pack(budget=budget))
    assert suggestion.revised_protocol == make_protocol(sample_size=halved)
    assert suggestion.applied_changes == [
        SuggestionChange(
            field="sample_size",
            original="40",
            revised=str(halved),
            reason=f"The budget is {afford(40) - budget:.0f} credits short; the sample is "
            f"halved {times}.",
            tradeoff=f"{40 - halved} samples fewer: weaker evidence.",
        )
    ]


def test_sample_of_an_odd_number_is_halved_down_and_the_steps_are_counted_right() -> None:
    # 37 -> 18 -> 9: two steps, though 37 is more than four times 9.
    suggestion = suggest(make_protocol(sample_size=37), make_pack(budget=afford(10)))
    assert changed(suggestion) == [("sample_size", "37", "9")]
    assert suggestion.applied_changes[0].reason.endswith("the sample is halved twice.")


def test_sample_is_left_alone_where_even_the_floor_does_not_fit() -> None:
    suggestion = suggest(make_protocol(), make_pack(budget=afford(3) - 1))
    assert suggestion.revised_protocol == make_protocol()
    assert suggestion.applied_changes == []
    assert suggestion.remaining_failures == ["budget"]
    assert not suggestion.improved


@pytest.mark.parametrize(("controls", "floor"), [(0, 1), (1, 2), (5, 6)])
def test_sample_floor_is_one_more_than_the_controls(controls: int, floor: int) -> None:
    protocol = make_protocol(sample_size=1000, controls=[f"c{i}" for i in range(controls)])
    rest = 250 + 25 * controls + 350
    at_floor = make_pack(budget=rest + 10 * floor)
    assert suggest(protocol, at_floor).revised_protocol.sample_size == floor
    below = make_pack(budget=rest + 10 * floor - 1)
    assert suggest(protocol, below).revised_protocol.sample_size == 1000


def test_sample_below_the_floor_is_never_raised() -> None:
    protocol = make_protocol(sample_size=2)
    assert suggest(protocol, make_pack(budget=10)).revised_protocol == protocol


@pytest.mark.parametrize(("samples", "halved"), [(20 * 2**10, 20), (20 * 2**11, 20 * 2**11)])
def test_sample_is_halved_at_most_ten_times(samples: int, halved: int) -> None:
    protocol = make_protocol(sample_size=samples)
    suggestion = suggest(protocol, make_pack(budget=afford(20)))
    assert suggestion.revised_protocol.sample_size == halved


def test_sample_is_halved_only_for_what_the_earlier_fixes_leave_over() -> None:
    # 23 days cost 900 more than 5; the clamp to 20 saves 150, which is all that was missing.
    protocol = make_protocol(duration_days=23)
    pack = make_pack(days=20, budget=afford(40) + 750)
    assert changed(suggest(protocol, pack)) == [("duration_days", "23", "20")]


def test_fixes_come_in_the_documents_order() -> None:
    swaps = [
        make_substitution(original=PLATES, alternative="filter paper"),
        make_substitution(original=METER, alternative="phone camera"),
    ]
    pack = make_pack(
        booked={METER: 9},
        out_of_stock=[PLATES],
        days=4,
        budget=afford(20),
        allowed_substitutions=swaps,
    )
    assert changed(suggest(make_protocol(), pack)) == [
        ("required_equipment", METER, "phone camera"),
        ("required_reagents", PLATES, "filter paper"),
        ("duration_days", "5", "4"),
        ("sample_size", "40", "20"),
    ]


# --- the addition: staff ----------------------------------------------------------------------


def test_sample_is_halved_on_to_save_a_staff_unit() -> None:
    suggestion = suggest(make_protocol(sample_size=100), make_pack(staff=1))
    assert suggestion.applied_changes == [
        SuggestionChange(
            field="sample_size",
            original="100",
            revised="12",
            reason="At 20 samples or fewer the plan needs one staff unit less; the sample is "
            "halved 3 times.",
            tradeoff="88 samples fewer: weaker evidence.",
        )
    ]
    assert suggestion.post_check.feasible


def test_sample_change_names_budget_and_staff_where_both_ask_for_it() -> None:
    protocol = make_protocol(sample_size=100)
    suggestion = suggest(protocol, make_pack(staff=1, budget=afford(50)))
    assert changed(suggestion) == [("sample_size", "100", "12")]
    assert suggestion.applied_changes[0].reason == (
        "The budget is 500 credits short; at 20 samples or fewer the plan needs one staff unit "
        "less; the sample is halved 3 times."
    )


def test_sample_is_not_halved_for_staff_where_that_would_not_be_enough() -> None:
    protocol = make_protocol(sample_size=100, duration_days=6)
    suggestion = suggest(protocol, make_pack(staff=1, budget=afford(50) + 50))
    assert changed(suggestion) == [("sample_size", "100", "50")]
    assert suggestion.remaining_failures == ["staff"]


def test_sample_at_the_threshold_is_not_halved_for_staff() -> None:
    protocol = make_protocol(sample_size=20, duration_days=6)
    assert suggest(protocol, make_pack(staff=1)).applied_changes == []


def test_sample_is_not_halved_for_staff_below_its_floor() -> None:
    protocol = make_protocol(sample_size=100, controls=[f"c{i}" for i in range(20)])
    assert suggest(protocol, make_pack(staff=2)).applied_changes == []


def test_staff_step_uses_the_labs_own_threshold() -> None:
    pack = make_pack(staff=1, staff_model=StaffModel(sample_threshold=30))
    suggestion = suggest(make_protocol(sample_size=100), pack)
    assert changed(suggestion) == [("sample_size", "100", "25")]
    assert suggestion.applied_changes[0].reason.startswith("At 30 samples or fewer")


# --- improved and remaining -------------------------------------------------------------------


def test_improved_needs_strictly_fewer_failing_dimensions() -> None:
    # The budget fits again, and staff fails as before.
    one_of_two = suggest(
        make_protocol(sample_size=100, duration_days=6),
        make_pack(staff=1, budget=afford(50) + 50),
    )
    assert (one_of_two.improved, one_of_two.remaining_failures) == (True, ["staff"])
    # One of two booked items is replaced: the same dimension goes on failing.
    same = suggest(make_protocol(), make_pack(booked={CHAMBER: 9, METER: 9}))
    assert changed(same) == [("required_equipment", CHAMBER, "window shelf")]
    assert not same.improved


def test_improved_is_refused_where_another_dimension_begins_to_fail() -> None:
    # The alternative's own label breaks a restriction: two failures fewer, one new.
    pack = make_pack(
        days=4,
        booked={CHAMBER: 9},
        allowed_substitutions=[make_substitution(alternative="open flame heater")],
        policy_rules=[make_policy_rule()],
    )
    suggestion = suggest(make_protocol(), pack)
    assert len(suggestion.pre_check.failing) == 3
    assert suggestion.remaining_failures == ["policy"]
    assert not suggestion.improved


# --- any plan in any lab ----------------------------------------------------------------------


@given(itemised_protocols(), studied_packs())
def test_suggestion_is_none_exactly_when_the_plan_is_feasible(
    protocol: Protocol, pack: Pack
) -> None:
    check = check_feasibility(protocol, pack)
    assert (suggest_alternative(protocol, check, pack) is None) == check.feasible


def test_suggestion_is_none_for_the_plan_that_fits() -> None:
    check = check_feasibility(make_protocol(), make_pack())
    assert suggest_alternative(make_protocol(), check, make_pack()) is None


@given(itemised_protocols(), studied_packs())
def test_suggestion_is_what_its_changes_and_a_fresh_check_say(
    protocol: Protocol, pack: Pack
) -> None:
    check = check_feasibility(protocol, pack)
    suggestion = suggest_alternative(protocol, check, pack)
    if suggestion is None:
        return
    revised = suggestion.revised_protocol
    assert suggestion.pre_check == check
    assert suggestion.post_check == check_feasibility(revised, pack)
    assert revised == apply_changes(protocol, suggestion.applied_changes)
    assert suggestion.remaining_failures == suggestion.post_check.failing
    before, after = set(check.failing), set(suggestion.post_check.failing)
    assert suggestion.improved == (len(after) < len(before) and after <= before)
    assert suggestion == suggest_alternative(protocol, check, pack)


@given(itemised_protocols(), studied_packs())
def test_suggestion_only_ever_gives_up(protocol: Protocol, pack: Pack) -> None:
    suggestion = suggest_alternative(protocol, check_feasibility(protocol, pack), pack)
    if suggestion is None:
        return
    revised = suggestion.revised_protocol
    kept = ("controls", "technique", "rationale")
    assert all(getattr(revised, name) == getattr(protocol, name) for name in kept)
    assert revised.sample_size <= protocol.sample_size
    assert revised.duration_days == min(protocol.duration_days, pack.lab.days)
    floor = max(1, len(protocol.controls) + 1)
    assert revised.sample_size in {protocol.sample_size, floor, *halvings(protocol.sample_size)}
    assert revised.sample_size >= min(floor, protocol.sample_size)
    for name in ("required_equipment", "required_reagents"):
        assert len(getattr(revised, name)) == len(getattr(protocol, name))


def halvings(n: int) -> list[int]:
    return [n >> times for times in range(1, 11)]


@given(itemised_protocols(), studied_packs(), st.data())
def test_any_part_of_a_suggestion_gives_a_valid_plan(
    protocol: Protocol, pack: Pack, data: st.DataObject
) -> None:
    suggestion = suggest_alternative(protocol, check_feasibility(protocol, pack), pack)
    changes = suggestion.applied_changes if suggestion else []
    part = [change for change in changes if data.draw(st.booleans())]
    revised = apply_changes(protocol, part)
    assert Protocol.model_validate(revised.model_dump()) == revised
    assert apply_changes(protocol, part) == revised


@given(itemised_protocols(), studied_packs())
def test_suggesting_leaves_its_inputs_alone(protocol: Protocol, pack: Pack) -> None:
    check = check_feasibility(protocol, pack)
    before = protocol.model_dump(), pack.model_dump(), check.model_dump()
    suggest_alternative(protocol, check, pack)
    assert (protocol.model_dump(), pack.model_dump(), check.model_dump()) == before


@given(protocols(), studied_packs())
def test_suggestion_survives_a_round_trip(protocol: Protocol, pack: Pack) -> None:
    suggestion = suggest_alternative(protocol, check_feasibility(protocol, pack), pack)
    if suggestion is None:
        return
    again = AlternativeSuggestion.model_validate(suggestion.model_dump())
    assert again == suggestion
    assert AlternativeSuggestion.model_validate_json(suggestion.model_dump_json()) == suggestion
    assert suggestion.model_dump()["post_check"]["feasible"] == suggestion.post_check.feasible


def test_suggestion_refuses_a_dump_whose_check_contradicts_itself() -> None:
    dump = suggest(make_protocol(), make_pack(staff=1)).model_dump()
    dump["post_check"]["feasible"] = False
    with pytest.raises(ValidationError, match="feasible is False"):
        AlternativeSuggestion.model_validate(dump)


@pytest.mark.parametrize("model", [AlternativeSuggestion, SuggestionChange])
def test_suggestion_refuses_an_unknown_key(
    model: type[AlternativeSuggestion] | type[SuggestionChange],
) -> None:
    suggestion = suggest(make_protocol(), make_pack(staff=1))
    good = suggestion if model is AlternativeSuggestion else suggestion.applied_changes[0]
    with pytest.raises(ValidationError, match="Extra inputs"):
        model.model_validate({**good.model_dump(), "note": "x"})


# --- applying changes by hand -----------------------------------------------------------------


def change(field: str, original: str, revised: str) -> SuggestionChange:
    return SuggestionChange(
        field=field, original=original, revised=revised, reason="why", tradeoff="what is lost"
    )


def test_apply_changes_replaces_the_first_of_two_equal_items() -> None:
    protocol = make_protocol(required_reagents=["a", "b", "a"])
    revised = apply_changes(protocol, [change("required_reagents", "a", "c")])
    assert revised == revise(protocol, required_reagents=["c", "b", "a"])


def test_apply_changes_drops_a_control_from_its_place() -> None:
    protocol = make_protocol(controls=["a", "b", "c"])
    revised = apply_changes(protocol, [change("controls", "b", DROPPED)])
    assert revised == revise(protocol, controls=["a", "c"])


def test_apply_changes_drops_one_copy_for_each_change() -> None:
    protocol = make_protocol(controls=["a", "b", "a"])
    once = apply_changes(protocol, [change("controls", "a", DROPPED)])
    assert once.controls == ["b", "a"]
    assert apply_changes(protocol, [change("controls", "a", DROPPED)] * 3).controls == ["b"]


def test_apply_changes_passes_over_a_control_that_is_gone() -> None:
    assert apply_changes(make_protocol(), [change("controls", "z", DROPPED)]) == make_protocol()


def test_apply_changes_drops_controls_only() -> None:
    revised = apply_changes(make_protocol(), [change("required_equipment", CHAMBER, DROPPED)])
    assert revised.required_equipment == [DROPPED, METER]


def test_apply_changes_passes_over_an_item_that_is_gone() -> None:
    assert apply_changes(make_protocol(), [change("required_reagents", "z", "c")]) == (
        make_protocol()
    )


def test_apply_changes_takes_them_in_their_order() -> None:
    changes = [
        change("required_equipment", CHAMBER, "x"),
        change("required_equipment", "x", "y"),
        change("duration_days", "5", "4"),
        change("sample_size", "40", "20"),
        change("sample_size", "20", "10"),
    ]
    assert apply_changes(make_protocol(), changes) == make_protocol(
        required_equipment=["y", METER], duration_days=4, sample_size=10
    )


def test_every_subset_of_four_changes_applies_without_the_others() -> None:
    swaps = [
        make_substitution(original=PLATES, alternative="filter paper"),
        make_substitution(original=METER, alternative="phone camera"),
    ]
    pack = make_pack(
        booked={METER: 9}, out_of_stock=[PLATES], days=4, budget=afford(20),
        allowed_substitutions=swaps, cost_model=CostModel(),
    )  # fmt: skip
    full = suggest(make_protocol(), pack)
    wanted = full.revised_protocol
    for size in range(5):
        for part in combinations(full.applied_changes, size):
            fields = {one.field: getattr(wanted, one.field) for one in part}
            assert apply_changes(make_protocol(), list(part)) == revise(make_protocol(), **fields)
