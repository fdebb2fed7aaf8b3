"""How far a plan is from each limit, which resource binds first, and where the cliffs are."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from replicalab.margins import (
    RESOURCES,
    Margin,
    cliffs,
    margins,
    reasons_once,
    tightest,
    unmet_durations,
)

from replicalab.agents import check_feasibility
from replicalab.models import DIMENSIONS, Dimension, Protocol
from replicalab.scenarios import Pack, StaffModel
from tests.factories import (
    EQUIPMENT,
    make_constraint,
    make_pack,
    make_protocol,
)
from tests.strategies import itemised_protocols, studied_packs

CHAMBER, METER = EQUIPMENT
ENDPOINT: Final = "One day fewer loses the study's endpoint."


def margins_of(protocol: Protocol, pack: Pack) -> dict[Dimension, Margin]:
    found = margins(protocol, check_feasibility(protocol, pack), pack)
    return {margin.dimension: margin for margin in found}


def make_margin(
    dimension: Dimension = Dimension.BUDGET, used: float = 10, limit: float = 20
) -> Margin:
    return Margin(dimension, used <= limit, used, limit, "credits")


def test_margins_come_in_the_documents_order() -> None:
    assert tuple(margins_of(make_protocol(), make_pack())) == DIMENSIONS


@pytest.mark.parametrize(
    ("dimension", "used", "limit", "unit"),
    [
        (Dimension.PROTOCOL, 0, 0, "errors"),
        (Dimension.BUDGET, 1050, 5000, "credits"),
        (Dimension.EQUIPMENT, 2, 2, "items"),
        (Dimension.REAGENTS, 2, 2, "items"),
        (Dimension.SCHEDULE, 5, 20, "days"),
        (Dimension.STAFF, 2, 6, "staff units"),
        (Dimension.POLICY, 0, 0, "breaches"),
    ],
)
def test_margin_of_the_plan_that_fits(
    dimension: Dimension, used: float, limit: float, unit: str
) -> None:
    assert margins_of(make_protocol(), make_pack())[dimension] == Margin(
        dimension, True, used, limit, unit
    )


def test_margins_of_a_plan_that_fails_everywhere() -> None:
    protocol = make_protocol(sample_size=2, duration_days=21, technique="open flame")
    pack = make_pack(budget=1000, staff=1, booked={CHAMBER: 9}, out_of_stock=["agar plates"])
    found = margins_of(protocol, pack)
    assert {d.value: (m.used, m.limit, m.slack) for d, m in found.items()} == {
        "protocol": (3, 0, -3),
        "budget": (1470, 1000, -470),
        "equipment": (2, 1, -1),
        "reagents": (2, 1, -1),
        "schedule": (21, 20, -1),
        "staff": (2, 1, -1),
        "policy": (1, 0, -1),
    }
    assert found[Dimension.SCHEDULE].reasons == ("The plan takes 21 days, 1 over the limit of 20.",)


def test_failures_are_told_once_and_the_rest_is_pointed_at() -> None:
    protocol = make_protocol(sample_size=2, duration_days=21)
    pack = make_pack(booked={CHAMBER: 9}, out_of_stock=["agar plates"])
    check = check_feasibility(protocol, pack)
    found = reasons_once(check)
    assert [text for dimension, text in found if dimension is Dimension.PROTOCOL] == [
        "2 controls for 2 samples: no experimental samples remain; plan at least 3 samples.",
        "see schedule and reagents.",
    ]
    told = [pair for pair in found if pair[0] is not Dimension.PROTOCOL]
    assert told == [(d, r) for d in DIMENSIONS[1:] for r in check.check(d).reasons]
    margin = margins_of(protocol, pack)[Dimension.PROTOCOL]
    assert margin.text == "3 errors: duration, sample controls, reagent"


@given(itemised_protocols(), studied_packs())
def test_told_once_is_something_for_each_failing_dimension(protocol: Protocol, pack: Pack) -> None:
    check = check_feasibility(protocol, pack)
    assert {dimension for dimension, _ in reasons_once(check)} == set(check.failing)


def test_durations_that_days_do_not_reach_are_the_studys_own_in_days() -> None:
    constraints = [
        make_constraint(key="follow_up", comparator=">=", quantity=36, unit="days"),
        make_constraint(key="warm_up", comparator=">=", quantity=4, unit="days"),
        make_constraint(key="season", comparator="<=", quantity=50, unit="days"),
        make_constraint(key="dose", comparator=">=", quantity=50, unit="mg"),
    ]
    pack = make_pack(min_days=4, constraints=constraints)
    below = "Below the study's 'follow up' of 36 days."
    assert [unmet_durations(days, pack) for days in (3, 35, 36)] == [[below], [below], []]


def test_duration_that_the_check_holds_is_left_to_it_when_asked() -> None:
    follow_up = {"key": "follow_up", "comparator": ">=", "quantity": 36}
    held = make_pack(constraints=[make_constraint(**follow_up, bounds="days", unit="d")])
    other = make_pack(constraints=[make_constraint(**follow_up, bounds="samples", unit="days")])
    stated = make_pack(constraints=[make_constraint(**follow_up, unit="days")])
    found = [
        [len(unmet_durations(30, pack, checked=checked)) for checked in (True, False)]
        for pack in (held, other, stated)
    ]
    assert found == [[1, 0], [0, 0], [1, 1]]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_slack_is_told_of_all_but_errors_and_breaches(dimension: Dimension) -> None:
    assert make_margin(dimension).has_slack == (dimension not in {"protocol", "policy"})


@given(itemised_protocols(), studied_packs())
def test_margin_is_negative_exactly_where_its_dimension_fails(
    protocol: Protocol, pack: Pack
) -> None:
    check = check_feasibility(protocol, pack)
    for margin in margins(protocol, check, pack):
        assert margin.ok == check.check(margin.dimension).ok == (margin.slack >= 0)
        assert list(margin.reasons) == check.check(margin.dimension).reasons


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_use_is_a_share_of_a_resource_only(dimension: Dimension) -> None:
    use = make_margin(dimension, 5, 20).use
    assert use == (0.25 if dimension in {"budget", "schedule", "staff"} else None)


def test_use_of_nothing_has_no_share() -> None:
    assert make_margin(limit=0).use is None


@pytest.mark.parametrize(
    ("used", "limit", "texts"),
    [
        (2250, 2600, ("2,250", "2,600", "+350")),
        (8, 6, ("8", "6", "\u22122")),
        (3, 3, ("3", "3", "0")),
        (0.5, 2, ("0.50", "2", "+1.50")),
    ],
)
def test_margin_texts(used: float, limit: float, texts: tuple[str, ...]) -> None:
    margin = make_margin(used=used, limit=limit)
    assert (margin.used_text, margin.limit_text, margin.slack_text) == texts


@pytest.mark.parametrize(
    ("budget", "days", "staff", "first"),
    [
        (1100, 20, 6, Dimension.BUDGET),
        (5000, 6, 6, Dimension.SCHEDULE),
        (5000, 20, 3, Dimension.STAFF),
        (1000, 4, 6, Dimension.SCHEDULE),  # 105 % and 125 %: the larger share, not the first
        (2100, 10, 4, Dimension.BUDGET),  # all at half: the document's order decides
    ],
)
def test_tightest_is_the_resource_of_which_most_is_used(
    budget: float, days: int, staff: int, first: Dimension
) -> None:
    pack = make_pack(budget=budget, days=days, staff=staff)
    found = margins(make_protocol(), check_feasibility(make_protocol(), pack), pack)
    assert tightest(found) is first


def test_resources_are_the_dimensions_that_are_amounts() -> None:
    assert RESOURCES == ("budget", "schedule", "staff")


@pytest.mark.parametrize(
    ("changes", "cliff"),
    [
        ({"sample_size": 20}, "One more sample adds a staff unit."),
        ({"sample_size": 21}, "One sample fewer saves a staff unit."),
        ({"controls": ["a", "b"]}, "One more control adds a staff unit."),
        ({"controls": ["a", "b", "c"]}, "One control fewer saves a staff unit."),
        ({"duration_days": 5}, "One more day adds a staff unit."),
        ({"duration_days": 6}, "One day fewer saves a staff unit."),
        ({"required_equipment": ["a", "b"]}, "One more equipment item adds a staff unit."),
        ({"required_equipment": ["a", "b", "c"]}, "One equipment item fewer saves a staff unit."),
        ({"duration_days": 9}, ENDPOINT),
    ],
)
def test_cliffs_name_the_step_that_the_plan_stands_at(
    changes: dict[str, object], cliff: str
) -> None:
    level = {"sample_size": 40, "controls": [], "duration_days": 10, "required_equipment": []}
    pack = make_pack(min_days=9)
    assert cliffs(make_protocol(**level), pack) == []
    assert cliffs(make_protocol(**{**level, **changes}), pack) == [cliff]


def test_cliffs_follow_the_labs_own_thresholds() -> None:
    own = StaffModel(
        sample_threshold=40, control_threshold=9, day_threshold=9, equipment_threshold=9
    )
    assert cliffs(make_protocol(), make_pack(staff_model=own)) == [
        "One more sample adds a staff unit."
    ]


@given(itemised_protocols(), studied_packs())
def test_cliffs_are_where_one_step_changes_the_staff_or_the_endpoint(
    protocol: Protocol, pack: Pack
) -> None:
    found = cliffs(protocol, pack)
    assert (ENDPOINT in found) == (protocol.duration_days == pack.min_days)
    for field, noun in (("sample_size", "sample"), ("duration_days", "day")):
        here = check_feasibility(protocol, pack).required_staff
        number = getattr(protocol, field)
        more = protocol.model_copy(update={field: number + 1})
        adds = check_feasibility(more, pack).required_staff > here
        assert (f"One more {noun} adds a staff unit." in found) == adds
        fewer = protocol.model_copy(update={field: max(0, number - 1)})
        saves = check_feasibility(fewer, pack).required_staff < here
        assert (f"One {noun} fewer saves a staff unit." in found) == saves
